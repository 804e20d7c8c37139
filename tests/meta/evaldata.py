"""Small judgment files for the tests, in every shape, and where the real ones are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

JUDGMENTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "judgments"


def judgments(name: str) -> Path:
    """A real file; skips the test where the data is not there."""
    path = JUDGMENTS / name
    if not path.exists():
        pytest.skip(f"no human judgments: {path} is not there")
    return path


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


REFERENCES = ["the cat sat on the mat", "a dog barked at the moon", "rain fell all day long", "we went home early"]
OUTPUTS = {
    "amber": ["the cat sat on the mat", "a dog barked at the moon", "rain fell all day", "we went home"],
    "birch": ["a cat sat on a mat", "the dog barks at moon", "rain was falling long", "we went early home"],
    "cedar": ["cat mat", "dog moon", "it rained", "home"],
}
RAW = {"amber": [95, 90, 80, 70], "birch": [60, 50, 55, 65], "cedar": [20, 10, 30, 5]}


def scored_rows(systems=("amber", "birch", "cedar")) -> list[dict]:
    return [
        {
            "dataset": "toy", "lp": "de-en", "system": s, "seg": i + 1, "doc": "d", "src": f"quelle {i}",
            "refs": [REFERENCES[i]], "hyp": OUTPUTS[s][i], "raw": RAW[s][i], "z": (RAW[s][i] - 50) / 30, "n": 2,
            "kind": "DA", "raw_by": {"fluency": 100 - RAW[s][i]},
        }
        for s in systems
        for i in range(4)
    ]  # fmt: skip


def ranking_rows() -> list[dict]:
    pairs = [["amber", "birch", 2], ["birch", "cedar", 1], ["amber", "cedar", 3]]
    return [
        {
            "dataset": "toy-rr", "lp": "cs-en", "seg": i + 1, "src": None, "refs": [REFERENCES[i]],
            "outputs": {s: texts[i] for s, texts in OUTPUTS.items()}, "pairs": pairs,
            "ties": [["birch", "amber", 1]] if i == 0 else [], "kind": "RR",
        }
        for i in range(4)
    ]  # fmt: skip


def system_rows() -> list[dict]:
    head = {"dataset": "toy-sys", "lp": "cs-en", "seg": 0, "kind": "header"}
    head["system_scores"] = {"amber": 0.9, "birch": 0.3, "cedar": -0.5}
    rows = [
        {
            "dataset": "toy-sys", "lp": "cs-en", "seg": i + 1, "src": "q", "refs": [REFERENCES[i]],
            "outputs": {s: texts[i] for s, texts in OUTPUTS.items()},
        }
        for i in range(4)
    ]  # fmt: skip
    return [head, *rows]


def contrastive_rows() -> list[dict]:
    return [
        {
            "dataset": "toy-contrast", "phenomenon": ("drop", "swap")[i % 2], "lp": "de-en", "id": i, "src": "q",
            "refs": [REFERENCES[i]], "good": OUTPUTS["birch"][i], "bad": OUTPUTS["cedar"][i] if i else REFERENCES[i],
            "kind": "contrastive",
        }
        for i in range(4)
    ]  # fmt: skip


def pair_rows() -> list[dict]:
    return [
        {"dataset": "toy-pairs", "id": i, "s1": OUTPUTS[s][i], "s2": REFERENCES[i], "label": label, "split": "dev"}
        | {"kind": "paraphrase 0/1", "id": f"{s}-{i}"}
        for s, label in (("amber", 1), ("cedar", 0))
        for i in range(4)
    ]
