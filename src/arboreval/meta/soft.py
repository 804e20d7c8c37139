"""System-level agreement on pairs of systems: pairwise accuracy and its soft form."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import (
    Coefficient,
    FloatArray,
    ids,
    paired,
    present,
    undefined,
)

SPA_PERMUTATIONS = 1_000
SPA_SEED = 4  # mt-metrics-eval's


def pairwise_accuracy(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """The share of pairs of systems that metric and people order the same way (Kocmi et al. 2021).

    x and y are system scores. A tie agrees with a tie only, as in mt-metrics-eval's ``Agreement``; ``n`` counts pairs.
    """
    a, b = paired(x, y)
    kept = present(a, b)
    a, b = a[kept], b[kept]
    n = len(a) * (len(a) - 1) // 2
    if n == 0:
        return undefined("fewer than two systems with both scores")
    upper = np.triu_indices(len(a), 1)
    same = [np.subtract((v[:, None] > v)[upper], (v[:, None] < v)[upper], dtype=np.int8) for v in (a, b)]
    return Coefficient(int((same[0] == same[1]).sum()) / n, n)


@dataclass(frozen=True)
class SystemDifferences:
    """Per pair of systems the differences of metric and of human scores on each segment, 0 where one is missing.

    ``metric`` and ``human`` have shape (segments, pairs).
    """

    metric: FloatArray
    human: FloatArray


def system_differences(x: ArrayLike, y: ArrayLike, segment: ArrayLike, system: ArrayLike) -> SystemDifferences:
    """Only cells with both scores count, and of two systems only the segments they share."""
    a, b = paired(x, y)
    seg, sys_ = ids(segment, len(a), "segment"), ids(system, len(a), "system")
    if seg is None or sys_ is None:
        raise UsageError("soft pairwise accuracy needs the segment and the system of every row")
    shape = (int(seg.max(initial=-1)) + 1, int(sys_.max(initial=-1)) + 1)
    if len(np.unique(seg * shape[1] + sys_)) < len(a):
        raise UsageError("a system has two scores on one segment")
    kept = present(a, b)
    tables = np.full((2, *shape), np.nan)
    tables[0, seg[kept], sys_[kept]] = a[kept]
    tables[1, seg[kept], sys_[kept]] = b[kept]
    pairs = [
        (i, j) for i, j in combinations(range(shape[1]), 2) if not np.isnan(tables[0, :, i] - tables[0, :, j]).all()
    ]
    left, right = [i for i, _ in pairs], [j for _, j in pairs]
    metric, human = np.nan_to_num(tables[:, :, left] - tables[:, :, right])
    return SystemDifferences(metric, human)


def permutation_p(differences: FloatArray, *, permutations: int = SPA_PERMUTATIONS, seed: int = SPA_SEED) -> FloatArray:
    """One-sided p of "the first system is better" for every column, by swapping the systems on random segments.

    p is the share of random signs under which the sum of differences is at least the one observed. The signs are
    those mt-metrics-eval draws from the same seed, and are the same for all pairs.
    """
    draws = np.random.default_rng(seed).random(size=(permutations, len(differences)), dtype=np.float32)
    signs = np.rint(draws).astype(np.float64) * 2 - 1
    # sums in another order differ in their last digits; the tolerance makes equal sums equal
    slack = 1e-12 * np.abs(differences).sum(axis=0)
    p: FloatArray = np.mean(signs @ differences >= differences.sum(axis=0) - slack, axis=0)
    return p


def spa(
    x: ArrayLike,
    y: ArrayLike,
    segment: ArrayLike,
    system: ArrayLike,
    *,
    permutations: int = SPA_PERMUTATIONS,
    seed: int = SPA_SEED,
) -> Coefficient:
    """Soft pairwise accuracy (Thompson et al. 2024): 1 - the mean over pairs of systems of |p_human - p_metric|.

    p is that of :func:`permutation_p`; ``n`` counts pairs of systems.
    """
    differences = system_differences(x, y, segment, system)
    n = differences.metric.shape[1]
    if n == 0:
        return undefined("no two systems share a segment with both scores")
    p = [permutation_p(d, permutations=permutations, seed=seed) for d in (differences.human, differences.metric)]
    return Coefficient(1.0 - float(np.abs(p[0] - p[1]).mean()), n)


class SpaPrepared:
    """Soft pairwise accuracy under weights on segments, shape (segments, trials).

    1,000 permutations in each of 1,000 resamples would take a minute for every metric. The sum of differences with
    random signs has mean 0 and variance Σ w d² and is nearly normal, so p = 1 - Φ(Σ w d / sqrt(Σ w d²)). Where all
    differences are 0 every permutation ties with what was observed, and p = 1.
    """

    def __init__(self, differences: SystemDifferences) -> None:
        self.differences = differences

    def __call__(self, weights: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        p = []
        for d in (self.differences.human, self.differences.metric):
            total, square = weights.T @ d, weights.T @ (d * d)
            ratio = np.divide(total, np.sqrt(square), out=np.full(total.shape, -np.inf), where=square > 0)
            p.append(ndtr(-ratio))
        return np.asarray(1.0 - np.abs(p[0] - p[1]).mean(axis=1), dtype=np.float64)
