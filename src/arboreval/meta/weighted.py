"""Coefficients under weights: sort once, then evaluate for thousands of resamples.

A bootstrap resample is a number of copies of every row, and a permutation of two metrics is a choice of one of two rows
for every cell. Both are weights on rows that do not move, so what depends on the order of the scores alone is computed
once. A prepared coefficient takes weights of shape (rows, trials), whole numbers, and gives one value a trial; NaN
where it is undefined.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from arboreval.meta.coefficient import BoolArray, FloatArray, IntArray, divide

#: up to this many rows a table of the signs of all pairs is faster than merging
_DENSE = 64
#: a variance this small beside the mean square is rounding, not spread
_ROUNDING = 1e-13


class Prepared(Protocol):
    def __call__(self, weights: FloatArray) -> FloatArray: ...


def _ratio(numerator: FloatArray, squares: FloatArray, defined: BoolArray) -> FloatArray:
    result: FloatArray = np.clip(divide(numerator, np.sqrt(np.where(defined, squares, 1.0)), defined), -1.0, 1.0)
    return result


def _unit(values: FloatArray) -> FloatArray:
    """Centred and scaled: correlation does not change, and sums of squares keep their digits."""
    centred: FloatArray = values - values.mean()
    largest = np.abs(centred).max()
    return centred / largest if largest > 0 else centred


class PearsonPrepared:
    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        a, b = (_unit(v) if len(v) else v for v in (x, y))
        self.columns = np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b])

    def __call__(self, weights: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy = self.columns @ weights
        n = np.maximum(n, 1.0)
        vx, vy = sxx - sx * sx / n, syy - sy * sy / n
        defined = (vx > _ROUNDING * sxx) & (vy > _ROUNDING * syy)
        return _ratio(sxy - sx * sy / n, vx * vy, defined)


def _rows(table: FloatArray, index: IntArray) -> FloatArray:
    """``table[index]``, several times faster; all indices are in range."""
    return np.take(table, index, axis=0, mode="clip")


def _changes(ordered: FloatArray) -> BoolArray:
    """Where a value differs from the one before it; compared, not subtracted, because scores may be infinite."""
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return new


class _Ties:
    """Rows sorted by value, and where a new value begins."""

    def __init__(self, values: FloatArray) -> None:
        self.order = np.argsort(values, kind="stable")
        new = _changes(values[self.order])
        self.starts = np.flatnonzero(new)
        self.rank = np.empty(len(values), dtype=np.int64)
        self.rank[self.order] = np.cumsum(new) - 1

    def totals(self, weights: FloatArray) -> FloatArray:
        """The weight of every distinct value, in ascending order."""
        return _sums(_rows(weights, self.order), self.starts)


class SpearmanPrepared:
    """Pearson's r of mid-ranks; under weights the rank of a value is the weight below it plus (its own + 1) / 2."""

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        self.x, self.y = _Ties(x), _Ties(y)

    def __call__(self, weights: FloatArray) -> FloatArray:
        n = weights.sum(axis=0)
        ranks, variances = [], []
        for ties in (self.x, self.y):
            own = ties.totals(weights)
            rank = np.cumsum(own, axis=0) - own / 2 - n / 2  # the mid-rank less the mean rank
            variances.append(np.einsum("gb,gb,gb->b", own, rank, rank))
            ranks.append(_rows(rank, ties.rank))
        product = np.einsum("ib,ib,ib->b", weights, ranks[0], ranks[1])
        return _ratio(product, variances[0] * variances[1], (variances[0] > 0) & (variances[1] > 0))


class AucPrepared:
    """The chance that a positive row scores above a negative one, ties counting half (Mann-Whitney U)."""

    def __init__(self, x: FloatArray, positive: BoolArray) -> None:
        self.x, self.positive = _Ties(x), positive

    def __call__(self, weights: FloatArray) -> FloatArray:
        above = self.x.totals(weights * self.positive[:, None])
        below = self.x.totals(weights * ~self.positive[:, None])
        pairs = above.sum(axis=0) * below.sum(axis=0)
        wins = np.einsum("gb,gb->b", above, np.cumsum(below, axis=0) - below / 2)
        return divide(wins, pairs, pairs > 0)


