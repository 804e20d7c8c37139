"""Discourse trees as JSON lines, treebank brackets and rs3."""

from __future__ import annotations

import json

import pytest
from analysis_strategies import nested_trees
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import content, shared_file

from arboreval.analysis.formats import rs3, rst, rst_brackets
from arboreval.analysis.structures import RstTree, StructureError

RECORD = {
    "id": "s1",
    "tokens": ["He", "left", "because", "it", "rained", "."],
    "space": [1, 1, 1, 1, 0, 1],
    "edus": [0, 2],
    "tree": ["NS", "causal-cause", 0, 1],
}
DOCUMENT = {
    "id": "d1",
    "genre": "news",
    "edus": ["One .", "Two", "and three ."],
    "sents": [[0, 0], [1, 2]],
    "binary": ["NN", "joint-list", 0, ["NN", "joint-list", 1, 2]],
    "nary": ["NN", "joint-list", 0, 1, 2],
}
BRACKETS = """\
( Root (span 1 3)
  ( Satellite (leaf 1) (rel2par attribution) (text _!He said_!) )
  ( Nucleus (span 2 3) (rel2par span)
    ( Nucleus (leaf 2) (rel2par joint-list) (text _!( it (rained_!) )
    ( Nucleus (leaf 3) (rel2par joint-list) (text _!and poured ._!) )
  )
)
"""
RS3 = """\
<rst>
\t<header>
\t\t<relations>
\t\t\t<rel name="attribution" type="rst"/>
\t\t\t<rel name="joint" type="multinuc"/>
\t\t\t<rel name="heading" type="rst"/>
\t\t</relations>
\t</header>
\t<body>
\t\t<segment id="1" parent="7" relname="heading">R&amp;B</segment>
\t\t<segment id="2" parent="3" relname="attribution">He said</segment>
\t\t<segment id="3" parent="6" relname="span">it  rained</segment>
\t\t<segment id="4" parent="3" relname="elaboration">all day</segment>
\t\t<segment id="5" parent="7" relname="joint">and poured .</segment>
\t\t<group id="6" type="span" parent="7" relname="joint"/>
\t\t<group id="7" type="multinuc" parent="8" relname="span"/>
\t\t<group id="8" type="span"/>
\t</body>
</rst>
"""


