"""Fits two heads anew on the word vectors of the exported, quantised encoder.

    python training/refit.py --model DIR --weights W.safetensors --data DATA --out W2.safetensors

Merging and quantising move the word vectors a little; heads that are sensitive to it learn the move. The head for
discourse units also gets the two neighbours of each word, since a unit starts where one clause ends and another begins.
The encoder is not touched, so all other results stay as they are. Settings were chosen on the development set.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from arboreval.analysis.english.analyzer import Document, EnglishAnalyzer

IGNORE = -100


def word_vectors(english: EnglishAnalyzer, rows: list[dict]) -> list[Tensor]:
    """The vectors the heads see, one sentence at a time."""
    documents = []
    for row in rows:
        text, spans = "", []
        for form, space in zip(row["words"], row["space"], strict=True):
            spans.append((len(text), len(text) + len(form)))
            text += form + " " * space
        documents.append(Document(text, english._pieces, spans))
    found: dict[int, Tensor] = {}
    fits = [(d, 0, len(d.forms)) for d in documents if len(d.ids) <= english.limit]
    for batch in english._batches(fits):
        words = torch.from_numpy(english._encode(batch)[0]).half()
        for (document, _, _), part in zip(batch, words.split([size for _, _, size in batch]), strict=True):
            found[id(document)] = part
    return [found.get(id(document)) for document in documents]


def read(data: Path, split: str, layer: str) -> list[dict]:
    with gzip.open(data / f"{split}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [row for row in map(json.loads, file) if row[layer]]


def with_neighbours(x: Tensor) -> Tensor:
    outside = torch.zeros_like(x[:1])
    return torch.cat([x, torch.cat([outside, x[:-1]]), torch.cat([x[1:], outside])], 1)


def fit_units(state: dict[str, Tensor], offset: int, english: EnglishAnalyzer, data: Path) -> None:
    """Logistic regression on a word and its neighbours, drawn towards the head there was."""
    rows = read(data, "train", "edu")
    pairs = [(x, row["edu"]) for x, row in zip(word_vectors(english, rows), rows, strict=True) if x is not None]
    # the first word of a sentence starts a unit by definition
    x = torch.cat([with_neighbours(x)[1:] for x, _ in pairs]).float()
    y = torch.tensor([mark for _, marks in pairs for mark in marks[1:]], dtype=torch.float32)
    old = state["tags.weight"].float()[offset : offset + 2]
    start = torch.cat([old[1] - old[0], torch.zeros(2 * old.shape[1])])
    bias = state["tags.bias"].float()[offset + 1] - state["tags.bias"].float()[offset]
    w, b = start.clone().requires_grad_(), bias.clone().requires_grad_()
    optimiser = torch.optim.LBFGS([w, b], max_iter=50, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        value = F.binary_cross_entropy_with_logits(x @ w + b, y) + 3e-4 * ((w - start) ** 2).sum()
        value.backward()
        return value

    optimiser.step(loss)
    state["unit.weight"] = w.detach()
    state["unit.bias"] = (b.detach() - 0.5).reshape(1)  # the threshold that is best on the development set


def fit_roles(state: dict[str, Tensor], tags: list[str], english: EnglishAnalyzer, data: Path, epochs: int) -> None:
    """The role head, from where it was, on predicates and words of the training sentences."""
    index = {tag: k for k, tag in enumerate(tags)}
    sets = {}
    for split in ("dev", "train"):
        rows = read(data, split, "srl")
        sets[split] = [
            (x, p["index"], torch.tensor([index.get(tag, IGNORE) for tag in p["tags"]]))
            for x, row in zip(word_vectors(english, rows), rows, strict=True)
            if x is not None
            for p in row["srl"]
        ]
    names = [f"srl_{part}.{kind}" for part in ("pred", "arg", "out") for kind in ("weight", "bias")]
    weights = [state[name].float().clone().requires_grad_() for name in names]
    average = [w.detach().clone() for w in weights]

    def scores(parts: list[tuple[Tensor, int, Tensor]], used: list[Tensor], drop: float) -> Tensor:
        pw, pb, aw, ab, ow, ob = used
        words = torch.cat([x for x, _, _ in parts]).float()
        at = torch.stack([x[k] for x, k, _ in parts]).float()
        if drop:
            words, at = F.dropout(words, drop), F.dropout(at, drop)
        sizes = torch.tensor([len(x) for x, _, _ in parts])
        z = F.gelu((at @ pw.T + pb).repeat_interleave(sizes, 0) + words @ aw.T + ab)
        return F.dropout(z, drop) @ ow.T + ob

    def right(used: list[Tensor]) -> float:
        """F1 of tags other than O on the development set."""
        correct = guessed = gold = 0
        for low in range(0, len(sets["dev"]), 200):
            parts = sets["dev"][low : low + 200]
            with torch.no_grad():
                guess = scores(parts, used, 0.0).argmax(-1)
            y = torch.cat([t for _, _, t in parts])
            correct += int(((guess == y) & (y > 0)).sum())
            guessed, gold = guessed + int((guess > 0).sum()), gold + int((y > 0).sum())
        return 2 * correct / (guessed + gold)

    optimiser = torch.optim.AdamW(weights, lr=5e-4, weight_decay=0.01)
    rng = random.Random(1)
    total = epochs * (len(sets["train"]) // 100 + 1)
    print(f"roles before: {right(average):.4f}", flush=True)
    step = 0
    for epoch in range(epochs):
        rng.shuffle(sets["train"])
        for low in range(0, len(sets["train"]), 100):
            parts = sets["train"][low : low + 100]
            for group in optimiser.param_groups:
                group["lr"] = 5e-4 * (1 - step / total)
            value = F.cross_entropy(
                scores(parts, weights, 0.2), torch.cat([t for _, _, t in parts]), ignore_index=IGNORE
            )
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            torch._foreach_lerp_(average, [w.detach() for w in weights], 0.01)
            step += 1
        print(f"roles after {epoch + 1} epochs: {right(average):.4f}", flush=True)
    for name, value in zip(names, average, strict=True):
        state[name] = value


def main() -> None:
    from safetensors.torch import load_file, save_file

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder that training/export.py wrote")
    for name in ("weights", "data", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(1)
    english = EnglishAnalyzer(folder=str(args.model)).for_layers({"tokens"})
    labels = english.model.labels
    state = load_file(args.weights)
    before_units = sum(len(labels[name]) for name in ("upos", "xpos", "ner", "lemma")) + 2
    fit_units(state, before_units, english, args.data)
    fit_roles(state, labels["srl"], english, args.data, args.epochs)
    save_file(state, args.out)


if __name__ == "__main__":
    main()
