"""meta_evaluate on every shape; the published baselines and the official WMT20 numbers are met."""

from __future__ import annotations

import csv
import json
import re
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import scipy.stats
from evaldata import (
    JUDGMENTS,
    contrastive_rows,
    judgments,
    pair_rows,
    ranking_rows,
    scored_rows,
    system_rows,
    write_jsonl,
)

import arboreval
from arboreval.errors import InputError, UsageError
from arboreval.meta.readers import read_evalsets, read_jsonl
from arboreval.meta.scores import score_evalset
from arboreval.report.meta_model import MetaReport

SCHEMA = json.loads((files("arboreval.report") / "meta_schema.json").read_text(encoding="utf-8"))


def check(report: MetaReport) -> dict:
    """Valid JSON: what is undefined is null with a reason, and nothing is NaN."""
    text = report.render("json")
    assert "NaN" not in text
    found = json.loads(text)
    jsonschema.validate(found, SCHEMA)
    return found


def values(report):
    return {(r.metric, r.corr): r.value for r in report.results}


@pytest.fixture
def scored(tmp_path):
    return read_jsonl(write_jsonl(tmp_path / "toy.jsonl", scored_rows()))


def test_scored_outputs_equal_scipy(scored):
    report = arboreval.meta_evaluate(scored, ["chrf", "ter"], corr=["pearson", "spearman", "kendall"], trials=50)
    check(report)
    chrf, ter = score_evalset(scored, ["chrf", "ter"])
    z = scored.human["z"]
    found = values(report)
    for name, x in (("chrf", chrf.rows), ("ter", -ter.rows)):
        assert found[name, "pearson"] == pytest.approx(scipy.stats.pearsonr(x, z)[0], abs=1e-12)
        assert found[name, "spearman"] == pytest.approx(scipy.stats.spearmanr(x, z)[0], abs=1e-12)
        assert found[name, "kendall"] == pytest.approx(scipy.stats.kendalltau(x, z)[0], abs=1e-12)
    assert report.data[0].human == "z"
    for r in report.results:
        assert r.n == 12
        assert r.ci[0] <= r.value <= r.ci[1]


def test_human_scores_can_be_chosen(scored):
    z, raw, fluency = (
        arboreval.meta_evaluate(scored, ["chrf"], human=h, corr=["pearson"], trials=0) for h in ("z", "raw", "fluency")
    )
    assert values(z)["chrf", "pearson"] == pytest.approx(values(raw)["chrf", "pearson"])
    assert values(fluency)["chrf", "pearson"] == pytest.approx(-values(raw)["chrf", "pearson"])
    assert fluency.data[0].human == "raw:fluency"
    assert fluency.results[0].ci is None


def test_averages_over_items_and_systems(scored):
    (chrf,) = score_evalset(scored, ["chrf"])
    grid, human = scored.matrix(chrf.rows), scored.matrix(scored.human["z"])
    by_item = np.mean([scipy.stats.pearsonr(grid[:, i], human[:, i])[0] for i in range(4)])
    by_system = np.mean([scipy.stats.pearsonr(grid[s], human[s])[0] for s in range(3)])
    for average, expected in (("item", by_item), ("sys", by_system)):
        report = arboreval.meta_evaluate(scored, ["chrf"], corr=["pearson"], average=average, trials=20)
        assert report.results[0].value == pytest.approx(expected, abs=1e-12)
        assert report.results[0].average == average


def test_systems_from_segments(scored):
    report = arboreval.meta_evaluate(scored, ["bleu"], level="sys", corr=["pearson", "kendall", "spa"], trials=50)
    check(report)
    (bleu,) = score_evalset(scored, ["bleu"])
    human = np.nanmean(scored.matrix(scored.human["z"]), axis=1)
    assert values(report)["bleu", "pearson"] == pytest.approx(scipy.stats.pearsonr(bleu.systems, human)[0], abs=1e-12)
    assert values(report)["bleu", "kendall"] == pytest.approx(1)
    assert report.data[0].human == "mean z"
    assert report.results[0].n == 3


