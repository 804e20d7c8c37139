"""Plug-ins by name: metrics here, analyzers in :mod:`arboreval.analysis.analyzer`. Built-in ones are a line each; other
packages add theirs through an entry point group. Nothing is imported before a plug-in is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from arboreval.errors import MissingExtraError, UsageError, unknown_name

if TYPE_CHECKING:
    from arboreval.analysis.source import AnalysisSource
    from arboreval.metrics.base import Metric

ENTRY_POINT_GROUP = "arboreval.metrics"

BUILT_IN = {
    "bleu": "arboreval.metrics.bleu:Bleu",
    "bleu-star": "arboreval.metrics.bleu:BleuStar",
    "chrf": "arboreval.metrics.chrf:ChrF",
    "chrf++": "arboreval.metrics.chrf:ChrFPlusPlus",
    "ter": "arboreval.metrics.ter:Ter",
    "rouge-1": "arboreval.metrics.rouge:Rouge1",
    "rouge-2": "arboreval.metrics.rouge:Rouge2",
    "rouge-l": "arboreval.metrics.rouge:RougeL",
    "rouge-w": "arboreval.metrics.rouge_w:RougeW",
    "bertscore": "arboreval.metrics.bertscore:BertScore",
    "structure-alignment": "arboreval.metrics.structure_alignment:StructureAlignment",
}


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of plug-in: what it is called in messages, its entry point group, and what comes with arboreval."""

    name: str
    group: str
    built_in: Mapping[str, str]


METRICS = Kind("metric", ENTRY_POINT_GROUP, BUILT_IN)


@dataclass(frozen=True)
class Registration:
    """Where a plug-in comes from."""

    target: str  # module:class
    distribution: str

    def load(self) -> Any:
        module, _, attribute = self.target.partition(":")
        try:
            return getattr(import_module(module), attribute)
        except MissingExtraError:
            raise  # says already what is missing and how to get it
        except ImportError as error:
            raise MissingExtraError(
                f"{self.target} of the package {self.distribution!r} cannot be imported: {error}."
            ) from error


@cache
def registrations(kind: Kind = METRICS) -> dict[str, Registration]:
    """All plug-ins of a kind by name; two packages that claim one name are an error that names both."""
    found = {name: Registration(target, "arboreval") for name, target in kind.built_in.items()}
    for point in entry_points(group=kind.group):
        distribution = point.dist.name if point.dist else "an unknown package"
        if point.name in found:
            raise UsageError(
                f"the {kind.name} {point.name!r} is registered by {found[point.name].distribution!r} "
                f"and by {distribution!r}; uninstall one of them."
            )
        found[point.name] = Registration(point.value, distribution)
    return found


def load_plugin(kind: Kind, name: str) -> Any:
    known = registrations(kind)
    if name not in known:
        raise UsageError(unknown_name(kind.name, name, known))
    return known[name].load()


def metric_class(name: str) -> type[Metric]:
    return load_plugin(METRICS, name)  # type: ignore[no-any-return]


def split_spec(spec: str, kind: Kind = METRICS) -> tuple[str, dict[str, str]]:
    """``rouge-l:measure=r`` → ``("rouge-l", {"measure": "r"})``."""
    name, *pairs = spec.strip().split(":")
    options: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{kind.name} {spec!r}: {pair!r} is not an option of the form name=value.")
        if key in options:
            raise UsageError(f"{kind.name} {spec!r}: option {key!r} is given twice.")
        options[key] = value
    return name, options


def parse_value(what: str, text: str, annotation: str) -> bool | int | float | str:
    """The text of an option as a value of the type that its annotation names."""
    if annotation.startswith("bool"):
        if text.lower() in {"true", "yes", "1", "on"}:
            return True
        if text.lower() in {"false", "no", "0", "off"}:
            return False
        raise UsageError(f"{what} must be true or false, not {text!r}.")
    for type_ in (int, float):
        if annotation.startswith(type_.__name__):
            try:
                return type_(text)
            except ValueError:
                kind = "a whole number" if type_ is int else "a number"
                raise UsageError(f"{what} must be {kind}, not {text!r}.") from None
    return text


def make_metric(spec: str, *, lang: str = "en", using: AnalysisSource | None = None) -> Metric:
    """Builds the metric that a text such as ``bleu:lowercase=true`` describes.

    :param using: who analyses, for metrics that read analyses; the bundled analyzer if None.
    """
    from arboreval.metrics.base import parse_options

    name, texts = split_spec(spec)
    cls = metric_class(name)
    options: dict[str, Any] = parse_options(cls, texts)
    if using is not None and any(f.name == "using" for f in fields(cls)):
        options["using"] = using
    return cls(lang=lang, **options)
