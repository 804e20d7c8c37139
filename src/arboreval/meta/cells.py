"""What every segment adds to the score of a system, so that single cells (system, segment) can be swapped."""

from __future__ import annotations

import numpy as np

from arboreval.meta.evalset import EvalSet, FloatArray
from arboreval.meta.scores import Scored


def system_cells(data: EvalSet, scored: Scored) -> FloatArray | None:
    """Oriented values, systems x segments, NaN where there is none; None for scores given for whole systems only.

    For a corpus score f of the summed statistics S of n segments the cell of segment i is its jackknife pseudo-value,
    n f(S) - (n - 1) f(S - s_i): the segment's own score where f is a mean of segment scores, and else the part that
    the segment has in f.
    """
    if scored.metric is None or scored.stats is None or scored.ok is None:
        return None if scored.oriented_rows is None else data.matrix(scored.oriented_rows)
    values = np.full(len(data.outputs), np.nan)
    for i in range(len(data.systems)):
        mine = np.flatnonzero((data.outputs.system == i) & scored.ok)
        n = len(mine)
        total = scored.stats[mine].sum(axis=0)
        if n == 1:
            values[mine] = scored.metric.aggregate(total[None])
        elif n:
            others = total - scored.stats[mine]
            values[mine] = n * scored.metric.aggregate(total[None]) - (n - 1) * scored.metric.aggregate(others)
    return data.matrix(scored.sign * values)
