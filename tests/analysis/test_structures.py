"""Structures hold what they are given, answer questions about it, and refuse what is not well formed."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from analysis_strategies import analyses, constituents, dependencies, texts, uccas
from hypothesis import given, settings
from hypothesis import strategies as st

from arboreval.analysis.structures import (
    Analysis,
    ConstituencyTree,
    DependencyTree,
    Entities,
    Roles,
    RstTree,
    StructureError,
    Tokens,
    UccaGraph,
    Vectors,
)
from arboreval.errors import ArborevalError, ExitCode

TEXT = "The dog barks. It ran."
#       0   1   2    3 4  5  6


def tokens(**changes):
    values = {
        "start": [0, 4, 8, 13, 15, 18, 21],
        "end": [3, 7, 13, 14, 17, 21, 22],
        "sentence": [0, 0, 0, 0, 1, 1, 1],
        "upos": ("DET", "NOUN", "VERB", "PUNCT", "PRON", "VERB", "PUNCT"),
        "xpos": ("DT", "NN", "VBZ", ".", "PRP", "VBD", "."),
        "lemma": ("the", "dog", "bark", ".", "it", "run", "."),
    }
    return Tokens(**(values | changes))


def tree(head=(1, 2, -1, 2, 5, -1, 5)):
    return DependencyTree(np.array(head), ("x",) * len(head))


def ucca(**changes):
    """ "The dog barks." and "It ran.": two scenes with participants; the dog also takes part in the second."""
    values = {
        "n_nodes": 10,
        "roots": (0, 5),
        "parent": [0, 0, 1, 1, 5, 6, 6, 6, 5],
        "child": [1, 4, 2, 3, 6, 7, 8, 2, 9],
        "category": ("H", "U", "A", "P", "H", "A", "P|S", "A", "U"),
        "remote": [0, 0, 0, 0, 0, 0, 0, 1, 0],
        "term_node": [2, 2, 3, 4, 7, 8, 9],
        "term_word": [0, 1, 2, 3, 4, 5, 6],
    }
    return UccaGraph(**(values | changes))


def test_error_is_bad_input():
    assert issubclass(StructureError, ArborevalError)
    assert StructureError.exit_code is ExitCode.BAD_INPUT == 4


def test_tokens():
    words = tokens()
    assert len(words) == 7
    assert words.forms(TEXT) == ["The", "dog", "barks", ".", "It", "ran", "."]
    assert words.lower_forms(TEXT)[0] == "the"
    assert words.space_after(TEXT) == [True, True, False, True, True, False, True]
    assert words.sentence_spans() == [(0, 4), (4, 7)]
    assert words.n_sentences == 2
    assert words.char_span(1, 4) == (4, 14)
    assert Tokens.empty().sentence_spans() == []
    assert words.start.dtype == np.int32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": [0, 4, 8, 12, 15, 18, 21]}, "word 3 starts at character 12, inside or before word 2"),
        ({"end": [0, 7, 13, 14, 17, 21, 22]}, "word 0 covers no characters"),
        ({"start": [-1, 4, 8, 13, 15, 18, 21]}, "word 0 starts before the text"),
        ({"sentence": [0, 0, 0, 0, 2, 2, 2]}, "sentence numbers"),
        ({"sentence": [1] * 7}, "sentence numbers"),
        ({"lemma": ("a",)}, "7 values of start but 1 of lemma"),
        ({"start": [0.5] * 7}, "whole numbers"),
        ({"start": [[0]]}, "2 dimensions"),
        ({"end": [2**40] * 7}, "32 bits"),
        ({"upos": "ABCDEFG"}, "list of strings"),
    ],
)
def test_bad_tokens(changes, message):
    with pytest.raises(StructureError, match=message):
        tokens(**changes)


def test_arrays_cannot_be_changed_and_the_callers_stay_writable():
    mine = np.array([1, 2, -1, 2, 5, -1, 5], np.int32)
    made = DependencyTree(mine, ("x",) * 7)
    mine[0] = 99
    assert made.head[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        made.head[0] = 2
    with pytest.raises(AttributeError):
        made.scheme = "other"
    view = mine[:3]
    view[0] = 1
    assert DependencyTree(view, ("x",) * 3).head is not view
    view[0] = 2


@pytest.mark.parametrize("of", [lambda array: array, lambda array: np.broadcast_to(array, array.shape)[:]])
def test_read_only_views_of_writable_arrays_are_copied(of):
    mine = np.arange(3, dtype=np.int32)
    view = of(mine).view()
    view.flags.writeable = False
    made = Entities(view, [1, 2, 3], ["a", "b", "c"])
    mine[0] = 99
    assert made.start.tolist() == [0, 1, 2]


def test_what_nobody_can_write_to_is_not_copied():
    stored = np.frombuffer(np.array([1, -1], np.int32).tobytes(), np.int32)
    for array in (stored, stored[1:], tree().head):
        assert DependencyTree(array, ("x",) * len(array)).head is array


def test_strings_of_other_kinds_become_plain():
    made = DependencyTree([-1], np.array(["root"]), np.str_("clear"))
    assert list(map(type, (*made.relation, made.scheme))) == [str, str]
    analysis = Analysis(
        np.str_("a"), Tokens.empty(), status=np.str_("degraded"), reason=np.str_("r"), fingerprint=np.str_("f")
    )
    values = (analysis.text, analysis.status, analysis.reason, analysis.fingerprint)
    assert values == ("a", "degraded", "r", "f")
    assert set(map(type, values)) == {str}
    assert type(vectors(encoder=np.str_("e")).encoder) is str


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DependencyTree([-1], None), "DependencyTree.relation must be a list of strings."),
        (lambda: DependencyTree([-1], [1]), "DependencyTree.relation must be a list of strings."),
        (lambda: DependencyTree([-1], "r"), "DependencyTree.relation must be a list of strings, not a string."),
        (lambda: DependencyTree(None, ()), "DependencyTree.head must be a list of whole numbers, not an array of 0 di"),
        (lambda: tokens(start=[[0], [1, 2]]), "Tokens.start must be a list of whole numbers."),
        (lambda: ucca(roots=None), "UccaGraph.roots must be a list of node numbers."),
        (lambda: ucca(implicit=3), "UccaGraph.implicit must be a list of node numbers."),
        (lambda: ucca(remote=[[0], [1, 0]]), "UccaGraph.remote must be a list of truth values."),
        (lambda: vectors(values=[[0.0], [1.0, 2.0]]), "Vectors.values must be a matrix of numbers."),
        (lambda: vectors(values=[[1e200]]), "Vectors.values holds a number that is not finite."),
    ],
)
def test_what_has_the_wrong_form_is_named(make, message):
    with pytest.raises(StructureError) as caught:
        make()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_are_as_frozen(copied):
    made = tree()
    assert made.depth.tolist() == [2, 1, 0, 1, 1, 0, 1]
    again = copied(made)
    assert again == made
    assert again.depth.tolist() == made.depth.tolist()
    for array in (again.head, again.depth):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_structures_compare_by_value():
    assert tree() == tree()
    assert tree() != tree((2, 2, -1, 2, 5, -1, 5))
    assert tree() != tokens()
    with pytest.raises(TypeError):
        hash(tree())


def test_dependency_tree():
    made = tree()
    assert made.children == ((), (0,), (1, 3), (), (), (4, 6), ())
    assert made.roots() == [2, 5]
    assert made.subtree(2) == [0, 1, 2, 3]
    assert made.depth.tolist() == [2, 1, 0, 1, 1, 0, 1]
    assert made.path_to_root(0) == [0, 1, 2]
    assert made.is_projective()
    assert not tree((2, 3, -1, 2)).is_projective()
    assert tree((1, -1, 1, 2, 2)).is_projective()


@pytest.mark.parametrize(
    ("head", "message"),
    [((1, 0, -1), "cycle"), ((0, -1), "cycle"), ((3, -1), "head 3 .* outside"), ((-2, -1), "head -2")],
)
def test_bad_heads(head, message):
    with pytest.raises(StructureError, match=message):
        tree(head)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ((1, 2, -1, 2, -1, -1, 5), "sentence 1 has 2 dependency roots"),
        ((1, 2, 5, 2, 5, -1, 5), "sentence 0 has 0 dependency roots"),
        ((1, 2, -1, 5, 5, -1, 5), "the head of word 3, word 5, is in another sentence"),
        ((-1,), "has 1 words, the text has 7"),
    ],
)
def test_dependency_trees_that_do_not_fit(head, message):
    with pytest.raises(StructureError, match=message):
        Analysis(TEXT, tokens(), dependency=tree(head))


def constituency(parent=(-1, 0, 1, 1, -1, 4), start=(0, 0, 0, 2, 4, 4), end=(4, 4, 2, 3, 7, 7), label=None):
    return ConstituencyTree(label or ("TOP", "S", "NP", "VP", "TOP", "S"), parent, start, end)


def test_constituency_tree():
    made = constituency()
    assert made.roots() == [0, 4]
    assert made.children == ((1,), (2, 3), (), (), (5,), ())
    assert made.items(1) == [(2, -1), (3, -1), (-1, 3)]
    assert made.items(5) == [(-1, 4), (-1, 5), (-1, 6)]
    chain = ConstituencyTree(("TOP", "S", "VP", "NP"), [-1, 0, 1, 2], [0] * 4, [2, 2, 2, 1])
    assert chain.unary_chains() == [(1, 2), (3,)]
    Analysis(TEXT, tokens(), constituency=made)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parent": (-1, 0, 1, 0, -1, 4)}, "overlaps a sibling or leaves its parent"),
        ({"parent": (-1, 0, 1, 5, -1, 4)}, "not open in pre-order"),
        ({"end": (4, 4, 2, 5, 7, 7)}, "leaves its parent"),
        ({"end": (4, 4, 0, 3, 7, 7)}, "not a span"),
        ({"start": (0, 0, 0, 1, 4, 4)}, "overlaps a sibling"),
        ({"start": (0, 0, 0, 2, 5, 5)}, "starts at word 5 instead of word 4"),
        ({"label": ("TOP", "S", "NP", "VP", "S", "S")}, "only TOP has none"),
        ({"label": ("TOP", "", "NP", "VP", "TOP", "S")}, "has no label"),
    ],
)
def test_bad_constituents(changes, message):
    with pytest.raises(StructureError, match=message):
        constituency(**changes)


def test_constituents_must_cover_the_sentences():
    with pytest.raises(StructureError, match="but the sentences are"):
        Analysis(TEXT, tokens(), constituency=ConstituencyTree(("TOP",), [-1], [0], [7]))


def test_ucca_graph():
    graph = ucca()
    assert graph.scenes() == [1, 6]
    assert graph.children(6) == [7, 8]
    assert graph.children(6, remote=True) == [7, 8, 2]
    assert graph.words_of(2) == (0, 1)
    assert graph.primary_parent(2) == 1
    assert graph.primary_parent(0) == -1
    assert graph.yield_of(1) == (0, 1, 2)
    assert graph.yield_of(0) == (0, 1, 2, 3)
    assert graph.yield_of(6) == (4, 5)
    assert graph.yield_of(6, remote=True) == (0, 1, 4, 5)
    Analysis(TEXT, tokens(), ucca=graph)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_nodes": 11}, "node 10 has 0 primary parents"),
        ({"n_nodes": 10**30}, "node 10 has 0 primary parents"),
        ({"remote": [0] * 9}, "node 2 has 2 primary parents"),
        ({"parent": [0, 0, 2, 1, 5, 6, 6, 6, 5], "child": [1, 4, 1, 3, 6, 7, 8, 2, 9]}, "primary parents"),
        ({"roots": (0,)}, "node 5 has 0 primary parents instead of 1"),
        ({"roots": (0, 5, 5)}, "listed twice"),
        ({"roots": (0, 77)}, "node 77 is outside"),
        ({"term_word": [0, 1, 2, 3, 4, 5, 5]}, "word 5 is under two"),
        ({"term_node": [2, 2, 2, 4, 7, 8, 9]}, "node 3 has no words, no children"),
        ({"implicit": {3}}, "implicit UCCA node 3 has words"),
        ({"category": ("H", "U", "", "P", "H", "A", "P|S", "A", "U")}, "no category"),
        ({"category": ("H", "U", "A|", "P", "H", "A", "P|S", "A", "U")}, "no category"),
        ({"term_word": [-1, 1, 2, 3, 4, 5, 6]}, "before the first"),
        ({"n_nodes": True}, "number of nodes"),
    ],
)
def test_bad_ucca(changes, message):
    with pytest.raises(StructureError, match=message):
        ucca(**changes)


def test_ucca_cycle():
    with pytest.raises(StructureError, match="run in a cycle"):
        UccaGraph(3, (0,), [1, 2], [2, 1], ("A", "A"), [0, 0], [0, 1], [0, 1])


@pytest.mark.parametrize("remotes", [[(1, 0)], [(3, 1)], [(1, 2), (2, 1)], [(3, 2), (4, 1)]])
def test_ucca_cycle_by_remote_edges(remotes):
    """Two scenes, each with a process; each may have a part in the other, but not both in each other."""
    edges = [(0, 1, "H", 0), (0, 2, "H", 0), (1, 3, "P", 0), (2, 4, "P", 0)]
    edges += [(parent, child, "A", 1) for parent, child in remotes]
    parent, child, category, remote = zip(*edges, strict=True)
    with pytest.raises(StructureError, match="run in a cycle of remote edges"):
        UccaGraph(5, (0,), parent, child, category, remote, [3, 4], [0, 1])
    keep = slice(None, 5 if len(remotes) > 1 else 4)
    arrays = (parent[keep], child[keep], category[keep], remote[keep])
    assert UccaGraph(5, (0,), *arrays, [3, 4], [0, 1]).n_nodes == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"term_word": [0, 1, 2, 3, 4, 5, 7]}, "has word 7, the text has 7 words"),
        ({"term_word": [0, 1, 2, 4, 3, 5, 6]}, "word 4 is under the UCCA root of another sentence"),
    ],
)
def test_ucca_that_does_not_fit(changes, message):
    with pytest.raises(StructureError, match=message):
        Analysis(TEXT, tokens(), ucca=ucca(**changes))


def test_rst_tree():
    made = RstTree.from_nested([0, 3, 5], ["SN", "attribution", 0, ["NN", "joint", 1, 2]])
    assert made.parent.tolist() == [-1, 0, 0, 2, 2]
    assert made.first.tolist() == [0, 0, 1, 1, 2]
    assert made.last.tolist() == [3, 1, 3, 2, 3]
    assert made.nuclearity == ("root", "S", "N", "N", "N")
    assert made.relation == ("attribution", "", "joint", "", "")
    assert made.edu_spans(7) == [(0, 3), (3, 5), (5, 7)]
    assert made.word_span(2, 7) == (3, 7)
    assert made.arrangement(0) == "SN"
    assert made.nested() == ["SN", "attribution", 0, ["NN", "joint", 1, 2]]
    assert RstTree.from_nested([0], 0).nested() == 0
    assert RstTree([], [], [], [], (), ()).nested() is None
    wide = ["NN", "joint", 0, 1, 2]
    assert RstTree.from_nested([0, 1, 2], wide).nested() == wide
    mixed = ["SNS", "x", 0, 1, 2]
    assert RstTree.from_nested([0, 1, 2], mixed).nested() == mixed


@pytest.mark.parametrize(
    ("starts", "nested", "message"),
    [
        ([0, 1], ["NS", "x", 1, 0], "leaves a gap|root over all"),
        ([0, 1, 2], ["NS", "x", 0, 2], "leaves a gap"),
        ([0, 1], ["NS", "x", 0, 0], "overlaps|root over all"),
        ([0, 1, 2], ["NS", "x", 0, 1], "root over all 3 EDUs"),
        ([1, 2], ["NS", "x", 0, 1], "begin with word 0"),
        ([0, 0], ["NS", "x", 0, 1], "increase"),
        ([0, 2**31 - 1, -(2**31)], ["NN", "x", 0, 1, 2], "increase"),
        ([0, 1], ["NS", "x", 0, 2**31], "does not fit 32 bits"),
        ([0, 1], ["NS", "x", 0, 10**30], "whole numbers"),
        ([0, 1], ["SS", "x", 0, 1], "no nucleus"),
        ([0, 1], ["NS", "", 0, 1], "no relation"),
        ([0, 1], ["NSS", "x", 0, 1], "cannot have the nuclearity"),
        ([0, 1], ["NX", "x", 0, 1], "cannot have the nuclearity"),
        ([0], ["NS", "x", 0], "must be an EDU number or"),
        ([0], None, "must be an EDU number or"),
        ([], 0, "cannot have 0 EDUs"),
    ],
)
def test_bad_rst(starts, nested, message):
    with pytest.raises(StructureError, match=message):
        RstTree.from_nested(starts, nested)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([-1, 0], [0, 0], [1, 1], ("root", "N"), ("x", "")), "single child"),
        (([-1], [0], [2], ("root",), ("",)), "no children but more than one EDU"),
        (([-1], [0], [1], ("root",), ("x",)), "is a leaf but has the relation"),
        (([-1, -1], [0, 0], [1, 1], ("root", "N"), ("", "")), "not open in pre-order"),
        (([-1, 2**31 - 1], [0, 0], [1, 1], ("root", "N"), ("", "")), "parent 2147483647"),
    ],
)
def test_bad_rst_arrays(columns, message):
    edus = list(range(max(columns[2])))
    with pytest.raises(StructureError, match=message):
        RstTree(edus, *columns)


def test_rst_outside_the_text():
    with pytest.raises(StructureError, match="last EDU starts at word 9"):
        Analysis(TEXT, tokens(), rst=RstTree.from_nested([0, 9], ["NS", "x", 0, 1]))
    with pytest.raises(StructureError, match="no EDUs"):
        Analysis(TEXT, tokens(), rst=RstTree([], [], [], [], (), ()))


def test_entities_and_roles():
    made = Entities([1, 4], [2, 5], ("PER", "ORG"))
    assert made.spans() == [(1, 2, "PER"), (4, 5, "ORG")]
    roles = Roles([2, 5], ("bark.01", ""), [0, 1, 1], [0, 4, 0], [2, 5, 2], ("ARG0", "ARG0", "C-ARG0"))
    assert roles.arguments(1) == [(0, 2, "C-ARG0"), (4, 5, "ARG0")]
    done = Analysis(TEXT, tokens(), entities=made, roles=roles)
    assert done.layers() == ("entities", "roles")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Entities([0, 1], [2, 3], ("A", "B")), "starts inside or before"),
        (lambda: Entities([2], [2], ("A",)), "not a span"),
        (lambda: Entities([0], [1], ("",)), "no label"),
        (lambda: Roles([2, 2], ("", ""), [], [], [], ()), "in text order"),
        (lambda: Roles([0, 2**31 - 1, -(2**31)], ("",) * 3, [], [], [], ()), "in text order"),
        (lambda: Roles([2], ("",), [1], [0], [1], ("A",)), "predicate number 1"),
        (lambda: Roles([2], ("",), [0], [1], [1], ("A",)), "not a span"),
        (lambda: Roles([2], ("",), [0], [0], [1], ("",)), "no role"),
        (lambda: Analysis(TEXT, tokens(), entities=Entities([6], [8], ("A",))), "beyond the last of 7 words"),
        (lambda: Analysis(TEXT, tokens(), roles=Roles([7], ("",), [], [], [], ())), "predicate 7"),
        (lambda: Analysis(TEXT, tokens(), roles=Roles([2], ("",), [0], [0], [9], ("A",))), "beyond the last"),
    ],
)
def test_bad_spans(make, message):
    with pytest.raises(StructureError, match=message):
        make()


def vectors(**changes):
    values = {
        "values": [[9, 9], [1, 0], [3, 4], [0, 8], [5, 5]],
        "start": [-1, 0, 1, 4, -1],
        "end": [-1, 1, 3, 7, -1],
        "special": [1, 0, 0, 0, 1],
        "word": [-1, 0, 0, 1, -1],
        "layer": 7,
        "encoder": "tiny",
    }
    return Vectors(**(values | changes))


def test_vectors():
    made = vectors()
    assert made.size == 2
    assert made.values.dtype == np.float32
    assert made.covered(3).tolist() == [True, True, False]
    assert made.words(3).tolist() == [[2, 2], [0, 8], [0, 0]]
    assert made.pooled([[0, 1], [0], [2], []]).tolist() == [[3, 8], [3, 4], [0, 0], [0, 0]]
    np.testing.assert_allclose(made.pooled_spans(np.array([0]), np.array([2]), "mean"), [[4 / 3, 4]], rtol=1e-6)
    with pytest.raises(StructureError, match="pooling mode"):
        made.pooled([[0]], "sum")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": [[np.nan, 0]] * 5}, "not finite"),
        ({"values": [1.0] * 5}, "matrix"),
        ({"values": [["a"]] * 5}, "matrix"),
        ({"word": [0, 0, 0, 1, -1]}, "sub-word 0 is a special token"),
        ({"start": [-1, -1, 1, 4, -1]}, "sub-word 1 has offsets"),
        ({"special": [2, 0, 0, 0, 1]}, "truth values"),
        ({"layer": "7"}, "layer"),
        ({"encoder": 3}, "encoder"),
    ],
)
def test_bad_vectors(changes, message):
    with pytest.raises(StructureError, match=message):
        vectors(**changes)


def test_vectors_outside_the_text():
    with pytest.raises(StructureError, match="word of a sub-word 9"):
        Analysis(TEXT, tokens(), vectors=vectors(word=[-1, 0, 0, 9, -1]))
    with pytest.raises(StructureError, match="ends beyond the text"):
        Analysis(TEXT, tokens(), vectors=vectors(end=[-1, 1, 3, 70, -1]))


def test_analysis_states():
    failed = Analysis.failed("???", "not English", "f1")
    assert (failed.status, failed.reason, len(failed), failed.layers()) == ("failed", "not English", 0, ())
    assert Analysis("", Tokens.empty(), dependency=DependencyTree([], ())).words == []
    for bad in (
        {"status": "failed"},
        {"status": "odd"},
        {"reason": "x"},
        {"status": "failed", "reason": "x"},
        {"dependency": tokens()},
        {"fingerprint": None},
    ):
        with pytest.raises(StructureError):
            Analysis(TEXT, tokens(), **bad)
    with pytest.raises(StructureError, match="no structures"):
        Analysis("", Tokens.empty(), dependency=DependencyTree([], ()), status="failed", reason="x")
    with pytest.raises(StructureError, match="the text has 3"):
        Analysis("The", tokens())


@settings(max_examples=60, deadline=None)
@given(analyses())
def test_random_analyses_answer_all_questions(analysis):
    n = len(analysis)
    assert "".join(analysis.words) == "".join(
        analysis.text[i:j] for i, j in zip(analysis.tokens.start, analysis.tokens.end, strict=True)
    )
    if analysis.dependency is not None:
        assert sorted(
            word for root in analysis.dependency.roots() for word in analysis.dependency.subtree(root)
        ) == list(range(n))
    if analysis.constituency is not None:
        heads = analysis.constituency.heads(analysis.tokens)
        assert ((heads >= analysis.constituency.start) & (heads < analysis.constituency.end)).all()
    if analysis.ucca is not None:
        words = sorted(word for root in analysis.ucca.roots for word in analysis.ucca.yield_of(root))
        assert words == list(range(n))
    if analysis.rst is not None:
        assert RstTree.from_nested(analysis.rst.edu_start, analysis.rst.nested()) == analysis.rst


def refused(make):
    with pytest.raises(StructureError) as caught:
        make()
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_damage_is_refused(data):
    text, words = data.draw(texts())
    n = len(words)
    dependency = data.draw(dependencies(words))
    head = dependency.head.copy()
    root = data.draw(st.sampled_from(dependency.roots()))
    below = dependency.subtree(root)

    # a cycle: the root hangs below one of its own descendants, or below itself
    cyclic = head.copy()
    cyclic[root] = data.draw(st.sampled_from(below))
    refused(lambda: DependencyTree(cyclic, dependency.relation))
    # a second root, and a head in another sentence
    others = [word for word in range(n) if head[word] >= 0]
    if others:
        word = data.draw(st.sampled_from(others))
        two = head.copy()
        two[word] = -1
        refused(lambda: Analysis(text, words, dependency=DependencyTree(two, dependency.relation)))
        foreign = [other for other in range(n) if words.sentence[other] != words.sentence[word]]
        if foreign:
            away = head.copy()
            away[word] = data.draw(st.sampled_from(foreign))
            refused(lambda: Analysis(text, words, dependency=DependencyTree(away, dependency.relation)))
    outside = head.copy()
    outside[data.draw(st.integers(0, n - 1))] = n + data.draw(st.integers(0, 3))
    refused(lambda: DependencyTree(outside, dependency.relation))

    # overlapping words
    if n > 1:
        start = words.start.copy()
        i = data.draw(st.integers(1, n - 1))
        start[i] = words.end[i - 1] - 1
        refused(lambda: Tokens(start, words.end, words.sentence, words.upos, words.xpos, words.lemma))
    # a text that is too short, spans outside it
    refused(lambda: Analysis(text[: int(words.end[-1]) - 1], words))
    refused(lambda: Analysis(text, words, entities=Entities([n - 1], [n + 1], ("PER",))))
    phrases = data.draw(constituents(words))
    node = data.draw(st.integers(0, len(phrases) - 1))
    end = phrases.end.copy()
    end[node] = n + 1
    refused(
        lambda: Analysis(text, words, constituency=ConstituencyTree(phrases.label, phrases.parent, phrases.start, end))
    )
    # a node that nothing leads to
    graph = data.draw(uccas(words))
    columns = graph.parent, graph.child, graph.category, graph.remote, graph.term_node, graph.term_word
    refused(lambda: UccaGraph(graph.n_nodes + 1, graph.roots, *columns, graph.implicit))
    refused(lambda: UccaGraph(graph.n_nodes, graph.roots[:-1], *columns, graph.implicit))
