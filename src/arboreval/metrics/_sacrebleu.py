"""What the metrics computed by sacrebleu have in common.

sacrebleu's own metric object does the work: its per-segment hooks give the statistics, and the reported numbers come
from its own score functions, so they equal sacrebleu's to the last digit. Only :meth:`Metric.aggregate`, which scores
thousands of resampled sums at once, is written here with numpy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arboreval.metrics.base import FloatArray, SegmentMetric

if TYPE_CHECKING:
    import sacrebleu.metrics.base


@dataclass(frozen=True)
class SacrebleuMetric(SegmentMetric):
    """Base of BLEU, chrF and TER. The protected methods used here are the hooks that sacrebleu's base class defines
    for its metrics; pyproject.toml keeps the major version."""

    @abstractmethod
    def make_scorer(self) -> sacrebleu.metrics.base.Metric: ...

    @cached_property
    def scorer(self) -> sacrebleu.metrics.base.Metric:
        return self.make_scorer()

    def prepare(self, references: Sequence[str], source: str | None) -> dict[str, Any]:
        scorer = self.scorer
        return scorer._extract_reference_info([scorer._preprocess_segment(text) for text in references])

    def segment_stats(self, hypothesis: str, prepared: dict[str, Any]) -> Sequence[float]:
        scorer = self.scorer
        return scorer._compute_segment_statistics(scorer._preprocess_segment(hypothesis), prepared)

    def corpus_score(self, totals: FloatArray) -> float:
        return float(self.scorer._compute_score_from_stats(totals.tolist()).score)

    def segment_scores(self, stats: FloatArray) -> FloatArray:
        score = self.scorer._compute_score_from_stats
        return np.array([score(row).score for row in stats.tolist()], dtype=np.float64)

    def version(self) -> str:
        import sacrebleu

        return f"sacrebleu-{sacrebleu.__version__}+{super().version()}"
