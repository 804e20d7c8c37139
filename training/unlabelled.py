"""Gathers unlabelled English sentences for distillation.

    python training/unlabelled.py --data DIR --out DIR [--treebank DIR/train.jsonl.gz]

Writes ``unlabelled.txt.gz``, the sentences as they are, and ``unlabelled.jsonl.gz``, the same as words with spacing
(rows as in ``train.jsonl.gz``, all layers null), about half of them with the noise of noise.py. With ``--treebank``,
noisy copies of training sentences are mixed into the second file.

Only sources whose stated licence allows it: Kubernetes documentation (CC BY 4.0), Tatoeba (CC BY 2.0 FR), Python
documentation (its translation is CC0, the originals are under the Python licence). The LCTT articles are left out: the
English originals belong to third-party sites and keep their own terms.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from noise import noisy
from prepare import blank, write
from readers import read_json, read_lines

from arboreval.analysis.english.words import split_words

SOURCES = ("k8s_docs", "tatoeba", "python_docs")
LIMIT = 80_000
SEED = 29
NOISE_SHARE = 0.5
MIN_WORDS, MAX_WORDS = 3, 60
#: change-log entries and bits of code: no sentences
_NOT_TEXT = re.compile(r"^(bpo|gh)-\d+|[{}\\|]|::|==|->|__\w+__|\(\)\.|https?://")


def gather(data: Path) -> list[tuple[str, str]]:
    """Return (source, sentence), each sentence once."""
    seen: set[str] = set()
    found = []
    for source in SOURCES:
        for line in read_lines(data / f"parallel/train.{source}.tsv.gz"):
            text = " ".join(line.split("\t")[0].split())
            key = re.sub(r"\W+", "", text).lower()
            if key and key not in seen and not _NOT_TEXT.search(text):
                seen.add(key)
                found.append((source, text))
    return found


def to_words(text: str) -> tuple[list[str], list[int]]:
    offsets = split_words(text)
    starts = [start for start, _ in offsets[1:]]
    space = [int(end < start) for (_, end), start in zip(offsets, starts, strict=False)]
    return [text[start:end] for start, end in offsets], [*space, 1]


def rows(sentences: Iterable[tuple[str, str]], rng: random.Random) -> Iterable[dict[str, Any]]:
    for number, (source, text) in enumerate(sentences):
        words, space = to_words(text)
        if not MIN_WORDS <= len(words) <= MAX_WORDS:
            continue
        noise = rng.random() < NOISE_SHARE
        if noise:
            words, space = noisy(words, space, rng)
        name = f"{source}-{number}"
        yield blank(name, name, f"{source}-noise" if noise else source, words, space)


def noisy_treebank(path: Path, rng: random.Random) -> Iterable[dict[str, Any]]:
    """Yield one noisy copy of every training sentence of ordinary text."""
    for row in read_json(path):
        if row["source"] not in ("craft", "genia") and MIN_WORDS <= len(row["words"]) <= MAX_WORDS:
            words, space = noisy(row["words"], row["space"], rng)
            name = f"{row['id']}-noise"
            yield blank(name, name, f"{row['source']}-noise", words, space)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with parallel/")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--treebank", type=Path, help="train.jsonl.gz, of which noisy copies are added")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(SEED)
    sentences = gather(options.data)
    rng.shuffle(sentences)
    del sentences[LIMIT:]
    with (options.out / "unlabelled.txt.gz").open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as out:
        out.writelines(f"{text}\n".encode() for _, text in sentences)
    prepared = list(rows(sentences, rng))
    if options.treebank:
        prepared += noisy_treebank(options.treebank, rng)
    rng.shuffle(prepared)
    write(options.out / "unlabelled.jsonl.gz", prepared)
    counts: dict[str, int] = {}
    for row in prepared:
        counts[row["source"]] = counts.get(row["source"], 0) + 1
    (options.out / "unlabelled-counts.json").write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
