"""Statistics on pairs of outputs: which of two did people prefer, and which did the metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import (
    BoolArray,
    Coefficient,
    FloatArray,
    IntArray,
    divide,
    ids,
    numbers,
    paired,
    undefined,
)

Variant = Literal["wmt12", "wmt13", "wmt14", "darr", "xties"]
#: what a pair tied by the metric alone counts in the numerator, and whether it counts in the denominator
_METRIC_TIE: dict[str, tuple[float, float]] = {
    "wmt12": (-1.0, 1.0),
    "wmt13": (0.0, 0.0),
    "wmt14": (0.0, 1.0),
    "darr": (-1.0, 1.0),
    "xties": (0.0, 1.0),
}
#: smallest difference of two DA scores that makes a preference, in points of 100
DARR_DIFFERENCE = 25.0
_MOST_PAIRS = 50_000_000

NO_PAIRS = "there are no judged pairs"


@dataclass(frozen=True)
class Pairs:
    """Judged pairs of outputs a, b of one segment.

    ``metric`` and ``human`` are the signs of a - b (people's as -1, 0, 1; the metric's as the difference itself, NaN
    where a score is missing), ``count`` how many judgments say so, ``segment`` 0 to ``segments`` - 1.
    """

    metric: FloatArray
    human: FloatArray
    count: FloatArray
    segment: IntArray
    segments: int

    @classmethod
    def from_scores(
        cls, x: ArrayLike, y: ArrayLike, segment: ArrayLike | None = None, *, min_difference: float = 0.0
    ) -> Pairs:
        """All pairs of rows of one segment whose human scores differ by ``min_difference`` or more.

        Without ``segment`` all rows are one segment. Rows without a human score make no pairs.
        """
        a, b = paired(x, y)
        group = ids(segment, len(a), "segment")
        if group is None:
            group = np.zeros(len(a), dtype=np.int64)
        segments = int(group.max()) + 1 if len(group) else 0
        rows = np.flatnonzero(~np.isnan(b))
        rows = rows[np.argsort(group[rows], kind="stable")]
        sizes = np.bincount(group[rows], minlength=1)
        if (total := int((sizes * (sizes - 1) // 2).sum())) > _MOST_PAIRS:
            raise UsageError(f"{total:,} pairs of outputs are more than {_MOST_PAIRS:,}; pair within segments")
        x_, y_, g = a[rows], b[rows], group[rows]
        metric, human, where = [], [], []
        for step in range(1, int(sizes.max(initial=0))):
            same = np.flatnonzero(g[step:] == g[:-step])
            dy = _difference(y_[same], y_[same + step])
            same = same[np.abs(dy) >= min_difference]
            metric.append(_difference(x_[same], x_[same + step]))
            human.append(np.sign(dy[np.abs(dy) >= min_difference]))
            where.append(g[same])
        empty = [np.empty(0)]
        return cls(
            np.concatenate(metric or empty),
            np.concatenate(human or empty),
            np.ones(sum(map(len, metric))),
            np.concatenate(where or [np.empty(0, dtype=np.int64)]),
            segments,
        )

    @classmethod
    def from_rankings(
        cls,
        better: ArrayLike,
        worse: ArrayLike,
        count: ArrayLike | None = None,
        segment: ArrayLike | None = None,
        *,
        tie: ArrayLike | None = None,
    ) -> Pairs:
        """Metric scores of the preferred and of the other output, one row a judged pair; ``tie`` marks human ties."""
        a, b = paired(better, worse)
        counts = np.ones(len(a)) if count is None else numbers(count)
        group = ids(segment, len(a), "segment")
        tied = np.zeros(len(a), dtype=bool) if tie is None else np.asarray(tie, dtype=bool)
        if counts.shape != a.shape or tied.shape != a.shape:
            raise UsageError(f"{len(a)} pairs, but {len(counts)} counts and {len(tied)} tie marks")
        if group is None:  # every comparison stands for itself
            group = np.arange(len(a))
        segments = int(group.max()) + 1 if len(group) else 0
        return cls(_difference(a, b), np.where(tied, 0.0, 1.0), counts, group, segments)

    @property
    def known(self) -> BoolArray:
        return ~np.isnan(self.metric)

    def select(self, keep: BoolArray) -> Pairs:
        return replace(
            self,
            metric=self.metric[keep],
            human=self.human[keep],
            count=self.count[keep],
            segment=self.segment[keep],
        )

    def single(self) -> Pairs:
        """One row a judgment and every row its own segment, for resampling judgments instead of segments."""
        row = np.repeat(np.arange(len(self.count)), self.count.astype(np.int64))
        n = len(row)
        return Pairs(self.metric[row], self.human[row], np.ones(n), np.arange(n), n)


def _difference(a: FloatArray, b: FloatArray) -> FloatArray:
    """a - b, where two infinite scores of one sign are equal."""
    result = np.zeros(len(a))
    np.subtract(a, b, out=result, where=a != b)
    return result


def wmt_terms(pairs: Pairs, variant: Variant) -> tuple[FloatArray, FloatArray]:
    """What each pair adds to the numerator and to the denominator."""
    if variant not in _METRIC_TIE:
        raise UsageError(f"unknown Kendall variant {variant!r}; use {', '.join(_METRIC_TIE)}")
    tie, tie_counts = _METRIC_TIE[variant]
    metric, human = np.sign(pairs.metric), pairs.human
    value = np.where(metric == 0, tie, metric * human)
    counted = np.where(metric == 0, tie_counts, 1.0)
    people_tie = human == 0
    if variant == "xties":
        value = np.where(people_tie, np.where(metric == 0, 1.0, 0.0), value)
        counted = np.ones(len(metric))
    else:
        value, counted = np.where(people_tie, 0.0, value), np.where(people_tie, 0.0, counted)
    return value * pairs.count, counted * pairs.count


def wmt_kendall(
    pairs: Pairs, variant: Variant = "wmt14", *, missing: Literal["undefined", "drop"] = "undefined"
) -> Coefficient:
    """The segment-level τ of a WMT year, over all judged pairs together.

    With c, d concordant and discordant pairs and t pairs tied by the metric alone: wmt12 and darr
    (c - d - t)/(c + d + t), wmt13 (c - d)/(c + d), wmt14 (c - d)/(c + d + t); pairs tied by people are left out.
    xties is wmt14 with these in the denominator, those the metric ties too counting 1. A judged pair without a metric
    score makes the language pair undefined, as in the WMT scripts, unless ``missing`` is ``drop``.
    """
    known = pairs.known
    judged = (pairs.human != 0) | (variant == "xties")
    if missing == "undefined" and (lost := int(pairs.count[judged & ~known].sum())):
        return undefined(f"{lost} judged pairs lack a metric score", int(pairs.count[judged].sum()))
    kept = pairs.select(known)
    value, counted = wmt_terms(kept, variant)
    n = float(counted.sum())
    if n == 0:
        return undefined(NO_PAIRS if not judged.any() else "the metric ties every judged pair")
    return Coefficient(float(value.sum()) / n, round(n))


def _correct(pairs: Pairs, epsilon: float) -> BoolArray:
    """Pairs on which the metric, with differences up to ``epsilon`` as ties, says what people say."""
    verdict = np.where(np.abs(pairs.metric) <= epsilon, 0.0, np.sign(pairs.metric))
    return np.equal(verdict, pairs.human)


def _shares(pairs: Pairs) -> FloatArray:
    """Weights under which a sum over pairs is the mean over segments of the mean over the pairs of a segment."""
    sizes = np.bincount(pairs.segment, pairs.count, minlength=pairs.segments)
    shares: FloatArray = pairs.count / sizes[pairs.segment] / np.count_nonzero(sizes)
    return shares


def fit_epsilon(pairs: Pairs) -> float | None:
    """The largest metric difference to be called a tie for which acc23 is highest (Deutsch et al. 2023).

    Candidates are 0 and every difference that occurs; of equally good ones the smallest. None without pairs.
    """
    pairs = pairs.select(pairs.known)
    if not len(pairs.metric):
        return None
    share = _shares(pairs)
    size = np.abs(pairs.metric)
    order = np.argsort(size, kind="stable")
    people_tie = pairs.human == 0
    # a pair that becomes a tie is right if people tie it; before, it was right if it was concordant
    gain = np.where(people_tie, share, 0.0) - np.where(_correct(pairs, 0.0), share, 0.0)
    gain[size == 0] = 0.0
    total = np.cumsum(gain[order])
    ordered = size[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    # sums in another order differ in their last digits; such candidates are equally good
    best = max(float(total[last].max()), 0.0)
    if best <= 1e-12:
        return 0.0
    return float(ordered[last[np.flatnonzero(total[last] >= best - 1e-12)[0]]])


def acc23_terms(pairs: Pairs, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """What each pair adds to acc23 and to 1, the sum of all weights."""
    share = _shares(pairs)
    return share * _correct(pairs, epsilon), share


def acc23_values(pairs: Pairs, epsilon: float) -> FloatArray:
    """acc23 of every segment; NaN for those without pairs."""
    pairs = pairs.select(pairs.known)
    sizes = np.bincount(pairs.segment, pairs.count, minlength=pairs.segments)
    right = np.bincount(pairs.segment, pairs.count * _correct(pairs, epsilon), minlength=pairs.segments)
    return divide(right.astype(np.float64), sizes.astype(np.float64), sizes > 0)


@dataclass(frozen=True)
class Acc23:
    """acc23 with the ε it was computed with."""

    coefficient: Coefficient
    epsilon: float | None


def acc23(x: ArrayLike, y: ArrayLike, segment: ArrayLike | None = None, *, epsilon: float | None = None) -> Acc23:
    """Pairwise accuracy with ties, (c + pairs tied by both) / all pairs, averaged over segments.

    A metric difference up to ε is a tie; ε is fitted on the same data unless it is given. Without ``segment`` all rows
    are one segment. Segments with fewer than two scored outputs do not count.
    """
    return acc23_of(Pairs.from_scores(x, y, segment), epsilon)


def acc23_of(pairs: Pairs, epsilon: float | None = None) -> Acc23:
    pairs = pairs.select(pairs.known)
    if epsilon is None:
        epsilon = fit_epsilon(pairs)
    if epsilon is None:
        return Acc23(undefined(NO_PAIRS), None)
    values = acc23_values(pairs, epsilon)
    values = values[~np.isnan(values)]
    return Acc23(Coefficient(float(values.mean()), round(float(pairs.count.sum())), groups=len(values)), epsilon)


def tau23(x: ArrayLike, y: ArrayLike, segment: ArrayLike | None = None, *, epsilon: float = 0.0) -> Coefficient:
    """(right - wrong) / all pairs with ties as in acc23, averaged over segments: 2 acc23 - 1."""
    result = acc23(x, y, segment, epsilon=epsilon).coefficient
    return result if result.value is None else replace(result, value=2 * result.value - 1)


@dataclass(frozen=True)
class Contrast:
    """How often a metric scores the good text above the bad one; ties are failures and are counted."""

    accuracy: Coefficient
    ties: int


def contrastive_accuracy(
    good: ArrayLike, bad: ArrayLike, phenomenon: ArrayLike | None = None
) -> tuple[Contrast, Mapping[str, Contrast]]:
    """The share of rows with good > bad, of all rows and per phenomenon; rows without both scores are left out."""
    a, b = paired(good, bad)
    kept = ~(np.isnan(a) | np.isnan(b))

    def contrast(rows: BoolArray) -> Contrast:
        rows = rows & kept
        n = int(rows.sum())
        if n == 0:
            return Contrast(undefined("no row has both scores"), 0)
        return Contrast(Coefficient(int((a > b)[rows].sum()) / n, n), int((a == b)[rows].sum()))

    every = contrast(np.ones(len(a), dtype=bool))
    if phenomenon is None:
        return every, {}
    names = np.asarray(phenomenon, dtype=str)
    if names.shape != a.shape:
        raise UsageError(f"{len(a)} rows, but {len(names)} phenomena")
    return every, {str(name): contrast(names == name) for name in np.unique(names)}


def break_ties(x: ArrayLike, segment: ArrayLike, system: ArrayLike) -> FloatArray:
    """x + ε X_system, where X_system is the system's mean score: systems tied on a segment are told apart by it.

    ε is, for every segment, half the smallest gap between its distinct scores over max |X_system|, so that no other
    order is reversed. Systems that are equal on the whole stay tied, and a segment on which all tie has any ε.
    """
    scores = numbers(x)
    seg, sys_ = ids(segment, len(scores), "segment"), ids(system, len(scores), "system")
    if seg is None or sys_ is None:
        raise UsageError("breaking ties needs the segment and the system of every row")
    known = ~np.isnan(scores)
    size = np.bincount(sys_[known], minlength=int(sys_.max(initial=-1)) + 1)
    total = np.bincount(sys_[known], scores[known], minlength=len(size))
    mean = np.divide(total, size, out=np.zeros(len(size)), where=size > 0)
    largest = float(np.abs(mean).max(initial=0.0))
    if largest == 0:
        return scores
    order = np.lexsort((scores, seg))
    gap = np.diff(scores[order])
    inside = (np.diff(seg[order]) == 0) & (gap > 0)
    smallest = np.full(int(seg.max()) + 1, np.inf)
    np.minimum.at(smallest, seg[order][1:][inside], gap[inside])
    smallest[np.isinf(smallest)] = 1.0
    result: FloatArray = scores + (smallest / (2 * largest))[seg] * mean[sys_]
    return result
