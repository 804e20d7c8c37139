"""docs/results/baselines.md: the sanity values that came with the judgments (``baselines.tsv``), reproduced.

They are agreement of sacrebleu's sentence BLEU and chrF with people, of larger files on a random sample. Ours are on
whole files, so the page gives how far samples of that size lie apart.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import sacrebleu
from result_pages import SYS_LIMIT, Column, Row, Rows, number, table

from arboreval.meta.correlation import correlate, pearson, wmt_kendall
from arboreval.meta.evalset import EvalSet
from arboreval.meta.levels import ContrastedSegments, RankedSegments, ScoredSegments, make_task
from arboreval.meta.readers import read_evalsets
from arboreval.meta.score_store import ScoreStore
from arboreval.meta.scores import Scored, score_evalset
from arboreval.report.files import write_atomically

SAMPLED_ROWS, SAMPLED_SEGMENTS = 4_000, 600
SAMPLES, SEED = 200, 12345
WITHIN_WHOLE, WITHIN_SAMPLED = 0.001, 0.03
#: what the file's statistic is here, for its two pairs of columns
COLUMNS = {
    "pearson/kendall": (Column("pearson"), Column("kendall")),
    "Pearson": (Column("pearson"), None),
    "accuracy good>bad": (Column("accuracy"), None),
    "pairwise tau (metric ties count against)": (None, Column("kendall-wmt12")),
    f"system-level pearson (first {SYS_LIMIT} segments)": (Column("pearson", "sys", limit=SYS_LIMIT), None),
}
HEADS = (
    ("sentBLEU_or_BLEU_pearson", "bleu", 0),
    ("chrF_pearson", "chrf", 0),
    ("sentBLEU_kendall", "bleu", 1),
    ("chrF_kendall", "chrf", 1),
)


class Values(Protocol):
    """docs/results/values.jsonl, as ``results.py`` reads and writes it."""

    rows: dict[tuple[str, str, str], Row]

    def has(self, file: str, sha: str, metric: str, how: str, key: str) -> bool: ...

    def put(self, row: dict[str, Any]) -> None: ...

    def save(self) -> None: ...


@dataclass(frozen=True)
class Baseline:
    """One value of ``baselines.tsv``; ``sampled`` if the file is larger than the samples."""

    file: str
    metric: str
    column: Column
    value: float
    sampled: bool

    @property
    def sd_key(self) -> str:
        return f"{self.column.key}/sd of samples"

    @property
    def peer_key(self) -> str:
        return f"{self.column.key}/sacrebleu"

    def ours(self, rows: Rows) -> Row | None:
        return rows.get((self.file, self.metric, self.column.key))

    def spread(self, rows: Rows) -> Row | None:
        return rows.get((self.file, self.metric, self.sd_key))

    def is_off(self, ours: float) -> bool:
        # the values given have three digits
        return abs(ours - self.value) > (WITHIN_SAMPLED if self.sampled else WITHIN_WHOLE) + 5e-4


def read_baselines(folder: Path) -> list[Baseline]:
    """All values; none where the file is not there."""
    if not (folder / "baselines.tsv").exists():
        return []
    rows = {row["file"]: int(row["rows"]) for row in _tsv(folder / "index.tsv")}
    found = []
    for row in _tsv(folder / "baselines.tsv"):
        columns = COLUMNS[row["statistic"]]
        for head, metric, which in HEADS:
            column = columns[which]
            if row[head] and column is not None:
                most = SAMPLED_SEGMENTS if column.corr == "kendall-wmt12" else SAMPLED_ROWS
                sampled = column.limit is None and rows[row["file"]] > most
                found.append(Baseline(row["file"], metric, column, float(row[head]), sampled))
    return found


def _tsv(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t")


# --- how far samples lie apart -----------------------------------------------------------------------------------


def fill_baselines(folder: Path, values: Values, how: Callable[[str, str], str]) -> None:
    """Adds the spread of samples, and for whole files that are off what sacrebleu itself gives."""
    todo: dict[str, list[Baseline]] = {}
    for one in read_baselines(folder):
        ours = one.ours(values.rows)
        if ours is None or ours["value"] is None:
            continue
        key = one.sd_key if one.sampled else one.peer_key
        wanted = one.sampled or (one.column.level == "sys" and one.is_off(ours["value"]))
        if wanted and not values.has(one.file, ours["sha"], one.metric, ours["recipe"], key):
            todo.setdefault(one.file, []).append(one)
    for file, baselines in todo.items():
        (data,) = read_evalsets(folder / file)
        sha = hashlib.sha256((folder / file).read_bytes()).hexdigest()[:16]
        store = ScoreStore()
        scored = {s.name: s for s in score_evalset(data, list(dict.fromkeys(b.metric for b in baselines)), store=store)}
        store.close()
        for one in baselines:
            value = _spread(data, scored[one.metric], one) if one.sampled else _by_sacrebleu(data, one)
            values.put(
                {
                    "file": file, "sha": sha, "metric": one.metric,
                    "key": one.sd_key if one.sampled else one.peer_key, "recipe": how(one.metric, data.target),
                    "dataset": data.dataset, "lp": data.lp, "human": "", "value": value, "ci": None,
                    "n": SAMPLES if one.sampled else len(data.systems), "failed": 0, "reason": "", "signature": "",
                    "date": datetime.date.today().isoformat(),
                }
            )  # fmt: skip
        print(f"{data.name}  baselines", flush=True)
        values.save()


def _spread(data: EvalSet, scored: Scored, one: Baseline) -> float:
    """The standard deviation of the coefficient over random samples without replacement."""
    statistic, units = _statistic(data, scored, one.column)
    size = SAMPLED_SEGMENTS if data.comparisons is not None else SAMPLED_ROWS
    rng = np.random.default_rng(SEED)
    return float(np.std([statistic(rng.choice(units, size, replace=False)) for _ in range(SAMPLES)], ddof=1))


def _statistic(data: EvalSet, scored: Scored, column: Column) -> tuple[Callable[[Any], float], int]:
    """The coefficient of the units (rows, or segments of rankings) chosen, and how many units there are."""
    task = make_task(data, human=column.human, level="seg", average="none")
    if isinstance(task, RankedSegments) and (pairs := task.pairs(scored)) is not None:
        return lambda chosen: wmt_kendall(pairs.select(np.isin(pairs.segment, chosen)), "wmt12").value, pairs.segments
    if isinstance(task, ContrastedSegments) and (right := task.successes(scored)) is not None:
        return lambda chosen: np.nanmean(right[chosen]), len(right)
    assert isinstance(task, ScoredSegments)
    x, y = scored.oriented_rows, task.human
    return lambda chosen: correlate(column.corr, x[chosen], y[chosen]).value, len(y)


def _by_sacrebleu(data: EvalSet, one: Baseline) -> float:
    """System-level Pearson with the corpus scores that sacrebleu gives when it is called directly."""
    data = data.limit(one.column.limit)
    score = {"bleu": sacrebleu.corpus_bleu, "chrf": sacrebleu.corpus_chrf}[one.metric]
    (human,) = data.system_scores.values()
    scores = []
    for i in range(len(data.systems)):
        rows = np.flatnonzero(data.outputs.system == i)
        references = [[data.outputs.references[r][0] for r in rows]]
        scores.append(score([data.outputs.hypotheses[r] for r in rows], references).score)
    found = pearson(scores, [human[name] for name in data.systems]).value
    assert found is not None
    return found


# --- the page ----------------------------------------------------------------------------------------------------


def write_baselines(folder: Path, rows: Rows, out: Path) -> None:
    title = "# Baselines of the judgments, reproduced"
    compared = [(b, ours) for b in read_baselines(folder) if (ours := b.ours(rows)) and ours["value"] is not None]
    if not compared:
        write_atomically(out / "baselines.md", f"{title}\n\nThe data is not there, or nothing has been computed.\n")
        return
    off = [(b, ours) for b, ours in compared if b.is_off(ours["value"])]
    body = [_cells(b, ours, rows) for b, ours in compared]
    spreads = [sd for b, _ in compared if (sd := b.spread(rows)) is not None]
    dates = sorted({row["date"] for row in (*spreads, *(ours for _, ours in compared))})
    lines = [
        title,
        "",
        "The judgments came with the agreement of sentence BLEU and chrF (sacrebleu) with people for each file, with "
        f"three digits: `baselines.tsv`. Of files with more than {SAMPLED_ROWS:,} rows (rankings: {SAMPLED_SEGMENTS} "
        "segments) those values are of a random sample that is not recorded; ours are of the whole file. The last "
        f"column is the standard deviation of our value over {SAMPLES} random samples of that size, drawn without "
        "replacement.",
        "",
        *(_summary(compared, off, rows, sampled) for sampled in (False, True)),
        "",
        *table(["file", "coefficient", "metric", "there", "here", "difference", "sd of samples"], body),
        "",
        *_explained(off, rows),
        f"Computed {dates[0] if len(dates) == 1 else f'{dates[0]} to {dates[-1]}'} by `make results`. The values are "
        "in [values.jsonl](values.jsonl).",
    ]
    write_atomically(out / "baselines.md", "\n".join(lines) + "\n")


def _summary(compared: list[tuple[Baseline, Row]], off: list[tuple[Baseline, Row]], rows: Rows, sampled: bool) -> str:
    count, missed = (sum(b.sampled == sampled for b, _ in part) for part in (compared, off))
    what, within = ("of samples", WITHIN_SAMPLED) if sampled else ("of whole files", WITHIN_WHOLE)
    text = f"- Values {what}: {count - missed} of {count} are within {number(within)}."
    apart = [abs(ours["value"] - b.value) / sd["value"] for b, ours in compared if (sd := b.spread(rows)) is not None]
    if sampled and apart:
        far = sum(value > 2 for value in apart)
        text += (
            f" In standard deviations of a sample the differences have a root mean square of "
            f"{np.sqrt(np.mean(np.square(apart))):.2f} and a maximum of {max(apart):.1f}; {far} are above 2."
        )
    return text


def _cells(b: Baseline, ours: Mapping[str, Any], rows: Rows) -> list[str]:
    sd = b.spread(rows)
    value = number(ours["value"])
    return [
        b.file.removesuffix(".jsonl.gz"),
        b.column.corr + (", systems" if b.column.level == "sys" else ""),
        b.metric,
        number(b.value),
        f"**{value}**" if b.is_off(ours["value"]) else value,
        f"{ours['value'] - b.value:+z.4f}",
        "" if sd is None else f"{sd['value']:.4f}",
    ]


def _explained(off: list[tuple[Baseline, Row]], rows: Rows) -> list[str]:
    """What has been measured about the values that are off."""
    if not off:
        return []
    lines = ["Beyond the limits (bold):", ""]
    for b, ours in off:
        name = f"`{b.file.removesuffix('.jsonl.gz')}`, {b.column.corr} of {b.metric}"
        text = f"{ours['value']:.4f} here, {b.value:.3f} there"
        sd, peer = b.spread(rows), rows.get((b.file, b.metric, b.peer_key))
        if peer is not None:
            text += (
                f". sacrebleu called directly on the same {SYS_LIMIT:,} segments of the {peer['n']} systems gives "
                f"{peer['value']:.4f}"
            )
        if sd is not None:
            apart = abs(ours["value"] - b.value) / sd["value"]
            text += f". The sample is not recorded; the difference is {apart:.1f} standard deviations of such samples"
        lines.append(f"- {name}: {text}.")
    return [*lines, ""]
