"""Correlation between metrics that is left when what both share with people is taken out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import Coefficient, numbers, undefined
from arboreval.meta.correlation import pearson

#: 1 - r² below this is rounding: a metric that is people's own scores has nothing left
_NOTHING_LEFT = 1e-12


def partial(r_ab: float, r_ah: float, r_bh: float) -> float | None:
    """r_ab.h = (r_ab - r_ah r_bh) / sqrt((1 - r_ah²)(1 - r_bh²)), the correlation of the residuals after regressing
    each metric on h (Chousa and Hirao 2025, section 4.4). None where |r| with h is 1."""
    left = (1 - r_ah**2, 1 - r_bh**2)
    if min(left) < _NOTHING_LEFT:
        return None
    return float(np.clip((r_ab - r_ah * r_bh) / np.sqrt(left[0] * left[1]), -1.0, 1.0))


@dataclass(frozen=True)
class PartialMatrix:
    """``cells[i][j]`` is the partial correlation of metrics i and j, ``human[i]`` Pearson's r of i with people."""

    names: tuple[str, ...]
    cells: tuple[tuple[Coefficient, ...], ...]
    human: tuple[Coefficient, ...]
    n: int


def partial_matrix(metrics: Mapping[str, ArrayLike], y: ArrayLike) -> PartialMatrix:
    """All metrics against each other given y, on the rows for which all have a score, so that the cells compare.

    Rows are outputs (segment level, which the literature reports) or systems; with few systems it is very unstable.
    """
    names = tuple(metrics)
    human = numbers(y)
    columns = [numbers(metrics[name]) for name in names]
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(human):
            raise UsageError(f"{name} has {len(column)} scores, but there are {len(human)} human scores")
    kept = ~np.logical_or.reduce([np.isnan(v) for v in (human, *columns)])
    human, columns = human[kept], [v[kept] for v in columns]
    with_human = tuple(pearson(v, human) for v in columns)
    n = int(kept.sum())
    cells = [[_cell(columns, with_human, i, j, n) for j in range(len(names))] for i in range(len(names))]
    return PartialMatrix(names, tuple(map(tuple, cells)), with_human, n)


def _cell(
    columns: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
    with_human: tuple[Coefficient, ...],
    i: int,
    j: int,
    n: int,
) -> Coefficient:
    a, b = with_human[i].value, with_human[j].value
    if a is None or b is None:
        return undefined(with_human[i if a is None else j].reason, n)
    if n < 3:
        return undefined("fewer than three rows with all scores", n)
    between = pearson(columns[i], columns[j]).value
    value = None if between is None else partial(between, a, b)
    if value is None:
        return undefined("a metric is a straight line of the human scores", n)
    return Coefficient(1.0 if i == j else value, n)
