"""Tab-separated tables: human scores (alone or with texts) and scores of metrics computed elsewhere."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from arboreval.errors import InputError
from arboreval.meta.evalset import EvalSet, FloatArray, ForeignScores
from arboreval.meta.readers import Builder, Row, open_bytes

#: columns that are no scores
_REFERENCE = re.compile(r"refs?|ref\d+")
_TEXT = {
    "dataset",
    "lp",
    "system",
    "seg",
    "doc",
    "src",
    "hyp",
    "mt",
    "annotator",
    "rater",
    "item",
    "task",
    "trap",
    "kind",
}
_OTHER = {"seconds", "n", "year"}
#: words for a missing score
_MISSING = {"", "none", "null", "na", "nan"}
_MTME_NAME = re.compile(r"(?P<name>.+?)(?:-(?P<ref>[^-.]+))?\.(?P<level>sys|seg)\.score(?:\.gz)?")


@dataclass(frozen=True)
class Table:
    """The lines of a TSV file as texts, with their numbers."""

    origin: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    def error(self, line: int, message: str) -> InputError:
        return InputError(f"{self.origin}, line {line}: {message}")

    def records(self) -> Iterator[tuple[int, dict[str, str]]]:
        for line, cells in self.rows:
            yield line, dict(zip(self.columns, cells, strict=True))

    def score_columns(self) -> list[str]:
        return [c for c in self.columns if c not in _TEXT | _OTHER and not _REFERENCE.fullmatch(c)]

    def number(self, line: int, column: str, text: str) -> float:
        """A finite number; an empty cell or ``None`` is a missing score."""
        if text.strip().lower() in _MISSING:
            return math.nan
        try:
            value = float(text)
        except ValueError:
            value = math.inf
        if not math.isfinite(value):
            raise self.error(line, f"{column!r} must be a number, not {text!r}.")
        return value


def read_table(path: str | Path, *, header: bool = True) -> Table:
    try:
        text = open_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error}.") from error
    lines = [(i, line.removesuffix("\r")) for i, line in enumerate(text.split("\n"), 1)]
    lines = [(i, line) for i, line in lines if line.strip()]
    if not lines:
        raise InputError(f"{path} is empty.")
    columns = tuple(lines[0][1].split("\t")) if header else ()
    if len(set(columns)) < len(columns):
        raise InputError(f"{path}, line {lines[0][0]}: a column name comes twice.")
    rows = []
    for i, line in lines[1:] if header else lines:
        cells = tuple(line.split("\t")) if header else tuple(line.split())
        if header and len(cells) != len(columns):
            raise InputError(f"{path}, line {i}: {len(cells)} cells, but the header has {len(columns)} columns.")
        rows.append((i, cells))
    return Table(str(path), columns, tuple(rows))


# --- human scores ------------------------------------------------------------------------------------------------


def read_table_evalset(path: str | Path) -> EvalSet:
    """A table with a row an output, or a row an output and annotator: ``system``, ``seg`` and scores; texts if any."""
    table = read_table(path)
    if "seg" not in table.columns:
        raise InputError(f"{path}, line 1: there is no column 'seg'; the columns are {', '.join(table.columns)}.")
    if not table.score_columns():
        raise InputError(f"{path}, line 1: there is no column with scores.")
    references = sorted(c for c in table.columns if _REFERENCE.fullmatch(c))
    hypothesis = next((c for c in ("hyp", "mt") if c in table.columns), None)
    annotated = any(c in table.columns for c in ("annotator", "rater"))
    builder = Builder(str(path), "scored")
    pair = re.search(r"(?:^|\.)([a-z]{2}-[a-z]{2})(?=\.|$)", Path(path).name)
    for line, record in table.records():
        row = Row(str(path), line, {k: v or None for k, v in record.items() if k in _TEXT})
        if row.values.get("lp") is None and pair:
            row.values["lp"] = pair[1]
        builder.head(row)
        system, segment = builder.system(record.get("system") or None), builder.segment(_segment(record["seg"]))
        if annotated and (system, segment) in builder.rows:
            continue
        texts = tuple(record[c] for c in references if record[c])
        builder.output(row, system, segment, record[hypothesis] if hypothesis else "", texts)
    data = builder.build()
    return replace(data, human=_human(data, table, annotated))


def join_ratings(data: EvalSet, path: str | Path) -> EvalSet:
    """Adds the human scores of a table to outputs that are known already; unknown systems and segments are refused.

    They were given on purpose, so they are what is used where nothing else is asked for: they go before scores of the
    same criterion, published system scores and preferences in the data.
    """
    if data.contrasts is not None:
        raise InputError(f"{data.origin} has contrastive pairs: ratings cannot be added to them.")
    table = read_table(path)
    if "seg" not in table.columns:
        raise InputError(f"{path}, line 1: there is no column 'seg'; the columns are {', '.join(table.columns)}.")
    human = _human(data, table, any(c in table.columns for c in ("annotator", "rater")))
    rated = {_criterion(key) for key in human}
    others = {key: values for key, values in data.human.items() if _criterion(key) not in rated}
    return replace(
        data,
        shape="pair" if data.shape == "pair" else "scored",
        human={**human, **others},
        preferred=next((key for key in ("z", "raw") if key in human), next(iter(human), "")),
        comparisons=None,
        system_scores={},
    )


def _criterion(key: str) -> str:
    """Of ``z:fluency`` and ``raw:fluency``: fluency; of ``z`` and ``raw``: nothing."""
    return key.partition(":")[2]


def _segment(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _human(data: EvalSet, table: Table, annotated: bool) -> dict[str, FloatArray]:
    columns = table.score_columns()
    keys = {c: "raw" if c == "score" else c if c in ("raw", "z") else f"raw:{c}" for c in columns}
    index = _index(data)
    if annotated:
        return _mean_of_annotators(data, table, keys, index)
    human = {key: np.full(len(data.outputs), np.nan) for key in keys.values()}
    seen: dict[int, int] = {}
    for line, record in table.records():
        output = _find(data, table, line, record, index)
        if output in seen:
            raise table.error(line, f"the same output is in line {seen[output]}.")
        seen[output] = line
        for column, key in keys.items():
            human[key][output] = table.number(line, column, record[column])
    return human


def _mean_of_annotators(
    data: EvalSet, table: Table, keys: dict[str, str], index: dict[tuple[str | None, str], int]
) -> dict[str, FloatArray]:
    """``raw`` is the mean over ratings, ``z`` the mean of scores standardised by annotator and task (without traps)."""
    column = "annotator" if "annotator" in table.columns else "rater"
    seen: dict[tuple[int, tuple[str, str]], int] = {}
    values: dict[str, dict[tuple[str, str], dict[int, float]]] = {c: {} for c in keys}
    for line, record in table.records():
        if record.get("trap", "").strip().lower() in ("1", "true", "yes"):
            continue
        output, who = _find(data, table, line, record, index), (record[column], record.get("task", ""))
        if (output, who) in seen:
            raise table.error(line, f"{who[0]!r} rated the same output in line {seen[output, who]}.")
        seen[output, who] = line
        for c in keys:
            value = table.number(line, c, record[c])
            if not math.isnan(value):
                values[c].setdefault(who, {})[output] = value
    human = {}
    for c, by_annotator in values.items():
        sums, z_sums, counts = (np.zeros(len(data.outputs)) for _ in range(3))
        for ratings in by_annotator.values():
            rows, scores = np.array(list(ratings)), np.array(list(ratings.values()))
            spread = scores.std(ddof=1) if len(scores) > 1 else 0.0
            sums[rows] += scores
            z_sums[rows] += (scores - scores.mean()) / spread if spread > 0 else 0.0
            counts[rows] += 1
        filled = np.where(counts > 0, counts, np.nan)
        key = keys[c]
        human[key] = sums / filled
        if key != "z" and "z" not in keys.values():
            human["z" if key == "raw" else key.replace("raw:", "z:")] = z_sums / filled
    return human


def _index(data: EvalSet) -> dict[tuple[str | None, str], int]:
    return {(system, str(segment)): row for (system, segment), row in data.row_index().items()}


def _find(
    data: EvalSet, table: Table, line: int, record: dict[str, str], index: dict[tuple[str | None, str], int]
) -> int:
    system = record.get("system") or None
    row = index.get((system, record["seg"]))
    if row is not None:
        return row
    if system is not None and system not in data.systems:
        raise table.error(line, f"unknown system {system!r}; {data.origin} has {', '.join(data.systems) or 'none'}.")
    raise table.error(
        line, f"{data.origin} has no output of {system or 'an unnamed system'} for segment {record['seg']!r}."
    )


# --- scores of metrics computed elsewhere ------------------------------------------------------------------------


def read_scores(path: str | Path, data: EvalSet) -> list[ForeignScores]:
    """Reads a score file for ``data``: mt-metrics-eval's ``NAME-REF.LEVEL.score``, or a table with a header.

    A table has ``system`` and/or ``seg`` and either ``metric`` and ``score`` (a row a score) or a column a metric.
    """
    named = _MTME_NAME.fullmatch(Path(path).name)
    if named:
        return [_read_mtme_scores(Path(path), data, named["name"], named["level"])]
    table = read_table(path)
    if not {"system", "seg"} & set(table.columns):
        raise InputError(f"{path}, line 1: there is no column 'system' or 'seg'; it has {', '.join(table.columns)}.")
    long = {"metric", "score"} <= set(table.columns)
    metrics = [] if long else [c for c in table.score_columns() if c != "metric"]
    index = _index(data)
    rows: dict[str, FloatArray] = {}
    systems: dict[str, dict[str, float]] = {}
    seen: dict[tuple[str, object], int] = {}
    ignored: dict[str, int] = {}
    for line, record in table.records():
        if (record.get("dataset") or data.dataset, record.get("lp") or data.lp) != (data.dataset, data.lp):
            continue
        scores = {record["metric"]: record["score"]} if long else {c: record[c] for c in metrics}
        target: int | str
        if "seg" in table.columns and record["seg"]:
            target = _find(data, table, line, record, index)
        else:
            target = record["system"]
            if target not in data.systems:  # such files score all submissions, also those nobody judged
                ignored.setdefault(target, line)
                continue
        for name, text in scores.items():
            if (name, target) in seen:
                raise table.error(line, f"the score of {name} is in line {seen[name, target]} already.")
            seen[name, target] = line
            value = table.number(line, name, text)
            if isinstance(target, int):
                rows.setdefault(name, np.full(len(data.outputs), np.nan))[target] = value
            elif not math.isnan(value):
                systems.setdefault(name, {})[target] = value
    names = dict.fromkeys([*rows, *systems])
    if ignored and not names:
        system, line = next(iter(ignored.items()))
        raise table.error(line, f"unknown system {system!r}; {data.origin} has {', '.join(data.systems) or 'none'}.")
    left = tuple(ignored)
    return [ForeignScores(n, rows.get(n), systems.get(n, {}), origin=str(path), ignored=left) for n in names]


def _read_mtme_scores(path: Path, data: EvalSet, name: str, level: str) -> ForeignScores:
    """Lines ``SYSTEM SCORE``; at segment level every system has a line for every segment, in order."""
    table = read_table(path, header=False)
    if level == "sys":
        values = mtme_lines(table)
        _refuse_unknown(table, values, data)
        scores: dict[str, float] = {}
        for system, line, value in values:
            if system in scores:
                raise table.error(line, f"the system {system!r} comes twice.")
            scores[system] = value
        return ForeignScores(name, None, {s: v for s, v in scores.items() if not math.isnan(v)}, origin=str(path))
    return ForeignScores(name, segment_scores(table, data), {}, origin=str(path))


def segment_scores(table: Table, data: EvalSet) -> FloatArray:
    """Scores of rows from lines ``SYSTEM SCORE``; every system that is there has a line for each segment."""
    values = mtme_lines(table)
    _refuse_unknown(table, values, data)
    position = dict.fromkeys(data.systems, 0)
    rows = np.full(len(data.outputs), np.nan)
    index, n = data.row_index(), len(data.segment_ids)
    for system, line, value in values:
        at = position[system]
        if at >= n:
            raise table.error(line, f"more than {n} scores for {system!r}; {data.origin} has {n} segments.")
        row = index.get((system, data.segment_ids[at]))
        if row is not None:
            rows[row] = value
        position[system] = at + 1
    for system, count in position.items():
        if 0 < count < n:
            last = max(line for s, line, _ in values if s == system)
            raise table.error(last, f"{count} scores for {system!r}, but {data.origin} has {n} segments.")
    return rows


def mtme_lines(table: Table) -> list[tuple[str, int, float]]:
    """System, line and score; ``None`` is a missing score."""
    found = []
    for line, cells in table.rows:
        if len(cells) != 2:
            raise table.error(line, f"{len(cells)} words where a system and a score were expected.")
        found.append((cells[0], line, table.number(line, "the score", cells[1])))
    return found


def _refuse_unknown(table: Table, values: Sequence[tuple[str, int, float]], data: EvalSet) -> None:
    known = set(data.systems)
    for system, line, _ in values:
        if system not in known:
            raise table.error(
                line, f"unknown system {system!r}; {data.origin} has {', '.join(data.systems) or 'none'}."
            )
