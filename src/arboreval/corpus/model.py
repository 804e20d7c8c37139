"""Segment and Corpus. This module is the only place where parallel lists are paired, and it checks them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from arboreval.errors import InputError

SegmentId = int | str
#: what :func:`arboreval.score` takes as references: one text, several texts or None for each segment
References = Sequence[str | Sequence[str | None] | None]
Hypotheses = Sequence[str] | Mapping[str, Sequence[str]]

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]{2,3})?")


@dataclass(frozen=True, slots=True)
class Segment:
    """One unit to judge."""

    hypothesis: str
    references: tuple[str, ...]
    source: str | None
    system: str
    segment: SegmentId
    document: str | None


@dataclass(frozen=True)
class Column:
    """Parallel data as read, before it is paired. ``keys`` identify rows where the file names its segments."""

    origin: str
    values: Sequence[object]
    lines: Sequence[int] | None = None
    keys: Sequence[tuple[str | None, SegmentId]] | None = None

    def line(self, i: int) -> int:
        return self.lines[i] if self.lines is not None else i + 1


@dataclass(frozen=True)
class Corpus:
    """References, optional sources and the outputs of one or more systems, all of the same length."""

    systems: Mapping[str, Sequence[str]]
    references: Sequence[tuple[str, ...]]
    sources: Sequence[str] | None = None
    segment_ids: Sequence[SegmentId] = ()
    documents: Sequence[str | None] | None = None
    #: target language, and source language where known
    lang: str = "en"
    source_lang: str | None = None
    #: number of segments before ``--limit``
    full_size: int = field(default=0)

    def __len__(self) -> int:
        return len(self.references)

    @property
    def language_pair(self) -> str:
        return f"{self.source_lang or 'und'}-{self.lang}"

    @property
    def reference_count(self) -> int | str:
        """The number of references a segment has, ``var`` if it differs."""
        counts = {len(refs) for refs in self.references}
        return counts.pop() if len(counts) == 1 else "var"

    def ids(self) -> Iterator[tuple[str | None, SegmentId]]:
        """The document and segment id of every segment."""
        return zip(self.documents or [None] * len(self), self.segment_ids, strict=True)

    def segments(self, system: str) -> Iterator[Segment]:
        sources = self.sources if self.sources is not None else [None] * len(self)
        rows = zip(self.systems[system], self.references, sources, self.ids(), strict=True)
        for hypothesis, references, source, (document, segment) in rows:
            yield Segment(hypothesis, references, source, system, segment, document)

    def limit(self, n: int | None) -> Corpus:
        """The first ``n`` segments."""
        if n is None or n >= len(self):
            return self
        return replace(
            self,
            systems={name: texts[:n] for name, texts in self.systems.items()},
            references=self.references[:n],
            sources=self.sources[:n] if self.sources is not None else None,
            segment_ids=self.segment_ids[:n],
            documents=self.documents[:n] if self.documents is not None else None,
        )

    @classmethod
    def from_lists(
        cls,
        hypotheses: Hypotheses,
        references: References,
        *,
        sources: Sequence[str] | None = None,
        lang: str | None = None,
    ) -> Corpus:
        """Pairs Python lists. References are segment-major: ``references[i]`` belongs to segment ``i``."""
        named = hypotheses if isinstance(hypotheses, Mapping) else {"system": hypotheses}
        if not named:
            raise InputError("no system output was given.")
        outputs = {}
        for name, texts in named.items():
            what = f"hypotheses[{name!r}]" if isinstance(hypotheses, Mapping) else "hypotheses"
            outputs[str(name)] = Column(what, [checked_text(what, i, t) for i, t in enumerate(_rows(what, texts))])
        n = len(next(iter(outputs.values())).values)
        rows = _rows("references", references)
        _refuse_transposed(rows, n)
        return cls.from_columns(
            outputs,
            Column("references", [_reference_row(i, row) for i, row in enumerate(rows)]),
            sources=None
            if sources is None
            else Column("sources", [checked_text("sources", i, t) for i, t in enumerate(_rows("sources", sources))]),
            lang=lang,
        )

    @classmethod
    def from_columns(
        cls,
        outputs: Mapping[str, Column],
        references: Column,
        *,
        sources: Column | None = None,
        documents: Column | None = None,
        lang: str | None = None,
    ) -> Corpus:
        """Pairs columns by their keys where both sides have them, else by position; refuses what does not fit."""
        first = next(iter(outputs.values()))
        if not first.values:
            raise InputError(f"{first.origin} is empty: there is nothing to score.")
        aligned = {name: align(first, column) for name, column in outputs.items()}
        source_lang, target = parse_language(lang)
        return cls(
            systems=aligned,  # type: ignore[arg-type]  # the values were checked when the columns were made
            references=align(first, references),  # type: ignore[arg-type]
            sources=None if sources is None else align(first, sources),  # type: ignore[arg-type]
            segment_ids=[key[1] for key in first.keys] if first.keys else range(1, len(first.values) + 1),
            documents=None if documents is None else align(first, documents),  # type: ignore[arg-type]
            lang=target or "en",
            source_lang=source_lang,
            full_size=len(first.values),
        )


def parse_language(lang: str | None) -> tuple[str | None, str | None]:
    """``zh-en`` → source and target, ``en`` → target only."""
    if lang is None:
        return None, None
    if not _LANGUAGE.fullmatch(lang):
        raise InputError(f"{lang!r} is no language: write a code such as en, or a pair such as zh-en.")
    source, _, target = lang.rpartition("-")
    return source or None, target


def align(first: Column, other: Column) -> Sequence[object]:
    """The values of ``other`` in the order of ``first``."""
    n, m = len(first.values), len(other.values)
    if first.keys is not None and other.keys is not None and first.keys != other.keys:
        position = {key: i for i, key in enumerate(other.keys)}
        for i, key in enumerate(first.keys):
            if key not in position:
                raise InputError(
                    f"{other.origin} has no segment {_name(key)} ({first.origin}, line {first.line(i)}); "
                    f"{first.origin} has {n} segments, {other.origin} has {m}."
                )
        if m > n:
            extra = next(i for i, key in enumerate(other.keys) if key not in set(first.keys))
            raise InputError(
                f"{other.origin}, line {other.line(extra)}: segment {_name(other.keys[extra])} is not in "
                f"{first.origin}; {first.origin} has {n} segments, {other.origin} has {m}."
            )
        return [other.values[position[key]] for key in first.keys]
    if n != m:
        longer, shorter = (first, other) if n > m else (other, first)
        k = min(n, m)
        raise InputError(
            f"{first.origin} has {n} segments but {other.origin} has {m}: "
            f"line {longer.line(k)} of {longer.origin} has no partner in {shorter.origin}."
        )
    return other.values


def _name(key: tuple[str | None, SegmentId]) -> str:
    return f"{key[1]!r}" if key[0] is None else f"{key[1]!r} of document {key[0]!r}"


def _rows(what: str, values: Sequence[object]) -> list[object]:
    if isinstance(values, str):
        raise InputError(f"{what} must be a list with one text per segment, not a single text.")
    return list(values)


def checked_text(what: str, i: int, value: object) -> str:
    if not isinstance(value, str):
        kind = "NaN" if value != value else type(value).__name__  # only NaN differs from itself
        raise InputError(f"{what}[{i}] must be a text, not {kind}.")
    return str(value)  # numpy's and other kinds of string cannot be stored


def _reference_row(i: int, row: object) -> tuple[str, ...]:
    if row is None:
        return ()
    if isinstance(row, str):
        return (row,)
    if isinstance(row, Sequence):
        return tuple(checked_text(f"references[{i}]", j, t) for j, t in enumerate(row) if t is not None)
    return (checked_text("references", i, row),)


def _refuse_transposed(references: Sequence[object], n: int) -> None:
    lists = [r for r in references if isinstance(r, Sequence) and not isinstance(r, str)]
    if len(references) != n and len(lists) == len(references) > 0 and all(len(r) == n for r in lists):
        raise InputError(
            f"references look transposed: got {len(references)} lists of {n} texts for {n} hypotheses. "
            f"Give one list per segment: {n} lists of {len(references)}, e.g. list(zip(*references))."
        )
