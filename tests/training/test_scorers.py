"""Every measure against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scorers import (
    Brackets,
    Counts,
    Word,
    accuracy,
    bertscore_f,
    binarized,
    bio_spans,
    edu_starts,
    evalb,
    multiset,
    pearson,
    rst_parseval,
    srl,
    text_counts,
    ucca,
    ucca_edges,
)


def test_counts_add_and_give_precision_recall_f1() -> None:
    counts = Counts(1, 2, 4) + Counts(2, 4, 1)
    assert counts == Counts(3, 6, 5)
    assert (counts.precision, counts.recall) == (3 / 5, 3 / 6)
    assert counts.f1 == pytest.approx(2 * 0.6 * 0.5 / 1.1)
    assert Counts().f1 == Counts(0, 3, 0).precision == Counts(0, 0, 3).recall == 0.0


def test_multiset_matches_each_gold_item_once() -> None:
    assert multiset("aabc", "abbd") == Counts(2, 4, 4)


def test_accuracy_needs_equal_lengths() -> None:
    assert accuracy(["N", "V", "N"], ["N", "N", "N"]) == Counts(2, 3, 3)
    with pytest.raises(ValueError, match="3 gold items and 2 system items"):
        accuracy("abc", "ab")


# "I can't go." + "Stop": the system leaves "can't" whole and reads one sentence
GOLD = [
    Word(0, 1, 0, "PRON", "PRP", "I", 3, "nsubj"),
    Word(2, 4, 0, "AUX", "MD", "can", 3, "aux"),
    Word(4, 7, 0, "PART", "RB", "not", 3, "advmod"),
    Word(8, 10, 0, "VERB", "VB", "go", -1, "root"),
    Word(10, 11, 0, "PUNCT", ".", ".", 3, "punct"),
    Word(12, 16, 1, "VERB", "VB", "stop", -1, "root"),
]
SYSTEM = [
    Word(0, 1, 0, "PRON", "PRP", "I", 2, "nsubj:pass"),
    Word(2, 7, 0, "AUX", "MD", "can", 2, "aux"),
    Word(8, 10, 0, "NOUN", "VB", "go", -1, "root"),
    Word(10, 11, 0, "PUNCT", ".", ".", 1, "punct"),
    Word(12, 16, 0, "VERB", "VBP", "stop", 2, "parataxis"),
]


def test_raw_text_measures_on_aligned_words() -> None:
    found = text_counts(GOLD, SYSTEM)
    assert found == {
        "words": Counts(4, 6, 5),
        "UPOS": Counts(3, 6, 5),
        "XPOS": Counts(3, 6, 5),
        "lemma": Counts(4, 6, 5),
        # right: I -> go, go = root; the full stop hangs on an unaligned word, "Stop" is no root
        "UAS": Counts(2, 6, 5),
        # nsubj:pass is not nsubj, but its basic label is
        "LAS": Counts(1, 6, 5),
        "LAS-basic": Counts(2, 6, 5),
        "sentences": Counts(0, 2, 1),
    }
    assert found["words"].f1 == pytest.approx(8 / 11)


def test_root_is_not_an_unaligned_head() -> None:
    # both heads unknown to the alignment must not look alike: gold root, system head that no gold word matches
    gold = [Word(0, 3, 0, head=-1, deprel="root"), Word(3, 5, 0, head=0, deprel="x")]
    system = [Word(0, 3, 0, head=1, deprel="root"), Word(3, 6, 0, head=-1, deprel="root")]
    assert text_counts(gold, system)["UAS"] == Counts(0, 2, 2)


def test_second_part_of_a_torn_word_has_no_wrong_lemma() -> None:
    gold, system = [Word(0, 4, 0, lemma="without"), Word(5, 8, 0, lemma="_")], [Word(0, 4, 0), Word(5, 8, 0, lemma="x")]
    assert text_counts(gold, system)["lemma"] == Counts(1, 2, 2)


def test_perfect_text() -> None:
    found = text_counts(GOLD, GOLD)
    assert {counts.f1 for counts in found.values()} == {1.0}
    assert found["sentences"] == Counts(2, 2, 2)


TAGS = ["DT", "NN", ",", "VBD", "RP", "."]
TREE = [(0, 6, "TOP"), (0, 6, "S"), (0, 3, "NP"), (3, 5, "VP"), (4, 5, "PRT")]


def test_evalb_deletes_top_and_punctuation_and_equates_particles() -> None:
    # without the comma (0,3) and (0,2) are the same two words; PRT = ADVP; TOP is no bracket; VP is missing
    system = [(0, 6, "TOP"), (0, 5, "S"), (0, 2, "NP"), (2, 3, "X"), (4, 5, "ADVP"), (3, 4, "VP")]
    result = evalb(TREE, TAGS, system, TAGS)
    # (2,3,X) covers only punctuation and vanishes
    assert result == Brackets(Counts(3, 4, 4), complete=0, sentences=1, errors=0)


def test_evalb_counts_unary_chains_as_often_as_they_occur() -> None:
    gold = [(0, 2, "S"), (0, 2, "NP"), (0, 2, "NP")]
    assert evalb(gold, ["NN", "NN"], [(0, 2, "NP")] * 3, ["NN", "NN"]).counts == Counts(2, 3, 3)


def test_evalb_skips_sentences_whose_punctuation_differs() -> None:
    tags = [*TAGS[:-1], "NN"]
    assert evalb(TREE, TAGS, TREE, tags) == Brackets(Counts(), errors=1)
    assert evalb(TREE, TAGS, TREE, TAGS) == Brackets(Counts(4, 4, 4), 1, 1, 0)
    # nothing but punctuation is neither right nor wrong
    assert evalb([(0, 1, "NP")], ["."], [(0, 1, "X")], ["."]) == Brackets(Counts())


def test_bracket_sums() -> None:
    assert Brackets(Counts(1, 2, 3), 0, 1, 0).plus(Brackets(Counts(), 1, 1, 2)) == Brackets(Counts(1, 2, 3), 1, 2, 2)


def graph(edges: list[list[object]], terms: dict[str, list[int]], implicit: tuple[int, ...] = ()) -> dict[str, object]:
    return {"edges": edges, "terms": terms, "punct": [3], "implicit": list(implicit)}


# "They want peace ." with a scene, an implicit participant, punctuation and a remote edge
UCCA_GOLD = graph(
    [
        [0, 1, "H", 0],
        [1, 2, "A", 0],
        [1, 3, "P", 0],
        [1, 4, "A", 0],
        [4, 5, "P|A", 0],
        [4, 2, "A", 1],
        [0, 6, "U", 0],
        [4, 7, "A", 0],
    ],
    {"2": [0], "3": [1], "5": [2], "6": [3]},
    implicit=(7,),
)


def test_ucca_edges_have_yields_without_punctuation_and_implicit_nodes() -> None:
    primary, remote = ucca_edges(UCCA_GOLD)
    assert [(sorted(span), sorted(categories)) for span, categories in primary] == [
        ([0, 1, 2], ["H"]),
        ([0], ["A"]),
        ([1], ["P"]),
        ([2], ["A"]),
        ([2], ["A", "P"]),
    ]
    assert remote == [(frozenset({0}), frozenset({"A"}))]


def test_ucca_scores_yields_once_and_any_common_category() -> None:
    system = graph(
        [
            [0, 1, "H", 0],
            [1, 2, "A", 0],
            [1, 3, "S", 0],
            [1, 4, "P", 0],
            [1, 5, "U", 0],
            [1, 4, "A", 1],
            [1, 2, "A", 1],
        ],
        {"2": [0], "3": [1], "4": [2], "5": [3]},
    )
    found = ucca(UCCA_GOLD, system)
    # yields {012} H, {0} A and {2} P match (P is one of the gold edge's two), {1} is S instead of P
    assert found["primary"] == Counts(3, 4, 4)
    # the chain over {2} counts twice
    assert found["primary-edges"] == Counts(3, 5, 4)
    assert found["remote"] == Counts(1, 1, 2)
    assert found["remote-edges"] == Counts(1, 1, 2)


def test_ucca_edges_with_several_categories_are_paired_at_best() -> None:
    gold = graph([[0, 1, "P|A", 0], [1, 2, "P", 0]], {"2": [0]})
    system = graph([[0, 1, "P", 0], [1, 2, "A", 0]], {"2": [0]})
    # P|A must take A, so that P can take P
    assert ucca(gold, system)["primary-edges"] == Counts(2, 2, 2)


RST_GOLD = ["NS", "elaboration", ["SN", "attribution", 0, 1], 2]
RST_SYSTEM = ["NS", "elaboration", 0, ["NS", "elaboration", 1, 2]]


def test_original_parseval_compares_inner_nodes() -> None:
    found = rst_parseval(RST_GOLD, RST_SYSTEM)
    assert [found[name] for name in ("span", "nuclearity", "relation", "full")] == [Counts(1, 2, 2)] * 4
    other = rst_parseval(RST_GOLD, ["NS", "causal", ["NS", "attribution", 0, 1], 2])
    assert [other[name].correct for name in ("span", "nuclearity", "relation", "full")] == [2, 1, 1, 0]


def test_rst_parseval_compares_all_nodes_but_the_root() -> None:
    found = rst_parseval(RST_GOLD, RST_SYSTEM)
    # gold: (0,2)N span, 0 S attribution, 1 N span, 2 S elaboration; system: 0 N span, (1,3)S elaboration, 1 N span,
    # 2 S elaboration
    assert found["rst-span"] == Counts(3, 4, 4)
    assert found["rst-nuclearity"] == Counts(2, 4, 4)
    assert found["rst-relation"] == Counts(2, 4, 4)
    assert found["rst-full"] == Counts(2, 4, 4)


def test_multinuclear_nodes_become_right_branching() -> None:
    assert binarized(["NN", "joint", 0, 1, 2, 3]) == ["NN", "joint", 0, ["NN", "joint", 1, ["NN", "joint", 2, 3]]]
    flat, nested = ["NN", "joint", 0, 1, 2], ["NN", "joint", 0, ["NN", "joint", 1, 2]]
    assert rst_parseval(nested, flat)["full"] == Counts(2, 2, 2)
    assert rst_parseval(nested, flat)["rst-full"] == Counts(4, 4, 4)


def test_edu_starts_with_and_without_the_first() -> None:
    assert edu_starts([0, 3, 7], [0, 3, 5, 9]) == {"all": Counts(2, 3, 4), "inside": Counts(1, 2, 3)}


def test_bio_spans() -> None:
    tags = ["B-PER", "I-PER", "O", "I-LOC", "B-LOC", "I-ORG", "O", "B-ORG"]
    assert bio_spans(tags) == [(0, 2, "PER"), (3, 4, "LOC"), (4, 5, "LOC"), (5, 6, "ORG"), (7, 8, "ORG")]


def test_srl_by_predicate_span_and_role() -> None:
    gold = {2: [(0, 2, "ARG0"), (3, 5, "ARG1"), (2, 3, "V"), (5, 6, "R-ARG0")], 6: [(7, 8, "ARG1")]}
    system = {2: [(0, 2, "ARG0"), (3, 6, "ARG1"), (2, 3, "V")], 7: [(7, 8, "ARG1")]}
    assert srl(gold, system, frozenset({"V"})) == Counts(1, 4, 3)


def test_bertscore_f_with_and_without_special_tokens() -> None:
    hypothesis = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
    reference = np.array([[3.0, 4.0], [5.0, 0.0]])
    first, second = np.array([True, False, False]), np.array([True, False])
    # without <s>: (0,2) and (3,4) meet only (5,0), with 0 and .6 -> .3; (5,0) at best (3,4) with .6
    assert bertscore_f(hypothesis, first, reference, second) == pytest.approx(2 * 0.3 * 0.6 / 0.9)
    # as candidates: (0,2) best meets the special (3,4) with .8, (3,4) meets it with 1 -> .9; (5,0) meets (1,0) with 1
    assert bertscore_f(hypothesis, first, reference, second, special_candidates=True) == pytest.approx(2 * 0.9 / 1.9)
    assert bertscore_f(hypothesis, first, reference, np.array([True, True])) == 0.0


def test_pearson() -> None:
    # deviations (-1, 0, 1) and (-1, 1, 0): 1 / 2
    assert pearson([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
