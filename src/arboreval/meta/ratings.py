"""Ratings of several annotators, one line a rating, for :func:`arboreval.agreement`.

A file may hold the ratings of many annotators, or of one. Files of one annotator each are joined into one table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arboreval.errors import InputError, UsageError, unknown_name
from arboreval.meta.evalset import BoolArray, FloatArray
from arboreval.meta.readers import json_rows
from arboreval.meta.tables import read_table

_WHO = ("annotator", "rater")
_NAMES = {"item", "system", "seg", "doc", "task", "lp", "dataset", "kind", *_WHO}
_TIMES = ("seconds", "time")
_TRUE = {"1", "true", "yes"}
_FALSE = {"", "0", "false", "no", "none", "null"}
_MISSING = {"", "none", "null", "na", "nan"}


@dataclass(frozen=True, eq=False)
class Ratings:
    """One task: ``scores`` and ``seconds`` are annotators x items, NaN where there is no rating."""

    name: str
    criterion: str
    annotators: tuple[str, ...]
    items: tuple[str, ...]
    scores: FloatArray
    seconds: FloatArray
    traps: BoolArray  # annotators x items

    @property
    def count(self) -> int:
        return int(np.isfinite(self.scores).sum())


@dataclass
class _Line:
    origin: str
    number: int
    values: dict[str, object]
    annotator: str = ""

    def error(self, message: str) -> InputError:
        return InputError(f"{self.origin}, line {self.number}: {message}")

    def value(self, key: str) -> float:
        """A number, or NaN for a missing one."""
        given = self.values.get(key)
        if given is None or (isinstance(given, str) and given.strip().lower() in _MISSING):
            return math.nan
        try:
            number = float(given)  # type: ignore[arg-type]  # what is no number raises
        except (TypeError, ValueError):
            number = math.inf
        if isinstance(given, bool) or not math.isfinite(number):
            raise self.error(f"{key!r} must be a number, not {given!r}.")
        return number

    @property
    def trap(self) -> bool:
        given = str(self.values.get("trap", "")).strip().lower()
        if given not in _TRUE | _FALSE:
            raise self.error(f"'trap' must be 1 or 0, not {given!r}.")
        return given in _TRUE

    @property
    def item(self) -> str:
        names = [str(self.values[k]) for k in ("item", "doc", "system", "seg") if self.values.get(k) not in (None, "")]
        if not names:
            raise self.error("there is no 'item', and no 'system' and 'seg' to name what was rated.")
        return " ".join(names)


def read_ratings(paths: Sequence[str | Path], criterion: str | None = None) -> list[Ratings]:
    """The ratings of TSV or JSON Lines files, a :class:`Ratings` for each task and criterion.

    A file with several annotators is a table of its own; all files with one annotator are one table together.
    """
    files = [_read(path, alone=len(paths) == 1) for path in paths]
    single = [file for file in files if len({line.annotator for line in file}) == 1]
    groups = [[file] for file in files if file not in single] if len(single) > 1 else [[file] for file in files]
    if len(single) > 1:
        groups.append(single)
    return [ratings for group in groups for ratings in _tables(group, criterion)]


def _tables(files: Sequence[Sequence[_Line]], criterion: str | None) -> Iterator[Ratings]:
    lines = [line for file in files for line in file]
    columns = dict.fromkeys(key for file in files for key in file[0].values)
    known = [key for key in columns if key not in _NAMES | {"trap", *_TIMES}]
    criteria = [key for key in known if _numeric(lines, key)] or known
    if criterion is not None:
        if criterion not in known:
            raise UsageError(unknown_name("criterion", criterion, known))
        criteria = [criterion]
    if not criteria:
        raise lines[0].error("there is no column with ratings.")
    tasks: dict[str, list[_Line]] = {}
    for line in lines:
        tasks.setdefault(str(line.values.get("task") or ""), []).append(line)
    stem = ", ".join(Path(file[0].origin).name for file in files)
    for task, mine in tasks.items():
        for column in criteria:
            yield _table(f"{stem}: {task}" if task else stem, column, mine)


def _read(path: str | Path, *, alone: bool) -> list[_Line]:
    """The lines of a file; a file among others without a column of annotators is one annotator, named by the file."""
    lines = list(_lines(path))
    if not lines:
        raise InputError(f"{path} is empty.")
    who = next((key for key in _WHO if key in lines[0].values), None)
    if who is None and alone:
        raise lines[0].error(f"there is no {_WHO[0]!r}; it has {', '.join(lines[0].values) or 'nothing'}.")
    name = Path(path).name.removesuffix(".gz").rpartition(".")[0]
    for line in lines:
        if who is not None and line.values.get(who) in (None, ""):
            raise line.error(f"there is no {who!r}.")
        line.annotator = name if who is None else str(line.values[who])
    return lines


def _numeric(lines: Sequence[_Line], key: str) -> bool:
    """Columns of free text are not ratings; a column that begins with a number is, and must go on so."""
    first = next((v for line in lines if str(v := line.values.get(key)).strip().lower() not in _MISSING), None)
    try:
        float(first)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError):
        return False
    return True


def _lines(path: str | Path) -> Iterator[_Line]:
    name = Path(path).name.removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson")):
        for row in json_rows(path):
            yield _Line(row.origin, row.line, row.values)
    else:
        for number, record in read_table(path).records():
            yield _Line(str(path), number, dict(record))


def _table(name: str, criterion: str, lines: Sequence[_Line]) -> Ratings:
    annotators: dict[str, int] = {}
    items: dict[str, int] = {}
    cells: dict[tuple[int, int], tuple[_Line, float, float, bool]] = {}
    for line in lines:
        a = annotators.setdefault(line.annotator, len(annotators))
        i = items.setdefault(line.item, len(items))
        if (a, i) in cells:
            first = cells[a, i][0]
            where = "" if first.origin == line.origin else f" of {first.origin}"
            raise line.error(f"{line.annotator!r} rated {line.item!r} in line {first.number}{where} already.")
        seconds = next((line.value(key) for key in _TIMES if key in line.values), math.nan)
        cells[a, i] = (line, line.value(criterion), seconds, line.trap)
    shape = (len(annotators), len(items))
    scores, times, traps = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    for at, (_, score, seconds, trap) in cells.items():
        scores[at], times[at], traps[at] = score, seconds, trap
    return Ratings(name, criterion, tuple(annotators), tuple(items), scores, times, traps)
