"""What a build has finished so far, one file a step, so that a killed build goes on where it was."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import StoreError
from auditkit.fit.protocol import Task
from auditkit.store import atomic


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """A folder of finished steps. A file is there whole or not at all.

    Attributes
    ----------
    folder
        Where they are; its name holds a hash of everything that the results depend on.
    """

    folder: Path

    def has(self, stage: str, task: Task) -> bool:
        """Whether a step is finished."""
        return self._path(stage, task).is_file()

    def save(self, stage: str, task: Task, arrays: dict[str, NDArray[Any]]) -> None:
        """Keep what a step found."""
        with atomic(self._path(stage, task)) as temporary, Path(temporary).open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def load(self, stage: str, task: Task) -> dict[str, NDArray[Any]]:
        """What a finished step found.

        Raises
        ------
        StoreError
            The file was damaged after it was written.
        """
        path = self._path(stage, task)
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                return dict(file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise StoreError(
                "unreadable step of an earlier build",
                found=str(error),
                expected="a whole file (delete the folder to start over)",
                where=str(path),
            ) from None

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, stage: str, task: Task) -> Path:
        return self.folder / f"{stage}-{'-'.join(map(str, task.key))}.npz"
