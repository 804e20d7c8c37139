"""Metrics by name. Built-in ones are a line each below; other packages add theirs through the entry point group
``arboreval.metrics``. Nothing is imported before a metric is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from arboreval.errors import MissingExtraError, UsageError, unknown_name

if TYPE_CHECKING:
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
}


@dataclass(frozen=True)
class Registration:
    """Where a metric comes from."""

    target: str  # module:class
    distribution: str

    def load(self) -> type[Metric]:
        module, _, attribute = self.target.partition(":")
        try:
            loaded = getattr(import_module(module), attribute)
        except ImportError as error:
            raise MissingExtraError(
                f"{self.target} of the package {self.distribution!r} cannot be imported: {error}."
            ) from error
        return loaded  # type: ignore[no-any-return]


@cache
def registrations() -> dict[str, Registration]:
    """All metrics by name; two packages that claim one name are an error that names both."""
    found = {name: Registration(target, "arboreval") for name, target in BUILT_IN.items()}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        distribution = point.dist.name if point.dist else "an unknown package"
        if point.name in found:
            raise UsageError(
                f"the metric {point.name!r} is registered by {found[point.name].distribution!r} "
                f"and by {distribution!r}; uninstall one of them."
            )
        found[point.name] = Registration(point.value, distribution)
    return found


def metric_class(name: str) -> type[Metric]:
    known = registrations()
    if name not in known:
        raise UsageError(unknown_name("metric", name, known))
    return known[name].load()


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """``rouge-l:measure=r`` → ``("rouge-l", {"measure": "r"})``."""
    name, *pairs = spec.strip().split(":")
    options: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"metric {spec!r}: {pair!r} is not an option of the form name=value.")
        if key in options:
            raise UsageError(f"metric {spec!r}: option {key!r} is given twice.")
        options[key] = value
    return name, options


def make_metric(spec: str, *, lang: str = "en") -> Metric:
    """Builds the metric that a text such as ``bleu:lowercase=true`` describes."""
    from arboreval.metrics.base import parse_options

    name, texts = split_spec(spec)
    cls = metric_class(name)
    return cls(lang=lang, **parse_options(cls, texts))
