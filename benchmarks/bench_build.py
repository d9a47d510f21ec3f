"""Wall time of a build beside scikit-learn's share of it, and the time of the audit of the result.

    python benchmarks/bench_build.py SCENARIO MAP.toml [--jobs 2] [--quick] [--keep OUT.h5]

Builds an ASlib scenario as ``auditkit build aslib`` does. The floor is the time inside scikit-learn's fits and
predictions, divided by the processes. ``--quick``: one seed, three folds, ten trees.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from auditkit import store
from auditkit.audits.fidelity import audit_fidelity
from auditkit.audits.sensitivity import audit_sensitivity
from auditkit.fit.build import build_pipelines
from auditkit.fit.protocol import Protocol
from auditkit.importers.aslib import import_aslib
from auditkit.importers.mapping import read_families


def main() -> None:
    """Build, audit, and print a markdown table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("families")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", help="write the audit file here")
    options = parser.parse_args()
    protocol = (
        Protocol(seeds=1, folds=3, validation_folds=3, trees=10) if options.quick else Protocol()
    )

    times: dict[str, float] = {}
    started = time.perf_counter()
    imported = import_aslib(options.scenario, families=read_families(options.families))
    times["import the scenario"] = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        out = Path(options.keep or Path(folder) / "built.h5")
        built = build_pipelines(
            imported.member, protocol, jobs=options.jobs, out=out, name=imported.name
        )
        times[f"build, {options.jobs} processes"] = built.seconds
        times["scikit-learn, added up over the processes"] = built.fit_seconds
        times["scikit-learn / processes (the floor)"] = built.fit_seconds / options.jobs
        data = store.open(out)
    audit_fidelity(data, replicates=10)  # compiles
    for name, audit in (("fidelity", audit_fidelity), ("sensitivity", audit_sensitivity)):
        started = time.perf_counter()
        audit(data)  # type: ignore[operator]
        times[f"audit {name}, 10,000 replicates"] = time.perf_counter() - started

    print(f"{imported.name}: {built.n_steps} steps, {built.n_resumed} of them done before\n")
    print("| | seconds |\n|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds:,.1f} |")
    share = built.fit_seconds / (built.seconds * options.jobs)
    print(f"\nscikit-learn's share of the processes' time: {share:.1%}")


if __name__ == "__main__":
    main()
