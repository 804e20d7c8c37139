"""``arboreval analyze`` and ``arboreval cache``."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "analysis"))
import samples

import arboreval
from arboreval.analysis.codec import from_json
from arboreval.analysis.store import FILE
from arboreval.analysis.structures import Analysis
from arboreval.cli import main
from arboreval.registry import registrations

TEXTS = [samples.telescope().text, samples.two_sentences().text]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A plug-in analyzer named sample, a file of two texts, and a cache of our own."""

    class Point:
        name, value = "sample", "samples:SampleAnalyzer"
        dist = None

    monkeypatch.setattr("arboreval.registry.entry_points", lambda group: [Point] if "analyzers" in group else [])
    registrations.cache_clear()
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ARBOREVAL_CACHE_LIMIT", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.txt").write_text("\n".join(TEXTS) + "\n")
    yield tmp_path
    registrations.cache_clear()


@pytest.fixture
def run(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


def analyze(run, *args):
    return run("analyze", *args, "--analyzer", "sample")


def test_text(run):
    code, out, err = analyze(run, "x.txt", "--layers", "dep,ner")
    assert (code, err) == (0, "")
    assert out.startswith("[1] The girl having a telescope saw the man.\n\ndependencies (ud2)\n     ┌─ The")
    assert "\n[2] Mary called John up in Paris. They left, as it rained.\n" in out
    assert "  [PER Mary] called [PER John] up in [LOC Paris] ." in out
    assert "constituents" not in out


@pytest.mark.parametrize("format_", ["json", "ptb"])
def test_spaces_between_layers(run, format_):
    expected = analyze(run, "x.txt", "--layers", "dep,const", "--format", format_)
    assert expected[0] == 0
    assert analyze(run, "x.txt", "--layers", " dep, const ", "--format", format_) == expected


def test_json_is_what_the_function_gives(run):
    code, out, _ = analyze(run, "x.txt", "--format", "json")
    assert code == 0
    analyses = [from_json(line, Analysis) for line in out.splitlines()]
    assert analyses == list(arboreval.analyze(TEXTS, analyzer=samples.SampleAnalyzer(), cache=False))


def test_parse_files_can_be_read_back(run, here):
    (here / "x.txt").write_text(f"{TEXTS[0]}\n\n{TEXTS[1]}\n")
    for format_, suffix in (("conllu", "conllu"), ("ptb", "ptb")):
        code, _, err = analyze(run, "x.txt", "--format", format_, "-o", f"x.txt.{suffix}")
        assert (code, err) == (0, "")
    code, out, _ = run("analyze", "x.txt", "--analyzer", "files", "--format", "json")
    assert code == 0
    analyses = [from_json(line, Analysis) for line in out.splitlines()]
    for analysis, sample in zip(analyses[::2], (samples.telescope(), samples.two_sentences()), strict=True):
        assert analysis.tokens == sample.tokens
        assert analysis.dependency == sample.dependency
        assert analysis.constituency == sample.constituency
    assert len(analyses[1]) == 0


def test_html(run, here):
    code, out, _ = analyze(run, "x.txt", "--format", "html", "-o", "x.html")
    assert (code, out) == (0, "")
    page = (here / "x.html").read_text()
    assert "<title>Analysis of x.txt · arboreval</title>" in page
    assert page.count("<svg ") == 3 + 3 + 3 + 2
    assert "dashed: remote" in page
    assert "http" not in page.replace('<meta http-equiv="Content-Security-Policy"', "")


def test_texts_standard_input_gzip_and_limit(run, here, monkeypatch):
    _, expected, _ = analyze(run, "--text", TEXTS[0], "--text", TEXTS[1])
    assert analyze(run, "x.txt")[1] == expected
    (here / "x.txt.gz").write_bytes(gzip.compress((here / "x.txt").read_bytes()))
    assert analyze(run, "x.txt.gz")[1] == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((here / "x.txt").read_bytes())))
    assert analyze(run, "-")[1] == expected
    assert analyze(run, "x.txt", "--limit", "1")[1] == analyze(run, "--text", TEXTS[0])[1]


def interrupted_at(text, monkeypatch):
    """The analyzer gets Ctrl-C when it comes to a text."""
    one = samples.SampleAnalyzer._one

    def interrupted(self, given):
        if given == text:
            raise KeyboardInterrupt
        return one(self, given)

    monkeypatch.setattr(samples.SampleAnalyzer, "_one", interrupted)


