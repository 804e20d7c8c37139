"""An explanation for the terminal: scores, and the subtrees that cost most. A hundred columns hold it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence

from arboreval.evidence import Evidence, Part, Side
from arboreval.report.explain_model import Explanation
from arboreval.report.trees.text import clean, width
from arboreval.run.explain import Explained, Pair

#: parts listed on each side
_LISTING = 10
_COLUMNS = 100
_LABEL = 6
#: columns of a part's label and text, and of its partner's
_PART = (_COLUMNS - 2 - 10 - 2 - 8 - 2 - 2) // 2


def render(explanation: Explanation) -> str:
    from rich.console import Console

    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    buffer = io.StringIO()
    console = Console(
        file=buffer, width=100_000, force_terminal=color, no_color=not color, highlight=False, markup=False
    )
    for line, style in _lines(explanation):
        console.print(line, style=style)
    text = buffer.getvalue()
    return text.encode("utf-8", "replace").decode()  # a lone surrogate in a text must not lose the rest


def _lines(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Lines with their styles."""
    several = len({output.system for output in explanation.outputs}) > 1
    for output in explanation.outputs:
        yield from _output(output, explanation.metric, several)
        yield "", ""
    if not explanation.complete:
        yield (
            f"{explanation.segments} of {explanation.segments_in_file} segments; --seg chooses others.",
            "dim",
        )
    yield explanation.signature, ""


def _output(output: Explained, metric: str, several: bool) -> Iterator[tuple[str, str]]:
    where = f"segment {output.seg}" + (f" of {output.doc}" if output.doc is not None else "")
    if several:
        where += f", {output.system}"
    score = "no score" if output.score is None else f"{output.score:.4f}"
    parts = "" if output.precision is None else f"  (P {output.precision:.4f}, R {output.recall:.4f})"
    yield f"{clean(where)}: {metric} {score}{parts}", "bold"
    if output.reason:
        yield f"  {output.status}: {clean(output.reason)}", "yellow"
    yield f"  output     {_one_line(output.hypothesis)}", ""
    if not output.pairs:
        yield from ((f"  reference  {_one_line(reference)}", "") for reference in output.references)
    for pair in output.pairs:
        yield from _pair(pair, len(output.references), len(output.pairs) > 1)


def _pair(pair: Pair, references: int, scored: bool) -> Iterator[tuple[str, str]]:
    evidence = pair.evidence
    which = f"  (number {pair.reference} of {references})" if references > 1 else ""
    if scored:
        p, r, f = evidence.scores
        which += f"  {f:.4f} (P {p:.4f}, R {r:.4f})"
    yield f"  reference  {_one_line(evidence.reference.text)}{which}", ""
    both = (evidence.hypothesis, evidence.reference)
    for name, side, other in (("output", *both), ("reference", *both[::-1])):
        yield "", ""
        yield from _side(name, side, other, evidence)


def _side(name: str, side: Side, other: Side, evidence: Evidence) -> Iterator[tuple[str, str]]:
    weakest = side.weakest
    nothing = sum(side.parts[i].partner is None for i in weakest)
    head = f"  {name}: {_count(len(weakest), evidence.noun)}" + (f", {nothing} found nothing" if nothing else "")
    yield head + (f"; the {_LISTING} weakest" if len(weakest) > _LISTING else ""), "bold"
    if not weakest:
        return
    yield f"  similarity  {'costs':>8}  {evidence.noun:{_PART}}  found", "dim"
    for i in weakest[:_LISTING]:
        part = side.parts[i]
        found = _described(other.parts, part)
        cost = f"{part.loss:z.4f}"
        similarity = f"{part.similarity:z.3f}" if part.partner is not None else "-"
        line = f"  {similarity:>10}  {cost:>8}  {_padded(part)}  {found}"
        yield line.rstrip(), "red" if part.partner is None else ""


def _described(others: Sequence[Part], part: Part) -> str:
    if part.partner is not None:
        return _padded(others[part.partner])
    return "nothing" if part.feature is None else f"nothing with {_shortened(clean(part.feature), _PART - 15)!r}"


def _padded(part: Part) -> str:
    label = _shortened(clean(part.label), _LABEL)
    if label:
        label += " " * (_LABEL + 1 - width(label))
    text = label + _shortened(_one_line(part.text), _PART - width(label))
    return text + " " * (_PART - width(text))


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _shortened(text: str, columns: int) -> str:
    """The text with its middle left out where it is too wide."""
    if width(text) <= columns:
        return text
    head = tail = ""
    front, back = 0, len(text) - 1
    # characters from both ends in turn, as long as they fit beside the dots
    while width(head) + width(tail) + width(text[front]) < columns:
        head, front = head + text[front], front + 1
        if width(head) + width(tail) + width(text[back]) >= columns:
            break
        tail, back = text[back] + tail, back - 1
    return f"{head}…{tail}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
