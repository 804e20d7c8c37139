"""Analyses the texts of chosen segments and collects the evidence for their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from arboreval.corpus.model import Corpus, SegmentId
from arboreval.errors import UsageError
from arboreval.evidence import Evidence, HasEvidence
from arboreval.metrics.base import Batch, Metric
from arboreval.metrics.structural import StructuralMetric
from arboreval.run.measure import measure_batch


@dataclass(frozen=True, eq=False)
class Pair:
    """An output beside one of its references."""

    #: number of the reference, from 1
    reference: int
    evidence: Evidence


@dataclass(frozen=True, eq=False)
class Explained:
    """One output and what its score is made of."""

    system: str
    doc: str | None
    seg: SegmentId
    status: Literal["ok", "degraded", "failed"]
    #: why the status is not ok
    reason: str
    hypothesis: str
    references: tuple[str, ...]
    #: the score; None if there is none
    score: float | None
    precision: float | None
    recall: float | None
    #: the reference that gave the score, or all where the score is their mean
    pairs: tuple[Pair, ...]


def has_evidence(metric: type[Metric]) -> bool:
    """Whether the scores of a metric are sums over parts that it can name."""
    return issubclass(metric, StructuralMetric) and hasattr(metric, "evidence")


def explain_segments(metric: Metric, wanted: Sequence[tuple[str, int]], corpus: Corpus) -> Iterator[Explained]:
    """The evidence for each system and position of a segment; every text is analysed once."""
    if not isinstance(metric, StructuralMetric) or not isinstance(metric, HasEvidence):
        raise UsageError(f"{metric.info.name} has no evidence to show.")
    ids = list(corpus.ids())
    texts = [(corpus.systems[system][i], corpus.references[i]) for system, i in wanted]
    distinct = list(dict.fromkeys(text for hypothesis, references in texts for text in (hypothesis, *references)))
    analyses = dict(zip(distinct, metric.using.analyze(distinct, metric.layers), strict=True))
    for (system, i), (hypothesis, references) in zip(wanted, texts, strict=True):
        measured = measure_batch(metric, Batch([references], [[hypothesis]], analyses=analyses))
        problem = measured.problems[0] if measured.problems else None
        stats = None if problem is not None and problem.status == "failed" else measured.stats[0]
        parts = {} if stats is None else metric.components(stats[0])
        yield Explained(
            system=system,
            doc=ids[i][0],
            seg=ids[i][1],
            status="ok" if problem is None else problem.status,
            reason="" if problem is None else problem.reason,
            hypothesis=hypothesis,
            references=references,
            score=None if stats is None else float(metric.segment_scores(stats)[0]),
            precision=parts.get("precision"),
            recall=parts.get("recall"),
            pairs=()
            if stats is None
            else _pairs(
                [
                    Pair(number, metric.evidence(analyses[hypothesis], analyses[reference]))
                    for number, reference in enumerate(references, 1)
                    if not metric.unusable(analyses[reference])
                ],
                metric,
            ),
        )


def _pairs(pairs: Sequence[Pair], metric: Metric) -> tuple[Pair, ...]:
    """The reference that gave the score, or all of them where the score is their mean."""
    if getattr(metric, "refs", "max") == "mean":
        return tuple(pairs)
    return (max(pairs, key=lambda pair: pair.evidence.f),)
