"""Characteristic functions and their inversion against direct sums and known distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from auditkit.kernels.characteristic import distribution, quantile, sum_frequencies


def frequencies(values, weights, draws, step, least=1, most=1024, tolerance=1e-9):
    real, imaginary = np.empty(most), np.empty(most)
    angles = 0.5 * step * np.asarray(values, dtype=float)
    assert np.abs(angles).max() <= 0.2
    used = sum_frequencies(angles, weights, draws, tolerance, least, real, imaginary)
    return used, real, imaginary


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100])
def test_equals_the_direct_sum(n: int) -> None:
    rng = np.random.default_rng(n)
    values, weights = rng.normal(size=n), rng.dirichlet(np.ones(n))
    step = 0.39 / np.abs(values).max()
    used, real, imaginary = frequencies(values, weights, 3, step, least=40, most=40, tolerance=9.0)
    t = (np.arange(40) + 0.5) * step
    direct = (np.exp(1j * t[:, None] * values) @ weights) ** 3 / (math.pi * (np.arange(40) + 0.5))
    assert used == 40
    np.testing.assert_allclose(real + 1j * imaginary, direct, atol=1e-14)


def test_stops_when_the_terms_are_small_and_says_when_they_are_not() -> None:
    values = np.random.default_rng(0).normal(size=500)
    step = 2 * math.pi / (16 * math.sqrt(500))
    weights = np.full(500, 1 / 500)
    assert 15 < frequencies(values, weights, 500, step)[0] < 30
    assert frequencies(values, weights, 500, step, least=64, most=64)[0] == 64
    # two values only: the function returns to size one
    assert frequencies([-1.0, 1.0], np.full(2, 0.5), 4, 0.3, most=200)[0] == -1


@pytest.mark.parametrize("law", [stats.norm(), stats.laplace(), stats.uniform(-2, 4)])
def test_inverts_known_characteristic_functions(law) -> None:
    step = 2 * math.pi / 40
    k = np.arange(4000)
    t = (k + 0.5) * step
    known = {
        "norm": np.exp(-(t**2) / 2),
        "laplace": 1 / (1 + t**2),
        "uniform": np.sin(2 * t) / (2 * t),
    }[law.dist.name]
    real = known / (math.pi * (k + 0.5))
    imaginary = np.zeros_like(real)
    # the Laplace tails 40 away, e^-39 / 2, are the aliasing; the truncated terms of the uniform alternate
    tolerance = 1e-12 if law.dist.name == "norm" else 1e-6
    for at in (-1.5, -0.3, 0.0, 1.0, 1.9):
        found = distribution(real, imaginary, step, at)
        assert found == pytest.approx(law.cdf(at), abs=tolerance)
    for level in (0.025, 0.5, 0.9):
        found = quantile(real, imaginary, step, level, -8.0, 8.0)
        assert law.cdf(found) == pytest.approx(level, abs=tolerance)


def test_a_shifted_distribution_is_shifted() -> None:
    step = 0.3
    k = np.arange(200)
    known = np.exp(0.7j * (k + 0.5) * step - ((k + 0.5) * step) ** 2 / 2) / (math.pi * (k + 0.5))
    real, imaginary = known.real.copy(), known.imag.copy()
    assert quantile(real, imaginary, step, 0.5, -8.0, 8.0) == pytest.approx(0.7, abs=1e-9)
    assert distribution(real, imaginary, step, 1.7) == pytest.approx(stats.norm.cdf(1.0), abs=1e-9)
