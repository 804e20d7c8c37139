"""One number of agreement, which may be undefined, and the checks that all statistics share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arboreval.errors import UsageError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: how a table of segments x systems becomes vectors, as mt-metrics-eval defines it: one long vector, one vector an
#: item (segment) or one vector a system, the coefficients of the vectors then averaged
Averaging = Literal["none", "item", "sys"]

TOO_FEW = "fewer than two scored pairs of values"
CONSTANT_X = "the metric's scores are all equal"
CONSTANT_Y = "the human scores are all equal"


@dataclass(frozen=True)
class Coefficient:
    """A statistic of agreement; ``value`` is None where it is undefined, and ``reason`` says why.

    ``n`` counts what it was computed from: rows with both scores, or pairs of outputs for the statistics on pairs.
    ``groups`` counts the vectors whose coefficients were averaged, where they were.
    """

    value: float | None
    n: int
    reason: str = ""
    groups: int | None = None


def undefined(reason: str, n: int = 0) -> Coefficient:
    return Coefficient(None, n, reason)


def numbers(values: ArrayLike) -> FloatArray:
    """A vector of floats; None becomes NaN, which is what missing is here."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise UsageError(f"expected a vector of scores, not an array of shape {array.shape}")
    return array


def ids(values: ArrayLike | None, n: int, name: str) -> IntArray | None:
    """Identifiers of any kind as 0, 1, 2, ... in sorted order; None stays None."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.shape != (n,):
        raise UsageError(f"{name} has shape {array.shape}, the scores have {n} rows")
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def paired(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = numbers(x), numbers(y)
    if len(a) != len(b):
        raise UsageError(f"{len(a)} metric scores, but {len(b)} human scores")
    return a, b


def present(x: FloatArray, y: FloatArray) -> BoolArray:
    """Rows with both scores."""
    return ~(np.isnan(x) | np.isnan(y))


def groups_of(average: Averaging, segment: IntArray | None, system: IntArray | None) -> IntArray | None:
    """The group of every row, or None where all rows are one vector."""
    if average == "none":
        return None
    if average not in ("item", "sys"):
        raise UsageError(f"unknown averaging {average!r}; use none, item or sys")
    group = segment if average == "item" else system
    if group is None:
        raise UsageError(
            f"averaging by {average} needs the {'segment' if average == 'item' else 'system'} of every row"
        )
    return group


def divide(numerator: FloatArray, denominator: FloatArray, defined: BoolArray) -> FloatArray:
    """The ratio where it is defined, elsewhere NaN."""
    result: FloatArray = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=result, where=defined)
    return result


def split(group: IntArray) -> list[IntArray]:
    """The row numbers of each group, groups in order, rows in input order."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return list(np.split(order, starts[1:])) if len(order) else []


def average_of(parts: Iterable[Coefficient]) -> Coefficient:
    """The plain mean of the coefficients that are defined (the macro average of mt-metrics-eval)."""
    parts = list(parts)
    defined = [p for p in parts if p.value is not None]
    if not defined:
        reasons = sorted({p.reason for p in parts})
        return undefined("undefined in every group: " + "; ".join(reasons) if reasons else TOO_FEW)
    mean = float(np.mean([p.value for p in defined if p.value is not None]))
    return Coefficient(mean, sum(p.n for p in defined), groups=len(defined))