def dumps(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def test_segment():
    segment = rst.parse_segment(dumps(RECORD))
    assert segment.text() == "He left because it rained."
    assert segment.tree.relation == ("causal-cause", "", "")
    assert rst.to_json(segment) == dumps(RECORD)
    analysis = rst.to_analysis(segment)
    assert analysis.words == RECORD["tokens"]
    assert analysis.rst.word_span(2, 6) == (2, 6)
    assert json.loads("".join(rst.write([analysis]))) == {k: v for k, v in RECORD.items() if k != "id"}
    raw = " He left\nbecause it rained ."
    assert rst.to_analysis(segment, raw).words == RECORD["tokens"]
    nothing = rst.parse_segment(dumps(RECORD | {"tree": None}))
    assert nothing.tree is None
    assert rst.from_analysis(rst.to_analysis(nothing)) is None
    plain = {key: value for key, value in RECORD.items() if key != "space"}
    assert rst.parse_segment(dumps(plain)).text() == "He left because it rained ."


def test_document():
    document = rst.parse_document(dumps(DOCUMENT))
    assert document.sentences == ((0, 0), (1, 2))
    assert document.binary.edu_start.tolist() == [0, 2, 3]
    assert document.nary.children[0] == (1, 2, 3)
    assert rst.document_to_json(document) == dumps(DOCUMENT)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "this is not JSON"),
        ("3", "this is not a JSON object"),
        ("{}", "the field 'tokens' is missing"),
        (dumps(RECORD | {"tokens": "x"}), "the tokens must be strings"),
        (dumps(RECORD | {"space": [1]}), "each token needs a 0 or a 1"),
        (dumps(RECORD | {"edus": [1, 2]}), "EDU starts must begin with token 0"),
        (dumps(RECORD | {"edus": [0, 6]}), "the last EDU starts at token 6 of 6"),
        (dumps(RECORD | {"edus": ["a"]}), "the EDUs must be given by the tokens"),
        (dumps(RECORD | {"tree": ["NS", "x", 0]}), "a discourse node must be"),
        (dumps(RECORD | {"tree": ["NNS", "x", 0, 1]}), "with 2 children cannot have the nuclearity 'NNS'.$"),
        (dumps(RECORD | {"tree": ["N" * 999, "x", 0, 1]}), "with 2 children cannot have the nuclearity 'N{79}.$"),
        (dumps(RECORD | {"tree": 0}), "root over all 2 EDUs"),
        (dumps(RECORD | {"tree": 10**10}), "does not fit 32 bits"),
        ('{"tree": ' + "9" * 5000 + "}", "this is not JSON"),
        (dumps(RECORD | {"tree": ["NS", "x", 1, 0]}), "discourse node"),
    ],
)
def test_errors_name_file_and_line(tmp_path, line, message):
    path = tmp_path / "x.jsonl"
    path.write_text(dumps(RECORD) + "\n\n" + line + "\n", encoding="utf-8")
    with pytest.raises(StructureError, match=f"x.jsonl, line 3: .*{message}"):
        list(rst.read(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edus": ["a", " "]}, "texts that are not empty"),
        ({"sents": [[0, 1]]}, "do not cover the EDUs"),
        ({"sents": [[0, -1], [0, 2]]}, "do not cover the EDUs"),
        ({"sents": [[0, 10**12]]}, "do not cover the EDUs"),
        ({"sents": [0]}, "pairs of EDU numbers"),
        ({"sents": [[0, 2.0]]}, "pairs of EDU numbers"),
        ({"sents": [[0, float("inf")]]}, "pairs of EDU numbers"),
        ({"binary": 0}, "root over all 3"),
    ],
)
def test_document_errors(changes, message):
    with pytest.raises(StructureError, match=f"RST, line 1: .*{message}"):
        rst.parse_document(dumps(DOCUMENT | changes))


def test_brackets(tmp_path):
    path = tmp_path / "x.dis"
    path.write_text(BRACKETS, encoding="utf-8")
    segment = rst_brackets.read_tree(path)
    assert segment.tree.nested() == ["SN", "attribution", 0, ["NN", "joint-list", 1, 2]]
    assert segment.words == ("He", "said", "(", "it", "(rained", "and", "poured", ".")
    assert segment.edus == (0, 2, 5)
    assert rst_brackets.to_brackets(segment) == BRACKETS
    single = rst.from_edus(["Noon ."], 0)
    assert rst_brackets.to_brackets(single) == "( Root (leaf 1) (text _!Noon ._!) )\n"
    assert rst_brackets.parse_tree(rst_brackets.to_brackets(single)).tree == single.tree


