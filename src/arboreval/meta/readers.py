"""Reads human judgments as JSON Lines (docs/formats.md); :func:`read_evalsets` also knows tables and directories.

A file holds one of five shapes, recognised by the keys of its first line. What cannot be right (a system nobody has
heard of, a row that comes twice, a score that is no number) is refused with file and line.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from arboreval.corpus.model import SegmentId
from arboreval.errors import InputError
from arboreval.meta.evalset import NO_SYSTEM, Comparisons, Contrasts, EvalSet, Outputs, Shape

_GZIP_MAGIC = b"\x1f\x8b"
#: expert class labels of Sudoh et al. (2021), worst first; labels outside the scale are missing
_CLASSES = {"adequacy": "FBAS", "fluency": "FDBAS"}
_SHAPES: dict[Shape, str] = {
    "system": "system_scores",
    "ranking": "pairs",
    "contrastive": "good",
    "pair": "s1",
    "scored": "hyp",
}


def read_evalsets(path: str | Path) -> list[EvalSet]:
    """The data of a JSON Lines or TSV file, or of every language pair of an mt-metrics-eval directory."""
    place = Path(path)
    if place.is_dir():
        from arboreval.meta.mtme import language_pairs, read_mtme

        return [read_mtme(place, lp) for lp in language_pairs(place)]
    if place.name.removesuffix(".gz").endswith(".tsv"):
        from arboreval.meta.tables import read_table_evalset

        return [read_table_evalset(place)]
    return [read_jsonl(place)]


def read_jsonl(path: str | Path) -> EvalSet:
    """One file in any of the five shapes."""
    rows = json_rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path} is empty: there is nothing to evaluate.")
    shape = next((shape for shape, key in _SHAPES.items() if key in first.values), None)
    if shape is None:
        raise InputError(
            f"{path}, line 1: no judgment in any known shape; a line has one of the keys "
            f"{', '.join(repr(key) for key in _SHAPES.values())}."
        )
    builder = Builder(str(path), shape)
    add = _ADD[shape]
    add(builder, first)
    for row in rows:
        add(builder, row)
    return builder.build()


# --- lines -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line, with typed access that names file and line when something is wrong."""

    origin: str
    line: int
    values: dict[str, Any]

    def error(self, message: str) -> InputError:
        return InputError(f"{self.origin}, line {self.line}: {message}")

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self.error(f"{key!r} must be a text, not {_kind(value)}.")
        return value

    def optional(self, key: str) -> str | None:
        return None if self.values.get(key) is None else self.text(key)

    def id(self, key: str) -> SegmentId:
        value = self.values.get(key)
        if not isinstance(value, int | str) or isinstance(value, bool):
            raise self.error(f"{key!r} must be a number or a text, not {_kind(value)}.")
        return value

    def number(self, value: object, what: str) -> float:
        """A finite number; None is a missing score."""
        if value is None:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.error(f"{what} must be a number or null, not {value!r}.")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise self.error(f"{key!r} must be a list of texts.")
        return tuple(value)

    def mapping(self, key: str) -> dict[str, Any]:
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.error(f"{key!r} must be an object, not {_kind(value)}.")
        return value


def _kind(value: object) -> str:
    return "missing" if value is None else type(value).__name__


def open_bytes(path: str | Path) -> bytes:
    """The content of a file, unpacked if it is gzipped."""
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP_MAGIC) else data
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error


def json_rows(path: str | Path) -> Iterator[Row]:
    decoder = msgspec.json.Decoder()
    for number, line in enumerate(open_bytes(path).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            values = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}, line {number}: not JSON: {error}.") from error
        if not isinstance(values, dict):
            raise InputError(f"{path}, line {number}: an object was expected.")
        yield Row(str(path), number, values)


# --- building ----------------------------------------------------------------------------------------------------


