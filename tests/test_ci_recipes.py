"""The recipes of docs/ci.md, run: the steps of the action by bash, the hooks by git."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditkit import store
from auditkit.demo import demo_data
from auditkit.schema import AuditData

PAGE = Path(__file__).parents[1] / "docs" / "ci.md"
GOOD = "[[claim]]\nid = \"toy\"\npath = 'fidelity[benchmark=toy].n_instances'\nvalue = '100'\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with results and claims, and an environment whose PATH has this auditkit."""
    commands = tmp_path / "bin"
    commands.mkdir()
    auditkit = commands / "auditkit"
    auditkit.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m auditkit "$@"\n')
    auditkit.chmod(0o755)
    folder = tmp_path / "repository"
    folder.mkdir()
    store.write(folder / "results.h5", AuditData(benchmarks=demo_data().benchmarks))
    (folder / "CLAIMS.toml").write_text(GOOD)
    root = str(Path(__file__).parents[1])
    names = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    return folder, {**os.environ, **names, "PATH": path, "PYTHONPATH": root}


def step(action: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (s for s in action["runs"]["steps"] if s.get("name") == name)
    assert found["shell"] == "bash"
    assert "${{" not in found["run"]  # an input in the script would be run as code
    return dict(found)


def run(
    step: dict[str, Any], inputs: dict[str, str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    given = {
        key: inputs[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]]  # type: ignore[index]
        for key, value in step["env"].items()
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env={**environment, **given}, capture_output=True, text=True,
    )  # fmt: skip


def test_the_action(repository: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    folder, environment = repository
    action = yaml.safe_load(blocks("yaml")[0])
    inputs = {name: spec.get("default", "") for name, spec in action["inputs"].items()}
    inputs |= {"file": "results.h5", "claims": "CLAIMS.toml", "options": "--replicates 50"}
    done = run(step(action, "Check"), inputs, folder, environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("auditkit check passed: ")
    without = run(step(action, "Check"), {**inputs, "claims": ""}, folder, environment)
    assert without.returncode == 0
    (folder / "CLAIMS.toml").write_text(GOOD.replace("100", "101"))
    failed = run(step(action, "Check"), inputs, folder, environment)
    assert failed.returncode == 1
    assert failed.stdout.startswith(
        "::error file=results.h5,title=claims.printed::toy: printed 101"
    )
    hostile = {**inputs, "file": '"; touch hacked; "'}
    assert run(step(action, "Check"), hostile, folder, environment).returncode == 2
    assert not (folder / "hacked").exists()
    summary = tmp_path / "summary.md"
    environment["GITHUB_STEP_SUMMARY"] = str(summary)
    assert run(step(action, "Report"), inputs, folder, environment).returncode == 0
    assert summary.read_text(encoding="utf-8").startswith("# Audit")


def test_the_workflow_gives_the_inputs_that_the_action_takes() -> None:
    action, workflow = (yaml.safe_load(text) for text in blocks("yaml")[:2])
    given = workflow["jobs"]["results"]["steps"][-1]["with"]
    required = {name for name, spec in action["inputs"].items() if spec.get("required")}
    assert required <= given.keys() <= action["inputs"].keys()


def commit(folder: Path, environment: dict[str, str]) -> int:
    for arguments in (["add", "-A"], ["commit", "-qm", "change"]):
        done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True)
    return done.returncode


def test_the_git_hook(repository: tuple[Path, dict[str, str]]) -> None:
    if shutil.which("git") is None:
        pytest.skip("no git here")
    folder, environment = repository
    subprocess.run(["git", "init", "-q"], cwd=folder, env=environment, check=True)
    hook = folder / ".git" / "hooks" / "pre-commit"
    hook.write_text(blocks("sh")[0])
    hook.chmod(0o755)
    assert commit(folder, environment) == 0
    (folder / "CLAIMS.toml").write_text(GOOD.replace("100", "101"))
    assert commit(folder, environment) == 1
    subprocess.run(
        ["git", "checkout", "-q", "HEAD", "--", "."], cwd=folder, env=environment, check=True
    )
    (folder / "notes.txt").write_text("nothing to check")
    assert commit(folder, environment) == 0


def test_the_pre_commit_hook_runs_the_same_command_on_the_same_files() -> None:
    (hook,) = yaml.safe_load(blocks("yaml")[2])["repos"][0]["hooks"]
    assert hook["entry"] in blocks("sh")[0]
    for name in ("results.h5", "CLAIMS.toml"):
        assert re.search(hook["files"], name)
    assert not re.search(hook["files"], "old/results.h5")
