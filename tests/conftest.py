"""Fixtures that several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real result files; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("AUDITKIT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real result files in {folder} (set AUDITKIT_DATA)")
    return folder
