"""What a score is made of: which part of one text was matched with which part of the other, and how well.

P is the sum of the contributions of the hypothesis' parts, R that of the reference's. A text without words has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.dependency_views import case_as_head
from arboreval.analysis.structures import Analysis, ConstituencyTree, DependencyTree
from arboreval.metrics.subtrees import DESCENDANTS, PATH, PIECE, SPAN, WORD, Inventory, Subtrees

if TYPE_CHECKING:
    from arboreval.metrics.structure_alignment import Alignment

Tree = DependencyTree | ConstituencyTree
Floats = NDArray[np.float64]
Triple = tuple[float, float, float]

KINDS = {PIECE: "piece", WORD: "word", PATH: "path", DESCENDANTS: "descendants", SPAN: "span"}
#: a special token of the encoder: BERTScore's sub-words can find it, but it searches for nothing
SPECIAL = "special"


@dataclass(frozen=True)
class Part:
    """A subtree or sub-word, and what it found on the other side."""

    kind: str
    #: positions of its words, in the order of the text
    words: tuple[int, ...]
    #: as it is shown: a path from its top to its leaf, a sub-word within its word
    text: str
    #: label of the phrase, tag of the word, relation of the top
    label: str = ""
    #: what had to be equal on the other side, if something had to
    feature: str | None = None
    #: characters of a sub-word
    chars: tuple[int, int] | None = None
    #: the nodes of the tree that it is: phrases over the same words, or the top word in a dependency tree
    nodes: tuple[int, ...] = ()
    #: number of the most similar part of the other side; None if there was nothing to compare it with, or all the
    #: similarities were 0
    partner: int | None = None
    similarity: float = 0.0
    #: share in P or R; all of a side sum to 1
    weight: float = 0.0
    contribution: float = 0.0

    @property
    def loss(self) -> float:
        """What P or R lacks because of it."""
        return self.weight - self.contribution


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two texts with its words and parts."""

    analysis: Analysis
    #: characters of each word
    words: tuple[tuple[int, int], ...]
    #: the tree that the parts are taken from, as the metric sees it
    tree: Tree | None
    parts: tuple[Part, ...]
    #: the phrases of a constituency tree that are one subtree
    chains: tuple[tuple[int, ...], ...] = ()

    @property
    def text(self) -> str:
        return self.analysis.text

    @cached_property
    def forms(self) -> list[str]:
        return [self.text[i:j] for i, j in self.words]

    @cached_property
    def weakest(self) -> list[int]:
        """The parts that count, the least similar first; those without a partner before all others."""
        counting = [i for i, part in enumerate(self.parts) if part.weight > 0]
        # rounded, so that parts that are as similar as others stay in their order whatever the last bits are
        return sorted(counting, key=lambda i: (self.parts[i].partner is not None, round(self.parts[i].similarity, 6)))


@dataclass(frozen=True, eq=False)
class Evidence:
    """How the parts of a hypothesis and of one reference found each other."""

    hypothesis: Side
    reference: Side
    precision: float
    recall: float
    f: float
    #: what the metric calls a part
    noun: str = field(default="subtree")

    @property
    def scores(self) -> Triple:
        return self.precision, self.recall, self.f


@runtime_checkable
class HasEvidence(Protocol):
    """A metric whose score is a sum over parts of both texts."""

    def evidence(self, x: Analysis, y: Analysis) -> Evidence:
        """What the parts of ``x`` and ``y`` found; the scores are those of the metric."""


def subtree_evidence(
    analyses: tuple[Analysis, Analysis], inventory: Inventory, found: Subtrees, alignment: Alignment
) -> Evidence:
    """The evidence of structure alignment: the subtrees of two texts and their similarities."""
    x, y = (_subtree_side(analysis, inventory, found, t) for t, analysis in enumerate(analyses))
    possible = found.feature[found.of(0), None] == found.feature[None, found.of(1)]
    similarity = alignment.similarity
    return Evidence(
        replace(x, parts=_matched(x.parts, similarity, possible, alignment.x_weight)),
        replace(y, parts=_matched(y.parts, similarity.T, possible.T, alignment.y_weight)),
        *alignment.scores,
    )


def piece_evidence(
    analyses: tuple[Analysis, Analysis],
    similarity: NDArray[np.float32],
    weights: Sequence[Floats],
    floor: Triple,
    scores: Triple,
) -> Evidence:
    """The evidence of BERTScore. ``similarity`` has special tokens, ``weights`` have not; ``floor`` is the baseline."""
    x, y = map(_piece_side, analyses)
    empty = not all(map(len, weights))
    sides = []
    for side, own, matrix, b in ((x, weights[0], similarity, floor[0]), (y, weights[1], similarity.T, floor[1])):
        searching = np.array([part.kind != SPECIAL for part in side.parts], np.bool_)
        possible = np.repeat(searching[:, None] & (not empty), matrix.shape[1], axis=1)
        shares = np.zeros(len(side.parts))
        shares[searching] = own
        parts = _matched(side.parts, np.where(possible, matrix, 0), possible, shares, b)
        sides.append(replace(side, parts=parts))
    return Evidence(sides[0], sides[1], *scores, noun="sub-word")


