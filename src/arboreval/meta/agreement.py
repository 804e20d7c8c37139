"""People against people.

Ratings are a table annotators x items; a missing rating is NaN. Traps are items whose right rating is known (0 for an
output paired with an unrelated reference), so agreement is looked at with and without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import (
    CONSTANT_X,
    CONSTANT_Y,
    TOO_FEW,
    BoolArray,
    Coefficient,
    FloatArray,
    average_of,
    divide,
    undefined,
)
from arboreval.meta.correlation import pearson

AlphaLevel = Literal["interval", "nominal", "ordinal"]
CUT_SECONDS = 600.0
LOW_TRAP = 20.0
#: what is undefined about a metric, said of an annotator
_REASONS = {
    CONSTANT_X: "the annotator's ratings are all equal",
    CONSTANT_Y: "the mean ratings of the others are all equal",
    TOO_FEW: "fewer than two items that the others rated too",
}


@dataclass(frozen=True)
class ZScores:
    """``z`` annotators x items, ``items`` their mean over annotators; ``constant`` lists annotators with sd = 0."""

    z: FloatArray
    items: FloatArray
    constant: tuple[int, ...]


@dataclass(frozen=True)
class OneVsRest:
    annotators: tuple[Coefficient, ...]
    mean: Coefficient


@dataclass(frozen=True)
class TrapBins:
    """How traps were rated: 0, above 0 up to 20, above 20; ``missing`` were not rated."""

    zero: int
    low: int
    high: int
    missing: int = 0


@dataclass(frozen=True)
class Times:
    """Mean seconds an item, of all and of those below the cut; None where there are none."""

    all_mean: float | None
    cut_mean: float | None
    n: int
    n_cut: int


@dataclass(frozen=True)
class AgreementSummary:
    """Agreement on one set of items."""

    items: int
    one_vs_rest: OneVsRest
    alpha: Coefficient
    level: AlphaLevel


def table(ratings: ArrayLike) -> FloatArray:
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 2:
        raise UsageError(f"ratings must be a table annotators x items, not an array of shape {array.shape}")
    if np.isinf(array).any():
        raise UsageError("ratings must be finite")
    return array


def _trap_mask(traps: ArrayLike | None, ratings: FloatArray) -> BoolArray:
    """True where a rating is of a trap; traps may be given for items or for single ratings."""
    if traps is None:
        return np.zeros(ratings.shape, dtype=bool)
    mask = np.asarray(traps, dtype=bool)
    if mask.shape not in (ratings.shape, ratings.shape[1:]):
        raise UsageError(f"traps have shape {mask.shape}, the ratings {ratings.shape}")
    return np.broadcast_to(mask, ratings.shape)


def z_scores(ratings: ArrayLike, traps: ArrayLike | None = None, *, ddof: int = 1) -> ZScores:
    """(x - mean) / sd per annotator, then the mean over annotators per item.

    Mean and sd leave traps out, and sd divides by n - 1 (``ddof``). An annotator whose ratings are all equal, or who
    gave a single one, says nothing: z = 0, and the annotator is listed in ``constant``.
    """
    values = table(ratings)
    kept = np.where(_trap_mask(traps, values), np.nan, values)
    z = np.full(values.shape, np.nan)
    constant: list[int] = []
    for annotator, (row, known) in enumerate(zip(values, kept, strict=True)):
        known = known[~np.isnan(known)]
        if not len(known):
            continue
        if len(known) <= ddof or np.ptp(known) == 0:
            constant.append(annotator)
            z[annotator] = np.where(np.isnan(row), np.nan, 0.0)
        else:
            z[annotator] = (row - known.mean()) / known.std(ddof=ddof)
    return ZScores(z, _column_means(z), tuple(constant))


def _column_means(values: FloatArray) -> FloatArray:
    count = (~np.isnan(values)).sum(axis=0)
    total = np.nansum(values, axis=0)
    return divide(total, count, count > 0)


def one_vs_rest(ratings: ArrayLike) -> OneVsRest:
    """Pearson's r of each annotator with the mean of the others, and the mean of these over annotators."""
    values = table(ratings)
    found = (pearson(values[a], _column_means(np.delete(values, a, axis=0))) for a in range(len(values)))
    parts = tuple(replace(r, reason=_REASONS.get(r.reason, r.reason)) for r in found)
    return OneVsRest(parts, average_of(parts))


