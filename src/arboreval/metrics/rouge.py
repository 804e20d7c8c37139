"""ROUGE-1, ROUGE-2 and ROUGE-L through the rouge-score package, with a choice of tokenizers."""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from arboreval.metrics.base import FloatArray, Level, MetricInfo, SegmentMetric, option
from arboreval.signature import SignatureValue

MEASURES = ("p", "r", "f")
TOKENIZERS = ("auto", "rouge-score", "unicode")
_CITATION = (
    "Lin. ROUGE: a package for automatic evaluation of summaries. Text Summarization Branches Out, ACL 2004; "
    "computed by the rouge-score package."
)


# The two caches below hold objects of untyped packages, hence Any.
@cache
def _unicode_pattern() -> Any:
    import regex

    # one character of a script written without spaces, or a run of other letters, marks and digits
    return regex.compile(
        r"(?V1)[\p{Han}\p{Hiragana}\p{Katakana}]|[[\p{L}\p{M}\p{N}]--[\p{Han}\p{Hiragana}\p{Katakana}]]+"
    )


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=8192)  # ROUGE-1, -2, -L and -W of one batch share the tokens
def tokenize(text: str, tokenizer: str, stem: bool) -> tuple[str, ...]:
    """``rouge-score`` is that package's own (ASCII letters and digits only); ``unicode`` keeps every script, splits
    Chinese and Japanese by character, and equals the other on ASCII text."""
    if tokenizer == "rouge-score":
        from rouge_score.tokenize import tokenize as ascii_tokenize

        return tuple(ascii_tokenize(text, _stemmer() if stem else None))
    words = _unicode_pattern().findall(unicodedata.normalize("NFC", text.lower()))
    if stem:
        words = [_stemmer().stem(word) if len(word) > 3 else word for word in words]
    return tuple(words)


@dataclass(frozen=True)
class RougeBase(SegmentMetric):
    """P, R and F of each segment, averaged over the corpus. A segment's statistics are (P, R, F, 1).

    Several references: the one with the best F, as rouge-score's ``score_multi`` takes it.
    """

    width = 4

    measure: str = option("f", "the number reported: precision, recall or F1", choices=MEASURES)
    tokenizer: str = option(
        "auto",
        "auto is rouge-score's own (ASCII) for English, else unicode: any script, Chinese by character",
        choices=TOKENIZERS,
    )
    stem: bool = option(False, "Porter stemming of words longer than three letters (English only)")

    @property
    def languages(self) -> tuple[str, ...]:
        return ("en",) if self.stem else ("any",)

    @property
    def tokenizer_used(self) -> str:
        if self.tokenizer != "auto":
            return self.tokenizer
        return "rouge-score" if self.lang == "en" else "unicode"

    def tokens(self, text: str) -> tuple[str, ...]:
        return tokenize(text, self.tokenizer_used, self.stem)

    @abstractmethod
    def score_one(self, reference: tuple[str, ...], hypothesis: tuple[str, ...]) -> tuple[float, float, float]:
        """P, R and F against one reference."""

    def segment_stats(self, hypothesis: str, prepared: Sequence[str]) -> Sequence[float]:
        words = self.tokens(hypothesis)
        scores = [self.score_one(self.tokens(reference), words) for reference in prepared]
        return (*max(scores, key=lambda prf: prf[2]), 1.0)

    def degraded(self, hypothesis: str, prepared: Sequence[str]) -> str | None:
        for text in (hypothesis, *prepared):
            if text.strip() and not self.tokens(text):
                advice = "; choose tokenizer=unicode" if self.tokenizer_used == "rouge-score" else ""
                return f"no word found in {text.strip()[:40]!r}{advice}"
        return None

    def aggregate(self, totals: FloatArray) -> FloatArray:
        total, n = totals[..., MEASURES.index(self.measure)], totals[..., 3]
        return np.where(n > 0, total / np.where(n > 0, n, 1.0), np.nan)

    def components(self, totals: FloatArray) -> dict[str, float]:
        return {name: float(totals[i] / totals[3]) for i, name in enumerate(MEASURES)}

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        return {
            "measure": self.measure,
            "tok": self.tokenizer_used,
            "stem": "porter" if self.stem else "no",
            "refs": "best-f",
            "avg": None if level == "seg" else "macro",
        }

    def version(self) -> str:
        from importlib.metadata import version

        return f"rouge-score-{version('rouge-score')}+{super().version()}"


class _Tokens:
    """Hands tokens made here to rouge-score, which only ever asks its tokenizer for the tokens of a text."""

    def tokenize(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        return tokens


@dataclass(frozen=True)
class RougeScore(RougeBase):
    """A ROUGE type that rouge-score computes."""

    rouge_type: ClassVar[str]

    @cached_property
    def _scorer(self) -> Any:  # rouge-score has no types
        from rouge_score.rouge_scorer import RougeScorer

        return RougeScorer([self.rouge_type], tokenizer=_Tokens())

    def score_one(self, reference: tuple[str, ...], hypothesis: tuple[str, ...]) -> tuple[float, float, float]:
        score = self._scorer.score(reference, hypothesis)[self.rouge_type]
        return score.precision, score.recall, score.fmeasure


def _ngram_info(n: int) -> MetricInfo:
    return MetricInfo(
        name=f"rouge-{n}",
        summary=f"overlap of {'words' if n == 1 else 'word pairs'}, by rouge-score",
        definition=(
            f"Common {n}-grams over the {n}-grams of the output (P) or of the reference (R), F their harmonic mean; "
            "mean over segments. Several references: the one with the best F."
        ),
        higher_is_better=True,
        scale=(0.0, 1.0),
        citation=_CITATION,
    )


@dataclass(frozen=True)
class Rouge1(RougeScore):
    """ROUGE-1: overlap of words."""

    info = _ngram_info(1)
    rouge_type = "rouge1"


@dataclass(frozen=True)
class Rouge2(RougeScore):
    """ROUGE-2: overlap of word pairs."""

    info = _ngram_info(2)
    rouge_type = "rouge2"


@dataclass(frozen=True)
class RougeL(RougeScore):
    """ROUGE-L: longest common subsequence of words."""

    info = MetricInfo(
        name="rouge-l",
        summary="longest common subsequence of words, by rouge-score",
        definition=(
            "Length of the longest common subsequence over the length of the output (P) or of the reference (R), "
            "F their harmonic mean; mean over segments. Several references: the one with the best F."
        ),
        higher_is_better=True,
        scale=(0.0, 1.0),
        citation=_CITATION,
    )
    rouge_type = "rougeL"
