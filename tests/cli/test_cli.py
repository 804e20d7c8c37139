from __future__ import annotations

import inspect
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from importlib.resources import files

import jsonschema
import pytest

import arboreval
from arboreval.analysis.english.analyzer import EnglishAnalyzer
from arboreval.cli import cli, main
from arboreval.cli.common import judging_options
from arboreval.run.measure import DEFAULT_BATCH_SIZE
from arboreval.significance import DEFAULT_SEED

COMMAND = [sys.executable, "-m", "arboreval"]


@pytest.fixture
def run(capsys):
    """Runs the command line in this process: exit code, standard output, standard error."""

    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


@pytest.fixture
def files_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("the cat sat\non the mat\n")
    (tmp_path / "b.txt").write_text("a cat sits\nat the mat\n")
    (tmp_path / "r.txt").write_text("the cat sat\non a mat\n")
    return tmp_path


def demo_args(demo):
    systems = [demo.path(f"system-{name}.txt") for name in ("amber", "birch", "cedar")]
    return [*systems, "-r", demo.path("ref.a.txt"), "-r", demo.path("ref.b.txt"), "-s", demo.path("source.de.txt")]


def test_command_and_function_say_the_same(run, demo):
    named = {f"system-{name}": texts for name, texts in demo.systems.items()}
    metrics = ["bleu", "chrf", "rouge-l:measure=r"]
    for name in ("score", "compare"):
        code, out, _ = run(name, *demo_args(demo), "-m", "bleu", "-m", "chrf,rouge-l:measure=r", "--format", "json")
        assert code == 0
        function = getattr(arboreval, name)
        report = function(named, demo.references, sources=demo.lines("source.de.txt"), metrics=metrics)
        assert json.loads(out) == json.loads(report.render("json"))


def test_defaults_of_command_and_function_agree(run, demo):
    code, out, _ = run("score", *demo_args(demo), "--format", "json")
    report = arboreval.score({f"system-{n}": t for n, t in demo.systems.items()}, demo.references,
                             sources=demo.lines("source.de.txt"))  # fmt: skip
    assert code == 0
    assert json.loads(out) == json.loads(report.render("json"))
    # every option of the command is a keyword of the function, or belongs to reading and writing files
    parameters = {p.name for p in judging_options(lambda: None).__click_params__}
    keywords = set(inspect.signature(arboreval.score).parameters)
    assert parameters - keywords == {"source", "format_", "output", "mtme", "fail_under", "quiet", "no_cache"}
    assert keywords - parameters == {"sources", "progress", "cache", "files"}
    assert inspect.signature(arboreval.score).parameters["seed"].default == DEFAULT_SEED == 12345
    assert inspect.signature(arboreval.score).parameters["batch_size"].default == DEFAULT_BATCH_SIZE


def test_json_on_standard_output_follows_the_schema(run, demo):
    schema = json.loads(files("arboreval.report").joinpath("schema.json").read_text())
    for args in (["score", "--level", "seg"], ["compare"]):
        _, out, _ = run(*args, *demo_args(demo), "-m", "bleu,bleu-star,ter", "--format", "json")
        jsonschema.validate(json.loads(out), schema)


def test_input_report_is_on_standard_error(run, demo):
    _, out, err = run("score", *demo_args(demo), "-m", "chrf")
    assert err.splitlines() == [
        "input: 40 segments, 3 systems, target language 'en'",
        "  system-cedar: of 40 outputs 1 empty, 1 equal to the source, 1 not looking like 'en'",
    ]
    assert "input:" not in out
    _, _, err = run("score", *demo_args(demo), "-m", "chrf", "--quiet")
    assert err == ""


@pytest.mark.parametrize("format", ["text", "json", "tsv", "latex", "html"])
def test_output_file(run, files_of, format):
    code, out, _ = run("compare", "a.txt", "b.txt", "-r", "r.txt", "-m", "chrf", "--format", format, "-o", "out")
    assert (code, out) == (0, "")
    assert "b" in (files_of / "out").read_text()
    _, out, _ = run("compare", "a.txt", "b.txt", "-r", "r.txt", "-m", "chrf", "--format", format)
    assert out == (files_of / "out").read_text()
    assert (files_of / "out").stat().st_mode & 0o777 == (files_of / "a.txt").stat().st_mode & 0o777
    assert sorted(p.name for p in files_of.iterdir()) == ["a.txt", "b.txt", "out", "r.txt"]