def krippendorff_alpha(ratings: ArrayLike, level: AlphaLevel = "interval") -> Coefficient:
    """α = 1 - D_o / D_e (Krippendorff 2011), from the coincidences of values within items.

    An item with m ratings adds 1/(m - 1) for each ordered pair of its ratings; items with one rating are left out.
    δ² is (x - y)² for intervals, x ≠ y for names, and (Σ of the frequencies from x to y, ends half)² for orders.
    Undefined where all ratings are equal: nothing could have been disagreed on. ``n`` counts ratings.
    """
    values = table(ratings)
    rated = (~np.isnan(values)).sum(axis=0)
    values = values[:, rated >= 2]
    n = int(rated[rated >= 2].sum())
    if n == 0:
        return undefined("no item was rated by two annotators")
    domain, flat = np.unique(values[~np.isnan(values)], return_inverse=True)
    if len(domain) == 1:
        return undefined("all ratings are equal", n)
    items = np.nonzero(~np.isnan(values))[1]
    if level == "interval":
        return Coefficient(_alpha_interval(values), n)
    # items x values table of counts; names and orders have few distinct values
    counts = np.zeros((values.shape[1], len(domain)))
    np.add.at(counts, (items, flat), 1.0)
    totals = counts.sum(axis=0)
    if level == "nominal":
        distance = 1.0 - np.eye(len(domain))
    elif level == "ordinal":
        middle = np.cumsum(totals) - totals / 2
        distance = (middle[:, None] - middle[None, :]) ** 2
    else:
        raise UsageError(f"unknown level of measurement {level!r}; use interval, nominal or ordinal")
    weights = 1.0 / (counts.sum(axis=1) - 1.0)
    coincidences = counts.T @ (counts * weights[:, None])
    # the pairs of a rating with itself, which the product has counted, lie on the diagonal, where the distance is 0
    observed = float((coincidences * distance).sum()) / n
    expected = float(totals @ distance @ totals) / (n * (n - 1))
    return Coefficient(1.0 - observed / expected, n)


def _alpha_interval(values: FloatArray) -> float:
    """Σ over ordered pairs of (x - y)² is 2 m Σ (x - mean)², so neither sum needs the pairs."""
    values = values / np.nanmax(np.abs(values - np.nanmean(values)))
    m = (~np.isnan(values)).sum(axis=0)
    n = int(m.sum())
    within = np.nansum((values - _column_means(values)) ** 2, axis=0)
    observed = float(np.sum(2 * m / (m - 1) * within)) / n
    expected = 2 * n * float(np.nansum((values - np.nanmean(values)) ** 2)) / (n * (n - 1))
    return 1.0 - observed / expected


