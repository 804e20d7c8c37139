"""The HTML report as a file: what it holds, and what it must never hold."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from lxml import html as lxml_html

import arboreval
from arboreval.report import html
from arboreval.report.html import Axis
from arboreval.report.model import Report, System
from arboreval.report.text import decimals

EVIL = "<b>&\"quotes'</b>"
BREAKOUT = "</script><script>document.title='broken'</script> <!-- <script> ]]> \u2028 &lt;"


@pytest.fixture(scope="module")
def report(demo: Any) -> Report:
    sources = demo.lines("source.de.txt")
    metrics = ["bleu", "ter", "rouge-l", "bleu-star"]
    return arboreval.compare(demo.systems, demo.references, sources=sources, metrics=metrics, lang="de-en")


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return report.render("html")


def explorer_data(page: str) -> Any:
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(block)


def cells(page: str, table: str) -> list[list[str]]:
    """The rows of all tables of a class, as text."""
    rows = lxml_html.fromstring(page).xpath(f"//table[contains(@class, '{table}')]/tbody/tr")
    return [[" ".join(cell.text_content().split()) for cell in row.xpath("th|td")] for row in rows]


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_needs_nothing_but_itself(page: str) -> None:
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert "url(" not in page
    for tag, attributes in Tags(page).found:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert "default-src 'none'" in page


def test_is_the_same_every_time(report: Report, page: str) -> None:
    assert report.render("html") == page


def test_prints_the_scores_of_the_model(report: Report, page: str) -> None:
    rows = iter(cells(page, "scores"))
    for metric in report.metrics:
        for system in report.ranked(metric):
            score = system.scores[metric]
            assert score.ci is not None
            digits = decimals(score)
            value, low, high = (f"{x:.{digits}f}" for x in (score.value, *score.ci))
            rank, name, number, _plot, n = next(rows)
            assert (rank, name, number, n) == (str(score.rank), system.name, f"{value} {low} to {high}", "40")
    assert next(rows, None) is None
    for row, system in zip(cells(page, "overview"), report.systems, strict=True):
        assert row == [system.name, *(f"{s.value:.{decimals(s)}f}" for s in system.scores.values())]


def test_prints_the_comparisons_of_the_model(report: Report, page: str) -> None:
    for row, c in zip(cells(page, "pairs"), report.comparisons, strict=True):
        digits = decimals(report.systems[0].scores[c.metric])
        assert c.ci is not None
        assert row[0] == f"{c.a} against {c.b}"
        assert row[1] == f"{c.difference:+.{digits}f} {c.ci[0]:+.{digits}f} to {c.ci[1]:+.{digits}f}"
        assert row[3:5] == [f"{c.p_bootstrap_holm:.4f}", f"{c.p_ar_holm:.4f}"]
        assert row[5] == (f"{c.winner} is better" if c.winner else "no significant difference")
    assert {c.winner for c in report.comparisons} == {"amber", "birch", None}  # both verdicts were seen


def test_win_matrix_has_symbol_and_difference(report: Report, page: str) -> None:
    bleu = {(c.a, c.b): c.difference for c in report.comparisons if c.metric == "bleu"}
    # worked from the demo's design: amber and birch beat cedar; between them nothing is significant
    assert cells(page, "matrix")[:3] == [
        ["amber", "", f"= {bleu['amber', 'birch']:+.2f}", f"> {bleu['amber', 'cedar']:+.2f}"],
        ["birch", f"= {-bleu['amber', 'birch']:+.2f}", "", f"> {bleu['birch', 'cedar']:+.2f}"],
        ["cedar", f"< {-bleu['amber', 'cedar']:+.2f}", f"< {-bleu['birch', 'cedar']:+.2f}", ""],
    ]


def test_states_directions_signatures_and_remarks(report: Report, page: str) -> None:
    text = unescape(page)
    assert text.count("<small>lower is better</small>") == 2  # TER, under scores and under pairs
    for score in report.systems[0].scores.values():
        assert score.signature in text
        assert (score.segment_signature or "") in text
    (remark,) = report.input.remarks()
    assert remark in text


def test_explorer_has_the_texts_and_segment_scores(report: Report, page: str) -> None:
    data = explorer_data(page)
    assert data["systems"] == ["amber", "birch", "cedar"]
    assert [m["name"] for m in data["metrics"]] == ["bleu", "ter", "rouge-l"]  # bleu-star has no segment level
    assert (data["lang"], data["sourceLang"], len(data["segments"])) == ("en", "de", 40)
    segment = data["segments"][36]
    assert segment["id"] == "37"
    assert segment["outputs"] == [texts[36] for texts in report.corpus.systems.values()]
    assert tuple(segment["refs"]) == report.corpus.references[36]
    expected = [[values[36] for values in report.segment_scores(s.name).values()] for s in report.systems]
    assert segment["scores"] == [pytest.approx(row, abs=1e-6) for row in expected]


def test_no_text_or_name_becomes_markup(report: Report) -> None:
    evil = arboreval.compare({EVIL: [BREAKOUT, "a b"], "b": [EVIL, "a"]}, [[BREAKOUT], ["a b"]], sources=[EVIL, "x"])
    page = evil.render("html")
    tags = [tag for tag, _ in Tags(page).found]
    assert tags.count("script") == 2  # the data and our own
    assert page.count("<!--") == 0
    assert EVIL not in page
    assert EVIL in unescape(page)
    data = explorer_data(page)
    assert data["systems"] == [EVIL, "b"]
    assert data["segments"][0]["outputs"] == [BREAKOUT, EVIL]
    assert data["segments"][0]["source"] == EVIL


def test_failed_segments_are_named_and_linked() -> None:
    page = arboreval.score(["a b", "c d"], [["a b"], None], metrics=["bleu"]).render("html")
    text = unescape(page)
    assert "Segments without a score: 1" in text
    assert '<a href="#seg-2">2</a></td><td>the segment has no reference</td>' in page
    assert "references: 1 of 2 segments have no reference and cannot be scored" in text
    assert cells(page, "scores")[0][-2:] == ["1", "1"]  # n, failed
    assert explorer_data(page)["segments"][1]["problems"] == [[0, 0, "failed", "the segment has no reference"]]
    assert explorer_data(page)["segments"][1]["scores"] == [[None]]


def test_many_failures_are_counted_not_listed() -> None:
    page = arboreval.score(["a"] * 103, [["a"], *[None] * 102], metrics=["bleu"]).render("html")
    assert page.count("<td>the segment has no reference</td>") == 100
    assert "2 more; <code>--format json</code> lists all." in page


def test_a_metric_without_a_value() -> None:
    page = arboreval.compare({"x": ["a"], "y": ["b"]}, [None]).render("html")
    assert [row[2] for row in cells(page, "scores")] == ["–"] * 6
    assert cells(page, "pairs") == []


def test_a_score_that_is_not_a_number(report: Report) -> None:
    scores = {name: replace(score, value=math.nan) for name, score in report.systems[0].scores.items()}
    page = replace(report, systems=(System("amber", scores), *report.systems[1:])).render("html")
    assert [row[2].split()[0] for row in cells(page, "scores") if row[1] == "amber"] == ["–"] * 4
    assert "nan" not in re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)


@pytest.mark.parametrize("outputs", [{"s": [""]}, {"s": ["x"], "t": [""]}])
def test_one_segment_and_empty_output(outputs: dict[str, list[str]]) -> None:
    assert len(explorer_data(arboreval.score(outputs, [["a b"]]).render("html"))["segments"]) == 1


def test_text_that_utf8_cannot_hold_does_not_lose_the_report() -> None:
    arboreval.score(["a \ud800"], [["a"]], metrics=["chrf"]).render("html").encode()


def test_embeds_where_systems_differ_most() -> None:
    assert html.MAX_SEGMENTS == 2_000
    references = [[f"a b c d {i}"] for i in range(2_010)]
    good = [refs[0] for refs in references]
    page = arboreval.compare({"x": good, "y": ["z" if i >= 10 else t for i, t in enumerate(good)]}, references,
                             metrics=["bleu"]).render("html")  # fmt: skip
    segments = explorer_data(page)["segments"]
    assert [s["id"] for s in segments] == [str(i) for i in range(11, 2_011)]  # in the order of the file
    assert "2,000 of 2,010 segments: those on which the systems differ most by bleu." in page


@pytest.mark.parametrize(("metric", "kept"), [("bleu", ["2", "4"]), ("ter", ["2", "4"])])
def test_embeds_the_worst_of_one_system(metric: str, kept: list[str]) -> None:
    report = arboreval.score(["a b c d", "x", "a b c d", "a y y y"], [["a b c d"]] * 4, metrics=[metric])
    assert [str(report.corpus.segment_ids[i]) for i in html._choose(report, 2)] == kept


def test_segments_of_several_documents_have_links_of_their_own() -> None:
    report = arboreval.score(["a", "b"], ["a", "b"], metrics=["bleu"])
    object.__setattr__(report.corpus, "segment_ids", [1, 1])
    object.__setattr__(report.corpus, "documents", ["d1", "d2"])
    segments = explorer_data(report.render("html"))["segments"]
    assert [(s["id"], s["doc"], s["anchor"]) for s in segments] == [("1", "d1", "seg-1"), ("1", "d2", "seg-2")]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([47.5, 67.6, 18.4], ["0", "20", "40", "60", "80"]),
        ([0.48, 0.78], ["0.4", "0.5", "0.6", "0.7", "0.8"]),
        ([-8.4, 26.0], ["-10", "0", "10", "20", "30"]),
        ([100.0, 100.0], ["100", "105"]),
        ([47.916666666666664, 47.91666666666667], ["46", "48"]),
        ([0.0], ["0.00", "0.05"]),
    ],
)
def test_axes_end_at_round_numbers_around_all_values(values: list[float], labels: list[str]) -> None:
    axis = Axis.around(values)
    assert axis is not None
    assert [label for _, label in axis.ticks] == labels
    assert all(axis.low <= value <= axis.high for value in values)
    assert (axis.ticks[0][0], axis.ticks[-1][0]) == ("4.00%", "96.00%")


def test_no_axis_without_values() -> None:
    assert Axis.around([float("nan")]) is None
