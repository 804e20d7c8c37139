"""Writes docs/results/structure-alignment.md and structure-choice.md from the values of structure_results.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from result_pages import OUT, number, table

from arboreval.registry import make_metric
from arboreval.report.files import write_atomically

DEFAULT = "structure-alignment"
PAPER = f"{DEFAULT}:leaves=word:max_len=0"
BESIDE = ("bleu", "chrf", "bertscore")
TO_ENGLISH = ("cs", "de", "fi", "ru")
CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
TOGETHER = f"bertscore + {DEFAULT}"
WMT18 = ("cs", "de", "et", "fi", "ru", "tr", "zh")
#: table 1 of the paper, zh-en, and table 2
PUBLISHED_ZH = {
    ("const", "none"): 0.942, ("const", "label"): 0.945, ("const", "head"): 0.924,
    ("dep", "none"): 0.939, ("dep", "head"): 0.904,
}  # fmt: skip

Rows = Mapping[tuple[str, str, str], Mapping[str, Any]]


def write_pages(rows: Rows) -> None:
    if not rows:
        return
    write_atomically(OUT / "structure-alignment.md", "\n".join(_modes_page(rows)) + "\n")
    write_atomically(OUT / "structure-choice.md", "\n".join(_choice_page(rows)) + "\n")


def name(metric: str) -> str:
    """What a row calls a mode: tree, filter and what else differs from the paper's inventory or from the default."""
    if not metric.startswith(DEFAULT) or metric == DEFAULT:
        return f"**{metric}** (default)" if metric == DEFAULT else metric
    made: Any = make_metric(metric)
    paper = made.leaves == "word" and made.max_len == 0
    parts = [made.tree, made.filter, "" if made.scheme == "ud" else made.scheme]
    parts += ["by length" if made.weighting == "length" else "", "" if paper else "default inventory"]
    return ", ".join(part for part in parts if part)


def _value(rows: Rows, file: str, metric: str, key: str) -> float | None:
    row = rows.get((file, metric, key))
    return None if row is None else row["value"]


def _cells(values: Sequence[float | None], *, mean: bool = True) -> list[str]:
    cells = ["" if v is None else number(v) for v in values]
    known = [v for v in values if v is not None]
    return [*cells, number(sum(known) / len(known)) if len(known) == len(values) else ""] if mean else cells


def _order(rows: Rows, file: str, key: str) -> list[str]:
    """Baselines first, then the paper's inventory, then the default's, weighted ones last."""
    found = [metric for f, metric, k in rows if f == file and k == key]

    def rank(metric: str) -> tuple[Any, ...]:
        if metric in BESIDE:
            return 0, BESIDE.index(metric)
        if not metric.startswith(DEFAULT):
            return 3, metric
        made: Any = make_metric(metric)
        paper = made.leaves == "word" and made.max_len == 0
        inner = (made.weighting != "none", made.tree, made.scheme != "ud", ("none", "label", "head").index(made.filter))
        return 1 if paper else 2, *inner

    return sorted(set(found), key=rank)


def _segments(rows: Rows, year: int) -> list[str]:
    files = [f"wmt{year}-da-seg.{pair}-en.jsonl.gz" for pair in TO_ENGLISH]
    metrics = _order(rows, files[0], "pearson/seg")
    if not metrics:
        return []
    role = "used to choose the default" if year == 15 else "test"
    body = [[name(m), *_cells([_value(rows, f, m, "pearson/seg") for f in files])] for m in metrics]
    lines = [f"## WMT{year}, segments ({role})", "", "Pearson with direct assessment, into English.", ""]
    lines += table(["metric", *TO_ENGLISH, "mean"], body)
    found = rows.get((f"wmt{year}-da-seg", TOGETHER, "gain"))
    if found is not None:
        v = found["value"]
        lines += [
            "",
            f"`{TOGETHER}` is the mean of the two, each z-normalised within its file. It adds {v['mean']:+.4f} to "
            f"BERTScore's mean (95 % interval {v['low']:+.4f} to {v['high']:+.4f}, {found['n']:,} bootstrap "
            "resamples of "
            f"segments; in {v['none']:.1%} of them it adds nothing).",
        ]
    return [*lines, ""]


def _wmt18(rows: Rows) -> list[str]:
    files = [f"wmt18-sys.{pair}-en.jsonl.gz" for pair in WMT18]
    metrics = _order(rows, files[0], "pearson/sys")
    body = [[name(m), *_cells([_value(rows, f, m, "pearson/sys") for f in files])] for m in metrics]
    lines = [
        "## WMT18, systems",
        "",
        "Pearson with the systems' human scores; the first 1,000 segments of each test set.",
    ]
    lines += [
        "tr-en has five systems with almost equal human scores that run against BLEU, and weighs on the mean.",
        "",
    ]
    return [*lines, *table(["metric", *WMT18, "mean"], body), ""] if body else []


def _wmt20(rows: Rows) -> list[str]:
    file = "wmt20-da.zh-en.jsonl.gz"
    metrics = _order(rows, file, "kendall-darr")
    keys = ("kendall-darr", "pearson/sys", "pearson/sys/inliers")
    body = []
    for m in metrics:
        made: Any = make_metric(m)
        paper = m.startswith(DEFAULT) and made.leaves == "word" and made.max_len == 0
        plain = paper and made.weighting == "none" and made.scheme == "ud"
        published = PUBLISHED_ZH.get((made.tree, made.filter)) if plain else None
        tau, *systems = (_value(rows, file, m, key) for key in keys)
        four = "n/a" if tau is None else f"{tau:.4f}".replace("0.", ".", 1)
        body.append([name(m), four, *_cells(systems, mean=False), "" if published is None else number(published)])
    counts = [rows[file, metrics[0], key]["n"] for key in keys[1:]] if metrics else []
    if not body:
        return []
    return [
        "## WMT20 zh-en",
        "",
        "Segments: daRR Kendall τ, 62,586 pairs. Systems: Pearson with the mean z of the judged outputs, over all "
        f"{counts[0]} MT systems, and over the {counts[1]} that WMT20's rule for outliers leaves (z of the system more "
        "than 2.5 × 1.483 times the median absolute deviation away from the median). The paper's column is from its "
        "table 1, over 13 systems; which 13 it does not say, and no rule we know gives 13, so the columns are not "
        "comparable system by system.",
        "",
        *table(["metric", "τ", f"systems ({counts[0]})", f"systems ({counts[1]})", "paper (13)"], body),
        "",
    ]


def _webnlg(rows: Rows) -> list[str]:
    file = "webnlg2020.en.jsonl.gz"
    keys = [f"pearson/sys/{criterion}" for criterion in CRITERIA]
    metrics = _order(rows, file, keys[0])
    body = [[name(m), *_cells([_value(rows, file, m, key) for key in keys], mean=False)] for m in metrics]
    body += [
        ["*paper, con-head*", ".768", ".679", ".935", ".744", ".922"],
        ["*paper, dep-head*", ".660", ".535", ".897", ".658", ".893"],
        ["*paper, BERTScore*", ".857", ".769", ".926", ".836", ".912"],
    ]
    lines = [
        "## WebNLG 2020, English",
        "",
        "System-level Pearson, 178 inputs x 16 submissions, by criterion. In italics:",
    ]
    lines += ["the paper's table 2 (15 systems, other parsers and encoders). Several references: the best F.", ""]
    return [*lines, *table(["metric", *CRITERIA], body), ""] if metrics else []


def _weighting(rows: Rows) -> list[str]:
    files = [f"wmt18-sys.{pair}-en.jsonl.gz" for pair in WMT18]
    zh = "wmt20-da.zh-en.jsonl.gz"
    weighted = [
        m for m in _order(rows, zh, "pearson/sys") if m.endswith("weighting=length") or ":weighting=length" in m
    ]
    body = []
    for m in weighted:
        plain = m.replace(":weighting=length", "")
        for metric, what in ((plain, "no"), (m, "yes")):
            values = [_value(rows, f, metric, "pearson/sys") for f in files]
            segments = [
                _value(rows, f"wmt{y}-da-seg.{p}-en.jsonl.gz", metric, "pearson/seg")
                for y in (16, 17) for p in TO_ENGLISH
            ]  # fmt: skip
            body.append([
                name(plain), what, _cells(segments)[-1], _cells(values)[-1],
                *_cells([_value(rows, zh, metric, "pearson/sys")], mean=False),
            ])  # fmt: skip
    lines = ["## Weighting by length (the paper's table 4)", "", "Weighting drops the one-word subtrees.", ""]
    heads = ["mode", "weighted", "segments WMT16+17", "systems WMT18", "systems WMT20 zh-en"]
    return [*lines, *table(heads, body), ""] if body else []


def _partial(rows: Rows) -> list[str]:
    row = rows.get(("wmt20-da.zh-en.jsonl.gz", "", "partial"))
    if row is None:
        return []
    metrics, matrix = row["value"]["metrics"], row["value"]["partial"]
    body = [[name(m), *_cells(line, mean=False)] for m, line in zip(metrics, matrix, strict=True)]
    text = "Pearson between the segment scores of two metrics when the human scores (z) are held fixed"
    lines = ["## Partial correlations", "", f"{text}: WMT20 zh-en, n = {row['n']:,}. The paper reports on ja-en (its"]
    lines += [
        "section 4.4): embedding metrics with one another about .8, con-head with them .5 to .6. Here, on one encoder,"
    ]
    lines += ["the unfiltered modes say nearly the same as BERTScore; the head filters say something else.", ""]
    return [*lines, *table(["", *map(name, metrics)], body), ""]


def _triples(rows: Rows) -> list[str]:
    file = "attachment-triples.tsv"
    metrics = _order(rows, file, "triples")
    if not metrics:
        return []
    values = {m: rows[file, m, "triples"] for m in metrics}
    kinds = list(values[metrics[0]]["value"]["kinds"])
    body = []
    for m in metrics:
        v = values[m]["value"]
        against = "" if m == "bertscore" else f"{v['better']} : {v['worse']}, p = {v['p']:.2g}"
        body.append([name(m), f"{v['share']:.1%}", against, *(f"{v['kinds'][k]:.0%}" for k in kinds)])
    n = values[metrics[0]]["n"]
    return [
        "## Same words, another meaning",
        "",
        f"{n} triples written for this project before any parser or metric was run on them "
        "([attachment-triples.tsv](../../benchmarks/attachment-triples.tsv), 40 of each kind, CC0): a sentence, a "
        "paraphrase of it, and the same words with changed attachment, swapped roles and the like (by words, the "
        "changed "
        "sentence is .98 like the sentence, the paraphrase .59). The share of triples in which the paraphrase scores "
        "above the changed sentence; triples won and lost against BERTScore with the sign test.",
        "",
        *table(["metric", "share", "against BERTScore", *kinds], body),
        "",
        "All metrics mostly fail here: the changed sentence has all the words, the paraphrase has not, and every mode "
        "averages over words and short phrases, whose vectors hardly change. Modes that leave the single words out "
        "(weighting by length) do best, and agree less with people elsewhere.",
        "",
    ]


def _recipe(rows: Rows) -> list[str]:
    dates = sorted({r["date"] for r in rows.values()})
    recipes = sorted({r["recipe"] for r in rows.values() if r["recipe"].startswith((f"{DEFAULT}|", "bertscore|"))})
    return [
        "## Recipe",
        "",
        f"Computed {dates[0]}{'' if len(dates) == 1 else f' to {dates[-1]}'} by `make structure-results`, which "
        "keeps all "
        "values with their recipes in [structure-values.jsonl](structure-values.jsonl). Of the two main metrics:",
        "",
        "```",
        *recipes,
        "```",
    ]


def _modes_page(rows: Rows) -> list[str]:
    return [
        "# Structure alignment in all its modes",
        "",
        "`con` and `dep` of the paper are `const` and `dep` here. Rows without further mark have the paper's "
        "inventory: "
        "whole words as leaves, subtrees of any length (`leaves=word:max_len=0`). The default differs from it in what "
        "[structure-choice.md](structure-choice.md) explains. Vectors are layer 7 of the bundled encoder and parses "
        "those "
        "of the bundled analyzer; the paper used DeBERTa-v2-xxlarge and SpanBERT, benepar and spaCy.",
        "",
        *(line for year in (16, 17, 15) for line in _segments(rows, year)),
        *_wmt18(rows),
        *_wmt20(rows),
        *_webnlg(rows),
        *_weighting(rows),
        *_partial(rows),
        *_triples(rows),
        *_recipe(rows),
    ]


def _choice_page(rows: Rows) -> list[str]:
    file = "wmt15-da-seg"
    found = sorted(
        ((m, r["value"]) for (f, m, k), r in rows.items() if f == file and k == "mean"), key=lambda pair: -pair[1]
    )
    body = [
        [f"**{m}**" if m == DEFAULT else f"`{m}`", number4(value), number4(_value(rows, file, m, "with bertscore"))]
        for m, value in found
    ]
    bert = [_value(rows, f"wmt15-da-seg.{p}-en.jsonl.gz", "bertscore", "pearson/seg") for p in TO_ENGLISH]
    paper = _paper_rows(rows)
    mean = sum(v for v in bert if v is not None) / len(bert)
    return [
        "# How the default of structure alignment was chosen",
        "",
        "On WMT15 alone (segments, Pearson, mean of cs, de, fi and ru into English): 2,000 outputs. WMT16 and WMT17 "
        "had no part in the choice. The second column is the mean with BERTScore, both z-normalised within each file; "
        "BERTScore "
        f"alone has {number4(mean)}.",
        "",
        *table(["metric", "alone", "with BERTScore"], body),
        "",
        "The paper's inventory (whole words as leaves, subtrees of any length) on the same data:",
        "",
        *table(["mode", "alone"], paper),
        "",
        "What was learned:",
        "",
        "- **Pooling sub-words into words costs most.** With whole words as leaves no mode comes near BERTScore; "
        "with each "
        "sub-word as a leaf of its own (`leaves=piece`) the unfiltered constituency mode does. The maximum over a "
        "word's "
        "sub-words, as over a phrase's words, throws away what tells similar ones apart.",
        "- **Long subtrees add noise.** The maximum over many words is nearly the same for all sentences. Limits "
        "from 8 to "
        "20 words differ little; 12 is the best of those tried.",
        "- **Filters hurt.** A subtree whose label or head does not occur on the other side counts nothing, and a "
        "paraphrase has other heads.",
        "- **The parses hardly matter.** Random binary trees over the same words do nearly as well as parsed ones, and "
        "right-branching ones, which only say which words stand next to one another, add more to BERTScore than parsed "
        "ones do. What the metric adds is that phrases of several words are compared; it does not see attachment well "
        "(see the triples in [structure-alignment.md](structure-alignment.md)). Parsed trees stay the default because "
        "the metric is defined on them and its evidence is read along them.",
        "- Dropping punctuation costs a little; dependency subtrees do less well than constituents, prepositions as "
        "heads "
        "less well than Universal Dependencies.",
        "",
        "Phrases over the same words counted apart (`collapse_unary=false`) gain .0004, which is nothing; the "
        "specification collapses them.",
        "",
        "The default therefore keeps the paper's equations and changes its inventory: constituents of at most 12 "
        "words, "
        "unary chains collapsed, and sub-words as leaves, without a filter.",
        "",
        "Computed by `make structure-results`.",
    ]


def _paper_rows(rows: Rows) -> list[list[str]]:
    files = [f"wmt15-da-seg.{pair}-en.jsonl.gz" for pair in TO_ENGLISH]
    body = []
    for m in _order(rows, files[0], "pearson/seg"):
        if m.startswith(DEFAULT) and make_metric(m).leaves == "word":  # type: ignore[attr-defined]
            values = [_value(rows, f, m, "pearson/seg") for f in files]
            known = [v for v in values if v is not None]
            body.append([name(m), number4(sum(known) / len(known))])
    return body


def number4(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}".replace("0.", ".", 1)
