"""Evidence for some segments: plain data that the renderers read. The JSON is described in docs/formats.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from arboreval.errors import UsageError
from arboreval.evidence import Part, Side
from arboreval.run.explain import Explained

SCHEMA_VERSION = 1
FORMATS = ("text", "json", "html")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The result of :func:`arboreval.explain`."""

    version: str
    metric: str
    signature: str
    lang: str
    #: number of segments there are
    segments_in_file: int
    #: number of segments explained
    segments: int
    outputs: tuple[Explained, ...]

    @property
    def complete(self) -> bool:
        return self.segments == self.segments_in_file

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; ``Any`` because it is JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "arboreval_version": self.version,
            "metric": self.metric,
            "signature": self.signature,
            "lang": self.lang,
            "segments_in_file": self.segments_in_file,
            "outputs": [_output(output) for output in self.outputs],
        }

    def render(self, format: str = "text") -> str:
        """The explanation as text, json or html."""
        if format not in FORMATS:
            raise UsageError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}.")
        render: Callable[[Explanation], str] = import_module(f"arboreval.report.explain_{format}").render
        return render(self)

    def __str__(self) -> str:
        return self.render("text")


def _output(output: Explained) -> dict[str, Any]:
    entry = {
        "system": output.system,
        "doc": output.doc,
        "seg": output.seg,
        "status": output.status,
        "reason": output.reason,
        "score": output.score,
        "precision": output.precision,
        "recall": output.recall,
        "references": len(output.references),
        "pairs": [
            {
                "reference": pair.reference,
                "precision": pair.evidence.precision,
                "recall": pair.evidence.recall,
                "f": pair.evidence.f,
                "sides": {
                    "hypothesis": _side(pair.evidence.hypothesis),
                    "reference": _side(pair.evidence.reference),
                },
            }
            for pair in output.pairs
        ],
    }
    return {key: value for key, value in entry.items() if key != "doc" or value is not None}


def _side(side: Side) -> dict[str, Any]:
    return {
        "text": side.text,
        "words": [[i, j] for i, j in side.words],
        "parts": [_part(part) for part in side.parts],
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "words": list(part.words),
        "chars": None if part.chars is None else list(part.chars),
        "text": part.text,
        "label": part.label,
        "feature": part.feature,
        "partner": part.partner,
        "similarity": part.similarity,
        "weight": part.weight,
        "contribution": part.contribution,
    }
