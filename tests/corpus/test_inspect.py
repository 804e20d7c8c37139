from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from arboreval import Corpus
from arboreval.corpus.inspect import SystemInput, inspect_corpus
from arboreval.corpus.language import looks_foreign

JUDGMENTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "judgments"


def test_counts():
    long = "word " * 201
    sources = ["Das ist gut.", "Er kam nicht.", "x", "y", "z", "Und das ist der Rest.", "q"]
    hypotheses = ["", "Er kam nicht.", "same", "same", long, "Und das ist der Rest.", "h " * 40]
    references = [["This is good."], ["He did not come."], [""], None, ["z"], ["And that is the rest."], ["a ref"]]
    report = inspect_corpus(Corpus.from_lists({"s": hypotheses}, references, sources=sources))
    assert report.systems == (SystemInput("s", empty=1, duplicate=1, untranslated=2, over_long=2, other_language=2),)
    assert (report.reference_missing, report.reference_empty, report.reference_other_language) == (1, 1, 0)
    assert report.remarks() == [
        "references: 1 of 7 segments have no reference and cannot be scored",
        "references: 1 of 7 segments have an empty reference",
        "s: of 7 outputs 1 empty, 1 repeated, 2 equal to the source, 2 over-long, 2 not looking like 'en'",
    ]


def test_nothing_to_remark():
    report = inspect_corpus(Corpus.from_lists(["This is good."], ["That is good."]))
    assert report.remarks() == []
    assert report.systems[0].untranslated is None
    assert not report.systems[0].remarkable


@pytest.mark.parametrize(
    ("text", "lang", "foreign"),
    [
        ("The committee rejected the proposal.", "en", False),
        ("Der Ausschuss hat den Vorschlag nicht angenommen.", "en", True),
        ("Der Ausschuss hat den Vorschlag nicht angenommen.", "de", False),
        ("The committee rejected the proposal of the minister.", "de", True),
        ("Комитет отклонил предложение.", "en", True),
        ("Комитет отклонил предложение.", "ru", False),
        ("今天天气很好", "en", True),
        ("今天天气很好", "zh", False),
        ("the weather is nice", "zh", True),
        ("The word 天气 means weather.", "en", False),
        ("Yes.", "en", False),
        ("", "en", False),
        ("12.5 % (2019)", "en", False),
        ("Le comité a rejeté la proposition du ministre.", "en", True),
        ("Oslo", "de", False),
    ],
)
def test_looks_foreign(text, lang, foreign):
    assert looks_foreign(text, lang) is foreign


@pytest.mark.skipif(not JUDGMENTS.is_dir(), reason="needs ../shared/data/judgments beside the checkout")
@pytest.mark.parametrize(("pair", "recall"), [("de-en", 0.85), ("ru-en", 0.99), ("cs-en", 0.7), ("fi-en", 0.55)])
def test_on_real_text(pair, recall):
    with gzip.open(JUDGMENTS / f"wmt16-da-seg.{pair}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    wrong = sum(looks_foreign(row["refs"][0], "en") for row in rows)
    found = sum(looks_foreign(row["src"], "en") for row in rows)
    assert wrong / len(rows) < 0.005
    assert found / len(rows) > recall
