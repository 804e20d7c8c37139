"""What the metrics that read analyses have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from arboreval.analysis.analyzer import DEFAULT_ANALYZER
from arboreval.analysis.source import AnalysisSource
from arboreval.analysis.structures import Analysis
from arboreval.errors import UsageError
from arboreval.metrics.base import Batch, FloatArray, Level, Measured, Metric, Problem
from arboreval.signature import SignatureValue


@dataclass(frozen=True)
class StructuralMetric(Metric):
    """Base of metrics that read analyses; whoever runs them puts those into ``Batch.analyses``.

    Precision, recall and F of a segment are its statistics, beside a 1 to count segments; the score of a system is the
    mean F of its segments.
    """

    width = 4

    #: who analyses
    using: AnalysisSource = field(default_factory=AnalysisSource, kw_only=True)

    @property
    def analysis(self) -> AnalysisSource:
        return self.using

    @property
    def languages(self) -> tuple[str, ...]:
        """The bundled analyzer reads English; what others read is for their user to know."""
        return self.info.languages if self.using.analyzer == DEFAULT_ANALYZER else ("any",)

    @abstractmethod
    def pairs(
        self, texts: Mapping[str, Analysis], wanted: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[float, float, float]]:
        """Precision, recall and F of each (hypothesis, reference); analyses that failed are not among ``texts``."""

    @abstractmethod
    def best(self, scores: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
        """One score from those against each of several references."""

    def statistics(self, batch: Batch) -> Measured:
        if batch.analyses is None:
            raise UsageError(f"{self.info.name} reads analyses, and this batch has none: run it with arboreval.score.")
        analyses = batch.analyses
        usable = {text: a for text, a in analyses.items() if not self.unusable(a)}
        wanted = {
            (texts[i], reference): None
            for i, references in enumerate(batch.references)
            for reference in references
            for texts in batch.hypotheses
            if texts[i] in usable and reference in usable
        }
        scores = self.pairs(usable, list(wanted))
        stats = np.zeros((len(batch.hypotheses), len(batch.references), self.width))
        problems = []
        for i, references in enumerate(batch.references):
            for s, texts in enumerate(batch.hypotheses):
                found = [scores[texts[i], reference] for reference in references if (texts[i], reference) in scores]
                problem = self._problem(texts[i], references, analyses)
                if found:
                    p, r, f = self.best(found)
                    stats[s, i] = f, p, r, 1.0
                if problem is not None:
                    problems.append(Problem(s, i, "degraded" if found else "failed", problem))
        return Measured(stats, problems)

    def unusable(self, analysis: Analysis) -> str:
        """Why nothing can be scored with this analysis; empty if something can."""
        if analysis.status == "failed":
            return f"not analysed: {analysis.reason}"
        if "vectors" in self.layers and analysis.vectors is None and analysis.text.strip():
            return f"no vectors: {analysis.reason or 'the analyzer makes none'}"
        return ""

    def remark(self, analysis: Analysis) -> str:
        """Why a score with this analysis is a fallback's; empty if it is not."""
        return analysis.reason

    def _problem(self, hypothesis: str, references: Sequence[str], analyses: Mapping[str, Analysis]) -> str | None:
        for what, text in (("hypothesis", hypothesis), *(("reference", reference) for reference in references)):
            reason = self.unusable(analyses[text]) or self.remark(analyses[text])
            if reason:
                return f"{what}: {reason}"
        return None

    def aggregate(self, totals: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray(totals[..., 0] / totals[..., 3])

    def components(self, totals: FloatArray) -> dict[str, float]:
        return {"precision": float(totals[1] / totals[3]), "recall": float(totals[2] / totals[3])}

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        return {**super().signature_fields(level), "analyzer": self.using.fingerprint(self.layers)}


def harmonic(p: float, r: float) -> float:
    """F = 2PR / (P + R), and 0 where P and R have no common sign, since that has no bounds there."""
    return 2 * p * r / (p + r) if p * r > 0 else 0.0
