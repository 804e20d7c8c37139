from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest

import arboreval
from arboreval import significance
from arboreval.significance import bootstrap_counts, holm, p_value, randomisation_choices


@pytest.fixture(scope="module")
def statistics(demo):
    names = ["bleu", "chrf", "ter", "rouge-1"]
    return arboreval.score(demo.systems, demo.references, metrics=names).statistics


@pytest.fixture(scope="module")
def report(demo):
    return arboreval.compare(demo.systems, demo.references, metrics=["bleu", "chrf", "ter"])


def sacrebleu_p_values(demo, kind):
    """The p-value of every pair; the first system of a pair is the baseline."""
    metrics = {"bleu": sacrebleu.BLEU(), "chrf": sacrebleu.CHRF(), "ter": sacrebleu.TER()}
    streams = [list(stream) for stream in zip(*demo.references, strict=True)]
    names = list(demo.systems)
    found = {}
    for i, baseline in enumerate(names[:-1]):
        pairs = [(name, demo.systems[name]) for name in names[i:]]
        _, scores = PairedTest(pairs, metrics, streams, test_type=kind)()
        for metric, key in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
            for name, result in zip(names[i + 1 :], scores[key][1:], strict=True):
                found[metric, baseline, name] = result.p_value
    return found


@pytest.mark.parametrize(("kind", "attribute"), [("bs", "p_bootstrap"), ("ar", "p_ar")])
def test_p_values_are_sacrebleus(demo, report, kind, attribute, monkeypatch):
    """Same seed, same indices, same p-values, ties aside.

    Both systems' TER has the same denominator, so its null distribution is a lattice and ties are common: there the
    p-value is sacrebleu's if ties are counted as sacrebleu counts them.
    """
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    peers = sacrebleu_p_values(demo, kind)
    for c in report.comparisons:
        if c.metric != "ter" or kind == "bs":
            assert getattr(c, attribute) == pytest.approx(peers[c.metric, c.a, c.b], abs=1e-12)
    monkeypatch.setattr(
        significance, "p_value", lambda null, observed: (np.sum(null > observed + 1e-9) + 1) / (len(null) + 1)
    )
    strict = arboreval.compare(demo.systems, demo.references, metrics=["bleu", "chrf", "ter"])
    for c in strict.comparisons:
        assert getattr(c, attribute) == pytest.approx(peers[c.metric, c.a, c.b], abs=1e-12)


def test_one_segment_proves_nothing():
    # sacrebleu's strict inequality gives p = 1/10001 here
    report = arboreval.compare({"a": ["the cat sat"], "b": ["no"]}, ["the cat sat"], metrics=["chrf"])
    assert report.comparisons[0].p_ar == 1.0
    assert report.comparisons[0].winner is None


