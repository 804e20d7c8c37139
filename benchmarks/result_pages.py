"""The pages of docs/results: which coefficients each has, and how it is written from the values."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from published import PUBLISHED, Published

from arboreval.meta.correlation import pearson
from arboreval.meta.readers import read_evalsets
from arboreval.report.files import write_atomically

#: a value with its recipe: a line of docs/results/values.jsonl
Row = dict[str, Any]
#: by file, metric and coefficient
Rows = Mapping[tuple[str, str, str], Row]

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "results"
JUDGMENTS = ROOT.parent / "shared" / "data" / "judgments"
YARDSTICK = "wmt20-da.zh-en.jsonl.gz"
#: translations by people that were judged like systems; leaving them out is the official setting
HUMAN = ("Human-A", "Human-B", "Human-P", "HUMAN", "ref", "refA", "refB", "WebNLG-2020-reference")
SYS_LIMIT = 1_000


@dataclass(frozen=True)
class Column:
    """A coefficient to compute: ``key`` names it in the values."""

    corr: str
    level: str = "seg"
    human: str | None = None
    without_human: bool = False
    limit: int | None = None
    average: str = "none"

    @property
    def key(self) -> str:
        parts = [self.corr, self.level, self.human or "", "mt" if self.without_human else "", str(self.limit or "")]
        return "/".join(parts).rstrip("/") + ("" if self.average == "none" else f"/by-{self.average}")

    @property
    def setting(self) -> Column:
        """Everything but the coefficient: columns with the same setting are computed together."""
        return replace(self, corr="")


@dataclass(frozen=True)
class Page:
    """One page of docs/results."""

    slug: str
    title: str
    files: str
    columns: tuple[Column, ...]
    text: str = ""
    #: how the published rows name the coefficient of each column
    published: dict[str, str] = field(default_factory=dict)


SEG = (Column("pearson"), Column("kendall"))
NOISY = (
    Column("pearson"),
    Column("kendall"),
    Column("pearson", average="item"),
    Column("acc23"),
    Column("pearson", "sys", without_human=True),
)
LENGTH = (
    " MQM penalties add up over a segment, so pooled coefficients reward whatever falls with length: the negated "
    "length of the reference alone has a Pearson of .526 on newstest2020 zh-en. Coefficients within segments "
    "are free of that."
)
CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")

PAGES = (
    Page("wmt15-da-seg", "WMT15, direct assessment of segments", "wmt15-da-seg.*", SEG,
         "500 segments a language pair, at least 15 ratings each.", {"pearson/seg": "pearson"}),
    Page("wmt16-da-seg", "WMT16, direct assessment of segments", "wmt16-da-seg.*", SEG,
         "560 segments a language pair, at least 15 ratings each.", {"pearson/seg": "pearson"}),
    Page("wmt17-da-seg", "WMT17, direct assessment of segments", "wmt17-da-seg.*", SEG,
         "560 outputs a language pair, at least 15 ratings each. SWSS was tuned on this set; its paper has no table."),
    Page("wmt12-rr", "WMT12, relative ranking", "wmt12-rr.*",
         (Column("kendall-wmt12"), Column("kendall-wmt13"), Column("kendall-xties")),
         "kendall-wmt12 is the official coefficient of the year: a metric tie counts against."),
    Page("wmt14-rr", "WMT14, relative ranking", "wmt14-rr.*", (Column("kendall-wmt14"), Column("kendall-wmt12")),
         "kendall-wmt14 is the official coefficient of the year: a metric tie counts 0."),
    Page("wmt18-sys", "WMT18, systems", "wmt18-sys.*",
         (Column("pearson", "sys", limit=SYS_LIMIT), Column("kendall", "sys", limit=SYS_LIMIT)),
         f"The first {SYS_LIMIT:,} segments of each test set, all systems. tr-en has five systems with almost equal "
         "human scores."),
    Page("wmt20-da", "WMT20, direct assessment", "wmt20-da.*", NOISY,
         "zh-en has a page of its own with the official peers: [wmt20-zh-en](wmt20-zh-en.md). Segment scores are "
         "mostly single ratings. System scores are over the judged outputs, without human translations.",
         {"pearson/sys//mt": "pearson/sys"}),
    Page("wmt21-da", "WMT21, direct assessment", "wmt21-da.*", NOISY,
         "Segment scores average one or two ratings. System scores are without human translations."),
    Page("mqm-newstest2020", "MQM, newstest2020", "mqm-newstest2020.*", NOISY,
         "Expert error annotation, three raters. System scores are without human translations." + LENGTH),
    Page("mqm-ted", "MQM, TED talks", "mqm-ted.*", NOISY,
         "Expert error annotation, one rater. System scores are without human translations." + LENGTH),
    Page("webnlg2020-en", "WebNLG 2020, English", "webnlg2020.*",
         (*(Column("pearson", "sys", human=c, without_human=True) for c in CRITERIA), Column("pearson"),
          Column("kendall")),
         "178 inputs. System-level columns are Pearson over the 16 submissions, one column a criterion (z-scores).",
         {f"pearson/sys/{c}/mt": f"pearson/sys {c}" for c in CRITERIA}),
    Page("d2t", "Data-to-text ratings, BAGEL and SF restaurants", "d2t-*",
         (Column("pearson"), Column("spearman"), Column("kendall"), Column("spearman", human="informativeness"),
          Column("spearman", human="naturalness"), Column("spearman", human="quality"))),
    Page("e2e-quality", "E2E NLG challenge, quality", "e2e-quality.*",
         (Column("kendall-wmt12"), Column("kendall-wmt14"))),
    Page("summeval", "SummEval", "summeval.*",
         (Column("pearson"), Column("kendall"), *(Column("kendall", human=c) for c in
          ("coherence", "consistency", "fluency", "relevance")), Column("kendall", "sys"))),
    Page("asset-ratings", "ASSET, simplification", "asset-ratings.*",
         (Column("pearson"), Column("kendall"), *(Column("pearson", human=c) for c in
          ("meaning", "fluency", "simplicity")))),
    Page("demetr", "DEMETR, contrastive pairs", "demetr.*", (Column("accuracy"),),
         "The share of pairs in which the translation scores above its perturbation; ties are failures. "
         "`base_id35_reference` (the second text is the reference itself) and `minor_*` are controls."),
    Page("sentence-pairs", "Sentence pairs: STS-B, SICK, MSRP, PAWS", "{stsb,sick,msrp,pawsx-en}.*",
         (Column("pearson"), Column("spearman"), Column("auc"))),
)  # fmt: skip

#: pages that other programs write, or that show no metric beside another
OTHER = (
    ("structure-alignment", "Structure alignment in all its modes"),
    ("structure-choice", "How the default of structure alignment was chosen"),
    ("baselines", "Baselines of the judgments, reproduced"),
    ("analyzer", "Accuracy of the bundled analyzer"),
)

ABSENT = (
    ("wmt15-rr", "WMT15, relative ranking", "The system outputs are not in the judgments folder."),
    ("mtc-p4", "Multiple-Translation Chinese part 4", "The data is licensed by the LDC and not there."),
    ("length-controlled", "Length-controlled translation", "The ratings of the paper have not been published."),
)


def data_files(page: Page, folder: Path) -> list[Path]:
    patterns = [page.files]
    if "{" in page.files:
        inside, rest = page.files[1:].split("}", 1)
        patterns = [name + rest for name in inside.split(",")]
    return sorted(path for pattern in patterns for path in folder.glob(f"{pattern}jsonl.gz".replace("**", "*")))


# --- pages -------------------------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    if value is None:
        return "n/a"
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def write_page(page: Page, folder: Path, rows_of: Rows, out: Path) -> None:
    files = data_files(page, folder)
    names = [f.name for f in files]
    keys = {column.key for column in page.columns}
    rows = [r for r in rows_of.values() if r["file"] in names and (r["key"] in keys or _is_phenomenon(r))]
    if not rows:
        write_atomically(out / f"{page.slug}.md", absent_page(page.title, "The data is not there.", page.slug))
        return
    lines = [f"# {page.title}", "", *([page.text, ""] if page.text else [])]
    for column in page.columns:
        lines += _section(page, column, rows)
    phenomena = [r for r in rows if _is_phenomenon(r)]
    if phenomena:
        lines += _phenomena(phenomena)
    lines += _recipe(page, rows)
    write_atomically(out / f"{page.slug}.md", "\n".join(lines) + "\n")


def _is_phenomenon(row: Row) -> bool:
    return str(row["key"]).startswith("phenomenon/")


def _section(page: Page, column: Column, rows: Sequence[Row]) -> list[str]:
    mine = [r for r in rows if r["key"] == column.key]
    if not mine or all(r["value"] is None for r in mine):
        return []
    single = len({r["dataset"] for r in mine}) == 1
    sets = sorted({(r["dataset"], r["lp"]) for r in mine if r["value"] is not None or single})
    heads = [lp if single else f"{dataset} {lp}".removesuffix(" en") for dataset, lp in sets]
    by = {(r["metric"], r["dataset"], r["lp"]): r for r in mine}
    english = [s for s in sets if s[1].endswith("en")]
    average = f"average of {len(english)}" + ("" if len(english) == len(sets) else " to English")
    level = "systems" if column.level == "sys" else "segments"
    level += ", averaged over segments" if column.average == "item" else ""
    human = ", ".join(sorted({r["human"] for r in mine if r["human"]}))
    title = f"## {column.corr}, {level}" + (f", {column.human}" if column.human else "")
    table_rows = []
    for metric in sorted({r["metric"] for r in mine}, key=lambda m: _mean(by, m, english or sets), reverse=True):
        cells = [number(by[metric, *s]["value"]) if (metric, *s) in by else "" for s in sets]
        mean = _mean(by, metric, english)
        if len(english) > 1:
            cells.append(number(None if np.isinf(mean) else mean))
        table_rows.append([metric, *cells])
    wanted = page.published.get(column.key, "")
    published = [p for p in PUBLISHED.get(page.slug, []) if p.corr == wanted.split(" ")[0]] if wanted else []
    criterion = wanted.partition(" ")[2]
    for p in published:
        table_rows.append([f"*{p.metric}*", *_published_cells(p, [s[1] for s in english], sets, criterion)])
    counts = sorted({r["n"] for r in mine if r["value"] is not None})
    n = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    heads = ["metric", *heads, *([average] if len(english) > 1 else [])]
    source = f" In italics: {published[0].source}." if published else ""
    return [title, "", f"Human scores: {human}. n: {n}.{source}", "", *table(heads, table_rows), ""]


def _mean(by: dict[tuple[str, str, str], Row], metric: str, sets: Sequence[tuple[str, str]]) -> float:
    values = [by[metric, *s]["value"] if (metric, *s) in by else None for s in sets]
    return float(np.mean(values)) if values and None not in values else float("-inf")  # type: ignore[arg-type]


def _published_cells(
    p: Published, english: Sequence[str], sets: Sequence[tuple[str, str]], criterion: str
) -> list[str]:
    if criterion:
        return [number(p.values.get(criterion))]
    cells = [number(p.values[lp]) if lp in p.values else "" for _, lp in sets]
    if len(english) > 1:
        known = [p.values[lp] for lp in english if lp in p.values]
        cells.append(number(float(np.mean(known))) if len(known) == len(english) else "")
    return cells


def _phenomena(rows: Sequence[Row]) -> list[str]:
    metrics = sorted({r["metric"] for r in rows})
    by = {(r["metric"], r["key"]): r for r in rows}
    keys = sorted({r["key"] for r in rows})
    body = [
        [key.partition("/")[2], str(by[metrics[0], key]["n"]), *(number(by[m, key]["value"]) for m in metrics)]
        for key in keys
        if all((m, key) in by for m in metrics)
    ]
    return ["## accuracy by phenomenon", "", *table(["phenomenon", "n", *metrics], body), ""]


def _recipe(page: Page, rows: Sequence[Row]) -> list[str]:
    dates = sorted({r["date"] for r in rows})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    files = sorted({r["file"] for r in rows})
    signatures = sorted({r["signature"] for r in rows if r["signature"]})
    missing = sorted({(r["metric"], r["reason"]) for r in rows if r["value"] is None and r["reason"]})
    failed = sorted({(r["metric"], r["dataset"], r["lp"], r["failed"]) for r in rows if r["failed"]})
    lines = [
        "## Recipe",
        "",
        f"Computed {when} by `make results DATA={page.slug}`. Intervals of all values (1,000 bootstrap resamples of "
        "segments with all their systems) are in [values.jsonl](values.jsonl). Metrics for which lower is better are "
        "negated before they are correlated.",
        "",
        "```",
        *signatures,
        "```",
        "",
        f"Data: {', '.join(f'`{name}`' for name in files)}.",
    ]
    if missing:
        lines += ["", "No value:", "", *(f"- {metric}: {reason}" for metric, reason in missing)]
    if failed:
        outputs = (f"- {metric}, {dataset} {lp}: {count}" for metric, dataset, lp, count in failed)
        lines += ["", "Outputs without a score:", "", *outputs]
    return lines


def absent_page(title: str, why: str, slug: str) -> str:
    lines = [f"# {title}", "", f"{why} Nothing of ours can be computed; below is what the papers report."]
    for corr in dict.fromkeys(p.corr for p in PUBLISHED.get(slug, [])):
        rows = [p for p in PUBLISHED[slug] if p.corr == corr]
        names = list(rows[0].values)
        body = [[f"*{p.metric}*", *(number(p.values[name]) for name in names)] for p in rows]
        lines += ["", f"## {corr}", "", f"{rows[0].source}.", "", *table(["metric", *names], body)]
    return "\n".join(lines) + "\n"


# --- the yardstick -----------------------------------------------------------------------------------------------


def write_yardstick(folder: Path, rows_of: Rows, out: Path) -> None:
    """WMT20 zh-en: our metrics among the official submissions."""
    path = out / "wmt20-zh-en.md"
    darr, system = folder / "peers-wmt20.zh-en.darr.tsv", folder / "peers-wmt20.zh-en.sys.tsv"
    seg_key, sys_key = Column("kendall-darr", without_human=True).key, Column("pearson", "sys", without_human=True).key
    mine = {
        (r["metric"], r["key"]): r
        for r in rows_of.values()
        if r["file"] == YARDSTICK and r["key"] in (seg_key, sys_key)
    }
    title = "# WMT20 zh-en: the yardstick"
    if not mine or not darr.exists() or not system.exists():
        write_atomically(path, f"{title}\n\nThe data is not there, or nothing has been computed.\n")
        return
    peers_seg = {r["metric"]: float(r["tau"]) for r in _tsv(darr)}
    peers_sys = _peer_pearson(folder / YARDSTICK, _tsv(system))
    ours = sorted({metric for metric, _ in mine})
    rows: list[tuple[float, list[str]]] = []
    for metric in ours:
        seg, sys_ = mine.get((metric, seg_key)), mine.get((metric, sys_key))
        tau = seg["value"] if seg else None
        cells = [f"**{metric}**", _four(tau), _interval(seg), number(sys_["value"] if sys_ else None), _interval(sys_)]
        rows.append((tau if tau is not None else -9.0, cells))
    for metric in sorted(set(peers_seg) | set(peers_sys)):
        tau = peers_seg.get(metric)
        cells = [
            metric,
            _four(tau) if tau is not None else "",
            "",
            number(peers_sys[metric]) if metric in peers_sys else "",
            "",
        ]
        rows.append((tau if tau is not None else -9.0, cells))
    rows.sort(key=lambda row: -row[0])
    ranked = []
    for rank, (tau, cells) in enumerate(rows, 1):
        ranked.append([str(rank) if tau > -9 else "", *cells])
    seg_n = next(r["n"] for r in mine.values() if r["key"] == seg_key and r["value"] is not None)
    lines = [
        title,
        "",
        "Our metrics (bold) among those submitted to the WMT20 metrics task. Segments: daRR Kendall τ over "
        f"{seg_n:,} pairs (outputs of one segment, 16 MT systems without `Human-B`, `raw` scores 25 or more points "
        "apart; a metric tie counts against). Systems: Pearson with the mean z of the judged outputs over the same 16 "
        "systems. Peers' τ are the official values; their system scores are the official ones over the whole test set, "
        "ours are over the judged outputs. Intervals: 95%, 1,000 bootstrap resamples of segments.",
        "",
        *_table_left(["", "metric", "τ", "interval", "system r", "interval"], ranked),
        "",
        *_recipe(Page("wmt20-da", "", "", ()), list(mine.values())),
    ]
    write_atomically(path, "\n".join(lines) + "\n")


def _table_left(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "|---:|---|" + "---:|" * (len(heads) - 2)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _four(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}".replace("0.", ".", 1)


def _interval(row: Row | None) -> str:
    return "" if row is None or row["ci"] is None else f"{number(row['ci'][0])} to {number(row['ci'][1])}"


def _tsv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _peer_pearson(path: Path, scores: Sequence[dict[str, str]]) -> dict[str, float]:
    """Pearson of the peers' system scores with the mean z of the 16 MT systems."""
    (data,) = read_evalsets(path)
    data = data.without(HUMAN)
    z = data.human["z"]
    human = {name: float(np.nanmean(z[data.outputs.system == i])) for i, name in enumerate(data.systems)}
    found: dict[str, float] = {}
    for metric in dict.fromkeys(r["metric"] for r in scores):
        given = {r["system"]: float(r["score"]) for r in scores if r["metric"] == metric and r["system"] in human}
        r = pearson([given.get(s, np.nan) for s in data.systems], [human[s] for s in data.systems]).value
        if r is not None:
            found[metric] = r
    return found


def write_index(out: Path) -> None:
    pages = [("wmt20-zh-en", "WMT20 zh-en: the yardstick"), *((page.slug, page.title) for page in PAGES), *OTHER]
    lines = [
        "# Results",
        "",
        "Every metric of arboreval against human judgments, beside the numbers of the papers. `make results` computes "
        "what is missing; `make results DATA=wmt17 METRIC=chrf` only that.",
        "",
        *(f"- [{title}]({slug}.md)" for slug, title in pages if (out / f"{slug}.md").exists()),
        *(f"- [{title}]({slug}.md) (no data)" for slug, title, _ in ABSENT),
    ]
    write_atomically(out / "README.md", "\n".join(lines) + "\n")
