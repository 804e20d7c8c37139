"""BLEU and BLEU*."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from arboreval.errors import MissingExtraError, UsageError
from arboreval.metrics._sacrebleu import SacrebleuMetric
from arboreval.metrics.base import FloatArray, Level, MetricInfo, option
from arboreval.signature import SignatureValue

if TYPE_CHECKING:
    import sacrebleu

#: sacrebleu's tokenizers, less those that download a model
TOKENIZERS = ("auto", "13a", "none", "zh", "intl", "char", "ja-mecab", "ko-mecab")
#: the tokenizer `auto` means for a target language; `13a` for all others
TOKENIZER_OF_LANGUAGE = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


@dataclass(frozen=True)
class Bleu(SacrebleuMetric):
    """BLEU = BP * exp(1/N * sum over n of log p_n), times 100 (Papineni et al. 2002, section 2.3).

    p_n   clipped n-gram matches over n-grams of the output, both summed over the corpus
    BP    1 if c >= r, else exp(1 - r/c), with output length c and closest reference length r

    A segment's statistics are (c, r, matches for n = 1..N, n-grams for n = 1..N).
    """

    info = MetricInfo(
        name="bleu",
        summary="n-gram precision with a brevity penalty, by sacrebleu",
        definition=(
            "BLEU = BP · exp(1/4 · Σₙ log pₙ) · 100, pₙ the clipped n-gram precision over the corpus (n = 1…4), "
            "BP = min(1, exp(1 − r/c)). A segment's score is sacrebleu.sentence_bleu: exponential smoothing, "
            "effective order. Several references: n-grams clipped by their largest count, closest length."
        ),
        higher_is_better=True,
        scale=(0.0, 100.0),
        citation=(
            "Papineni, Roukos, Ward, Zhu. BLEU: a method for automatic evaluation of machine translation. ACL 2002; "
            "computed by sacrebleu (Post. A call for clarity in reporting BLEU scores. WMT 2018)."
        ),
    )

    tokenize: str = option(
        "auto",
        "tokenizer; auto is zh, ja-mecab or ko-mecab for these languages, else 13a",
        choices=TOKENIZERS,
    )
    lowercase: bool = option(False, "ignore case")
    smooth_method: str = option("exp", "smoothing", choices=("exp", "floor", "add-k", "none"))
    smooth_value: float | None = option(None, "value for floor (default 0.1) and add-k (default 1)")
    max_ngram_order: int = option(4, "longest n-gram")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_ngram_order < 1:
            raise UsageError(f"{self.info.name}: option max_ngram_order must be at least 1.")

    @property
    def tokenizer(self) -> str:
        return TOKENIZER_OF_LANGUAGE.get(self.lang, "13a") if self.tokenize == "auto" else self.tokenize

    @property
    def width(self) -> int:  # type: ignore[override]  # depends on an option
        return 2 + 2 * self.max_ngram_order

    def make_scorer(self) -> sacrebleu.BLEU:
        return self._make(effective_order=False)

    @cached_property
    def segment_scorer(self) -> sacrebleu.BLEU:
        return self._make(effective_order=True)

    def _make(self, *, effective_order: bool) -> sacrebleu.BLEU:
        import sacrebleu

        try:
            return sacrebleu.BLEU(
                tokenize=self.tokenizer,
                lowercase=self.lowercase,
                smooth_method=self.smooth_method,
                smooth_value=self.smooth_value,
                max_ngram_order=self.max_ngram_order,
                effective_order=effective_order,
            )
        except (RuntimeError, ImportError) as error:  # sacrebleu's way to say that MeCab is missing
            raise MissingExtraError(
                f"{self.info.name}: the tokenizer {self.tokenizer!r} needs more packages: "
                f"pip install 'sacrebleu[{self.tokenizer[:2]}]', or choose {self.info.name}:tokenize=char."
            ) from error

    def segment_scores(self, stats: FloatArray) -> FloatArray:
        score = self.segment_scorer._compute_score_from_stats
        return np.array([score(row).score for row in stats.tolist()], dtype=np.float64)

    def aggregate(self, totals: FloatArray) -> FloatArray:
        return self._brevity_penalty(totals) * self._precision_mean(totals)

    def _brevity_penalty(self, totals: FloatArray) -> FloatArray:
        c, r = totals[..., 0], totals[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(c >= r, 1.0, np.where(c > 0, np.exp(1 - r / c), 0.0))

    def _precision_mean(self, totals: FloatArray) -> FloatArray:
        """exp(mean of log p_n) with sacrebleu's smoothing, times 100."""
        order = self.max_ngram_order
        correct, total = totals[..., 2 : 2 + order].copy(), totals[..., 2 + order :].copy()
        nothing = ~correct.any(axis=-1)
        if self.smooth_method == "add-k":
            value = 1.0 if self.smooth_value is None else self.smooth_value
            correct[..., 1:] += value
            total[..., 1:] += value
        floor = 0.1 if self.smooth_value is None else self.smooth_value
        log_sum = np.zeros(totals.shape[:-1])
        halvings = np.ones(totals.shape[:-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            for n in range(order):
                missing = correct[..., n] == 0
                if self.smooth_method == "exp":
                    halvings = np.where(missing, halvings * 2, halvings)
                    matches = np.where(missing, 1.0 / halvings, correct[..., n])
                elif self.smooth_method == "floor":
                    matches = np.where(missing, floor, correct[..., n])
                else:
                    matches = correct[..., n]
                log_sum += np.where(total[..., n] == 0, -np.inf, np.log(100.0 * matches / total[..., n]))
            mean = np.exp(log_sum / order)
        return np.where(nothing, 0.0, mean)

    def components(self, totals: FloatArray) -> dict[str, float]:
        # compute_bleu writes into the lists it is given when smoothing by add-k, hence a fresh list
        result = self.scorer._compute_score_from_stats(totals.tolist())
        parts = {f"p{n}": float(p) for n, p in enumerate(result.precisions, 1)}
        return {
            **parts,
            "bp": float(result.bp),
            "length_ratio": float(result.ratio),
            "hyp_len": float(result.sys_len),
            "ref_len": float(result.ref_len),
        }

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        smooth = self.smooth_method
        if self.smooth_value is not None:
            smooth += f"[{self.smooth_value:g}]"
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": level == "seg",
            "tok": self.tokenizer,
            "smooth": smooth,
            "order": None if self.max_ngram_order == 4 else self.max_ngram_order,
        }


@dataclass(frozen=True)
class BleuStar(Bleu):
    """BLEU* = BLEU / BP: BLEU that does not punish short output, for length-controlled translation.

    Corpus level only. An empty output scores 0.
    """

    info = MetricInfo(
        name="bleu-star",
        summary="BLEU divided by its brevity penalty, for length-controlled output",
        definition=(
            "BLEU* = BLEU / BP = 100 · geometric mean of the n-gram precisions. "
            "Corpus level only; empty output scores 0."
        ),
        higher_is_better=True,
        scale=(0.0, 100.0),
        levels=("sys",),
        citation="Cheng, Zhang, Wang, Li, Liu, Zhang. Evaluation of length-controllable machine translation.",
    )

    def aggregate(self, totals: FloatArray) -> FloatArray:
        return self._precision_mean(totals)

    def corpus_score(self, totals: FloatArray) -> float:
        result = self.scorer._compute_score_from_stats(totals.tolist())
        return float(result.score / result.bp) if result.bp > 0 else 0.0
