"""Penn Treebank brackets are read and written back."""

from __future__ import annotations

import pytest
from analysis_strategies import constituents, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import content, shared_file

from arboreval.analysis.formats import ptb
from arboreval.analysis.structures import Analysis, ConstituencyTree, StructureError, Tokens


def test_tree():
    line = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks) (-LRB- -LRB-)) (. .)))"
    (tree,) = ptb.parse_trees([line])
    assert tree.words == ("The", "dog", "barks", "(", ".")
    assert tree.tags == ("DT", "NN", "VBZ", "-LRB-", ".")
    assert tree.tree == ConstituencyTree(("TOP", "S", "NP", "VP"), [-1, 0, 1, 1], [0, 0, 0, 2], [5, 5, 2, 4])
    assert str(tree) == line
    analysis = ptb.to_analysis([tree])
    assert analysis.text == "The dog barks ( ."
    assert ptb.from_analysis(analysis) == [line]


@pytest.mark.parametrize(
    "text",
    [
        "(TOP (S (NP (PRP I)) (VP (VBP go))))",
        "(ROOT\n  (S\n    (NP (PRP I))\n    (VP (VBP go))))",
        "( (S (NP (PRP I)) (VP (VBP go))) )",
        "(S (NP (PRP I))\n\n(VP (VBP go)))",
        "(TOP (S (NP (PRP I) (-NONE- *T*-1)) (VP (VBP go) (NP (-NONE- *)))))",
    ],
)
def test_layouts(text):
    (tree,) = ptb.parse_trees(text.split("\n"))
    assert str(tree) == "(TOP (S (NP (PRP I)) (VP (VBP go))))"


def test_bare_words_and_unary_chains():
    for line in ("(TOP (NN noon))", "(TOP (S (VP (VP (VB go)))))"):
        (tree,) = ptb.parse_trees([line])
        assert str(tree) == line
    assert str(next(ptb.parse_trees(["(NN noon)"]))) == "(TOP (NN noon))"


def test_segments():
    lines = ["(TOP (NN a))", "# seg = 2", "(TOP (NN b))", "# seg = 2", "(TOP (NN c))", "(TOP (NN d))", "# a remark"]
    analyses = [ptb.to_analysis(trees) for trees in ptb.segments(list(ptb.parse_trees(lines)))]
    assert [analysis.text for analysis in analyses] == ["a", "b c", "d"]
    assert analyses[1].tokens.sentence.tolist() == [0, 1]
    assert "".join(ptb.write(analyses)).splitlines() == lines[:-1]


def test_words_are_found_in_the_raw_text():
    (tree,) = ptb.parse_trees(["(TOP (`` ``) (NN a\\/b) ('' '') (-LRB- -LRB-) (NN x) (-RRB- -RSB-) (: ...))"])
    analysis = ptb.to_analysis([tree], "“a/b” (x] …")
    assert analysis.words == ["“", "a/b", "”", "(", "x", "]", "…"]
    with pytest.raises(StructureError, match="brackets, line 1: word 2 is"):
        ptb.to_analysis([tree], "“b/a” (x] …")


