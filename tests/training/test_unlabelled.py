"""Unlabelled sentences: only from sources whose licence allows it, each once, half of them with noise."""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path
from typing import Any

import noise
import pytest
import unlabelled

SENTENCE = ["The", "old", "dogs", "in", "Leeds", "do", "n't", "chase", "a", "cat", ",", "she", "says", "."]
SPACE = [1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1]


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_sources_and_noisy_copies(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for source in ("lctt", "twlaw"):
        write(data / f"parallel/train.{source}.tsv.gz", "Nothing of this source may be read.\tx")
    write(data / "parallel/train.k8s_docs.tsv.gz", "A pod isn't  a node.\tx", "foo::bar is code.\tx", "Too short\tx")
    write(data / "parallel/train.tatoeba.tsv.gz", "a pod isn't a node!\tx", *(f"I saw {n} dogs.\tx" for n in range(40)))
    write(data / "parallel/train.python_docs.tsv.gz", "gh-123: Fix it now.\tx", "The list is sorted.\tx")
    row = {"id": "s1", "source": "ewt", "words": SENTENCE, "space": SPACE}
    rows = [row, row | {"id": "s2", "source": "genia"}, row | {"id": "s3", "words": ["No", "."], "space": [0, 1]}]
    write(tmp_path / "train.jsonl.gz", *map(json.dumps, rows))
    with pytest.MonkeyPatch.context() as patch:
        arguments = ["--data", str(data), "--out", str(out), "--treebank", str(tmp_path / "train.jsonl.gz")]
        patch.setattr(sys, "argv", ["unlabelled.py", *arguments])
        unlabelled.main()
    found = read(out / "unlabelled.jsonl.gz")
    counts = json.loads((out / "unlabelled-counts.json").read_text())
    # the first of two sentences that differ in marks alone is kept; biomedical and short ones get no noisy copy
    assert counts["ewt-noise"] == 1
    assert set(counts) <= {"ewt-noise", *(f"{name}{end}" for name in unlabelled.SOURCES for end in ("", "-noise"))}
    assert [counts.get(name, 0) + counts.get(f"{name}-noise", 0) for name in unlabelled.SOURCES] == [1, 40, 1]
    assert 10 < counts["tatoeba-noise"] < 30
    assert all(len(row["words"]) == len(row["space"]) and row["head"] is None for row in found)
    plain = {" ".join(row["words"]): row["space"] for row in found if row["source"] == "tatoeba"}
    assert all(text.startswith("I saw ") and space == [1, 1, 1, 0, 1] for text, space in plain.items())
    with gzip.open(out / "unlabelled.txt.gz", "rt", encoding="utf-8") as lines:
        texts = sorted(lines.read().splitlines())
    assert len(texts) == 43
    assert texts[0] == "A pod isn't a node."


def after(kind: str, seed: int) -> tuple[list[str], list[int]]:
    text = (list(SENTENCE), list(SPACE))
    noise.KINDS[kind][0](text, random.Random(seed))
    assert len(text[0]) == len(text[1])
    return text


@pytest.mark.parametrize("seed", range(20))
def test_each_kind_of_noise_does_what_it_says(seed: int) -> None:
    whole = " ".join(SENTENCE)

    def words(kind: str) -> list[str]:
        return after(kind, seed)[0]

    def subsequence(short: list[str]) -> bool:
        rest = iter(SENTENCE)
        return all(word in rest for word in short)

    dropped = words("drop_words")
    assert len(dropped) < len(SENTENCE)
    assert subsequence(dropped)
    assert {"do", "n't", ",", "."} <= set(dropped)  # what is glued to a neighbour stays
    assert [w for w in words("drop_articles") if w not in ("The", "a")] == [
        w for w in SENTENCE if w not in ("The", "a")
    ]
    assert sorted(words("swap_words")) == sorted(words("move_phrase")) == sorted(SENTENCE)
    assert set(words("repeat_words")) == set(SENTENCE)
    assert len(words("repeat_words")) > len(SENTENCE)
    assert len(words("inflect_words")) == len(SENTENCE)
    assert whole.startswith(" ".join(words("truncate")))
    assert [w for w in words("drop_punctuation") if w not in ",."] == [w for w in SENTENCE if w not in ",."]
    assert " ".join(words("lose_case")).lower() == whole.lower()


def test_noise_is_drawn_from_the_generator_alone() -> None:
    assert noise.noisy(SENTENCE, SPACE, random.Random(5)) == noise.noisy(SENTENCE, SPACE, random.Random(5))
    assert noise.noisy(["Yes"], [1], random.Random(5)) == (["Yes"], [1])
    changed = sum(noise.noisy(SENTENCE, SPACE, random.Random(seed))[0] != SENTENCE for seed in range(50))
    assert changed > 40


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("has", {"have", "had", "having"}),
        ("She", {"Her", "Hers"}),
        ("running", {"run", "runs", "runed", "runing"}),
        ("cities", {"city", "citying", "citied"}),
        ("CHASED", {"CHAS", "CHASS", "CHASING"}),
        ("of", {"in", "on", "at", "to", "for", "from", "by", "with"}),
        ("1998", {"1998"}),
    ],
)
def test_wrong_forms(word: str, forms: set[str]) -> None:
    assert {noise.wrong_form(word, random.Random(seed)) for seed in range(60)} == forms
