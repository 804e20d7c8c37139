"""Explanations as text, JSON and HTML, and the evidence that a report holds."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from math import sqrt

import jsonschema
import numpy as np
import pytest
from lxml import html as lxml_html
from telescopes import BY, HAVING, OTHER, SOURCE, explained, metric

import arboreval
from arboreval.analysis.source import AnalysisSource
from arboreval.errors import UsageError
from arboreval.metrics.bertscore import BertScore
from arboreval.report import explain_report
from arboreval.report.explain_svg import draw
from arboreval.report.trees.text import width

from hand_analyses import HandMade, analysis  # isort: skip  # telescopes says where it is

EVIL = ["</script><script>document.title='broken'</script>", "<b>\"&'", "\u202eevil\u2066", "a\ud800", "]]>", "<!--"]
HOSTILE = analysis(
    EVIL,
    np.eye(9)[:6],
    heads=[-1, 0, 1, 2, 3, 4],
    relations=["<i>", *["dep"] * 5],
    tree=[("TOP", -1, 0, 6), ("<NP onload='x'>", 0, 0, 6), ("VP", 1, 1, 3)],
    xpos=['"><b>'] * 6,
)


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def check_page(page):
    """Nothing from elsewhere, no handlers, and no script but our own."""
    for tag, attributes in Tags(page).found:
        assert tag not in ("link", "img", "iframe", "object", "base", "b>")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in page
    assert "https://" not in page
    assert "<!--" not in page
    assert "default-src 'none'" in page


# --- text ----------------------------------------------------------------------------------------------------------


def test_text():
    printed = explained(filter="label").render()
    # 9 of the 13 subtrees of the output, and of the 14 of the reference, are found whole
    p, r = (9 + 5 / 6 + 7 / 8) / 13, (9 + 5 / 6 + 7 / 8 + 2 / sqrt(18) + 2 / sqrt(10)) / 14
    assert printed.startswith(f"""\
segment 1: structure-alignment:filter=label:leaves=word {2 * p * r / (p + r):.4f}  (P {p:.4f}, R {r:.4f})
  output     I saw a girl by a telescope .
  reference  I saw a girl having a telescope .

  output: 13 subtrees, 2 found nothing; the 10 weakest
  similarity     costs  subtree                                found
           -    0.0769  IN     by                              nothing with 'IN'
           -    0.0769  PP     by a telescope                  nothing with 'PP'
       0.833    0.0128  VP     saw a girl by a telescope       VP     saw a girl having a telescope
       0.875    0.0096  S      I saw a girl by a telescope .   S      I saw a girl ha… a telescope .
       1.000    0.0000  NP     I                               NP     I
       1.000    0.0000  VBD    saw                             VBD    saw