def test_several_satellites_are_nested():
    text = (
        "( Root (span 1 4) ( Satellite (leaf 1) (rel2par a) (text _!x_!) )\n"
        "( Nucleus (leaf 2) (rel2par span) (text _!x_!) )\n"
        "( Satellite (leaf 3) (rel2par b) (text _!x_!) )\n"
        "( Satellite (leaf 4) (rel2par c) (text _!x_!) ) )"
    )
    tree = rst_brackets.parse_tree(text).tree
    assert tree.nested() == ["SN", "a", 0, ["NS", "c", ["NS", "b", 1, 2], 3]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("( Root", "( Nucleus", "line 1: the tree does not start with a Root"),
        ("(leaf 3)", "(leaf 4)", "line 5: leaf 4 should be leaf 3"),
        ("(text _!He said_!) ", "", "line 2: leaf 1 should be"),
        ("_!He said_!", "_! _!", "line 2: leaf 1 should be"),
        (
            "(text _!He",
            "(text twice _!He" + "\nhe" * 99,
            "line 2: the property 'text twice He( he){15} h'… is not known.$",
        ),
        ("(leaf 3)", f"(leaf {'3' * 5000})", "line 5: the property 'leaf 3{55}'… is not known"),
        ("(rel2par span)", "(what 3)", "line 3: the property 'what 3' is not known"),
        ("(span 2 3)", "(span 7 9)", "line 3: the span is 7 9, the leaves 2 to 3"),
        ("(span 1 3)", "(span 1 2)", "line 1: the span is 1 2, the leaves 1 to 3"),
        ("(leaf 1)", "(leaf 1) (span 1 2)", "line 2: the span is 1 2, the leaves 1 to 1"),
        ("(span 1 3)", f"(span 1 {'3' * 5000})", "line 1: the property 'span 1 3{53}'… is not known"),
        ("    ( Nucleus (leaf 3) (rel2par joint-list) (text _!and poured ._!) )\n", "", "line 3: a node has neither"),
        ("  ( Nucleus (span 2 3)", "  ( Satellite (span 2 3)", "line 1: a node has no nucleus"),
        (
            "leaf 3) (rel2par joint-list",
            "leaf 3) (rel2par other",
            "line 3: the nuclei of a node have different relations, 'joint-list' and 'other'.$",
        ),
        ("  )\n)\n", "  )\n", "line 6: the tree is not closed"),
        ("  )\n)\n", "  )\n)\n)\n", "line 8: something follows the tree"),
        ("( Root", "x ( Root", "line 1: 'x' is not expected here"),
        ("( Root", "x" * 999, "line 1: 'x{60}'… is not expected here"),
    ],
)
def test_bracket_errors_name_file_and_line(old, new, message):
    assert old in BRACKETS
    with pytest.raises(StructureError, match="x.dis, " + message):
        rst_brackets.parse_tree(BRACKETS.replace(old, new, 1), "x.dis")


def test_rs3(tmp_path):
    path = tmp_path / "x.rs3"
    path.write_text(RS3, encoding="utf-8")
    segment = rs3.read_tree(path)
    inner = ["SN", "attribution", 1, ["NS", "elaboration", 2, 3]]
    assert segment.tree.nested() == ["SN", "heading", 0, ["NN", "joint", inner, 4]]
    assert segment.words[:5] == ("R&B", "He", "said", "it", "rained")
    again = rs3.parse_tree(rs3.to_rs3(segment))
    assert (again.tree, again.words) == (segment.tree, segment.words)


@pytest.mark.parametrize(
    ("relations", "nested"),
    [
        (["joint", "joint", "again"], ["NS", "again", ["NN", "joint", 0, 1], 2]),
        (["again", "again", "again"], ["NN", "again", 0, 1, 2]),
        (["again", "joint", "joint", "again"], ["SN", "again", 0, ["NS", "again", ["NN", "joint", 1, 2], 3]]),
    ],
)
def test_a_relation_that_rs3_lists_twice(relations, nested):
    listed = '<rel name="joint" type="multinuc"/><rel name="again" type="multinuc"/><rel name="again" type="rst"/>'
    parts = "".join(f'<segment id="{i}" parent="g" relname="{name}">a</segment>' for i, name in enumerate(relations))
    made = f"<header><relations>{listed}</relations></header><body>{parts}<group id='g' type='multinuc'/></body>"
    assert rs3.parse_tree(f"<rst>{made}</rst>").tree.nested() == nested


