"""Scores of outputs under arboreval's own metrics, and of metrics computed elsewhere, in one form: :class:`Scored`.

Each distinct (output, references, source) is measured once, and what has been measured is kept on disk by the metric's
signature and the texts (:mod:`arboreval.meta.score_store`): a second run measures only what is missing, and a run that
was interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from arboreval.corpus.model import Corpus
from arboreval.errors import MissingExtraError
from arboreval.meta.evalset import BoolArray, EvalSet, FloatArray, ForeignScores
from arboreval.meta.score_store import Entry, ScoreStore, entry_key
from arboreval.metrics.base import Level, Metric
from arboreval.registry import make_metric
from arboreval.run.measure import DEFAULT_BATCH_SIZE, NO_REFERENCE, measure, require_layers
from arboreval.signature import SignatureValue, format_signature

if TYPE_CHECKING:
    from arboreval.analysis.source import AnalysisSource

#: outputs measured between two writes to the store; what an interruption can lose
_BLOCK = 2_048
_BLOCK_PARALLEL = 16_384  # larger, because each block starts its processes anew

Progress = Callable[[str, int, int], None]  # told what is measured, how much is done, and of how much
Cell = tuple[str, tuple[str, ...], str | None]  # output, references, source


@dataclass(frozen=True, eq=False)
class Scored:
    """A metric on an EvalSet. ``oriented`` values are larger for better whatever the metric's direction."""

    name: str
    signature: str
    higher_is_better: bool
    #: one score a row, NaN where there is none; None if the metric has no segment scores
    rows: FloatArray | None
    #: a corpus score for each system of the EvalSet, NaN where there is none
    systems: FloatArray
    failed: int = 0
    #: why there is nothing at all
    reason: str = ""
    metric: Metric | None = None
    #: sufficient statistics of rows, zero where not ``ok``; None for metrics computed elsewhere
    stats: FloatArray | None = None
    ok: BoolArray | None = None
    problems: tuple[tuple[int, str, str], ...] = field(default=())  # row, status, reason
    #: how system scores are made, where that differs from ``signature``
    system_signature: str = ""

    @property
    def sign(self) -> float:
        return 1.0 if self.higher_is_better else -1.0

    @cached_property
    def oriented_rows(self) -> FloatArray | None:
        return None if self.rows is None else self.sign * self.rows

    @cached_property
    def oriented_systems(self) -> FloatArray:
        return self.sign * self.systems


def score_evalset(
    data: EvalSet,
    specs: Sequence[str | Metric],
    *,
    using: AnalysisSource | None = None,
    store: ScoreStore | None = None,
    jobs: int = 1,
    batch_size: int = DEFAULT_BATCH_SIZE,
    progress: Progress | None = None,
) -> list[Scored]:
    """The scores of every metric, in the order given; metrics computed elsewhere are named like the others.

    Metrics that read analyses from one source are measured together, so that each text is analysed once.

    :param using: who analyses, for metrics that are given by name.
    """
    results: dict[int, Scored] = {}
    together: dict[object, list[tuple[int, Metric]]] = {}
    for i, spec in enumerate(specs):
        if isinstance(spec, str) and spec in data.foreign:
            results[i] = _foreign(data, data.foreign[spec])
            continue
        metric = make_metric(spec, lang=data.target, using=using) if isinstance(spec, str) else spec
        reason = _unfit(metric, data)
        if reason:
            results[i] = _nothing(data, metric, reason)
        else:
            require_layers(metric)
            together.setdefault(metric.analysis or i, []).append((i, metric))
    for members in together.values():
        metrics = [metric for _, metric in members]
        try:
            fitted = [metric.fitted(dict.fromkeys(data.outputs.references)) for metric in metrics]
            entries = _measure(data, fitted, store, jobs, batch_size, progress)
        except MissingExtraError as error:  # a tokenizer for this language, for example
            results |= {i: _nothing(data, metric, str(error)) for i, metric in members}
        else:
            results |= {i: _own(data, m, e) for (i, _), m, e in zip(members, fitted, entries, strict=True)}
    return [results[i] for i in range(len(specs))]