def test_rankings(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", ranking_rows()))
    report = arboreval.meta_evaluate(
        data, ["chrf"], corr=["kendall-wmt12", "kendall-wmt14", "kendall-xties", "pearson"]
    )
    check(report)
    found = values(report)
    # the order amber > birch > cedar holds on every segment for chrF: 24 of 24 judgments
    assert found["chrf", "kendall-wmt12"] == 1
    assert found["chrf", "kendall-wmt14"] == 1
    assert found["chrf", "kendall-xties"] == pytest.approx(24 / 25)  # the human tie is none for the metric
    assert found["chrf", "pearson"] is None
    assert report.results[-1].reason == "pearson needs scores; these are preferences"
    systems = arboreval.meta_evaluate(data, ["chrf"], level="sys", corr=["kendall"], trials=20)
    assert systems.results[0].value == 1
    assert systems.data[0].human == "share of preferences won"


def test_published_system_scores(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", system_rows()))
    report = arboreval.meta_evaluate(data, ["chrf"], trials=20)
    check(report)
    (chrf,) = score_evalset(data, ["chrf"])
    assert report.data[0].level == "sys"
    assert values(report)["chrf", "pearson"] == pytest.approx(scipy.stats.pearsonr(chrf.systems, [0.9, 0.3, -0.5])[0])
    segments = arboreval.meta_evaluate(data, ["chrf"], level="seg")
    assert segments.results[0].value is None
    assert "did not judge segments" in segments.results[0].reason


def test_contrasts(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", contrastive_rows()))
    report = arboreval.meta_evaluate(data, ["chrf"])
    check(report)
    assert values(report)["chrf", "accuracy"] == 0.75  # the first "bad" text is the reference
    assert {p.phenomenon: p.value for p in report.phenomena} == {"drop": 0.5, "swap": 1.0}


def test_sentence_pairs(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", pair_rows()))
    report = arboreval.meta_evaluate(data, ["chrf"], trials=20)
    check(report)
    assert [r.corr for r in report.results] == ["pearson", "spearman", "kendall", "auc"]
    assert values(report)["chrf", "auc"] == 1


def test_metrics_that_do_not_fit_have_no_value(tmp_path):
    english = write_jsonl(tmp_path / "en.jsonl", scored_rows())
    german = write_jsonl(tmp_path / "de.jsonl", [row | {"lp": "en-de"} for row in scored_rows()])
    report = arboreval.meta_evaluate([english, german], ["rouge-w", "chrf"], corr=["pearson"], trials=10)
    check(report)
    by = {(r.lp, r.metric): r for r in report.results}
    assert by["en-de", "rouge-w"].value is None
    assert "the target language is de" in by["en-de", "rouge-w"].reason
    averages = {a.metric: a for a in report.averages if a.dataset is None}
    assert averages["chrf"].value == pytest.approx(np.mean([r.value for r in report.results if r.metric == "chrf"]))
    assert averages["rouge-w"].value is None
    assert averages["rouge-w"].reason.startswith("1 of 2 have no value")


def test_undefined_is_null_with_a_reason(tmp_path):
    rows = [row | {"raw": 50, "z": 0.0} for row in scored_rows()]
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    corrs = ["pearson", "kendall", "kendall-darr", "kendall-wmt13", "spa", "auc", "hybrid"]
    found = check(arboreval.meta_evaluate(data, ["chrf"], corr=corrs, trials=20))
    by = {r["corr"]: r for r in found["results"]}
    assert by["pearson"]["value"] is None
    assert "equal" in by["pearson"]["reason"]
    for corr in ("kendall", "kendall-darr", "kendall-wmt13", "auc", "hybrid"):
        assert by[corr]["value"] is None, corr
        assert by[corr]["reason"], corr


@pytest.mark.parametrize("test", ["williams", "zou", "perm-both", "perm-sys", "perm-input", "bootstrap"])
def test_tests_of_two_metrics(scored, test):
    report = arboreval.meta_evaluate(
        scored, ["chrf", "bleu", "rouge-1"], corr=["pearson"], test=test, trials=50, permutations=50
    )
    check(report)
    assert len(report.tests) == 3
    (cluster,) = report.clusters
    assert cluster.ranks[0] == 1
    order = values(report)
    for t in report.tests:
        assert order[t.a, "pearson"] >= order[t.b, "pearson"]
        assert t.difference == pytest.approx(order[t.a, "pearson"] - order[t.b, "pearson"], abs=1e-12)
        if t.p is not None:
            assert t.p_bonferroni == min(1, 3 * t.p)
            assert t.p <= t.p_holm <= t.p_bonferroni
        assert (t.winner == t.a) == (t.p_holm <= 0.05 if t.p_holm is not None else t.ci[0] > 0)


def test_hybrids_print_their_caution(scored):
    report = arboreval.meta_evaluate(
        scored, ["chrf", "rouge-1"], level="sys", corr=["hybrid", "hybrid-exact"], test="zou"
    )
    check(report)
    assert "not independent observations" in report.render("text")
    found = values(report)
    # rouge-1's system score is the mean of its segments, so that hybrids approach the closed form
    assert found["rouge-1", "hybrid"] == pytest.approx(found["rouge-1", "hybrid-exact"], abs=0.02)


def test_partial_correlation(scored):
    report = arboreval.meta_evaluate(scored, ["chrf", "bleu"], corr=["pearson"], partial=True, trials=0)
    check(report)
    chrf, bleu = (s.rows for s in score_evalset(scored, ["chrf", "bleu"]))
    z = scored.human["z"]
    residuals = [x - np.polyval(np.polyfit(z, x, 1), z) for x in (chrf, bleu)]
    assert report.partial[0].partial[0][1] == pytest.approx(np.corrcoef(*residuals)[0, 1], abs=1e-12)
    assert report.partial[0].plain[0][1] == pytest.approx(np.corrcoef(chrf, bleu)[0, 1], abs=1e-12)


def test_seed_and_batch_size(scored):
    def run(**keywords):
        return arboreval.meta_evaluate(scored, ["chrf"], corr=["pearson"], trials=50, **keywords).results

    assert run() == run(batch_size=1)
    assert run(seed=1) == run(seed=1)
    assert run(seed=1) != run(seed=2)
    assert run(unit="row")[0].ci != run()[0].ci


def test_wrong_requests(scored, tmp_path):
    for keywords, error, message in (
        ({"corr": ["persan"]}, UsageError, "Did you mean 'pearson'"),
        ({"test": "t-test"}, UsageError, "unknown test"),
        ({"metrics": ["blue"]}, UsageError, "unknown metric 'blue'"),
        ({"metrics": []}, UsageError, "no metric"),
        ({"metrics": ["chrf", "chrf"]}, UsageError, "given twice"),
        ({"without": ["ghost"]}, InputError, "unknown system 'ghost'"),
        ({"human": "beauty"}, InputError, "unknown human score 'beauty'"),
        ({"limit": 0}, UsageError, "at least 1"),
        ({"level": "doc"}, UsageError, "seg or sys"),
    ):
        with pytest.raises(error, match=message):
            arboreval.meta_evaluate(scored, **({"metrics": ["chrf"]} | keywords))
    with pytest.raises(InputError, match="and in"):
        arboreval.meta_evaluate([scored, scored], ["chrf"])


def test_renderers(scored, tmp_path):
    report = arboreval.meta_evaluate(
        scored, ["chrf", "bleu"], corr=["pearson", "kendall"], test="williams", partial=True, trials=20
    )
    text = report.render("text")
    assert re.search(r"pearson +chrf +0\.\d{4} +\[", text)
    assert "human scores: z" in text
    tsv = [line.split("\t") for line in report.render("tsv").splitlines()]
    assert tsv[0][:5] == ["dataset", "lp", "metric", "level", "corr"]
    assert float(tsv[1][6]) == report.results[0].value
    latex = report.render("latex")
    assert latex.count(r"\begin{tabular}") == 2
    assert r"\textbf{." in latex
    html = report.render("html")
    assert "default-src 'none'" in html
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", html)
    with pytest.raises(UsageError, match="unknown format"):
        report.render("docx")
    written = report.save_pictures(tmp_path / "pictures")
    names = {path.name for path in written}
    assert {"bars_toy_de-en_seg_pearson.svg", "wins_toy_de-en_seg_pearson_williams.pdf"} <= names
    assert {"scatter_toy_de-en_seg_chrf.svg", "partial_toy_de-en_seg.pdf"} <= names
    for path in written:
        data = path.read_bytes()
        assert data.startswith(b"<svg" if path.suffix == ".svg" else b"%PDF-1.4")


def test_names_cannot_break_the_page(tmp_path):
    rows = [row | {"system": f"</script><b>{row['system']}", "dataset": "<i>toy&"} for row in scored_rows()]
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    html = arboreval.meta_evaluate(data, ["chrf", "bleu"], level="sys", test="bootstrap", trials=20).render("html")
    assert "<i>toy" not in html
    assert "</script><b>" not in html


# --- real data ---------------------------------------------------------------------------------------------------

#: small files of every shape; benchmarks/results.py runs on all
REPRODUCED = [
    "asset-ratings.jsonl.gz", "d2t-bagel.jsonl.gz", "msrp.val.jsonl.gz", "sick.trial.jsonl.gz",
    "webnlg2020.en.jsonl.gz", "wmt15-da-seg.cs-en.jsonl.gz", "wmt16-da-seg.en-ru.jsonl.gz",
    "wmt17-da-seg.en-zh.jsonl.gz",
    "wmt17-da-seg.fi-en.jsonl.gz", "wmt12-rr.cs-en.jsonl.gz",
]  # fmt: skip


@pytest.mark.parametrize("name", REPRODUCED)
def test_baselines_are_reproduced(name):
    """To .001 where the published value was not sampled, else to .03."""
    path = judgments(name)
    with (JUDGMENTS / "baselines.tsv").open(encoding="utf-8") as file:
        published = next(row for row in csv.DictReader(file, delimiter="\t") if row["file"] == name)
    (data,) = read_evalsets(path)
    ranked = data.shape == "ranking"
    sampled = len(data.segment_ids) > 600 if ranked else len(data.outputs) > 4_000
    corrs = ["kendall-wmt12"] if ranked else ["pearson", "kendall"]
    found = values(arboreval.meta_evaluate(data, ["bleu", "chrf"], corr=corrs, trials=0))
    columns = {
        ("bleu", "pearson"): "sentBLEU_or_BLEU_pearson",
        ("chrf", "pearson"): "chrF_pearson",
        ("bleu", corrs[-1]): "sentBLEU_kendall",
        ("chrf", corrs[-1]): "chrF_kendall",
    }
    compared = 0
    for key, column in columns.items():
        if published[column]:
            assert found[key] == pytest.approx(float(published[column]), abs=0.03 if sampled else 0.001)
            compared += 1
    assert compared >= 2


def test_the_yardstick_has_the_official_pairs_and_value():
    """62,586 daRR pairs and chrF .132, as the WMT20 metrics task reports them."""
    (data,) = read_evalsets(judgments("wmt20-da.zh-en.jsonl.gz"))
    report = arboreval.meta_evaluate(data, ["chrf"], corr=["kendall-darr"], without=["Human-B"], trials=0)
    assert report.results[0].n == 62_586
    assert report.results[0].value == pytest.approx(0.132, abs=0.0005)


def test_the_signature_is_that_of_the_level(tmp_path):
    lines = [
        {"dataset": "d", "lp": "de-en", "system": s, "seg": i, "refs": ["a b c d"], "hyp": h, "raw": r, "z": None,
         "kind": "da"}
        for i in (1, 2) for s, h, r in (("x", "a b c", 2), ("y", "d c", 1), ("z", "a", 0))
    ]  # fmt: skip
    path = tmp_path / "d.de-en.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for level, eff in (("seg", "yes"), ("sys", "no")):
        report = arboreval.meta_evaluate(path, ["bleu"], level=level, corr=["pearson"], trials=0, keep=False)
        assert f"|eff:{eff}|" in report.signatures["bleu"]
