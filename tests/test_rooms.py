"""The rooms stay apart: who may import what, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "auditkit"

SHARED = {"errors", "version", "numpy"}

ROOMS = {
    # room: what its modules may import, of ours and of others (the standard library is free)
    "errors": set(),
    "version": set(),
    "schema": {"schema", "errors", "numpy"},
    "store": {"errors", "schema", "h5py", "numpy"},
    "kernels": {"kernels", "numba", "llvmlite", "numpy"},
    "statistics": {"statistics", "kernels", "errors", "numpy", "scipy"},
    "results": {"results", "schema", "version", "numpy", "pandas"},
    "audits": {"audits", "statistics", "results", "schema", "errors", "numpy"},
    "checks": {"checks", "claims", "results", "errors"},
    "claims": {"claims", "errors"},
    "reports": SHARED
    | {"reports", "checks", "claims", "results", "schema", "rich", "jinja2", "matplotlib"},
    "importers": SHARED
    | {"importers", "statistics", "schema", "store", "pandas", "arff", "yaml", "pyarrow"},
    "fit": SHARED
    | {"fit", "statistics", "importers", "schema", "store", "scipy", "pandas", "sklearn"},
    "demo": {"schema", "numpy"},
}


def imports(path: Path) -> set[str]:
    """The rooms of ours, and the packages of others, that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [f"auditkit.{alias.name}" for alias in node.names]
                if node.module == "auditkit"
                else [node.module]
            )
        for name in names:
            parts = name.split(".")
            if parts[0] == "auditkit":
                found.add(parts[1] if len(parts) > 1 else "auditkit")
            elif parts[0] not in sys.stdlib_module_names:
                found.add(parts[0])
    return found


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(path for path in PACKAGE.rglob("*.py") if room(path) in ROOMS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    assert imports(path) <= ROOMS[room(path)]


def test_every_module_belongs_to_a_room() -> None:
    rooms = {room(path) for path in PACKAGE.rglob("*.py")}
    assert rooms - ROOMS.keys() <= {"__init__", "__main__", "cli"}


def test_one_user_each_of_h5py_numba_and_click() -> None:
    users: dict[str, set[str]] = {"h5py": set(), "numba": set(), "click": set()}
    for path in PACKAGE.rglob("*.py"):
        for package in imports(path) & users.keys():
            users[package].add(room(path))
    assert users == {"h5py": {"store"}, "numba": {"kernels"}, "click": {"cli"}}


def test_the_guard_sees_a_wrong_import(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def f():\n    from auditkit.store import open\n    import h5py\n")
    assert imports(wrong) == {"store", "h5py"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, auditkit, auditkit.cli; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"numba", "h5py", "pandas", "scipy", "matplotlib", "rich"}.isdisjoint(loaded)