def cohen_kappa(a: ArrayLike, b: ArrayLike, *, weights: Literal["linear", "quadratic"] | None = None) -> Coefficient:
    """κ = (p_o - p_e) / (1 - p_e) of two annotators (Cohen 1960), or weighted (1968) with w = |i - j| or (i - j)².

    i and j number the classes that occur, in order. Undefined where chance agreement is already complete.
    """
    x, y = (np.asarray(v, dtype=np.float64) for v in (a, b))
    if x.ndim != 1 or x.shape != y.shape:
        raise UsageError(f"two vectors of one length are needed, not {x.shape} and {y.shape}")
    kept = ~(np.isnan(x) | np.isnan(y))
    n = int(kept.sum())
    if n == 0:
        return undefined("no item was rated by both")
    classes, index = np.unique(np.concatenate([x[kept], y[kept]]), return_inverse=True)
    k = len(classes)
    joint = np.bincount(index[:n] * k + index[n:], minlength=k * k).reshape(k, k) / n
    steps = np.abs(np.arange(k)[:, None] - np.arange(k)[None, :]).astype(np.float64)
    if weights is None:
        cost = (steps > 0).astype(np.float64)
    elif weights in ("linear", "quadratic"):
        cost = steps if weights == "linear" else steps**2
    else:
        raise UsageError(f"unknown weights {weights!r}; use linear or quadratic")
    expected = float((np.outer(joint.sum(axis=1), joint.sum(axis=0)) * cost).sum())
    if expected == 0:
        return undefined("both annotators use one and the same class throughout", n)
    return Coefficient(1.0 - float((joint * cost).sum()) / expected, n)


def fleiss_kappa(ratings: ArrayLike) -> Coefficient:
    """κ = (P̄ - P̄_e) / (1 - P̄_e) (Fleiss 1971) with P_i = (Σ_j n_ij² - m) / (m (m - 1)); m ratings on every item."""
    values = table(ratings)
    m = (~np.isnan(values)).sum(axis=0)
    values, m = values[:, m > 0], m[m > 0]
    if not len(m):
        return undefined("there are no ratings")
    n = int(m.sum())
    if m.min() != m.max():
        return undefined(f"items have between {m.min()} and {m.max()} ratings; Fleiss' kappa needs one number", n)
    if m[0] < 2:
        return undefined("no item was rated by two annotators", n)
    classes, flat = np.unique(values[~np.isnan(values)], return_inverse=True)
    counts = np.zeros((values.shape[1], len(classes)))
    np.add.at(counts, (np.nonzero(~np.isnan(values))[1], flat), 1.0)
    chance = float(((counts.sum(axis=0) / n) ** 2).sum())
    if len(classes) == 1:
        return undefined("all ratings are equal", n)
    observed = float(np.mean(((counts**2).sum(axis=1) - m) / (m * (m - 1.0))))
    return Coefficient((observed - chance) / (1.0 - chance), n)


def trap_bins(ratings: ArrayLike, *, low: float = LOW_TRAP) -> TrapBins:
    """Ratings of traps by how far they are from the expected 0: zero, (0, 20], above 20."""
    values = np.asarray(ratings, dtype=np.float64).ravel()
    missing = np.isnan(values)
    if (values < 0).any():
        raise UsageError("a trap has a rating below 0; trap bins are for scales that start at 0")
    return TrapBins(
        int((values == 0).sum()),
        int(((values > 0) & (values <= low)).sum()),
        int((values > low).sum()),
        int(missing.sum()),
    )


def annotation_times(seconds: ArrayLike, *, cut: float = CUT_SECONDS) -> Times:
    """All.Ave is the mean of all times, Cut.Ave the mean of those below ``cut`` seconds."""
    values = np.asarray(seconds, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    short = values[values < cut]
    return Times(
        float(values.mean()) if len(values) else None,
        float(short.mean()) if len(short) else None,
        len(values),
        len(short),
    )


def summarise(ratings: ArrayLike, *, level: AlphaLevel = "interval") -> AgreementSummary:
    """One-vs-rest correlation and α of one table."""
    values = table(ratings)
    items = int((~np.isnan(values)).any(axis=0).sum())
    return AgreementSummary(items, one_vs_rest(values), krippendorff_alpha(values, level), level)


def with_and_without_traps(
    ratings: ArrayLike, traps: Sequence[bool] | ArrayLike, *, level: AlphaLevel = "interval"
) -> tuple[AgreementSummary, AgreementSummary]:
    """The same statistics on all items and on the items that are no traps."""
    values = table(ratings)
    without = np.where(_trap_mask(traps, values), np.nan, values)
    return summarise(values, level=level), summarise(without, level=level)
