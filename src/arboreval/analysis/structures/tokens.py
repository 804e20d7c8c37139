"""The words of a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arboreval.analysis.structures.base import IntArray, Structure, int_array, same_length, strings
from arboreval.errors import StructureError


@dataclass(frozen=True, eq=False)
class Tokens(Structure):
    """Words with character offsets into the raw text, sentence numbers, tags and lemmas ("" where unknown)."""

    start: IntArray
    end: IntArray
    #: sentence of each word: 0, 1, ... without gaps
    sentence: IntArray
    #: universal part of speech, Penn Treebank tag, lemma
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    lemma: tuple[str, ...]

    def __post_init__(self) -> None:
        self._set(
            start=int_array("Tokens.start", self.start),
            end=int_array("Tokens.end", self.end),
            sentence=int_array("Tokens.sentence", self.sentence),
            upos=strings("Tokens.upos", self.upos),
            xpos=strings("Tokens.xpos", self.xpos),
            lemma=strings("Tokens.lemma", self.lemma),
        )
        n = same_length(
            "Tokens",
            start=self.start,
            end=self.end,
            sentence=self.sentence,
            upos=self.upos,
            xpos=self.xpos,
            lemma=self.lemma,
        )
        if n == 0:
            return
        empty = np.flatnonzero(self.start >= self.end)
        if empty.size:
            raise StructureError(f"word {int(empty[0])} covers no characters.")
        if self.start[0] < 0:
            raise StructureError("word 0 starts before the text.")
        overlapping = np.flatnonzero(self.start[1:] < self.end[:-1])
        if overlapping.size:
            i = int(overlapping[0])
            raise StructureError(
                f"word {i + 1} starts at character {int(self.start[i + 1])}, inside or before word {i}."
            )
        steps = np.diff(self.sentence)
        if self.sentence[0] != 0 or ((steps != 0) & (steps != 1)).any():
            raise StructureError("sentence numbers must start at 0 and grow by at most 1 from word to word.")

    @classmethod
    def empty(cls) -> Tokens:
        nothing = np.zeros(0, np.int32)
        return cls(nothing, nothing, nothing, (), (), ())

    def __len__(self) -> int:
        return len(self.start)

    def forms(self, text: str) -> list[str]:
        """The words as they stand in ``text``."""
        return [text[i:j] for i, j in zip(self.start.tolist(), self.end.tolist(), strict=True)]

    def lower_forms(self, text: str) -> list[str]:
        """The words in lower case, for comparisons that ignore it."""
        return [form.lower() for form in self.forms(text)]

    def space_after(self, text: str) -> list[bool]:
        """Whether white space follows each word. True for a word that ends the text, as CoNLL-U has it."""
        return [j >= len(text) or text[j].isspace() for j in self.end.tolist()]

    @cached_property
    def n_sentences(self) -> int:
        return int(self.sentence[-1]) + 1 if len(self) else 0

    def sentence_spans(self) -> list[tuple[int, int]]:
        """The word range of each sentence."""
        if not len(self):
            return []
        starts = [0, *(np.flatnonzero(np.diff(self.sentence)) + 1).tolist()]
        return list(zip(starts, [*starts[1:], len(self)], strict=True))

    def char_span(self, start: int, end: int) -> tuple[int, int]:
        """The character range of the words ``[start, end)``."""
        return int(self.start[start]), int(self.end[end - 1])
