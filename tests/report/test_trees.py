"""Trees in the terminal and as figures."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from browser import chromium, console_errors, set_width

sys.path.insert(0, str(Path(__file__).parent.parent / "analysis"))
import samples

from arboreval.analysis.structures import (
    Analysis,
    ConstituencyTree,
    DependencyTree,
    Entities,
    Roles,
    RstTree,
    Tokens,
    Vectors,
)
from arboreval.report.trees import svg
from arboreval.report.trees.html import render as page
from arboreval.report.trees.text import clean, render, width


def part(analysis, title):
    """The lines under a title."""
    blocks = render(analysis).split("\n\n")
    (block,) = (b for b in blocks if b.split("\n")[0].startswith(title))
    return [line.removeprefix("  ") for line in block.rstrip("\n").split("\n")[1:]]


def test_dependencies_read_from_top_to_bottom():
    assert part(samples.telescope(), "dependencies (ud2)") == [
        "   ┌─ The           DET    det",
        "┌─ girl             NOUN   nsubj",
        "│  └─ having        VERB   acl",
        "│     │  ┌─ a       DET    det",
        "│     └─ telescope  NOUN   obj",
        "saw                 VERB   root",
        "│  ┌─ the           DET    det",
        "├─ man              NOUN   obj",
        "└─ .                PUNCT  punct",
    ]


def test_constituents():
    assert part(samples.telescope(), "constituents") == [
        "TOP",
        "└─ S",
        "   ├─ NP",
        "   │  ├─ NP  The/DT girl/NN",
        "   │  └─ VP",
        "   │     ├─ having/VBG",
        "   │     └─ NP  a/DT telescope/NN",
        "   ├─ VP",
        "   │  ├─ saw/VBD",
        "   │  └─ NP  the/DT man/NN",
        "   └─ ./.",
    ]


def test_ucca_shows_remote_edges_gaps_and_what_is_implicit():
    lines = part(samples.telescope(), "meaning (UCCA)")
    assert "│  │     └─ A participant ⇢ girl" in lines
    lines = part(samples.two_sentences(), "meaning (UCCA)")
    assert "│  ├─ P process  called … up" in lines
    assert "│  └─ A participant  (implicit)" in lines


def test_discourse_roles_and_entities():
    analysis = samples.two_sentences()
    assert part(analysis, "discourse (RST)") == [
        "joint",
        "├─ nucleus  Mary called John up in Paris .",
        "└─ nucleus: causal",
        "   ├─ nucleus  They left ,",
        "   └─ satellite  as it rained .",
    ]
    assert part(analysis, "semantic roles") == [
        "[ARG0 Mary] [V:call.02 called] [ARG1 John] up [ARGM-LOC in Paris] .",
        "[ARG0 They] [V left] , [ARGM-CAU as it rained] .",
        "They left , as it [V rained] .",
    ]
    assert part(analysis, "entities") == ["[PER Mary] called [PER John] up in [LOC Paris] . They left , as it rained ."]
    assert part(samples.telescope(), "entities") == ["none"]


def test_states_and_words_alone():
    assert render(Analysis.failed("x", "it said so"), 3) == "[3] x\nfailed: it said so\n"
    bare = replace(samples.simple("a b"), dependency=None, constituency=None, status="degraded", reason="because")
    assert render(bare) == "a b\ndegraded: because\n\nwords\n  a  X     XX    a\n  b  X     XX    b\n"
    assert render(samples.simple(""), 1) == "[1] \nno words\n"


def test_control_characters_do_not_reach_the_terminal():
    assert clean("a\x1b[31mb\u202e\tc\n") == "a�[31mb� c "
    assert (width("日本"), width("é"), width("abc")) == (4, 1, 3)


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_five_thousand_words(shape):
    n = 5_000
    text = " ".join(["w"] * n)
    tokens = samples.simple(text).tokens
    heads = list(range(-1, n - 1)) if shape == "chain" else [-1, *[0] * (n - 1)]
    deep = ConstituencyTree(
        ["TOP", *["S"] * (n - 1)],
        list(range(-1, n - 1)),
        [*range(n - 1), n - 2] if shape == "chain" else [0] * n,
        [n] * n,
    )
    discourse = RstTree.from_nested([0], 0)
    analysis = Analysis(text, tokens, DependencyTree(heads, ["root", *["dep"] * (n - 1)]), deep, rst=discourse)
    assert len(render(analysis).split("\n")) > n
    assert "<pre>" in page([analysis], 1, "long")


def elements(markup):
    root = ElementTree.fromstring(markup)
    by_class = {}
    for element in root:
        by_class.setdefault(element.get("class"), []).append(element)
    return root, by_class


def words_of(by_class):
    return [e.text for e in sorted(by_class["word"], key=lambda e: float(e.get("x")))]


def test_dependency_figure():
    a = samples.telescope()
    root, found = elements(svg.dependencies(a.dependency, a.tokens, a.words, (0, 9)))
    assert words_of(found) == a.words
    assert [e.text for e in found["rel root"]] == ["root"]
    assert sorted(e.text for e in found["rel"]) == sorted(r for r in a.dependency.relation if r != "root")
    assert len(found["arc"]) == len(found["tip"]) == 8
    assert root.get("aria-label") == "dependency tree of: The girl having a telescope saw the man ."
    width_, height = float(root.get("width")), float(root.get("height"))
    for element in root.iter("text"):
        assert 0 < float(element.get("x")) < width_
        assert 0 < float(element.get("y")) < height


def test_labels_of_arcs_fit_between_their_corners():
    # three arcs come to the last word from the left, side by side, so that the shortest ends far before its middle
    tree = DependencyTree([3, 3, 3, -1], ["nsubj", "aux", "advmod", "root"])
    a = samples.simple("he did not go")
    _, found = elements(svg.dependencies(tree, a.tokens, a.words, (0, 4)))
    widths = {}
    for arc, label in zip(found["arc"], found["rel"], strict=True):
        start, end = re.match(r"M([\d.]+) .*H([\d.]+)", arc.get("d")).groups()
        widths[label.text] = abs(float(start) - float(end)) - 8  # one of the two corners is outside this part
    assert widths.keys() == {"nsubj", "aux", "advmod"}
    assert all(width_ >= svg.measure(label, 12.0) for label, width_ in widths.items())


def test_constituency_figure():
    a = samples.two_sentences()
    _, found = elements(svg.constituents(a.constituency, a.tokens, a.words, 8))
    assert words_of(found) == a.words[7:]
    assert sorted(e.text for e in found["label"]) == sorted(a.constituency.label[8:])
    assert len(found["edge"]) == 7 + 7  # to each word and to each phrase but TOP


def test_ucca_figure():
    a = samples.telescope()
    _, found = elements(svg.ucca(a.ucca, a.words, 0))
    assert words_of(found) == a.words
    assert len(found["edge remote"]) == 1
    assert [e.text for e in found["cat remote"]] == ["A"]
    assert len(found["node"]) == 15
    assert len(found["cat"]) == 14
    b = samples.two_sentences()
    _, found = elements(svg.ucca(b.ucca, b.words, 9))
    assert len(found["node implicit"]) == 1
    _, found = elements(svg.ucca(b.ucca, b.words, 0))
    # the unit "called … up" must not lie under that of "John", which stands between its words
    places = {(round(float(e.get("cx"))), round(float(e.get("cy")))) for e in found["node"]}
    assert len(places) == 9


def test_discourse_figure():
    a = samples.two_sentences()
    _, found = elements(svg.discourse(a.rst, a.words))
    assert [e.text for e in found["label start"]] == ["joint", "causal"]
    assert [e.text for e in found["word start"]] == ["Mary called John up in Paris .", "They left ,", "as it rained ."]
    assert (len(found["edge nucleus"]), len(found["edge satellite"])) == (3, 1)


HOSTILE = "</text></svg><script>document.title='broken'</script>"


def hostile():
    tokens = samples.tokens_of(HOSTILE, [HOSTILE], [0], "<b>", "<i>", "&")
    return Analysis(
        HOSTILE,
        tokens,
        DependencyTree([-1], ["<u>"]),
        ConstituencyTree(["TOP", "<S>"], [-1, 0], [0, 0], [1, 1]),
        entities=Entities([0], [1], ["<PER>"]),
        fingerprint="<f>",
    )


def test_nothing_in_a_text_becomes_markup():
    html = page([hostile()], 1, "<title>")
    assert "<script" not in html
    assert not re.search(r"<(b|i|u|S|PER|f)>(?!.*</b>)", html.split("</style>")[1].replace("<b>&lt;PER&gt;</b>", ""))


def test_a_page_says_what_it_leaves_out():
    assert "shows the first 1 of 1,000 texts" in page([samples.telescope()], 1000, "t")
    assert "shows the first" not in page([samples.telescope()], 1, "t")
    assert "Failed: it said so" in page([Analysis.failed("x", "it said so")], 1, "t")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.mark.parametrize("columns", [375, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(driver, tmp_path, columns, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    file = tmp_path / "trees.html"
    file.write_text(page([samples.telescope(), samples.two_sentences(), hostile()], 3, "Trees"), encoding="utf-8")
    set_width(driver, columns)
    driver.get(file.as_uri())
    assert driver.title == "Trees · arboreval"
    # only figures scroll, the page does not
    assert driver.execute_script("return document.documentElement.scrollWidth") == columns
    # the estimates of widths hold: no text leaves its figure, and words do not run into each other
    overflow = driver.execute_script("""
        return Array.from(document.querySelectorAll("svg")).flatMap((figure) => {
          const box = figure.getBoundingClientRect();
          return Array.from(figure.querySelectorAll("text")).filter((t) => {
            const r = t.getBoundingClientRect();
            return r.left < box.left - 1 || r.right > box.right + 1 || r.bottom > box.bottom + 1 || r.top < box.top - 1;
          }).map((t) => t.textContent);
        })""")
    assert overflow == []
    collisions = driver.execute_script("""
        return Array.from(document.querySelectorAll("svg")).flatMap((figure) => {
          const boxes = Array.from(figure.querySelectorAll("text.word"), (t) => t.getBoundingClientRect());
          return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
            a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2));
        })""")
    assert collisions == []
    # text stands out from the page
    colours = driver.execute_script("""
        const style = (selector) => getComputedStyle(document.querySelector(selector));
        return [style("body").backgroundColor, ...["word", "rel", "tag"].map((c) => style("svg ." + c).fill)]""")
    background, *texts = [luminance(c) for c in colours]
    for text in texts:
        assert (max(text, background) + 0.05) / (min(text, background) + 0.05) > 4.5
    assert console_errors(driver) == []


def luminance(colour):
    channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_page_shows_what_there_is_without_figures():
    def shown(**parts):
        html = page([replace(bare, **parts)], 1, "t")
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.split("</h2>")[1].split("</article>")[0])).strip()

    bare = replace(samples.simple("a b"), dependency=None, constituency=None)
    assert shown() == "Words a X XX a b X XX b"
    assert (
        shown(entities=Entities([], [], []), roles=Roles([], [], [], [], [], [])) == "Semantic roles none Entities none"
    )
    assert shown(entities=Entities([0], [1], ["PER"])) == "Entities PER a b"
    vectors = Vectors([[1.0, 2.0]], [0], [1], [False], [0], 7, "e")
    assert shown(vectors=vectors) == "Vectors 1 sub-words (special tokens included) of 2 dimensions, layer 7 of e"


def test_marked_words_of_another_direction_stay_with_their_label(driver, tmp_path):
    a = samples.simple("שלום said , مرحبا left")
    file = tmp_path / "directions.html"
    roles = Roles([4], [""], [0], [3], [4], ["ARG0"])
    file.write_text(page([replace(a, dependency=None, constituency=None, roles=roles)], 1, "t"), encoding="utf-8")
    driver.get(file.as_uri())
    mark, label, rects = driver.execute_script("""
        const mark = document.querySelector("mark");
        const box = (e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().right];
        return [box(mark), box(mark.querySelector("b")), mark.getClientRects().length]""")
    assert rects == 1
    # the sentence begins with Hebrew and runs to the left, and so does what is marked in it: the label stands first
    assert mark[1] - label[1] < 8 < label[0] - mark[0]


def test_tokens_without_structures_make_an_empty_page():
    assert 'class="figure"' not in page([Analysis("", Tokens.empty())], 1, "t")
