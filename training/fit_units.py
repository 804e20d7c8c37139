"""Fits the signs in words, tags and dependency trees that help to find where discourse units start.

    python training/fit_units.py --model DIR --data OUT

`--data` is what prepare.py wrote: GUM without the genres under non-commercial terms. The analyzer in DIR tags and
parses the training sentences; the weights of the signs (`arboreval.analysis.english.units`) are a logistic regression
on them with an L1 penalty, which leaves few. The network has seen the training sentences, so how far to trust it beside
the signs cannot be learned there: its share, that of the signs and the bias are fitted on the development sentences.
The result goes into DIR/config.json, whose line in DIR/manifest.json is renewed; no other file changes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from arboreval.analysis.english.analyzer import EnglishAnalyzer
from arboreval.analysis.english.units import Sentence, UnitSigns, signs

#: a sign must be seen this often; its weight must be worth this much
FEWEST, PENALTY, SHRINK = 10, 1.0, 0.3
#: beyond this the network's score is left alone: looking further changes nothing on the development sentences
DOUBT = 8.0


@dataclass(frozen=True)
class Recorder(UnitSigns):
    """Stands in the analyzer where the fitted signs will stand, and writes down what they would be asked."""

    seen: list[tuple[Sentence, Sequence[float]]] = field(default_factory=list)

    def starts(self, sentence: Sentence, words: Sequence[int], scores: Sequence[float]) -> list[bool]:
        self.seen.append((sentence, scores))
        return [score > 0 for score in scores]


@dataclass
class Split:
    """All words of some sentences but the first of each, and how many sentences there are."""

    signs: list[list[str]]
    scores: NDArray[np.float64]
    gold: NDArray[np.float64]
    sentences: int

    def f1(self, scores: NDArray[np.float64]) -> float:
        """F1 of all starts, the first words of sentences included."""
        found, gold = scores > 0, self.gold > 0
        return 2 * (int((found & gold).sum()) + self.sentences) / (int(found.sum() + gold.sum()) + 2 * self.sentences)


def read(english: EnglishAnalyzer, path: Path) -> Split:
    recorder = Recorder({}, 1.0, 0.0, float("inf"))
    english.model.unit_signs = recorder
    scores: list[float] = []
    gold: list[int] = []
    found: list[list[str]] = []
    sentences = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["edu"]]
    for row in rows:
        words = [(form, bool(space)) for form, space in zip(row["words"], row["space"], strict=True)]
        recorder.seen.clear()
        list(english.analyze_words([words]))
        # a sentence longer than the encoder takes is several
        if len(recorder.seen) == 1 and len(recorder.seen[0][0].forms) == len(words):
            sentence, own = recorder.seen[0]
            found += signs(sentence, range(1, len(words)))
            scores += own
            gold += row["edu"][1:]
        sentences += 1
    return Split(found, np.array(scores), np.array(gold, np.float64), sentences)


def matrix(rows: Sequence[Sequence[str]], number: dict[str, int]) -> csr_matrix:
    columns, ends = [], [0]
    for row in rows:
        columns += sorted({number[sign] for sign in row if sign in number})
        ends.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(number)))


def loss(z: NDArray[np.float64], gold: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Logistic loss and its slope."""
    return float((np.logaddexp(0, z) - gold * z).sum()), 1 / (1 + np.exp(-z)) - gold


def fit_signs(x: csr_matrix, gold: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias with the least loss + PENALTY |w| + SHRINK w²/2. Each weight is the difference of two numbers
    that are not below 0, so that the penalty has a slope everywhere."""
    across, size = x.T.tocsr(), x.shape[1]

    def objective(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        w = v[:size] - v[size:-1]
        value, slope = loss(x @ w + v[-1], gold)
        up = across @ slope + SHRINK * w
        value += PENALTY * float(v[:-1].sum()) + SHRINK / 2 * float(w @ w)
        return value, np.concatenate([up + PENALTY, PENALTY - up, [slope.sum()]])

    bounds = [(0, None)] * (2 * size) + [(None, None)]
    v = minimize(
        objective, np.zeros(2 * size + 1), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 400}
    ).x
    return v[:size] - v[size:-1], float(v[-1])


def fit_shares(parts: NDArray[np.float64], gold: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weight of each column with the least loss."""

    def objective(share: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = loss(parts @ share, gold)
        return value, parts.T @ slope

    return np.asarray(minimize(objective, np.full(parts.shape[1], 0.5), jac=True, method="L-BFGS-B").x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()
    english = EnglishAnalyzer(folder=str(args.model)).for_layers({"tokens", "rst"})
    train, dev = (read(english, args.data / f"{split}.jsonl.gz") for split in ("train", "dev"))
    counts = Counter(sign for row in train.signs for sign in row)
    number = {sign: k for k, sign in enumerate(sorted(sign for sign, count in counts.items() if count >= FEWEST))}
    weight, bias = fit_signs(matrix(train.signs, number), train.gold)
    own = matrix(dev.signs, number) @ weight + bias
    network, share, shift = fit_shares(np.stack([dev.scores, own, np.ones_like(own)], axis=1), dev.gold).tolist()
    weights = {sign: round(share * float(weight[k]), 3) for sign, k in number.items()}
    weights = {sign: value for sign, value in weights.items() if value}
    fitted = UnitSigns(weights, round(network, 3), round(shift + share * bias, 3), DOUBT)
    together = np.array([sum(weights.get(sign, 0.0) for sign in row) for row in dev.signs])
    together += fitted.network * dev.scores + fitted.bias
    print(f"{len(weights)} signs; network {fitted.network}, bias {fitted.bias}")
    print(f"dev: network {dev.f1(dev.scores):.4f}, signs {dev.f1(own):.4f}, both {dev.f1(together):.4f}")
    final = np.where(np.abs(dev.scores) < DOUBT, together, dev.scores)
    print(f"dev, signs only where the network is in doubt: {dev.f1(final):.4f}")

    path = args.model / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["units"]["signs"] = {
        "network": fitted.network, "bias": fitted.bias, "doubt": fitted.doubt, "weights": weights,
    }  # fmt: skip
    path.write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    manifest = json.loads((args.model / "manifest.json").read_text(encoding="utf-8"))
    manifest["config.json"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (args.model / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
