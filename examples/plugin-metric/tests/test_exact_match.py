import pytest
from arboreval_exact_match import ExactMatch

import arboreval
from arboreval.testing import check_metric


def test_conforms():
    check_metric(ExactMatch())
    check_metric(ExactMatch(lowercase=True))


def test_found_by_name_and_scored():
    report = arboreval.score(["a  b", "x", "C"], [["a b"], ["y", "x"], ["c"]], metrics=["exact-match"], level="seg")
    assert report.systems[0].scores["exact-match"].value == pytest.approx(2 / 3)
    assert report.segment_scores("system") == {"exact-match": [1.0, 1.0, 0.0]}


def test_option_in_name():
    report = arboreval.score(["C"], ["c"], metrics=["exact-match:lowercase=true"])
    score = report.systems[0].scores["exact-match:lowercase=true"]
    assert score.value == 1.0
    assert score.signature.startswith("exact-match|nrefs:1|bs:1000|seed:12345|lowercase:yes|version:")


def test_empty_reference_fails_with_its_reason():
    report = arboreval.score(["a", "b"], ["", "b"], metrics=["exact-match"])
    assert [(f.seg, f.reason) for f in report.failures] == [(1, "all references are empty")]
    assert report.systems[0].scores["exact-match"].value == 1.0
    assert report.systems[0].scores["exact-match"].failed == 1


def test_listed():
    assert arboreval.list_metrics()["exact-match"].summary == "share of outputs equal to a reference"
