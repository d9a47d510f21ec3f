"""Small ASlib scenarios and tables, written where a test wants them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

DESCRIPTION = """scenario_id: TOY
performance_measures: runtime
maximize: false
performance_type: runtime
algorithm_cutoff_time: 100
metainfo_algorithms:
  a: {configuration: ''}
  b: {configuration: ''}
feature_steps:
  cheap:
    provides:
      - f1
      - f2
"""

HEADER = """@RELATION runs
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE runstatus {ok, timeout, memout, not_applicable, crash, other}
@DATA
"""

RUNS = ("i1,1,a,10,ok", "i1,1,b,50,ok", "i2,1,a,20,ok", "i2,1,b,100,timeout")


def scenario(
    folder: Path,
    runs: Iterable[str] = RUNS,
    *,
    description: str = DESCRIPTION,
    header: str = HEADER,
    features: str | None = None,
    newline: str = "\n",
) -> Path:
    """A scenario folder."""
    folder.mkdir(exist_ok=True)
    texts = {"description.txt": description, "algorithm_runs.arff": header + "\n".join(runs) + "\n"}
    if features is not None:
        texts["feature_values.arff"] = features
    for name, text in texts.items():
        (folder / name).write_bytes(text.replace("\n", newline).encode())
    return folder


def table(path: Path, *lines: str) -> Path:
    """A text file of these lines."""
    path.write_bytes(("\n".join(lines) + "\n").encode())
    return path
