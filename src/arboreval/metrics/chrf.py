"""chrF and chrF++."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboreval.errors import UsageError
from arboreval.metrics._sacrebleu import SacrebleuMetric
from arboreval.metrics.base import FloatArray, Level, MetricInfo, option
from arboreval.signature import SignatureValue

if TYPE_CHECKING:
    import sacrebleu

_CITATION = (
    "Popović. chrF: character n-gram F-score for automatic MT evaluation. WMT 2015; "
    "Popović. chrF++: words helping character n-grams. WMT 2017; computed by sacrebleu (Post. WMT 2018)."
)


@dataclass(frozen=True)
class ChrF(SacrebleuMetric):
    """chrF_β = (1 + β²) · P · R / (β² · P + R), times 100.

    P and R are means over the n-gram orders of corpus-wide n-gram precision and recall; orders that occur on one
    side only are left out. A segment's statistics are (n-grams in output, in reference, in both) for each order,
    against the reference that gives the best segment score.
    """

    info = MetricInfo(
        name="chrf",
        summary="character n-gram F2, by sacrebleu",
        definition=(
            "chrF_β = (1 + β²)·P·R / (β²·P + R) · 100 with β = 2; P and R averaged over character n-grams of order "
            "1…6 (and word n-grams up to word_order). Several references: the best one of each segment."
        ),
        higher_is_better=True,
        scale=(0.0, 100.0),
        citation=_CITATION,
    )

    char_order: int = option(6, "longest character n-gram")
    word_order: int = option(0, "longest word n-gram; 2 gives chrF++")
    beta: int = option(2, "weight of recall over precision")
    lowercase: bool = option(False, "ignore case")
    whitespace: bool = option(False, "keep white space in character n-grams")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.char_order < 1 or self.word_order < 0 or self.beta < 1:
            raise UsageError(f"{self.info.name}: char_order and beta must be at least 1, word_order at least 0.")

    @property
    def width(self) -> int:  # type: ignore[override]  # depends on options
        return 3 * (self.char_order + self.word_order)

    def make_scorer(self) -> sacrebleu.CHRF:
        import sacrebleu

        return sacrebleu.CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
        )

    def _precision_recall(self, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
        hyp, ref, match = totals[..., 0::3], totals[..., 1::3], totals[..., 2::3]
        used = (hyp > 0) & (ref > 0)
        orders = np.maximum(used.sum(axis=-1), 1)
        precision = np.where(used, match / np.where(used, hyp, 1.0), 0.0).sum(axis=-1) / orders
        recall = np.where(used, match / np.where(used, ref, 1.0), 0.0).sum(axis=-1) / orders
        return precision, recall

    def aggregate(self, totals: FloatArray) -> FloatArray:
        precision, recall = self._precision_recall(totals)
        factor = self.beta**2
        below = factor * precision + recall
        score: FloatArray = 100 * (1 + factor) * precision * recall / np.where(below > 0, below, 1.0)
        return score

    def components(self, totals: FloatArray) -> dict[str, float]:
        precision, recall = self._precision_recall(totals)
        return {"p": 100 * float(precision), "r": 100 * float(recall), "f": self.corpus_score(totals)}

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": True,  # sacrebleu's name for leaving out orders that one side lacks
            "nc": self.char_order,
            "nw": self.word_order,
            "beta": self.beta,
            "space": self.whitespace,
        }


@dataclass(frozen=True)
class ChrFPlusPlus(ChrF):
    """chrF with word unigrams and bigrams beside the character n-grams."""

    info = MetricInfo(
        name="chrf++",
        summary="chrF with word unigrams and bigrams, by sacrebleu",
        definition=ChrF.info.definition.replace("up to word_order", "of order 1 and 2"),
        higher_is_better=True,
        scale=(0.0, 100.0),
        citation=_CITATION,
    )

    word_order: int = option(2, "longest word n-gram")
