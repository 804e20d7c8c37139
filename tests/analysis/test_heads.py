"""Collins head rules, with the worked examples of their description."""

from __future__ import annotations

import pytest
from shared_data import shared_file

from arboreval.analysis.formats import ptb
from arboreval.analysis.head_rules import HEAD_RULES, basic_category, head_child
from arboreval.errors import StructureError


def heads(brackets):
    """(label, head word) of every node but TOP, in pre-order."""
    analysis = ptb.to_analysis(list(ptb.parse_trees([brackets])))
    tree, words = analysis.constituency, analysis.words
    found = zip(tree.label, tree.heads(analysis.tokens).tolist(), strict=True)
    return [(label, words[head]) for label, head in found if label != "TOP"]


def test_sentence():
    assert heads("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ chases) (NP (DT a) (NN cat)))))") == [
        ("S", "chases"),
        ("NP", "dog"),
        ("VP", "chases"),
        ("NP", "cat"),
    ]


def test_coordinated_noun_phrases_take_the_first():
    assert heads("(TOP (NP (NP (NN cats)) (CC and) (NP (NN dogs))))")[0] == ("NP", "cats")


def test_preposition():
    assert heads("(TOP (PP (IN by) (NP (NN train))))")[0] == ("PP", "by")


@pytest.mark.parametrize(
    ("phrase", "head"),
    [
        # possessive last, although a noun precedes it
        ("(NP (NN dog) (POS 's))", "'s"),
        ("(NP (NP (NN dog) (POS 's)) (NN tail))", "tail"),
        ("(NP (NN tax) (NNS cuts))", "cuts"),
        ("(NP (NP (DT the) (NN man)) (PP (IN of) (NP (NN steel))))", "man"),
        ("(NP (NP (DT the) (JJ old)) (NP (DT the) (JJ young)))", "old"),
        ("(NP (DT the) (ADJP (RB very) (JJ rich)))", "rich"),
        ("(NP ($ $) (CD 5))", "$"),
        ("(NP (CD 3) (JJ odd))", "3"),
        ("(NP (DT the) (JJS best) (RB ever))", "ever"),
        ("(NP (DT this) (DT that))", "that"),
        ("(NML (NN tax) (NN cut))", "cut"),
        ("(JJP (RB very) (JJ old))", "old"),
        ("(NP-SBJ (DT the) (NN dog))", "dog"),
        # coordination: the matched child behind a conjunction gives way to what stands before it
        ("(NP (NN bread) (CC and) (NN butter))", "bread"),
        ("(NP (NN bread) (, ,) (CC and) (NN butter))", "bread"),
        ("(NP (NN bread) (CONJP (RB as) (RB well) (IN as)) (NN butter))", "bread"),
        # nothing but punctuation is left of the conjunction: the head stays
        ("(NP (`` ``) (CC and) (NN butter))", "butter"),
        # index 1 is too early for the fix
        ("(NP (CC and) (NN butter))", "butter"),
        # a fall-back child is not moved
        ("(UCP (ADJP (JJ old)) (CC and) (NP (NN rust)))", "rust"),
        ("(FRAG (NP (NN noon)) (ADVP (RB today)))", "today"),
        ("(INTJ (UH oh) (UH well))", "oh"),
        ("(X (NN a) (NN b))", "b"),
        ("(NX (NN a) (NN b))", "a"),
        ("(WEIRD (NN a) (NN b))", "b"),
        ("(VP (TO to) (VP (VB go)))", "to"),
        ("(VP (MD will) (VP (VB go)))", "will"),
        ("(VP (AUX has) (VP (VBN gone)))", "has"),
        ("(VP (VP (VBD ate)) (CC and) (VP (VBD drank)))", "ate"),
        ("(ADVP (RB very) (RB soon))", "soon"),
        ("(ADJP (RB too) (JJ big))", "big"),
        ("(SBAR (IN that) (S (NP (PRP he)) (VP (VBD left))))", "that"),
        ("(SBAR (WHNP (WP who)) (S (VP (VBD left))))", "who"),
        ("(SQ (VBZ is) (NP (PRP he)) (ADJP (JJ old)))", "is"),
        ("(SINV (VP (VBD said)) (NP (PRP he)))", "said"),
        ("(QP (IN about) (CD 3))", "about"),
        ("(WHADVP (WRB how) (RB long))", "how"),
        ("(PRN (, ,) (S (VP (VBD went))) (, ,))", ","),
        ("(LST (LS 1) (: :))", "1"),
        ("(PRT (RP up))", "up"),
        ("(RRC (ADVP (RB now)) (VP (VBN gone)))", "gone"),
    ],
)
def test_rules(phrase, head):
    assert heads(f"(TOP {phrase})")[0][1] == head


def test_priority_goes_before_position():
    assert head_child("S", ["NP", "VP", "S"], [False] * 3) == 1
    assert head_child("S", ["S", "VP"], [False] * 2) == 1
    assert head_child("PP", ["IN", "NP", "IN"], [True, False, True]) == 2


def test_table_is_complete():
    assert len(HEAD_RULES) == 25
    assert HEAD_RULES["VP"][1][8:10] == ("AUX", "AUXG")
    assert HEAD_RULES["QP"] == ("left", ("$", "IN", "NNS", "NN", "JJ", "RB", "DT", "CD", "NCD", "QP", "JJR", "JJS"))


@pytest.mark.parametrize(
    ("label", "basic"), [("NP-SBJ", "NP"), ("NP=2", "NP"), ("-LRB-", "-LRB-"), ("NP|VP", "NP"), ("$", "$"), ("", "")]
)
def test_basic_category(label, basic):
    assert basic_category(label) == basic


def test_no_children():
    with pytest.raises(StructureError, match="without children"):
        head_child("NP", [], [])


def test_heads_over_several_sentences():
    trees = list(ptb.parse_trees(["(TOP (S (NP (PRP I)) (VP (VBP go))))", "(TOP (NP (NN noon)))"]))
    analysis = ptb.to_analysis(trees)
    assert analysis.constituency.heads(analysis.tokens).tolist() == [1, 1, 0, 1, 2, 2]


def test_table_agrees_with_the_published_one():
    rows = shared_file("lexicon/collins-head-rules.tsv").read_text(encoding="utf-8").splitlines()[1:]
    table = {label: (side, tuple(priority.split())) for label, side, priority in (row.split("\t") for row in rows)}
    assert table.pop("NP")[0] == "special"
    # the description adds X, and the auxiliary tags that some parsers write
    coded = {
        label: (side, tuple(c for c in row if c not in ("AUX", "AUXG"))) for label, (side, row) in HEAD_RULES.items()
    }
    assert coded == table | {"X": ("right", ())}
