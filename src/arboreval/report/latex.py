"""A booktabs table to paste into a paper."""

from __future__ import annotations

from arboreval.report.model import Report, System
from arboreval.report.text import arrow, decimals, number

_ESCAPES = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
            "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip
_ARROWS = {"↑": r"$\uparrow$", "↓": r"$\downarrow$"}


def escape(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def render(report: Report) -> str:
    """Systems with scores and half the width of their intervals; superscripts name the systems that are beaten."""
    systems = report.ranked(report.metrics[0]) if report.comparisons else list(report.systems)
    letters = {system.name: _letter(i) for i, system in enumerate(systems)}
    first = systems[0].scores.values()
    heads = " & ".join(f"{escape(s.metric)} {_ARROWS[arrow(s)]}" for s in first)
    lines = [
        "% " + "\n% ".join(f"{s.metric}: {s.signature}" for s in first),
        r"\begin{tabular}{l" + "r" * len(report.metrics) + "}",
        r"\toprule",
        f"System & {heads} \\\\",
        r"\midrule",
    ]
    for system in systems:
        name = escape(system.name)
        if report.comparisons:
            name = f"({letters[system.name]}) {name}"
        cells = " & ".join(_cell(report, system, metric, letters) for metric in report.metrics)
        lines.append(f"{name} & {cells} \\\\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if report.comparisons:
        lines.append(
            "% Superscripts: systems that are significantly worse "
            "(paired bootstrap and approximate randomisation, Holm-corrected, p < 0.05)."
        )
    return "\n".join(lines) + "\n"


def _cell(report: Report, system: System, metric: str, letters: dict[str, str]) -> str:
    score = system.scores[metric]
    digits = decimals(score)
    text = number(score.value, digits)
    if score.value is not None and system is report.ranked(metric)[0] and len(report.systems) > 1:
        text = rf"\textbf{{{text}}}"
    if score.ci is not None:
        text += rf" {{\scriptsize [{score.ci[0]:.{digits}f}, {score.ci[1]:.{digits}f}]}}"
    beaten = [
        letters[c.b if c.winner == c.a else c.a]
        for c in report.comparisons
        if c.metric == metric and c.winner == system.name
    ]
    return text + (rf"$^{{{','.join(sorted(beaten))}}}$" if beaten else "")


def _letter(i: int) -> str:
    """a … z, aa, ab, …"""
    text = ""
    i += 1
    while i:
        i, rest = divmod(i - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
