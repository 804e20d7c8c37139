"""Fitting where discourse units start, on a tiny random network: signs are learned, nothing else changes."""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analysis" / "english"))

import export
import fit_units
import tiny

from arboreval.analysis.english.analyzer import EnglishAnalyzer

#: a unit starts after each comma
RULE = ","


def sentences(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        words = [rng.choice(["the", "dog", "barks", "at", "me", RULE]) for _ in range(rng.randint(2, 12))]
        edu = [int(i == 0 or words[i - 1] == RULE) for i in range(len(words))]
        rows.append({"words": words, "space": [1] * len(words), "edu": edu})
    return [*rows, {"words": ["no", "units"], "space": [1, 1], "edu": None}]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The model before and after."""
    folder = tmp_path_factory.mktemp("units")
    rng = np.random.default_rng(0)
    extra = {"unit.weight": rng.standard_normal(3 * 128).astype(np.float32) / 40, "unit.bias": np.zeros(1, np.float32)}
    for name in ("before", "after", "again"):
        export.write({**tiny.state(), **extra}, tiny.LABELS, tiny.tokenizer(), folder / name, keep=2, name="tiny")
    for split, count in (("train", 120), ("dev", 40)):
        with gzip.open(folder / f"{split}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in sentences(count, len(split)))
    for name in ("after", "again"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["fit_units.py", "--model", str(folder / name), "--data", str(folder)])
            fit_units.main()
    return folder / "before", folder / "after"


def units(folder: Path, rows: list[dict]) -> list[list[int]]:
    words = [[(word, True) for word in row["words"]] for row in rows]
    found = EnglishAnalyzer(folder=str(folder)).analyze_words(words)
    return [[] if analysis.rst is None else analysis.rst.edu_start.tolist() for analysis in found]


def test_what_the_signs_show_is_found_in_other_sentences(fitted: tuple[Path, Path]) -> None:
    rows = sentences(30, 99)[:-1]
    gold = [np.flatnonzero(row["edu"]).tolist() for row in rows]
    before, after = (units(folder, rows) for folder in fitted)
    assert before != gold
    assert after == gold


def test_only_the_configuration_changes_and_always_in_the_same_way(fitted: tuple[Path, Path]) -> None:
    before, after = fitted
    different = [
        path.name for path in sorted(before.iterdir()) if path.read_bytes() != (after / path.name).read_bytes()
    ]
    assert different == ["config.json", "manifest.json"]
    assert all(path.read_bytes() == (after.parent / "again" / path.name).read_bytes() for path in after.iterdir())
    old, new = (json.loads((folder / "config.json").read_text()) for folder in fitted)
    learned = new["units"].pop("signs")
    assert new == old
    assert learned["weights"][f"before {RULE}"] > 0
    old_marks, new_marks = (EnglishAnalyzer(folder=str(folder)).fingerprint for folder in fitted)
    assert old_marks != new_marks


def test_the_loss_has_its_slope() -> None:
    rng = np.random.default_rng(1)
    z, gold = rng.standard_normal(5), np.array([0.0, 1, 1, 0, 1])
    value, slope = fit_units.loss(z, gold)
    chance = 1 / (1 + np.exp(-z))
    assert value == pytest.approx(-np.where(gold == 1, np.log(chance), np.log(1 - chance)).sum())
    step = np.array([0, 1e-6, 0, 0, 0])
    assert slope[1] == pytest.approx((fit_units.loss(z + step, gold)[0] - value) / 1e-6, abs=1e-5)
