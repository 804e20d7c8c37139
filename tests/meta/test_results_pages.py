"""``make results``: what is missing is computed once and together, and the pages say what was measured."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from pathlib import Path

import pytest
from evaldata import scored_rows, system_rows

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def modules(monkeypatch):
    """The programs, which are no package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("published", "result_pages", "baseline_pages", "results")
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "judgments"
    made.mkdir()
    for name, rows in (
        ("wmt15-da-seg.cs-en", [row | {"dataset": "wmt15-da-seg", "lp": "cs-en"} for row in scored_rows()]),
        ("wmt15-da-seg.en-ru", [row | {"dataset": "wmt15-da-seg", "lp": "en-ru"} for row in scored_rows()]),
        ("wmt18-sys.cs-en", [row | {"dataset": "wmt18-sys"} for row in system_rows()]),
    ):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (made / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return made


@pytest.fixture
def run(modules, folder, tmp_path, monkeypatch):
    def run(*options):
        out = tmp_path / "out"
        arguments = ["results.py", "--judgments", str(folder), "--out", str(out), *options]
        monkeypatch.setattr(sys, "argv", arguments)
        modules["results"].main()
        return out

    return run


@pytest.fixture
def calls(monkeypatch):
    import arboreval

    made, original = [], arboreval.meta_evaluate

    def counting(data, metrics, **keywords):
        made.append((data.lp, tuple(metrics), tuple(keywords["corr"]), keywords["jobs"]))
        return original(data, metrics, **keywords, trials=20)

    monkeypatch.setattr(arboreval, "meta_evaluate", counting)
    return made


def values(out):
    rows = [json.loads(line) for line in (out / "values.jsonl").read_text(encoding="utf-8").splitlines()]
    return {(row["file"], row["metric"], row["key"]): row for row in rows}


def test_missing_metrics_are_computed_together_and_once(run, calls):
    out = run("--data", "wmt15-da-seg", "--metric", "chrf", "--jobs", "1")
    assert calls == [(lp, ("chrf",), ("pearson", "kendall"), 1) for lp in ("cs-en", "en-ru")]
    calls.clear()
    run("--data", "wmt15-da-seg.cs-en", "--metric", "chrf,bleu,rouge-1", "--jobs", "2")
    assert calls == [("cs-en", ("bleu", "rouge-1"), ("pearson", "kendall"), 2)]
    calls.clear()
    run("--data", "wmt15-da-seg.cs-en", "--metric", "chrf,bleu,rouge-1")
    assert calls == []
    lines = (out / "values.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (out / "values.jsonl").write_text("".join(line for line in lines if '"bleu", "key": "kendall' not in line))
    run("--data", "wmt15-da-seg.cs-en", "--metric", "chrf,bleu,rouge-1")
    assert calls == [("cs-en", ("bleu",), ("kendall",), 1)]
    page = (out / "wmt15-da-seg.md").read_text(encoding="utf-8")
    assert "## pearson, segments" in page
    assert "| metric | cs-en | en-ru |" in page


def test_metrics_that_do_not_fit_load_nothing(run, calls, modules, monkeypatch):
    asked = []
    original = modules["results"].recipe
    monkeypatch.setattr(modules["results"], "recipe", lambda metric: asked.append(metric.label) or original(metric))
    out = run("--data", "wmt15-da-seg.en-ru", "--metric", "rouge-w,chrf")
    assert asked == ["chrf"]
    assert [call[1] for call in calls] == [("chrf",)]
    row = values(out)["wmt15-da-seg.en-ru.jsonl.gz", "rouge-w", "pearson/seg"]
    assert (row["value"], row["reason"]) == (None, "rouge-w judges en, the target language is ru")
    page = (out / "wmt15-da-seg.md").read_text(encoding="utf-8")
    assert "- rouge-w: rouge-w judges en, the target language is ru" in page
    assert "Human scores: z." in page
    calls.clear()
    run("--data", "wmt15-da-seg.en-ru", "--metric", "rouge-w,chrf")
    assert calls == []


def test_the_index_lists_what_is_there(run):
    out = run("--data", "wmt15-da-seg", "--metric", "chrf")
    (out / "structure-alignment.md").write_text("# of another program\n")
    run("--data", "wmt15-da-seg", "--metric", "chrf")
    index = (out / "README.md").read_text(encoding="utf-8")
    for slug in ("wmt15-da-seg", "structure-alignment", "baselines", "mtc-p4"):
        assert f"]({slug}.md)" in index
    assert "structure-choice" not in index


def test_baselines(run, folder, modules, monkeypatch):
    """A whole file that agrees, one that is off, and a sampled one."""
    baselines = modules["baseline_pages"]
    monkeypatch.setattr(baselines, "SAMPLED_ROWS", 6)
    out = run("--metric", "bleu,chrf", "--data", "wmt")
    ours = {
        (file.split(".")[0], metric): row["value"]
        for (file, metric, key), row in values(out).items()
        if file.endswith("cs-en.jsonl.gz") and key.startswith("pearson")
    }
    head = "file\tstatistic\tsentBLEU_or_BLEU_pearson\tchrF_pearson\tsentBLEU_kendall\tchrF_kendall"
    lines = [
        f"wmt15-da-seg.cs-en.jsonl.gz\tpearson/kendall\t{ours['wmt15-da-seg', 'bleu']:.3f}\t0.100\t\t",
        f"wmt18-sys.cs-en.jsonl.gz\tsystem-level pearson (first 1000 segments)"
        f"\t{ours['wmt18-sys', 'bleu'] + 0.01:.3f}\t{ours['wmt18-sys', 'chrf']:.3f}\t\t",
    ]
    (folder / "baselines.tsv").write_text("\n".join([head, *lines]) + "\n")
    index = ["file\trows", "wmt15-da-seg.cs-en.jsonl.gz\t12", "wmt18-sys.cs-en.jsonl.gz\t5"]
    (folder / "index.tsv").write_text("\n".join(index) + "\n")
    out = run("--metric", "bleu,chrf", "--data", "baselines")
    found = values(out)
    sd = found["wmt15-da-seg.cs-en.jsonl.gz", "bleu", "pearson/seg/sd of samples"]
    assert 0 < sd["value"] < 0.5
    assert sd["n"] == 200
    direct = found["wmt18-sys.cs-en.jsonl.gz", "bleu", "pearson/sys///1000/sacrebleu"]
    assert direct["value"] == pytest.approx(ours["wmt18-sys", "bleu"], abs=1e-12)
    assert ("wmt18-sys.cs-en.jsonl.gz", "chrf", "pearson/sys///1000/sacrebleu") not in found
    page = (out / "baselines.md").read_text(encoding="utf-8")
    assert "Values of whole files: 1 of 2 are within .001." in page
    assert "Values of samples: 1 of 2 are within .030." in page
    assert page.count("**") == 4
    assert f"of the 3 systems gives {direct['value']:.4f}." in page
    # the page of the file is not about the spread of samples
    run("--metric", "bleu,chrf", "--data", "wmt15-da-seg")
    assert "sd of samples" not in (out / "wmt15-da-seg.md").read_text(encoding="utf-8")
