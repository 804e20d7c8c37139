"""Is the difference between two metrics real?

Every test asks whether the first metric agrees better with people than the second, one-sided, and gives a
:class:`Comparison`. Larger is better in all scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import CONSTANT_X, Averaging, BoolArray, FloatArray, groups_of, ids, numbers, split
from arboreval.meta.correlation import Name, correlate, pearson, variant_of
from arboreval.meta.pairwise import Pairs, acc23_terms, fit_epsilon, wmt_terms
from arboreval.meta.resample import counts, evaluate, interval, mean_defined, prepare, rowwise
from arboreval.significance import ALPHA, BOOTSTRAP_TRIALS, DEFAULT_SEED, LEVEL, holm

Permutation = Literal["perm-both", "perm-sys", "perm-input"]
PERMUTATIONS = 1_000


@dataclass(frozen=True)
class Comparison:
    """The first metric against the second; what a test does not give, or what is undefined, is None.

    ``p`` is one-sided: small where the first is better. ``note`` is a warning, ``reason`` why it is undefined.
    """

    n: int
    difference: float | None = None
    p: float | None = None
    ci: tuple[float, float] | None = None
    statistic: float | None = None
    reason: str = ""
    note: str = ""

    def wins(self, alpha: float = ALPHA) -> bool:
        """By the p-value, or, for tests that have none, by an interval that lies above 0."""
        if self.p is not None:
            return self.p <= alpha
        return self.ci is not None and self.ci[0] > 0


def _out_of_range(r1: float, r2: float, r12: float) -> None:
    for r in (r1, r2, r12):
        if not -1 <= r <= 1:
            raise UsageError(f"a correlation is between -1 and 1, not {r}")


def williams(r1: float, r2: float, r12: float, n: int) -> Comparison:
    """Williams' test (1959) of r1 > r2, correlations of two metrics with the same human scores; t with n - 3 df.

    K = 1 - r1² - r2² - r12² + 2 r1 r2 r12, r̄ = (r1 + r2)/2,
    t = (r1 - r2) sqrt((n - 1)(1 + r12)) / sqrt(2 K (n - 1)/(n - 3) + r̄² (1 - r12)³)
    """
    _out_of_range(r1, r2, r12)
    if n <= 3:
        return Comparison(n, r1 - r2, reason="Williams' test needs more than three observations")
    k = max(1 - r1**2 - r2**2 - r12**2 + 2 * r1 * r2 * r12, 0.0)
    square = 2 * k * (n - 1) / (n - 3) + ((r1 + r2) / 2) ** 2 * (1 - r12) ** 3
    if square < 1e-15:
        return Comparison(n, r1 - r2, reason="the two metrics are the same but for scale")
    from scipy.stats import t as student

    t = (r1 - r2) * np.sqrt((n - 1) * (1 + r12)) / np.sqrt(square)
    return Comparison(n, r1 - r2, float(student.sf(t, n - 3)), statistic=float(t))


def zou(r1: float, r2: float, r12: float, n: int, *, level: float = LEVEL) -> Comparison:
    """Zou's interval (2007) for the difference of two dependent, overlapping correlations.

    With [l, u] = tanh(atanh(r) ± z/sqrt(n - 3)) and c the correlation of r1 and r2,
    L = r1 - r2 - sqrt((r1 - l1)² + (u2 - r2)² - 2 c (r1 - l1)(u2 - r2)), U with the other ends. Absolute values are
    taken, as in the published script; a negative correlation leaves a note.
    """
    _out_of_range(r1, r2, r12)
    note = "a metric is negatively correlated; absolute values were compared" if min(r1, r2) < 0 else ""
    r1, r2, r12 = abs(r1), abs(r2), abs(r12)
    if n <= 3:
        return Comparison(n, r1 - r2, reason="Zou's interval needs more than three observations", note=note)
    if max(r1, r2) > 1 - 1e-12:
        return Comparison(n, r1 - r2, reason="a correlation of 1 has no interval", note=note)
    from scipy.special import ndtri

    half = float(ndtri((1 + level) / 2)) / np.sqrt(n - 3)
    (l1, u1), (l2, u2) = (np.tanh(np.arctanh(r) + np.array([-half, half])) for r in (r1, r2))
    c = ((r12 - r1 * r2 / 2) * (1 - r1**2 - r2**2 - r12**2) + r12**3) / ((1 - r1**2) * (1 - r2**2))
    # with c = 1 the roots are of squares, which rounding may put below 0
    low = r1 - r2 - np.sqrt(max((r1 - l1) ** 2 + (u2 - r2) ** 2 - 2 * c * (r1 - l1) * (u2 - r2), 0.0))
    high = r1 - r2 + np.sqrt(max((u1 - r1) ** 2 + (r2 - l2) ** 2 - 2 * c * (u1 - r1) * (r2 - l2), 0.0))
    return Comparison(n, r1 - r2, ci=(float(low), float(high)), statistic=float(c), note=note)


def _common(*columns: ArrayLike) -> tuple[list[FloatArray], FloatArray]:
    vectors = [numbers(column) for column in columns]
    if len({len(v) for v in vectors}) > 1:
        raise UsageError(f"vectors of one length are needed, not of {', '.join(str(len(v)) for v in vectors)}")
    return vectors, ~np.logical_or.reduce([np.isnan(v) for v in vectors])


def compare_pearson(
    x1: ArrayLike, x2: ArrayLike, y: ArrayLike, test: Literal["williams", "zou"] = "williams"
) -> Comparison:
    """Williams' or Zou's comparison of Pearson correlations, on the rows that have all three scores."""
    (a, b, h), kept = _common(x1, x2, y)
    a, b, h = a[kept], b[kept], h[kept]
    found = [pearson(*two) for two in ((a, h), (b, h), (a, b))]
    r1, r2, r12 = (r.value for r in found)
    if r1 is None or r2 is None or r12 is None:
        return Comparison(len(h), reason=next(r.reason for r in found if r.value is None))
    return williams(r1, r2, r12, len(h)) if test == "williams" else zou(r1, r2, r12, len(h))


def _p_of(null: FloatArray, observed: float, trials: int) -> float:
    """(count of null >= observed + 1) / (trials + 1); equal sums in another order are equal."""
    return (int(np.sum(null >= observed - 1e-12)) + 1) / (trials + 1)


def permutation_test(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    *,
    kind: Permutation = "perm-both",
    corr: Name = "kendall",
    segment: ArrayLike | None = None,
    system: ArrayLike | None = None,
    average: Averaging = "none",
    trials: int = PERMUTATIONS,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """Deutsch et al. (2021): both metrics standardised, then swapped at random, δ = corr(1) - corr(2) each time.

    perm-both swaps single cells (system, segment), perm-sys whole systems, perm-input whole segments, each with
    probability ½. p = (count of δ_i >= δ + 1) / (trials + 1). Rows that lack any of the three scores are left out.
    For pearson, spearman and kendall, pooled or averaged over items or systems.
    """
    (a, b, h), kept = _common(x1, x2, y)
    n = len(a)
    seg, sys_ = ids(segment, n, "segment"), ids(system, n, "system")
    cell = {"perm-both": np.arange(n), "perm-sys": sys_, "perm-input": seg}.get(kind)
    if kind not in ("perm-both", "perm-sys", "perm-input"):
        raise UsageError(f"unknown permutation {kind!r}; use perm-both, perm-sys or perm-input")
    if cell is None:
        raise UsageError(f"{kind} needs the {'system' if kind == 'perm-sys' else 'segment'} of every row")
    if corr not in ("pearson", "spearman", "kendall"):
        raise UsageError(f"{kind} is for pearson, spearman and kendall, not {corr}")
    group = groups_of(average, seg, sys_)
    options = {"average": average, "segment": None if seg is None else seg[kept]}
    options["system"] = None if sys_ is None else sys_[kept]
    found = [correlate(corr, v[kept], h[kept], **options) for v in (a, b)]  # type: ignore[arg-type]
    r1, r2 = found[0].value, found[1].value
    rows = int(kept.sum())
    if r1 is None or r2 is None:
        return Comparison(rows, reason=found[0 if r1 is None else 1].reason)
    a, b = ((v - v[kept].mean()) / v[kept].std() for v in (a, b))
    swap = np.random.default_rng(seed).integers(2, size=(int(cell.max(initial=-1)) + 1, trials), dtype=np.int8)
    parts = [np.flatnonzero(kept)] if group is None else [np.flatnonzero(kept)[p] for p in split(group[kept])]
    null = []
    for first in (1, 0):  # the scores that stand in for metric 1, then those that stand in for metric 2
        values = (_swapped(corr, a[p], b[p], h[p], swap, cell[p], first, trials) for p in parts)
        null.append(mean_defined(values, trials))
    difference = r1 - r2
    return Comparison(rows, difference, _p_of(null[0] - null[1], difference, trials))


def _swapped(
    corr: str,
    a: FloatArray,
    b: FloatArray,
    h: FloatArray,
    swap: np.ndarray[tuple[int, ...], np.dtype[np.int8]],
    cell: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    first: int,
    trials: int,
) -> FloatArray:
    """The coefficient of the metric that takes each cell from a where swap is ``first`` and else from b.

    All scores of both are rows that do not move; the choice is a weight of 1 on one of the two rows of a cell.
    """
    prepared = prepare(corr, np.concatenate([a, b]), np.concatenate([h, h]))

    def weights(block: slice) -> FloatArray:
        chosen = (np.take(swap[:, block], cell, axis=0, mode="clip") == first).astype(np.float64)
        return np.concatenate([chosen, 1.0 - chosen])

    return evaluate(prepared, weights, 2 * len(a), trials)


@dataclass(frozen=True, eq=False)
class SystemScores:
    """A metric at system level: a score for each system, and ``cells`` (systems x segments) of which it is made."""

    systems: FloatArray
    cells: FloatArray | None = None


def system_permutation_test(
    first: SystemScores,
    second: SystemScores,
    human: ArrayLike,
    *,
    kind: Permutation = "perm-both",
    corr: Name = "pearson",
    trials: int = PERMUTATIONS,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """:func:`permutation_test` of system-level coefficients: cells, systems or segments are swapped, then averaged.

    Only cells that both metrics have are used. Those of a system are shifted so that their mean is its score, then all
    cells of a metric are standardised together. Where a metric has scores of systems alone only perm-sys is possible.
    """
    if kind not in ("perm-both", "perm-sys", "perm-input"):
        raise UsageError(f"unknown permutation {kind!r}; use perm-both, perm-sys or perm-input")
    people = numbers(human)
    if first.cells is not None and second.cells is not None:
        cells = first.cells, second.cells
    elif kind == "perm-sys":
        cells = first.systems[:, None], second.systems[:, None]
    else:
        return Comparison(0, reason=f"{kind} needs scores of segments; use perm-sys")
    known = np.isfinite(cells[0]) & np.isfinite(cells[1])
    kept = known.any(axis=1) & np.isfinite(first.systems + second.systems + people)
    known, people = known[kept], people[kept]
    found = [correlate(corr, v.systems[kept], people) for v in (first, second)]
    r1, r2 = found[0].value, found[1].value
    if r1 is None or r2 is None:
        return Comparison(len(people), reason=found[0 if r1 is None else 1].reason)
    size = known.sum(axis=1)
    a, b = (
        _standardised(np.where(known, values[kept], 0.0), known, metric.systems[kept])
        for values, metric in zip(cells, (first, second), strict=True)
    )
    if a is None or b is None:
        return Comparison(len(people), reason=CONSTANT_X)
    rng, gap = np.random.default_rng(seed), a - b
    if kind == "perm-sys":
        moved = gap.sum(axis=1)[:, None] * rng.integers(2, size=(len(gap), trials))
    elif kind == "perm-input":
        moved = gap @ rng.integers(2, size=(gap.shape[1], trials)).astype(np.float64)
    else:
        draws = (rng.integers(2, size=(gap.shape[1], trials), dtype=np.int8) for _ in gap)
        moved = np.stack([row @ draw.astype(np.float64) for row, draw in zip(gap, draws, strict=True)])
    values = ((a.sum(axis=1)[:, None] - moved).T / size, (b.sum(axis=1)[:, None] + moved).T / size)
    null = rowwise(corr, values[0], people) - rowwise(corr, values[1], people)
    return Comparison(len(people), r1 - r2, _p_of(null, r1 - r2, trials))


def _standardised(cells: FloatArray, known: BoolArray, systems: FloatArray) -> FloatArray | None:
    """Mean 0 and sd 1 over all cells, 0 where there is none; rows first shifted to have the means given.

    None where all are equal.
    """
    shifted = cells + (systems - cells.sum(axis=1) / known.sum(axis=1))[:, None]
    values = shifted[known]
    if np.ptp(values) == 0:
        return None
    scaled: FloatArray = np.where(known, (shifted - values.mean()) / values.std(), 0.0)
    return scaled


def pair_permutation_test(
    first: Pairs,
    second: Pairs,
    corr: Name,
    *,
    trials: int = PERMUTATIONS,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """The permutation test for statistics on judged pairs: the verdicts of the two metrics on a pair are swapped.

    This is ``PairwisePermutationSigDiff`` of mt-metrics-eval; two metrics with different ε for ties can be compared by
    it. Both must have the same pairs in the same order; those that lack a score of either are left out.
    """
    if len(first.human) != len(second.human) or (first.human != second.human).any():
        raise UsageError("both metrics must be on the same judged pairs")
    known = first.known & second.known
    first, second = first.select(known), second.select(known)
    terms = []
    for pairs in (first, second):
        if corr == "acc23":
            epsilon = fit_epsilon(pairs)
            if epsilon is None:
                return Comparison(0, reason="there are no judged pairs")
            terms.append(acc23_terms(pairs, epsilon))
        else:
            terms.append(wmt_terms(pairs, variant_of(corr)))
    n = len(first.human)
    sums = [[float(part.sum()) for part in parts] for parts in terms]
    if not (sums[0][1] and sums[1][1]):
        return Comparison(n, reason="there are no judged pairs, or a metric ties all of them")
    difference = sums[0][0] / sums[0][1] - sums[1][0] / sums[1][1]
    rng = np.random.default_rng(seed)
    gap = np.stack([a - b for a, b in zip(*terms, strict=True)])
    null = np.empty(trials)
    step = max(2_000_000 // max(n, 1), 1)
    for start in range(0, trials, step):
        moved = gap @ rng.integers(2, size=(n, min(step, trials - start)), dtype=np.int8).astype(np.float64)
        values = [(sums[0][0] - moved[0]) / (sums[0][1] - moved[1]), (sums[1][0] + moved[0]) / (sums[1][1] + moved[1])]
        null[start : start + step] = values[0] - values[1]
    return Comparison(n, difference, _p_of(null, difference, trials))


def paired_bootstrap(samples1: FloatArray, samples2: FloatArray, observed1: float, observed2: float) -> Comparison:
    """Two metrics on the same resamples: p is the share in which the first is not strictly better (Koehn 2004).

    ``samples`` come from :func:`arboreval.meta.resample.bootstrap` with one seed on the same segments.
    """
    gap = samples1 - samples2
    gap = gap[~np.isnan(gap)]
    difference = observed1 - observed2
    if not len(gap):
        return Comparison(0, difference, reason="undefined in every resample")
    return Comparison(len(gap), difference, float(np.mean(gap <= 1e-12)), interval(gap))


def koehn(a: ArrayLike, b: ArrayLike, *, trials: int = BOOTSTRAP_TRIALS, seed: int = DEFAULT_SEED) -> Comparison:
    """Paired bootstrap of two systems by the means of their segment scores; a is expected to be the better one."""
    (x, y), kept = _common(a, b)
    gap = (x - y)[kept]
    if not len(gap):
        return Comparison(0, reason="no segment has both scores")
    means = gap @ counts(len(gap), trials, seed) / len(gap)
    return Comparison(len(gap), float(gap.mean()), float(np.mean(means <= 1e-12)), interval(means))


def bonferroni(p_values: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Which hypotheses are rejected at p <= α / N."""
    return [p <= alpha / len(p_values) for p in p_values]


