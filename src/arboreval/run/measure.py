"""Runs metrics over a corpus, in batches and possibly in several processes, and collects their statistics.

Neither the size of a batch nor the number of processes changes a statistic: every row depends on its segment alone,
and rows are put back in the order of the corpus.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import isfinite
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.analyzer import DEFAULT_ANALYZER, LAYERS
from arboreval.corpus import Corpus
from arboreval.errors import ArborevalError, UsageError
from arboreval.metrics.base import Batch, FloatArray, Measured, Metric, Problem, option_fields

if TYPE_CHECKING:
    from arboreval.analysis.source import AnalysisSource

DEFAULT_BATCH_SIZE = 256
NO_REFERENCE = "the segment has no reference"
#: texts analysed together, roughly
_MAX_ANALYSES = 768

Progress = Callable[[int], None]  # told how many segments are done


@dataclass(frozen=True)
class Statistics:
    """Sufficient statistics of one metric: (systems, segments, k); rows that failed are zero and not ``ok``."""

    metric: Metric
    stats: FloatArray
    ok: NDArray[np.bool_]  # (systems, segments)
    problems: tuple[Problem, ...]

    def totals(self, system: int) -> FloatArray:
        """Sums over segments, added one after the other as sacrebleu adds them, so that results are equal."""
        sums: FloatArray = np.add.accumulate(self.stats[system], axis=0)[-1]
        return sums

    def segment_scores(self, system: int) -> list[float | None]:
        """A score for every segment; None where it failed or is not a number."""
        ok = self.ok[system]
        values = np.full(len(ok), np.nan)
        if ok.any():
            values[ok] = self.metric.segment_scores(self.stats[system][ok])
        return [value if isfinite(value) else None for value in values.tolist()]

    def count(self, system: int, status: str) -> int:
        return sum(p.system == system and p.status == status for p in self.problems)


def measure(
    corpus: Corpus,
    metrics: Sequence[Metric],
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Statistics]:
    """The statistics of every metric, in the order of ``metrics``.

    Metrics that read analyses share them: no text of a batch is analysed twice.
    """
    if any(metric.analysis is not None for metric in metrics):
        # vectors are large; what is kept of a batch must not grow with the number of systems
        batch_size = min(batch_size, max(1, _MAX_ANALYSES // (len(corpus.systems) + 1)))
    metrics = [metric.fitted(corpus.references) for metric in metrics]
    starts = range(0, len(corpus), batch_size)
    tasks = ((start, _batch(corpus, start, start + batch_size)) for start in starts)
    parts: list[list[Measured]] = [[] for _ in metrics]
    results = _run_here(metrics, tasks) if jobs == 1 else _run_processes(metrics, tasks, jobs)
    for start, measured in results:
        for kept, part in zip(parts, measured, strict=True):
            kept.append(_shift(part, start))
        if progress is not None:
            progress(min(start + batch_size, len(corpus)))
    return [_join(metric, part) for metric, part in zip(metrics, parts, strict=True)]


def _batch(corpus: Corpus, start: int, stop: int) -> Batch:
    return Batch(
        references=corpus.references[start:stop],
        hypotheses=[texts[start:stop] for texts in corpus.systems.values()],
        sources=corpus.sources[start:stop] if corpus.sources is not None else None,
    )


def _shift(measured: Measured, start: int) -> Measured:
    problems = [Problem(p.system, p.segment + start, p.status, p.reason) for p in measured.problems]
    return Measured(measured.stats, problems)


def _join(metric: Metric, parts: Sequence[Measured]) -> Statistics:
    stats = np.concatenate([part.stats for part in parts], axis=1)
    problems = tuple(problem for part in parts for problem in part.problems)
    ok = np.ones(stats.shape[:2], dtype=bool)
    for problem in problems:
        if problem.status == "failed":
            ok[problem.system, problem.segment] = False
    stats[~ok] = 0.0
    return Statistics(metric, stats, ok, problems)


def require_layers(metric: Metric) -> None:
    """Refuses an analyzer that does not make what the metric reads, before an encoder is loaded for it."""
    source, needed = metric.analysis, metric.layers - {"tokens", "vectors"}
    # the default makes all, and is loaded in worker processes first
    if source is None or source.analyzer == DEFAULT_ANALYZER or not needed:
        return
    maker = source.maker
    if needed <= maker.provides:
        return
    makes = [layer for layer in LAYERS if layer in maker.provides]
    instead = [
        f" Try {metric.info.name}:{option.name}={choice}."
        for option in option_fields(type(metric))
        for choice in option.metadata["choices"] or ()
        if choice in makes
    ]
    raise UsageError(
        f"{metric.label} reads the layer {min(needed - maker.provides)!r}, which the analyzer {maker.name!r} does not "
        f"make; it makes {', '.join(makes)}.{instead[0] if instead else ''}"
    )


# --- analyses ----------------------------------------------------------------------------------------------------


def _measure_all(metrics: Sequence[Metric], batch: Batch) -> list[Measured]:
    """The metrics one after the other; those with the same source of analyses read the same analyses."""
    results: dict[int, Measured] = {i: measure_batch(m, batch) for i, m in enumerate(metrics) if m.analysis is None}
    readers: dict[AnalysisSource, list[int]] = {}
    for i, metric in enumerate(metrics):
        if metric.analysis is not None:
            readers.setdefault(metric.analysis, []).append(i)
    for source, indices in readers.items():
        layers = frozenset[str]().union(*(metrics[i].layers for i in indices))
        texts = distinct_texts(batch)
        analysed = replace(batch, analyses=dict(zip(texts, source.analyze(texts, layers), strict=True)))
        results.update((i, measure_batch(metrics[i], analysed)) for i in indices)
    return [results[i] for i in range(len(metrics))]


def distinct_texts(batch: Batch) -> list[str]:
    """Every text of a batch once."""
    texts = [text for references in batch.references for text in references]
    texts += [text for hypotheses in batch.hypotheses for text in hypotheses]
    return list(dict.fromkeys(texts))


# --- one batch ---------------------------------------------------------------------------------------------------


def measure_batch(metric: Metric, batch: Batch) -> Measured:
    """One bad segment never loses a run: if a metric breaks on a batch, each of its segments is tried alone."""
    missing = [i for i, references in enumerate(batch.references) if not references]
    if missing:
        return _measure_around(metric, batch, missing)
    try:
        return _checked(metric, metric.statistics(batch))
    except ArborevalError:
        raise
    except Exception as error:  # noqa: BLE001  # a plug-in may raise anything; the segment is reported as failed
        if len(batch.references) == 1 and len(batch.hypotheses) == 1:
            reason = f"{type(error).__name__}: {error}"
            return Measured(np.zeros((1, 1, metric.width)), [Problem(0, 0, "failed", reason)])
    return _measure_alone(metric, batch)


def _checked(metric: Metric, measured: Measured) -> Measured:
    """A statistic that is not a number is a failure with a name, never a score."""
    failed = {(p.system, p.segment) for p in measured.problems if p.status == "failed"}
    bad = np.argwhere(~np.isfinite(measured.stats).all(axis=-1))
    new = [
        Problem(int(s), int(i), "failed", f"{metric.info.name} gave a statistic that is not a finite number")
        for s, i in bad
        if (s, i) not in failed
    ]
    return Measured(measured.stats, [*measured.problems, *new])


def _measure_around(metric: Metric, batch: Batch, missing: Sequence[int]) -> Measured:
    """Segments without a reference fail; the others are measured as usual."""
    kept = sorted(set(range(len(batch.references))) - set(missing))
    stats = np.zeros((len(batch.hypotheses), len(batch.references), metric.width))
    problems = [Problem(s, i, "failed", NO_REFERENCE) for s in range(len(batch.hypotheses)) for i in missing]
    if kept:
        inner = measure_batch(
            metric,
            Batch(
                [batch.references[i] for i in kept],
                [[texts[i] for i in kept] for texts in batch.hypotheses],
                None if batch.sources is None else [batch.sources[i] for i in kept],
                batch.analyses,
            ),
        )
        stats[:, kept] = inner.stats
        problems += [Problem(p.system, kept[p.segment], p.status, p.reason) for p in inner.problems]
    return Measured(stats, problems)


def _measure_alone(metric: Metric, batch: Batch) -> Measured:
    stats = np.zeros((len(batch.hypotheses), len(batch.references), metric.width))
    problems: list[Problem] = []
    for s, texts in enumerate(batch.hypotheses):
        for i, references in enumerate(batch.references):
            sources = None if batch.sources is None else [batch.sources[i]]
            cell = measure_batch(metric, Batch([references], [[texts[i]]], sources, batch.analyses))
            stats[s, i] = cell.stats[0, 0]
            problems += [Problem(s, i, p.status, p.reason) for p in cell.problems]
    return Measured(stats, problems)


# --- where the work is done --------------------------------------------------------------------------------------


def _run_here(metrics: Sequence[Metric], tasks: Iterator[tuple[int, Batch]]) -> Iterator[tuple[int, list[Measured]]]:
    for start, batch in tasks:
        yield start, _measure_all(metrics, batch)


_worker_metrics: Sequence[Metric] = ()


def _start_worker(metrics: Sequence[Metric], jobs: int) -> None:
    global _worker_metrics
    if any(metric.analysis is not None for metric in metrics):
        from arboreval.analysis.source import share_cores

        share_cores(jobs)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _worker_metrics = metrics


def _work(batch: Batch) -> list[Measured]:
    return _measure_all(_worker_metrics, batch)


def _run_processes(
    metrics: Sequence[Metric], tasks: Iterator[tuple[int, Batch]], jobs: int
) -> Iterator[tuple[int, list[Measured]]]:
    """Results in the order of the tasks; only a few tasks are in flight, so memory does not grow with the corpus."""
    others = set(active_children())
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _start_worker, (list(metrics), jobs))
    waiting: deque[tuple[int, Future[list[Measured]]]] = deque()
    try:
        for start, batch in tasks:
            waiting.append((start, pool.submit(_work, batch)))
            if len(waiting) > 2 * jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - others:  # do not wait for batches nobody needs
            worker.terminate()
        raise
    pool.shutdown()
