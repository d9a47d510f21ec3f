"""Fixtures that several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# the first example may wait for a kernel to be compiled
settings.register_profile("auditkit", deadline=None)
settings.load_profile("auditkit")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real result files; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("AUDITKIT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real result files in {folder} (set AUDITKIT_DATA)")
    return folder
