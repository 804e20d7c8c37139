"""The input report: what a user should know about the data before trusting a score."""

from __future__ import annotations

from dataclasses import dataclass

from arboreval.corpus.language import looks_foreign
from arboreval.corpus.model import Corpus

#: characters beyond which a segment is hardly a sentence or a paragraph
LONG_CHARACTERS = 1_000
#: an output this many times as long as its longest reference, and by this many characters, has run away
LONG_RATIO, LONG_EXCESS = 3, 50


@dataclass(frozen=True)
class SystemInput:
    """Counts over the output of one system."""

    name: str
    empty: int
    duplicate: int  # output equal to an earlier one of the same system
    untranslated: int | None  # equal to the source; None without a source
    over_long: int
    other_language: int

    @property
    def remarkable(self) -> bool:
        return any((self.empty, self.duplicate, self.untranslated, self.over_long, self.other_language))


@dataclass(frozen=True)
class InputReport:
    """Counts over a corpus."""

    segments: int
    segments_in_file: int  # more than ``segments`` if a limit was set
    references: int | str  # per segment, ``var`` if it differs
    lang: str
    reference_missing: int
    reference_empty: int
    reference_other_language: int
    systems: tuple[SystemInput, ...]

    def remarks(self) -> list[str]:
        """One sentence for everything a user may want to look at."""
        lines = []
        if self.segments < self.segments_in_file:
            lines.append(f"only the first {self.segments} of {self.segments_in_file} segments were scored (limit)")
        for count, what in (
            (self.reference_missing, "have no reference and cannot be scored"),
            (self.reference_empty, "have an empty reference"),
            (self.reference_other_language, f"have a reference that does not look like {self.lang!r}"),
        ):
            if count:
                lines.append(f"references: {count} of {self.segments} segments {what}")
        for system in self.systems:
            counts = [
                f"{count} {what}"
                for count, what in (
                    (system.empty, "empty"),
                    (system.duplicate, "repeated"),
                    (system.untranslated, "equal to the source"),
                    (system.over_long, "over-long"),
                    (system.other_language, f"not looking like {self.lang!r}"),
                )
                if count
            ]
            if counts:
                lines.append(f"{system.name}: of {self.segments} outputs {', '.join(counts)}")
        return lines


def inspect_corpus(corpus: Corpus) -> InputReport:
    return InputReport(
        segments=len(corpus),
        segments_in_file=corpus.full_size,
        references=corpus.reference_count,
        lang=corpus.lang,
        reference_missing=sum(not refs for refs in corpus.references),
        reference_empty=sum(any(not ref.strip() for ref in refs) for refs in corpus.references),
        reference_other_language=sum(
            any(looks_foreign(ref, corpus.lang) for ref in refs) for refs in corpus.references
        ),
        systems=tuple(_inspect_system(corpus, name) for name in corpus.systems),
    )


def _inspect_system(corpus: Corpus, name: str) -> SystemInput:
    outputs = [text.strip() for text in corpus.systems[name]]
    filled = [text for text in outputs if text]
    untranslated = None
    if corpus.sources is not None:
        untranslated = sum(
            bool(text) and text == source.strip() for text, source in zip(outputs, corpus.sources, strict=True)
        )
    return SystemInput(
        name=name,
        empty=len(outputs) - len(filled),
        duplicate=len(filled) - len(set(filled)),
        untranslated=untranslated,
        over_long=sum(_over_long(text, refs) for text, refs in zip(outputs, corpus.references, strict=True)),
        other_language=sum(looks_foreign(text, corpus.lang) for text in filled),
    )


def _over_long(text: str, references: tuple[str, ...]) -> bool:
    longest = max((len(ref) for ref in references), default=0)
    runaway = len(text) > LONG_RATIO * longest and len(text) > longest + LONG_EXCESS
    return len(text) > LONG_CHARACTERS or (bool(references) and runaway)