def holm_reject(p_values: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Which are rejected by p*_u = max over v <= u of (N - v + 1) p_(v) <= α, the partial-conjunction procedure."""
    return [p <= alpha for p in holm(p_values)]


_CORRECTIONS: dict[str, Callable[[Sequence[float], float], list[bool]]] = {
    "none": lambda p_values, alpha: [p <= alpha for p in p_values],
    "bonferroni": bonferroni,
    "holm": holm_reject,
}


@dataclass(frozen=True)
class WinMatrix:
    """Metrics best first; ``wins[i][j]``: i is significantly better than j; clusters number from 1.

    ``p[i][j]`` is the uncorrected p-value, None on the diagonal, where there is none, and for tests without one.
    """

    names: tuple[str, ...]
    values: tuple[float | None, ...]
    p: tuple[tuple[float | None, ...], ...]
    wins: tuple[tuple[bool, ...], ...]
    clusters: tuple[int, ...]


def clusters(wins: Sequence[Sequence[bool]]) -> tuple[int, ...]:
    """Metrics best first: a new cluster begins with a metric beaten by one of the present cluster (mt-metrics-eval)."""
    ranks: list[int] = []
    start = 0
    for j in range(len(wins)):
        if any(wins[i][j] for i in range(start, j)):
            start = j
        ranks.append(1 if not ranks else ranks[-1] + (start == j))
    return tuple(ranks)


def win_matrix(
    names: Sequence[str],
    values: Sequence[float | None],
    comparisons: Mapping[tuple[str, str], Comparison],
    *,
    alpha: float = ALPHA,
    correction: Literal["none", "bonferroni", "holm"] = "none",
) -> WinMatrix:
    """All tested pairs, keyed (first, second), of which the correction makes one family."""
    if correction not in _CORRECTIONS:
        raise UsageError(f"unknown correction {correction!r}; use {', '.join(_CORRECTIONS)}")
    order = sorted(range(len(names)), key=lambda i: (values[i] is None, -(values[i] or 0.0), names[i]))
    keys = [key for key, c in comparisons.items() if c.p is not None]
    rejected = _CORRECTIONS[correction]([comparisons[key].p or 0.0 for key in keys], alpha)
    won = {key for key, reject in zip(keys, rejected, strict=True) if reject}
    won |= {key for key, c in comparisons.items() if c.p is None and c.wins()}
    ranked = [names[i] for i in order]
    wins = tuple(tuple((a, b) in won for b in ranked) for a in ranked)
    p = tuple(tuple(c.p if (c := comparisons.get((a, b))) else None for b in ranked) for a in ranked)
    return WinMatrix(tuple(ranked), tuple(values[i] for i in order), p, wins, clusters(wins))
