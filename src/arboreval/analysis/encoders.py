"""Vectors of an encoder in place of those of an analyzer: which encoders there are, and how their sub-words find words.

Any Hugging Face encoder can be had by its path (`external/huggingface.py`, which needs torch). The bundled model's
encoder is called ``english`` and needs nothing more, so that analyzers without vectors can have these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np

from arboreval.analysis.analyzer import ANALYZERS, DEFAULT_ANALYZER, Analyzer, parse_options
from arboreval.analysis.english.analyzer import EnglishAnalyzer
from arboreval.analysis.structures import Analysis, IntArray, Tokens
from arboreval.registry import split_spec

#: texts read ahead, so that those of equal length can be encoded together
LOOKAHEAD = 256


@runtime_checkable
class Encoder(Protocol):
    """Gives texts vectors that do not depend on the analyzer."""

    @property
    def fingerprint(self) -> str:
        """Names everything that can change a vector. One line without ``|``."""

    def encode(self, analyses: Iterable[Analysis]) -> Iterator[Analysis]:
        """The analyses with vectors of this encoder. Failed ones stay as they are."""

    def pieces(self, text: str) -> Sequence[int]:
        """The numbers of the text's sub-words, in the order of its vectors, special tokens left out."""


def make_encoder(spec: str | Encoder) -> Encoder:
    """The encoder that ``english`` or ``PATH[:layer=N][:batch=N][:space=true]`` describes; one that is made stays."""
    if not isinstance(spec, str):
        return spec
    if spec.strip().partition(":")[0] == DEFAULT_ANALYZER:
        return BundledEncoder(spec.strip())
    from arboreval.analysis.external.huggingface import from_spec

    return from_spec(spec)


class BundledEncoder:
    """The encoder of the bundled model. It reads a text exactly as the bundled analyzer does.

    :param spec: ``english``, possibly with that analyzer's options.
    """

    def __init__(self, spec: str = DEFAULT_ANALYZER) -> None:
        _, texts = split_spec(spec, ANALYZERS)
        analyzer = EnglishAnalyzer(**parse_options(f"the encoder {DEFAULT_ANALYZER}", EnglishAnalyzer, texts))
        self._analyzer = analyzer.for_layers({"tokens", "vectors"})

    @property
    def fingerprint(self) -> str:
        return f"{self._analyzer.fingerprint}@{self._analyzer.model.layer}"

    def encode(self, analyses: Iterable[Analysis]) -> Iterator[Analysis]:
        rest = iter(analyses)
        while block := list(islice(rest, LOOKAHEAD)):
            own = self._analyzer.analyze(analysis.text for analysis in block if analysis.status != "failed")
            for analysis in block:
                yield analysis if analysis.status == "failed" else _given(analysis, next(own))

    def pieces(self, text: str) -> Sequence[int]:
        return self._analyzer.pieces(text)


def _given(analysis: Analysis, own: Analysis) -> Analysis:
    """The analysis with the vectors of the same text's other analysis, on the words that it has itself."""
    vectors = own.vectors
    if vectors is None:
        return without_vectors(analysis, own.reason)
    word = np.full(len(vectors), -1, np.int32)
    plain = ~vectors.special
    word[plain] = words_of(np.stack([vectors.start[plain], vectors.end[plain]], axis=1), analysis.tokens)
    return replace(analysis, vectors=replace(vectors, word=word))


def without_vectors(analysis: Analysis, reason: str) -> Analysis:
    """The analysis of a text that could not be encoded."""
    reason = f"{analysis.reason}; {reason}" if analysis.reason else reason
    return replace(analysis, vectors=None, status="degraded", reason=reason)


def words_of(offsets: IntArray, tokens: Tokens) -> IntArray:
    """The word in which each sub-word starts, or that it reaches first; -1 for one outside all words."""
    if not len(tokens) or not len(offsets):
        return np.full(len(offsets), -1, np.int32)
    word = np.searchsorted(tokens.end, offsets[:, 0], "right")
    inside = (word < len(tokens)) & (offsets[:, 0] < offsets[:, 1])
    word = np.minimum(word, len(tokens) - 1)
    inside &= tokens.start[word] < offsets[:, 1]
    return np.where(inside, word, -1).astype(np.int32)


class EncodedAnalyzer:
    """An analyzer whose vectors come from an encoder."""

    def __init__(self, base: Analyzer, encoder: Encoder) -> None:
        self._base = base
        self._encoder = encoder
        self.name = base.name
        self.fingerprint = f"{base.fingerprint}+{encoder.fingerprint}"
        self.provides = base.provides | {"vectors"}

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        for analysis in self._encoder.encode(self._base.analyze(texts)):
            yield replace(analysis, fingerprint=self.fingerprint)
