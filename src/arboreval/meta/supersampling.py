"""System-level correlation from few systems: hybrid super-sampling (Graham and Liu 2016).

A hybrid system takes every segment from one of the K real systems, chosen at random. Its human score is the mean of the
human scores of what it took, its metric score likewise, or computed from the summed statistics for corpus metrics.
Pearson's r over many hybrids is reported as the system-level correlation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import Coefficient, FloatArray, divide, undefined
from arboreval.meta.correlation import pearson
from arboreval.meta.tests import Comparison, zou
from arboreval.significance import DEFAULT_SEED

HYBRIDS = 10_000
CAUTION = (
    "Caution: hybrids built from the same segments are not independent observations. An interval or test with n = the "
    "number of hybrids is far too narrow as a statement about new segments; use a bootstrap over segments for that."
)
TWO_SYSTEMS = (
    "With two systems the value is the uncentred correlation of the differences between them, segment by segment: it "
    "measures agreement on which output is better, and no difference between the systems beyond that."
)


def cautions(systems: int) -> tuple[str, ...]:
    """What must be said beside a correlation over hybrids."""
    return (CAUTION, TWO_SYSTEMS) if systems == 2 else (CAUTION,)


#: corpus statistics (systems, segments, k) and the function from sums (..., k) to scores
CorpusStatistics = tuple[FloatArray, Callable[[FloatArray], FloatArray]]


@dataclass(frozen=True)
class SuperSample:
    """``scores`` has a row of hybrid scores for each metric, in the order of ``correlations``."""

    correlations: Mapping[str, Coefficient]
    human: FloatArray
    scores: FloatArray
    hybrids: int
    segments: int
    systems: int

    @property
    def notes(self) -> tuple[str, ...]:
        return cautions(self.systems)

    def zou(self, first: str, second: str, *, level: float = 0.95) -> Comparison:
        """Zou's interval for r(first) - r(second) with n = hybrids, as the literature has it; see ``CAUTION``."""
        names = list(self.correlations)
        a, b = self.correlations[first].value, self.correlations[second].value
        between = pearson(self.scores[names.index(first)], self.scores[names.index(second)]).value
        if a is None or b is None or between is None:
            return Comparison(n=self.hybrids, reason="a correlation is undefined")
        return zou(a, b, between, self.hybrids, level=level)


def _table(values: ArrayLike, name: str, shape: tuple[int, int] | None = None) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or (shape is not None and array.shape != shape):
        raise UsageError(f"{name} has shape {array.shape}, expected systems x segments{f' {shape}' if shape else ''}")
    return array


