"""Regenerates docs/results: every registered metric against people, beside the numbers of the papers.

    python benchmarks/results.py [--data wmt17] [--metric bleu,chrf] [--judgments DIR] [--out DIR] [--jobs N] [--force]

Values are kept in docs/results/values.jsonl by file, metric and recipe; only what is missing is computed, and the pages
are written from the values. Statistics of segments are in the user's cache besides, so an interrupted run continues.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from baseline_pages import fill_baselines, write_baselines
from result_pages import (
    ABSENT,
    HUMAN,
    JUDGMENTS,
    OUT,
    PAGES,
    YARDSTICK,
    Column,
    Page,
    absent_page,
    data_files,
    write_index,
    write_page,
    write_yardstick,
)

import arboreval
from arboreval.meta.evalset import EvalSet
from arboreval.meta.readers import read_evalsets
from arboreval.meta.scores import recipe
from arboreval.registry import BUILT_IN, make_metric
from arboreval.report.files import write_atomically

# --- values ------------------------------------------------------------------------------------------------------


class Values:
    """docs/results/values.jsonl: one line for a file, metric and coefficient."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = self._read()
        self.new: dict[tuple[str, str, str], dict[str, Any]] = {}

    def _read(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        if not self.path.exists():
            return {}
        rows = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        return {(row["file"], row["metric"], row["key"]): row for row in rows}

    def has(self, file: str, sha: str, metric: str, how: str, key: str) -> bool:
        row = self.rows.get((file, metric, key))
        return row is not None and row["sha"] == sha and row["recipe"] == how

    def put(self, row: dict[str, Any]) -> None:
        key = (row["file"], row["metric"], row["key"])
        self.rows[key] = self.new[key] = row

    def save(self) -> None:
        """Adds what is new to what is there, which another run may have written meanwhile."""
        self.rows = {**self._read(), **self.new}
        lines = [json.dumps(self.rows[key], ensure_ascii=False) for key in sorted(self.rows)]
        write_atomically(self.path, "".join(line + "\n" for line in lines))


def chosen(page: Page, folder: Path, data: str) -> list[Path]:
    """The files of a page that ``--data`` means: all if it is in the page's name, else those it is in the name of."""
    return [path for path in data_files(page, folder) if data in page.slug or data in path.name]


@cache
def how(metric: str, lang: str) -> str:
    """The recipe; asked for once, because metrics that read analyses load a model to know it."""
    return recipe(make_metric(metric, lang=lang))


@cache
def unfit(metric: str, lang: str) -> str:
    """Why a metric cannot judge this language, if so."""
    languages = make_metric(metric, lang=lang).languages
    if "any" in languages or lang in languages:
        return ""
    return f"{metric} judges {', '.join(languages)}, the target language is {lang}"


def fill(paths: Sequence[Path], page: Page, metrics: Sequence[str], values: Values, force: bool, jobs: int) -> None:
    """Computes what is missing. All metrics that a file lacks are given together, so that those that read analyses
    share them; what the first columns have measured, the others read from the store of scores."""
    for path in paths:
        sha = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        lang = _target(path)
        fitting = [m for m in metrics if not unfit(m, lang)]
        # by what they differ in besides the coefficient, and by what is missing
        calls: dict[tuple[Column, tuple[str, ...]], list[Column]] = {}
        for column in page_columns(page, path):
            missing = tuple(m for m in fitting if force or not values.has(path.name, sha, m, how(m, lang), column.key))
            if missing:
                calls.setdefault((column.setting, missing), []).append(column)
        without = [(m, column) for m in metrics if unfit(m, lang) for column in page_columns(page, path)]
        without = [(m, c) for m, c in without if force or not values.has(path.name, sha, m, "", c.key)]
        if not calls and not without:
            continue
        (data,) = read_evalsets(path)
        # those with most metrics, segments and systems first: they measure what the others need
        order = sorted(calls, key=lambda call: (-len(call[1]), call[0].limit is not None, call[0].without_human))
        for setting, missing in order:
            _compute(data, path.name, sha, lang, missing, calls[setting, missing], values, jobs)
        for metric, column in without:
            values.put(_empty(data, path.name, sha, metric, column, unfit(metric, lang)))
        values.save()


def page_columns(page: Page, path: Path) -> Iterable[Column]:
    yield from page.columns
    if path.name == YARDSTICK:
        yield Column("kendall-darr", without_human=True)


def _target(path: Path) -> str:
    """The target language, from the file's name: all data but the pairs named in it is English."""
    parts = [p for p in path.name.split(".") if len(p) == 5 and p[2] == "-"]
    return parts[0][3:] if parts else "en"


def _empty(data: EvalSet, file: str, sha: str, metric: str, column: Column, reason: str) -> dict[str, Any]:
    return {
        "file": file, "sha": sha, "metric": metric, "key": column.key, "recipe": "",
        "dataset": data.dataset, "lp": data.lp, "human": "", "value": None, "ci": None, "n": 0, "failed": 0,
        "reason": reason, "signature": "", "date": datetime.date.today().isoformat(),
    }  # fmt: skip


def _compute(
    data: EvalSet,
    file: str,
    sha: str,
    lang: str,
    metrics: Sequence[str],
    columns: Sequence[Column],
    values: Values,
    jobs: int,
) -> None:
    """Columns that differ in nothing but the coefficient."""
    today = datetime.date.today().isoformat()
    column, keys = columns[0], {column.corr: column.key for column in columns}
    gone = [s for s in HUMAN if s in data.systems] if column.without_human else []
    report = arboreval.meta_evaluate(
        data,
        metrics,
        corr=list(keys),
        level=column.level,  # type: ignore[arg-type]
        human=column.human,
        without=gone,
        limit=column.limit,
        average=column.average,  # type: ignore[arg-type]
        jobs=jobs,
    )
    print(f"{data.name}  {' '.join(keys.values())}  {len(metrics)} metrics", flush=True)
    for r in report.results:
        values.put(
            {
                "file": file, "sha": sha, "metric": r.metric, "key": keys[r.corr], "recipe": how(r.metric, lang),
                "dataset": r.dataset, "lp": r.lp, "human": report.data[0].human, "value": r.value,
                "ci": r.ci, "n": r.n, "failed": r.failed, "reason": r.reason,
                "signature": report.signatures.get(r.metric, ""), "date": today,
            }
        )  # fmt: skip
    for p in report.phenomena:
        values.put(
            {
                "file": file, "sha": sha, "metric": p.metric, "key": f"phenomenon/{p.phenomenon}", "recipe": "",
                "dataset": p.dataset, "lp": p.lp, "human": "contrasts", "value": p.value, "ci": p.ci, "n": p.n,
                "failed": 0, "reason": "", "signature": "", "date": today,
            }
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", default="", help="only pages or files whose name contains this")
    parser.add_argument("--metric", default="", help="metrics, separated by commas; all registered ones if empty")
    parser.add_argument("--judgments", type=Path, default=JUDGMENTS, help="folder with the human judgments")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the pages and their values")
    parser.add_argument("--force", action="store_true", help="compute again what is there")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    options = parser.parse_args()
    metrics = [m for m in options.metric.split(",") if m] or list(BUILT_IN)
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    values = Values(out / "values.jsonl")
    pages = [page for page in PAGES if options.data in page.slug or chosen(page, options.judgments, options.data)]
    for page in pages:
        paths = chosen(page, options.judgments, options.data)
        fill(paths, page, metrics, values, options.force, options.jobs)
        write_page(page, options.judgments, values.rows, out)
        if page.slug == "wmt20-da":
            write_yardstick(options.judgments, values.rows, out)
    if options.data in ("", "baselines"):
        fill_baselines(options.judgments, values, how)
    write_baselines(options.judgments, values.rows, out)
    for slug, title, why in ABSENT:
        write_atomically(out / f"{slug}.md", absent_page(title, why, slug))
    write_index(out)
    print(f"{len(pages)} pages in {out}")


if __name__ == "__main__":
    main()
