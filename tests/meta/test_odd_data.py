"""Data with which little can be said: every format says n/a with a reason, and no picture breaks."""

from __future__ import annotations

import json
import math
import re
from importlib.resources import files
from itertools import product
from pathlib import Path

import jsonschema
import pytest
from evaldata import contrastive_rows, pair_rows, ranking_rows, scored_rows, system_rows, write_jsonl
from lxml import etree

import arboreval
from arboreval.cli import main
from arboreval.errors import InputError
from arboreval.meta.levels import CORRS
from arboreval.meta.readers import read_jsonl
from arboreval.report.meta_figures import bars, close_axis, scatter
from arboreval.report.meta_html import render
from arboreval.report.meta_model import Points, Result

SCHEMA = json.loads((files("arboreval.report") / "meta_schema.json").read_text(encoding="utf-8"))
FORMATS = ("text", "json", "tsv", "latex", "html")


def one_system():
    head, *rest = system_rows()
    head = head | {"system_scores": {"amber": 1}}
    return [head, *(row | {"outputs": {"amber": row["outputs"]["amber"]}} for row in rest)]


def all_with(rows, **changes):
    return [row | changes for row in rows]


CASES = {
    "one-system": scored_rows(("amber",)),
    "one-row": scored_rows()[:1],
    "two-rows": scored_rows()[:2],
    "no-human-scores": all_with(scored_rows(), raw=None, z=None, raw_by={}),
    "constant-human-scores": all_with(scored_rows(), raw=5, z=1),
    "empty-outputs": all_with(scored_rows(), hyp=""),
    "unnamed-systems": [row | {"system": None, "seg": i} for i, row in enumerate(scored_rows())],
    "no-references": all_with(scored_rows(), refs=[]),
    "no-english": all_with(scored_rows(), lp="en-de"),
    "ties-alone": all_with(ranking_rows(), pairs=[], ties=[["amber", "birch", 1]]),
    "no-preferences": all_with(ranking_rows(), pairs=[], ties=[]),
    "published-scores": system_rows(),
    "published-score-of-one": one_system(),
    "contrasts-without-contrast": [row | {"bad": row["good"]} for row in contrastive_rows()],
    "one-pair": pair_rows()[:1],
    "one-label": all_with(pair_rows(), label=1),
}


@pytest.mark.parametrize("level", ["seg", "sys"])
@pytest.mark.parametrize("name", CASES)
def test_every_coefficient_test_and_format(tmp_path, name, level):
    data = read_jsonl(write_jsonl(tmp_path / f"{name}.jsonl", CASES[name]))
    if level == "sys" and not data.systems:
        with pytest.raises(InputError, match="there is nothing to evaluate at system level"):
            arboreval.meta_evaluate(data, ["chrf"], level=level)
        return
    for test in ("perm-both", "perm-input", "williams", "bootstrap"):
        report = arboreval.meta_evaluate(
            data, ["chrf", "bleu-star", "rouge-w"], level=level, corr=CORRS, test=test, partial=True,
            trials=8, permutations=8,
        )  # fmt: skip
        found = json.loads(report.render("json"))
        jsonschema.validate(found, SCHEMA)
        assert len(found["results"]) == 3 * len(CORRS)
        for row in found["results"]:
            assert (row["value"] is None) == bool(row["reason"]), row
            assert row["ci"] is None or all(map(math.isfinite, row["ci"])), row
        for row in found["tests"]:
            assert row["p"] is not None or row["ci"] is not None or row["reason"], row
    text = "".join(report.render(format_) for format_ in FORMATS)
    assert not re.search(r"(?<![\w-])(nan|inf|NaN|Infinity)(?![\w-])", text)
    for path in report.save_pictures(tmp_path / "pictures"):
        content = path.read_bytes()
        if path.suffix == ".svg":
            etree.fromstring(content)
        assert not re.search(rb'(?<![\w-])(nan|inf)(?=[\s",])', content), path.name


