"""Regenerates docs/results: every registered metric against people, beside the numbers of the papers.

    python benchmarks/results.py [--data wmt17] [--metric bleu,chrf] [--judgments DIR] [--force]

Values are kept in docs/results/values.jsonl by file, metric and recipe; only what is missing is computed, and the pages
are written from the values. Statistics of segments are in the user's cache besides, so an interrupted run continues.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from result_pages import (
    ABSENT,
    HUMAN,
    JUDGMENTS,
    OUT,
    PAGES,
    ROOT,
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


def fill(paths: Sequence[Path], page: Page, metrics: Sequence[str], values: Values, force: bool, jobs: int) -> None:
    for path in paths:
        sha = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        data: EvalSet | None = None
        for column in page_columns(page, path):
            lang = _target(path)
            wanted = [
                m for m in metrics
                if force or not values.has(path.name, sha, m, recipe(make_metric(m, lang=lang)), column.key)
            ]  # fmt: skip
            if not wanted:
                continue
            if data is None:
                (data,) = read_evalsets(path)
            _compute(data, path.name, sha, wanted, column, values, jobs)
        if data is not None:
            values.save()


def page_columns(page: Page, path: Path) -> Iterable[Column]:
    yield from page.columns
    if path.name == YARDSTICK:
        yield Column("kendall-darr", without_human=True)


def _target(path: Path) -> str:
    """The target language, from the file's name: all data but the pairs named in it is English."""
    parts = [p for p in path.name.split(".") if len(p) == 5 and p[2] == "-"]
    return parts[0][3:] if parts else "en"


def _compute(
    data: EvalSet, file: str, sha: str, metrics: Sequence[str], column: Column, values: Values, jobs: int
) -> None:
    today = datetime.date.today().isoformat()
    gone = [s for s in HUMAN if s in data.systems] if column.without_human else []
    report = arboreval.meta_evaluate(
        data,
        metrics,
        corr=[column.corr],
        level=column.level,  # type: ignore[arg-type]
        human=column.human,
        without=gone,
        limit=column.limit,
        average=column.average,  # type: ignore[arg-type]
        jobs=jobs,
    )
    print(f"{data.name}  {column.key}  {len(metrics)} metrics", flush=True)
    for r in report.results:
        how = recipe(make_metric(r.metric, lang=data.target))
        values.put(
            {
                "file": file, "sha": sha, "metric": r.metric, "key": column.key, "recipe": how,
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
    parser.add_argument("--force", action="store_true", help="compute again what is there")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    options = parser.parse_args()
    metrics = [m for m in options.metric.split(",") if m] or list(BUILT_IN)
    OUT.mkdir(parents=True, exist_ok=True)
    values = Values(OUT / "values.jsonl")
    pages = [page for page in PAGES if options.data in page.slug or chosen(page, options.judgments, options.data)]
    for page in pages:
        paths = chosen(page, options.judgments, options.data)
        fill(paths, page, metrics, values, options.force, options.jobs)
        write_page(page, options.judgments, values.rows)
        if page.slug == "wmt20-da":
            write_yardstick(options.judgments, values.rows)
    for slug, title, why in ABSENT:
        write_atomically(OUT / f"{slug}.md", absent_page(title, why, slug))
    write_index()
    print(f"{len(pages)} pages in {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
