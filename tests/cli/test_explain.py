"""``arboreval explain``."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import arboreval
from arboreval.cli import main

HYPOTHESIS = "I saw a girl by a telescope."
REFERENCE = "I saw a girl having a telescope."


@pytest.fixture
def run(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main(["explain", *map(str, args)])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.txt").write_text(f"The cat sat.\n{HYPOTHESIS}\n" + "One more.\n" * 20)
    (tmp_path / "r.txt").write_text(f"The cat sat down.\n{REFERENCE}\n" + "One more.\n" * 20)
    (tmp_path / "r2.txt").write_text("A cat.\nShe left.\n" + "One more.\n" * 20)
    return tmp_path


@pytest.mark.parametrize("format_", ["text", "json", "html"])
def test_command_and_function_say_the_same(run, format_):
    code, out, err = run("--text", HYPOTHESIS, "--ref-text", REFERENCE, "--format", format_)
    assert (code, err) == (0, "")
    assert out == arboreval.explain(HYPOTHESIS, REFERENCE).render(format_)


def test_a_segment_of_files(run, here):
    code, out, err = run("h.txt", "-r", "r2.txt", "-r", "r.txt", "--seg", "2", "--format", "json", "-m",
                         "structure-alignment:tree=dep", "-o", "x.json", "--no-cache")  # fmt: skip
    assert (code, out, err) == (0, "", "")
    read = json.loads((here / "x.json").read_text())
    (output,) = read["outputs"]
    assert (output["system"], output["seg"], output["pairs"][0]["reference"]) == ("h", 2, 2)
    report = arboreval.score([HYPOTHESIS], [["She left.", REFERENCE]], metrics=["structure-alignment:tree=dep"])
    assert output["score"] == report.segment_scores("system")["structure-alignment:tree=dep"][0]
    assert read["metric"] == "structure-alignment:tree=dep"


def test_the_first_twenty_segments_by_default(run):
    code, out, _ = run("h.txt", "-r", "r.txt", "-m", "bertscore")
    assert code == 0
    assert out.count("\nsegment ") == 19
    assert "20 of 22 segments; --seg chooses others." in out
    code, out, _ = run("h.txt", "-r", "r.txt", "-m", "bertscore", "--seg", "2-4", "--seg", "22")
    assert [line.split(":")[0] for line in out.split("\n") if line.startswith("segment")] == [
        "segment 2", "segment 3", "segment 4", "segment 22",
    ]  # fmt: skip


def test_failed_outputs_are_exit_3(run, here):
    (here / "f.jsonl").write_text('{"hyp": "a", "refs": []}\n{"hyp": "b", "refs": ["b"]}\n')
    code, out, err = run("f.jsonl")
    assert (code, err) == (3, "1 of 2 outputs have no score.\n")
    assert "failed: the segment has no reference" in out


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["h.txt", "-r", "r.txt", "-m", "bleu"], 2, "bleu has no evidence to show; those that have: bertscore, "),
        (["h.txt", "-r", "r.txt", "-m", "blue"], 2, "unknown metric 'blue'"),
        (["h.txt", "-r", "r.txt", "-m", "bertscore:x=1"], 2, "unknown option of bertscore 'x'"),
        (["h.txt", "-r", "r.txt", "--seg", "23"], 2, "there is no segment '23'; there are 22, from '1' to '22'."),
        (["h.txt"], 2, "no reference: give one with -r"),
        ([], 2, "give either HYP files with -r REF, or --text with --ref-text."),
        (["h.txt", "--text", "a"], 2, "give either HYP files"),
        (["--text", "a"], 2, "no reference: give one with --ref-text."),
        (["--text", "a", "--ref-text", "b", "--seg", "1"], 2, "--text goes with --ref-text"),
        (["h.txt", "-r", "r.txt", "--ref-text", "b"], 2, "--ref-text goes with --text"),
        (["h.txt", "-r", "r.txt", "-o", "no/x.html"], 2, "there is no folder no"),
        (["h.txt", "-r", "short.txt"], 4, "line 3 of h.txt has no partner in short.txt"),
        (["h.txt", "-r", "bad.txt"], 4, "bad.txt, line 1, byte 2: 0xff is not valid UTF-8."),
        (["none.txt", "-r", "r.txt"], 4, "none.txt: there is no such file."),
        (["h.txt", "-r", "r.txt", "--lang", "de"], 4, "judges en, but the target language is 'de'"),
    ],
)
def test_errors(run, here, args, code, message):
    (here / "short.txt").write_text("a\nb\n")
    (here / "bad.txt").write_bytes(b"a\xff\n" * 22)
    ended, out, err = run(*args)
    assert (ended, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


def test_the_documentation_shows_what_is_printed(run):
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```\n\$ arboreval explain (.*?)^```", page, re.MULTILINE | re.DOTALL)
    command, *expected = block.rstrip("\n").split("\n")
    code, out, _ = run(*shlex.split(command))
    assert code == 0
    assert expected[-1] == "..."
    assert out.split("\n")[: len(expected) - 1] == expected[:-1]
