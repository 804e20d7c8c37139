"""How sure we are: percentile bootstrap intervals, paired bootstrap and paired approximate randomisation.

Everything works on sufficient statistics. The random numbers are those sacrebleu draws from the same seed, so for the
same corpus the resamples are the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from arboreval.metrics.base import FloatArray
from arboreval.run.measure import Statistics

DEFAULT_SEED = 12345
BOOTSTRAP_TRIALS = 1_000
RANDOMISATION_TRIALS = 10_000
LEVEL = 0.95
ALPHA = 0.05
_CHUNK_CELLS = 4_000_000  # trials x segments that are in memory at once


@dataclass(frozen=True)
class PairTest:
    """System ``a`` against system ``b`` (indices) under one metric; differences are a minus b."""

    a: int
    b: int
    difference: float
    ci: tuple[float, float] | None
    p_bootstrap: float
    p_ar: float


def _rows_per_chunk(n: int) -> int:
    """A multiple of 32, because random truth values are drawn 32 at a time and leftovers are lost between calls."""
    return max(_CHUNK_CELLS // max(n, 1) // 32, 1) * 32


def bootstrap_counts(n: int, trials: int, seed: int) -> Iterator[FloatArray]:
    """How often each of ``n`` segments is drawn in each resample, in chunks of shape (trials, n)."""
    rng = np.random.default_rng(seed)
    step = _rows_per_chunk(n)
    for done in range(0, trials, step):
        rows = min(step, trials - done)
        index = rng.choice(n, size=(rows, n), replace=True)
        index += np.arange(rows)[:, None] * n
        yield np.bincount(index.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def randomisation_choices(n: int, trials: int, seed: int) -> Iterator[FloatArray]:
    """Which segments keep their system in each trial (1) and which swap (0), in chunks of shape (trials, n)."""
    rng = np.random.default_rng(seed)
    step = _rows_per_chunk(n)
    for done in range(0, trials, step):
        yield rng.integers(2, size=(min(step, trials - done), n), dtype=bool).astype(np.float64)


def _weighted_sums(weights: Iterator[FloatArray], arrays: Sequence[FloatArray]) -> list[FloatArray]:
    """For each (systems, n, k) array the sums over segments under every row of weights: (systems, trials, k)."""
    flat = [np.ascontiguousarray(a.transpose(1, 0, 2)).reshape(a.shape[1], -1) for a in arrays]
    columns = np.concatenate(flat, axis=1)
    sums = np.concatenate([chunk @ columns for chunk in weights])
    ends = np.cumsum([f.shape[1] for f in flat])[:-1]
    return [
        part.reshape(len(part), a.shape[0], a.shape[2]).transpose(1, 0, 2)
        for part, a in zip(np.split(sums, ends, axis=1), arrays, strict=True)
    ]


def bootstrap_scores(
    statistics: Sequence[Statistics], *, trials: int = BOOTSTRAP_TRIALS, seed: int = DEFAULT_SEED
) -> list[FloatArray]:
    """Corpus scores of every resample, for each metric an array (systems, trials); all share the resamples."""
    arrays = [s.stats for s in statistics]
    sums = _weighted_sums(bootstrap_counts(arrays[0].shape[1], trials, seed), arrays)
    return [s.metric.aggregate(part) for s, part in zip(statistics, sums, strict=True)]


def interval(scores: FloatArray) -> tuple[float, float] | None:
    """The percentile interval; None where no resample has a score."""
    scores = scores[np.isfinite(scores)]
    if not len(scores):
        return None
    low, high = np.percentile(scores, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(low), float(high)


def p_value(null: FloatArray, observed: float) -> float:
    """(count + 1) / (trials + 1), counting the trials at least as extreme as what was observed.

    sacrebleu counts the strictly more extreme ones, which calls two identical systems different; on data without
    ties the two are equal. The tolerance makes ties of rounded sums ties.
    """
    count = int(np.sum(null >= observed - 1e-9 * max(1.0, abs(observed))))
    return (count + 1) / (len(null) + 1)


def paired_tests(
    statistics: Sequence[Statistics],
    boot_scores: Sequence[FloatArray],
    *,
    ar_trials: int = RANDOMISATION_TRIALS,
    seed: int = DEFAULT_SEED,
) -> list[list[PairTest]]:
    """Every pair of systems under every metric, given the scores of :func:`bootstrap_scores`.

    Segments on which some system failed are left out of that metric; where no score is left there is nothing to test.
    """
    common: list[NDArray[np.bool_]] = [np.logical_and.reduce(s.ok, axis=0) for s in statistics]
    arrays = [np.where(ok[None, :, None], s.stats, 0.0) for s, ok in zip(statistics, common, strict=True)]
    n = arrays[0].shape[1]
    kept = _weighted_sums(randomisation_choices(n, ar_trials, seed), arrays)
    results: list[list[PairTest]] = []
    for s, ok, array, keep, boot in zip(statistics, common, arrays, kept, boot_scores, strict=True):
        if not ok.any():
            results.append([])
            continue
        aggregate = s.metric.aggregate
        if not s.ok.all():
            (sums,) = _weighted_sums(bootstrap_counts(n, boot.shape[1], seed), [array])
            boot = aggregate(sums)
        totals = array.sum(axis=1)
        scores = aggregate(totals)
        if not np.isfinite(scores).all():
            results.append([])
            continue
        tests: list[PairTest] = []
        for a, b in combinations(range(len(array)), 2):
            difference = float(scores[a] - scores[b])
            # paired bootstrap, as sacrebleu and Moses have it: |differences| shifted to a mean of 0
            differences = boot[a] - boot[b]
            differences = differences[np.isfinite(differences)]
            absolute = np.abs(differences)
            # approximate randomisation: each segment's outputs change places with probability 1/2
            swapped_a = aggregate(keep[a] + (totals[b] - keep[b]))
            swapped_b = aggregate(keep[b] + (totals[a] - keep[a]))
            tests.append(
                PairTest(
                    a,
                    b,
                    difference,
                    interval(differences),
                    p_value(absolute - absolute.mean(), abs(difference)),
                    p_value(np.abs(swapped_a - swapped_b), abs(difference)),
                )
            )
        results.append(tests)
    return results


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction; the adjusted values in the order given."""
    m = len(p_values)
    adjusted = [0.0] * m
    highest = 0.0
    for rank, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (m - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted
