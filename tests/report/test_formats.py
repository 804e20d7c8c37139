from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest

import arboreval
from arboreval.corpus import read_corpus
from arboreval.errors import UsageError
from arboreval.report.latex import _letter, escape
from arboreval.report.mtme import write_mtme
from arboreval.report.text import win_matrix

SCHEMA = json.loads(files("arboreval.report").joinpath("schema.json").read_text())


@pytest.fixture(scope="module")
def comparison(demo):
    return arboreval.compare(
        demo.systems,
        demo.references,
        sources=demo.lines("source.de.txt"),
        metrics=["bleu", "bleu-star", "ter", "rouge-l"],
    )


@pytest.fixture(scope="module")
def segments():
    return arboreval.score(
        {"x": ["a b c d", "q", "c"], "y": ["a b", "b", ""]},
        [["a b c d"], None, ["c", "d"]],
        metrics=["chrf", "bleu-star", "rouge-1:measure=r"],
        level="seg",
        limit=3,
    )


def rows(text):
    head, *body = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in body]


def test_json_follows_the_schema(comparison, segments):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for report in (comparison, segments):
        jsonschema.validate(json.loads(report.render("json")), SCHEMA)


def test_the_schema_refuses_what_is_wrong(segments):
    data = segments.to_dict()
    data["systems"][0]["scores"]["chrf"]["value"] = "high"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_json_shape(comparison, segments):
    data = json.loads(comparison.render("json"))
    assert [c["metric"] for c in data["comparisons"]] == ["bleu"] * 3 + ["bleu-star"] * 3 + ["ter"] * 3 + [
        "rouge-l"
    ] * 3
    assert "segments" not in data["systems"][0]
    score = data["systems"][0]["scores"]["ter"]
    assert (score["higher_is_better"], score["scale"], score["n"], score["rank"]) == (False, [0.0, None], 40, 1)
    data = json.loads(segments.render("json"))
    assert data["systems"][0]["segments"] == [
        {"seg": 1, "scores": {"chrf": 100.0, "rouge-1:measure=r": 1.0}},
        {"seg": 2, "scores": {"chrf": None, "rouge-1:measure=r": None}},
        {"seg": 3, "scores": {"chrf": 100.0, "rouge-1:measure=r": 1.0}},
    ]
    assert "rank" not in data["systems"][0]["scores"]["chrf"]
    assert len(data["failures"]) == 6
    assert data["failures"][0] == {
        "system": "x", "seg": 2, "metric": "chrf", "reason": "the segment has no reference",
    }  # fmt: skip


