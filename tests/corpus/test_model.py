from __future__ import annotations

import math

import pytest

import arboreval
from arboreval import Corpus, Segment
from arboreval.corpus.model import parse_language
from arboreval.errors import InputError


def refused(*args, **kwargs) -> str:
    with pytest.raises(InputError) as caught:
        Corpus.from_lists(*args, **kwargs)
    return str(caught.value)


def test_segments():
    corpus = Corpus.from_lists({"x": ["a", "b"]}, ["r", ["s", None, "t"]], sources=["q", "w"], lang="zh-en")
    assert list(corpus.segments("x")) == [
        Segment("a", ("r",), "q", "x", 1, None),
        Segment("b", ("s", "t"), "w", "x", 2, None),
    ]
    assert (len(corpus), corpus.reference_count, corpus.lang, corpus.language_pair) == (2, "var", "en", "zh-en")


def test_unequal_lengths_are_refused_with_both_counts():
    assert refused(["a", "b"], ["r"]) == (
        "hypotheses has 2 segments but references has 1: line 2 of hypotheses has no partner in references."
    )
    assert refused({"x": ["a"], "y": ["a", "b"]}, ["r"]) == (
        "hypotheses['x'] has 1 segments but hypotheses['y'] has 2: line 2 of hypotheses['y'] has no partner in "
        "hypotheses['x']."
    )
    assert "sources has 1" in refused(["a", "b"], ["r", "s"], sources=["q"])


def test_transposed_references_are_recognised():
    # sacrebleu 2.6 returns BLEU 100 for this
    message = refused(["a", "b", "c"], [["a", "b", "c"], ["a", "b", "c"]])
    assert message == (
        "references look transposed: got 2 lists of 3 texts for 3 hypotheses. "
        "Give one list per segment: 3 lists of 2, e.g. list(zip(*references))."
    )
    assert "references look transposed: got 1 lists of 3" in refused(["a", "b", "c"], [["a", "b", "c"]])


def test_what_is_not_text_is_refused():
    assert refused("abc", ["r"]) == "hypotheses must be a list with one text per segment, not a single text."
    assert refused(["a"], "r") == "references must be a list with one text per segment, not a single text."
    assert refused(["a", math.nan], ["r", "s"]) == "hypotheses[1] must be a text, not NaN."
    assert refused(["a"], [math.nan]) == "references[0] must be a text, not NaN."
    assert refused(["a"], [["r", 3]]) == "references[0][1] must be a text, not int."
    assert refused(["a", None], ["r", "s"]) == "hypotheses[1] must be a text, not NoneType."
    assert refused([], []) == "hypotheses is empty: there is nothing to score."
    assert refused({}, []) == "no system output was given."


def test_segment_without_reference_fails_and_is_counted():
    report = arboreval.score(["a b", "c d"], [["a b"], None], metrics=["bleu", "chrf"])
    assert report.input.reference_missing == 1
    assert {(f.metric, f.seg, f.reason) for f in report.failures} == {
        ("bleu", 2, "the segment has no reference"),
        ("chrf", 2, "the segment has no reference"),
    }
    # the score is that of the other segment
    assert report.systems[0].scores["chrf"].value == 100
    assert (report.systems[0].scores["chrf"].n, report.systems[0].scores["chrf"].failed) == (1, 1)
    assert report.systems[0].scores["chrf"].signature.startswith("chrf|nrefs:var|")


def test_limit_is_marked():
    report = arboreval.score(["a", "b", "c"], ["a", "b", "c"], limit=2, metrics=["chrf"])
    assert (report.input.segments, report.input.segments_in_file) == (2, 3)
    assert "|limit:2|" in report.systems[0].scores["chrf"].signature
    assert report.input.remarks()[0] == "only the first 2 of 3 segments were scored (limit)"


def test_languages():
    assert parse_language("zh-en") == ("zh", "en")
    assert parse_language("en") == (None, "en")
    assert parse_language(None) == (None, None)
    with pytest.raises(InputError, match="'english' is no language"):
        parse_language("english")


def test_metric_of_another_language_is_refused():
    with pytest.raises(InputError, match="rouge-w judges en, but the target language is 'de'"):
        arboreval.score(["a"], ["a"], metrics=["rouge-w"], lang="en-de")
    with pytest.raises(InputError, match="rouge-1:stem=true judges en"):
        arboreval.score(["a"], ["a"], metrics=["rouge-1:stem=true"], lang="de")
    arboreval.score(["a"], ["a"], metrics=["rouge-w:stem=false"], lang="de")


def test_target_language_chooses_the_tokenizer():
    score = arboreval.score(["今天很好"], ["今天很好"], metrics=["bleu"], lang="en-zh").systems[0].scores["bleu"]
    assert "|tok:zh|" in score.signature
    assert score.value == pytest.approx(100)
