"""Hybrid super-sampling of the systems of an EvalSet.

All metrics are looked at on the same segments, those on which people and every metric have scored all systems, and by
the same hybrids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from arboreval.meta.coefficient import Coefficient, undefined
from arboreval.meta.evalset import NO_SYSTEM, BoolArray, EvalSet, FloatArray
from arboreval.meta.scores import Scored
from arboreval.meta.supersampling import SuperSample, closed_form, limit_samples, supersample

NO_CELLS = "hybrids need scores of segments"
NO_SEGMENT = "there is no segment on which people and this metric scored all systems"


@dataclass(frozen=True, eq=False)
class _Parts:
    """What the hybrids of one metric are made of: a table of scores, or statistics and the function of their sums."""

    table: FloatArray | None
    statistics: FloatArray | None
    aggregate: Callable[[FloatArray], FloatArray] | None
    complete: BoolArray  # segments with all systems


def hybrid_correlations(
    data: EvalSet, human: FloatArray, scored: Sequence[Scored], *, exact: bool, seed: int
) -> dict[str, Coefficient]:
    """Pearson's r over 10,000 hybrids, or (``exact``) its limit for means of segment scores, of every metric."""
    people, parts, found = _common(data, human, scored, exact=exact)
    if exact:
        found |= {name: closed_form(people, part.table) for name, part in parts.items() if part.table is not None}
    else:
        found |= _supersample(people, parts, seed).correlations
    return {s.name: found[s.name] for s in scored}


def hybrids_of(data: EvalSet, human: FloatArray, scored: Sequence[Scored], seed: int) -> SuperSample:
    """One set of hybrids for all metrics that can be part of hybrids."""
    people, parts, _ = _common(data, human, scored, exact=False)
    return _supersample(people, parts, seed)


def hybrid_resamples(
    data: EvalSet, human: FloatArray, scored: Sequence[Scored], drawn: FloatArray, *, exact: bool
) -> dict[str, FloatArray]:
    """The limit for infinitely many hybrids in every resample of segments (``drawn``: segments x trials)."""
    people, parts, _ = _common(data, human, scored, exact=exact)
    samples = {}
    for name, part in parts.items():
        if part.statistics is not None:
            samples[name] = limit_samples(people, part.statistics, drawn, part.aggregate)
        elif part.table is not None:
            samples[name] = limit_samples(people, part.table[..., None], drawn)
    return samples


def _supersample(people: FloatArray, parts: dict[str, _Parts], seed: int) -> SuperSample:
    tables = {name: part.table for name, part in parts.items() if part.table is not None}
    statistics = {
        name: (part.statistics, part.aggregate)
        for name, part in parts.items()
        if part.statistics is not None and part.aggregate is not None
    }
    return supersample(people, tables, statistics=statistics, seed=seed)


def _common(
    data: EvalSet, human: FloatArray, scored: Sequence[Scored], *, exact: bool
) -> tuple[FloatArray, dict[str, _Parts], dict[str, Coefficient]]:
    """Human scores (systems x segments, NaN on segments that are left out), and the metrics; or why one has none.

    A metric without any segment of its own is left out, so that it does not take the segments of the others.
    """
    people = data.matrix(human)
    parts: dict[str, _Parts] = {}
    without: dict[str, Coefficient] = {}
    kept = _complete(people)
    every = kept.copy()
    for s in scored:
        part = None if s.reason else _parts(data, s, exact=exact)
        if part is None:
            without[s.name] = undefined(s.reason or NO_CELLS)
        elif not (part.complete & kept).any():
            without[s.name] = undefined(NO_SEGMENT)
        else:
            parts[s.name] = part
            every &= part.complete
    return np.where(every, people, np.nan), parts, without


def _parts(data: EvalSet, scored: Scored, *, exact: bool) -> _Parts | None:
    """A metric that has statistics is scored from their sums, as a corpus is."""
    if not exact and scored.metric is not None and scored.stats is not None and scored.ok is not None:
        metric, sign = scored.metric, scored.sign
        ok = data.matrix(np.where(scored.ok, 1.0, np.nan))
        return _Parts(None, _cube(data, scored.stats), lambda sums: sign * metric.aggregate(sums), _complete(ok))
    if scored.oriented_rows is None:
        return None
    table = data.matrix(scored.oriented_rows)
    return _Parts(table, None, None, _complete(table))


def _complete(table: FloatArray) -> BoolArray:
    """Segments on which all systems have a score."""
    complete: BoolArray = np.logical_and.reduce(np.isfinite(table), axis=0)
    return complete


def _cube(data: EvalSet, stats: FloatArray) -> FloatArray:
    """Statistics of rows as systems x segments x k, zero where there is no row."""
    cube = np.zeros((len(data.systems), len(data.segment_ids), stats.shape[1]))
    named = data.outputs.system != NO_SYSTEM
    cube[data.outputs.system[named], data.outputs.segment[named]] = stats[named]
    return cube
