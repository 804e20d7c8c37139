"""Agreement of a metric with people: every coefficient by one signature.

x are a metric's scores and y human scores, one row an output; NaN is missing and the row is left out. ``segment`` and
``system`` are identifiers of each row, for averaging and for the statistics on pairs. Larger is better in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import (
    CONSTANT_X,
    CONSTANT_Y,
    TOO_FEW,
    Averaging,
    BoolArray,
    Coefficient,
    FloatArray,
    average_of,
    groups_of,
    ids,
    paired,
    present,
    split,
    undefined,
)
from arboreval.meta.pairwise import (
    DARR_DIFFERENCE,
    Acc23,
    Pairs,
    Variant,
    acc23,
    contrastive_accuracy,
    fit_epsilon,
    tau23,
    wmt_kendall,
)
from arboreval.meta.soft import pairwise_accuracy, spa
from arboreval.meta.weighted import AucPrepared, KendallPrepared, Prepared, SpearmanPrepared

__all__ = [
    "NAMES",
    "Acc23",
    "Averaging",
    "Name",
    "Pairs",
    "Variant",
    "acc23",
    "auc",
    "contrastive_accuracy",
    "correlate",
    "fit_epsilon",
    "kendall",
    "pairs_for",
    "pairwise_accuracy",
    "pearson",
    "spa",
    "spearman",
    "tau23",
    "wmt_kendall",
]

Name = Literal[
    "pearson",
    "spearman",
    "kendall",
    "kendall-wmt12",
    "kendall-wmt13",
    "kendall-wmt14",
    "kendall-darr",
    "kendall-xties",
    "acc23",
    "spa",
    "auc",
    "pairwise-accuracy",
]
NAMES: tuple[Name, ...] = get_args(Name)


def _pearson(x: FloatArray, y: FloatArray) -> Coefficient:
    n = len(x)
    if np.isinf(x).any() or np.isinf(y).any():
        return undefined("a score is infinite", n)
    a, b = x - x.mean(), y - y.mean()
    # scaled before squaring: the scores may be too large or too small to be squared
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    r = float(a @ b) / float(np.sqrt((a @ a) * (b @ b)))
    return Coefficient(min(1.0, max(-1.0, r)), n)


def _once(prepared: Prepared, n: int) -> Coefficient:
    return Coefficient(float(prepared(np.ones((n, 1)))[0]), n)


def _spearman(x: FloatArray, y: FloatArray) -> Coefficient:
    return _once(SpearmanPrepared(x, y), len(x))


def _kendall(x: FloatArray, y: FloatArray) -> Coefficient:
    return _once(KendallPrepared(x, y), len(x))


def _grouped(
    function: Callable[[FloatArray, FloatArray], Coefficient],
    x: ArrayLike,
    y: ArrayLike,
    average: Averaging,
    segment: ArrayLike | None,
    system: ArrayLike | None,
) -> Coefficient:
    a, b = paired(x, y)
    group = groups_of(average, ids(segment, len(a), "segment"), ids(system, len(a), "system"))
    kept = present(a, b)
    a, b = a[kept], b[kept]

    def one(p: FloatArray, q: FloatArray) -> Coefficient:
        if len(p) < 2:
            return undefined(TOO_FEW, len(p))
        for values, reason in ((p, CONSTANT_X), (q, CONSTANT_Y)):
            if (values == values[0]).all():
                return undefined(reason, len(p))
        return function(p, q)

    if group is None:
        return one(a, b)
    return average_of(one(a[rows], b[rows]) for rows in split(group[kept]))


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    average: Averaging = "none",
    segment: ArrayLike | None = None,
    system: ArrayLike | None = None,
) -> Coefficient:
    """r = Σ (x - x̄)(y - ȳ) / sqrt(Σ (x - x̄)² Σ (y - ȳ)²)."""
    return _grouped(_pearson, x, y, average, segment, system)


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    average: Averaging = "none",
    segment: ArrayLike | None = None,
    system: ArrayLike | None = None,
) -> Coefficient:
    """Pearson's r of the ranks, tied scores having the mean of their ranks."""
    return _grouped(_spearman, x, y, average, segment, system)


def kendall(
    x: ArrayLike,
    y: ArrayLike,
    *,
    average: Averaging = "none",
    segment: ArrayLike | None = None,
    system: ArrayLike | None = None,
) -> Coefficient:
    """τ_b = (c - d) / sqrt((N - T_x)(N - T_y)), N = n(n - 1)/2, T the pairs tied in a variable; in O(n log n)."""
    return _grouped(_kendall, x, y, average, segment, system)


def auc(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """The chance that a row labelled 1 scores above one labelled 0, ties counting half."""
    a, b = paired(x, y)
    kept = present(a, b)
    a, positive = a[kept], binary(b[kept])
    if positive.all() or not positive.any():
        return undefined("both labels must occur", len(a))
    return _once(AucPrepared(a, positive), len(a))


def binary(y: FloatArray) -> BoolArray:
    if not np.isin(y, (0.0, 1.0)).all():
        raise UsageError("labels must be 0 or 1")
    return np.equal(y, 1.0)


def pairs_for(
    name: Name, x: ArrayLike, y: ArrayLike, segment: ArrayLike | None, *, min_difference: float | None = None
) -> Pairs:
    """The pairs a statistic is computed on: daRR takes those 25 or more points apart, the others all of a segment."""
    if min_difference is None:
        min_difference = DARR_DIFFERENCE if name == "kendall-darr" else 0.0
    return Pairs.from_scores(x, y, segment, min_difference=min_difference)


_SIMPLE = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def correlate(
    name: Name,
    x: ArrayLike,
    y: ArrayLike,
    *,
    segment: ArrayLike | None = None,
    system: ArrayLike | None = None,
    average: Averaging = "none",
    min_difference: float | None = None,
    epsilon: float | None = None,
) -> Coefficient:
    """Any coefficient by the name it has on the command line.

    ``average`` is for pearson, spearman and kendall. The WMT variants pool the pairs of all segments, acc23 averages
    over segments with ε fitted here unless given, spa needs segment and system, pairwise-accuracy takes system scores.
    """
    if name in _SIMPLE:
        return _SIMPLE[name](x, y, average=average, segment=segment, system=system)
    if average != "none":
        raise UsageError(f"{name} does its own averaging; leave out --average")
    if name.startswith("kendall-"):
        return wmt_kendall(pairs_for(name, x, y, segment, min_difference=min_difference), variant_of(name))
    if name == "acc23":
        return acc23(x, y, segment, epsilon=epsilon).coefficient
    if name == "spa":
        if segment is None or system is None:
            raise UsageError("spa needs the segment and the system of every row")
        return spa(x, y, segment, system)
    if name == "auc":
        return auc(x, y)
    if name == "pairwise-accuracy":
        return pairwise_accuracy(x, y)
    raise UsageError(f"unknown coefficient {name!r}; use one of {', '.join(NAMES)}")


def variant_of(name: str) -> Variant:
    variant = name.removeprefix("kendall-")
    if variant not in get_args(Variant):
        raise UsageError(f"unknown coefficient {name!r}; use one of {', '.join(NAMES)}")
    return variant  # type: ignore[return-value]