def _matched(
    parts: Sequence[Part],
    similarity: NDArray[np.float32],
    possible: NDArray[np.bool_],
    weights: Floats,
    floor: float = 0.0,
) -> tuple[Part, ...]:
    """Each row's best column. What cannot be compared has the similarity 0, and may be the best that there is."""
    if not similarity.shape[1]:  # the other side is empty
        similarity, possible = np.zeros((len(parts), 1), np.float32), np.zeros((len(parts), 1), np.bool_)
    best = similarity.argmax(axis=1)
    value = np.minimum(similarity[np.arange(len(parts)), best].astype(np.float64), 1.0)
    return tuple(
        replace(
            part,
            partner=int(best[i]) if possible[i, best[i]] and value[i] else None,
            similarity=float(value[i]),
            weight=float(weights[i]),
            contribution=float(weights[i] * (value[i] - floor) / (1 - floor)),
        )
        for i, part in enumerate(parts)
    )


# --- subtrees ----------------------------------------------------------------------------------------------------


def _subtree_side(analysis: Analysis, inventory: Inventory, found: Subtrees, t: int) -> Side:
    # words without a vector, and punctuation where it is dropped, are in no subtree
    kept = np.zeros(0, np.bool_) if analysis.vectors is None else analysis.vectors.covered(len(analysis))
    if inventory.drop_punct:
        kept &= np.array([tag != "PUNCT" for tag in analysis.tokens.upos], np.bool_)
    make = _DependencyParts if inventory.tree == "dep" else _ConstituencyParts
    maker = make(analysis, inventory, kept)
    rows = found.of(t)
    columns = (found.kind[rows], found.first[rows], found.last[rows], found.feature[rows])
    parts = []
    for kind, first, last, feature in zip(*(column.tolist() for column in columns), strict=True):
        part = maker.part(kind, first, last)
        parts.append(part if inventory.feature == "none" else replace(part, feature=found.names[feature]))
    return Side(analysis, tuple(maker.words), maker.tree, tuple(parts), maker.chains)


class _Parts:
    """Makes the parts of one text from the rows of the table of subtrees."""

    tree: Tree | None
    chains: tuple[tuple[int, ...], ...] = ()

    def __init__(self, analysis: Analysis, inventory: Inventory, kept: NDArray[np.bool_]) -> None:
        self.text, self.forms, self.kept = analysis.text, analysis.words, kept
        self.words = _spans(analysis)
        self.pieces = _pieces_of_words(analysis)

    def part(self, kind: int, first: int, last: int) -> Part:
        if kind == PIECE:
            return self._piece(first, last)
        if kind == WORD:
            return self._leaf("word", last, self.forms[last])
        if kind == SPAN:
            return self._span(tuple(w for w in range(first, last) if self.kept[w]))
        return self._below(kind, first, last)

    def _piece(self, number: int, word: int) -> Part:
        chars = self.pieces[word][number]
        return replace(self._leaf("piece", word, _within(self.text, chars, self.words[word])), chars=chars)

    def _leaf(self, kind: str, word: int, text: str) -> Part:
        return Part(kind, (word,), text)

    def _span(self, words: tuple[int, ...]) -> Part:
        return Part("span", words, self.joined(words))

    def _below(self, kind: int, first: int, last: int) -> Part:
        raise ValueError(f"there are no {KINDS[kind]} in this tree.")

    def joined(self, words: Sequence[int]) -> str:
        """Words in text order, with dots where something else stands between them."""
        shown: list[str] = []
        for i, word in enumerate(words):
            if i and words[i - 1] != word - 1:
                shown.append("…")
            shown.append(self.forms[word])
        return " ".join(shown)


class _DependencyParts(_Parts):
    def __init__(self, analysis: Analysis, inventory: Inventory, kept: NDArray[np.bool_]) -> None:
        super().__init__(analysis, inventory, kept)
        tree = analysis.dependency
        if tree is not None and inventory.scheme == "prep-head":
            tree = case_as_head(tree, analysis.tokens)
        self.tree: DependencyTree | None = tree

    def _leaf(self, kind: str, word: int, text: str) -> Part:
        if self.tree is None:
            return super()._leaf(kind, word, text)
        return Part(kind, (word,), text, self.tree.relation[word], nodes=(word,))

    def _below(self, kind: int, first: int, last: int) -> Part:
        if self.tree is None:
            return super()._below(kind, first, last)
        if kind == DESCENDANTS:
            words = [w for w in self.tree.subtree(first) if self.kept[w]]
            text = self.joined(words)
        else:
            way = self.tree.path_to_root(last)
            words = [w for w in way[: way.index(first) + 1] if self.kept[w]]
            text = " → ".join(self.forms[w] for w in reversed(words))
        return Part(KINDS[kind], tuple(sorted(words)), text, self.tree.relation[first], nodes=(first,))


class _ConstituencyParts(_Parts):
    def __init__(self, analysis: Analysis, inventory: Inventory, kept: NDArray[np.bool_]) -> None:
        super().__init__(analysis, inventory, kept)
        self.tree: ConstituencyTree | None = analysis.constituency
        self.tags = analysis.tokens.xpos
        #: by words, the subtrees over them that are still to be met, each with its phrases
        self.over: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        self.phrase: dict[int, tuple[int, ...]] = {}
        if self.tree is None:
            return
        tree = self.tree
        for node in range(len(tree)):
            words = tuple(w for w in range(int(tree.start[node]), int(tree.end[node])) if kept[w])
            if tree.parent[node] < 0:
                continue
            chains = self.over.setdefault(words, [])
            if chains and words and inventory.collapse_unary:
                chains[-1] = (*chains[-1], node)
            else:
                chains.append((node,))
        self.chains = tuple(chain for chains in self.over.values() for chain in chains)
        # the upper phrase over one word is that word's own subtree
        for words, chains in self.over.items():
            if len(words) == 1:
                self.phrase[words[0]] = chains.pop(0)

    def _leaf(self, kind: str, word: int, text: str) -> Part:
        nodes = self.phrase.get(word, ())
        return Part(kind, (word,), text, self._label(nodes) or self.tags[word], nodes=nodes)

    def _span(self, words: tuple[int, ...]) -> Part:
        if self.tree is None:
            return super()._span(words)
        # subtrees over the same words come in the order of their phrases
        nodes = self.over[words].pop(0)
        return Part("span", words, self.joined(words), self._label(nodes), nodes=nodes)

    def _label(self, nodes: Sequence[int]) -> str:
        if not nodes or self.tree is None:
            return ""
        label = self.tree.label[nodes[0]]
        return label.split("-")[0] or label


# --- sub-words ---------------------------------------------------------------------------------------------------


def _spans(analysis: Analysis) -> list[tuple[int, int]]:
    """The characters of each word."""
    return list(zip(analysis.tokens.start.tolist(), analysis.tokens.end.tolist(), strict=True))


def _first_letter(text: str, i: int, j: int) -> int:
    """Where a sub-word starts if the space before it, which some encoders count to it, is left out."""
    return j - len(text[i:j].lstrip())


def _within(text: str, piece: tuple[int, int], word: tuple[int, int]) -> str:
    """A sub-word as part of its word: ``[tele]scope``."""
    i, j = _first_letter(text, *piece), piece[1]
    start, end = word
    if (i, j) == word or not start <= i <= j <= end:
        return text[i:j]
    return f"{text[start:i]}[{text[i:j]}]{text[j:end]}"


def _pieces_of_words(analysis: Analysis) -> list[list[tuple[int, int]]]:
    """The characters of each word's sub-words."""
    pieces: list[list[tuple[int, int]]] = [[] for _ in range(len(analysis))]
    vectors = analysis.vectors
    if vectors is not None:
        for word, i, j in zip(vectors.word.tolist(), vectors.start.tolist(), vectors.end.tolist(), strict=True):
            if word >= 0:
                pieces[word].append((i, j))
    return pieces


def _piece_side(analysis: Analysis) -> Side:
    """All sub-words of a text. An encoder alone gives no words; then they are what stands between spaces."""
    vectors, text = analysis.vectors, analysis.text
    if vectors is None:  # a blank text
        return Side(analysis, (), None, ())
    words = _spans(analysis) or [match.span() for match in re.finditer(r"\S+", text)]
    starts = np.array([i for i, _ in words], np.int64)
    parts = []
    for special, i, j in zip(vectors.special.tolist(), vectors.start.tolist(), vectors.end.tolist(), strict=True):
        if special:
            parts.append(Part(SPECIAL, (), "special token"))
            continue
        word = max(int(np.searchsorted(starts, _first_letter(text, i, j), side="right")) - 1, 0)
        shown = _within(text, (i, j), words[word]) if words else text[i:j]
        parts.append(Part("piece", (word,) if words else (), shown, chars=(i, j)))
    return Side(analysis, tuple(words), None, tuple(parts))
