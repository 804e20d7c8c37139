from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest
from browser import chromium, console_errors, set_width
from evaldata import ranking_rows, scored_rows, system_rows, write_jsonl

import arboreval
from arboreval.cli import main

SCHEMA = json.loads((files("arboreval.report") / "meta_schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def run(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


@pytest.fixture
def toy(tmp_path):
    return write_jsonl(tmp_path / "toy.jsonl", scored_rows())


def test_command_and_function_say_the_same(run, toy):
    code, out, _ = run("meta", toy, "-m", "bleu", "-m", "chrf,ter", "--corr", "pearson,kendall-darr", "--test",
                       "bootstrap", "--trials", 50, "--format", "json")  # fmt: skip
    assert code == 0
    found = json.loads(out)
    jsonschema.validate(found, SCHEMA)
    report = arboreval.meta_evaluate(
        [str(toy)], ["bleu", "chrf", "ter"], corr=["pearson", "kendall-darr"], test="bootstrap", trials=50
    )
    assert found == json.loads(report.render("json"))
    wanted = {"dataset", "lp", "metric", "level", "corr", "value", "ci", "n", "failed"}
    assert all(wanted <= set(row) for row in found["results"])
    assert {(row["metric"], row["corr"]) for row in found["results"]} == {
        (m, c) for m in ("bleu", "chrf", "ter") for c in ("pearson", "kendall-darr")
    }


def test_default_human_scores_are_printed(run, tmp_path):
    raw = write_jsonl(tmp_path / "raw.jsonl", [row | {"z": None} for row in scored_rows()])
    assert "human: raw" in run("meta", raw, "-m", "chrf", "--trials", 0)[1]
    toy = write_jsonl(tmp_path / "toy.jsonl", scored_rows())
    assert "human: z" in run("meta", toy, "-m", "chrf", "--trials", 0)[1]


def test_several_files_have_averages(run, tmp_path):
    paths = [
        write_jsonl(tmp_path / f"{lp}.jsonl", [row | {"lp": lp} for row in scored_rows()]) for lp in ("de-en", "cs-en")
    ]
    ranked = write_jsonl(tmp_path / "rr.jsonl", ranking_rows())
    systems = write_jsonl(tmp_path / "sys.jsonl", system_rows())
    code, out, _ = run("meta", *paths, ranked, systems, "-m", "chrf,rouge-1", "--trials", 10)
    assert code == 0
    assert "average of toy" in out
    assert "kendall-wmt12, level seg" in out
    assert "pearson, level sys" in out


def test_scores_from_elsewhere_join(run, toy, tmp_path):
    scores = tmp_path / "scores.tsv"
    lines = ["system\tseg\tmine", *(f"{r['system']}\t{r['seg']}\t{r['raw']}" for r in scored_rows())]
    scores.write_text("\n".join(lines) + "\n")
    code, out, _ = run("meta", toy, "-m", "mine,chrf", "--scores", scores, "--corr", "pearson", "--format", "json")
    assert code == 0
    found = {row["metric"]: row["value"] for row in json.loads(out)["results"]}
    assert found["mine"] == pytest.approx(1)
    only = run("meta", toy, "--scores", scores, "--corr", "pearson", "--format", "json")[1]
    assert [row["metric"] for row in json.loads(only)["results"]] == ["mine"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["system\tseg\tmine", "amber\t1\t3", "ghost\t1\t3"], "line 3: unknown system 'ghost'"),
        (["system\tseg\tmine", "amber\t1\t3", "amber\t1\t3"], "line 3: the score of mine is in line 2 already"),
        (["system\tseg\tmine", "amber\t1\tgood"], "line 2: 'mine' must be a number, not 'good'"),
        (["text\tmine", "x\t1"], "line 1: there is no column 'system' or 'seg'"),
    ],
)
def test_bad_score_files_exit_with_4(run, toy, tmp_path, lines, message):
    (tmp_path / "scores.tsv").write_text("\n".join(lines) + "\n")
    code, _, err = run("meta", toy, "-m", "chrf", "--scores", tmp_path / "scores.tsv")
    assert code == 4
    assert f"scores.tsv, {message}" in err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["system\tseg\tscore", "amber\t1\t3", "ghost\t1\t3"], "line 3: unknown system 'ghost'"),
        (["system\tseg\tscore", "amber\t1\t3", "amber\t1\t3"], "line 3: the same output is in line 2"),
        (["system\tseg\tscore", "amber\t9\t3"], "line 2: "),
        (["system\tseg\tscore", "amber\t1\tgood"], "line 2: 'score' must be a number, not 'good'"),
        (["system\tseg\tscore", "amber\t1\tinf"], "line 2: 'score' must be a number, not 'inf'"),
        (["system\tseg\tscore", "amber\t1"], "line 2: 2 cells, but the header has 3 columns"),
        (["system\tseg\tseg", "amber\t1\t1"], "line 1: a column name comes twice"),
        (["system\tscore", "amber\t1"], "line 1: there is no column 'seg'"),
        (["annotator\tsystem\tseg\tscore", "A\tamber\t1\t3", "A\tamber\t1\t2"], "line 3: 'A' rated the same output"),
    ],
)
def test_bad_rating_files_exit_with_4(run, toy, tmp_path, lines, message):
    (tmp_path / "ratings.tsv").write_text("\n".join(lines) + "\n")
    code, _, err = run("meta", toy, "-m", "chrf", "--ratings", tmp_path / "ratings.tsv")
    assert code == 4
    assert f"ratings.tsv, {message}" in err


