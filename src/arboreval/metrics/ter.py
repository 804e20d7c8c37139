"""Translation edit rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboreval.metrics._sacrebleu import SacrebleuMetric
from arboreval.metrics.base import FloatArray, Level, MetricInfo, option
from arboreval.signature import SignatureValue

if TYPE_CHECKING:
    import sacrebleu


@dataclass(frozen=True)
class Ter(SacrebleuMetric):
    """TER = edits / mean reference length, times 100; edits are insertions, deletions, substitutions and shifts.

    A segment's statistics are (fewest edits over the references, mean reference length).
    """

    info = MetricInfo(
        name="ter",
        summary="edits needed to reach the reference, by sacrebleu",
        definition=(
            "TER = edits / average reference length · 100; edits: insertions, deletions, substitutions and block "
            "shifts. Several references: the fewest edits, the mean length. May exceed 100."
        ),
        higher_is_better=False,
        scale=(0.0, None),
        citation=(
            "Snover, Dorr, Schwartz, Micciulla, Makhoul. A study of translation edit rate with targeted human "
            "annotation. AMTA 2006; computed by sacrebleu (Post. WMT 2018)."
        ),
    )
    width = 2

    normalized: bool = option(False, "normalise and tokenize punctuation")
    no_punct: bool = option(False, "remove punctuation")
    asian_support: bool = option(False, "treat Chinese and Japanese characters as words (with normalized)")
    case_sensitive: bool = option(False, "keep case")

    def make_scorer(self) -> sacrebleu.TER:
        import sacrebleu

        return sacrebleu.TER(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )

    def aggregate(self, totals: FloatArray) -> FloatArray:
        edits, length = totals[..., 0], totals[..., 1]
        # an empty reference costs 100 if the output is not empty, as sacrebleu has it
        rate = np.where(length > 0, edits / np.where(length > 0, length, 1.0), (edits > 0).astype(np.float64))
        return 100 * rate

    def components(self, totals: FloatArray) -> dict[str, float]:
        return {"edits": float(totals[0]), "ref_len": float(totals[1])}

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": self.normalized,
            "punct": not self.no_punct,
            "asian": self.asian_support,
        }
