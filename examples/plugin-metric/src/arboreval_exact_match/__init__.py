"""An example plug-in: how many outputs equal one of their references?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arboreval.errors import SegmentError
from arboreval.metrics.base import FloatArray, MetricInfo, SegmentMetric, option


@dataclass(frozen=True)
class ExactMatch(SegmentMetric):
    """The share of outputs that equal a reference, white space and (if asked) case aside."""

    info = MetricInfo(
        name="exact-match",
        summary="share of outputs equal to a reference",
        definition="Outputs that equal one of their references, over all outputs; white space is normalised.",
        higher_is_better=True,
        scale=(0.0, 1.0),
        citation="An example; nothing to cite.",
    )
    width = 2  # statistics of a segment: (1 if it matches, 1)

    lowercase: bool = option(False, "ignore case")

    def prepare(self, references: Sequence[str], source: str | None) -> set[str]:
        """Runs once for a segment, however many systems are scored."""
        return {self.normalise(text) for text in references} - {""}

    def segment_stats(self, hypothesis: str, prepared: set[str]) -> Sequence[float]:
        if not prepared:
            raise SegmentError("all references are empty")  # the segment is marked as failed, the run goes on
        return float(self.normalise(hypothesis) in prepared), 1.0

    def aggregate(self, totals: FloatArray) -> FloatArray:
        """Called with the sums of a corpus, with single segments, and with thousands of resamples at once."""
        matches, n = totals[..., 0], totals[..., 1]
        return np.where(n > 0, matches / np.where(n > 0, n, 1.0), np.nan)

    def normalise(self, text: str) -> str:
        text = " ".join(text.split())
        return text.lower() if self.lowercase else text
