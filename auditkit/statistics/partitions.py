"""Other ways to group the same algorithms into families: merged, clustered by their utilities, at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import StatisticsError

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROUNDS = 100  # Lloyd's algorithm on a handful of points ends long before


def merged(family_of: Indices) -> Indices:
    """Half as many families (rounded up): the two smallest are merged until then, earlier ones first among equals.

    Parameters
    ----------
    family_of
        [A]; -1 = in no family, and stays so.

    Examples
    --------
    >>> import numpy as np
    >>> merged(np.array([0, 0, 0, 1, 2, 2, 3, -1]))
    array([ 0,  0,  0,  1,  1,  1,  1, -1])
    """
    out = _relabelled(family_of)
    wanted = (int(out.max()) + 2) // 2
    while out.max() + 1 > wanted:
        one, other = np.sort(np.argsort(np.bincount(out[out >= 0]), kind="stable")[:2])
        out = _relabelled(np.where(out == other, one, out))
    return out


def balanced(family_of: Indices, n_families: int, random: np.random.Generator) -> Indices:
    """Random families whose sizes differ by at most one; algorithms in no family stay in none.

    Parameters
    ----------
    family_of
        [A].
    n_families
        How many families.
    random
        Deals the algorithms out.
    """
    members = np.flatnonzero(family_of >= 0)
    out = np.full(len(family_of), -1, dtype=np.int64)
    out[random.permutation(members)] = np.arange(len(members)) % n_families
    return _relabelled(out)


def clustered(profiles: Floats, n_families: int, seed: int, *, restarts: int = 50) -> Indices:
    """k-means: families of algorithms that do well on the same instances.

    Parameters
    ----------
    profiles
        [A, n]; the utilities of each algorithm on the instances. No cell may be missing.
    n_families
        K.
    seed
        Seed of the k-means++ starts.
    restarts
        Starts; the clustering of the smallest sum of squared distances is kept, the first on ties.

    Returns
    -------
    ndarray
        [A]; every family has a member, and families are numbered by their first member.

    Raises
    ------
    StatisticsError
        A cell is missing, or there are fewer distinct profiles than families.

    Notes
    -----
    Lloyd's algorithm from k-means++ starts (Arthur and Vassilvitskii 2007).
    """
    if not np.isfinite(profiles).all():
        raise StatisticsError(
            "missing utilities in the profiles", expected="every algorithm measured"
        )
    distinct = len(np.unique(profiles, axis=0))
    if distinct < n_families:
        raise StatisticsError(
            "too few distinct utility profiles", found=distinct, expected=f"at least {n_families}"
        )
    # distances between the rows decide, and there are far fewer rows than columns
    gram = profiles @ profiles.T
    best, smallest = np.zeros(len(profiles), dtype=np.int64), np.inf
    for restart in range(restarts):
        random = np.random.default_rng(np.random.SeedSequence([seed, restart]))
        labels, inertia = _lloyd(gram, _start(gram, n_families, random))
        if inertia < smallest * (1 - 1e-12):
            best, smallest = labels, inertia
    return _relabelled(best)


def _start(gram: Floats, k: int, random: np.random.Generator) -> Indices:
    """k-means++: centres at data points, each drawn in proportion to the squared distance from those before."""
    square = np.diag(gram)
    centres = [int(random.integers(len(gram)))]
    while len(centres) < k:
        distance = np.min([square + square[c] - 2 * gram[c] for c in centres], axis=0)
        distance = np.maximum(distance, 0.0)
        distance[centres] = 0.0
        centres.append(int(random.choice(len(gram), p=distance / distance.sum())))
    to_each = np.stack([square + square[c] - 2 * gram[c] for c in centres])
    labels: Indices = to_each.argmin(axis=0)
    labels[centres] = np.arange(k)
    return labels


def _lloyd(gram: Floats, labels: Indices) -> tuple[Indices, float]:
    k = int(labels.max()) + 1
    for _ in range(_ROUNDS):
        distance = _to_centres(gram, labels, k)
        new = distance.argmin(axis=1)
        # a point leaves for a strictly nearer centre only, and never the last of its family
        stay = distance[np.arange(len(new)), new] >= distance[np.arange(len(new)), labels] - 1e-12
        alone = np.bincount(labels, minlength=k)[labels] == 1
        new = np.where(stay | alone, labels, new)
        if (new == labels).all() or len(np.unique(new)) < k:
            break
        labels = new
    distance = _to_centres(gram, labels, k)
    return labels, float(distance[np.arange(len(labels)), labels].sum())


def _to_centres(gram: Floats, labels: Indices, k: int) -> Floats:
    """Squared distances [A, k] of the points to the means of the clusters, by inner products alone."""
    weight = (labels[:, np.newaxis] == np.arange(k)).astype(np.float64)
    weight /= weight.sum(axis=0)
    distance: Floats = (
        np.diag(gram)[:, np.newaxis]
        - 2 * gram @ weight
        + np.einsum("ik,ij,jk->k", weight, gram, weight)
    )
    return distance


def _relabelled(labels: Indices) -> Indices:
    """The same partition with families numbered by their first member."""
    first: dict[int, int] = {}
    return np.array(
        [first.setdefault(int(k), len(first)) if k >= 0 else -1 for k in labels], dtype=np.int64
    )
