"""BERTScore (Zhang et al., ICLR 2020) on the vectors of an analysis."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arboreval.analysis.structures import Analysis
from arboreval.errors import InputError, UsageError
from arboreval.metrics.base import FloatArray, Level, MetricInfo, option
from arboreval.metrics.structural import StructuralMetric, harmonic
from arboreval.signature import SignatureValue

if TYPE_CHECKING:
    from arboreval.evidence import Evidence

Floats = NDArray[np.float32]
Triple = tuple[float, float, float]

#: mean P, R and F of 10,000 pairs of unrelated sentences (English Web Treebank, training part) on layer 7 of the
#: bundled encoder, measured with benchmarks/bertscore_baseline.py
BUNDLED_BASELINE: Triple = (0.270407, 0.270385, 0.264239)
BUNDLED_ENCODER = "arboreval-en"


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
        "",
        "scores of unrelated sentences, to spread the scale: a file (LAYER,P,R,F, as bert-score has them), or bundled",
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
        floor = self._floor(texts[text] for text in used)
        scores = {}
        for x, y in wanted:
            if len(weights[x]) and len(weights[y]):
                (mine, searching), (theirs, answering) = vectors[x], vectors[y]
                similarity = mine @ theirs.T
                # rounding must not make a match more than perfect
                p = float(weights[x] @ np.minimum(similarity[searching].max(axis=1), 1.0))
                r = float(weights[y] @ np.minimum(similarity[:, answering].max(axis=0), 1.0))
            else:
                p = r = float(len(weights[x]) == len(weights[y]))
            p, r, f = ((value - b) / (1 - b) for value, b in zip((p, r, harmonic(p, r)), floor, strict=True))
            scores[x, y] = p, r, f
        return scores

    def best(self, scores: Sequence[Triple]) -> Triple:
        p, r, f = (max(values) for values in zip(*scores, strict=True))
        return p, r, f

    def evidence(self, x: Analysis, y: Analysis) -> Evidence:
        """Which sub-word of hypothesis ``x`` found which of reference ``y``, and the other way round."""
        from arboreval.evidence import piece_evidence

        (mine, _), (theirs, _) = _unit(x), _unit(y)
        similarity = mine @ theirs.T if len(mine) and len(theirs) else np.zeros((len(mine), len(theirs)), np.float32)
        scores = self.pairs({x.text: x, y.text: y}, [(x.text, y.text)])[x.text, y.text]
        return piece_evidence((x, y), similarity, self._weights([x, y]), self._floor([x, y]), scores)

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

    def _floor(self, analyses: Iterable[Analysis]) -> Triple:
        """What unrelated sentences score."""
        vectors = next((analysis.vectors for analysis in analyses if analysis.vectors is not None), None)
        if not self.baseline or vectors is None:  # blank texts score 1 with any baseline
            return 0.0, 0.0, 0.0
        if self.baseline == "bundled":
            if vectors.encoder != BUNDLED_ENCODER:
                raise UsageError(f"{self.info.name}: baseline=bundled was measured with the bundled encoder.")
            return BUNDLED_BASELINE
        rows = _baseline(self.baseline)
        if vectors.layer not in rows:
            raise InputError(f"{self.baseline} has no row for layer {vectors.layer}.")
        return rows[vectors.layer]

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        fields = {**super().signature_fields(level)}
        if self.rarity is not None:
            fields["idf"] = f"{self.rarity.documents}refs/{self.rarity.digest}"
        if self.baseline != "bundled":
            fields["baseline"] = f"{Path(self.baseline).name}/{_digest(self.baseline)}" if self.baseline else None
        return fields


def _unit(analysis: Analysis) -> tuple[Floats, NDArray[np.bool_]]:
    """The sub-words' vectors with length 1, and which of them are no special tokens."""
    vectors = analysis.vectors
    if vectors is None:  # a blank text
        return np.zeros((0, 0), np.float32), np.zeros(0, np.bool_)
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