def _nothing(data: EvalSet, metric: Metric, reason: str) -> Scored:
    empty = np.full(len(data.systems), np.nan)
    return Scored(metric.label, "", metric.info.higher_is_better, None, empty, reason=reason, metric=metric)


def _own(data: EvalSet, metric: Metric, entries: Sequence[Entry]) -> Scored:
    ok = np.array([entry.status != "failed" for entry in entries])
    stats = np.zeros((len(entries), metric.width))
    for i, entry in enumerate(entries):
        if ok[i]:
            stats[i] = entry.stats
    rows = None
    if "seg" in metric.info.levels:
        rows = np.full(len(entries), np.nan)
        if ok.any():
            rows[ok] = metric.segment_scores(stats[ok])
    return Scored(
        name=metric.label,
        signature=_signature(metric, data, "seg" if "seg" in metric.info.levels else "sys"),
        system_signature=_signature(metric, data, "sys"),
        higher_is_better=metric.info.higher_is_better,
        rows=rows,
        systems=_corpus_scores(data, metric, stats, ok),
        failed=int((~ok).sum()),
        metric=metric,
        stats=stats,
        ok=ok,
        problems=tuple((i, e.status, e.reason) for i, e in enumerate(entries) if e.status != "ok"),
    )


def _unfit(metric: Metric, data: EvalSet) -> str:
    if "any" not in metric.languages and data.target not in metric.languages:
        return f"{metric.label} judges {', '.join(metric.languages)}, the target language is {data.target}"
    if metric.info.needs_source and all(source is None for source in data.outputs.sources):
        return f"{metric.label} needs the source, which the data does not have"
    if not any(data.outputs.references):
        return "the data has no references"
    return ""


def _signature(metric: Metric, data: EvalSet, level: Level) -> str:
    counts = {len(refs) for refs in data.outputs.references}
    n = len(data.segment_ids)
    fields: dict[str, SignatureValue] = {
        "nrefs": counts.pop() if len(counts) == 1 else "var",
        "limit": n if n < data.full_size else None,
        **metric.signature_fields(level),
        "version": metric.version(),
    }
    return format_signature(metric.info.name, fields)


def _corpus_scores(data: EvalSet, metric: Metric, stats: FloatArray, ok: BoolArray) -> FloatArray:
    """A system's score as the metric defines it: from the summed statistics of its outputs."""
    scores = np.full(len(data.systems), np.nan)
    for i in range(len(data.systems)):
        mine = stats[(data.outputs.system == i) & ok]
        if len(mine):
            scores[i] = metric.corpus_score(np.add.accumulate(mine, axis=0)[-1])
    return scores


def _foreign(data: EvalSet, scores: ForeignScores) -> Scored:
    """System scores are those given, else means over the system's segments."""
    systems = np.full(len(data.systems), np.nan)
    for i, name in enumerate(data.systems):
        if name in scores.systems:
            systems[i] = scores.systems[name]
        elif scores.rows is not None:
            mine = scores.rows[data.outputs.system == i]
            mine = mine[np.isfinite(mine)]
            systems[i] = mine.mean() if len(mine) else np.nan
    failed = 0 if scores.rows is None else int(np.isnan(scores.rows).sum())
    signature = f"{scores.name}|computed elsewhere"
    stats = ok = None
    if scores.rows is not None and not scores.systems:
        ok = np.isfinite(scores.rows)
        stats = np.where(ok, scores.rows, 0.0)[:, None]
    return Scored(
        scores.name, signature, scores.higher_is_better, scores.rows, systems, failed=failed, stats=stats, ok=ok
    )


# --- measuring what is missing -----------------------------------------------------------------------------------


def recipe(metric: Metric) -> str:
    """Everything about a metric that can change its statistics."""
    fields: dict[str, SignatureValue] = {"lang": metric.lang, "width": metric.width}
    for level in metric.info.levels:
        fields |= {f"{level}.{key}": value for key, value in metric.signature_fields(level).items()}
    return format_signature(metric.label, {**fields, "version": metric.version()})


