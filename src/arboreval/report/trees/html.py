"""A page of analyses that needs no network and no script: text, trees as SVG, entities and roles as marked text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arboreval import __version__
from arboreval.analysis.structures import Analysis
from arboreval.report.trees import svg, text
from arboreval.report.trees.labels import UCCA_CATEGORIES

#: analyses on a page; more would make a file that browsers open slowly
MAX_ANALYSES = 200
#: longer sentences make figures that nobody can read; they are shown as text
_MAX_WORDS = 150


@dataclass(frozen=True)
class Figure:
    """A drawing, or its text where it would be too large to draw."""

    drawing: Markup | None
    text: str = ""


@dataclass(frozen=True)
class Part:
    title: str
    figures: Sequence[Figure]
    legend: str = ""


#: a piece of a text, and its label if it is marked
Piece = tuple[str, str | None]


@dataclass(frozen=True)
class View:
    """An analysis arranged for the page."""

    number: int
    analysis: Analysis

    @cached_property
    def parts(self) -> list[Part]:
        a = self.analysis
        spans, words = a.tokens.sentence_spans(), a.words
        found: list[Part] = []
        if a.dependency is not None and len(a):
            dependency = a.dependency
            drawn = [self._figure(j - i, lambda i=i, j=j: svg.dependencies(dependency, a.tokens, words, (i, j)))
                     for i, j in spans]  # fmt: skip
            found.append(Part(f"Dependencies ({dependency.scheme})", self._or_text(drawn, "dependency")))
        if a.constituency is not None and len(a):
            tree = a.constituency
            drawn = [self._figure(int(tree.end[root] - tree.start[root]),
                                  lambda root=root: svg.constituents(tree, a.tokens, words, root))
                     for root in tree.roots()]  # fmt: skip
            found.append(Part("Constituents", self._or_text(drawn, "constituency")))
        if a.ucca is not None and len(a):
            graph = a.ucca
            drawn = [self._figure(len(graph.yield_of(root)), lambda root=root: svg.ucca(graph, words, root))
                     for root in graph.roots]  # fmt: skip
            found.append(Part("Meaning (UCCA)", self._or_text(drawn, "ucca"), self._ucca_legend))
        if a.rst is not None and len(a):
            discourse = a.rst
            drawn = [self._figure(0, lambda: svg.discourse(discourse, words))]
            legend = "N nucleus, S satellite (dashed)" if discourse.n_edus > 1 else "one discourse unit"
            found.append(Part("Discourse (RST)", self._or_text(drawn, "rst"), legend))
        if a.vectors is not None and len(a):
            found.append(Part("Vectors", [Figure(None, text.render_layer(a, "vectors"))]))
        if not a.layers() and len(a):
            found.append(Part("Words", [Figure(None, text.render_layer(a, "tokens"))]))
        return found

    @staticmethod
    def _figure(size: int, draw: object) -> Figure:
        return Figure(Markup(draw()) if size <= _MAX_WORDS and callable(draw) else None)  # svg escapes

    def _or_text(self, figures: list[Figure], layer: str) -> list[Figure]:
        """All drawings, or the text of the whole layer if one of them would be too large."""
        if all(figure.drawing is not None for figure in figures):
            return figures
        return [Figure(None, text.render_layer(self.analysis, layer))]

    @property
    def _ucca_legend(self) -> str:
        graph = self.analysis.ucca
        if graph is None:
            return ""
        used = sorted({part for category in graph.category for part in category.split("|")})
        names = [f"{part} {UCCA_CATEGORIES[part]}" for part in used if part in UCCA_CATEGORIES]
        return ", ".join([*names, *(["dashed: remote"] if graph.remote.any() else [])])

    @property
    def entities(self) -> list[Piece]:
        a = self.analysis
        return _pieces(a, (0, len(a)), a.entities.spans()) if a.entities is not None and len(a.entities) else []

    @property
    def roles(self) -> list[list[Piece]]:
        a = self.analysis
        return [_pieces(a, span, marked) for span, marked in text.role_spans(a)]


def _pieces(analysis: Analysis, span: tuple[int, int], marked: Sequence[tuple[int, int, str]]) -> list[Piece]:
    """The raw text of a range of words, cut at the borders of what is marked."""
    tokens, raw = analysis.tokens, analysis.text
    if span[0] == span[1]:
        return []
    at, last = tokens.char_span(*span)
    pieces: list[Piece] = []
    for start, end, label in marked:
        left, right = tokens.char_span(start, end)
        pieces += [(raw[at:left], None), (raw[left:right], label)]
        at = right
    return [(text.clean(piece), label) for piece, label in [*pieces, (raw[at:last], None)] if piece]


def render(analyses: Iterable[Analysis], total: int, title: str) -> str:
    """The page; ``total`` is the number of texts analysed, which may be more than are shown."""
    views = [View(number, analysis) for number, analysis in enumerate(analyses, 1)]
    environment = Environment(
        loader=PackageLoader("arboreval.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    assets = files("arboreval.report") / "assets"
    css = "".join((assets / name).read_text(encoding="utf-8") for name in ("report.css", "trees.css"))
    page = environment.get_template("trees.html.j2").render(
        views=views,
        total=total,
        title=title,
        fingerprints=sorted({view.analysis.fingerprint for view in views} - {""}),
        css=Markup(css),  # our own files
        version=__version__,
    )
    return page.encode("utf-8", "replace").decode()  # a lone surrogate in a text must not lose the page