def choices(
    systems: int, segments: int, hybrids: int = HYBRIDS, seed: int = DEFAULT_SEED
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The system each hybrid takes each segment from, shape (hybrids, segments)."""
    return np.random.default_rng(seed).integers(systems, size=(hybrids, segments))


def supersample(
    human: ArrayLike,
    metrics: Mapping[str, ArrayLike] | None = None,
    *,
    statistics: Mapping[str, CorpusStatistics] | None = None,
    hybrids: int = HYBRIDS,
    seed: int = DEFAULT_SEED,
) -> SuperSample:
    """Pearson's r over hybrids for every metric; all metrics and people share the choices.

    ``human`` and ``metrics`` are tables systems x segments; a segment that lacks a score of people or of any metric
    is left out for all. ``statistics`` are of corpus metrics, complete.
    """
    people = _table(human, "human")
    tables = {name: _table(values, name, people.shape) for name, values in (metrics or {}).items()}
    corpus = dict(statistics or {})
    kept = ~np.logical_or.reduce([np.isnan(t).any(axis=0) for t in (people, *tables.values())])
    systems, segments = people.shape[0], int(kept.sum())
    if systems < 2 or segments == 0:
        reason = "fewer than two systems" if systems < 2 else "no segment has all scores"
        none = {name: undefined(reason) for name in (*tables, *corpus)}
        return SuperSample(none, np.empty(0), np.empty((len(none), 0)), 0, segments, systems)
    names = (*tables, *corpus)
    means = np.stack([people[:, kept], *(t[:, kept] for t in tables.values())])
    scores = np.empty((len(names) + 1, hybrids))
    step = max(2_000_000 // segments, 1)
    chosen = choices(systems, segments, hybrids, seed)
    column = np.arange(segments)
    for start in range(0, hybrids, step):
        block = chosen[start : start + step]
        for row, table in enumerate(means):
            scores[row, start : start + step] = table[block, column].mean(axis=1)
        for row, (stats, aggregate) in enumerate(corpus.values(), start=len(means)):
            if stats.shape[:2] != people.shape:
                raise UsageError(f"statistics have shape {stats.shape}, expected {people.shape} x k")
            sums = np.zeros((len(block), stats.shape[2]))
            for system in range(systems):
                sums += (block == system) @ stats[system][kept]
            scores[row, start : start + step] = aggregate(sums)
    found = {name: pearson(scores[row], scores[0]) for row, name in enumerate(names, start=1)}
    return SuperSample(found, scores[0], scores[1:], hybrids, segments, systems)


def limit_samples(
    human: ArrayLike,
    statistics: FloatArray,
    drawn: FloatArray,
    aggregate: Callable[[FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """The correlation over infinitely many hybrids in every resample of segments; NaN where it is undefined.

    ``statistics`` are systems x segments x k and ``drawn`` holds how often each segment is in each resample (segments x
    trials). A corpus score f (``aggregate``) is taken as linear around the mean hybrid, whose sums are
    S = Σ_i mean_k s_ik: with g the gradient of f at S, and moments over systems summed over segments,
    r = g·cov(h, s) / sqrt(var(h) g·cov(s, s) g). Without ``aggregate`` k is 1 and this is :func:`closed_form`.
    """
    people = _table(human, "human")
    kept = ~np.isnan(people).any(axis=0) & ~np.isnan(statistics).any(axis=(0, 2))
    h, s, weights = people[:, kept], statistics[:, kept], drawn[kept]
    k, trials = s.shape[2], weights.shape[1]
    # scaled, so that steps of one size suit every statistic; one that is 0 throughout stays 0
    scale = np.abs(s).max(axis=(0, 1), initial=0.0)
    scale[scale == 0] = 1.0
    mean = s.mean(axis=0) / scale
    h, s = h - h.mean(axis=0), s / scale - mean
    of_human = np.einsum("ki,ki->i", h, h) @ weights
    both = np.einsum("ki,kij->ji", h, s) @ weights
    of_metric = (np.einsum("kij,kil->jli", s, s).reshape(k * k, -1) @ weights).reshape(k, k, trials)
    if aggregate is None:
        slope = np.ones((k, trials))
    else:
        slope = _slope(lambda sums: aggregate(sums * scale), (mean.T @ weights).T)
    covariance = np.einsum("jt,jt->t", slope, both)
    variance = np.einsum("jt,jlt,lt->t", slope, of_metric, slope)
    rounding = 1e-13 * np.einsum("jt,jlt,lt->t", np.abs(slope), np.abs(of_metric), np.abs(slope))
    defined = (variance > rounding) & (of_human > 0)
    samples: FloatArray = np.clip(
        divide(covariance, np.sqrt(np.where(defined, variance * of_human, 1.0)), defined), -1.0, 1.0
    )
    return samples


def _slope(aggregate: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    """The gradient at each row of ``at``, by central differences; shape (k, rows)."""
    slope = np.zeros(at.T.shape)
    for j in range(at.shape[1]):
        step = np.zeros(at.shape)
        step[:, j] = 1e-5 * np.abs(at[:, j])
        rise = aggregate(at + step) - aggregate(at - step)
        slope[j] = divide(rise, 2 * step[:, j], step[:, j] > 0)
    return np.nan_to_num(slope)


def closed_form(human: ArrayLike, metric: ArrayLike) -> Coefficient:
    """The limit for infinitely many hybrids, for metrics whose system score is the mean over segments:

    r = Σ_i cov_k(h_ik, m_ik) / sqrt(Σ_i var_k(h_ik) Σ_i var_k(m_ik)), moments over the K systems of segment i.
    ``n`` counts segments.
    """
    people = _table(human, "human")
    scores = _table(metric, "metric", people.shape)
    kept = ~(np.isnan(people).any(axis=0) | np.isnan(scores).any(axis=0))
    n = int(kept.sum())
    if people.shape[0] < 2:
        return undefined("fewer than two systems", n)
    if n == 0:
        return undefined("no segment has all scores")
    h, m = (t[:, kept] for t in (people, scores))
    for values, who in ((m, "the metric scores"), (h, "people score")):
        if (values == values[0]).all():
            return undefined(f"{who} all systems alike on every segment", n)
    h, m = h - h.mean(axis=0), m - m.mean(axis=0)
    h, m = h / np.abs(h).max(), m / np.abs(m).max()
    r = float((h * m).sum()) / float(np.sqrt((h * h).sum() * (m * m).sum()))
    return Coefficient(min(1.0, max(-1.0, r)), n)
