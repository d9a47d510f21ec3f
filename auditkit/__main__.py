"""``python -m auditkit``."""

import sys

from auditkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
