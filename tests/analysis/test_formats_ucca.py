"""UCCA as JSON lines and as standard XML."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from analysis_strategies import texts, uccas
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import content, shared_file

from arboreval.analysis.formats import ucca
from arboreval.analysis.structures import Analysis, StructureError, Tokens, UccaGraph

RECORD = {
    "id": "1",
    "split": "test",
    "tokens": ["Tired", ",", "he", "gave", "up", "."],
    "punct": [1, 5],
    "roots": [0],
    "n": 10,
    "terms": {"3": [0], "5": [2], "6": [3, 4], "8": [1], "9": [5]},
    "edges": [
        [0, 1, "H", 0],
        [0, 2, "H", 0],
        [0, 8, "U", 0],
        [0, 9, "U", 0],
        [1, 3, "S|A", 0],
        [1, 5, "A", 1],
        [1, 4, "D", 0],
        [2, 5, "A", 0],
        [2, 6, "P", 0],
        [2, 7, "A", 0],
    ],
    "implicit": [4, 7],
}
XML = """<?xml version="1.0" encoding="utf-8"?>
<root annotationID="0" passageID="504"><attributes /><extra format="site" />
<layer layerID="0"><attributes />
<node ID="0.1" type="Word"><attributes paragraph="1" paragraph_position="1" text="Dogs" /></node>
<node ID="0.2" type="Word"><attributes paragraph="1" paragraph_position="2" text="&quot;R&amp;B&quot;" /></node>
<node ID="0.3" type="Punctuation"><attributes paragraph="1" paragraph_position="3" text="." /></node>
</layer>
<layer layerID="1"><attributes />
<node ID="1.1" type="FN"><attributes /><edge toID="1.2" type="H"><attributes /></edge></node>
<node ID="1.2" type="FN"><attributes />
<edge toID="1.3" type="A"><category slot="" tag="A" /><category slot="1" tag="P" /><attributes /></edge>
<edge toID="1.5" type="P"><attributes /></edge>
<edge toID="1.6" type="U"><attributes /></edge>
<edge toID="1.7" type="A"><attributes /></edge>
</node>
<node ID="1.3" type="FN"><attributes /><edge toID="0.1" type="Terminal"><attributes /></edge></node>
<node ID="1.4" type="LKG"><attributes /><edge toID="1.2" type="LA"><attributes /></edge></node>
<node ID="1.5" type="FN"><attributes /><edge toID="0.2" type="Terminal"><attributes /></edge>
<edge toID="1.3" type="A"><attributes remote="True" /></edge></node>
<node ID="1.6" type="PNCT"><attributes /><edge toID="0.3" type="Terminal"><attributes /></edge></node>
<node ID="1.7" type="FN"><attributes implicit="True" /></node>
</layer></root>
"""


def dumps(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def test_json():
    sentence = ucca.parse_json(dumps(RECORD))
    graph = sentence.graph
    assert sentence.extra == {"id": "1", "split": "test"}
    assert graph.scenes() == [1, 2]
    assert graph.words_of(6) == (3, 4)
    assert graph.yield_of(1) == (0,)
    assert graph.yield_of(1, remote=True) == (0, 2)
    assert graph.implicit == {4, 7}
    assert graph.category[4] == "S|A"
    assert ucca.to_json(sentence) == dumps(RECORD)


def test_words_under_no_node():
    record = RECORD | {"terms": {**RECORD["terms"], "6": [3]}, "unannotated": [4]}
    assert ucca.to_json(ucca.parse_json(dumps(record))) == dumps(record)


def test_segments_and_raw_text():
    marked = [ucca.parse_json(dumps(RECORD | {"seg": seg}), "f", i) for i, seg in enumerate([1, 1, 2], 1)]
    first, second = ucca.segments(marked)
    analysis = ucca.to_analysis(first, "Tired, he gave up. Tired, he gave up.")
    assert analysis.ucca.roots == (0, 10)
    assert analysis.tokens.upos[1] == "PUNCT"
    assert [sentence.graph for sentence in ucca.from_analysis(analysis)] == [marked[0].graph] * 2
    assert ucca.to_analysis(second).text == "Tired , he gave up ."
    with pytest.raises(StructureError, match="f, line 3: word 4 is 'gave'"):
        ucca.to_analysis(second, "Tired, he has up.")
    lines = "".join(ucca.write([analysis])).splitlines()
    assert [json.loads(line)["seg"] for line in lines] == [1, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: this is not JSON"),
        ("[]", "line 2: this is not a JSON object"),
        ("{}", "line 2: the field 'tokens' is missing"),
        (dumps(RECORD | {"tokens": ["a"]}), "line 2: "),
        (dumps(RECORD | {"tokens": [1] * 6}), "line 2: the tokens must be strings"),
        (dumps(RECORD | {"tokens": "abcdef"}), "line 2: the tokens must be strings"),
        (dumps(RECORD | {"edges": [[0, 1]]}), "line 2: a field has the wrong form"),
        (dumps(RECORD | {"terms": [1]}), "line 2: a field has the wrong form"),
        (dumps(RECORD | {"terms": {"x": [1]}}), "line 2: a field has the wrong form"),
        (dumps(RECORD | {"n": 11}), "line 2: UCCA node 10 has 0 primary parents"),
        (dumps(RECORD | {"n": 10**12}), "line 2: UCCA node 10 has 0 primary parents"),
        ('{"n": ' + "9" * 5000 + "}", "line 2: this is not JSON"),
        (dumps(RECORD | {"n": "x"}), "line 2: UccaGraph.n_nodes"),
        (dumps(RECORD | {"implicit": [4]}), "line 2: UCCA node 7 has no words"),
        (dumps(RECORD | {"punct": [77]}), "line 2: a punctuation mark is outside"),
        (dumps(RECORD | {"punct": [1.7]}), "line 2: the punctuation must be a list of token numbers"),
        (dumps(RECORD | {"terms": {"x" * 999: [1]}}), "line 2: a field has the wrong form \\(.{80}\\).$"),
        (dumps(RECORD | {"punct": "1"}), "line 2: the punctuation must be a list of token numbers"),
    ],
)
def test_errors_name_file_and_line(tmp_path, line, message):
    path = tmp_path / "x.jsonl"
    path.write_text(dumps(RECORD) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(StructureError, match="x.jsonl, " + message):
        list(ucca.read(path))


def test_xml(tmp_path):
    path = tmp_path / "504.xml"
    path.write_text(XML, encoding="utf-8")
    passage = ucca.read_passage(path)
    graph = passage.graph
    assert passage.words == ("Dogs", '"R&B"', ".")
    assert passage.punct == (2,)
    assert passage.extra == {"id": "504"}
    # the linkage unit is gone, so 1.5 to 1.7 are nodes 3 to 5
    assert (graph.n_nodes, graph.roots, graph.implicit) == (6, (0,), {5})
    assert graph.category == ("H", "A|P", "P", "U", "A", "A")
    assert graph.remote.tolist() == [False] * 5 + [True]
    assert graph.yield_of(0) == (0, 1, 2)
    again = ucca.parse_passage(ucca.to_xml(passage))
    assert (again.words, again.punct, again.graph, again.extra) == (passage.words, passage.punct, graph, passage.extra)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('toID="1.6"', 'toID="1.9"', "line 13: an edge goes to '1.9'"),
        ('layerID="1"', 'layerID="2"', "line 2: a passage needs"),
        (' text="."', "", "line 6: a word has no text"),
        ('<node ID="1.7" ', '<node ID="1.6" ', "line 21: the ID '1.6' is not unique"),
        ('<node ID="0.3" ', '<node ID="0.2" ', "line 6: the ID '0.2' is not unique"),
        ('<node ID="1.7" ', '<node ID="0.2" ', "line 21: the ID '0.2' is not unique"),
        ('toID="1.6"', f'toID="{"1" * 999}"', "line 13: an edge goes to '1{60}'…, which does not exist"),
        ('<node ID="1.7" ', "<node ", "line 21: a node has no ID"),
        ('type="P"', 'type=""', "line 12: an edge has no category"),
        ('tag="P"', "", "line 11: an edge has no category"),
        ("</root>", "", "line 2[0-9]: this is not XML"),
        ('implicit="True"', "", "line 8: UCCA node 5 has no words"),
        ("<root ", "<!DOCTYPE x [<!ENTITY a 'b'>]><root ", "line 2: a document type is not allowed"),
    ],
)
def test_xml_errors_name_file_and_line(old, new, message):
    assert XML.count(old) >= 1
    with pytest.raises(StructureError, match="^x.xml, " + message):
        ucca.parse_passage(XML.replace(old, new, 1), "x.xml")


def test_a_lone_surrogate_is_no_json():
    tokens = ["Tired", ",", "he\ud83d", "gave", "up", "."]
    for record in (RECORD | {"tokens": tokens}, RECORD | {"id": "\ud83d"}):
        for line in (json.dumps(record), dumps(record)):
            with pytest.raises(
                StructureError, match=r"^x, line 3: U\+D83D is a lone surrogate, which is no character.$"
            ):
                ucca.parse_json(line, "x", 3)
    assert ucca.parse_json(json.dumps(RECORD | {"id": "\U0001f600"})).extra["id"] == "\U0001f600"
    sentence = ucca.Sentence(tuple(tokens), ucca.parse_json(dumps(RECORD)).graph)
    with pytest.raises(StructureError, match=r"^U\+D83D is a lone surrogate, which cannot be written as JSON.$"):
        ucca.to_json(sentence)


@pytest.mark.parametrize(
    ("graph", "edge"),
    [
        (UccaGraph(4, (0, 2), [0, 2, 0], [1, 3, 3], ["A"] * 3, [False, False, True], [1, 3], [0, 1]), "0 to node 3"),
        # the remote child is the only one
        (
            UccaGraph(5, (0, 2), [0, 0, 2, 1], [1, 4, 3, 3], [*"APAA"], [False, False, False, True], [4, 3], [0, 1]),
            "1 to node 3",
        ),
    ],
)
def test_remote_edges_between_sentences_are_not_written(graph, edge):
    tokens = Tokens([0, 2], [1, 3], [0, 1], *[("", "")] * 3)
    with pytest.raises(StructureError) as caught:
        ucca.from_analysis(Analysis("a b", tokens, ucca=graph))
    assert str(caught.value) == f"the remote edge from UCCA node {edge} joins two sentences and cannot be written."
    one = Tokens([0, 2], [1, 3], [0, 0], *[("", "")] * 3)
    with pytest.raises(StructureError, match="2 roots for 1 sentences"):
        Analysis("a b", one, ucca=graph)


def test_a_lone_surrogate_is_no_xml():
    with pytest.raises(StructureError, match=r"^x.xml, line 4: U\+D83D is a lone surrogate, which XML cannot hold.$"):
        ucca.parse_passage(XML.replace("Dogs", "Dogs\ud83d"), "x.xml")


@pytest.mark.parametrize("character", ["\0", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_what_xml_cannot_hold_is_not_written(character):
    sentence = ucca.parse_json(dumps(RECORD))

    def error(**fields):
        with pytest.raises(StructureError) as caught:
            ucca.to_xml(replace(sentence, **fields))
        return str(caught.value)

    code = f"U+{ord(character):04X}"
    words = ("Tired", ",", f"he{character}", "gave", "up", ".")
    assert error(words=words) == f"word 3, {words[2]!r}, cannot be written as XML: its character 3 is {code}."
    assert (
        error(extra={"id": character}) == f"the id, {character!r}, cannot be written as XML: its character 1 is {code}."
    )
    graph = replace(sentence.graph, category=(f"H|{character}", *sentence.graph.category[1:]))
    expected = f"a category of node 0, {character!r}, cannot be written as XML: its character 1 is {code}."
    assert error(graph=graph) == expected


def test_odd_characters_that_xml_can_hold():
    words = ["a\tb\nc\rd", "\x7f\x85", "\ud7ff\ue000\ufffd", "\U00010000\U0010ffff", "<&>\"'", "]]>"]
    sentence = ucca.parse_json(json.dumps(RECORD | {"tokens": words}))
    assert ucca.parse_passage(ucca.to_xml(sentence)).words == tuple(words)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_round_trip(data):
    text, tokens = data.draw(texts())
    graph = data.draw(uccas(tokens))
    analysis = Analysis(text, tokens, ucca=graph)
    sentence = np.searchsorted(graph.roots, np.arange(graph.n_nodes), "right")
    if (sentence[graph.parent] != sentence[graph.child]).any():
        with pytest.raises(StructureError, match="joins two sentences"):
            list(ucca.write([analysis]))
        return
    sentences = [ucca.parse_json(line) for line in ucca.write([analysis])]
    joined = ucca.join([s.graph for s in sentences], [len(s.words) for s in sentences])
    assert (joined.roots, edge_set(joined)) == (graph.roots, edge_set(graph))
    for sentence in sentences:
        again = ucca.parse_passage(ucca.to_xml(sentence))
        assert again.words == sentence.words
        assert edge_set(again.graph) == edge_set(sentence.graph)
        assert ucca.parse_json(ucca.to_json(again)).graph == again.graph


def edge_set(graph):
    edges = zip(graph.parent.tolist(), graph.child.tolist(), graph.category, graph.remote.tolist(), strict=True)
    return sorted(edges), sorted(zip(graph.term_node.tolist(), graph.term_word.tolist(), strict=True)), graph.implicit


@pytest.mark.parametrize(("name", "count"), [("wiki-test", 496), ("ewt-test", 535), ("lpp-test", 99)])
def test_whole_corpus(name, count):
    path = shared_file(f"ucca/{name}.jsonl.gz")
    sentences = list(ucca.read_sentences(path))
    assert len(sentences) == count
    assert "".join(ucca.to_json(sentence) + "\n" for sentence in sentences) == content(path)
    for sentence in sentences[:100]:
        assert ucca.parse_passage(ucca.to_xml(sentence)).graph == sentence.graph
        assert ucca.from_analysis(ucca.to_analysis([sentence]))[0].graph == sentence.graph
