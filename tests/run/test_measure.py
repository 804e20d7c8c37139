from __future__ import annotations

import numpy as np
import pytest

import arboreval
from arboreval import Corpus
from arboreval.metrics.bleu import Bleu
from arboreval.registry import BUILT_IN, make_metric
from arboreval.run.measure import measure

METRICS = [make_metric(name) for name in BUILT_IN]


@pytest.fixture(scope="module")
def corpus(demo):
    return Corpus.from_lists(demo.systems, demo.references)


@pytest.fixture(scope="module")
def expected(corpus):
    return measure(corpus, METRICS)


@pytest.mark.parametrize("batch_size", [1, 7, 39, 1000])
def test_batches_change_nothing(corpus, expected, batch_size):
    for one, other in zip(expected, measure(corpus, METRICS, batch_size=batch_size), strict=True):
        np.testing.assert_array_equal(one.stats, other.stats)


def test_processes_change_nothing(corpus, expected):
    for one, other in zip(expected, measure(corpus, METRICS, batch_size=7, jobs=2), strict=True):
        np.testing.assert_array_equal(one.stats, other.stats)


def test_shards_add_up(corpus, expected):
    halves = [
        corpus.limit(13),
        Corpus.from_lists({n: t[13:] for n, t in corpus.systems.items()}, corpus.references[13:]),
    ]
    parts = [measure(half, METRICS) for half in halves]
    for i, whole in enumerate(expected):
        joined = np.concatenate([part[i].stats for part in parts], axis=1)
        np.testing.assert_array_equal(joined, whole.stats)


def test_systems_do_not_influence_each_other(demo, corpus, expected):
    alone = Corpus.from_lists({"birch": demo.systems["birch"]}, demo.references)
    for one, other in zip(expected, measure(alone, METRICS), strict=True):
        np.testing.assert_array_equal(one.stats[1], other.stats[0])


def test_order_of_segments_changes_no_corpus_score(demo):
    order = np.random.default_rng(0).permutation(40)
    shuffled = {name: [texts[i] for i in order] for name, texts in demo.systems.items()}
    one = arboreval.score(demo.systems, demo.references, metrics=list(BUILT_IN))
    other = arboreval.score(shuffled, [demo.references[i] for i in order], metrics=list(BUILT_IN))
    for a, b in zip(one.systems, other.systems, strict=True):
        for name in BUILT_IN:
            assert a.scores[name].value == pytest.approx(b.scores[name].value, abs=1e-9)


def test_order_of_references_changes_no_corpus_score(demo):
    # cedar has an empty line, for which chrF takes the first of two references that both give 0
    systems = {name: demo.systems[name] for name in ("amber", "birch")}
    one = arboreval.score(systems, demo.references, metrics=list(BUILT_IN))
    other = arboreval.score(systems, [refs[::-1] for refs in demo.references], metrics=list(BUILT_IN))
    for a, b in zip(one.systems, other.systems, strict=True):
        for name in BUILT_IN:
            assert a.scores[name].value == pytest.approx(b.scores[name].value, abs=1e-9)


def test_progress_counts_segments(corpus):
    seen = []
    measure(corpus, METRICS[:1], batch_size=16, progress=seen.append)
    assert seen == [16, 32, 40]


def test_failures_keep_their_place_in_later_batches():
    references = [["a"], ["a"], None, ["a"], None]
    for jobs in (1, 2):
        corpus = Corpus.from_lists(["a"] * 5, references)
        (statistics,) = measure(corpus, [Bleu()], batch_size=2, jobs=jobs)
        assert [p.segment for p in statistics.problems] == [2, 4]
        assert statistics.ok.tolist() == [[True, True, False, True, False]]


def test_a_missing_package_in_a_worker_is_reported_as_such(monkeypatch):
    from arboreval.errors import MissingExtraError

    corpus = Corpus.from_lists(["a"] * 4, ["a"] * 4)
    with pytest.raises(MissingExtraError, match=r"pip install 'sacrebleu\[ja\]'"):
        measure(corpus, [Bleu(tokenize="ja-mecab")], batch_size=1, jobs=2)
