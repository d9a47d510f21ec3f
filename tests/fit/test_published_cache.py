"""The protocol against a published cache: folds of all repetitions, and what the models of one fold choose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.fit.checkpoints import Checkpoints
from auditkit.fit.protocol import Protocol, Task, make_folds
from auditkit.fit.selectors import Fitter
from auditkit.fit.tasks import Job, fit_family, fit_inner

PROTOCOL = Protocol(family_selectors=("multiclass", "pairwise"), inner_selectors=("boosting",))


@pytest.fixture(scope="module")
def published(shared_data: Path) -> ak.Benchmark:
    return ak.open(shared_data / "fidelity" / "maxsat_pms_2016.h5").benchmarks["MAXSAT-PMS-2016"]


@pytest.fixture(scope="module")
def scenario(shared_data: Path) -> ak.Benchmark:
    (benchmark,) = ak.import_aslib(
        shared_data / "aslib" / "MAXSAT-PMS-2016"
    ).data.benchmarks.values()
    return benchmark


def test_the_folds_are_the_published_ones(scenario: ak.Benchmark, published: ak.Benchmark) -> None:
    folds = make_folds(scenario.utility, None, PROTOCOL)
    rows = [scenario.instances.index(name) for name in published.instances]
    np.testing.assert_array_equal(folds.test[:, rows], published.pipelines["flat"].fold)


def test_the_models_of_a_fold_choose_what_was_published(
    scenario: ak.Benchmark, published: ak.Benchmark, tmp_path: Path
) -> None:
    family_of = published.family_of[[published.algorithms.index(a) for a in scenario.algorithms]]
    folds = make_folds(scenario.utility, None, PROTOCOL)
    assert scenario.features is not None
    job = Job(
        scenario.features, scenario.utility, family_of, 4, folds, PROTOCOL, Checkpoints(tmp_path)
    )
    task = Task(1, 2)
    inner = fit_inner(job, task, Fitter(100))
    family = fit_family(job, task, Fitter(100))
    place = {name: i for i, name in enumerate(published.instances)}
    names = [scenario.instances[i] for i in inner["rows"]]
    known = [j for j, name in enumerate(names) if name in place]  # the others no solver solves
    rows = [place[names[j]] for j in known]
    chosen = np.array(scenario.algorithms)[inner["boosting"][known].argmax(axis=1)]
    stored = published.pipelines["flat"].algorithm_choice[1, rows]
    assert chosen.tolist() == [published.algorithms[a] for a in stored]
    for name in ("multiclass", "pairwise"):
        np.testing.assert_array_equal(
            family[name][known], published.pipelines[name].family_choice[1, rows]
        )
