from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest

import arboreval
from arboreval.cli import main

#: spec of length-controlled MT, 2.6
GIVEN = {"A": (0, 50, 100, 80), "B": (10, 60, 90, 70), "C": (0, 40, 100, 90)}


@pytest.fixture
def run(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


def write(path, rows, head="annotator\titem\tscore\ttrap\tseconds"):
    path.write_text("\n".join([head, *("\t".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def ratings(tmp_path):
    rows = [(who, f"i{i}", v, 0, 30 + 400 * i) for who, values in GIVEN.items() for i, v in enumerate(values)]
    rows += [("A", "t", 0, 1, 10), ("B", "t", 20, 1, 10), ("C", "t", 21, 1, 10)]
    return write(tmp_path / "ratings.tsv", rows)


def test_the_worked_example(ratings, run):
    code, out, _ = run("agree", ratings, "--format", "json")
    assert code == 0
    schema = json.loads((files("arboreval.report") / "agree_schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(out), schema)
    (task,) = json.loads(out)["tasks"]
    found = {s["name"]: s for s in task["statistics"]}
    assert found["Krippendorff's alpha, interval"]["without_traps"] == pytest.approx(0.953067, abs=1e-6)
    assert found["one-vs-rest Pearson, mean"]["without_traps"] == pytest.approx(0.979035, abs=1e-6)
    one_vs_rest = [a["one_vs_rest_without_traps"] for a in task["annotators"]]
    assert one_vs_rest == pytest.approx([0.99937, 0.96707, 0.97067], abs=1e-5)
    assert task["traps"] == {"zero": 1, "low": 1, "high": 1}
    assert task["annotators"][2]["traps"] == {"zero": 0, "low": 0, "high": 1}
    assert list(task["z"].values()) == pytest.approx([-1.3185, -0.1586, 0.9490, 0.5281], abs=5e-5)
    assert task["seconds"] == pytest.approx((3 * (30 + 430 + 830 + 1230) + 30) / 15)
    assert task["seconds_cut"] == pytest.approx((3 * (30 + 430) + 30) / 9)
    assert json.loads(arboreval.agreement(str(ratings)).render("json")) == json.loads(out)


def test_all_formats(ratings, run, tmp_path):
    text = run("agree", ratings)[1]
    assert "Krippendorff's alpha, interval     0." in text
    assert "zero/low (to 20)/high: 1/1/1" in text
    tsv = run("agree", ratings, "--format", "tsv")[1].splitlines()
    assert tsv[0].startswith("task\tcriterion\tstatistic\tvalue")
    assert r"\begin{tabular}" in run("agree", ratings, "--format", "latex")[1]
    assert run("agree", ratings, "--format", "html", "-o", tmp_path / "x.html")[0] == 0
    html = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in html
    assert "<script" not in html


def test_tasks_criteria_and_json_lines(tmp_path):
    rows = [
        {"annotator": who, "system": "s", "seg": i, "task": task, "adequacy": v, "style": 5, "comment": "so so"}
        for task in ("en-zh", "zh-en")
        for who, values in GIVEN.items()
        for i, v in enumerate(values)
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = arboreval.agreement(path)
    assert [(t.task, t.criterion) for t in report.tasks] == [
        (f"r.jsonl: {task}", c) for task in ("en-zh", "zh-en") for c in ("adequacy", "style")
    ]
    constant = report.tasks[1]
    assert all(s.value is None and s.reason for s in constant.statistics)
    assert len(constant.notes) == 3
    assert constant.traps is None
    assert "NaN" not in report.render("json")
    only = arboreval.agreement(path, criterion="adequacy")
    assert {t.criterion for t in only.tasks} == {"adequacy"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("A", "i", 1, 0, 1), ("A", "i", 2, 0, 1)], "line 3: 'A' rated 'i' in line 2 already"),
        ([("A", "i", 1, 0, 1), ("B", "i", "good", 0, 1)], "line 3: 'score' must be a number, not 'good'"),
        ([("A", "i", 1, "maybe", 1)], "line 2: 'trap' must be 1 or 0"),
        ([("", "i", 1, 0, 1)], "line 2: there is no 'annotator'"),
        ([("A", "", 1, 0, 1)], "line 2: there is no 'item'"),
    ],
)
def test_bad_ratings_exit_with_4(run, tmp_path, rows, message):
    code, _, err = run("agree", write(tmp_path / "bad.tsv", rows))
    assert code == 4
    assert f"bad.tsv, {message}" in err


def test_other_mistakes(run, tmp_path, ratings):
    (tmp_path / "n.tsv").write_text("item\tscore\n1\t2\n")
    assert run("agree", tmp_path / "n.tsv")[0] == 4
    assert run("agree", ratings, "--criterion", "beauty")[0] == 2
    assert run("agree", ratings, "--cut", 0)[0] == 2
    assert run("agree", tmp_path / "absent.tsv")[0] == 4


# --- a file for each annotator -----------------------------------------------------------------------------------


def file_for_each(tmp_path, head="annotator\titem\tscore\ttrap\tseconds"):
    named = "annotator" in head
    return [
        write(
            tmp_path / f"{who}.tsv",
            [[*([who] if named else []), f"i{i}", v, 0, 30] for i, v in enumerate(values)],
            head,
        )
        for who, values in GIVEN.items()
    ]


@pytest.mark.parametrize("head", ["annotator\titem\tscore\ttrap\tseconds", "item\tscore\ttrap\tseconds"])
def test_files_of_one_annotator_each_are_joined(run, tmp_path, head):
    """With a column that names the annotator, or named by the file."""
    paths = file_for_each(tmp_path, head)
    code, out, _ = run("agree", *paths, "--format", "json")
    assert code == 0
    (task,) = json.loads(out)["tasks"]
    assert task["task"] == "A.tsv, B.tsv, C.tsv"
    assert [a["name"] for a in task["annotators"]] == ["A", "B", "C"]
    assert (task["items"], task["ratings"]) == (4, 12)
    found = {s["name"]: s["value"] for s in task["statistics"]}
    assert found["Krippendorff's alpha, interval"] == pytest.approx(0.953067, abs=1e-6)
    assert found["one-vs-rest Pearson, mean"] == pytest.approx(0.979035, abs=1e-6)


def test_items_are_matched_by_name_in_any_order(tmp_path):
    a = write(tmp_path / "a.tsv", [("x", 1), ("y", 2), ("z", 3)], "item\tscore")
    b = write(tmp_path / "b.tsv", [("z", 30), ("y", 20), ("w", 7)], "item\tscore")
    (task,) = arboreval.agreement([a, b]).tasks
    assert (task.items, task.ratings) == (4, 6)
    rest = {s.name: s for s in task.statistics}["one-vs-rest Pearson, mean"]
    assert rest.value == pytest.approx(1.0)


def test_a_file_of_many_annotators_stays_a_table_of_its_own(tmp_path, ratings):
    report = arboreval.agreement([ratings, *file_for_each(tmp_path)])
    assert [(t.task, len(t.annotators)) for t in report.tasks] == [("ratings.tsv", 3), ("A.tsv, B.tsv, C.tsv", 3)]
    alone = arboreval.agreement([ratings, file_for_each(tmp_path)[0]])
    assert [(t.task, len(t.annotators)) for t in alone.tasks] == [("ratings.tsv", 3), ("A.tsv", 1)]


def test_tasks_of_joined_files_stay_apart(tmp_path):
    head = "task\titem\tscore"
    rows = [(task, i, i * (1 if task == "en-zh" else -1)) for task in ("en-zh", "zh-en") for i in range(3)]
    a, b = (write(tmp_path / f"{name}.tsv", rows, head) for name in "ab")
    report = arboreval.agreement([a, b])
    assert [(t.task, t.items, len(t.annotators)) for t in report.tasks] == [
        ("a.tsv, b.tsv: en-zh", 3, 2), ("a.tsv, b.tsv: zh-en", 3, 2),
    ]  # fmt: skip


def test_the_same_annotator_in_two_files(run, tmp_path):
    a = write(tmp_path / "a.tsv", [("A", "x", 1), ("A", "y", 2)], "annotator\titem\tscore")
    b = write(tmp_path / "b.tsv", [("A", "z", 3), ("A", "x", 2)], "annotator\titem\tscore")
    code, _, err = run("agree", a, b)
    assert code == 4
    assert "b.tsv, line 3: 'A' rated 'x' in line 2 of " in err
    (tmp_path / "empty.tsv").write_text("item\tscore\n")
    assert run("agree", a, tmp_path / "empty.tsv")[0] == 4


def test_every_format_has_n_reasons_and_notes(tmp_path):
    rows = [(who, i, v) for who, values in (("A", (1, 2, 4)), ("B", (3, 3, 3))) for i, v in enumerate(values)]
    report = arboreval.agreement(write(tmp_path / "r.tsv", rows, "annotator\titem\tscore"))
    for format_ in ("text", "json", "tsv", "latex", "html"):
        out = report.render(format_)
        assert "B gave every item the same rating" in out, format_
        assert "undefined in every group" in out, format_
        assert "n/a" in out or format_ in ("json", "tsv")
    annotators = json.loads(report.render("json"))["tasks"][0]["annotators"]
    assert [a["one_vs_rest"] for a in annotators] == [None, None]
    assert annotators[0]["reason"] == "the mean ratings of the others are all equal"
    assert annotators[1]["reason"] == "the annotator's ratings are all equal"
