"""Structure alignment (Chousa and Hirao, COLING 2025)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.structures import Analysis
from arboreval.errors import UsageError
from arboreval.metrics.base import Level, MetricInfo, option
from arboreval.metrics.structural import StructuralMetric, harmonic
from arboreval.metrics.subtrees import Inventory, Subtrees, subtrees
from arboreval.signature import SignatureValue

if TYPE_CHECKING:
    from arboreval.evidence import Evidence

#: texts whose subtrees are held at once: few, so that they stay near the processor
_CHUNK = 64
Weights = NDArray[np.float64]


@dataclass(frozen=True)
class StructureAlignment(StructuralMetric):
    """How well the subtrees of hypothesis x and reference y find each other (numbers of the paper's equations).

    v(s)[d]  = max over the sub-words k of subtree s of e_k[d]                                   (1)
    P        = 1/|I_x| * sum over s in I_x of max over t in I_y of sim(s, t)                     (2, 3)
    R        = 1/|I_y| * sum over t in I_y of max over s in I_x of sim(s, t)                     (4)
    F        = 2PR / (P + R)
    sim(s,t) = cos(v(s), v(t)) where s and t have the same feature (or there is no filter), else 0   (5)
    w(s)     = ln(words of s): with ``weighting=length``, P and R are means weighted by it          (6-8)

    I_x and I_y are the subtrees of :mod:`arboreval.metrics.subtrees`.
    """

    info = MetricInfo(
        name="structure-alignment",
        summary="subtrees of output and reference aligned by their contextual vectors",
        definition=(
            "P is the mean over the subtrees of the output of their best cosine with a subtree of the reference, R "
            "the same the other way round, F = 2PR / (P + R). A subtree's vector is the maximum, by dimension, of the "
            "vectors of its sub-words. With a filter, only subtrees with the same label or head word are compared. "
            "System score: mean F of the segments."
        ),
        higher_is_better=True,
        scale=(-1.0, 1.0),
        languages=("en",),
        citation="Chousa, Hirao. A structure-alignment metric. COLING 2025 (2025.coling-main.512).",
    )

    tree: str = option("const", "whose subtrees: dependency or constituency tree", choices=("dep", "const"))
    filter: str = option(
        "none",
        "compare only subtrees with the same label (dependencies: the relation of the top) or the same head word",
        choices=("none", "label", "head"),
    )
    weighting: str = option(
        "none", "length weighs subtrees by the logarithm of their words", choices=("none", "length")
    )
    scheme: str = option(
        "ud", "dependencies: as Universal Dependencies has them, or with prepositions as heads",
        choices=("ud", "prep-head"),
    )  # fmt: skip
    dedup: str = option(
        "positions", "dependencies: keep subtrees of the same words once, or as often as they arise",
        choices=("positions", "none"),
    )  # fmt: skip
    include_tokens: bool = option(True, "constituents: words that are no phrase of their own are subtrees too")
    collapse_unary: bool = option(True, "constituents: phrases over the same words are one subtree")
    drop_punct: bool = option(False, "leave punctuation out")
    min_len: int = option(1, "fewest words of a subtree")
    max_len: int = option(12, "most words of a subtree; 0 for no limit")
    leaves: str = option(
        "piece", "subtrees of one word: the word, or its sub-words one by one", choices=("word", "piece")
    )
    refs: str = option("max", "several references: the one with the best F, or the mean", choices=("max", "mean"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_len < 1 or self.max_len < 0 or 0 < self.max_len < self.min_len:
            raise UsageError(f"{self.info.name}: min_len must be at least 1, and max_len 0 or at least min_len.")

    @property
    def layers(self) -> frozenset[str]:
        return frozenset({"tokens", self.tree, "vectors"})

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(
            tree=self.tree,
            feature=self.filter,
            scheme=self.scheme,
            dedup=self.dedup,
            include_tokens=self.include_tokens,
            collapse_unary=self.collapse_unary,
            drop_punct=self.drop_punct,
            min_len=self.min_len,
            max_len=self.max_len,
            leaves=self.leaves,
        )

    def pairs(
        self, texts: Mapping[str, Analysis], wanted: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[float, float, float]]:
        scores: dict[tuple[str, str], tuple[float, float, float]] = {}
        at = 0
        while at < len(wanted):
            row: dict[str, int] = {}
            end = at
            while end < len(wanted) and (end == at or len(row) < _CHUNK):
                for text in wanted[end]:
                    row.setdefault(text, len(row))
                end += 1
            found = self.subtrees([texts[text] for text in row])
            for x, y in wanted[at:end]:
                scores[x, y] = self.align(found, row[x], row[y]).scores
            at = end
        return scores

    def subtrees(self, analyses: Sequence[Analysis]) -> Subtrees:
        return subtrees(analyses, self.inventory)

    def align(self, found: Subtrees, x: int, y: int) -> Alignment:
        """Aligns the subtrees of text ``x`` with those of text ``y``."""
        mine, theirs = found.of(x), found.of(y)
        similarity = found.vector[mine] @ found.vector[theirs].T
        if self.filter != "none":
            similarity *= found.feature[mine, None] == found.feature[None, theirs]
        return Alignment(similarity, self._weights(found.length[mine]), self._weights(found.length[theirs]))

    def evidence(self, x: Analysis, y: Analysis) -> Evidence:
        """Which subtree of hypothesis ``x`` found which of reference ``y``, and the other way round."""
        from arboreval.evidence import subtree_evidence

        found = self.subtrees([x, y])
        return subtree_evidence((x, y), self.inventory, found, self.align(found, 0, 1))

    def _weights(self, length: NDArray[np.int64]) -> Weights:
        """The share of each subtree in P or R."""
        weights = np.log(length) if self.weighting == "length" else np.ones(len(length))
        if not weights.any():  # one-word subtrees only: spec 8
            weights = np.ones(len(length))
        return np.asarray(weights / weights.sum() if len(weights) else weights)

    def best(self, scores: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
        if self.refs == "max":
            return max(scores, key=lambda score: score[2])
        p, r, f = (float(value) for value in np.mean(scores, axis=0))
        return p, r, f

    def remark(self, analysis: Analysis) -> str:
        tree = analysis.dependency if self.tree == "dep" else analysis.constituency
        if tree is None and len(analysis):
            return f"no parse: the text counts as one flat subtree and its words ({analysis.reason or 'no tree'})"
        return analysis.reason

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        fields = {**super().signature_fields(level)}
        # options that do nothing to this tree
        for name in ("include_tokens", "collapse_unary") if self.tree == "dep" else ("scheme", "dedup"):
            del fields[name]
        return fields


@dataclass(frozen=True, eq=False)
class Alignment:
    """Similarities of the subtrees of two texts, hypothesis by reference, and the share of each subtree."""

    similarity: NDArray[np.float32]
    x_weight: Weights
    y_weight: Weights

    @cached_property
    def x_best(self) -> NDArray[np.float64]:
        """How well each subtree of the hypothesis is matched; rounding must not make it more than perfectly."""
        return self._best(1)

    @cached_property
    def y_best(self) -> NDArray[np.float64]:
        return self._best(0)

    def _best(self, axis: int) -> NDArray[np.float64]:
        if not self.similarity.size:
            return np.zeros(self.similarity.shape[1 - axis])
        best: NDArray[np.float64] = self.similarity.max(axis=axis).astype(np.float64)
        return np.minimum(best, 1.0)

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F; two texts without words are equal, one without is nothing like the other."""
        if not self.similarity.size:
            same = float(self.similarity.shape == (0, 0))
            return same, same, same
        p, r = float(self.x_weight @ self.x_best), float(self.y_weight @ self.y_best)
        return p, r, harmonic(p, r)