def test_written_rs3():
    segment = rst.from_edus(["a <b", "c"], ["NS", "cause", 0, 1])
    assert rs3.to_rs3(segment).splitlines()[6:10] == [
        "\t<body>",
        '\t\t<segment id="1" parent="3" relname="span">a &lt;b</segment>',
        '\t\t<segment id="2" parent="1" relname="cause">c</segment>',
        '\t\t<group id="3" type="span"/>',
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<body>", "<bodi>", "line 18: this is not XML"),
        ('id="2"', 'id="1"', "line 11: the id '1' is missing or not unique"),
        ('parent="3" relname="attr', 'parent="33" relname="attr', "line 11: the parent '33' does not exist"),
        ('type="span"/>', 'type="span" parent="6" relname="x"/>', "line 1: the tree has 0 roots"),
        ("\t</body>", '<group id="9" type="span"/></body>', "line 1: the tree has 2 roots"),
        ("\t</body>", '<group id="9" parent="9"/></body>', "line 18: the parents of this element run in a cycle"),
        (' relname="attribution"', "", "line 11: an element with a parent has no relation"),
        ("all day", " ", "line 13: a segment has no text"),
        ('parent="6" relname="span"', 'parent="6" relname="odd"', "line 15: the group '6' has no nucleus"),
        ('parent="3" relname="attr', 'parent="5" relname="attr', "line 1: discourse node|line 14: "),
        (
            'parent="3" relname="attribution"',
            'parent="6" relname="span"',
            "line 15: the group '6' is not multinuclear but has 2",
        ),
        ("<rst>", "<rtf>", "line 19: this is not XML"),
        ("it  rained", "it\n<b>really</b> rained", "line 13: a segment holds the element 'b'.$"),
        ('parent="3"', f'parent="{"3" * 999}"', "line 11: the parent '3{60}'… does not exist"),
    ],
)
def test_rs3_errors_name_file_and_line(old, new, message):
    assert old in RS3
    with pytest.raises(StructureError, match="x.rs3, " + message):
        rs3.parse_tree(RS3.replace(old, new, 1), "x.rs3")


def test_a_lone_surrogate_is_no_json():
    tokens = ["He", "left", "because\ud800", "it", "rained", "."]
    for fields in ({"tokens": tokens}, {"tree": ["NS", "as\ud800", 0, 1]}):
        with pytest.raises(StructureError, match=r"^RST, line 1: U\+D800 is a lone surrogate, which is no character.$"):
            rst.parse_segment(json.dumps(RECORD | fields))
    with pytest.raises(StructureError, match=r"^RST, line 1: U\+D800 is a lone"):
        rst.parse_document(json.dumps(DOCUMENT | {"edus": ["One .", "Two \ud800", "and three ."]}))
    with pytest.raises(StructureError, match=r"^U\+D800 is a lone surrogate, which cannot be written as JSON.$"):
        rst.to_json(rst.from_edus(["a\ud800", "b"], ["NS", "cause", 0, 1]))


def test_a_lone_surrogate_is_no_rs3():
    assert "all day" in RS3.splitlines()[12]
    with pytest.raises(StructureError, match=r"^x.rs3, line 13: U\+DC00 is a lone surrogate, which XML cannot hold.$"):
        rs3.parse_tree(RS3.replace("all day", "all\udc00 day"), "x.rs3")


