"""Precomputed parses beside a text."""

from __future__ import annotations

import gzip

import pytest
import samples

import arboreval
from arboreval.analysis.analyzer import make_analyzer
from arboreval.analysis.formats import conllu, ptb, rst, ucca
from arboreval.analysis.source import AnalysisSource
from arboreval.analysis.structures import Analysis
from arboreval.errors import InputError, UsageError

ANALYSES = [samples.telescope(), samples.two_sentences()]


WRITERS = {".conllu": conllu.write, ".ptb": ptb.write, ".ucca.jsonl": ucca.write, ".rst.jsonl": rst.write}


@pytest.fixture
def text(tmp_path, monkeypatch):
    """A text of three lines, the second blank, with all parses beside it."""
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.txt"
    lines = [ANALYSES[0].text, "", ANALYSES[1].text]
    path.write_text("\n".join(lines) + "\n")
    filler = Analysis.empty("", frozenset({"dep", "const", "ucca", "rst"}), "")  # writes nothing, but is counted
    for suffix, write in WRITERS.items():
        written = "".join(write([ANALYSES[0], filler, ANALYSES[1]]))
        (tmp_path / f"x.txt{suffix}").write_text(written)
    return lines


def run(texts, spec="files:path=x.txt", **options):
    return list(arboreval.analyze(texts, analyzer=spec, **options))


def same(analysis, expected, *names):
    assert analysis.tokens == expected.tokens
    for name in names:
        assert getattr(analysis, name) == getattr(expected, name), name


def test_all_layers_are_brought_together(text):
    analyses = run([*reversed(text), text[0]])
    assert [a.text for a in analyses] == [text[2], "", text[0], text[0]]
    same(analyses[0], ANALYSES[1], "dependency", "constituency", "ucca", "rst")
    same(analyses[2], ANALYSES[0], "dependency", "constituency", "ucca", "rst")
    assert (len(analyses[1]), analyses[1].status) == (0, "ok")
    assert analyses[1].layers() == ("dependency", "constituency", "ucca", "rst")
    assert len({a.fingerprint for a in analyses}) == 1
    assert analyses[0].fingerprint.startswith("files/")


def test_some_layers_are_enough(text, tmp_path):
    for suffix in (".conllu", ".ucca.jsonl"):
        (tmp_path / f"x.txt{suffix}").unlink()
    analyzer = make_analyzer("files", files=["x.txt"])
    assert analyzer.provides == {"tokens", "const", "rst"}
    analysis = run([text[2]], analyzer)[0]
    assert (analysis.dependency, analysis.constituency, analysis.rst) == (None, *(
        getattr(ANALYSES[1], name) for name in ("constituency", "rst")
    ))  # fmt: skip
    assert analysis.tokens.xpos == ANALYSES[1].tokens.xpos


def test_gzip_scheme_and_several_files(text, tmp_path):
    data = (tmp_path / "x.txt.conllu").read_bytes()
    (tmp_path / "x.txt.conllu").unlink()
    (tmp_path / "x.txt.conllu.gz").write_bytes(gzip.compress(data))
    (tmp_path / "y.txt").write_text("a b\n")
    (tmp_path / "y.txt.conllu").write_text("".join(conllu.write([samples.simple("a b")])))
    analyses = run(["a b", text[0]], "files:path=x.txt,y.txt:scheme=clear")
    assert [a.dependency.scheme for a in analyses] == ["clear", "clear"]
    assert make_analyzer("files:path=x.txt,y.txt").provides == {"tokens", "dep"}


def test_a_text_that_is_not_in_the_file_fails(text):
    (analysis,) = run(["something else"])
    assert (analysis.status, analysis.reason) == ("failed", "no line of x.txt has this text")


def test_the_fingerprint_is_that_of_the_parses(text, tmp_path):
    before = make_analyzer("files:path=x.txt").fingerprint
    assert make_analyzer("files:path=x.txt").fingerprint == before
    with (tmp_path / "x.txt.ptb").open("a") as file:
        file.write("\n")
    assert make_analyzer("files:path=x.txt").fingerprint != before


def test_edited_files_are_read_again(text, tmp_path):
    source = AnalysisSource("files", cache=False, files=("x.txt",))

    def label():
        (analysis,) = source.analyze([text[0]], frozenset({"const"}))
        assert analysis.fingerprint == source.fingerprint(frozenset({"const"}))
        return analysis.constituency.label[1], analysis.fingerprint

    before = label()
    assert label() == before
    edit(tmp_path / "x.txt.ptb", "(S (NP", "(SINV (NP")
    after = label()
    assert (before[0], after[0]) == ("S", "SINV")
    assert before[1] != after[1]
    (tmp_path / "x.txt.conllu").unlink()
    assert source.maker.provides == {"tokens", "const", "ucca", "rst"}
    (tmp_path / "x.txt").unlink()
    with pytest.raises(InputError, match=r"x.txt: there is no such file"):
        label()