def test_parentheses_are_found_in_tokenized_text():
    line = "(TOP (FRAG (-LRB- -LRB-) (NN noon) (-RRB- -RRB-)))"
    for text in ("-LRB- noon -RRB-", "(noon)"):
        analysis = ptb.to_analysis(list(ptb.parse_trees([line])), text)
        assert "".join(analysis.words) == text.replace(" ", "")
        assert "".join(ptb.write([analysis])) == line + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(TOP (NN a)", "line 1: the tree that starts on line 1 is not closed"),
        ("\n(TOP (NN a))\n)", "line 3: '\\)' stands outside"),
        ("\nword", "line 2: 'word' stands outside"),
        ("(TOP (NP (NN a) b))", "line 1: the word 'b' has no brackets"),
        ("(TOP (S a\n(NN b)))", "line 2: the word 'a' has no brackets"),
        ("(TOP\n(NN a b))", "line 2: the word 'b' has no brackets"),
        ("(TOP\n(NP))", "line 2: the phrase 'NP' is empty"),
        ("(TOP (NP (-NONE- *)))", "line 1: the tree has no words"),
        ("(TOP (S ( (NN a))))", "line 1: a phrase has no label"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "x.ptb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StructureError, match="x.ptb, " + message):
        list(ptb.read(path))


def test_a_deep_tree_is_read_at_once():
    depth = 100_000
    (tree,) = ptb.parse_trees(["(S " * depth + "(N a)" + "(N (-NONE- *))" * 2 + ")" * depth])
    assert len(tree.tree) == depth + 1
    assert tree.words == ("a",)


def test_errors_quote_the_beginning():
    for text in ("A" * 400_000, "(TOP " + "A" * 400_000 + " " + "A" * 400_000 + ")", "(" + "A" * 400_000 + ")"):
        with pytest.raises(StructureError, match=r"'A{60}'…"):
            list(ptb.parse_trees([text]))
    (tree,) = ptb.parse_trees(["(TOP (NN " + "A" * 400_000 + "))"])
    with pytest.raises(StructureError, match=r"^brackets, line 1: word 1 is 'A{60}'…, but the text goes on with 'B'.$"):
        ptb.to_analysis([tree], "B")


def test_where_the_text_ends():
    (tree,) = ptb.parse_trees(["(TOP (NN a) (NNP Ann))"])
    with pytest.raises(StructureError, match=r"^brackets, line 1: word 2 is 'Ann', but the text ends.$"):
        ptb.to_analysis([tree], "a ")


@pytest.mark.parametrize(
    ("label", "tag", "message"),
    [
        ("X Y", "NN", "the label 'X Y' cannot be written in brackets."),
        ("X(", "NN", "the label 'X(' cannot be written in brackets."),
        ("Y)", "NN", "the label 'Y)' cannot be written in brackets."),
        ("-NONE-", "NN", "the label '-NONE-' cannot be written in brackets."),
        ("X", "A B", "the tag 'A B' cannot be written in brackets."),
        ("X", "A\n", "the tag 'A\\n' cannot be written in brackets."),
        ("X", "-NONE-", "the tag '-NONE-' cannot be written in brackets."),
    ],
)
def test_what_brackets_cannot_hold_is_not_written(label, tag, message):
    tokens = Tokens([0], [1], [0], ("",), (tag,), ("",))
    tree = ConstituencyTree(("TOP", label), [-1, 0], [0, 0], [1, 1])
    with pytest.raises(StructureError) as caught:
        ptb.from_analysis(Analysis("a", tokens, constituency=tree))
    assert str(caught.value) == message


def test_white_space_in_words_is_left_out():
    tokens = Tokens([0], [6], [0], ("",), ("CD",), ("",))
    tree = ConstituencyTree(("TOP",), [-1], [0], [1])
    assert ptb.from_analysis(Analysis("1\u00a0 000", tokens, constituency=tree)) == ["(TOP (CD 1000))"]
    with pytest.raises(StructureError, match=r"^word 1 is nothing but white space and cannot be written.$"):
        ptb.from_analysis(Analysis("\u00a0 \u00a0\u00a0\u00a0\u00a0", tokens, constituency=tree))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_round_trip(data):
    text, tokens = data.draw(texts())
    nothing = ("",) * len(tokens)
    tokens = Tokens(tokens.start, tokens.end, tokens.sentence, nothing, ("NN",) * len(tokens), nothing)
    analysis = Analysis(text, tokens, constituency=data.draw(constituents(tokens)))
    trees = list(ptb.parse_trees("".join(ptb.write([analysis])).split("\n")))
    assert [word for tree in trees for word in tree.words] == analysis.words
    assert ptb.join(trees) == analysis.constituency
    if text.split() and not set(text) & {"\\", "|"}:
        assert ptb.to_analysis(trees, text) == analysis


@pytest.mark.parametrize(("name", "trees"), [("mctb-law", 1000), ("gum-const-test", 1464)])
def test_whole_treebank(name, trees):
    path = shared_file(f"treebanks/{name}.ptb.gz")
    found = list(ptb.read_trees(path))
    assert len(found) == trees
    assert "".join(f"{tree}\n" for tree in found) == content(path)
    for tree in found:
        analysis = ptb.to_analysis([tree])
        heads = analysis.constituency.heads(analysis.tokens)
        assert (heads >= analysis.constituency.start).all()
        assert (heads < analysis.constituency.end).all()
