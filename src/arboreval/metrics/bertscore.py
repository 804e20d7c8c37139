"""BERTScore (Zhang et al., ICLR 2020) on the vectors of an analysis."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.structures import Analysis
from arboreval.errors import InputError
from arboreval.metrics.base import FloatArray, Level, MetricInfo, option
from arboreval.metrics.structural import StructuralMetric, harmonic
from arboreval.signature import SignatureValue

Floats = NDArray[np.float32]
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Rarity:
    """How rare sub-words are among M references: idf(w) = ln((M + 1) / (number of references with w + 1))."""

    documents: int
    counts: Mapping[int, int]
    digest: str

    def __hash__(self) -> int:
        return hash(self.digest)

    def weights(self, pieces: Sequence[int]) -> FloatArray:
        counts = np.array([self.counts.get(piece, 0) for piece in pieces], np.float64)
        weights: FloatArray = np.log((self.documents + 1) / (counts + 1))
        return weights


@dataclass(frozen=True)
class BertScore(StructuralMetric):
    """Every sub-word finds its most similar sub-word on the other side (numbers of section 3 of the paper).

    R = sum over x_i in x of w(x_i) max over y_j in y of cos(x_i, y_j) / sum over x_i in x of w(x_i)   with reference x
    P = the same with the sides exchanged;   F = 2PR / (P + R)
    w = 1, or with ``idf`` -ln of the share of references that hold the sub-word, plus-one smoothed
    With a baseline b, each of P, R and F becomes (value - b) / (1 - b).

    As in the package bert-score, the special tokens can be found but do not count among those that search, and of
    several references each of P, R and F is the best.
    """

    info = MetricInfo(
        name="bertscore",
        summary="sub-words of output and reference matched by their contextual vectors",
        definition=(
            "P is the mean over the sub-words of the output of their best cosine with a sub-word of the reference, R "
            "the same the other way round, F = 2PR / (P + R); by default on layer 7 of the bundled encoder. "
            "System score: mean F of the segments."
        ),
        higher_is_better=True,
        scale=(None, 1.0),
        languages=("en",),
        citation="Zhang, Kishore, Wu, Weinberger, Artzi. BERTScore: evaluating text generation with BERT. ICLR 2020.",
    )

    idf: bool = option(False, "rare sub-words count for more; how rare is counted in the references")
    baseline: str = option(
        "", "file with the scores of unrelated sentences (LAYER,P,R,F, as bert-score has them), to spread the scale"
    )

    #: set by :meth:`fitted`
    rarity: Rarity | None = field(default=None, kw_only=True, repr=False)

    @property
    def layers(self) -> frozenset[str]:
        return frozenset({"vectors"})

    def fitted(self, references: Iterable[Sequence[str]]) -> BertScore:
        if not self.idf or self.rarity is not None:
            return self
        counts: Counter[int] = Counter()
        digest, documents = blake2b(digest_size=6), 0
        texts = [text for texts in references for text in texts]
        for text, pieces in zip(texts, self.using.pieces(texts), strict=True):
            counts.update(set(pieces))
            digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
            documents += 1
        return replace(self, rarity=Rarity(documents, counts, digest.hexdigest()))

    def pairs(self, texts: Mapping[str, Analysis], wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Triple]:
        used = list(dict.fromkeys(text for pair in wanted for text in pair))
        weights = dict(zip(used, self._weights([texts[text] for text in used]), strict=True))
        vectors = {text: _unit(texts[text]) for text in used}
        floor = self._floor(next(iter(texts.values()))) if wanted and self.baseline else (0.0, 0.0, 0.0)
        scores = {}
        for x, y in wanted:
            if not len(weights[x]) or not len(weights[y]):
                same = float(not len(weights[x]) and not len(weights[y]))
                scores[x, y] = same, same, same
                continue
            (mine, searching), (theirs, answering) = vectors[x], vectors[y]
            similarity = mine @ theirs.T
            # rounding must not make a match more than perfect
            p = float(weights[x] @ np.minimum(similarity[searching].max(axis=1), 1.0))
            r = float(weights[y] @ np.minimum(similarity[:, answering].max(axis=0), 1.0))
            p, r, f = ((value - b) / (1 - b) for value, b in zip((p, r, harmonic(p, r)), floor, strict=True))
            scores[x, y] = p, r, f
        return scores

    def best(self, scores: Sequence[Triple]) -> Triple:
        p, r, f = (max(values) for values in zip(*scores, strict=True))
        return p, r, f

    def _weights(self, analyses: Sequence[Analysis]) -> list[FloatArray]:
        """The share of each sub-word in P or R."""
        vectors = [analysis.vectors for analysis in analyses]
        ones = [np.ones(0 if v is None else int((~v.special).sum())) for v in vectors]
        found: Sequence[FloatArray] = ones
        if self.rarity is not None:
            pieces = self.using.pieces([analysis.text for analysis in analyses])
            # a text all of whose sub-words are in every reference has no rare ones: then all count alike
            rare = map(self.rarity.weights, pieces)
            found = [w if w.any() else one for w, one in zip(rare, ones, strict=True)]
        return [w / w.sum() if len(w) else w for w in found]

    def _floor(self, analysis: Analysis) -> Triple:
        layer = analysis.vectors.layer if analysis.vectors is not None else 0
        rows = _baseline(self.baseline)
        if layer not in rows:
            raise InputError(f"{self.baseline} has no row for layer {layer}.")
        return rows[layer]

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        fields = {**super().signature_fields(level)}
        if self.rarity is not None:
            fields["idf"] = f"{self.rarity.documents}refs/{self.rarity.digest}"
        fields["baseline"] = f"{Path(self.baseline).name}/{_digest(self.baseline)}" if self.baseline else None
        return fields


def _unit(analysis: Analysis) -> tuple[Floats, NDArray[np.bool_]]:
    """The sub-words' vectors with length 1, and which of them are no special tokens."""
    vectors = analysis.vectors
    if vectors is None:
        raise ValueError("BERTScore needs vectors.")
    norm = np.sqrt(np.einsum("ij,ij->i", vectors.values, vectors.values))[:, None]
    norm[norm == 0] = 1  # a vector of zeros stays one: its cosine with anything is 0
    return vectors.values / norm, ~vectors.special


def _baseline(path: str) -> dict[int, Triple]:
    """By layer, the scores of unrelated sentences."""
    rows: dict[int, Triple] = {}
    for number, row in enumerate(csv.reader(_read(path).decode("utf-8", "replace").splitlines()), 1):
        if number == 1 and row[:1] == ["LAYER"]:
            continue
        try:
            layer, p, r, f = int(row[0]), *map(float, row[1:])
        except (ValueError, IndexError):
            raise InputError(f"{path}, line {number}: expected LAYER,P,R,F.") from None
        if not all(math.isfinite(value) and value < 1 for value in (p, r, f)):
            raise InputError(f"{path}, line {number}: a baseline must be a number below 1.")
        rows[layer] = p, r, f
    return rows


def _digest(path: str) -> str:
    return blake2b(_read(path), digest_size=4).hexdigest()


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the baseline {path} cannot be read: {error.strerror}.") from error