@dataclass
class Builder:
    """Collects rows and gives systems and segments their indices, in order of appearance."""

    origin: str
    shape: Shape
    dataset: str = ""
    pairs: dict[str, None] = field(default_factory=dict)
    kind: str = ""
    systems: dict[str, int] = field(default_factory=dict)
    segments: dict[SegmentId, int] = field(default_factory=dict)
    hypotheses: list[str] = field(default_factory=list)
    references: list[tuple[str, ...]] = field(default_factory=list)
    sources: list[str | None] = field(default_factory=list)
    documents: list[str | None] = field(default_factory=list)
    row_system: list[int] = field(default_factory=list)
    row_segment: list[int] = field(default_factory=list)
    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    human: dict[str, dict[int, float]] = field(default_factory=dict)
    comparisons: list[tuple[int, int, int, bool]] = field(default_factory=list)
    contrasts: list[tuple[int, int, int]] = field(default_factory=list)
    phenomena: dict[str, int] = field(default_factory=dict)
    system_scores: dict[str, float] = field(default_factory=dict)
    header: Row | None = None

    def head(self, row: Row, suffix: str | None = None) -> None:
        """What every line says about the whole file."""
        name = row.optional("dataset") or Path(self.origin).name.split(".")[0]
        name = f"{name}.{suffix}" if suffix else name
        if self.dataset and name != self.dataset:
            raise row.error(f"the data set is {name!r}, but the lines before are of {self.dataset!r}.")
        self.dataset = name
        self.pairs[row.optional("lp") or "en"] = None
        self.kind = self.kind or row.optional("kind") or ""

    def system(self, name: str | None) -> int:
        return NO_SYSTEM if name is None else self.systems.setdefault(name, len(self.systems))

    def segment(self, name: SegmentId) -> int:
        return self.segments.setdefault(name, len(self.segments))

    def output(
        self, row: Row, system: int, segment: int, hypothesis: str, references: tuple[str, ...], *, unique: bool = True
    ) -> int:
        if unique:
            if (system, segment) in self.rows:
                name = "the output" if system == NO_SYSTEM else f"the system {list(self.systems)[system]!r}"
                raise row.error(f"{name} of segment {list(self.segments)[segment]!r} is there already.")
            self.rows[system, segment] = len(self.hypotheses)
        self.hypotheses.append(hypothesis)
        self.references.append(references)
        self.sources.append(row.optional("src"))
        self.documents.append(row.optional("doc"))
        self.row_system.append(system)
        self.row_segment.append(segment)
        return len(self.hypotheses) - 1

    def score(self, key: str, output: int, value: float) -> None:
        if not math.isnan(value):
            self.human.setdefault(key, {})[output] = value

    def build(self) -> EvalSet:
        if not self.hypotheses:
            raise InputError(f"{self.origin}: there is no output to evaluate.")
        if self.header is not None:
            for name in self.systems:
                if name not in self.system_scores:
                    raise self.header.error(f"the system {name!r} has outputs but no human score.")
            for name in self.system_scores:
                if name not in self.systems:
                    raise self.header.error(f"unknown system {name!r}: it has a human score but no outputs.")
        n = len(self.hypotheses)
        human = {}
        for key, values in self.human.items():
            column = np.full(n, np.nan)
            column[list(values)] = list(values.values())
            human[key] = column
        return EvalSet(
            dataset=self.dataset,
            lp=_language_pair(list(self.pairs)),
            shape=self.shape,
            origin=self.origin,
            systems=tuple(self.systems),
            segment_ids=tuple(self.segments),
            outputs=Outputs(
                tuple(self.hypotheses),
                tuple(self.references),
                tuple(self.sources),
                tuple(self.documents),
                np.array(self.row_system, dtype=np.int64),
                np.array(self.row_segment, dtype=np.int64),
            ),
            kind=self.kind,
            human=human,
            comparisons=_comparisons(self.comparisons) if self.shape == "ranking" else None,
            contrasts=_contrasts(self.contrasts, tuple(self.phenomena)) if self.shape == "contrastive" else None,
            system_scores={"raw": self.system_scores} if self.system_scores else {},
            full_size=len(self.segments),
        )


def _language_pair(pairs: list[str]) -> str:
    """The pair of the file; ``many-en`` where sources differ."""
    targets = {pair.rpartition("-")[2] for pair in pairs}
    return pairs[0] if len(pairs) == 1 else f"many-{targets.pop()}" if len(targets) == 1 else "many"