def test_batch_size_jobs_and_limit(run, files_of):
    args = ["score", "a.txt", "-r", "r.txt", "-m", "bleu,rouge-l", "--level", "seg", "--format", "json", "-q"]
    _, expected, _ = run(*args)
    assert run(*args, "--batch-size", "1")[1] == expected
    assert run(*args, "--batch-size", "1", "--jobs", "2")[1] == expected
    _, out, _ = run(*args, "--limit", "1")
    assert [s["seg"] for s in json.loads(out)["systems"][0]["segments"]] == [1]
    assert "|limit:1|" in json.loads(out)["systems"][0]["scores"]["bleu"]["signature"]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["score", "none.txt", "-r", "r.txt"], 4, "error: none.txt: there is no such file."),
        (["score", "a.txt", "-r", "short.txt"], 4, "error: a.txt has 2 segments but short.txt has 1: line 2 of a.txt"),
        (["score", "empty.txt", "-r", "r.txt"], 4, "error: empty.txt is empty."),
        (["score", "bad.txt", "-r", "r.txt"], 4, "error: bad.txt, line 2, byte 2: 0xff is not valid UTF-8."),
        (["score", "no.tsv"], 4, "error: no.tsv has no column hyp or mt for the hypotheses; its columns are x, ref."),
        (["score", "nan.jsonl"], 4, "error: nan.jsonl, line 1: 'hyp' must be a text, not NaN."),
        (["score", "a.txt", "-r", "r.txt", "--lang", "de", "-m", "rouge-w"], 4, "error: rouge-w judges en, but"),
        (["score", "a.txt", "-r", "r.txt", "--lang", "Klingon"], 4, "error: 'Klingon' is no language"),
        (["score", "a.txt", "-r", "r.txt", "-m", "belu"], 2, "error: unknown metric 'belu'. Did you mean 'bleu'?"),
        (["score", "a.txt", "-r", "r.txt", "-m", "bleu:foo=1"], 2, "error: unknown option of bleu 'foo'."),
        (["score", "a.txt", "-r", "r.txt", "-m", "bertscore", "--analyzer", ""], 2, "error: unknown analyzer ''."),
        (["score", "a.txt"], 2, "error: no reference: give one with -r"),
        (["score"], 2, "Missing argument 'HYP...'"),
        (["score", "a.txt", "-r", "r.txt", "--levle", "seg"], 2, "No such option"),
        (["score", "a.txt", "-r", "r.txt", "-o", "nowhere/out"], 2, "error: cannot write nowhere/out"),
        (["score", "a.txt", "-r", "r.txt", "--fail-under", "bleu"], 2, "write METRIC=VALUE, for example bleu=20."),
        (["score", "a.txt", "-r", "r.txt", "--fail-under", "rouge-l=1"], 2, "rouge-l is not among the metrics scored"),
        (["compare", "a.txt", "-r", "r.txt"], 2, "error: a comparison needs the output of at least two systems."),
        (["show", "chrf+"], 2, "error: unknown metric 'chrf+'."),
        (["sore"], 2, "No such command 'sore'"),
        (["score", "a.txt", "-r", "r.txt", "--lang", "ja"], 5, "pip install 'sacrebleu[ja]'"),
    ],
)
def test_errors_are_one_sentence_with_an_exit_code(run, files_of, args, code, message):
    (files_of / "short.txt").write_text("one\n")
    (files_of / "empty.txt").write_text("")
    (files_of / "bad.txt").write_bytes(b"ok\nx\xff\n")
    (files_of / "no.tsv").write_text("x\tref\n1\t2\n")
    (files_of / "nan.jsonl").write_text('{"hyp": NaN, "ref": "r"}\n')
    if "-o" not in args and args[0] in ("score", "compare"):
        args = [*args, "-o", "result"] if len(args) > 1 else args
    got, out, err = run(*args)
    assert (got, out) == (code, "")
    assert message in err
    assert "Traceback" not in err
    assert not (files_of / "result").exists()


