"""CoNLL-U files are read, rebuilt to text, and written back."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest
from analysis_strategies import dependencies, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import content, shared_file

from arboreval.analysis.formats import conllu
from arboreval.analysis.structures import Analysis, DependencyTree, StructureError, Tokens
from arboreval.errors import InputError

FILE = """\
# newdoc id = d
# newpar
# sent_id = d-1
# seg = 1
# text = "I can't," he said.
1	"	"	PUNCT	``	_	3	punct	_	SpaceAfter=No
2	I	I	PRON	PRP	Case=Nom	3	nsubj	_	_
3-4	can't	_	_	_	_	_	_	_	SpaceAfter=No
3	ca	can	AUX	MD	_	0	root	_	_
4	n't	not	PART	RB	_	3	advmod	_	_
4.1	go	_	_	_	_	_	_	_	_
5	,	,	PUNCT	,	_	3	punct	_	SpaceAfter=No
6	"	"	PUNCT	''	_	3	punct	_	_
7	he	he	PRON	PRP	_	8	nsubj	_	_
8	said	say	VERB	VBD	_	3	parataxis	_	SpaceAfter=No
9	.	.	PUNCT	.	_	3	punct	_	_

# newpar
# seg = 1
# text = dunno
1-3	dunno	_	_	_	_	_	_	_	_
1	do	do	_	_	_	3	aux	_	_
2	not	not	_	_	_	3	advmod	_	_
3	know	_	_	_	_	0	root	_	_

# text = _
1	_	_	PUNCT	_	_	0	root	_	_

