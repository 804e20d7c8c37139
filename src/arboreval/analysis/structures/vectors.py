"""Contextual vectors of sub-words, and the word and phrase vectors derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from arboreval.analysis.structures.base import (
    BoolArray,
    FloatArray,
    IntArray,
    Structure,
    bool_array,
    float_matrix,
    in_range,
    int_array,
    same_length,
)
from arboreval.analysis.structures.tokens import Tokens
from arboreval.errors import StructureError

Mode = Literal["max", "mean"]


@dataclass(frozen=True, eq=False)
class Vectors(Structure):
    """One row of the kept encoder layer for each sub-word, special tokens (such as ``<s>``) included and marked."""

    values: FloatArray
    #: characters of each sub-word; -1 and -1 for a special token
    start: IntArray
    end: IntArray
    special: BoolArray
    #: word of each sub-word; -1 for special tokens and for sub-words outside all words
    word: IntArray
    layer: int
    encoder: str

    def __post_init__(self) -> None:
        self._set(
            values=float_matrix("Vectors.values", self.values),
            start=int_array("Vectors.start", self.start),
            end=int_array("Vectors.end", self.end),
            special=bool_array("Vectors.special", self.special),
            word=int_array("Vectors.word", self.word),
        )
        same_length("Vectors", values=self.values, start=self.start, end=self.end, special=self.special, word=self.word)
        if isinstance(self.layer, bool) or not isinstance(self.layer, int):
            raise StructureError("Vectors.layer must be the number of a layer.")
        if not isinstance(self.encoder, str):
            raise StructureError("Vectors.encoder must be a name.")
        self._set(encoder=str.__str__(self.encoder))
        marked = self.special & ((self.start != -1) | (self.end != -1) | (self.word != -1))
        if marked.any():
            raise StructureError(f"sub-word {int(np.flatnonzero(marked)[0])} is a special token but has text.")
        bad = ~self.special & ((self.start < 0) | (self.start > self.end) | (self.word < -1))
        if bad.any():
            raise StructureError(f"sub-word {int(np.flatnonzero(bad)[0])} has offsets or a word that do not exist.")

    def check(self, tokens: Tokens) -> None:
        in_range("word of a sub-word", self.word, -1, len(tokens))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def size(self) -> int:
        """The number of dimensions."""
        return int(self.values.shape[1])

    def covered(self, n_words: int) -> BoolArray:
        """Which of the words have a sub-word, and with it a vector."""
        covered = np.zeros(n_words, np.bool_)
        covered[self.word[self.word >= 0]] = True
        return covered

    def words(self, n_words: int) -> FloatArray:
        """The mean sub-word vector of each word; zeros for a word without sub-words (see :meth:`covered`)."""
        return self.pooled(([word] for word in range(n_words)), mode="mean")

    def pooled(self, groups: Iterable[Sequence[int]], mode: Mode = "max") -> FloatArray:
        """One vector for each group of word positions: the maximum or mean, by dimension, over their sub-words.

        Pooling sub-words directly or over max-pooled words gives the same maximum. A group without sub-words
        gets zeros.
        """
        if mode not in ("max", "mean"):
            raise StructureError(f"unknown pooling mode {mode!r}; known: max, mean.")
        order = np.argsort(self.word, kind="stable")
        sorted_words = self.word[order]
        wanted = [np.asarray(group, np.int64) for group in groups]
        result = np.zeros((len(wanted), self.size), np.float32)
        for i, group in enumerate(wanted):
            low = np.searchsorted(sorted_words, group, "left")
            high = np.searchsorted(sorted_words, group, "right")
            rows = np.concatenate([order[a:b] for a, b in zip(low, high, strict=True)]) if len(group) else group
            if len(rows):
                chosen = self.values[rows]
                result[i] = chosen.max(axis=0) if mode == "max" else chosen.mean(axis=0)
        return result

    def pooled_spans(self, start: IntArray, end: IntArray, mode: Mode = "max") -> FloatArray:
        """One vector for each word span ``[start, end)``."""
        return self.pooled((range(i, j) for i, j in zip(start.tolist(), end.tolist(), strict=True)), mode)