def test_documents_are_named_where_the_data_names_them(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = [{"hyp": "a", "refs": ["a"], "seg": 1, "doc": "d"}, {"hyp": "b", "refs": [], "seg": 1, "doc": "e"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = arboreval.score(read_corpus([path]), metrics=["chrf"], level="seg").to_dict()
    jsonschema.validate(data, SCHEMA)
    assert data["systems"][0]["segments"] == [
        {"doc": "d", "seg": 1, "scores": {"chrf": 100.0}},
        {"doc": "e", "seg": 1, "scores": {"chrf": None}},
    ]
    assert data["failures"][0]["doc"] == "e"


def test_tsv_of_systems(demo):
    report = arboreval.score(demo.systems, demo.references, metrics=["bleu", "chrf"])
    table = rows(report.render("tsv"))
    assert [(row["system"], row["metric"]) for row in table][:3] == [
        ("amber", "bleu"), ("amber", "chrf"), ("birch", "bleu"),
    ]  # fmt: skip
    for row in table:
        score = report.system(row["system"]).scores[row["metric"]]
        assert float(row["value"]) == score.value
        assert (float(row["ci_low"]), float(row["ci_high"])) == score.ci
        assert row["signature"] == score.signature


def test_tsv_of_segments(segments):
    assert segments.render("tsv").splitlines() == [
        "system\tdoc\tseg\tchrf\trouge-1:measure=r",
        "x\t\t1\t100.0\t1.0",
        "x\t\t2\t\t",
        "x\t\t3\t100.0\t1.0",
        f"y\t\t1\t{segments.segment_scores('y')['chrf'][0]!r}\t0.5",
        "y\t\t2\t\t",
        "y\t\t3\t0.0\t0.0",
    ]


def test_tsv_of_a_comparison(comparison):
    table = rows(comparison.render("tsv"))
    assert len(table) == 12
    for row, c in zip(table, comparison.comparisons, strict=True):
        assert float(row["difference"]) == c.difference
        assert float(row["p_ar_holm"]) == c.p_ar_holm
        assert row["winner"] == (c.winner or "")


def test_text(comparison):
    text = comparison.render("text")
    lines = text.splitlines()
    assert lines[0] == "40 segments, 2 references each"
    assert lines[3].split() == ["bleu", "↑", "amber", "57.73", "[47.55,", "67.63]", "1"]
    assert next(line for line in lines if line.startswith("amber   >   cedar")).split()[3] == "+34.67"
    assert comparison.systems[0].scores["ter"].signature in lines
    assert not any(line.endswith(" ") for line in lines)


def test_text_of_segments_names_failures(segments):
    lines = segments.render("text").splitlines()
    assert "failed: chrf, x, segment 2: the segment has no reference" in lines
    assert ["2", "x", "-", "-"] in [line.split() for line in lines]
    assert lines[1].split() == ["metric", "system", "score", "95%", "interval", "failed"]


def test_names_are_not_markup():
    report = arboreval.compare({"[bold]": ["a"], "[/x]": ["b"]}, ["a"], metrics=["chrf"])
    assert "[bold]" in report.render("text")
    assert "[/x]" in report.render("text")


def test_win_matrix(comparison):
    assert win_matrix(comparison, "ter") == [
        ("amber", ["·", "=", ">"]),
        ("birch", ["=", "·", ">"]),
        ("cedar", ["<", "<", "·"]),
    ]


def test_latex(comparison):
    text = comparison.render("latex")
    assert r"\begin{tabular}{lrrrr}" in text
    assert r"System & bleu $\uparrow$ & bleu-star $\uparrow$ & ter $\downarrow$ & rouge-l $\uparrow$ \\" in text
    assert r"(a) amber & \textbf{57.73} {\scriptsize [47.55, 67.63]}$^{c}$" in text
    assert "% bleu: bleu|nrefs:2|" in text


def test_latex_escapes():
    assert escape("a_b&50%") == r"a\_b\&50\%"
    assert [_letter(i) for i in (0, 25, 26, 701, 702)] == ["a", "z", "aa", "zz", "aaa"]


def test_mtme_files(segments, tmp_path):
    files = write_mtme(segments, tmp_path)
    folder = tmp_path / "metric-scores" / "und-en"
    assert sorted(path.name for path in files) == [
        "bleu-star-all.sys.score",
        "chrf-all.seg.score",
        "chrf-all.sys.score",
        "rouge-1_measure=r-all.seg.score",
        "rouge-1_measure=r-all.sys.score",
    ]
    lines = (folder / "chrf-all.seg.score").read_text().splitlines()
    assert lines[:3] == ["x\t100.0", "x\tNone", "x\t100.0"]
    assert len(lines) == 6
    name, value = (folder / "chrf-all.sys.score").read_text().splitlines()[1].split()
    assert (name, float(value)) == ("y", segments.system("y").scores["chrf"].value)


def test_mtme_names_pair_and_reference(tmp_path):
    report = arboreval.score({"my system": ["a"]}, ["a"], metrics=["chrf"], lang="zh-en")
    paths = write_mtme(report, tmp_path)
    assert paths[0].relative_to(tmp_path).as_posix() == "metric-scores/zh-en/chrf-refA.sys.score"
    assert paths[0].read_text() == "my_system\t100.0\n"


def test_unknown_format(segments):
    with pytest.raises(UsageError, match="unknown format 'pdf': choose one of text, json"):
        segments.render("pdf")
