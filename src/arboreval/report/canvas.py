"""A drawing of lines, boxes, dots and words that can be written as SVG and as PDF.

The pictures of a meta-evaluation need no more, so they need no plotting library. Coordinates are points, y goes down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Literal

Anchor = Literal["start", "middle", "end"]

#: the palette of the HTML report, on white
COLORS = {
    "ink": "#1c2126",
    "muted": "#58616b",
    "grid": "#e6e8e8",
    "rule": "#b9bec2",
    "cool": "#1f6fbf",
    "warm": "#c2570c",
}
_KAPPA = 0.5522847498  # how far the control points of a quarter circle are out

#: Helvetica's widths of the characters from space to tilde, in thousandths of the size
_WIDTHS = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778,
    722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278,
    278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]  # fmt: skip


def text_width(text: str, size: float) -> float:
    """The width of a text in Helvetica; characters it does not have count as an n."""
    return sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in text) * size / 1000


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    color: str = "ink"
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    color: str
    #: share of the colour, the rest is paper
    tint: float = 1.0


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    radius: float
    color: str = "cool"
    tint: float = 1.0


@dataclass(frozen=True)
class Words:
    x: float
    y: float
    text: str
    size: float = 9.0
    anchor: Anchor = "start"
    color: str = "ink"
    bold: bool = False
    #: degrees counter-clockwise
    turn: int = 0


Mark = Line | Box | Dot | Words


@dataclass
class Canvas:
    """Marks in the order they are painted."""

    width: float
    height: float
    title: str
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        self.marks += marks

    def svg(self) -> str:
        body = "\n".join(_svg(mark) for mark in self.marks)
        size = f'width="{_n(self.width)}" height="{_n(self.height)}" viewBox="0 0 {_n(self.width)} {_n(self.height)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="Helvetica, Arial, sans-serif" role="img">\n'
            f"<title>{escape(self.title)}</title>\n{body}\n</svg>\n"
        )

    def pdf(self) -> bytes:
        content = "\n".join(_pdf(mark, self.height) for mark in self.marks).encode("cp1252", "replace")
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_n(self.width)} {_n(self.height)}] /Contents 4 0 R "
            "/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
            b"<< /Title (%s) /Producer (arboreval) >>" % _literal(self.title).encode("cp1252", "replace"),
        ]
        return _pdf_file(objects)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _mixed(color: str, tint: float) -> tuple[float, float, float]:
    """Red, green and blue from 0 to 1, the colour mixed with white."""
    code = COLORS[color]
    parts = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (1 - tint * (1 - part) for part in parts)
    return r, g, b


def _hex(color: str, tint: float = 1.0) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in _mixed(color, tint))


def _svg(mark: Mark) -> str:
    match mark:
        case Line():
            dash = ' stroke-dasharray="3 3"' if mark.dashed else ""
            ends = f'x1="{_n(mark.x1)}" y1="{_n(mark.y1)}" x2="{_n(mark.x2)}" y2="{_n(mark.y2)}"'
            return f'<line {ends} stroke="{_hex(mark.color)}" stroke-width="{_n(mark.width)}"{dash}/>'
        case Box():
            place = f'x="{_n(mark.x)}" y="{_n(mark.y)}" width="{_n(mark.width)}" height="{_n(mark.height)}"'
            return f'<rect {place} fill="{_hex(mark.color, mark.tint)}"/>'
        case Dot():
            fill = _hex(mark.color, mark.tint)
            return f'<circle cx="{_n(mark.x)}" cy="{_n(mark.y)}" r="{_n(mark.radius)}" fill="{fill}"/>'
        case Words():
            style = f'font-size="{_n(mark.size)}" text-anchor="{mark.anchor}" fill="{_hex(mark.color)}"'
            style += ' font-weight="bold"' if mark.bold else ""
            turn = f' transform="rotate({-mark.turn} {_n(mark.x)} {_n(mark.y)})"' if mark.turn else ""
            return f'<text x="{_n(mark.x)}" y="{_n(mark.y)}" {style}{turn}>{escape(mark.text)}</text>'


def _pdf(mark: Mark, height: float) -> str:
    """The operators that paint a mark; PDF counts y from below."""

    def rgb(color: str, tint: float, operator: str) -> str:
        return f"{' '.join(_n(part) for part in _mixed(color, tint))} {operator}"

    match mark:
        case Line():
            dash = "[3 3] 0 d" if mark.dashed else "[] 0 d"
            ends = f"{_n(mark.x1)} {_n(height - mark.y1)} m {_n(mark.x2)} {_n(height - mark.y2)} l S"
            return f"{rgb(mark.color, 1, 'RG')} {_n(mark.width)} w {dash} {ends}"
        case Box():
            place = f"{_n(mark.x)} {_n(height - mark.y - mark.height)} {_n(mark.width)} {_n(mark.height)} re f"
            return f"{rgb(mark.color, mark.tint, 'rg')} {place}"
        case Dot():
            return f"{rgb(mark.color, mark.tint, 'rg')} {_circle(mark.x, height - mark.y, mark.radius)} f"
        case Words():
            return _pdf_words(mark, height, rgb(mark.color, 1, "rg"))


def _circle(x: float, y: float, r: float) -> str:
    k = _KAPPA * r
    curves = [
        (x + r, y + k, x + k, y + r, x, y + r),
        (x - k, y + r, x - r, y + k, x - r, y),
        (x - r, y - k, x - k, y - r, x, y - r),
        (x + k, y - r, x + r, y - k, x + r, y),
    ]
    return f"{_n(x + r)} {_n(y)} m " + " ".join(" ".join(map(_n, curve)) + " c" for curve in curves)


def _pdf_words(mark: Words, height: float, color: str) -> str:
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor] * text_width(mark.text, mark.size)
    cos, sin = {0: (1, 0), 90: (0, 1)}[mark.turn]
    x, y = mark.x - shift * cos, height - mark.y - shift * sin
    font = "F2" if mark.bold else "F1"
    place = f"{cos} {sin} {-sin} {cos} {_n(x)} {_n(y)} Tm"
    return f"BT /{font} {_n(mark.size)} Tf {color} {place} ({_literal(mark.text)}) Tj ET"


def _literal(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").replace("\n", " ")


def _pdf_file(objects: Iterable[bytes]) -> bytes:
    data = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, info = len(offsets) + 1, len(offsets)
    return data + b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, info, start)