def edit(path, old, new):
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))


@pytest.mark.parametrize(
    ("suffix", "old", "new", "message"),
    [
        ("", "telescope", "microscope", "x.txt.conllu, line 6: word 5 is 'telescope', but the text goes on with "
                                        "'microscope saw the m' (x.txt, line 1)."),
        (".ptb", "(NN girl)", "(NN lady)", "x.txt.ptb, line 1: word 2 is 'lady', but the text goes on with"),
        (".ucca.jsonl", '"girl"', '"lady"', "x.txt.ucca.jsonl, line 1: word 2 is 'lady'"),
        (".rst.jsonl", '"girl"', '"lady"', "x.txt.rst.jsonl, line 1: word 2 is 'lady'"),
        (".ptb", "(NN man)", "(NN ma) (NN n)", "x.txt.ptb, line 1: the words differ from those of x.txt.conllu, line "
                                               "9, from word 8 on: 'ma' instead of 'man'."),
        # the second sentence of the second segment
        (".conllu", "as\t", "at\t", "x.txt.conllu, line 27: word 11 is 'at', but the text goes on with 'as it"),
        (".ptb", "(IN as)", "(IN at)", "x.txt.ptb, line 5: word 11 is 'at', but the text goes on with 'as it rained.'"),
        (".ucca.jsonl", '"as"', '"at"', "x.txt.ucca.jsonl, line 3: word 11 is 'at', but the text goes on with 'as it"),
        (".rst.jsonl", '"rained",', '"rain",', "x.txt.rst.jsonl, line 2: word 14 is '.', but the text goes on with"),
        (".conllu", "# seg = 3", "# seg = 4", "x.txt.conllu, line 12: the segment is marked 4, but the next text is "
                                              "line 3 of x.txt."),
        (".conllu", "nsubj", "nsubj\t_", "x.txt.conllu, line 3: a word has 11 columns instead of 10."),
        ("", "rained.\n", "rained.\nMore.\n", "x.txt.conllu ends before line 4 of x.txt."),
    ],
)  # fmt: skip
def test_a_mismatch_names_file_and_line(text, tmp_path, suffix, old, new, message):
    edit(tmp_path / f"x.txt{suffix}", old, new)
    with pytest.raises((InputError, arboreval.errors.StructureError)) as caught:
        run([text[0]])
    assert message in str(caught.value)


def test_other_sentences_are_told_by_file_and_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.txt").write_text("\nAnn sang. Bob left.\n")
    rows = ["Ann 2 nsubj", "sang 0 root", ". 2 punct", "Bob 5 nsubj", "left 2 parataxis", ". 5 punct"]
    (tmp_path / "x.txt.conllu").write_text(
        "".join("{}\t{}\t_\t_\t_\t_\t{}\t{}\t_\t_\n".format(i, *row.split()) for i, row in enumerate(rows, 1))
    )
    (tmp_path / "x.txt.ptb").write_text(
        "# seg = 2\n(TOP (S (NP (NNP Ann)) (VP (VBD sang)) (. .)))\n"
        "# seg = 2\n(TOP (S (NP (NNP Bob)) (VP (VBD left)) (. .)))\n"
    )
    with pytest.raises(InputError) as caught:
        run(["Ann sang. Bob left."])
    assert str(caught.value) == (
        "x.txt.ptb, line 4: the sentences differ from those of x.txt.conllu, line 4, from word 4 on, 'Bob' "
        "(x.txt, line 2)."
    )


def test_segments_without_a_text(text, tmp_path):
    (tmp_path / "x.txt").write_text(text[0] + "\n")
    with pytest.raises(InputError, match=r"x.txt.conllu, line 12: x.txt has no more lines for this segment"):
        run([text[0]])


def test_errors_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.txt").write_text("a\n")
    with pytest.raises(InputError, match=r"x.txt has no parses beside it: none of x.txt.conllu, x.txt.ptb"):
        make_analyzer("files:path=x.txt")
    with pytest.raises(InputError, match=r"y.txt: there is no such file"):
        make_analyzer("files:path=y.txt")
    with pytest.raises(UsageError, match="needs the file whose analyses it reads"):
        make_analyzer("files")