def _comparisons(rows: list[tuple[int, int, int, bool]]) -> Comparisons:
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return Comparisons(table[:, 0], table[:, 1], table[:, 2], table[:, 3].astype(bool))


def _contrasts(rows: list[tuple[int, int, int]], phenomena: tuple[str, ...]) -> Contrasts:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Contrasts(table[:, 0], table[:, 1], table[:, 2], phenomena)


# --- the five shapes ---------------------------------------------------------------------------------------------


def _add_scored(b: Builder, row: Row) -> None:
    b.head(row)
    system, segment = b.system(row.optional("system")), b.segment(row.id("seg"))
    output = b.output(row, system, segment, row.text("hyp"), row.texts("refs"))
    for key in ("z", "raw"):
        b.score(key, output, row.number(row.values.get(key), f"the score {key!r}"))
    for key in ("z", "raw"):
        if row.values.get(f"{key}_by") is not None:
            for criterion, value in row.mapping(f"{key}_by").items():
                b.score(f"{key}:{criterion}", output, row.number(value, f"the score {criterion!r}"))
    for criterion, classes in _CLASSES.items():
        label = row.optional(criterion)
        if label is not None and len(label) == 1 and label in classes:
            b.score(f"raw:{criterion}", output, float(classes.index(label)))


def _add_outputs(b: Builder, row: Row) -> dict[str, int]:
    """The outputs of all systems for one segment; a system that did not translate it may be null."""
    name = row.id("seg")
    if name in b.segments:
        raise row.error(f"segment {name!r} is there already.")
    segment, references = b.segment(name), row.texts("refs")
    rows = {}
    for system, text in row.mapping("outputs").items():
        if text is None:
            continue
        if not isinstance(text, str):
            raise row.error(f"the output of {system!r} must be a text, not {_kind(text)}.")
        rows[system] = b.output(row, b.system(system), segment, text, references)
    return rows


def _add_ranking(b: Builder, row: Row) -> None:
    b.head(row)
    rows = _add_outputs(b, row)
    for key, tie in (("pairs", False), ("ties", True)):
        for entry in row.values.get(key) or ():
            if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], int) and entry[2] > 0):
                raise row.error(f"{key!r} holds {entry!r}, not [system, system, count].")
            for system in entry[:2]:
                if system not in rows:
                    raise row.error(f"{key!r} names the unknown system {system!r}; 'outputs' has no such text.")
            b.comparisons.append((rows[entry[0]], rows[entry[1]], entry[2], tie))


def _add_system(b: Builder, row: Row) -> None:
    b.head(row)
    if "system_scores" in row.values:
        if b.header is not None:
            raise row.error(f"system scores are there already (line {b.header.line}).")
        b.header = row
        for system, value in row.mapping("system_scores").items():
            score = row.number(value, f"the score of {system!r}")
            if not math.isnan(score):
                b.system_scores[system] = score
        return
    _add_outputs(b, row)


def _add_contrastive(b: Builder, row: Row) -> None:
    b.head(row)
    references = row.texts("refs")
    # ids are unique within a language pair
    segment = b.segment(f"{row.optional('lp') or ''}/{row.id('id')}")
    good = b.output(row, NO_SYSTEM, segment, row.text("good"), references, unique=False)
    bad = b.output(row, NO_SYSTEM, segment, row.text("bad"), references, unique=False)
    kind = b.phenomena.setdefault(row.text("phenomenon"), len(b.phenomena))
    b.contrasts.append((good, bad, kind))


def _add_pair(b: Builder, row: Row) -> None:
    b.head(row, row.optional("split"))
    segment = b.segment(row.id("id"))
    output = b.output(row, NO_SYSTEM, segment, row.text("s1"), (row.text("s2"),))
    b.score("raw", output, row.number(row.values.get("label"), "the label"))


_ADD: dict[Shape, Callable[[Builder, Row], None]] = {
    "scored": _add_scored,
    "ranking": _add_ranking,
    "system": _add_system,
    "contrastive": _add_contrastive,
    "pair": _add_pair,
}