def _measure(
    data: EvalSet,
    metrics: Sequence[Metric],
    store: ScoreStore | None,
    jobs: int,
    batch_size: int,
    progress: Progress | None,
) -> list[list[Entry]]:
    """For each of the metrics, an entry for every row."""
    recipes = [recipe(metric) for metric in metrics]
    source_counts = any(metric.info.needs_source for metric in metrics)
    cells: list[Cell] = [
        (hypothesis, references, source if source_counts else None)
        for hypothesis, references, source in zip(
            data.outputs.hypotheses, data.outputs.references, data.outputs.sources, strict=True
        )
    ]
    keys = {cell: [entry_key(how, *cell) for how in recipes] for cell in dict.fromkeys(cells)}
    found = store.get(key for row in keys.values() for key in row) if store is not None else {}
    missing = [cell for cell, row in keys.items() if any(key not in found for key in row)]
    done = len(keys) - len(missing)
    label = ", ".join(metric.label for metric in metrics)
    if progress is not None:
        progress(label, done, len(keys))
    for block in _blocks(missing, _BLOCK if jobs == 1 else _BLOCK_PARALLEL, padded=metrics[0].analysis is not None):
        fresh = dict(_measure_block(block, metrics, jobs, batch_size))
        for i, metric in enumerate(metrics):
            new = {keys[cell][i]: entries[i] for cell, entries in fresh.items()}
            if store is not None:
                store.put(metric.info.name, new.items())
            found.update(new)
        done += len(fresh)
        if progress is not None:
            progress(label, done, len(keys))
    return [[found[keys[cell][i]] for cell in cells] for i in range(len(metrics))]


def _blocks(cells: Iterable[Cell], size: int, *, padded: bool) -> Iterator[list[list[Cell]]]:
    """Groups of cells that share references and source, all groups of a block equally large, so that a metric prepares
    references once for many outputs. Sizes are powers of two: few kinds of blocks, whatever the number of systems.

    Where references cost as much as outputs, groups stay whole: shorter ones are ``padded`` with their last cell.
    """
    by_reference: dict[tuple[tuple[str, ...], str | None], list[Cell]] = {}
    for cell in cells:
        by_reference.setdefault(cell[1:], []).append(cell)
    groups = []
    for group in by_reference.values():
        start = 0
        while start < len(group):
            left = len(group) - start
            width = 1 << ((left - 1).bit_length() if padded else left.bit_length() - 1)
            groups.append(group[start : start + width] + group[-1:] * (width - left))
            start += width
    for width, same in groupby(sorted(groups, key=len), key=len):
        listed = list(same)
        step = max(size // width, 1)
        yield from (listed[i : i + step] for i in range(0, len(listed), step))


def _measure_block(
    block: Sequence[Sequence[Cell]], metrics: Sequence[Metric], jobs: int, batch_size: int
) -> Iterator[tuple[Cell, list[Entry]]]:
    width = len(block[0])
    corpus = Corpus(
        systems={str(k): [group[k][0] for group in block] for k in range(width)},
        references=[group[0][1] for group in block],
        sources=[group[0][2] or "" for group in block] if any(m.info.needs_source for m in metrics) else None,
        segment_ids=range(len(block)),
        lang=metrics[0].lang,
        full_size=len(block),
    )
    # a short list is not worth starting processes for
    jobs = 1 if len(block) * width <= batch_size else jobs
    measured = measure(corpus, metrics, batch_size=batch_size, jobs=jobs)
    problems = [{(p.system, p.segment): p for p in statistics.problems} for statistics in measured]
    for i, group in enumerate(block):
        for k, cell in enumerate(group):
            entries = []
            for statistics, known in zip(measured, problems, strict=True):
                problem = known.get((k, i))
                stats = statistics.stats[k, i]
                entries.append(Entry(stats) if problem is None else Entry(stats, problem.status, problem.reason))
            yield cell, entries


__all__ = ["NO_REFERENCE", "Progress", "Scored", "recipe", "score_evalset"]