def test_an_interrupted_command_says_what_it_left(run, here, monkeypatch):
    interrupted_at(TEXTS[1], monkeypatch)
    code, out, err = analyze(run, "x.txt", "--no-cache")
    assert (code, err) == (130, "\ninterrupted; the output is not complete.\n")
    assert out.startswith("[1] The girl")
    assert "[2]" not in out
    before = sorted(here.iterdir())
    assert analyze(run, "x.txt", "--no-cache", "-o", "out") == (130, "", "\ninterrupted; nothing was written.\n")
    assert sorted(here.iterdir()) == before
    interrupted_at(TEXTS[0], monkeypatch)
    assert analyze(run, "x.txt", "--no-cache") == (130, "", "\ninterrupted; nothing was written.\n")


def test_a_pipe_got_a_part_before_the_interruption(run, here, monkeypatch):
    interrupted_at(TEXTS[1], monkeypatch)
    os.mkfifo(here / "fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append((here / "fifo").read_text()), daemon=True)
    reader.start()
    got = analyze(run, "x.txt", "--no-cache", "-o", "fifo", "--format", "json")
    reader.join(10)
    assert got == (130, "", "\ninterrupted; the output is not complete.\n")
    assert from_json(read[0], Analysis) == samples.telescope()


def test_some_texts_failed_is_exit_3(run, here):
    (here / "f.txt").write_text("fail one\nfine\nfail two\n")
    code, out, err = analyze(run, "f.txt", "--format", "json")
    assert code == 3
    assert err == "2 of 3 texts failed.\n"
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["failed", "ok", "failed"]


BROKEN = "half \udcff"


def test_half_a_surrogate_pair_loses_no_text(run):
    code, out, err = analyze(run, "--text", "fine", "--text", BROKEN, "--text", "fail \ud800", "--format", "json")
    assert (code, err) == (3, "1 of 3 texts degraded.\n1 of 3 texts failed.\n")
    fine, half, failed = (from_json(line, Analysis) for line in out.splitlines())
    assert (fine.text, fine.status) == ("fine", "ok")
    assert (half.text, half.words, half.tokens.lemma) == ("half \ufffd", ["half", "\ufffd"], ("half", "\ufffd"))
    why = "half a surrogate pair, which UTF-8 cannot hold, is replaced by U+FFFD"
    assert (half.status, half.reason) == ("degraded", why)
    assert (failed.text, failed.status) == ("fail \ufffd", "failed")
    assert failed.reason == f"it said so; {why}"


@pytest.mark.parametrize(("format_", "shown"), [("text", "[1] half \ufffd\ndegraded: half a surrogate pair"),
                                                ("conllu", "# text = half \ufffd\n"), ("ptb", "(XX \ufffd)"),
                                                ("html", "half \ufffd")])  # fmt: skip
def test_half_a_surrogate_pair_is_replaced_in_every_format(run, format_, shown):
    code, out, err = analyze(run, "--text", BROKEN, "--format", format_)
    assert (code, err) == (0, "1 of 1 texts degraded.\n")
    assert shown in out


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([], 2, "error: give either a FILE (or - for standard input) or --text."),
        (["x.txt", "--text", "a"], 2, "error: give either a FILE"),
        (["none.txt"], 4, "error: none.txt: there is no such file."),
        (["."], 4, "error: . is a folder, not a file."),
        (["empty.txt"], 4, "error: empty.txt is empty."),
        (["bad.txt"], 4, "error: bad.txt, line 2, byte 2: 0xff is not valid UTF-8."),
        (["x.tsv"], 2, "error: x.tsv is a table; analyze reads plain text"),
        (["x.txt", "--layers", "dpe"], 2, "error: unknown layer 'dpe'. Did you mean 'dep'?"),
        (["x.txt", "--layers", "vectors"], 2, "error: the analyzer 'sample' makes no layer 'vectors'"),
        (["x.txt", "--layers", "dep", "--format", "ptb"], 2, "error: the format ptb needs the layer const."),
        (["x.txt", "--analyzer", "smaple"], 2, "error: unknown analyzer 'smaple'. Did you mean 'sample'?"),
        (["x.txt", "--analyzer", "files"], 4, "error: x.txt has no parses beside it"),
        (["--text", "a", "--analyzer", "files"], 2, "error: the analyzer 'files' needs the file"),
        (["x.txt", "--analyzer", ""], 2, "error: unknown analyzer ''. Known: "),
        (["x.txt", "--layers", ""], 2, "error: no layer was given; write tokens for the words alone."),
        (["x.txt", "--layers", " , "], 2, "error: no layer was given"),
        (["x.txt", "-o", "x.txt"], 2, "error: cannot write x.txt: it is the text that is to be analysed."),
        (["x.txt", "-o", "link"], 2, "error: cannot write link: it is the text"),
        (["x.txt", "-o", "."], 2, "error: cannot write .: Is a directory."),
        (["x.txt", "-o", "nowhere/out"], 2, "error: cannot write nowhere/out: there is no folder nowhere."),
    ],
)
def test_errors_are_one_sentence_with_an_exit_code(run, here, args, code, message):
    (here / "empty.txt").write_text("")
    (here / "bad.txt").write_bytes(b"ok\nx\xff\n")
    (here / "link").symlink_to("x.txt")
    if "-o" not in args:
        args = [*args, "-o", "result"]
    got, out, err = run("analyze", *(["--analyzer", "sample"] if "--analyzer" not in args else []), *args)
    assert (got, out) == (code, "")
    assert err.startswith(message)
    assert not (here / "result").exists()
    assert (here / "x.txt").read_text().splitlines() == TEXTS


