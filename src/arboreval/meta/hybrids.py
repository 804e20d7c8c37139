"""Hybrid super-sampling of the systems of an EvalSet."""

from __future__ import annotations

import numpy as np

from arboreval.meta.coefficient import Coefficient, undefined
from arboreval.meta.evalset import NO_SYSTEM, EvalSet, FloatArray
from arboreval.meta.scores import Scored
from arboreval.meta.supersampling import SuperSample, closed_form, supersample
from arboreval.significance import DEFAULT_SEED


def hybrid_correlation(data: EvalSet, human: FloatArray, scored: Scored, *, exact: bool) -> Coefficient:
    """Pearson's r over 10,000 hybrids, or its limit for means of segment scores (``exact``)."""
    if exact:
        if scored.oriented_rows is None:
            return undefined("the closed form needs segment scores")
        return closed_form(data.matrix(human), data.matrix(scored.oriented_rows))
    return hybrids_of(data, human, [scored]).correlations[scored.name]


def hybrids_of(data: EvalSet, human: FloatArray, scored: list[Scored], seed: int = DEFAULT_SEED) -> SuperSample:
    """One set of hybrids for all metrics. A metric that has statistics is scored from their sums, as a corpus is."""
    complete = np.isfinite(data.matrix(human))
    metrics, statistics = {}, {}
    for s in scored:
        if s.stats is not None and s.metric is not None and s.ok is not None:
            metric, sign = s.metric, s.sign
            statistics[s.name] = (_cube(data, s.stats), lambda sums, m=metric, k=sign: k * m.aggregate(sums))
            ok = np.where(s.ok, 1.0, np.nan)
            complete &= np.isfinite(data.matrix(ok))
        elif s.oriented_rows is not None:
            metrics[s.name] = data.matrix(s.oriented_rows)
    people = np.where(complete, data.matrix(human), np.nan)
    return supersample(people, metrics, statistics=statistics, seed=seed)


def _cube(data: EvalSet, stats: FloatArray) -> FloatArray:
    """Statistics of rows as systems x segments x k, zero where there is no row."""
    cube = np.zeros((len(data.systems), len(data.segment_ids), stats.shape[1]))
    named = data.outputs.system != NO_SYSTEM
    cube[data.outputs.system[named], data.outputs.segment[named]] = stats[named]
    return cube