def test_missing_package_for_parquet_is_exit_5(run, files_of, monkeypatch):
    (files_of / "p.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = run("score", "p.parquet")
    assert (code, "arboreval[parquet]" in err) == (5, True)


def test_some_segments_failed_is_exit_3(run, files_of):
    (files_of / "x.jsonl").write_text('{"hyp": "a", "ref": "a"}\n{"hyp": "b", "refs": []}\n')
    code, out, err = run("score", "x.jsonl", "-m", "chrf", "--format", "json")
    assert code == 3
    data = json.loads(out)
    assert data["failures"] == [{"system": "x", "seg": 2, "metric": "chrf", "reason": "the segment has no reference"}]
    assert data["systems"][0]["scores"]["chrf"]["value"] == 100.0
    assert "1 of 2 segments have no reference" in err


def test_empty_hypothesis_is_scored_and_counted(run, files_of):
    (files_of / "e.txt").write_text("the cat sat\n\n")
    code, out, err = run("score", "e.txt", "-r", "r.txt", "-m", "bleu,chrf,ter,rouge-1,rouge-w,bleu-star",
                         "--level", "seg", "--format", "json")  # fmt: skip
    assert code == 0
    assert json.loads(out)["systems"][0]["segments"][1]["scores"] == {
        "bleu": 0.0, "chrf": 0.0, "ter": 100.0, "rouge-1": 0.0, "rouge-w": 0.0,
    }  # fmt: skip
    assert "e: of 2 outputs 1 empty" in err


@pytest.mark.parametrize(
    ("limit", "code"),
    [("bleu=0", 0), ("bleu=101", 6), ("ter=200", 0), ("ter=0", 6), ("chrf=-1", 0), ("bleu:lowercase=false=101", 6)],
)
def test_fail_under(run, files_of, limit, code):
    got, out, err = run("score", "a.txt", "b.txt", "-r", "r.txt", "--fail-under", limit)
    assert got == code
    assert out != ""
    assert ("the limit is" in err) == (code == 6)


def test_fail_under_names_the_systems(run, files_of):
    (files_of / "same.txt").write_text((files_of / "r.txt").read_text())
    _, _, err = run("score", "same.txt", "b.txt", "-r", "r.txt", "-m", "chrf", "--fail-under", "chrf=99", "-q")
    assert err.startswith("b: chrf is ")
    assert "same" not in err


def test_mtme(run, files_of):
    code, _, _ = run("score", "a.txt", "-r", "r.txt", "-m", "chrf", "--mtme", "m", "--lang", "zh-en")
    assert code == 0
    assert (files_of / "m/metric-scores/zh-en/chrf-refA.seg.score").read_text().startswith("a\t100.0\n")


def test_list_and_show(run):
    code, out, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == sorted(arboreval.list_metrics())
    assert "exact-match" in out
    assert "[arboreval-exact-match]" in out
    for name, info in arboreval.list_metrics().items():
        code, out, _ = run("show", name)
        flat = " ".join(out.split())
        assert code == 0
        assert " ".join(info.definition.split()) in flat
        assert " ".join(info.citation.split()) in flat
    _, out, _ = run("show", "ter")
    assert "0 to unbounded, lower is better" in " ".join(out.split())


def test_doctor(run):
    code, out, _ = run("doctor")
    assert code == 0
    assert out.startswith(f"arboreval {arboreval.__version__}\n")
    assert "  chrf++ (arboreval): ok" in out.splitlines()
    assert f"  english (arboreval): ok, {EnglishAnalyzer().fingerprint}" in out.splitlines()


def test_doctor_finds_damaged_weights(run, tmp_path, monkeypatch):
    monkeypatch.setattr("arboreval.analysis.english.session.default_folder", lambda: tmp_path)
    code, out, _ = run("doctor")
    why = f"no model in {tmp_path}: manifest.json is missing; reinstall the package."
    assert code == 5
    assert f"  english (arboreval): BROKEN: {why}" in out.splitlines()


def test_doctor_takes_an_extra_that_is_not_installed_for_no_fault(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.delitem(sys.modules, "arboreval.analysis.external.spacy_", raising=False)
    code, out, _ = run("doctor")
    assert code == 0
    assert re.search(
        r"^  spacy \(arboreval\): not installed: spaCy cannot be imported .*pip install", out, re.MULTILINE
    )


def test__unexpected_errors_are_exit_1(run, files_of, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("boom")

    monkeypatch.setattr("arboreval.api.measure", broken)
    code, _, err = run("score", "a.txt", "-r", "r.txt")
    assert code == 1
    assert err.startswith("unexpected error: RuntimeError: boom\nThis is a bug.")
    with pytest.raises(RuntimeError):
        main(["--debug", "score", "a.txt", "-r", "r.txt"])


def test_every_command_has_help(run):
    for name in cli.commands:
        code, out, _ = run(name, "--help")
        assert code == 0
        assert out.startswith(f"Usage: arboreval {name}")


def test_standard_input_and_a_closed_pipe(files_of):
    shell = f"{sys.executable} -m arboreval score - -r r.txt -m chrf --format tsv -q < a.txt | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {shell}"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("system\tmetric\tvalue")
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize(
    "end", ["| head -1 > seen", "-o /dev/stdout | head -1 > seen", "| true", "-o /dev/stdout | true"]
)
def test_a_reader_that_has_gone_is_no_error(files_of, end):
    """More than a pipe holds, so that something is written after the reader has gone."""
    files_of.joinpath("long.txt").write_text("the cat sat on the mat\n" * 2_000)
    shell = f"{sys.executable} -m arboreval analyze long.txt --layers dep --format json {end}"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {shell}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if "head" in end:
        assert json.loads((files_of / "seen").read_text())["text"] == "the cat sat on the mat"


@pytest.mark.parametrize(
    ("shell", "code", "err"),
    [
        ("list > /dev/full", 2, "error: cannot write standard output: No space left on device.\n"),
        ("list >&-", 0, ""),
        ("score - -r r.txt -q <&-", 4, "error: standard input is empty.\n"),
        ("analyze - <&-", 4, "error: standard input is empty.\n"),
    ],
)
def test_a_full_disk_and_closed_streams(files_of, shell, code, err):
    command = f"{sys.executable} -m arboreval {shell}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", err)


def encoded(shell, **streams):
    """The exit code and the output, in a process whose streams are to be in Windows-1252."""
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([*COMMAND, *shell.split()], env=environment, stderr=subprocess.PIPE, check=False, **streams)
    return done.returncode, done.stdout, done.stderr.decode("cp1252")


@pytest.mark.parametrize("format_", ["text", "json", "latex"])
def test_results_are_utf8_whatever_the_locale_says(run, files_of, format_):
    args = f"score a.txt -r r.txt -m bleu -q --format {format_}"
    code, out, err = encoded(args, stdout=subprocess.PIPE)
    assert (code, out.decode("utf-8"), err) == (0, run(*args.split())[1], "")


def test_other_scripts_in_the_json_of_an_analysis(files_of):
    args = "analyze --text 日本→Ann --layers ner --no-cache --format json"
    code, out, err = encoded(args, stdout=subprocess.PIPE)
    assert (code, json.loads(out.decode("utf-8"))["text"], err) == (0, "日本→Ann", "")


def test_a_terminal_shows_what_its_encoding_has():
    ours, theirs = pty.openpty()
    code, _, err = encoded("list", stdout=theirs)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode("cp1252")
    os.close(ours)
    assert (code, err) == (0, "")
    assert re.search(r"^bleu +\?  ", shown, re.MULTILINE)


def interrupt(args, folder, *, after):
    process = subprocess.Popen(
        [*COMMAND, *args],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # what a shell starts in the background ignores Ctrl-C, and so would the tests' own children
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_leaves_nothing_behind(files_of, jobs):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    lines = [" ".join(words[i % 7 :] + words[: i % 5] * 3) for i in range(20_000)]
    (files_of / "big.txt").write_text("\n".join(lines) + "\n")
    (files_of / "bigref.txt").write_text("\n".join(reversed(lines)) + "\n")
    before = sorted(p.name for p in files_of.iterdir())
    code, out, err = interrupt(
        ["score", "big.txt", "-r", "bigref.txt", "-m", "ter", "-o", "out.json", "--jobs", jobs], files_of, after=3
    )
    assert (code, out) == (130, "")
    assert err == "\ninterrupted; nothing was written.\n"
    assert sorted(p.name for p in files_of.iterdir()) == before


def test_an_interruption_between_two_outputs(run, files_of, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("arboreval.report.mtme.write_mtme", interrupted)
    args = ["score", "a.txt", "-r", "r.txt", "-m", "chrf", "-q", "--format", "tsv", "--mtme", "m"]
    code, out, err = run(*args)
    assert (code, err) == (130, "\ninterrupted; the output is not complete.\n")
    assert out.startswith("system\tmetric\tvalue")
    assert run(*args, "-o", "out") == (130, "", "\ninterrupted; the output is not complete.\n")
    assert (files_of / "out").read_text() == out