""")
    assert max(map(len, printed.split("\n")[:-2])) <= 100
    assert printed.split("\n")[-2] == explained(filter="label").signature


def test_text_of_several_references_and_of_failures():
    printed = arboreval.explain(BY.text, [OTHER.text, HAVING.text], metric=metric(tree="dep", refs="mean")).render()
    assert re.search(r"  reference  I saw nothing  \(number 1 of 2\)  0\.\d{4} \(P 0\.\d{4}, R 0\.\d{4}\)", printed)
    assert "  reference  I saw a girl having a telescope .  (number 2 of 2)  0.88" in printed
    printed = arboreval.explain([BY.text, "?"], [HAVING.text] * 2, metric=metric(), segments=[2]).render()
    assert printed.startswith(
        "segment 2: structure-alignment:leaves=word no score\n"
        "  failed: hypothesis: not analysed: it is not known\n"
        "  output     ?\n"
        "  reference  I saw a girl having a telescope .\n"
    )
    assert "1 of 2 segments; --seg chooses others.\n" in printed


def test_text_keeps_to_a_hundred_columns_and_has_no_control_characters():
    words = ["wide" * 30, "字" * 40, "x\u202ey", "\x1b[31m", "e\u0301" * 50]
    wide = analysis(words, [[1.0, i] for i in range(5)], tree=[("TOP", -1, 0, 5), ("S", 0, 0, 5)], xpos=["LONGTAG"] * 5)
    made = arboreval.explain(wide.text, wide.text, metric=metric_of(wide))
    lines = made.render().split("\n")
    (start,) = (i for i, line in enumerate(lines) if line.startswith("  output: "))
    assert max(width(line) for line in lines[start:-2]) == 100
    assert not set("\x1b\u202e") & set("\n".join(lines))


def metric_of(*analyses, **options):
    made = metric(**options)
    return type(made)(using=AnalysisSource(HandMade(*analyses)), leaves="word", **options)


# --- JSON ----------------------------------------------------------------------------------------------------------

SCHEMA = json.loads(files("arboreval.report").joinpath("explain_schema.json").read_text())


@pytest.mark.parametrize("options", [{}, {"tree": "dep", "filter": "head"}, {"refs": "mean"}])
def test_json_follows_the_schema_and_is_the_model(options):
    made = arboreval.explain([BY.text, "?"], [[OTHER.text, HAVING.text]] * 2, metric=metric(**options))
    read = json.loads(made.render("json"))
    jsonschema.validate(read, SCHEMA)
    output, failed = read["outputs"]
    assert (failed["score"], failed["pairs"], failed["status"]) == (None, [], "failed")
    for pair, entry in zip(made.outputs[0].pairs, output["pairs"], strict=True):
        for side, score in (("hypothesis", "precision"), ("reference", "recall")):
            parts = entry["sides"][side]["parts"]
            assert sum(part["contribution"] for part in parts) == pytest.approx(entry[score], abs=1e-9)
            assert [part["text"] for part in parts] == [part.text for part in getattr(pair.evidence, side).parts]
        words = [BY.text[i:j] for i, j in entry["sides"]["hypothesis"]["words"]]
        assert words == BY.words


def test_unknown_format():
    with pytest.raises(UsageError, match="unknown format 'pdf': choose one of text, json, html"):
        explained().render("pdf")


# --- HTML ----------------------------------------------------------------------------------------------------------


def marks(page, side):
    """Every mark of a side: its parts, its class, and what is written on it."""
    found = lxml_html.fromstring(page).xpath(f"//*[@class='side'][@data-s='{side}']//*[@data-p]")
    return [(m.get("data-p"), m.get("class").split()[1], m.text_content()) for m in found]


def test_figure_of_constituents():
    page = explained().render("html")
    check_page(page)
    assert page == explained().render("html")
    evidence = explained().outputs[0].pairs[0].evidence
    for number, side in enumerate((evidence.hypothesis, evidence.reference)):
        drawn = marks(page, number)
        assert {p for p, _, _ in drawn} == set(map(str, range(len(side.parts))))
        assert [label for p, _, label in drawn if side.parts[int(p)].kind == "span"].count("NP") == (
            2 if number == 0 else 3
        )
        for p, grade, _ in drawn:
            similarity = side.parts[int(p)].similarity
            assert grade == ("none" if similarity < 0.5 else f"q{sum(similarity >= s for s in (0.5, 0.65, 0.8, 0.9))}")
    # a link between the words that found each other: all but by and having
    (svg,) = lxml_html.fromstring(page).xpath("//div[@class='figure']/svg")
    assert [link.get("class") for link in svg.xpath(".//*[@class='links']/path")] == ["link q4"] * 7


def test_figure_of_dependencies():
    evidence = metric(tree="dep").evidence(BY, HAVING)
    page = draw(evidence)
    assert page is not None
    texts = [part.text for part in evidence.reference.parts]
    by_label = {label: p.split() for p, _, label in marks(f"<div>{page}</div>", 1) if label}
    assert [texts[int(p)] for p in by_label["obj"]] == ["a girl having a telescope"]
    arcs = [[texts[int(i)] for i in p.split()] for p, _, label in marks(f"<div>{page}</div>", 1) if not label]
    # the arc from saw to girl is the start of two paths, the weakest of which comes first
    assert ["saw → girl → having → telescope → a", "saw → girl → a"] in arcs
    assert ["girl → having → telescope → a"] in arcs


def test_lists_name_what_was_found():
    page = lxml_html.fromstring(explained(filter="label").render("html"))
    rows = [
        [" ".join(cell.text_content().split()) for cell in row.xpath("td")]
        for row in page.xpath("//div[@class='weakest']/div[@data-s='0']//tbody/tr")
    ]
    assert rows[:3] == [
        ["–", "0.0769", "IN by", "nothing with IN"],
        ["–", "0.0769", "PP by a telescope", "nothing with PP"],
        ["0.833", "0.0128", "VP saw a girl by a telescope", "VP saw a girl having a telescope"],
    ]
    (heading,) = page.xpath("//div[@data-s='0']/h4")
    assert " ".join(heading.text_content().split()) == "Weakest subtrees of the output 8 of 13"


@pytest.mark.parametrize("options", [{}, {"tree": "dep"}, {"filter": "label"}, {"filter": "head", "tree": "dep"}])
def test_no_text_becomes_markup(options):
    made = arboreval.explain(
        {"<b>": [HOSTILE.text], "b": [BY.text]}, [HOSTILE.text], metric=metric_of(HOSTILE, BY, **options)
    )
    page = made.render("html")
    page.encode()
    check_page(page)
    tags = [tag for tag, _ in Tags(page).found]
    assert tags.count("script") == 3  # the data of two figures, and our own
    assert tags.count("b") == 2  # the two scores
    assert EVIL[1] in unescape(page)
    report = arboreval.compare(
        {"<b>": [HOSTILE.text], "b": [BY.text]}, [HOSTILE.text], metrics=[metric_of(HOSTILE, BY, **options)]
    )
    page = report.render("html")
    check_page(page)
    assert [tag for tag, _ in Tags(page).found].count("script") == 4  # of two figures, the explorer's, and our own
    made.render("text").encode()
    made.render("json").encode("utf-8", "replace")


def test_texts_that_are_too_long_for_a_figure_have_lists():
    n = 251
    long = analysis(["w"] * n, [[1.0, i] for i in range(n)], tree=[("TOP", -1, 0, n)], xpos=["NN"] * n)
    page = arboreval.explain(long.text, long.text, metric=metric_of(long)).render("html")
    assert "The texts are too long for a figure." in page
    assert '<svg width="16"' in page  # the legend's
    assert page.count('<tr class="q4">') == 16


def test_a_page_has_a_limited_number_of_outputs(monkeypatch):
    monkeypatch.setattr("arboreval.report.explain_html.MAX_OUTPUTS", 2)
    page = arboreval.explain([BY.text] * 3, [HAVING.text] * 3, metric=metric()).render("html")
    assert page.count("<article") == 2
    assert "This page shows the first 2 of 3 outputs." in page


# --- in a report ---------------------------------------------------------------------------------------------------

SYSTEMS = {"good": [HAVING.text] * 30, "mixed": [BY.text] * 15 + [HAVING.text] * 15, "bad": [OTHER.text] * 30}


def explorer_data(page):
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(block)


def test_a_report_holds_the_most_telling_evidence():
    report = arboreval.compare(SYSTEMS, [HAVING.text] * 30, metrics=["chrf", metric(), metric(tree="dep")])
    before = len(SOURCE.analyzer.asked)
    page = report.render("html")
    assert len(SOURCE.analyzer.asked) - before == 6  # three texts for each metric
    check_page(page)
    segments = explorer_data(page)["segments"]
    held = [(system, m, i) for i, segment in enumerate(segments) for system, m, _ in segment["evidence"]]
    assert len(held) == explain_report.MAX_OUTPUTS == 60
    assert {m for _, m, _ in held} == {1, 2}
    assert {(system, i) for system, m, i in held if m == 1 and system == 1} <= {(1, i) for i in range(25)}
    templates = lxml_html.fromstring(page).xpath("//template/@id")
    numbers = sorted(n for segment in segments for _, _, n in segment["evidence"])
    assert [f"evidence-{n}" for n in numbers] == templates
    assert "For 60 outputs below" in page
    # the output that an entry names is the one in its template
    mixed = next(n for system, m, n in segments[0]["evidence"] if (system, m) == (1, 1))
    (template,) = lxml_html.fromstring(page).xpath(f"//template[@id='evidence-{mixed}']")
    assert "by a telescope" in template.text_content()


def test_nothing_is_analysed_for_other_formats_and_metrics():
    report = arboreval.score([BY.text], [HAVING.text], metrics=[metric()])
    before = len(SOURCE.analyzer.asked)
    for format_ in ("text", "json", "tsv", "latex"):
        report.render(format_)
    assert len(SOURCE.analyzer.asked) == before
    page = arboreval.score([BY.text], [HAVING.text], metrics=["chrf"]).render("html")
    assert "evidence-0" not in page
    assert "liven(document)" not in page
    assert explorer_data(page)["segments"][0]["evidence"] == []


def test_a_report_stays_small(monkeypatch):
    report = arboreval.compare(SYSTEMS, [HAVING.text] * 30, metrics=[metric()])
    one = explain_report.embedded(report, [0])[0].size
    monkeypatch.setattr(explain_report, "MAX_SIZE", 3 * one + 10)
    sizes = [entry.size for entry in explain_report.embedded(report, range(30))]
    assert sum(sizes) <= 3 * one + 10
    assert len(sizes) >= 3


def test_a_report_with_several_references_says_which():
    references = [[OTHER.text, HAVING.text]] * 2
    page = arboreval.score([BY.text] * 2, references, metrics=[metric()]).render("html")
    assert page.count("Beside reference 2, which gave the score.") == 2
    page = arboreval.score([BY.text] * 2, references, metrics=[metric(refs="mean")]).render("html")
    assert [page.count(f"Beside reference {n}.") for n in (1, 2)] == [2, 2]


def test_bertscore_is_drawn_without_trees():
    made = arboreval.explain(BY.text, HAVING.text, metric=BertScore(using=SOURCE))
    page = made.render("html")
    assert "sub-words of the output" in page
    assert [label for _, _, label in marks(page, 0)] == [""] * 8
    assert 'class="edge"' not in page