def test_reasons_say_what_is_missing(tmp_path):
    reasons = {}
    for name in (
        "one-system",
        "no-human-scores",
        "empty-outputs",
        "constant-human-scores",
        "no-references",
        "no-english",
    ):
        data = read_jsonl(write_jsonl(tmp_path / f"{name}.jsonl", CASES[name]))
        level = "sys" if name == "one-system" else "seg"
        report = arboreval.meta_evaluate(data, ["rouge-w"], level=level, corr=["pearson", "acc23"], trials=5)
        reasons[name] = report.results[0].reason
    assert reasons == {
        "one-system": "fewer than two scored pairs of values",
        "no-human-scores": "people did not judge segments here",
        "empty-outputs": "the metric's scores are all equal",
        "constant-human-scores": "the human scores are all equal",
        "no-references": "the data has no references",
        "no-english": "rouge-w judges en, the target language is de",
    }


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.tsv", "blank.jsonl", "empty.jsonl.gz"])
def test_empty_files_exit_with_4(tmp_path, capsys, name):
    path = tmp_path / name
    path.write_bytes(b"\n \n" if "blank" in name else b"")
    with pytest.raises(SystemExit) as ended:
        main(["meta", str(path), "-m", "chrf"])
    assert ended.value.code == 4
    assert f"{name} is empty" in capsys.readouterr().err


# --- pictures ----------------------------------------------------------------------------------------------------

ODD_VALUES = {
    "constant": (0.3, 0.3, 0.3),
    "zero": (0.0, 0.0),
    "nearly-constant": (0.3, 0.1 * 3, math.nextafter(0.3, 1)),
    "tiny": (1e-12, 3e-12),
    "huge": (-1e12, 5e12),
    "mixed": (-1e-9, 1e9),
    "one": (0.7,),
}


@pytest.mark.parametrize("x", ODD_VALUES.values(), ids=ODD_VALUES)
def test_axes_hold_odd_values(x):
    axis = close_axis(x)
    assert axis.low <= min(x)
    assert max(x) <= axis.high
    assert axis.low < axis.high
    assert axis.step > 0


@pytest.mark.parametrize(("x", "y"), list(product(ODD_VALUES.values(), repeat=2)))
def test_scatter_of_odd_scores(x, y):
    n = min(len(x), len(y))
    points = Points("d", "en", "m<&", "sys", "z", x[:n], y[:n], tuple(f"s{i}" for i in range(n)), n)
    canvas = scatter(points)
    svg = etree.fromstring(canvas.svg().encode())
    dots = svg.findall("{*}circle")
    assert len(dots) == n
    for dot in dots:
        assert 0 <= float(dot.get("cx")) <= canvas.width
        assert 0 <= float(dot.get("cy")) <= canvas.height
    assert canvas.pdf().endswith(b"%%EOF\n")


def test_bars_of_odd_values():
    def result(metric, value, ci=None):
        return Result("d", "en", metric, "seg", "pearson", value, ci, 3, 0)

    for results in (
        [result("a", 0.0)],
        [result("a", -0.5, (-0.9, 0.1)), result("b", None), result("c", 1.0, (1.0, 1.0))],
        [result("a", 1e-15)],
    ):
        canvas = bars(results)
        svg = etree.fromstring(canvas.svg().encode())
        boxes = svg.findall("{*}rect")
        assert len(boxes) == sum(r.value is not None for r in results)
        for box in boxes:
            assert float(box.get("x")) >= 0
            assert float(box.get("x")) + float(box.get("width")) <= canvas.width
            assert float(box.get("width")) >= 0


def test_missing_points_are_not_drawn(tmp_path):
    rows = scored_rows()
    rows[0]["refs"], rows[1]["z"] = [], None
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    report = arboreval.meta_evaluate(data, ["chrf"], corr=["pearson"], trials=0)
    assert len(report.points[0].x) == report.points[0].total == 10
    page = render(report)
    assert json.loads(re.search(r'id="data">(.*?)</script>', page).group(1))["plots"][0]["total"] == 10
    assert Path(report.save_pictures(tmp_path / "p")[0]).exists()
