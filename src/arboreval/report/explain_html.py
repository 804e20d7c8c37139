"""Evidence as one HTML file that needs no network: figures are in the markup, a small script links their halves."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arboreval.evidence import Evidence, Part, Side
from arboreval.report.explain_model import Explanation
from arboreval.report.explain_svg import STEPS, draw, grade
from arboreval.report.html import _asset, _script_json
from arboreval.report.trees.text import clean
from arboreval.run.explain import Explained, Pair

#: outputs on a page; more would make a file that browsers open slowly
MAX_OUTPUTS = 100
#: parts listed on each side before one asks for all
LISTING = 8


@dataclass(frozen=True)
class Row:
    """A part in the list of the weakest."""

    number: int
    part: Part
    found: Part | None
    grade: str


@dataclass(frozen=True, eq=False)
class View:
    """One pair arranged for the page."""

    pair: Pair

    @property
    def evidence(self) -> Evidence:
        return self.pair.evidence

    @cached_property
    def drawing(self) -> Markup | None:
        drawn = draw(self.evidence)
        return None if drawn is None else Markup(drawn)  # draw escapes

    @property
    def lists(self) -> list[tuple[str, int, int, list[Row]]]:
        """For each side its name, its number, the number of parts that count, and the weakest."""
        both = (self.evidence.hypothesis, self.evidence.reference)
        return [
            (name, number, len(side.weakest), [self._row(side, other, i) for i in side.weakest[:LISTING]])
            for name, number, side, other in (("output", 0, both[0], both[1]), ("reference", 1, both[1], both[0]))
        ]

    @staticmethod
    def _row(side: Side, other: Side, i: int) -> Row:
        part = side.parts[i]
        return Row(i, part, None if part.partner is None else other.parts[part.partner], grade(side, i))

    @cached_property
    def data(self) -> Markup:
        """What the script reads."""
        return _script_json(
            {
                "noun": self.evidence.noun,
                "sides": [_side(side) for side in (self.evidence.hypothesis, self.evidence.reference)],
            }
        )


def _side(side: Side) -> dict[str, Any]:
    """Lists instead of objects: a report may hold dozens of these."""
    parts = [
        [
            clean(part.label),
            clean(part.text),
            list(part.words),
            part.partner,
            round(part.similarity, 4),
            round(part.loss, 6),
            grade(side, i),
            None if part.feature is None else clean(part.feature),
        ]
        for i, part in enumerate(side.parts)
    ]
    return {"order": side.weakest, "parts": parts}


@dataclass(frozen=True)
class OutputView:
    """One output on the page."""

    number: int
    output: Explained

    @cached_property
    def views(self) -> list[View]:
        return [View(pair) for pair in self.output.pairs]


def render(explanation: Explanation) -> str:
    js = Markup(_asset("explain.js"))  # our own files
    css = Markup(_asset("report.css") + _asset("explain.css"))
    page = (
        environment()
        .get_template("explain.html.j2")
        .render(
            explanation=explanation,
            outputs=[OutputView(i, output) for i, output in enumerate(explanation.outputs[:MAX_OUTPUTS], 1)],
            several=len({output.system for output in explanation.outputs}) > 1,
            noun=next((pair.evidence.noun for output in explanation.outputs for pair in output.pairs), "subtree"),
            legend=legend(),
            css=css,
            js=js,
            # only this very script may run, whatever a text or a name holds
            js_hash=base64.b64encode(hashlib.sha256(js.encode()).digest()).decode(),
        )
    )
    return page.encode("utf-8", "replace").decode()  # a lone surrogate in a text must not lose the page


def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("arboreval.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["clean"] = clean
    return made


def legend() -> Sequence[tuple[str, str]]:
    """Classes of marks with what they stand for, the most similar first."""
    bounds = [*STEPS, None]
    steps = [
        (f"q{i}", f"{low:g} and above" if high is None else f"{low:g} to {high:g}")
        for i, (low, high) in enumerate(zip(STEPS, bounds[1:], strict=True), 1)
    ]
    return [*reversed(steps), ("none", f"below {STEPS[0]:g}, or nothing to compare with")]
