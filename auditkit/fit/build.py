"""Fit selectors and store what they predict: the steps of a build, run by processes, finished ones kept on disk."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from auditkit import store
from auditkit.errors import AuditkitError, StoreError, UsageError, counted
from auditkit.fit.cache import pipelines
from auditkit.fit.checkpoints import Checkpoints
from auditkit.fit.protocol import Protocol, Task, family_tasks, inner_tasks, make_folds
from auditkit.fit.selectors import require_sklearn
from auditkit.fit.tasks import Job, run_task
from auditkit.schema import AuditData, Benchmark, Floats, check_name
from auditkit.version import __version__

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Built:
    """A benchmark with the pipelines that were fitted on it.

    Attributes
    ----------
    benchmark
        With its pipelines.
    n_steps, n_resumed
        Steps of the build, and how many of them an earlier, unfinished build had done.
    seconds
        Wall time of this build.
    fit_seconds
        Time inside scikit-learn, added up over the processes.
    notes
        What the reader should know, one line each.
    """

    benchmark: Benchmark
    n_steps: int
    n_resumed: int
    seconds: float
    fit_seconds: float
    notes: tuple[str, ...]


def build_pipelines(
    benchmark: Benchmark,
    protocol: Protocol | None = None,
    *,
    steps: Sequence[str] | None = None,
    jobs: int = 1,
    out: str | os.PathLike[str] | None = None,
    name: str = "benchmark",
    progress: Progress | None = None,
) -> Built:
    """Fit every pair of a family selector and an inner selector on a benchmark, and two flat selectors.

    Parameters
    ----------
    benchmark
        With features and families; pipelines it already holds are replaced.
    protocol
        Folds, seeds and selectors.
    steps
        Feature steps whose features the selectors see; by default all.
    jobs
        Processes at once. With more than one, a script must call this below ``if __name__ == "__main__"``.
    out, name
        Write the result to this audit file, under this name. Finished steps are kept in a hidden folder beside it
        until then, and a build that was killed goes on from them when it is called again with the same arguments.
    progress
        Told how many of the remaining steps are done.

    Returns
    -------
    Built
        The same bits for a protocol whatever ``jobs`` is, and whether the build was interrupted or not.

    Raises
    ------
    UsageError
        There are no features or no families, a step is unknown, or there are too few instances for the folds.
    SchemaError, StoreError
        The name cannot be the name of a member, or ``out`` cannot be written.
    MissingDependencyError
        scikit-learn is not installed.

    Notes
    -----
    *Partition Scores Are Not System Scores* (arXiv:2609.13785), Section 5.1. No model sees a row of the test fold that
    it predicts. Instances without any measured utility are tested but never trained on.

    Examples
    --------
    >>> import numpy as np
    >>> import auditkit as ak
    >>> x = np.random.default_rng(0).normal(size=(30, 1))
    >>> toy = ak.Benchmark(
    ...     utility=np.hstack([x, -x, 0 * x]), instances=tuple(f"i{i}" for i in range(30)), algorithms=("a", "b", "c"),
    ...     families=("f", "g"), family_of=np.array([0, 0, 1]), features=x, feature_names=("x",),
    ... )
    >>> protocol = ak.Protocol(
    ...     seeds=1, folds=2, validation_folds=2, trees=5, family_selectors=("multiclass",), inner_selectors=("single",)
    ... )
    >>> list(ak.build_pipelines(toy, protocol).benchmark.pipelines)
    ['flat-single', 'multiclass-single']
    """
    started = time.perf_counter()
    protocol = protocol or Protocol()
    if jobs < 1:
        raise UsageError("too few jobs", found=jobs, expected="at least 1")
    if (benchmark.family_of < 0).all():
        raise UsageError("no algorithm belongs to a family", expected="families")
    check_name(name, "benchmarks")
    if out is not None and Path(out).is_dir():
        raise StoreError("cannot write", found="a folder", expected="a file name", where=str(out))
    version = require_sklearn()
    features = _choose_features(benchmark, steps)
    folds = make_folds(benchmark.utility, benchmark.clusters, protocol)
    record = {
        "scikit-learn": version,
        "steps": None if steps is None else list(steps),
        **asdict(protocol),
    }
    with _folder(benchmark, record, out) as folder:
        job = Job(
            features.values, benchmark.utility, benchmark.family_of, len(benchmark.families), folds, protocol,
            Checkpoints(folder),
        )  # fmt: skip
        n_steps, n_resumed, fit_seconds = _run(job, jobs, progress)
        built = replace(
            benchmark,
            pipelines=pipelines(job, features.policy),
            provenance=_provenance(benchmark, record),
        )
        if out is not None:
            store.write(out, AuditData(benchmarks={name: built}))
            job.checkpoints.remove()
    seconds = time.perf_counter() - started
    return Built(built, n_steps, n_resumed, seconds, fit_seconds, _notes(benchmark, features))


# ----------------------------------------------------------------------------------------------------- the steps


def _run(job: Job, jobs: int, progress: Progress | None) -> tuple[int, int, float]:
    """Run what is not finished: steps in all, steps resumed, seconds inside scikit-learn."""
    stages: dict[str, list[Task]] = {
        "inner": list(inner_tasks(job.protocol)),
        "family": list(family_tasks(job.protocol)),
    }
    todo = {
        stage: [task for task in tasks if not job.checkpoints.has(stage, task)]
        for stage, tasks in stages.items()
    }
    n_steps, left = (sum(map(len, of.values())) for of in (stages, todo))
    seconds, done = 0.0, 0
    with _pool(min(jobs, max(left, 1))) as each:
        for stage, tasks in todo.items():  # family selectors read what the inner ones predicted
            for taken in each(job, stage, tasks):
                seconds += taken
                done += 1
                if progress is not None:
                    progress("fit selectors", done, left)
    return n_steps, n_steps - left, seconds


Each = Callable[[Job, str, list[Task]], Iterator[float]]


@contextmanager
def _pool(jobs: int) -> Iterator[Each]:
    """Runs tasks here, or in processes; yields the seconds of each as it ends."""
    if jobs == 1:
        yield lambda job, stage, tasks: (run_task(job, stage, task) for task in tasks)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker)

    def each(job: Job, stage: str, tasks: list[Task]) -> Iterator[float]:
        running = [pool.submit(run_task, job, stage, task) for task in tasks]
        for future in as_completed(running):
            yield future.result()

    try:
        yield each
    except BrokenProcessPool:
        raise AuditkitError(
            "a process of the build died",
            expected="enough memory; the same command goes on from what is done",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it even where it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# --------------------------------------------------------------------------------------------------- what is kept


@contextmanager
def _folder(
    benchmark: Benchmark, record: dict[str, Any], out: str | os.PathLike[str] | None
) -> Iterator[Path]:
    """A hidden folder beside ``out``, named by a hash of everything that the results depend on."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="auditkit-build-") as temporary:
            yield Path(temporary)
        return
    data = AuditData(benchmarks={"benchmark": replace(benchmark, pipelines={})})
    inputs = json.dumps([data.sha256, record, np.__version__, __version__], sort_keys=True)
    key = hashlib.sha256(inputs.encode()).hexdigest()[:16]
    folder = Path(out).parent / f".{Path(out).name[:100]}.build-{key}"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError("cannot write", found=error.strerror, where=str(folder)) from None
    yield folder


