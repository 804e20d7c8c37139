"""Bootstrap resamples of every coefficient of a :class:`~arboreval.meta.levels.Task`.

All metrics of a data set see the same resamples, because those depend on the seed and the number of segments alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arboreval.meta.correlation import Name
from arboreval.meta.evalset import NO_SYSTEM, FloatArray
from arboreval.meta.hybrids import hybrid_resamples
from arboreval.meta.levels import (
    CORRELATIONS,
    HYBRID,
    ContrastedSegments,
    RankedSegments,
    ScoredSegments,
    Systems,
    Task,
    Unit,
)
from arboreval.meta.resample import bootstrap, bootstrap_pairs, counts, rowwise
from arboreval.meta.scores import Scored


def all_resampled(
    task: Task, scored: Sequence[Scored], corr: str, *, unit: Unit, trials: int, seed: int
) -> dict[str, FloatArray]:
    """The coefficient of every metric in every resample; metrics for which it cannot be resampled are not there."""
    if isinstance(task, Systems) and corr in HYBRID:
        drawn = counts(len(task.data.segment_ids), trials, seed)
        human = task.data.human[task.human_key]
        return hybrid_resamples(task.data, human, scored, drawn, exact=corr == "hybrid-exact")
    found = {s.name: resampled(task, s, corr, unit=unit, trials=trials, seed=seed) for s in scored}
    return {name: samples for name, samples in found.items() if samples is not None}


def resampled(task: Task, scored: Scored, corr: str, *, unit: Unit, trials: int, seed: int) -> FloatArray | None:
    """The coefficient in every resample, NaN where undefined; None where it cannot be resampled."""
    if isinstance(task, ScoredSegments):
        return _scored(task, scored, corr, unit, trials, seed)
    if isinstance(task, RankedSegments):
        pairs = task.pairs(scored)
        return None if pairs is None else bootstrap_pairs(_name(corr), pairs, unit=unit, trials=trials, seed=seed)
    if isinstance(task, ContrastedSegments):
        return _contrasted(task, scored, unit, trials, seed)
    if isinstance(task, Systems):
        return _systems(task, scored, corr, trials, seed)
    return None


def _name(corr: str) -> Name:
    return corr  # type: ignore[return-value]  # checked when the command was read


def _scored(task: ScoredSegments, scored: Scored, corr: str, unit: Unit, trials: int, seed: int) -> FloatArray | None:
    x, (y, _) = scored.oriented_rows, task.side(corr)
    if x is None or y is None or (corr == "acc23" and not task.shares_segments):
        return None
    out = task.data.outputs
    average = task.average if corr in CORRELATIONS else "none"
    rows = out.system != NO_SYSTEM if corr == "spa" else np.ones(len(out), dtype=bool)
    return bootstrap(
        _name(corr),
        x[rows],
        y[rows],
        segment=out.segment[rows],
        system=out.system[rows],
        average=average,
        unit="segment" if corr == "spa" else unit,
        trials=trials,
        seed=seed,
    )


def _contrasted(task: ContrastedSegments, scored: Scored, unit: Unit, trials: int, seed: int) -> FloatArray | None:
    right, contrasts = task.successes(scored), task.data.contrasts
    if right is None or contrasts is None:
        return None
    units = task.data.outputs.segment[contrasts.good] if unit == "segment" else np.arange(len(right))
    n = int(units.max()) + 1
    known = np.isfinite(right)
    parts = [np.bincount(units[known], weights, minlength=n) for weights in (right[known], None)]
    won, all_ = (part @ counts(n, trials, seed) for part in parts)
    shares: FloatArray = np.divide(won, all_, out=np.full(trials, np.nan), where=all_ > 0)
    return shares


def _systems(task: Systems, scored: Scored, corr: str, trials: int, seed: int) -> FloatArray | None:
    """Segments are resampled and every system is scored anew, as its metric scores a corpus."""
    if corr == "spa":
        return _scored(ScoredSegments(task.data, task.human_key), scored, corr, "segment", trials, seed)
    if corr not in (*CORRELATIONS, "pairwise-accuracy"):
        return None
    drawn = counts(len(task.data.segment_ids), trials, seed)
    x = system_scores(task, scored, drawn)
    if x is None:
        return None
    y = task.human
    if task.published is None:
        won, all_ = (part @ drawn for part in task.human_sums())
        y = np.divide(won, all_, out=np.full(won.shape, np.nan), where=all_ > 0).T
    return rowwise(_name(corr), x, y)


def system_scores(task: Systems, scored: Scored, drawn: FloatArray) -> FloatArray | None:
    """Oriented scores of systems in every resample (trials, systems); None for scores given for whole systems only."""
    if scored.stats is None or scored.ok is None:
        return None
    data = task.data
    result = np.full((drawn.shape[1], len(data.systems)), np.nan)
    for i in range(len(data.systems)):
        mine = np.flatnonzero((data.outputs.system == i) & scored.ok)
        if not len(mine):
            continue
        weights = drawn[data.outputs.segment[mine]]
        sums = weights.T @ scored.stats[mine]
        if scored.metric is not None:
            result[:, i] = scored.metric.aggregate(sums)
        else:
            size = weights.sum(axis=0)
            np.divide(sums[:, 0], size, out=result[:, i], where=size > 0)
        result[weights.sum(axis=0) == 0, i] = np.nan
    return scored.sign * result
