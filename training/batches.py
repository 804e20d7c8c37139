"""Sentences of the prepared data as numbers, and batches of segments of one to several sentences."""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from model import PAD, Sizes

from arboreval.analysis.english.lemma import derive

IGNORE = -100
MAX_PIECES = 320
MAX_WORDS = 200
#: sources whose sentences follow each other as in the text; UCCA's, for one, often hold several
RUNNING_TEXT = ("ewt", "gum")
#: how many sentences a segment has, and how often
LENGTHS, LENGTH_WEIGHTS = (1, 2, 3, 4, 6, 9), (50, 20, 12, 8, 6, 4)


def read_rows(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def word_features(word: str, space: int) -> list[int]:
    """The eight case features; the seventh (first word of the segment) is set when segments are made."""
    return [
        word[:1].isupper(),
        len(word) > 1 and word.isupper(),
        any(c.isupper() for c in word[1:]),
        word.islower(),
        any(c.isdigit() for c in word),
        not any(c.isalnum() for c in word),
        0,
        space,
    ]


class Inventory:
    """Label numbers and the word-piece tokenizer."""

    def __init__(self, data: Path, tokenizer: Path) -> None:
        from tokenizers import Tokenizer

        self.labels: dict[str, list[str]] = json.loads((data / "labels.json").read_text())
        self.index = {name: {label: i for i, label in enumerate(labels)} for name, labels in self.labels.items()}
        self.sizes = Sizes(**{name: len(self.labels[name]) for name in Sizes.__dataclass_fields__})
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self._pieces: dict[str, list[int]] = {}

    def pieces(self, word: str) -> list[int]:
        if word not in self._pieces:
            ids = self.tokenizer.encode(word, add_special_tokens=False).ids
            self._pieces[word] = ids[:16] or [self.tokenizer.token_to_id("[UNK]")]
        return self._pieces[word]

    def ids(self, name: str, labels: list[str] | None) -> list[int] | None:
        return None if labels is None else [self.index[name].get(label, IGNORE) for label in labels]


class Sentence:
    """One sentence as numbers; layers it does not have are None."""

    def __init__(self, row: dict, inventory: Inventory) -> None:
        words, space = row["words"], row["space"]
        self.n = len(words)
        self.doc, self.par, self.source = row.get("doc"), row.get("par"), row.get("source", "")
        self.pieces = [inventory.pieces(word) for word in words]
        self.piece_count = sum(map(len, self.pieces))
        self.features = np.array([word_features(w, s) for w, s in zip(words, space, strict=True)], dtype=np.uint8)
        self.tags = {name: inventory.ids(name, row.get(name)) for name in ("upos", "xpos", "ner")}
        self.tags["lemma"] = None
        if row.get("lemma") is not None:
            scripts = [derive(w, lem) for w, lem in zip(words, row["lemma"], strict=True)]
            self.tags["lemma"] = inventory.ids("lemma", scripts)
        self.tags["edu"] = row.get("edu")
        self.head = row.get("head")
        self.deprel = inventory.ids("deprel", row.get("deprel"))
        self.const = self._spans(row.get("const"), inventory.index["const"])
        ucca = row.get("ucca")
        self.ucca = self._spans(ucca["spans"] if ucca else None, inventory.index["ucca"])
        self.remote = None
        if ucca:
            known = inventory.index["ucca_remote"]
            self.remote = [(tuple(p), tuple(c), known[k] + 1) for p, c, k in ucca["remote"] if k in known]
            self.nodes = sorted({(i, j) for i, j, _ in ucca["spans"]})
        self.srl = None
        if row.get("srl") is not None:
            self.srl = [(p["index"], inventory.ids("srl", p["tags"])) for p in row["srl"]]
            marks = [0] * self.n
            for p, _ in self.srl:
                marks[p] = 1
            self.tags["pred"] = marks
        else:
            self.tags["pred"] = None

    @staticmethod
    def _spans(spans: list | None, index: dict[str, int]) -> list[tuple[int, int, int]] | None:
        """(first word, last word, label + 1); spans with an unknown label are no evidence and get IGNORE."""
        if spans is None:
            return None
        return [(i, j - 1, index[label] + 1 if label in index else IGNORE) for i, j, label in spans]


class Documents:
    """Discourse trees of whole documents: {doc: (EDU range of each sentence, {EDU range: label})}."""

    def __init__(self, rows: list[dict], inventory: Inventory) -> None:
        self.trees = {}
        for row in rows:
            known = inventory.index["rst"]
            spans = {(a, b): known[label] + 1 for a, b, label in row["spans"] if label in known}
            ranges = [[row["n_edus"], 0] for _ in row["sentences"]]
            for edu, sentence in enumerate(row["edu_sentence"]):
                ranges[sentence] = [min(ranges[sentence][0], edu), max(ranges[sentence][1], edu + 1)]
            self.trees[row["doc"]] = (ranges, spans)


def load(data: Path, split: str, inventory: Inventory) -> tuple[list[Sentence], Documents]:
    sentences, position, last = [], 0, None
    for row in read_rows(data / f"{split}.jsonl.gz"):
        sentence = Sentence(row, inventory)
        position = position + 1 if row.get("doc") is not None and row.get("doc") == last else 0
        last = row.get("doc")
        sentence.position = position
        sentences.append(sentence)
    name = "rst-docs" if split == "train" else f"rst-docs-{split}"
    return sentences, Documents(read_rows(data / f"{name}.jsonl.gz"), inventory)


def segments(sentences: list[Sentence], rng: random.Random | None) -> list[list[Sentence]]:
    """Consecutive sentences of one document and, mostly, one paragraph; one sentence each without ``rng``."""
    if rng is None:
        return [[s] for s in sentences]
    made: list[list[Sentence]] = []
    want = 0
    for sentence in sentences:
        current = made[-1] if made else []
        fits = (
            current
            and len(current) < want
            and sentence.doc is not None
            and current[-1].doc == sentence.doc
            and current[-1].position + 1 == sentence.position
            and (not sentence.par or rng.random() < 0.1)
            and sum(s.piece_count for s in current) + sentence.piece_count <= MAX_PIECES
            and sum(s.n for s in current) + sentence.n <= MAX_WORDS
        )
        if fits:
            current.append(sentence)
        else:
            made.append([sentence])
            want = rng.choices(LENGTHS, LENGTH_WEIGHTS)[0]
    return [s for s in made if sum(x.piece_count for x in s) <= 500]


def batches(made: list[list[Sentence]], cells: int, rng: random.Random | None) -> list[list[list[Sentence]]]:
    """Segments of similar length together; a batch has at most ``cells`` words squared, so span scores fit."""
    order = sorted(made, key=lambda seg: (sum(s.n for s in seg), rng.random() if rng else 0))
    result: list[list[list[Sentence]]] = []
    current: list[list[Sentence]] = []
    for segment in order:
        width = sum(s.n for s in segment)
        if current and (len(current) + 1) * max(width, 12) ** 2 > cells:
            result.append(current)
            current = []
        current.append(segment)
    result.append(current)
    if rng:
        rng.shuffle(result)
    return result


def collate(batch: list[list[Sentence]], documents: Documents) -> dict[str, torch.Tensor]:
    b, w = len(batch), max(sum(s.n for s in seg) for seg in batch)
    length = 2 + max(sum(s.piece_count for s in seg) for seg in batch)
    ids = np.full((b, length), PAD, np.int64)
    out = {name: np.full((b, w), IGNORE, np.int64) for name in
           ("upos", "xpos", "ner", "lemma", "sent", "edu", "pred", "head", "deprel")}  # fmt: skip
    first, last = np.zeros((b, w), np.int64), np.zeros((b, w), np.int64)
    features = np.zeros((b, w, 8), np.float32)
    sentence_of = np.full((b, w), -1, np.int64)
    has = {name: np.zeros((b, w), bool) for name in ("const", "ucca", "rst")}
    edu_start, edu_end = np.zeros((b, w), bool), np.zeros((b, w), bool)
    spans: dict[str, list[tuple[int, int, int, int]]] = {"const": [], "ucca": [], "rst": []}
    srl_at, srl_tags, remote = [], [], []
    for row, segment in enumerate(batch):
        at, piece = 0, 1
        ids[row, 0] = 0
        for k, s in enumerate(segment):
            stop = at + s.n
            sentence_of[row, at:stop] = k
            features[row, at:stop] = s.features
            for i, pieces in enumerate(s.pieces):
                ids[row, piece : piece + len(pieces)] = pieces
                first[row, at + i], last[row, at + i] = piece, piece + len(pieces) - 1
                piece += len(pieces)
            for name, values in s.tags.items():
                if values is not None:
                    out[name][row, at:stop] = values
            if s.source in RUNNING_TEXT:
                out["sent"][row, at:stop] = 0
                out["sent"][row, at] = 1
            if s.head is not None:
                out["head"][row, at:stop] = [0 if h < 0 else at + h + 1 for h in s.head]
                out["deprel"][row, at:stop] = s.deprel
            for name in ("const", "ucca"):
                found = getattr(s, name)
                if found is not None:
                    has[name][row, at:stop] = True
                    spans[name] += [(row, at + i, at + j, label) for i, j, label in found]
            if s.srl is not None:
                for p, tags in s.srl:
                    line = np.full(w, IGNORE, np.int64)
                    line[at:stop] = tags
                    srl_at.append((row, at + p))
                    srl_tags.append(line)
            if s.remote is not None:
                gold = {(p, c): k for p, c, k in s.remote}
                for p in s.nodes:
                    for c in s.nodes:
                        apart = p[1] <= c[0] or c[1] <= p[0]
                        if apart or (p, c) in gold:
                            remote.append(
                                (row, at + p[0], at + p[1] - 1, at + c[0], at + c[1] - 1, gold.get((p, c), 0))
                            )
            at = stop
        ids[row, piece] = 2
        features[row, 0, 6] = 1
        tree = documents.trees.get(segment[0].doc) if segment[0].tags["edu"] is not None else None
        if tree is not None:
            _discourse(row, segment, tree, out["edu"][row], has["rst"], edu_start, edu_end, spans["rst"])
    tensors = {name: torch.from_numpy(values) for name, values in out.items()}
    tensors |= {f"has_{name}": torch.from_numpy(values) for name, values in has.items()}
    for name, found in spans.items():
        tensors[name] = torch.tensor(found, dtype=torch.long).reshape(-1, 4)
    tensors |= {
        "ids": torch.from_numpy(ids), "first": torch.from_numpy(first), "last": torch.from_numpy(last),
        "features": torch.from_numpy(features), "sentence_of": torch.from_numpy(sentence_of),
        "edu_start": torch.from_numpy(edu_start), "edu_end": torch.from_numpy(edu_end),
        "srl_at": torch.tensor(srl_at, dtype=torch.long).reshape(-1, 2),
        "srl_tags": torch.from_numpy(np.array(srl_tags, np.int64).reshape(-1, w)),
        "remote": torch.tensor(remote, dtype=torch.long).reshape(-1, 6),
    }  # fmt: skip
    return tensors


def _discourse(row, segment, tree, edu, has, edu_start, edu_end, spans) -> None:
    """Nodes of the document's tree that lie inside the segment; every other span of whole EDUs is no node."""
    sents, labels = tree
    low = sents[segment[0].position][0]
    high = sents[segment[-1].position][1]
    starts = np.flatnonzero(edu == 1)
    n = sum(s.n for s in segment)
    if len(starts) != high - low:  # segmentation and tree disagree: no evidence
        return
    ends = np.append(starts[1:], n) - 1
    has[row, :n] = True
    edu_start[row, starts], edu_end[row, ends] = True, True
    for (a, b), label in labels.items():
        if low <= a and b <= high and b - a > 1:
            spans.append((row, int(starts[a - low]), int(ends[b - 1 - low]), label))


class Epoch(torch.utils.data.Dataset):
    """The batches of one epoch, collated by the loader's workers."""

    def __init__(self, groups: list[list[list[Sentence]]], documents: Documents) -> None:
        self.groups, self.documents = groups, documents

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, i: int) -> dict[str, torch.Tensor]:
        return collate(self.groups[i], self.documents)


def epoch_batches(
    sentences: list[Sentence], documents: Documents, *, cells: int, seed: int | None, workers: int = 0
) -> Iterator[dict[str, torch.Tensor]]:
    rng = random.Random(seed) if seed is not None else None
    groups = batches(segments(sentences, rng), cells, rng)
    yield from torch.utils.data.DataLoader(Epoch(groups, documents), batch_size=None, num_workers=workers)