def _provenance(benchmark: Benchmark, record: dict[str, Any]) -> str:
    """The provenance of the benchmark with the build added."""
    try:
        known = json.loads(benchmark.provenance or "{}")
    except json.JSONDecodeError:
        known = benchmark.provenance
    if not isinstance(known, dict):
        known = {"benchmark": known}
    return json.dumps({**known, "build": record}, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------------- features


@dataclass(frozen=True, slots=True)
class _Features:
    """The features that the selectors see, [n, q], and which they are, in words."""

    values: Floats
    policy: str


def _choose_features(benchmark: Benchmark, steps: Sequence[str] | None) -> _Features:
    if benchmark.features is None:
        raise UsageError(
            "no instance features stored", expected="features for the selectors to learn from"
        )
    total = benchmark.features.shape[1]
    if benchmark.feature_steps is None:
        if steps:
            raise UsageError(
                "unknown feature step", found=repr(steps[0]), expected="none: no steps are stored"
            )
        return _Features(benchmark.features, f"all {total} features")
    known = tuple(dict.fromkeys(benchmark.feature_steps))
    wanted = known if steps is None else tuple(steps)
    for step in wanted:
        if step not in known:
            raise UsageError(
                "unknown feature step", found=repr(step), expected=" or ".join(map(repr, known))
            )
    chosen = np.isin(np.array(benchmark.feature_steps), wanted)
    of = f"all {total}" if chosen.all() else f"{int(chosen.sum())} of {total}"
    named = f"step {wanted[0]}" if len(wanted) == 1 else f"steps {', '.join(wanted)}"
    return _Features(benchmark.features[:, chosen], f"{of} features ({named})")


def _notes(benchmark: Benchmark, features: _Features) -> tuple[str, ...]:
    missing = np.isnan(features.values)
    cells = (
        f"{counted(int(missing.sum()), 'cell')} missing, imputed by the median of the training rows"
    )
    notes = [f"features: {features.policy}; {cells if missing.any() else 'no cell missing'}"]
    alone = int(missing.all(axis=1).sum())
    if alone:
        notes.append(
            f"{counted(alone, 'instance has', 'instances have')} no feature at all: every cell is imputed"
        )
    never = int(np.isnan(benchmark.utility).all(axis=1).sum())
    if never:
        verb = "is" if never == 1 else "are"
        notes.append(
            f"{counted(never, 'instance')} without any utility {verb} tested but never trained on"
        )
    return tuple(notes)