@pytest.mark.parametrize("character", ["\0", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_what_xml_cannot_hold_is_not_written(character):
    words, reason = (
        ("He", "left", f"it{character}"),
        f"cannot be written as XML: its character 3 is U+{ord(character):04X}",
    )
    with pytest.raises(StructureError) as caught:
        rs3.to_rs3(rst.Segment(words, (True,) * 3, (0, 2), RstTree.from_nested([0, 2], ["NS", "cause", 0, 1])))
    assert str(caught.value) == f"word 3, {words[2]!r}, {reason}."
    relation = f"as{character}"
    with pytest.raises(StructureError) as caught:
        rs3.to_rs3(rst.from_edus(["a", "b"], ["NS", relation, 0, 1]))
    assert str(caught.value) == f"the relation, {relation!r}, {reason}."


def test_what_only_json_can_hold():
    segment = rst.from_edus(["a", "b", "c"], ["SNS", "x", 0, 1, 2])
    empty = rst.Segment((), (), (), None)
    for write in (rs3.to_rs3, rst_brackets.to_brackets):
        with pytest.raises(StructureError, match="only be written as JSON"):
            write(segment)
        with pytest.raises(StructureError, match="without a discourse tree"):
            write(empty)
    assert rst.parse_segment(rst.to_json(segment)).tree == segment.tree


def test_what_brackets_cannot_hold_is_not_written():
    with pytest.raises(StructureError, match=r"^EDU 2, 'so_! b', cannot be written in brackets: it holds a '_!'.$"):
        rst_brackets.to_brackets(rst.from_edus(["a", "so_! b"], ["NS", "cause", 0, 1]))
    with pytest.raises(StructureError, match="'non volitional' cannot be written in brackets"):
        rst_brackets.to_brackets(rst.from_edus(["a", "b"], ["NS", "non volitional", 0, 1]))


def test_the_relation_span_is_not_written_as_rs3():
    for tree in (["NS", "span", ["NN", "x", 0, 1], 2], ["NN", "span", 0, 1, 2], ["SN", "x", 0, ["SN", "span", 1, 2]]):
        segment = rst.from_edus(["a", "b", "c"], tree)
        with pytest.raises(StructureError, match=r"^the relation 'span' cannot be written as rs3, where"):
            rs3.to_rs3(segment)
        assert rst.parse_segment(rst.to_json(segment)).tree == segment.tree


def test_white_space_in_words_is_left_out():
    record = RECORD | {"tokens": ["He", "paid", "1\u00a0000", "a b", "<c\td>", "."]}
    segment = rst.parse_segment(dumps(record))
    for again in (
        rst_brackets.parse_tree(rst_brackets.to_brackets(segment)),
        rs3.parse_tree(rs3.to_rs3(segment)),
    ):
        assert again.words == ("He", "paid", "1000", "ab", "<cd>", ".")
        assert (again.edus, again.tree) == (segment.edus, segment.tree)
    blank = rst.parse_segment(dumps(RECORD | {"tokens": ["He", "paid", "\u00a0", "it", "rained", "."]}))
    for write in (rst_brackets.to_brackets, rs3.to_rs3):
        with pytest.raises(StructureError, match=r"^word 3 is nothing but white space and cannot be written.$"):
            write(blank)


def test_a_long_rs3_text_is_read_at_once():
    lines = "all day long\n" * 120_000
    segment = rs3.parse_tree(f'<rst><body><segment id="1">{lines}</segment></body></rst>')
    assert segment.words == ("all", "day", "long") * 120_000


def test_a_tree_too_deep_for_json_is_not_written():
    tree = 100_000
    for edu in reversed(range(100_000)):
        tree = ["NS", "cause", edu, tree]
    with pytest.raises(StructureError, match="too deep to be written as JSON"):
        rst.to_json(rst.from_edus(["a"] * 100_001, tree))


def test_a_long_rs3_with_a_cycle_is_refused_at_once():
    chain = "".join(f'<segment id="{i}" parent="{i + 1}" relname="x">a</segment>' for i in range(20_000))
    ends = '<segment id="20000">a</segment><segment id="c" parent="c" relname="x">a</segment>'
    with pytest.raises(StructureError, match="run in a cycle"):
        rs3.parse_tree(f"<rst><body>{chain}{ends}</body></rst>")


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 9).flatmap(lambda n: nested_trees(0, n).map(lambda tree: (n, tree))))
def test_round_trips(given_tree):
    n, nested = given_tree
    segment = rst.from_edus([f"word{i} <x" for i in range(n)], nested)
    assert segment.tree.nested() == nested
    for again in (
        rst.parse_segment(rst.to_json(segment)),
        rst_brackets.parse_tree(rst_brackets.to_brackets(segment)),
        rs3.parse_tree(rs3.to_rs3(segment)),
    ):
        assert (again.words, again.edus, again.tree) == (segment.words, segment.edus, segment.tree)


def test_whole_corpus():
    path = shared_file("rst/gum-test.docs.jsonl.gz")
    documents = list(rst.read_documents(path))
    assert len(documents) == 30
    assert "".join(rst.document_to_json(document) + "\n" for document in documents) == content(path)
    for document in documents:
        for tree in (document.binary, document.nary):
            segment = rst.from_edus(document.edus, tree.nested())
            assert segment.tree == tree
            assert rst_brackets.parse_tree(rst_brackets.to_brackets(segment)).tree == tree
            assert rs3.parse_tree(rs3.to_rs3(segment)).tree == tree
    path = shared_file("rst/gum-test.sents.jsonl.gz")
    segments = list(rst.read_segments(path))
    assert "".join(rst.to_json(segment) + "\n" for segment in segments) == content(path)
    assert all(isinstance(rst.to_analysis(segment).rst, RstTree) for segment in segments if segment.tree is not None)