class KendallPrepared:
    """τ_b = (c - d) / sqrt((N - T_x)(N - T_y)); copies of one row are pairs tied in both."""

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        if len(x) <= _DENSE:
            self.dense: tuple[FloatArray, FloatArray, FloatArray] | None = self._signs(x, y)
            return
        self.dense = None
        self.order = np.lexsort((y, x))  # by x, equal x by y, so that no inversion is inside a tie of x
        xs, ys = x[self.order], y[self.order]
        new_x = _changes(xs)
        new_xy = new_x | _changes(ys)
        self.x_starts, self.xy_starts = np.flatnonzero(new_x), np.flatnonzero(new_xy)
        self.y = _Ties(ys)
        self.levels = _merge_levels(self.y.order)

    @staticmethod
    def _signs(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        a, b = (np.subtract(v[:, None] > v, v[:, None] < v, dtype=np.float64) for v in (x, y))
        return a * b, np.abs(a), np.abs(b)

    def __call__(self, weights: FloatArray) -> FloatArray:
        if self.dense is not None:
            both, x, y = (np.einsum("ib,ib->b", signs @ weights, weights) for signs in self.dense)
            return _ratio(both, x * y, (x > 0) & (y > 0))
        ordered = _rows(weights, self.order)
        pairs = _pairs(ordered.sum(axis=0)[None, :])
        tied_x, tied_xy = (_pairs(_sums(ordered, starts)) for starts in (self.x_starts, self.xy_starts))
        tied_y = _pairs(self.y.totals(ordered))
        difference = pairs - tied_x - tied_y + tied_xy - 2 * _discordant(ordered, self.levels)
        x, y = pairs - tied_x, pairs - tied_y
        return _ratio(difference, x * y, (x > 0) & (y > 0))


def _sums(ordered: FloatArray, starts: IntArray) -> FloatArray:
    return ordered if len(starts) == len(ordered) else np.add.reduceat(ordered, starts, axis=0)


def _pairs(totals: FloatArray) -> FloatArray:
    """How many pairs lie inside groups of these sizes."""
    pairs: FloatArray = (np.einsum("gb,gb->b", totals, totals) - totals.sum(axis=0)) / 2
    return pairs


Level = tuple[IntArray, IntArray, IntArray, IntArray]


def _merge_levels(by_y: IntArray) -> list[Level]:
    """The merges of a merge sort by y of rows that are sorted by x, from the whole down to blocks of two rows.

    ``by_y`` is the rows in order of y. A level has the rows of left halves and those of right halves, each block by
    block in order of y, and for each left row how many right rows of all blocks stand before it, and how many stand
    before its block: those in between are the rows with larger x and smaller y.
    """
    n = len(by_y)
    levels: list[Level] = []
    order = by_y
    bits = max(n - 1, 1).bit_length()
    for bit in range(bits - 1, -1, -1):
        right = (order >> bit & 1).astype(bool)
        before = np.cumsum(right)
        left = ~right
        rows_left, rows_right = order[left], order[right]
        # blocks are whole but for the last, and so are all right halves before a block
        block = rows_left >> (bit + 1)
        levels.append((rows_left, rows_right, before[left], block << bit))
        # stable partition: each block becomes its left half, then its right half
        position = np.empty(n, dtype=np.int64)
        position[left] = np.arange(len(rows_left)) + (block << bit)
        position[right] = np.arange(len(rows_right)) + ((rows_right >> (bit + 1)) + 1 << bit)
        following = np.empty(n, dtype=np.int64)
        following[position] = order
        order = following
    return levels


def _discordant(ordered: FloatArray, levels: list[Level]) -> FloatArray:
    """The weight of pairs with x_i < x_j and y_i > y_j, weights in order of x."""
    rows, trials = ordered.shape
    total = np.zeros(trials)
    # the same memory for every level, and ``take`` into it: half the time of indexing
    sums, one, two = np.zeros((rows // 2 + 1, trials)), np.empty((rows, trials)), np.empty((rows, trials))
    for left, right, before, base in levels:
        n = len(right)
        np.take(ordered, right, axis=0, out=one[:n], mode="clip")
        np.cumsum(one[:n], axis=0, out=sums[1 : n + 1])
        n = len(left)
        smaller, earlier = one[:n], two[:n]
        np.take(sums, before, axis=0, out=smaller, mode="clip")
        np.take(sums, base, axis=0, out=earlier, mode="clip")
        smaller -= earlier
        total += np.einsum("ib,ib->b", np.take(ordered, left, axis=0, out=two[:n], mode="clip"), smaller)
    return total
