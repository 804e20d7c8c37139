"""How sure a coefficient is: bootstrap over segments, with all their systems, or over rows.

The number of copies of every segment is drawn as in :func:`arboreval.significance.bootstrap_counts`. It depends on the
seed and the number of segments alone, so that all metrics of one data set see the same resamples, also those that lack
scores somewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from arboreval.errors import UsageError
from arboreval.meta.coefficient import Averaging, FloatArray, IntArray, divide, groups_of, ids, paired, present, split
from arboreval.meta.correlation import Name, binary, correlate, pairs_for, variant_of
from arboreval.meta.pairwise import Pairs, acc23_values, fit_epsilon, wmt_terms
from arboreval.meta.soft import SpaPrepared, system_differences
from arboreval.meta.weighted import AucPrepared, KendallPrepared, PearsonPrepared, Prepared, SpearmanPrepared
from arboreval.significance import BOOTSTRAP_TRIALS, DEFAULT_SEED, LEVEL, bootstrap_counts

Unit = Literal["segment", "row"]

#: rows x trials that are evaluated at once: what fits into the cache of one core
_BLOCK_CELLS = 300_000
_THREADS = 2


def counts(units: int, trials: int = BOOTSTRAP_TRIALS, seed: int = DEFAULT_SEED) -> FloatArray:
    """How often each unit is in each resample, shape (units, trials)."""
    if units == 0:
        return np.zeros((0, trials))
    return np.concatenate(list(bootstrap_counts(units, trials, seed))).T


def prepare(name: str, x: FloatArray, y: FloatArray) -> Prepared:
    """The coefficient of complete vectors as a function of weights on rows."""
    if name == "pearson":
        if np.isinf(x).any() or np.isinf(y).any():
            return lambda weights: np.full(weights.shape[1], np.nan)
        return PearsonPrepared(x, y)
    if name == "spearman":
        return SpearmanPrepared(x, y)
    if name == "kendall":
        return KendallPrepared(x, y)
    if name == "auc":
        return AucPrepared(x, binary(y))
    raise UsageError(f"{name} cannot be computed from weighted rows")


def evaluate(prepared: Prepared, weights: Callable[[slice], FloatArray], rows: int, trials: int) -> FloatArray:
    """A prepared coefficient under all trials, some trials at a time, on two threads (numpy lets go of the lock)."""
    step = max(_BLOCK_CELLS // max(rows, 1), 8)
    blocks = [slice(start, min(start + step, trials)) for start in range(0, trials, step)]
    if len(blocks) == 1:
        return prepared(weights(blocks[0]))
    with ThreadPoolExecutor(_THREADS) as pool:
        return np.concatenate(list(pool.map(lambda block: prepared(weights(block)), blocks)))


def mean_defined(values: Iterator[FloatArray], trials: int) -> FloatArray:
    """Trial by trial the mean over the groups in which the coefficient is defined."""
    total, count = np.zeros(trials), np.zeros(trials)
    for value in values:
        defined = ~np.isnan(value)
        total += np.where(defined, value, 0.0)
        count += defined
    return divide(total, count, count > 0)


def _ratio(parts: FloatArray, weights: FloatArray) -> FloatArray:
    """Σ w a / Σ w b for the rows a, b of ``parts``."""
    a, b = parts @ weights
    return divide(a, b, b > 0)


def bootstrap_pairs(
    name: Name,
    pairs: Pairs,
    *,
    unit: Unit = "segment",
    trials: int = BOOTSTRAP_TRIALS,
    seed: int = DEFAULT_SEED,
    epsilon: float | None = None,
) -> FloatArray:
    """Resamples of a statistic on judged pairs; segments with all their pairs, or single judgments (``row``).

    acc23 keeps the ε fitted on the full sample. Pairs without a metric score are left out.
    """
    if name == "acc23" and epsilon is None:
        epsilon = fit_epsilon(pairs)
    if unit == "row":
        pairs = pairs.single()
    drawn = counts(pairs.segments, trials, seed)
    pairs = pairs.select(pairs.known)
    if name == "acc23":
        if epsilon is None:
            return np.full(trials, np.nan)
        values = acc23_values(pairs, epsilon)
        return _ratio(np.stack([np.nan_to_num(values), ~np.isnan(values)]), drawn)
    value, counted = wmt_terms(pairs, variant_of(name))
    sums = [np.bincount(pairs.segment, part, minlength=pairs.segments) for part in (value, counted)]
    return _ratio(np.stack(sums), drawn)


def bootstrap(
    name: Name,
    x: ArrayLike,
    y: ArrayLike,
    *,
    segment: ArrayLike | None = None,
    system: ArrayLike | None = None,
    average: Averaging = "none",
    unit: Unit = "segment",
    trials: int = BOOTSTRAP_TRIALS,
    seed: int = DEFAULT_SEED,
    min_difference: float | None = None,
    epsilon: float | None = None,
) -> FloatArray:
    """The coefficient in every resample; NaN where it is undefined.

    Without ``segment`` each row is a unit of its own. The arguments are those of
    :func:`~arboreval.meta.correlation.correlate`.
    """
    a, b = paired(x, y)
    seg, sys_ = ids(segment, len(a), "segment"), ids(system, len(a), "system")
    if name.startswith("kendall-") or name == "acc23":
        if seg is None:
            raise UsageError(f"resampling {name} needs the segment of every row")
        pairs = pairs_for(name, a, b, seg, min_difference=min_difference)
        return bootstrap_pairs(name, pairs, unit=unit, trials=trials, seed=seed, epsilon=epsilon)
    if name == "spa":
        if seg is None or sys_ is None or unit == "row":
            raise UsageError("spa resamples segments; it needs the segment and the system of every row")
        return _bootstrap_spa(a, b, seg, sys_, trials, seed)
    rows = seg if unit == "segment" and seg is not None else np.arange(len(a))
    drawn = counts(int(rows.max(initial=-1)) + 1, trials, seed)
    group = groups_of(average, seg, sys_)
    kept = np.flatnonzero(present(a, b))
    if group is None:
        return _under_counts(name, a[kept], b[kept], rows[kept], drawn)
    parts = [kept[part] for part in split(group[kept])]
    if average == "item" and rows is seg:
        # a segment comes with all its systems, so its coefficient is the same in every resample
        found = [correlate(name, a[part], b[part]).value for part in parts]
        fixed = np.array([np.nan if value is None else value for value in found])
        here = drawn[[rows[part[0]] for part in parts]]
        return _ratio(np.stack([np.nan_to_num(fixed), ~np.isnan(fixed)]), here)
    return mean_defined((_under_counts(name, a[p], b[p], rows[p], drawn) for p in parts), trials)


def _under_counts(name: str, x: FloatArray, y: FloatArray, unit: IntArray, drawn: FloatArray) -> FloatArray:
    trials = drawn.shape[1]
    if len(x) < 2:
        return np.full(trials, np.nan)
    return evaluate(
        prepare(name, x, y), lambda block: np.take(drawn[:, block], unit, axis=0, mode="clip"), len(x), trials
    )


def _bootstrap_spa(
    x: FloatArray, y: FloatArray, segment: IntArray, system: IntArray, trials: int, seed: int
) -> FloatArray:
    differences = system_differences(x, y, segment, system)
    drawn = counts(len(differences.metric), trials, seed)
    if not differences.metric.shape[1]:
        return np.full(trials, np.nan)
    return SpaPrepared(differences)(drawn)


def interval(samples: FloatArray, level: float = LEVEL) -> tuple[float, float] | None:
    """The percentile interval of the resamples that have a value; None where none has."""
    samples = samples[np.isfinite(samples)]
    if not len(samples):
        return None
    low, high = np.percentile(samples, [50 * (1 - level), 50 * (1 + level)])
    return float(low), float(high)


def rowwise(name: Name, x: FloatArray, y: FloatArray) -> FloatArray:
    """The coefficient of each row of x, shape (trials, systems), with that row of y or with the vector y.

    For system-level resamples, where every trial has other scores; made for few systems.
    """
    x = np.atleast_2d(np.asarray(x, dtype=np.float64))
    y = np.broadcast_to(np.asarray(y, dtype=np.float64), x.shape)
    if name not in ("pearson", "spearman", "kendall", "pairwise-accuracy"):
        raise UsageError(f"{name} is no system-level coefficient")
    results = (correlate(name, a, b).value for a, b in zip(x, y, strict=True))
    return np.array([np.nan if value is None else value for value in results])


def bootstrap_systems(
    name: Name,
    x: ArrayLike,
    y: ArrayLike,
    segment: ArrayLike,
    system: ArrayLike,
    *,
    trials: int = BOOTSTRAP_TRIALS,
    seed: int = DEFAULT_SEED,
) -> FloatArray:
    """System-level resamples of scores that are means over segments, both the metric's and people's.

    A system without any score in a resample is left out of it.
    """
    a, b = paired(x, y)
    seg, sys_ = ids(segment, len(a), "segment"), ids(system, len(a), "system")
    if seg is None or sys_ is None:
        raise UsageError("system-level resampling needs the segment and the system of every row")
    shape = (int(sys_.max(initial=-1)) + 1, int(seg.max(initial=-1)) + 1)
    drawn = counts(shape[1], trials, seed)
    means = []
    for values in (a, b):
        known = ~np.isnan(values)
        cells = sys_[known] * shape[1] + seg[known]
        sums, sizes = (
            np.bincount(cells, weights, minlength=shape[0] * shape[1]).reshape(shape) @ drawn
            for weights in (values[known], None)
        )
        means.append(divide(sums, sizes, sizes > 0).T)
    return rowwise(name, *means)