SEGMENT_LINES = [f"{system}\t{i}" for system in ("amber", "birch", "cedar") for i in range(4)]


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("m-refA.seg.score", SEGMENT_LINES[:-1], "line 11: 3 scores for 'cedar', but "),
        ("m-refA.seg.score", [*SEGMENT_LINES, "cedar\t1"], "line 13: more than 4 scores for 'cedar'"),
        ("m-refA.seg.score", [*SEGMENT_LINES[:-1], "ghost\t1"], "line 12: unknown system 'ghost'"),
        ("m-refA.seg.score", ["amber"], "line 1: 1 words where a system and a score were expected"),
        ("m-refA.sys.score", ["amber\t1", "amber\t2"], "line 2: the system 'amber' comes twice"),
        ("m-refA.sys.score", ["amber\t1", "birch\tgood"], "line 2: 'the score' must be a number, not 'good'"),
    ],
)
def test_bad_score_files_of_mt_metrics_eval_exit_with_4(run, toy, tmp_path, name, lines, message):
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    code, _, err = run("meta", toy, "-m", "chrf", "--scores", tmp_path / name)
    assert code == 4
    assert f"{name}, {message}" in err


def test_files_that_are_no_text_exit_with_4(run, toy, tmp_path):
    for name, option in (("scores.tsv", "--scores"), ("ratings.tsv", "--ratings")):
        (tmp_path / name).write_bytes(b"system\tseg\tm\n\xff\xfe\t1\t2\n")
        code, _, err = run("meta", toy, "-m", "chrf", option, tmp_path / name)
        assert code == 4
        assert f"{name} is not UTF-8" in err
    (tmp_path / "x.jsonl.gz").write_bytes(b"\x1f\x8b broken")
    code, _, err = run("meta", tmp_path / "x.jsonl.gz", "-m", "chrf")
    assert code == 4
    assert "cannot read" in err


def test_bad_judgments_exit_with_4(run, tmp_path):
    rows = scored_rows()
    cases = {"twice": ([*rows, rows[0]], "line 13"), "text": ([rows[0] | {"raw": "x"}], "line 1")}
    for name, (bad, line) in cases.items():
        code, _, err = run("meta", write_jsonl(tmp_path / f"{name}.jsonl", bad), "-m", "chrf")
        assert code == 4
        assert f"{name}.jsonl, {line}" in err
    assert run("meta", tmp_path / "absent.jsonl", "-m", "chrf")[0] == 4


def test_wrong_use_exits_with_2(run, toy, tmp_path):
    assert run("meta", toy)[0] == 2
    assert run("meta", toy, "-m", "blue")[0] == 2
    assert run("meta", toy, "-m", "chrf", "--corr", "nothing")[0] == 2
    assert run("meta", toy, "-m", "chrf", "--test", "nothing")[0] == 2
    assert run("meta", toy, "-m", "chrf", "-o", tmp_path / "no" / "x.json")[0] == 2
    assert run("meta")[0] == 2


def test_failed_segments_exit_with_3(run, tmp_path):
    rows = scored_rows()
    rows[0]["refs"] = []
    code, out, _ = run("meta", write_jsonl(tmp_path / "x.jsonl", rows), "-m", "chrf", "--format", "json", "--trials", 0)
    assert code == 3
    assert {row["failed"] for row in json.loads(out)["results"]} == {1}


def test_a_second_run_reads_the_store(run, toy, monkeypatch):
    first = run("meta", toy, "-m", "chrf", "--trials", 10)
    from arboreval.meta import scores

    monkeypatch.setattr(scores, "measure", None)  # nothing may be measured
    assert run("meta", toy, "-m", "chrf", "--trials", 10) == first


def test_output_file_and_pictures(run, toy, tmp_path):
    target, pictures = tmp_path / "report.html", tmp_path / "pictures"
    code, out, _ = run("meta", toy, "-m", "chrf,bleu", "--format", "html", "-o", target, "--pictures", pictures)
    assert (code, out) == (0, "")
    assert "Metrics against people" in target.read_text(encoding="utf-8")
    assert sorted(path.suffix for path in pictures.iterdir()).count(".pdf") == 5


def test_the_page_works_in_a_browser(run, toy, tmp_path):
    target = tmp_path / "report.html"
    run("meta", toy, "-m", "chrf,bleu,rouge-1", "--test", "williams", "--corr", "pearson,kendall", "--partial",
        "--trials", 50, "--format", "html", "-o", target)  # fmt: skip
    with chromium(tmp_path / "profile") as driver:
        for width, scheme in ((1200, "light"), (375, "dark")):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            set_width(driver, width)
            driver.get(target.as_uri())
            assert driver.execute_script("return document.documentElement.scrollWidth") == width
            assert driver.execute_script("return document.querySelectorAll('#scatter .point').length") == 12
        chosen = "const s = document.querySelector('select[name=metric]'); s.value = 'bleu';"
        driver.execute_script(chosen + "s.dispatchEvent(new Event('change'))")
        label = driver.execute_script("return document.querySelector('#scatter svg').getAttribute('aria-label')")
        assert label == "toy de-en: bleu against human scores"
        driver.execute_script("document.querySelector('#tests [data-words]').focus()")
        words = driver.execute_script("return document.querySelector('#tests .readout').textContent")
        assert " bleu" in words or " chrf" in words
        assert console_errors(driver) == []