"""


def lines(text):
    return text.split("\n")[:-1]


def test_sentences_are_written_back_unchanged():
    sentences = list(conllu.parse_sentences(lines(FILE)))
    assert "".join(map(str, sentences)) == FILE
    assert [sentence.line for sentence in sentences] == [1, 18, 26]
    assert sentences[0].comment("sent_id") == "d-1"
    assert sentences[0].comment("nothing") is None
    assert len(sentences[0].words) == 9


def test_segments():
    first, second = conllu.segments(list(conllu.parse_sentences(lines(FILE))))
    analysis = conllu.to_analysis(first)
    assert analysis.text == '"I can\'t," he said.\n\ndunno'
    assert analysis.words == ['"', "I", "ca", "n't", ",", '"', "he", "said", ".", "d", "un", "no"]
    assert analysis.tokens.sentence.tolist() == [0] * 9 + [1] * 3
    assert analysis.tokens.lemma[2:4] == ("can", "not")
    assert analysis.tokens.xpos[9] == ""
    assert analysis.dependency.head.tolist() == [2, 2, -1, 2, 2, 2, 7, 2, 2, 11, 11, -1]
    assert analysis.dependency.relation[3] == "advmod"
    assert analysis.dependency.scheme == "ud2"
    underscore = conllu.to_analysis(second)
    assert (underscore.text, underscore.tokens.lemma, underscore.tokens.xpos) == ("_", ("_",), ("",))


def test_words_are_found_in_the_raw_text():
    first, _ = conllu.segments(list(conllu.parse_sentences(lines(FILE), "x.conllu")))
    raw = '  "I can\'t,"  he said.\n dunno '
    analysis = conllu.to_analysis(first, raw)
    assert analysis.text == raw
    assert analysis.words == ['"', "I", "ca", "n't", ",", '"', "he", "said", ".", "d", "un", "no"]
    with pytest.raises(StructureError, match=r"x\.conllu, line 14: word 6 is 'he', but the text goes on with 'she"):
        conllu.to_analysis(first, '"I can\'t," she said. dunno')
    with pytest.raises(StructureError, match="the text goes on with 'more'"):
        conllu.to_analysis(first, '"I can\'t," he said. dunno more')


def row(number="1", form="a", head="0", relation="root", misc="_"):
    return "\t".join([number, form, "_", "_", "_", "_", head, relation, "_", misc])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\n", "line 1: a word has 2 columns instead of 10"),
        (f"{row()}\n{row('3')}\n", "line 2: word 3 follows word 1"),
        (f"# x = 1\n{row(head='x')}\n", "line 2: the head 'x' is not a word number"),
        (f"{row()}\n{row('2', head='7')}\n", "line 2: the head 7 is outside the sentence of 2 words"),
        (f"{row('one')}\n", "line 1: 'one' is not a word number"),
        (f"{row('2-3')}\n", "line 1: the multiword token 2-3 does not start at word 1"),
        (f"{row('1-3')}\n{row()}\n", "line 1: the multiword token 1-3 is longer than the sentence of 1 words"),
        (f"{row('1-3')}\n{row()}\n{row('2-3')}\n", "line 3: the multiword token 2-3 overlaps the one before it"),
        (f"{row('1-2')}\n{row('1-2')}\n", "line 2: the multiword token 1-2 overlaps the one before it"),
        (f"{row('1' * 5000)}\n", "line 1: '1{60}'… is not a word number"),
        (f"{row(head='9' * 5000)}\n", "line 1: the head '9{60}'… is not a word number"),
        (f"{row()}\n# late\n", "line 2: a comment stands between"),
        ("# alone\n", "line 1: comments are followed by no sentence"),
        (f"{row('0.1')}\n", "line 1: a sentence has no words"),
        (f"{row(form='')}\n", "line 1: a word has no form"),
        (f"{row()}\n\n{row(head='0')}\n{row('2', head='0')}\n", "line 3: sentence 0 has 2 dependency roots"),
        (f"{row(head='2')}\n{row('2', head='1')}\n", "line 1: the heads of word 0 run in a cycle"),
        (f"{row()}\n{row('2', head='_')}\n", "line 2: word 2 has no head, others have one"),
        (
            f"# seg = 1\n{row()}\n\n# seg = 1\n{row()}\n{row('2', head='_')}\n",
            "line 6: word 2 has no head, others have one",
        ),
        (f"# seg = 1\n{row()}\n\n# seg = 1\n\n{row(head='_')}\n", "line 6: word 1 has no head, others have one"),
        (f"{row(head='00')}\n", "line 1: the head '00' is not a word number"),
        (f"# x\n\n \n{row('2')}\n", "line 4: word 2 follows word 0"),
        (f"# x\n\n\n{row(head='7')}\n", "line 4: the head 7 is outside"),
        (f"# x\n\n\n{row('1.1')}\n", "line 4: a sentence has no words"),
        (f"# text = b\n{row()}\n", "line 1: the words make the text 'a', but # text says 'b'"),
        (f"{row('1-2')}\n{row()}\n{row('2', head='1')}\n", "line 1: the multiword token 'a' is too short"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "x.conllu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StructureError, match="x.conllu, " + message):
        list(conllu.read(path))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        list(conllu.read(tmp_path / "nothing"))
    (tmp_path / "latin").write_bytes(b"# text\n\xe9")
    with pytest.raises(InputError, match="line 2: 0xe9 is not valid UTF-8"):
        list(conllu.read(tmp_path / "latin"))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x" * 999)[:20])
    with pytest.raises(InputError, match="cannot be read"):
        list(conllu.read(tmp_path / "cut.gz"))


def test_without_heads():
    (sentence,) = conllu.parse_sentences([row(head="_", relation="_")])
    analysis = conllu.to_analysis([sentence])
    assert analysis.dependency is None
    assert conllu.to_analysis(conllu.from_analysis(analysis)) == analysis


def test_written_sentence():
    tokens = Tokens([1, 3, 5], [2, 4, 6], [0, 0, 1], ("X", "", "Y"), ("A", "", ""), ("", "b", ""))
    analysis = Analysis(" a\tb\nc", tokens, dependency=DependencyTree([-1, 0, -1], ("root", "x", "root")))
    assert "".join(conllu.write([analysis])) == (
        "# seg = 1\n# text = a b\n"
        "1\ta\t_\tX\tA\t_\t0\troot\t_\tSpacesBefore=\\s|SpacesAfter=\\t\n"
        "2\tb\tb\t_\t_\t_\t1\tx\t_\tSpacesAfter=\\n\n\n"
        "# seg = 1\n# text = c\n1\tc\t_\tY\t_\t_\t0\troot\t_\t_\n\n"
    )
    with pytest.raises(StructureError, match="2 sentences"):
        conllu.from_analysis(analysis)
    named = conllu.from_analysis(analysis, seg=3, sent_id="s")
    assert [sentence.comment("sent_id") for sentence in named] == ["s-1", "s-2"]


def test_lines_after_blank_lines_between_comments_and_words():
    (sentence,) = conllu.parse_sentences(["", "# x", "", "# y", " ", row(), row("2-3"), row("2"), row("3")])
    assert (sentence.line, sentence.row_line) == (2, 6)
    assert sentence.word_lines() == [6, 8, 9]
    assert sentence.surface_lines() == [6, 7]


@pytest.mark.parametrize("field", ["upos", "xpos", "lemma"])
@pytest.mark.parametrize("character", "\t\n\r")
def test_what_would_break_a_row_cannot_be_written(field, character):
    tokens = Tokens([0], [1], [0], ("",), ("",), ("",))
    with pytest.raises(StructureError, match=r"^the (tag|lemma) 'a\\[tnr]b' cannot be written as CoNLL-U\.$"):
        conllu.from_analysis(Analysis("a", replace(tokens, **{field: (f"a{character}b",)})))
    tree = DependencyTree([-1], (f"a{character}b",))
    with pytest.raises(StructureError, match=r"^the relation 'a\\[tnr]b' cannot"):
        conllu.from_analysis(Analysis("a", tokens, dependency=tree))
    for mark in ({"seg": f"a{character}b"}, {"sent_id": f"a{character}b"}):
        with pytest.raises(StructureError, match=r"^the comment ' (seg|sent_id) = a\\[tnr]b"):
            conllu.from_analysis(Analysis("a", tokens), **mark)


def test_long_sentences_and_segments_are_read_at_once():
    n = 20_000
    wide = [line for i in range(1, n + 1) for line in (row(f"{i}-{i}"), row(str(i), head="0" if i == 1 else "1"))]
    (sentence,) = conllu.parse_sentences(wide)
    assert len(sentence.words) == n
    assert conllu.to_analysis([sentence]).tokens.end[-1] == 2 * n - 1
    (sentence,) = conllu.parse_sentences([row(), *(row(f"1.{i}") for i in range(1, n))])
    assert len(sentence.rows) == n
    segment = list(conllu.parse_sentences(["# text = a", row(), ""] * n))
    assert len(conllu.to_analysis(segment).text) == 2 * n - 1


def test_words_with_line_ends_cannot_be_written():
    analysis = Analysis("a\nb", Tokens([0], [3], [0], ("",), ("",), ("",)))
    with pytest.raises(StructureError, match="cannot be written"):
        conllu.from_analysis(analysis)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_round_trip(data):
    text, tokens = data.draw(texts())
    tree = data.draw(dependencies(tokens))
    analysis = Analysis(text, tokens, dependency=DependencyTree(tree.head, tree.relation))
    written = "".join(conllu.write([analysis]))
    # CoNLL-U cannot tell an unknown lemma of the word "_" from the lemma "_"
    pairs = zip(tokens.lemma, analysis.words, strict=True)
    lemma = tuple("_" if known == "" and word == "_" else known for known, word in pairs)
    expected = replace(analysis, tokens=replace(tokens, lemma=lemma))
    assert conllu.to_analysis(list(conllu.parse_sentences(lines(written)))) == expected


def test_whole_treebank():
    path = shared_file("treebanks/gum-test.conllu.gz")
    sentences = list(conllu.read_sentences(path))
    assert len(sentences) == 1464
    assert "".join(map(str, sentences)) == content(path)
    analyses = [conllu.to_analysis([sentence]) for sentence in sentences]
    assert [analysis.text for analysis in analyses] == [sentence.comment("text") for sentence in sentences]
    assert sum(len(analysis) for analysis in analyses) == 28397
    for analysis in analyses:
        assert conllu.to_analysis(conllu.from_analysis(analysis)) == analysis
    whole = conllu.to_analysis(sentences[:40])
    assert whole.tokens.n_sentences == 40
    assert conllu.to_analysis(conllu.from_analysis(whole, seg=1)) == whole
    assert np.array_equal(whole.tokens.sentence, np.repeat(np.arange(40), [len(s.words) for s in sentences[:40]]))
