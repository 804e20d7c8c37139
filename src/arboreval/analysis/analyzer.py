"""What an analyzer is, and analyzers by name. Other packages add theirs through the entry point group
``arboreval.analyzers``; nothing is imported before an analyzer is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from arboreval.errors import UsageError, unknown_name
from arboreval.registry import Kind, load_plugin, parse_value, split_spec

if TYPE_CHECKING:
    from pathlib import Path

    from arboreval.analysis.structures import Analysis

ENTRY_POINT_GROUP = "arboreval.analyzers"
DEFAULT_ANALYZER = "english"

BUILT_IN = {
    "english": "arboreval.analysis.english.analyzer:EnglishAnalyzer",
    "spacy": "arboreval.analysis.external.spacy_:SpacyAnalyzer",
    "files": "arboreval.analysis.external.files:FilesAnalyzer",
}

ANALYZERS = Kind("analyzer", ENTRY_POINT_GROUP, BUILT_IN)

#: layers by the names that users give them, and the fields of an Analysis that hold them
FIELDS = {
    "tokens": "tokens",
    "dep": "dependency",
    "const": "constituency",
    "ucca": "ucca",
    "rst": "rst",
    "srl": "roles",
    "ner": "entities",
    "vectors": "vectors",
}
LAYERS = tuple(FIELDS)


@runtime_checkable
class Analyzer(Protocol):
    """Turns texts into analyses.

    An analyzer that can leave out work has a method ``for_layers(layers)`` that returns an analyzer of the same
    fingerprint that makes at least these layers; others make everything they provide. One that is made of files may
    have a property ``outdated``, which tells that they have changed and another analyzer must be made.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Names everything that can change an analysis: code version, weights, options. One line without ``|``."""

    @property
    def provides(self) -> frozenset[str]:
        """The layers it makes, out of :data:`LAYERS`."""

    def analyze(self, texts: Iterable[str]) -> Iterator[Analysis]:
        """One analysis for each text, in their order. A text it cannot analyse gets a failed analysis, not an
        exception, and the result for a text must not depend on the other texts."""


def make_analyzer(spec: str | Analyzer, *, files: Sequence[str | Path] = ()) -> Analyzer:
    """The analyzer that a text such as ``spacy:model=en_core_web_sm`` describes.

    :param files: the files that the texts come from, for the analyzer that reads precomputed analyses beside them.
    """
    if not isinstance(spec, str):
        return spec
    name, texts = split_spec(spec, ANALYZERS)
    cls = load_plugin(ANALYZERS, name)
    options: dict[str, Any] = parse_options(name, cls, texts)
    if getattr(cls, "beside_files", False) and "path" not in options:
        if not files:
            raise UsageError(f"the analyzer {name!r} needs the file whose analyses it reads: {name}:path=FILE.")
        options["path"] = tuple(files)
    made: Analyzer = cls(**options)
    return made


def parse_options(name: str, cls: Any, texts: dict[str, str]) -> dict[str, Any]:
    """Turns option texts into values of the types that the analyzer's parameters have."""
    known = {
        p.name: p.annotation
        for p in inspect.signature(cls).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    values: dict[str, Any] = {}
    for key, text in texts.items():
        if key not in known:
            raise UsageError(unknown_name(f"option of {name}", key, known))
        annotation = known[key]
        type_name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        values[key] = parse_value(f"{name}: option {key}", text, type_name)
    return values


def layer_names(layers: str | Iterable[str]) -> list[str]:
    """The names in a list, or in a text with commas and perhaps spaces."""
    names = layers.split(",") if isinstance(layers, str) else layers
    return [name.strip() for name in names if name.strip()]


def parse_layers(layers: str | Iterable[str] | None, provided: frozenset[str], name: str) -> frozenset[str]:
    """The layers asked for, checked. None is all that the analyzer provides, save vectors, which are large."""
    if layers is None:
        return provided - {"vectors"} | {"tokens"}
    asked = layer_names(layers)
    if not asked and isinstance(layers, str):
        raise UsageError("no layer was given; write tokens for the words alone.")
    for layer in asked:
        if layer not in FIELDS:
            raise UsageError(unknown_name("layer", layer, FIELDS))
        if layer not in provided and layer != "tokens":
            gives = ", ".join(known for known in LAYERS if known in provided)
            raise UsageError(f"the analyzer {name!r} makes no layer {layer!r}; it makes {gives}.")
    return frozenset({*asked, "tokens"})


def narrowed(analyzer: Analyzer, layers: frozenset[str]) -> tuple[Analyzer, frozenset[str]]:
    """The analyzer with less work to do, where it can, and the layers that it then makes."""
    narrow = getattr(analyzer, "for_layers", None)
    if narrow is None:
        return analyzer, analyzer.provides | {"tokens"}
    return narrow(layers), layers


def restrict(analysis: Analysis, layers: frozenset[str]) -> Analysis:
    """The analysis without the layers that nobody asked for."""
    extra = {
        field: None
        for layer, field in FIELDS.items()
        if layer not in layers and layer != "tokens" and getattr(analysis, field) is not None
    }
    return replace(analysis, **extra) if extra else analysis  # type: ignore[arg-type]