def test_bootstrap_resamples_are_sacrebleus(demo, statistics, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    bleu = sacrebleu.BLEU()
    streams = [list(stream) for stream in zip(*demo.references, strict=True)]
    stats = bleu._extract_corpus_statistics(demo.systems["birch"], streams)
    _, peers = sacrebleu.significance._bootstrap_resample(stats, bleu, 1000)
    ours = significance.bootstrap_scores(statistics)[0][1]
    # sacrebleu divides in single precision here
    np.testing.assert_allclose(ours, [peer.score for peer in peers], rtol=0, atol=1e-5)


def test_intervals_are_percentiles(statistics):
    report_scores = significance.bootstrap_scores(statistics)[1][0]
    low, high = significance.interval(report_scores)
    assert low == np.quantile(report_scores, 0.025)
    assert high == np.quantile(report_scores, 0.975)


@pytest.mark.parametrize("cells", [200, 5_000, 10**9])
def test_chunks_do_not_change_the_draws(monkeypatch, cells):
    monkeypatch.setattr(significance, "_CHUNK_CELLS", cells)
    n, trials = 37, 150
    index = np.random.default_rng(5).choice(n, size=(trials, n), replace=True)
    expected = np.stack([np.bincount(row, minlength=n) for row in index])
    np.testing.assert_array_equal(np.concatenate(list(bootstrap_counts(n, trials, 5))), expected)
    choices = np.random.default_rng(5).integers(2, size=(trials, n), dtype=bool)
    np.testing.assert_array_equal(np.concatenate(list(randomisation_choices(n, trials, 5))), choices)


def test_randomisation_approaches_the_exact_test():
    """All 2^6 ways to swap, enumerated, for a metric that is a mean."""
    hypotheses = {"a": ["x y", "x y", "x q", "p q", "x y", "x"], "b": ["x q", "p y", "x y", "x q", "r", "x y"]}
    references = ["x y"] * 6
    report = arboreval.compare(hypotheses, references, metrics=["rouge-1"])
    a, b = (np.array(report.segment_scores(name)["rouge-1"]) for name in "ab")
    observed = abs((a - b).mean())
    exact = np.mean([abs(((a - b) * signs).mean()) >= observed - 1e-12 for signs in product((1, -1), repeat=6)])
    assert report.comparisons[0].p_ar == pytest.approx(exact, abs=0.02)


def test_identical_systems_are_not_different(demo):
    texts = demo.systems["amber"]
    report = arboreval.compare({"a": texts, "b": list(texts)}, demo.references, metrics=["bleu", "rouge-l"])
    for c in report.comparisons:
        assert (c.difference, c.ci, c.p_bootstrap, c.p_ar, c.winner) == (0.0, (0.0, 0.0), 1.0, 1.0, None)
    assert [s.scores["bleu"].rank for s in report.systems] == [1, 1]


def test_the_example_has_a_significant_difference(report):
    by_pair = {(c.metric, c.a, c.b): c for c in report.comparisons}
    for metric in ("bleu", "chrf", "ter"):
        assert by_pair[metric, "amber", "cedar"].winner == "amber"
        assert by_pair[metric, "birch", "cedar"].winner == "birch"
        assert by_pair[metric, "amber", "birch"].winner is None
    assert [s.scores["ter"].rank for s in report.systems] == [1, 1, 3]


def test_lower_is_better_for_ter(report):
    c = next(c for c in report.comparisons if (c.metric, c.a, c.b) == ("ter", "amber", "cedar"))
    assert c.difference < 0
    assert c.ci[1] < 0
    assert c.winner == "amber"


def test_order_of_systems_changes_signs_only(demo, report):
    backwards = dict(reversed(demo.systems.items()))
    other = arboreval.compare(backwards, demo.references, metrics=["bleu", "chrf", "ter"])
    there = {(c.metric, c.b, c.a): c for c in other.comparisons}
    for c in report.comparisons:
        d = there[c.metric, c.a, c.b]
        assert d.difference == pytest.approx(-c.difference)
        assert (d.p_bootstrap, d.p_ar, d.winner) == (c.p_bootstrap, c.p_ar, c.winner)


def test_seed_is_used_and_recorded(demo):
    one = arboreval.compare(demo.systems, demo.references, metrics=["bleu"], seed=1)
    same = arboreval.compare(demo.systems, demo.references, metrics=["bleu"], seed=1)
    two = arboreval.compare(demo.systems, demo.references, metrics=["bleu"], seed=2)
    assert one.to_dict() == same.to_dict()
    assert one.systems[0].scores["bleu"].ci != two.systems[0].scores["bleu"].ci
    assert "|seed:2|" in two.systems[0].scores["bleu"].signature


def test_p_value():
    assert p_value(np.array([0.1, 0.5, 0.6, 0.2]), 0.5) == 3 / 5
    assert p_value(np.zeros(9), 0.0) == 1.0
    assert p_value(np.zeros(9), 1.0) == 0.1


def test_holm():
    # worked: 4 * .01, max(.04, 3 * .02), max(.06, 2 * .03), max(.06, .2)
    assert holm([0.03, 0.01, 0.2, 0.02]) == pytest.approx([0.06, 0.04, 0.2, 0.06])
    assert holm([0.001, 0.02, 0.03, 0.2]) == pytest.approx([0.004, 0.06, 0.06, 0.2])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_properties(values):
    adjusted = holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    assert sorted(adjusted) == [q for _, q in sorted(zip(values, adjusted, strict=True))]
