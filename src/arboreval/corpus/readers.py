"""Reads hypotheses, references and sources from files.

Plain text (a line a segment), TSV with a header, JSON Lines and Parquet, each possibly gzipped, and ``-`` for
standard input. The file's name tells the format; standard input is recognised by its first line.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from arboreval.corpus.model import Column, Corpus, SegmentId, align
from arboreval.errors import InputError, MissingExtraError, UsageError

STDIN = "-"
HYPOTHESIS_COLUMNS = ("hyp", "mt")
_REFERENCE_COLUMN = re.compile(r"refs|ref\d*")
_SUFFIXES = (".txt", ".tsv", ".jsonl", ".ndjson", ".parquet")
_GZIP_MAGIC = b"\x1f\x8b"
#: languages that occur as `.xx-yy.` in file names of test sets; other letters there are no language pair
_CODES = (
    "af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu ha he hi hr hu hy id ig is it ja ka kk km "
    "kn ko ky lo lt lv mg mk ml mn mr ms mt my nb ne nl nn no or pa pl ps pt ro ru rw si sk sl so sq sr sv sw ta te tg "
    "th tk tl tr uk ur uz vi xh yo zh zu"
)
_PAIR_IN_NAME = re.compile(r"(?:^|\.)([a-z]{2})-([a-z]{2})(?=\.|$)")


@dataclass
class _Group:
    """The rows of one system in a file."""

    lines: list[int] = field(default_factory=list)
    hypotheses: list[str] = field(default_factory=list)
    references: list[tuple[str, ...]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    documents: list[str | None] = field(default_factory=list)
    keys: list[tuple[str | None, SegmentId]] = field(default_factory=list)


@dataclass(frozen=True)
class _Table:
    """Rows of a TSV, JSONL or Parquet file with their line (or row) numbers."""

    origin: str
    columns: tuple[str, ...]
    rows: list[tuple[int, dict[str, object]]]

    def column_of(self, what: str, names: Iterable[str]) -> str:
        for name in names:
            if name in self.columns:
                return name
        raise InputError(
            f"{self.origin} has no column {' or '.join(names)} for the {what}; "
            f"its columns are {', '.join(self.columns) or 'none'}."
        )

    def reference_columns(self) -> list[str]:
        return sorted(name for name in self.columns if _REFERENCE_COLUMN.fullmatch(name))


def read_corpus(
    hypotheses: Sequence[str | Path],
    references: Sequence[str | Path] = (),
    *,
    source: str | Path | None = None,
    lang: str | None = None,
) -> Corpus:
    """Reads systems, references and sources, and pairs them. References in ``references`` replace inline ones."""
    paths = [str(p) for p in (*hypotheses, *references, *([source] if source is not None else []))]
    if not hypotheses:
        raise UsageError("no system output was given.")
    if paths.count(STDIN) > 1:
        raise UsageError("standard input (-) can be read only once.")
    outputs: dict[str, Column] = {}
    inline: list[tuple[Column, Column | None, Column | None]] = []  # references, sources, documents
    pair: str | None = None
    for path, name in zip(hypotheses, system_names([str(p) for p in hypotheses]), strict=True):
        for system, column, group_inline, group_pair in _read_outputs(str(path), name):
            if system in outputs:
                raise InputError(f"the system {system!r} is in {outputs[system].origin} and in {column.origin}.")
            outputs[system] = column
            inline.append(group_inline)
            pair = pair or group_pair
    first_references, first_sources, documents = inline[0]
    if references:
        reference_column = _merge_references([_read_references(str(p)) for p in references])
    elif first_references.values:
        _same("references", [column for column, _, _ in inline])
        reference_column = first_references
    else:
        raise UsageError(f"no reference: give one with -r, or a ref column in {next(iter(outputs.values())).origin}.")
    source_column = _read_column(str(source), "source", ("src",)) if source is not None else first_sources
    return Corpus.from_columns(
        outputs,
        reference_column,
        sources=source_column,
        documents=documents,
        lang=lang or pair or _pair_in_names(paths),
    )


def system_names(paths: Sequence[str]) -> list[str]:
    """File names without folder and known suffix; whole paths where two would be the same."""
    short = [_strip_suffixes(Path(p).name) if p != STDIN else "stdin" for p in paths]
    return [path if short.count(name) > 1 else name for path, name in zip(paths, short, strict=True)]


def _strip_suffixes(name: str) -> str:
    name = name.removesuffix(".gz")
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and name != suffix:
            return name.removesuffix(suffix)
    return name


def _pair_in_names(paths: Iterable[str]) -> str | None:
    codes = set(_CODES.split())
    for path in paths:
        for source, target in _PAIR_IN_NAME.findall(Path(path).name):
            if {source, target} <= codes:
                return f"{source}-{target}"
    return None


# --- what a file holds -------------------------------------------------------------------------------------------


def _read_outputs(
    path: str, name: str
) -> Iterable[tuple[str, Column, tuple[Column, Column | None, Column | None], str | None]]:
    content = _read(path)
    if not isinstance(content, _Table):
        yield name, Column(_origin(path), content), (Column(_origin(path), []), None, None), None
        return
    pair = content.rows[0][1].get("lp") if "lp" in content.columns else None
    for system, group in _group(content, name, hypothesis=content.column_of("hypotheses", HYPOTHESIS_COLUMNS)).items():
        origin = _origin(path) if system == name else f"{_origin(path)} (system {system})"
        keys = group.keys or None

        def column(values: Sequence[object], origin: str = origin, group: _Group = group) -> Column:
            return Column(origin, values, group.lines, group.keys or None)

        yield (
            system,
            Column(origin, group.hypotheses, group.lines, keys),
            (
                column(group.references),
                column(group.sources) if group.sources else None,
                column(group.documents) if group.documents else None,
            ),
            pair if isinstance(pair, str) and pair else None,
        )


def _read_references(path: str) -> Column:
    content = _read(path)
    if not isinstance(content, _Table):
        return Column(_origin(path), [(line,) for line in content])
    if not content.reference_columns():
        content.column_of("references", ("ref", "refs"))
    groups = _group(content, "", hypothesis=None)
    columns = [Column(content.origin, g.references, g.lines, g.keys or None) for g in groups.values()]
    _same("references", columns)
    return columns[0]


def _read_column(path: str, what: str, names: Sequence[str]) -> Column:
    content = _read(path)
    if not isinstance(content, _Table):
        return Column(_origin(path), content)
    content.column_of(what, names)
    group = next(iter(_group(content, "", hypothesis=None).values()))
    return Column(content.origin, group.sources, group.lines, group.keys or None)


def _merge_references(columns: Sequence[Column]) -> Column:
    """Several reference files, one after the other. An empty line is a missing reference if another file has one."""
    first = columns[0]
    if len(columns) == 1:
        return first
    merged: list[tuple[str, ...]] = []
    for rows in zip(*(cast("Sequence[tuple[str, ...]]", align(first, column)) for column in columns), strict=True):
        texts = [text for row in rows for text in row]
        merged.append(tuple(text for text in texts if text.strip()) or tuple(texts[:1]))
    return Column(first.origin, merged, first.lines, first.keys)


def _same(what: str, columns: Sequence[Column]) -> None:
    """Inline references must not differ between the systems of a file."""
    first = columns[0]
    for column in columns[1:]:
        for i, (a, b) in enumerate(zip(first.values, align(first, column), strict=True)):
            if a != b:
                raise InputError(
                    f"{column.origin}: the {what} of segment {i + 1} differ from those in "
                    f"{first.origin}, line {first.line(i)}."
                )


def _group(table: _Table, name: str, *, hypothesis: str | None) -> dict[str, _Group]:
    """Rows by system, in the order of the file."""
    reference_columns = table.reference_columns()
    has = {column: column in table.columns for column in ("system", "seg", "doc", "src")}
    groups: dict[str, _Group] = {}
    seen: dict[tuple[str, str | None, SegmentId], int] = {}
    for line, row in table.rows:
        where = f"{table.origin}, line {line}"
        system = row.get("system") if has["system"] else None
        label = name if system is None else str(system)
        group = groups.setdefault(label, _Group())
        group.lines.append(line)
        if hypothesis is not None:
            group.hypotheses.append(_cell_text(row.get(hypothesis), hypothesis, where))
        group.references.append(_cell_references(row, reference_columns, where))
        if has["src"]:
            group.sources.append("" if row.get("src") is None else _cell_text(row["src"], "src", where))
        document = row.get("doc") if has["doc"] else None
        if has["doc"]:
            group.documents.append(None if document is None else str(document))
        if has["seg"]:
            segment = row.get("seg")
            if not isinstance(segment, int | str) or segment == "":
                raise InputError(f"{where}: 'seg' must be a number or a name, not {_kind(segment)}.")
            key = (None if document is None else str(document), segment)
            if (label, *key) in seen:
                raise InputError(
                    f"{where}: segment {segment!r} occurs twice{f' in system {label!r}' if label else ''}; "
                    f"it was on line {seen[(label, *key)]}."
                )
            seen[(label, *key)] = line
            group.keys.append(key)
    if not reference_columns:
        for group in groups.values():
            group.references.clear()
    return groups


def _cell_text(value: object, column: str, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where}: {column!r} must be a text, not {_kind(value)}.")
    return value


def _cell_references(row: dict[str, object], columns: Sequence[str], where: str) -> tuple[str, ...]:
    texts: list[str] = []
    for column in columns:
        value = row.get(column)
        if value is None:
            continue
        several = value if isinstance(value, list) else [value]
        texts += [_cell_text(text, column, where) for text in several if text is not None]
    return tuple(text for text in texts if text.strip()) or tuple(texts[:1])


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if value != value:
        return "NaN"
    return {
        "int": "a number",
        "float": "a number",
        "bool": "a truth value",
        "list": "a list",
        "dict": "an object",
    }.get(type(value).__name__, type(value).__name__)


# --- bytes to rows -----------------------------------------------------------------------------------------------


def _origin(path: str) -> str:
    return "standard input" if path == STDIN else path


def _read(path: str) -> list[str] | _Table:
    """The lines of a text file, or the rows of a table."""
    data = _read_bytes(path)
    origin = _origin(path)
    if not data:
        raise InputError(f"{origin} is empty.")
    kind = _sniff(data) if path == STDIN else _format(path)
    if kind == "parquet":
        return _parse_parquet(data, origin)
    lines = _decode_lines(data, origin)
    if kind == "tsv":
        return _parse_tsv(lines, origin)
    if kind == "jsonl":
        return _parse_jsonl(lines, origin)
    return lines


def _format(path: str) -> str:
    name = path.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    return next((s for s in ("tsv", "parquet") if name.endswith(f".{s}")), "text")


def _sniff(data: bytes) -> str:
    """The format of standard input, from its first line."""
    if data.startswith(b"PAR1"):
        return "parquet"
    head = data.split(b"\n", 1)[0].decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r")
    if head.startswith("{"):
        try:
            if isinstance(json.loads(head), dict):
                return "jsonl"
        except ValueError:
            pass
    return "tsv" if "\t" in head and set(HYPOTHESIS_COLUMNS) & set(head.split("\t")) else "text"


def _read_bytes(path: str) -> bytes:
    try:
        data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{_origin(path)} is not a whole gzip file: {error}.") from error


def _decode_lines(data: bytes, origin: str) -> list[str]:
    """Lines end at a line feed and nowhere else: other Unicode line separators occur inside segments."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # utf-8-sig counts positions after the mark it removes
        start = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        line = data.count(b"\n", 0, start) + 1
        byte = start - (data.rfind(b"\n", 0, start) + 1) + 1
        raise InputError(f"{origin}, line {line}, byte {byte}: 0x{data[start]:02x} is not valid UTF-8.") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _parse_tsv(lines: list[str], origin: str) -> _Table:
    header = tuple(name.strip() for name in lines[0].split("\t"))
    duplicate = next((name for name in header if header.count(name) > 1), None)
    if duplicate is not None:
        raise InputError(f"{origin}, line 1: the column {duplicate!r} occurs twice.")
    rows: list[tuple[int, dict[str, object]]] = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise InputError(f"{origin}, line {number}: {len(cells)} fields, but the header has {len(header)}.")
        rows.append((number, dict(zip(header, cells, strict=True))))
    return _nonempty(_Table(origin, header, rows))


def _parse_jsonl(lines: list[str], origin: str) -> _Table:
    rows: list[tuple[int, dict[str, object]]] = []
    columns: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{origin}, line {number}: not valid JSON ({error}).") from None
        if not isinstance(row, dict):
            raise InputError(f"{origin}, line {number}: expected a JSON object, got {_kind(row)}.")
        columns.update(dict.fromkeys(row))
        rows.append((number, row))
    return _nonempty(_Table(origin, tuple(columns), rows))


def _parse_parquet(data: bytes, origin: str) -> _Table:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            f"{origin} is a Parquet file, which needs another package: pip install 'arboreval[parquet]'."
        ) from error
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{origin} is not a Parquet file: {error}.") from error
    return _nonempty(_Table(origin, tuple(table.column_names), list(enumerate(table.to_pylist(), 1))))


def _nonempty(table: _Table) -> _Table:
    if not table.rows:
        raise InputError(f"{table.origin} has no rows.")
    return table