def test_the_cache_commands(run, here):
    assert run("cache", "info")[1].endswith(" (not there yet)\nentries  0\nsize     0 bytes of at most 2.0 GB\n")
    assert run("cache", "verify") == (0, "0 sound, 0 damaged\n", "")
    analyze(run, "x.txt")
    _, out, _ = run("cache", "info")
    assert out.startswith(f"file     {here / 'cache' / FILE}\nentries  2\n")
    assert "  sample-1: 2 entries, " in out
    with sqlite3.connect(here / "cache" / FILE) as db:
        db.execute("UPDATE entries SET value = x'00' WHERE rowid = 1")
    db.close()
    code, _, err = analyze(run, "x.txt")
    assert code == 0
    assert err.startswith("warning: 1 damaged entry was found in the cache")
    assert run("cache", "verify") == (0, "2 sound, 0 damaged\n", "")
    with sqlite3.connect(here / "cache" / FILE) as db:
        db.execute("UPDATE entries SET value = x'00' WHERE rowid = 2")
    db.close()
    assert run("cache", "verify") == (3, "1 sound, 1 damaged (removed)\n", "")
    assert run("cache", "prune")[1] == "0 entries removed\n"
    assert run("cache", "prune", "--unused", "0.5")[1] == "0 entries removed\n"
    assert run("cache", "prune", "--max-size", "1kB")[1] == "1 entries removed\n"
    analyze(run, "x.txt")
    assert run("cache", "clear")[1] == "2 entries removed\n"
    assert run("cache", "prune", "--unused", "nan") == (2, "", "error: nan is not a number of days.\n")
    code, _, err = run("cache", "prune", "--max-size", "much")
    assert (code, err) == (2, "error: 'much' is not a size; write for example 500MB or 2GB.\n")


def test_a_limit_that_is_no_size_is_named(run, monkeypatch):
    monkeypatch.setenv("ARBOREVAL_CACHE_LIMIT", "much")
    why = "error: ARBOREVAL_CACHE_LIMIT: 'much' is not a size; write for example 500MB or 2GB.\n"
    for command in (["analyze", "x.txt", "--analyzer", "sample"], ["cache", "info"]):
        assert run(*command) == (2, "", why)


def test_no_cache(run, here):
    assert analyze(run, "x.txt", "--no-cache")[0] == 0
    assert not (here / "cache").exists()


def test_a_foreign_file_in_the_cache_is_a_warning(run, here):
    (here / "cache").mkdir()
    (here / "cache" / FILE).write_text("my diary")
    code, out, err = analyze(run, "--text", "a b")
    assert code == 0
    assert out.startswith("[1] a b")
    assert err.count("warning: the cache") == 1
    code, _, err = run("cache", "clear")
    what = f"the cache {here / 'cache' / FILE} cannot be used (it is not a database)"
    assert (code, err) == (4, f"error: {what}. It was left as it is.\n")
    assert (here / "cache" / FILE).read_text() == "my diary"


@pytest.mark.parametrize("arguments", [["analyze", "--help"], ["cache", "--help"], ["cache", "prune", "--help"]])
def test_help(run, arguments):
    code, out, _ = run(*arguments)
    assert code == 0
    assert out.startswith("Usage: arboreval ")
