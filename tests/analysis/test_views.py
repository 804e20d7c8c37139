"""Prepositions as heads, collapsed Stanford-style edges, and the subtree counts that metrics rest on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from analysis_strategies import dependencies, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared_file

from arboreval.analysis.dependency_views import case_as_head, collapsed
from arboreval.analysis.formats import conllu
from arboreval.analysis.structures import DependencyTree, StructureError, Tokens, Vectors


def parse(rows, scheme="ud2"):
    """Text, tokens and tree of rows ``form/TAG head relation``, heads counted from 1."""
    words = [row.split() for row in rows.strip().splitlines()]
    forms, tags = zip(*(word[0].rsplit("/", 1) for word in words), strict=True)
    text = " ".join(forms)
    ends = np.cumsum([len(form) + 1 for form in forms]) - 1
    starts = ends - [len(form) for form in forms]
    coarse = {"IN": "ADP", "TO": "ADP", "JJ": "ADJ", "NN": "NOUN", "POS": "PART"}
    upos = tuple(coarse.get(tag, "X") for tag in tags)
    lemmas = tuple(form.lower() for form in forms)
    tokens = Tokens(starts, ends, np.zeros(len(forms), int), upos, tags, lemmas)
    head = np.array([int(word[1]) - 1 for word in words])
    return text, tokens, DependencyTree(head, tuple(word[2] for word in words), scheme)


def edges(rows, scheme="ud2"):
    """Edges as ``relation(head, dependent)`` with words counted from 1 and 0 for the root, as in the literature."""
    text, tokens, tree = parse(rows, scheme)
    return [f"{relation}({head + 1},{word + 1})" for head, relation, word in collapsed(tree, tokens, text)]


ACTIVE = """
The/DT 2 det
government/NN 4 nsubj
has/VBZ 4 aux
discussed/VBN 0 root
the/DT 6 det
document/NN 4 obj
./. 4 punct"""
PASSIVE = """
The/DT 2 det
document/NN 4 nsubj:pass
was/VBD 4 aux:pass
discussed/VBN 0 root
by/IN 7 case
the/DT 7 det
government/NN 4 obl:agent
./. 4 punct"""
PASSIVE_CLEAR = """
The/DT 2 det
document/NN 4 nsubjpass
was/VBD 4 auxpass
discussed/VBN 0 ROOT
by/IN 4 agent
the/DT 7 det
government/NN 5 pobj
./. 4 punct"""


def test_worked_example():
    active = ["det(2,1)", "nsubj(4,2)", "aux(4,3)", "root(0,4)", "det(6,5)", "dobj(4,6)"]
    passive = ["det(2,1)", "nsubjpass(4,2)", "auxpass(4,3)", "root(0,4)", "det(7,6)", "agent(4,7)"]
    assert edges(ACTIVE) == active
    assert edges(ACTIVE.replace("obj", "dobj").replace("root", "ROOT"), "clear") == active
    assert edges(PASSIVE) == passive
    assert edges(PASSIVE.replace("obl:agent", "obl")) == passive
    assert edges(PASSIVE_CLEAR, "clear") == passive


def test_by_without_passive_is_a_preposition():
    rows = "He/PRP 2 nsubj\nwent/VBD 0 root\nby/IN 4 case\ntrain/NN 2 obl"
    assert edges(rows) == ["nsubj(2,1)", "root(0,2)", "prep_by(2,4)"]


@pytest.mark.parametrize(
    ("scheme", "rows", "expected"),
    [
        ("ud2", "Ran/VBD 0 root\nout/IN 4 case\nof/IN 2 fixed\nmilk/NN 1 obl", ["root(0,1)", "prep_out_of(1,4)"]),
        ("clear", "Ran/VBD 0 ROOT\nout/IN 1 prep\nof/IN 2 prep\nmilk/NN 3 pobj", ["root(0,1)", "prep_out_of(1,4)"]),
        (
            "clear",
            "Left/VBD 0 ROOT\nbecause/IN 1 prep\nof/IN 2 pcomp\nrain/NN 3 pobj",
            ["root(0,1)", "prep_because_of(1,4)"],
        ),
        ("ud2", "Won/VBD 0 root\nby/IN 3 mark\ncheating/VBG 1 advcl", ["root(0,1)", "prepc_by(1,3)"]),
        ("clear", "Won/VBD 0 ROOT\nby/IN 1 prep\ncheating/VBG 2 pcomp", ["root(0,1)", "prepc_by(1,3)"]),
        ("ud2", "Won/VBD 0 root\nwhile/IN 3 mark\ncheating/VBG 1 advcl", ["root(0,1)", "mark(3,2)", "advcl(1,3)"]),
        (
            "ud2",
            "Won/VBD 0 root\nas/IN 4 mark\nhe/PRP 4 nsubj\nran/VBD 1 advcl",
            ["root(0,1)", "mark(4,2)", "nsubj(4,3)", "advcl(1,4)"],
        ),
        # several conjuncts: all to the first, with the conjunction that comes at the end
        (
            "ud2",
            "a/NN 0 root\n,/, 3 punct\nb/NN 1 conj\nand/CC 5 cc\nc/NN 1 conj",
            ["root(0,1)", "conj_and(1,3)", "conj_and(1,5)"],
        ),
        (
            "clear",
            "a/NN 0 ROOT\n,/, 1 punct\nb/NN 1 conj\nand/CC 3 cc\nc/NN 3 conj",
            ["root(0,1)", "conj_and(1,3)", "conj_and(1,5)"],
        ),
        ("ud2", "a/NN 0 root\n;/: 3 punct\nb/NN 1 conj", ["root(0,1)", "conj(1,3)"]),
        ("ud2", "And/CC 3 cc\nhe/PRP 3 nsubj\nleft/VBD 0 root", ["cc(3,1)", "nsubj(3,2)", "root(0,3)"]),
        (
            "ud2",
            "both/CC 2 cc:preconj\na/NN 0 root\nor/CC 4 cc\nb/NN 2 conj",
            ["preconj(2,1)", "root(0,2)", "conj_or(2,4)"],
        ),
        # the possessive marker stays
        ("ud2", "dog/NN 3 nmod:poss\n's/POS 1 case\ntail/NN 0 root", ["poss(3,1)", "possessive(1,2)", "root(0,3)"]),
        ("clear", "dog/NN 3 poss\n's/POS 1 case\ntail/NN 0 ROOT", ["poss(3,1)", "possessive(1,2)", "root(0,3)"]),
        ("ud2", "not/RB 2 advmod\nnow/RB 0 root\nsoon/RB 2 advmod", ["neg(2,1)", "root(0,2)", "advmod(2,3)"]),
        # "no" negates as an adverb; a determiner stays one
        (
            "ud2",
            "no/RB 2 advmod\nlonger/RBR 3 advmod\nhas/VBZ 0 root\nno/DT 5 det\nmoney/NN 3 obj",
            ["neg(2,1)", "advmod(3,2)", "root(0,3)", "det(5,4)", "dobj(3,5)"],
        ),
        (
            "ud2",
            "left/VBD 0 root\nyesterday/NN 1 obl:unmarked\nmiles/NNS 1 obl:unmarked",
            ["root(0,1)", "tmod(1,2)", "npadvmod(1,3)"],
        ),
        ("ud2", "left/VBD 0 root\nx/NN 1 obl:tmod\ny/NN 1 obl:npmod", ["root(0,1)", "tmod(1,2)", "npadvmod(1,3)"]),
        (
            "clear",
            "left/VBD 0 ROOT\nyesterday/NN 1 npadvmod\nmiles/NNS 1 npadvmod",
            ["root(0,1)", "tmod(1,2)", "npadvmod(1,3)"],
        ),
        ("ud2", "looks/VBZ 0 root\ngood/JJ 1 xcomp", ["root(0,1)", "acomp(1,2)"]),
        ("ud2", "wants/VBZ 0 root\nto/TO 3 mark\ngo/VB 1 xcomp", ["root(0,1)", "mark(3,2)", "xcomp(1,3)"]),
        ("clear", "is/VBZ 0 ROOT\nking/NN 1 attr\ngood/JJ 1 acomp", ["root(0,1)", "xcomp(1,2)", "acomp(1,3)"]),
        ("ud2", "man/NN 0 root\nknown/VBN 1 acl\nsang/VBD 1 acl:relcl", ["root(0,1)", "vmod(1,2)", "rcmod(1,3)"]),
        ("clear", "man/NN 0 ROOT\nknown/VBN 1 acl\nsang/VBD 1 relcl", ["root(0,1)", "vmod(1,2)", "rcmod(1,3)"]),
        (
            "ud2",
            "tax/NN 2 compound\ncut/NN 0 root\nup/RP 2 compound:prt\nB/NNP 2 flat",
            ["nn(2,1)", "root(0,2)", "prt(2,3)", "nn(2,4)"],
        ),
        ("ud2", "all/DT 3 det:predet\n3/CD 3 nummod\ndogs/NNS 0 root", ["predet(3,1)", "num(3,2)", "root(0,3)"]),
        (
            "clear",
            "oh/UH 2 intj\ngave/VBD 0 ROOT\nhim/PRP 2 dative\nit/PRP 2 oprd",
            ["discourse(2,1)", "root(0,2)", "iobj(2,3)", "dobj(2,4)"],
        ),
        (
            "clear",
            "gave/VBD 0 ROOT\nit/PRP 1 dobj\nto/IN 1 dative\nhim/PRP 3 pobj",
            ["root(0,1)", "dobj(1,2)", "prep_to(1,4)"],
        ),
        # a stranded preposition stays a node; what hung below a dropped one goes to its object
        ("clear", "what/WP 2 dobj\nlook/VBP 0 ROOT\nat/IN 2 prep", ["dobj(2,1)", "root(0,2)", "prep(2,3)"]),
        (
            "clear",
            "left/VBD 0 ROOT\nright/RB 3 advmod\nafter/IN 1 prep\nlunch/NN 3 pobj",
            ["root(0,1)", "advmod(4,2)", "prep_after(1,4)"],
        ),
        (
            "clear",
            "go/VB 0 ROOT\nto/IN 1 prep\nA/NNP 2 pobj\nor/CC 2 cc\nfrom/IN 2 conj\nB/NNP 5 pobj",
            ["root(0,1)", "prep_to(1,3)", "prep_from(1,6)"],
        ),
        (
            "ud2",
            "friend/NN 0 root\nI/PRP 3 nsubj\nlive/VBP 1 acl:relcl\nwith/IN 3 obl",
            ["root(0,1)", "nsubj(3,2)", "rcmod(1,3)", "prep(3,4)"],
        ),
        ("ud2", "a/DT 2 det\nfear/NN 0 root\nof/IN 2 nmod", ["det(2,1)", "root(0,2)", "prep(2,3)"]),
        # a noun that a parser takes for a preposition is not lost
        (
            "clear",
            "felt/VBD 0 ROOT\ntwist/NN 1 prep\nof/IN 2 prep\nfate/NN 3 pobj",
            ["root(0,1)", "prep(1,2)", "prep_of(2,4)"],
        ),
        (
            "clear",
            "ill/JJ 0 ROOT\nof/IN 1 prep\nflu/NN 2 pobj\nand/CC 2 cc\nlack/NN 2 conj\nof/IN 5 prep\nair/NN 6 pobj",
            ["root(0,1)", "prep_of(1,3)", "conj_and(3,5)", "prep_of(5,7)"],
        ),
        # it is not under nmod or obl, so there is no relation to collapse it into
        (
            "ud2",
            "He/PRP 4 nsubj\nis/VBZ 4 cop\nin/IN 4 case\nParis/NNP 0 root",
            ["nsubj(4,1)", "cop(4,2)", "prep(4,3)", "root(0,4)"],
        ),
        ("ud2", "x/NN 0 root\n-/HYPH 1 punct\ny/NN 2 dep", ["root(0,1)", "dep(1,3)"]),
    ],
)
def test_collapsed(scheme, rows, expected):
    assert edges(rows, scheme) == expected


@pytest.mark.parametrize(
    ("ud", "clear", "expected"),
    [
        (
            "go/VB 0 root\nto/IN 5 case\nand/CC 4 cc\nfrom/IN 2 conj\nschool/NN 1 obl",
            "go/VB 0 ROOT\nto/IN 1 prep\nand/CC 2 cc\nfrom/IN 2 conj\nschool/NN 4 pobj",
            ["root(0,1)", "prep(1,2)", "conj_and(2,4)", "pobj(4,5)"],
        ),
        (
            "rule/NN 0 root\nfor/IN 9 case\n,/, 4 punct\nby/IN 2 conj\n,/, 7 punct\nor/CC 7 cc\nof/IN 2 conj\n"
            "the/DT 9 det\npeople/NNS 1 nmod",
            "rule/NN 0 ROOT\nfor/IN 1 prep\n,/, 2 punct\nby/IN 2 conj\n,/, 4 punct\nor/CC 4 cc\nof/IN 4 conj\n"
            "the/DT 9 det\npeople/NNS 7 pobj",
            ["root(0,1)", "prep(1,2)", "conj_or(2,4)", "conj_or(2,7)", "det(9,8)", "pobj(7,9)"],
        ),
        (
            "is/VBZ 2 aux:pass\nread/VBN 0 root\nby/IN 6 case\nor/CC 5 cc\nto/IN 3 conj\nus/PRP 2 obl:agent",
            "is/VBZ 2 auxpass\nread/VBN 0 ROOT\nby/IN 2 agent\nor/CC 3 cc\nto/IN 3 conj\nus/PRP 5 pobj",
            ["auxpass(2,1)", "root(0,2)", "agent(2,3)", "conj_or(3,5)", "pobj(5,6)"],
        ),
        (
            "ate/VBD 0 root\nbefore/IN 5 mark\nor/CC 4 cc\nafter/IN 2 conj\nswimming/VBG 1 advcl",
            "ate/VBD 0 ROOT\nbefore/IN 1 prep\nor/CC 2 cc\nafter/IN 2 conj\nswimming/VBG 4 pcomp",
            ["root(0,1)", "prep(1,2)", "conj_or(2,4)", "pcomp(4,5)"],
        ),
        # several prepositions, of which one is coordinated
        (
            "ran/VBD 0 root\nfrom/IN 6 case\nbehind/IN 6 case\nor/CC 5 cc\nunder/IN 3 conj\nit/PRP 1 obl",
            "ran/VBD 0 ROOT\nfrom/IN 1 prep\nbehind/IN 2 prep\nor/CC 3 cc\nunder/IN 3 conj\nit/PRP 5 pobj",
            ["root(0,1)", "prep(1,2)", "prep(2,3)", "conj_or(3,5)", "pobj(5,6)"],
        ),
    ],
)
def test_prepositions_that_share_their_object(ud, clear, expected):
    assert edges(clear, "clear") == expected
    assert edges(ud) == expected


@pytest.mark.parametrize(
    ("ud", "clear", "expected"),
    [
        # spaCy puts the noun beside the second preposition
        (
            "left/VBD 0 root\nbecause/IN 4 case\nof/IN 2 fixed\nrain/NN 1 obl",
            "left/VBD 0 ROOT\nbecause/IN 1 prep\nof/IN 2 pcomp\nrain/NN 2 pobj",
            ["root(0,1)", "prep_because_of(1,4)"],
        ),
        (
            "left/VBD 0 root\nbecause/IN 5 mark\nof/IN 2 fixed\nnot/RB 5 advmod\nwinning/VBG 1 advcl",
            "left/VBD 0 ROOT\nbecause/IN 1 prep\nof/IN 2 pcomp\nnot/RB 5 neg\nwinning/VBG 2 pcomp",
            ["root(0,1)", "neg(5,4)", "prepc_because_of(1,5)"],
        ),
        (
            "left/VBD 0 root\nonly/RB 5 advmod\ndue/IN 5 case\nto/IN 3 fixed\nhim/PRP 1 obl",
            "left/VBD 0 ROOT\nonly/RB 3 advmod\ndue/IN 1 prep\nto/IN 3 pcomp\nhim/PRP 3 pobj",
            ["root(0,1)", "advmod(5,2)", "prep_due_to(1,5)"],
        ),
        # their first words are modifiers of the last ones
        (
            "pets/NNS 0 root\nsuch/JJ 4 case\nas/IN 2 fixed\ndogs/NNS 1 nmod",
            "pets/NNS 0 ROOT\nsuch/JJ 3 amod\nas/IN 1 prep\ndogs/NNS 3 pobj",
            ["root(0,1)", "prep_such_as(1,4)"],
        ),
        (
            "sat/VBD 0 root\njust/RB 5 advmod\ninstead/RB 5 mark\nof/IN 3 fixed\nrunning/VBG 1 advcl",
            "sat/VBD 0 ROOT\njust/RB 4 advmod\ninstead/RB 4 advmod\nof/IN 1 prep\nrunning/VBG 4 pcomp",
            ["root(0,1)", "advmod(5,2)", "prepc_instead_of(1,5)"],
        ),
        (
            "saw/VBD 0 root\na/NN 1 obj\nrather/RB 5 case\nthan/IN 3 fixed\nb/NN 2 nmod",
            "saw/VBD 0 ROOT\na/NN 1 dobj\nrather/RB 4 advmod\nthan/IN 2 cc\nb/NN 4 pobj",
            ["root(0,1)", "dobj(1,2)", "prep_rather_than(2,5)"],
        ),
        (
            "a/NN 0 root\nas/RB 5 cc\nwell/RB 2 fixed\nas/IN 2 fixed\nb/NN 1 conj",
            "a/NN 0 ROOT\nas/RB 4 advmod\nwell/RB 4 advmod\nas/IN 1 cc\nb/NN 1 conj",
            ["root(0,1)", "conj_as_well_as(1,5)"],
        ),
    ],
)
def test_expressions_of_several_words(ud, clear, expected):
    assert edges(clear, "clear") == expected
    assert edges(ud) == expected


@pytest.mark.parametrize(
    ("ud", "clear", "expected"),
    [
        (
            "left/VBD 0 root\nwithout/IN 5 mark\nhaving/VBG 5 aux\nbeen/VBN 5 aux:pass\nseen/VBN 1 advcl",
            "left/VBD 0 ROOT\nwithout/IN 1 prep\nhaving/VBG 5 aux\nbeen/VBN 5 auxpass\nseen/VBN 2 pcomp",
            ["root(0,1)", "aux(5,3)", "auxpass(5,4)", "prepc_without(1,5)"],
        ),
        (
            "admitted/VBD 0 root\nto/IN 3 mark\nlying/VBG 1 advcl",
            "admitted/VBD 0 ROOT\nto/IN 1 prep\nlying/VBG 2 pcomp",
            ["root(0,1)", "prepc_to(1,3)"],
        ),
        (
            "fell/VBD 0 root\ndue/IN 4 mark\nto/IN 2 fixed\nslipping/VBG 1 advcl",
            "fell/VBD 0 ROOT\ndue/IN 1 prep\nto/IN 2 pcomp\nslipping/VBG 2 pcomp",
            ["root(0,1)", "prepc_due_to(1,4)"],
        ),
    ],
)
def test_gerunds(ud, clear, expected):
    assert edges(clear, "clear") == expected
    assert edges(ud) == expected


def test_gerunds_by_their_first_verb():
    rows = "tired/JJ 0 root\nof/IN 4 mark\nbeing/VBG 4 cop\nill/JJ 1 advcl"
    assert edges(rows) == ["root(0,1)", "cop(4,3)", "prepc_of(1,4)"]
    # an infinitive, and a finite verb
    rows = "seem/VBP 0 root\nto/TO 4 mark\nbe/VB 4 aux\nwinning/VBG 1 advcl"
    assert edges(rows) == ["root(0,1)", "mark(4,2)", "aux(4,3)", "advcl(1,4)"]
    rows = "more/JJR 0 root\nthan/IN 4 mark\nwere/VBD 4 aux\nworking/VBG 1 advcl"
    assert edges(rows) == ["root(0,1)", "mark(4,2)", "aux(4,3)", "advcl(1,4)"]
    # of two prepositions the one before the gerund
    rows = (
        "moves/VBZ 0 root\nfrom/IN 5 mark\nbeing/VBG 5 cop\nover/IN 5 case\nsea/NN 1 advcl\nto/IN 9 mark\n"
        "being/VBG 9 cop\nover/IN 9 case\nland/NN 5 conj"
    )
    assert edges(rows) == [
        "root(0,1)", "cop(5,3)", "prep(5,4)", "prepc_from(1,5)", "cop(9,7)", "prep(9,8)", "prepc_to(1,9)"
    ]  # fmt: skip


def test_possessives_without_the_tags_of_the_penn_treebank():
    text, tokens, tree = parse("dog/NN 3 nmod:poss\n's/POS 1 case\ntail/NN 0 root")
    tokens = replace(tokens, xpos=("SG-NOM", "GEN", "SG-NOM"))
    assert collapsed(tree, tokens, text) == ((2, "poss", 0), (0, "possessive", 1), (-1, "root", 2))
    assert case_as_head(tree, tokens).head.tolist() == tree.head.tolist()


@pytest.mark.parametrize(
    ("ud", "clear", "expected"),
    [
        (
            "a/NN 0 root\nand/CC 3 cc\nb/NN 1 conj\nbut/CC 6 cc\nnot/RB 6 advmod\nc/NN 1 conj",
            "a/NN 0 ROOT\nand/CC 1 cc\nb/NN 1 conj\nbut/CC 1 cc\nnot/RB 6 neg\nc/NN 1 conj",
            ["root(0,1)", "conj_and(1,3)", "neg(6,5)", "conj_but(1,6)"],
        ),
        # "apples, pears and plums, but figs"
        (
            "a/NN 0 root\nb/NN 1 conj\nand/CC 4 cc\nc/NN 1 conj\nbut/CC 6 cc\nd/NN 1 conj",
            "a/NN 0 ROOT\nb/NN 1 conj\nand/CC 2 cc\nc/NN 2 conj\nbut/CC 2 cc\nd/NN 2 conj",
            ["root(0,1)", "conj_and(1,2)", "conj_and(1,4)", "conj_but(1,6)"],
        ),
        # a conjunction before a word is not its own, and one is not that of the conjuncts before
        (
            "But/CC 2 cc\na/NN 0 root\nand/CC 4 cc\nb/NN 2 conj\nc/NN 2 conj",
            "But/CC 2 cc\na/NN 0 ROOT\nand/CC 2 cc\nb/NN 2 conj\nc/NN 2 conj",
            ["cc(2,1)", "root(0,2)", "conj_and(2,4)", "conj(2,5)"],
        ),
        # what hangs below a conjunction goes to the conjunct
        (
            "a/NN 0 root\nbut/CC 4 cc\nalso/RB 4 advmod\nb/NN 1 conj",
            "a/NN 0 ROOT\nbut/CC 1 cc\nalso/RB 2 advmod\nb/NN 1 conj",
            ["root(0,1)", "advmod(4,3)", "conj_but(1,4)"],
        ),
    ],
)
def test_conjunctions(ud, clear, expected):
    assert edges(clear, "clear") == expected
    assert edges(ud) == expected


@pytest.mark.parametrize(
    ("ud", "clear", "expected"),
    [
        # the same preposition: a conjunct like any other
        (
            "is/VBZ 0 root\nin/IN 3 case\nA/NNP 1 obl\nand/CC 6 cc\nin/IN 6 case\nB/NNP 3 conj",
            "is/VBZ 0 ROOT\nin/IN 1 prep\nA/NNP 2 pobj\nand/CC 2 cc\nin/IN 2 conj\nB/NNP 5 pobj",
            ["root(0,1)", "prep_in(1,3)", "conj_and(3,6)"],
        ),
        (
            "seen/VBN 0 root\nby/IN 3 case\nA/NNP 1 obl:agent\nor/CC 6 cc\nby/IN 6 case\nB/NNP 3 conj",
            "seen/VBN 0 ROOT\nby/IN 1 agent\nA/NNP 2 pobj\nor/CC 2 cc\nby/IN 2 conj\nB/NNP 5 pobj",
            ["root(0,1)", "agent(1,3)", "conj_or(3,6)"],
        ),
        (
            "won/VBD 0 root\nby/IN 3 mark\nlying/VBG 1 advcl\nand/CC 6 cc\nby/IN 6 mark\ncheating/VBG 3 conj",
            "won/VBD 0 ROOT\nby/IN 1 prep\nlying/VBG 2 pcomp\nand/CC 2 cc\nby/IN 2 conj\ncheating/VBG 5 pcomp",
            ["root(0,1)", "prepc_by(1,3)", "conj_and(3,6)"],
        ),
        # another one: Stanford's graphs have it below a copy of the verb, here it is below the verb
        (
            "go/VB 0 root\nto/IN 3 case\nA/NNP 1 obl\nor/CC 6 cc\nfrom/IN 6 case\nB/NNP 3 conj",
            "go/VB 0 ROOT\nto/IN 1 prep\nA/NNP 2 pobj\nor/CC 2 cc\nfrom/IN 2 conj\nB/NNP 5 pobj",
            ["root(0,1)", "prep_to(1,3)", "prep_from(1,6)"],
        ),
        (
            "a/NN 0 root\nof/IN 3 case\nb/NN 1 nmod\n,/, 6 punct\nin/IN 6 case\nc/NN 3 conj\nand/CC 9 cc\n"
            "in/IN 9 case\nd/NN 3 conj",
            "a/NN 0 ROOT\nof/IN 1 prep\nb/NN 2 pobj\n,/, 2 punct\nin/IN 2 conj\nc/NN 5 pobj\nand/CC 5 cc\n"
            "in/IN 5 conj\nd/NN 8 pobj",
            ["root(0,1)", "prep_of(1,3)", "prep_in(1,6)", "prep_in(1,9)"],
        ),
        # prepositions of several words
        (
            "left/VBD 0 root\nbecause/IN 4 case\nof/IN 2 fixed\nher/PRP 1 obl\nand/CC 8 cc\nout/IN 8 case\n"
            "of/IN 6 fixed\nfear/NN 4 conj",
            "left/VBD 0 ROOT\nbecause/IN 1 prep\nof/IN 2 pcomp\nher/PRP 2 pobj\nand/CC 2 cc\nout/IN 2 conj\n"
            "of/IN 6 prep\nfear/NN 7 pobj",
            ["root(0,1)", "prep_because_of(1,4)", "prep_out_of(1,8)"],
        ),
        (
            "left/VBD 0 root\nbecause/IN 4 case\nof/IN 2 fixed\nher/PRP 1 obl\nand/CC 8 cc\nbecause/IN 8 case\n"
            "of/IN 6 fixed\nhim/PRP 4 conj",
            "left/VBD 0 ROOT\nbecause/IN 1 prep\nof/IN 2 pcomp\nher/PRP 2 pobj\nand/CC 2 cc\nbecause/IN 2 conj\n"
            "of/IN 6 pcomp\nhim/PRP 6 pobj",
            ["root(0,1)", "prep_because_of(1,4)", "conj_and(4,8)"],
        ),
        # a conjunct without a preposition
        (
            "is/VBZ 0 root\nin/IN 3 case\nA/NNP 1 obl\nand/CC 5 cc\nthere/RB 3 conj",
            "is/VBZ 0 ROOT\nin/IN 1 prep\nA/NNP 2 pobj\nand/CC 2 cc\nthere/RB 2 conj",
            ["root(0,1)", "prep_in(1,3)", "conj_and(3,5)"],
        ),
    ],
)
def test_coordinated_prepositions(ud, clear, expected):
    assert edges(clear, "clear") == expected
    assert edges(ud) == expected


def test_coordinated_prepositions_without_a_relation_to_go_into():
    # one that shares its object, and one after an adverb
    rows = (
        "go/VB 0 root\nto/IN 3 case\nA/NNP 1 obl\nand/CC 8 cc\nto/IN 8 case\nor/CC 7 cc\nfrom/IN 5 conj\nB/NNP 3 conj"
    )
    assert edges(rows)[1:] == ["prep_to(1,3)", "prep(8,5)", "conj_or(5,7)", "conj_and(3,8)"]
    rows = "do/VB 0 root\nit/PRP 1 obj\nfast/RB 1 advmod\nand/CC 6 cc\nwith/IN 6 case\ncare/NN 3 conj"
    assert edges(rows)[-2:] == ["prep(6,5)", "conj_and(3,6)"]


@pytest.mark.parametrize(("scheme", "above_or"), [("ud2", 5), ("clear", 2)])
def test_roots_with_the_relations_of_other_words(scheme, above_or):
    # the last word must not be taken for the head of the root
    rows = f"And/CC 2 cc\nleft/VBD 0 conj\nthen/RB 2 advmod\nor/CC {above_or} cc\nx/VBD 2 conj"
    assert edges(rows, scheme) == ["cc(2,1)", "conj(0,2)", "advmod(2,3)", "conj_or(2,5)"]


@pytest.mark.parametrize("scheme", ["ud2", "clear"])
def test_a_root_that_is_punctuation_is_kept(scheme):
    assert edges("-/: 0 punct\na/NN 1 nsubj\n./. 1 punct", scheme) == ["punct(0,1)", "nsubj(1,2)"]
    assert edges("!/. 0 punct", scheme) == ["punct(0,1)"]


def test_a_root_is_no_agent():
    rows = "By/IN 2 case\nhim/PRP 0 obl\nwhen/WRB 5 advmod\nwas/VBD 5 aux:pass\nseen/VBN 2 acl"
    assert edges(rows)[0] == "prep_by(0,2)"


def test_unknown_schemes_are_refused():
    text, tokens, tree = parse("a/NN 0 root", "other")
    with pytest.raises(StructureError, match="cannot be collapsed"):
        collapsed(tree, tokens, text)
    with pytest.raises(StructureError, match="cannot be made heads"):
        case_as_head(tree, tokens)


def prep_heads(rows):
    _, tokens, tree = parse(rows)
    made = case_as_head(tree, tokens)
    assert made.scheme == "ud2+prep-head"
    assert case_as_head(made, tokens) is made
    return [(head + 1, relation) for head, relation in zip(made.head.tolist(), made.relation, strict=True)]


def test_case_markers_as_heads():
    rows = "sat/VBD 0 root\nin/IN 4 case\nthe/DT 4 det\nsun/NN 1 obl"
    assert prep_heads(rows) == [(0, "root"), (1, "obl"), (4, "det"), (2, "pobj")]
    # fixed expressions stay below their first word
    rows = "left/VBD 0 root\nbecause/IN 4 case\nof/IN 2 fixed\nrain/NN 1 obl"
    assert prep_heads(rows) == [(0, "root"), (1, "obl"), (2, "fixed"), (2, "pobj")]
    # of several markers each is above the next
    rows = "came/VBD 0 root\nfrom/IN 4 case\nbehind/IN 4 case\nit/PRP 1 obl"
    assert prep_heads(rows) == [(0, "root"), (1, "obl"), (2, "pobj"), (3, "pobj")]
    # dependents to the left of the marker move up with it
    rows = "He/PRP 4 nsubj\nis/VBZ 4 cop\nin/IN 4 case\nParis/NNP 0 root"
    assert prep_heads(rows) == [(3, "nsubj"), (3, "cop"), (0, "root"), (3, "pobj")]
    # a conjunct with a marker of its own hangs below the first marker
    rows = "go/VB 0 root\nto/IN 3 case\nA/NNP 1 obl\nand/CC 6 cc\nto/IN 6 case\nB/NNP 3 conj"
    assert prep_heads(rows) == [(0, "root"), (1, "obl"), (2, "pobj"), (5, "cc"), (2, "conj"), (5, "pobj")]
    # and so does what follows it
    assert prep_heads(f"{rows}\nsoon/RB 3 advmod")[-3:] == [(2, "conj"), (5, "pobj"), (2, "advmod")]
    # a phrase that moves up does so with its own marker
    rows = "went/VBD 0 root\nat/IN 3 case\nleast/JJS 5 nmod\nto/IN 5 case\nA/NNP 1 obl"
    assert prep_heads(rows) == [(0, "root"), (4, "nmod"), (2, "pobj"), (1, "obl"), (4, "pobj")]
    # a marker of a marker stays below it
    rows = "out/IN 2 case\nfrom/IN 4 case\nbehind/IN 4 case\nit/PRP 5 nmod\nit/PRP 0 root"
    assert prep_heads(rows) == [(2, "case"), (5, "nmod"), (2, "pobj"), (3, "pobj"), (0, "root")]
    # a conjunct before its noun stays on its side
    rows = "to/IN 6 case\nboth/CC 6 det\nin/IN 4 case\nA/NNP 6 conj\nand/CC 6 cc\nB/NNP 0 root"
    assert prep_heads(rows) == [(0, "root"), (6, "det"), (6, "conj"), (3, "pobj"), (6, "cc"), (1, "pobj")]
    rows = "dog/NN 3 nmod:poss\n's/POS 1 case\ntail/NN 0 root"
    assert prep_heads(rows) == [(3, "nmod:poss"), (1, "case"), (0, "root")]


def test_clear_has_prepositions_on_top():
    _, tokens, tree = parse(PASSIVE_CLEAR, "clear")
    assert case_as_head(tree, tokens) is tree


RELATIONS = st.sampled_from(
    ["case", "obl", "nmod", "conj", "cc", "punct", "mark", "advcl", "fixed", "prep", "pobj", "pcomp", "agent", "dative"]
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_views_of_any_tree_are_well_formed(data):
    text, tokens = data.draw(texts())
    tree = data.draw(dependencies(tokens))
    relations = tuple(data.draw(RELATIONS) for _ in range(len(tree)))
    for scheme in ("ud2", "clear"):
        made = DependencyTree(tree.head, relations, scheme)
        case_as_head(made, tokens).check(tokens)
        found = collapsed(made, tokens, text)
        kept = [word for _, _, word in found]
        assert kept == sorted(set(kept))
        assert all(head == -1 or head in kept for head, _, _ in found)
        above = {word: head for head, _, word in found}
        for word in kept:
            for _ in kept:
                word = above.get(word, -1)
            assert word == -1  # there is no cycle


def subtree_families(heads):
    """Paths from a node down to a leaf, and whole subtrees, as position tuples."""
    tree = DependencyTree(np.array(heads), ("x",) * len(heads))
    leaves = [word for word in range(len(tree)) if not tree.children[word]]
    paths = []
    for leaf in leaves:
        path = tree.path_to_root(leaf)
        paths += [tuple(sorted(path[: k + 1])) for k in range(len(path))]
    return paths, [tuple(tree.subtree(word)) for word in range(len(tree))]


@pytest.mark.parametrize(
    ("heads", "paths", "longer", "distinct"),
    [
        # I saw a girl having a telescope .
        ([1, -1, 3, 1, 3, 6, 4, 1], 12, 8, 18),
        # I saw a girl by a telescope .
        ([1, -1, 3, 1, 1, 6, 4, 1], 11, 7, 16),
    ],
)
def test_worked_subtree_counts(heads, paths, longer, distinct):
    found, whole = subtree_families(heads)
    assert len(found) == paths
    assert sum(len(path) > 1 for path in found) == longer
    assert sum(len(subtree) > 1 for subtree in whole) == 4
    assert len({(word,) for word in range(8)} | set(found) | set(whole)) == distinct


def test_worked_pooling():
    def pooled(values):
        places = np.arange(2)
        vectors = Vectors(np.array(values), places, places + 1, np.zeros(2, bool), places, 0, "x")
        return vectors.pooled([[0], [1], [0, 1]])

    hypothesis, reference = pooled([[1, 0], [0, 1]]), pooled([[1, 0], [0.6, 0.8]])
    assert hypothesis.tolist() == [[1, 0], [0, 1], [1, 1]]
    np.testing.assert_allclose(reference, [[1, 0], [0.6, 0.8], [1, 0.8]], rtol=1e-6)
    lengths = np.linalg.norm(hypothesis, axis=1)[:, None] * np.linalg.norm(reference, axis=1)
    cosines = hypothesis @ reference.T / lengths
    expected = [[1, 0.6, 0.7809], [0, 0.8, 0.6247], [0.7071, 0.9899, 0.9939]]
    np.testing.assert_allclose(cosines, expected, atol=5e-5)


@st.composite
def projective_trees(draw):
    relations = st.sampled_from(["case", "conj", "nmod"])
    head, relation = [-1], [draw(relations)]
    # a new word goes below one that is there, before or after all that is below it already
    for _ in range(draw(st.integers(0, 7))):
        above = draw(st.integers(0, len(head) - 1))
        inside = DependencyTree(head, relation).subtree(above)
        at = inside[0] if draw(st.booleans()) else inside[-1] + 1
        head = [h + (h >= at) for h in head]
        head.insert(at, above + (above >= at))
        relation.insert(at, draw(relations))
    return DependencyTree(head, relation)


@settings(max_examples=300, deadline=None)
@given(projective_trees(), st.data())
def test_random_projective_trees_stay_projective(tree, data):
    n = len(tree)
    upos = data.draw(st.lists(st.sampled_from(["", "", "PART"]), min_size=n, max_size=n))
    tokens = Tokens(np.arange(n), np.arange(n) + 1, np.zeros(n, int), upos, [""] * n, [""] * n)
    assert tree.is_projective()
    made = case_as_head(tree, tokens)
    made.check(tokens)
    assert made.is_projective()


def test_projective_trees_stay_projective():
    sentences = list(conllu.read_sentences(shared_file("treebanks/gum-test.conllu.gz")))
    analyses = [conllu.to_analysis([sentence]) for sentence in sentences]
    projective = [analysis for analysis in analyses if analysis.dependency.is_projective()]
    assert len(projective) == 1419
    assert all(case_as_head(analysis.dependency, analysis.tokens).is_projective() for analysis in projective)
