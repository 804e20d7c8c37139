"""Every format tells the intervals, n, signatures and notes; options for foreign metrics and for corrections."""

from __future__ import annotations

import csv
import io
import json
import random
import re

import pytest
from evaldata import scored_rows, write_jsonl

import arboreval
from arboreval.cli import main
from arboreval.errors import UsageError
from arboreval.report.meta_model import SCHEMA_VERSION

FORMATS = ("text", "json", "tsv", "latex", "html")


@pytest.fixture
def run(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


@pytest.fixture
def toys(tmp_path):
    """Two language pairs; the second lacks an output, so that n differs."""
    whole = write_jsonl(tmp_path / "a.jsonl", [row | {"lp": "de-en"} for row in scored_rows()])
    holed = write_jsonl(tmp_path / "b.jsonl", [row | {"lp": "cs-en"} for row in scored_rows()[1:]])
    return [whole, holed]


def short(value):
    return f"{value:.3f}".replace("0.", ".", 1)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_has_intervals_n_signatures_and_notes(toys, tmp_path, format_, count):
    scores = tmp_path / "scores.tsv"
    lines = [f"{r['system']}\t{r['seg']}\t{r['raw']}" for r in scored_rows()[1:]]
    scores.write_text("\n".join(["system\tseg\tmine", *lines, "ghost\t\t3"]) + "\n")
    report = arboreval.meta_evaluate(
        toys[:count], ["chrf", "mine", "rouge-w"], corr=["pearson"], trials=40, scores=[scores]
    )
    assert report.notes == ("scores.tsv: no such system in the data: ghost",)
    out = report.render(format_)
    for note in report.notes:
        assert note in out
    for signature in report.signatures.values():
        assert signature in out
    for r in report.results:
        if format_ in ("json", "tsv"):
            assert repr(r.value) in out
            assert repr(r.ci[0]) in out
        elif format_ == "latex":
            assert rf"{short(r.value)}\ci{{{short(r.ci[0])}}}{{{short(r.ci[1])}}}" in out.replace("}\\ci", "\\ci")
        else:
            assert f"{r.value:.4f}" in out
            interval = f"[{r.ci[0]:.3f}, {r.ci[1]:.3f}]" if format_ == "text" else f"{r.ci[0]:.3f} to {r.ci[1]:.3f}"
            assert interval in out
        assert re.search(rf"(?<![\d.]){r.n}(?![\d.])", out)


def test_latex_says_how_intervals_look_and_what_n_is(toys):
    report = arboreval.meta_evaluate(toys, ["chrf"], corr=["pearson"], trials=20)
    latex = report.render("latex")
    assert r"\providecommand{\ci}[2]" in latex
    assert r"$n$ & 12 & 11 &  \\" in latex
    assert r"\ci" not in arboreval.meta_evaluate(toys, ["chrf"], corr=["pearson"], trials=0).render("latex")


def test_tsv_has_the_averages(toys):
    report = arboreval.meta_evaluate(toys, ["chrf"], corr=["pearson"], trials=0)
    rows = list(csv.DictReader(io.StringIO(report.render("tsv")), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [(r["dataset"], r["lp"], r["n"]) for r in rows] == [
        ("toy", "de-en", "12"), ("toy", "cs-en", "11"), ("toy", "average", "2"), ("", "average", "2"),
    ]  # fmt: skip
    values = [float(r["value"]) for r in rows]
    assert values[2] == values[3] == pytest.approx((values[0] + values[1]) / 2)
    assert {r["human"] for r in rows} == {"z", ""}
    assert {r["signature"] for r in rows} == {report.signatures["chrf"]}


def test_n_is_a_range_where_metrics_lack_outputs(toys, tmp_path):
    scores = tmp_path / "scores.tsv"
    scores.write_text("system\tseg\tmine\namber\t2\t1\namber\t3\t2\nbirch\t2\t0\n")
    report = arboreval.meta_evaluate(toys, ["chrf", "mine"], corr=["pearson"], trials=0, scores=[scores])
    assert "3 to 12" in report.render("text")
    assert "3 to 12" in report.render("latex")
    assert arboreval.meta_evaluate(toys[0], ["mine"], corr=["auc"], trials=0, scores=[scores]).results[0].n == 0


def test_reasons_are_in_every_format(toys):
    report = arboreval.meta_evaluate(toys[0], ["chrf"], corr=["auc"], trials=0)
    for format_ in FORMATS:
        assert "AUC needs labels that are 0 or 1" in report.render(format_), format_


def test_undefined_partial_correlations_say_why(tmp_path):
    rows = [row | {"hyp": ""} for row in scored_rows()]
    report = arboreval.meta_evaluate(
        write_jsonl(tmp_path / "x.jsonl", rows), ["chrf", "rouge-1"], corr=["pearson"], partial=True, trials=0
    )
    (partial,) = json.loads(report.render("json"))["partial"]
    assert partial["partial"] == [[None, None], [None, None]]
    assert partial["reasons"] == ["the metric's scores are all equal"]
    for format_ in ("text", "html"):
        assert "the metric&#39;s scores are all equal" in report.render(format_).replace("'", "&#39;")


# --- lower is better ---------------------------------------------------------------------------------------------


@pytest.fixture
def errors(tmp_path):
    """An error count that falls as quality rises, beside a score that rises."""
    path = tmp_path / "scores.tsv"
    lines = [f"{r['system']}\t{r['seg']}\t{100 - r['raw']}\t{r['raw']}" for r in scored_rows()]
    path.write_text("\n".join(["system\tseg\terrors\tquality", *lines]) + "\n")
    return path


@pytest.mark.parametrize("level", ["seg", "sys"])
def test_lower_is_better(run, toys, errors, level):
    arguments = ["meta", toys[0], "--scores", errors, "--corr", "pearson", "--level", level, "--format", "json"]

    def values(*more):
        code, out, _ = run(*arguments, *more)
        assert code == 0
        return {r["metric"]: r["value"] for r in json.loads(out)["results"]}

    assert values() == {"errors": pytest.approx(-1), "quality": pytest.approx(1)}
    assert values("--lower-is-better", "errors") == {"errors": pytest.approx(1), "quality": pytest.approx(1)}
    report = arboreval.meta_evaluate(toys[0], ["errors"], scores=[errors], lower_is_better=["errors"], trials=0)
    # the scatter plot shows the scores as they are
    assert report.points[0].x[0] == 5


def test_lower_is_better_of_an_unknown_metric(run, toys, errors):
    code, _, err = run("meta", toys[0], "--scores", errors, "--lower-is-better", "error")
    assert code == 2
    assert "'error'" in err
    assert "Did you mean 'errors'" in err
    assert run("meta", toys[0], "-m", "ter", "--lower-is-better", "ter")[0] == 2


# --- corrections -------------------------------------------------------------------------------------------------


def report_with(correction, toys, tmp_path):
    """Four metrics; with Holm more differences hold than with plain Bonferroni."""
    scores, rng = tmp_path / "many.tsv", random.Random(21)
    noisy = ([str(round(r["raw"] + s * rng.gauss(0, 1))) for s in (0, 10, 20, 40)] for r in scored_rows())
    lines = ["\t".join([r["system"], str(r["seg"]), *cells]) for r, cells in zip(scored_rows(), noisy, strict=True)]
    scores.write_text("\n".join(["system\tseg\tm0\tm1\tm2\tm3", *lines]) + "\n")
    return arboreval.meta_evaluate(
        toys[0], [], scores=[scores], corr=["pearson"], test="perm-both", trials=0, permutations=400,
        correction=correction,
    )  # fmt: skip


def test_corrections(toys, tmp_path):
    holm, bonferroni = (report_with(c, toys, tmp_path) for c in ("holm", "bonferroni"))
    for report, name in ((holm, "Holm"), (bonferroni, "Bonferroni")):
        for t in report.tests:
            p = t.p_holm if name == "Holm" else t.p_bonferroni
            assert t.corrected(report.correction) == p
            assert (t.winner == t.a) == (p <= 0.05)
            assert t.p_bonferroni == min(1, t.p * 6)
        found = json.loads(report.render("json"))
        assert found["correction"] == name.lower()
        assert found["schema_version"] == SCHEMA_VERSION
        assert f"after {name}'s correction" in report.render("text")
        assert f"after {name}’s correction" in report.render("html")
    winners = [[t.winner for t in report.tests] for report in (holm, bonferroni)]
    assert winners[0] != winners[1]
    assert sum(w is not None for w in winners[0]) > sum(w is not None for w in winners[1]) > 0
    assert [c.ranks for c in holm.clusters] != [c.ranks for c in bonferroni.clusters]


def test_choice_of_the_correction(run, toys):
    arguments = ["meta", toys[0], "-m", "chrf,bleu", "--test", "williams", "--corr", "pearson", "--format", "json"]
    assert json.loads(run(*arguments)[1])["correction"] == "holm"
    assert json.loads(run(*arguments, "--correction", "bonferroni")[1])["correction"] == "bonferroni"
    assert run(*arguments, "--correction", "none")[0] == 2
    with pytest.raises(UsageError, match=r"unknown correction 'hulm'.*Did you mean 'holm'"):
        arboreval.meta_evaluate(toys[0], ["chrf"], correction="hulm")
