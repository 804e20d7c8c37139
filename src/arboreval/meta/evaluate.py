"""``arboreval.meta_evaluate``: how well metrics agree with people, and whether one agrees better than another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from arboreval import __version__
from arboreval.api import analysis_source
from arboreval.errors import InputError, UsageError, unknown_name
from arboreval.meta.coefficient import Averaging, Coefficient
from arboreval.meta.evalset import EvalSet
from arboreval.meta.levels import (
    CORRS,
    HYBRID,
    ContrastedSegments,
    Level,
    ScoredSegments,
    Systems,
    Task,
    Unit,
    level_of,
    make_task,
)
from arboreval.meta.readers import read_evalsets
from arboreval.meta.score_store import ScoreStore
from arboreval.meta.scores import Progress, Scored, score_evalset
from arboreval.meta.tables import join_ratings, read_scores
from arboreval.metrics.base import Metric
from arboreval.registry import make_metric
from arboreval.report.meta_model import (
    Average,
    Cluster,
    DataSummary,
    MetaReport,
    Partial,
    Phenomenon,
    Points,
    Result,
    Test,
)
from arboreval.run.measure import DEFAULT_BATCH_SIZE
from arboreval.significance import BOOTSTRAP_TRIALS, DEFAULT_SEED, interval

if TYPE_CHECKING:
    from arboreval.analysis.analyzer import Analyzer
    from arboreval.meta.compare import Correction

TESTS = ("williams", "zou", "perm-both", "perm-sys", "perm-input", "bootstrap")
CORRECTIONS = ("holm", "bonferroni")
#: points of a scatter plot; more would be a blot
_MAX_POINTS = 1_500

Data = EvalSet | str | Path


def meta_evaluate(
    data: Data | Sequence[Data],
    metrics: Sequence[str | Metric] | str,
    *,
    human: str | None = None,
    level: Level | None = None,
    corr: Sequence[str] | None = None,
    test: str | None = None,
    average: Averaging = "none",
    unit: Unit = "segment",
    trials: int = BOOTSTRAP_TRIALS,
    permutations: int = 1_000,
    seed: int = DEFAULT_SEED,
    limit: int | None = None,
    without: Sequence[str] = (),
    scores: Sequence[str | Path] = (),
    ratings: str | Path | None = None,
    lower_is_better: Sequence[str] = (),
    correction: Correction = "holm",
    partial: bool = False,
    keep: bool = True,
    jobs: int = 1,
    batch_size: int = DEFAULT_BATCH_SIZE,
    analyzer: str | Analyzer | None = None,
    encoder: str | None = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> MetaReport:
    """Correlates metrics with human judgments.

    :param data: files (the five JSON Lines shapes, TSV), mt-metrics-eval directories, or :class:`EvalSet` objects.
    :param metrics: names of arboreval's metrics, metric objects, or names of metrics in ``scores``.
    :param human: ``z``, ``raw`` or a criterion; ``z`` where present, else ``raw``.
    :param level: ``seg`` or ``sys``; segments where people judged them, else systems.
    :param corr: coefficients; those usual for the data if none is given.
    :param test: how to tell whether two metrics differ: ``williams``, ``zou``, ``perm-both``, ``perm-sys``,
        ``perm-input`` or ``bootstrap``.
    :param average: ``item`` or ``sys`` averages pearson, spearman and kendall over segments or systems.
    :param unit: what is resampled: the ``segment`` with all its systems, or single ``row`` s.
    :param trials: bootstrap resamples for the intervals; 0 for none.
    :param without: systems to leave out, such as human translations.
    :param scores: files with scores of metrics computed elsewhere.
    :param ratings: a TSV file of human scores to add to the data; they are used where ``human`` names no others.
    :param lower_is_better: metrics in ``scores`` for which a lower score is better.
    :param correction: of the p-values of ``test`` for the number of pairs of metrics, ``holm`` or ``bonferroni``.
    :param partial: adds the correlations between metrics given the human scores.
    :param keep: whether statistics are kept in the user's cache for the next run.
    :param analyzer: who analyses, and
    :param encoder: whose vectors are used, and
    :param cache: whether analyses are kept on disk, for metrics that read analyses: see :func:`arboreval.analyze`.
    """
    sets = _load(data, limit, without, ratings, scores, lower_is_better)
    wanted = _check(sets, metrics, corr, test, trials, level, correction)
    tasks = [make_task(one, human=human, level=level, average=average) for one in sets]
    _same_level(tasks, level)
    results: list[Result] = []
    parts = _Parts()
    for foreign in dict.fromkeys(f for one in sets for f in one.foreign.values() if f.ignored):
        parts.notes.append(f"{Path(foreign.origin).name}: no such system in the data: {', '.join(foreign.ignored)}")
    using = analysis_source(analyzer, encoder, cache)
    with _store(keep) as store:
        for task in tasks:
            scored = score_evalset(
                task.data, wanted, using=using, store=store, jobs=jobs, batch_size=batch_size, progress=progress
            )
            for s in scored:
                if s.signature:
                    parts.signatures[s.name] = s.system_signature or s.signature if task.level == "sys" else s.signature
            for name in corr or task.default:
                results += _coefficients(task, scored, name, test, correction, unit, trials, permutations, seed, parts)
            _extras(task, scored, parts, partial, unit, trials, seed)
    return MetaReport(
        version=__version__,
        seed=seed,
        trials=trials,
        unit="segments with all their systems" if unit == "segment" else "single judgments",
        correction=correction,
        data=tuple(_summary(task) for task in tasks),
        results=tuple(results),
        averages=tuple(_averages(results)),
        tests=tuple(parts.tests),
        clusters=tuple(parts.clusters),
        phenomena=tuple(parts.phenomena),
        partial=tuple(parts.partial),
        signatures=parts.signatures,
        notes=tuple(dict.fromkeys(parts.notes)),
        points=tuple(parts.points),
    )


class _Parts:
    """What comes with the coefficients."""

    def __init__(self) -> None:
        self.tests: list[Test] = []
        self.clusters: list[Cluster] = []
        self.phenomena: list[Phenomenon] = []
        self.partial: list[Partial] = []
        self.points: list[Points] = []
        self.signatures: dict[str, str] = {}
        self.notes: list[str] = []


@contextmanager
def _store(keep: bool) -> Iterator[ScoreStore | None]:
    store = ScoreStore() if keep else None
    try:
        yield store
    finally:
        if store is not None:
            store.close()


# --- input -------------------------------------------------------------------------------------------------------


def _load(
    data: Data | Sequence[Data],
    limit: int | None,
    without: Sequence[str],
    ratings: str | Path | None,
    scores: Sequence[str | Path],
    lower_is_better: Sequence[str],
) -> list[EvalSet]:
    if limit is not None and limit < 1:
        raise UsageError("limit must be at least 1.")
    listed = [data] if isinstance(data, EvalSet | str | Path) else list(data)
    sets = [one for given in listed for one in ([given] if isinstance(given, EvalSet) else read_evalsets(given))]
    if not sets:
        raise UsageError("no data was given.")
    if ratings is not None:
        if len(sets) > 1:
            raise UsageError("a file of human scores can be added to one data set only.")
        sets = [join_ratings(sets[0], ratings)]
    for name in without:
        if not any(name in one.systems for one in sets):
            raise InputError(unknown_name("system", name, {s for one in sets for s in one.systems}))
    sets = [one.with_foreign([f for path in scores for f in read_scores(path, one)]) for one in sets]
    known = {name for one in sets for name in one.foreign}
    for name in lower_is_better:
        if name not in known:
            raise UsageError(unknown_name("metric computed elsewhere", name, known))
    sets = [one.with_lower_is_better(lower_is_better) for one in sets]
    names = [one.name for one in sets]
    for i, one in enumerate(sets):
        if one.name in names[:i]:
            raise InputError(f"{one.name} is in {sets[names.index(one.name)].origin} and in {one.origin}.")
    return [one.without(without).limit(limit) for one in sets]


def _check(
    sets: Sequence[EvalSet],
    metrics: Sequence[str | Metric] | str,
    corr: Sequence[str] | None,
    test: str | None,
    trials: int,
    level: str | None,
    correction: str,
) -> list[str | Metric]:
    """Everything that can be wrong about the request, before the first text is scored."""
    if trials < 0:
        raise UsageError("trials must not be negative.")
    if level not in (None, "seg", "sys"):
        raise UsageError(f"level must be seg or sys, not {level!r}.")
    for name in corr or ():
        if name not in CORRS:
            raise UsageError(unknown_name("coefficient", name, CORRS))
    if test is not None and test not in TESTS:
        raise UsageError(unknown_name("test", test, TESTS))
    if correction not in CORRECTIONS:
        raise UsageError(unknown_name("correction", correction, CORRECTIONS))
    wanted: list[str | Metric] = list(metrics.split(",") if isinstance(metrics, str) else metrics)
    foreign = {name for one in sets for name in one.foreign}
    if not wanted:
        wanted = [*sorted(foreign)]
    if not wanted:
        raise UsageError("no metric was given.")
    labels = []
    for metric in wanted:
        if isinstance(metric, str):
            labels.append(metric if metric in foreign else make_metric(metric).label)
        else:
            labels.append(metric.label)
    if len(set(labels)) < len(labels):
        raise UsageError(f"a metric is given twice: {', '.join(labels)}.")
    return wanted


def _same_level(tasks: Sequence[Task], level: str | None) -> None:
    """Nothing can be said about systems where there are none."""
    if level == "sys" and not any(task.data.systems for task in tasks):
        raise InputError("no data set names its systems: there is nothing to evaluate at system level.")


def _summary(task: Task) -> DataSummary:
    data = task.data
    return DataSummary(
        dataset=data.dataset,
        lp=data.lp,
        origin=Path(data.origin).name,
        shape=data.shape,
        kind=data.kind,
        human=task.human_name,
        level=task.level,
        outputs=len(data.outputs),
        segments=len(data.segment_ids),
        full_segments=data.full_size,
        systems=len(data.systems),
    )


# --- results -----------------------------------------------------------------------------------------------------


def _coefficients(
    task: Task,
    scored: Sequence[Scored],
    corr: str,
    test: str | None,
    correction: Correction,
    unit: Unit,
    trials: int,
    permutations: int,
    seed: int,
    parts: _Parts,
) -> list[Result]:
    from arboreval.meta.compare import compare_metrics
    from arboreval.meta.intervals import all_resampled
    from arboreval.meta.supersampling import cautions

    data = task.data
    values: dict[str, Coefficient] = task.coefficients(scored, corr, seed=seed)
    defined = [s for s in scored if values[s.name].value is not None]
    samples = {}
    if (trials or test == "bootstrap") and defined:
        # metrics without a value have a part in which segments hybrids are made of
        taking_part = scored if corr in HYBRID else defined
        drawn = all_resampled(task, taking_part, corr, unit=unit, trials=trials or BOOTSTRAP_TRIALS, seed=seed)
        samples = {s.name: drawn[s.name] for s in defined if s.name in drawn}
    if corr in HYBRID and defined:
        parts.notes += cautions(len(data.systems))
    results = [
        Result(
            dataset=data.dataset,
            lp=data.lp,
            metric=s.name,
            level=level_of(task, corr),
            corr=corr,
            value=values[s.name].value,
            ci=interval(samples[s.name]) if s.name in samples and trials else None,
            n=values[s.name].n,
            failed=s.failed,
            reason=values[s.name].reason,
            average=task.averaging(corr),
        )
        for s in scored
    ]
    if test is not None and len(scored) > 1:
        tests, cluster, notes = compare_metrics(
            task, scored, corr, test, values, samples, correction=correction, permutations=permutations, seed=seed
        )
        parts.tests += tests
        parts.clusters += [] if cluster is None else [cluster]
        parts.notes += notes
    return results


def _averages(results: Sequence[Result]) -> Iterator[Average]:
    """Means over the language pairs of a data set, and over all; undefined if any of them is."""
    keys: dict[tuple[str | None, str, str, str], list[Result]] = {}
    datasets = dict.fromkeys(r.dataset for r in results)
    for r in results:
        keys.setdefault((r.dataset, r.metric, r.level, r.corr), []).append(r)
    if len(datasets) > 1:
        for r in results:
            keys.setdefault((None, r.metric, r.level, r.corr), []).append(r)
    elif datasets:
        keys |= {(None, *key[1:]): rows for key, rows in list(keys.items())}
    for (dataset, metric, level, corr), rows in keys.items():
        known = [r.value for r in rows if r.value is not None]
        missing = [r for r in rows if r.value is None]
        reason = (
            f"{len(missing)} of {len(rows)} have no value, first {missing[0].dataset} {missing[0].lp}"
            if missing
            else ""
        )
        value = None if missing else float(np.mean(known))
        yield Average(dataset, metric, level, corr, value, len(rows), reason)


def _extras(
    task: Task, scored: Sequence[Scored], parts: _Parts, partial: bool, unit: Unit, trials: int, seed: int
) -> None:
    if isinstance(task, ContrastedSegments):
        parts.phenomena += _phenomena(task, scored)
    if isinstance(task, ScoredSegments | Systems):
        parts.points += _points(task, scored)
        if partial and len(scored) > 1:
            parts.partial += _partial(task, scored)


def _phenomena(task: ContrastedSegments, scored: Sequence[Scored]) -> Iterator[Phenomenon]:
    data, contrasts = task.data, task.data.contrasts
    if contrasts is None:
        return
    for s in scored:
        right = task.successes(s)
        for k, name in enumerate(contrasts.phenomena):
            mine = np.empty(0) if right is None else right[contrasts.kind == k]
            mine = mine[np.isfinite(mine)]
            value = float(mine.mean()) if len(mine) else None
            ci = _wilson(value, len(mine)) if value is not None else None
            reason = "" if value is not None else s.reason or "no pair has both scores"
            yield Phenomenon(data.dataset, data.lp, s.name, name, value, ci, len(mine), reason)


def _wilson(p: float, n: int) -> tuple[float, float]:
    """Wilson's 95% score interval of a proportion."""
    z = 1.959963984540054
    centre, half = p + z * z / (2 * n), z * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def _points(task: ScoredSegments | Systems, scored: Sequence[Scored]) -> Iterator[Points]:
    data = task.data
    if isinstance(task, ScoredSegments) and task.human_key not in data.human:
        return
    y = task.human
    for s in scored:
        x = s.rows if isinstance(task, ScoredSegments) else s.systems
        if x is None or s.reason:
            continue
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        total = len(known)
        if total > _MAX_POINTS:  # evenly through the file: the same points for every metric
            known = known[np.linspace(0, total - 1, _MAX_POINTS).astype(np.int64)]
        labels = [_label(task, int(i)) for i in known]
        yield Points(
            data.dataset,
            data.lp,
            s.name,
            task.level,
            task.human_name,
            tuple(x[known].tolist()),
            tuple(y[known].tolist()),
            tuple(labels),
            total,
        )


def _label(task: Task, i: int) -> str:
    data = task.data
    if isinstance(task, Systems):
        return data.systems[i]
    system = data.outputs.system[i]
    segment = f"segment {data.segment_ids[data.outputs.segment[i]]}"
    return segment if system < 0 else f"{data.systems[system]}, {segment}"


def _partial(task: ScoredSegments | Systems, scored: Sequence[Scored]) -> Iterator[Partial]:
    from arboreval.meta.compare import partial_of

    if isinstance(task, ScoredSegments):
        if task.human_key not in task.data.human:
            return
        columns = {s.name: s.oriented_rows for s in scored if s.oriented_rows is not None}
    else:
        columns = {s.name: s.oriented_systems for s in scored if not s.reason}
    if len(columns) > 1:
        yield partial_of(task, columns)
