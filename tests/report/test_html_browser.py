"""The HTML report as its readers use it, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium, console_errors, set_width

import arboreval
from arboreval.report.model import Report

BREAKOUT = "</script><script>document.title='broken'</script><!-- <b>x</b>"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def visit(driver: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a report; whatever a test did, the page must not have logged an error."""

    def visit(report: Report, fragment: str = "", width: int = 1200) -> Any:
        file = tmp_path / "report.html"
        file.write_text(report.render("html"), encoding="utf-8")
        set_width(driver, width)
        driver.get(file.as_uri() + fragment)
        return driver

    yield visit
    assert console_errors(driver) == []


@pytest.fixture(scope="module")
def report(demo: Any) -> Report:
    sources = demo.lines("source.de.txt")
    return arboreval.compare(demo.systems, demo.references, sources=sources, metrics=["bleu", "ter", "bleu-star"])


def find(driver: Any, selector: str) -> list[Any]:
    return driver.find_elements("css selector", selector)


def texts(driver: Any, selector: str) -> list[str]:
    return driver.execute_script(
        "return Array.from(document.querySelectorAll(arguments[0]), (e) => e.textContent)", selector
    )


def shown(driver: Any) -> list[str]:
    return texts(driver, ".card h3 a")


def choose(driver: Any, control: str, label: str) -> None:
    (option,) = [o for o in find(driver, f"#{control} option") if o.text.strip() == label]
    option.click()


def by_score(report: Report, system: str, metric: str, *, highest_first: bool = False) -> list[str]:
    """Segment ids as they must be listed; equal scores stay in the order of the file."""
    values = report.segment_scores(system)[metric]
    order = sorted(range(len(values)), key=lambda i: -values[i] if highest_first else values[i])  # type: ignore[operator]
    return [str(report.corpus.segment_ids[i]) for i in order]


def test_lists_the_worst_outputs_first(visit: Callable[..., Any], report: Report) -> None:
    driver = visit(report)
    assert texts(driver, "#metric option") == ["bleu (higher is better)", "ter (lower is better)"]
    assert shown(driver) == by_score(report, "amber", "bleu")[:20]
    choose(driver, "system", "cedar")
    assert shown(driver) == by_score(report, "cedar", "bleu")[:20]
    choose(driver, "metric", "ter (lower is better)")
    assert shown(driver) == by_score(report, "cedar", "ter", highest_first=True)[:20]
    worst = max(x for x in report.segment_scores("cedar")["ter"] if x is not None)
    (chosen,) = texts(driver, ".card:first-child .row:last-child .chosen")
    assert chosen == f"ter ↓{worst:.2f}"


def test_lists_the_largest_differences_first(visit: Callable[..., Any], report: Report) -> None:
    driver = visit(report)
    choose(driver, "order", "largest difference")
    choose(driver, "other", "cedar")
    a, b = (report.segment_scores(name)["bleu"] for name in ("amber", "cedar"))
    differences = [x - y for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    largest = max(range(40), key=lambda i: abs(differences[i]))
    assert shown(driver)[0] == str(largest + 1)
    assert texts(driver, ".card:first-child header span") == [f"amber − cedar: {differences[largest]:+.2f} bleu"]


def test_pages_through_the_file(visit: Callable[..., Any], report: Report) -> None:
    driver = visit(report)
    choose(driver, "order", "as in the file")
    assert shown(driver) == [str(i) for i in range(1, 21)]
    previous, following = find(driver, ".pager button")[:2]
    assert not previous.is_enabled()
    following.click()
    assert shown(driver) == [str(i) for i in range(21, 41)]
    assert texts(driver, "#count") == ["21 to 40 of 40 segments"]
    assert previous.is_enabled()
    assert not following.is_enabled()


def test_search_narrows_the_list(visit: Callable[..., Any], report: Report) -> None:
    driver = visit(report)
    (field,) = find(driver, "#filter")
    field.send_keys("BINOCULARS")
    assert shown(driver) == ["3"]
    assert texts(driver, "#count") == ["1 to 1 of 1 segment"]
    field.send_keys(" nowhere")
    assert shown(driver) == []
    assert texts(driver, "#count") == ["No segment matches."]


def test_systems_can_be_hidden(visit: Callable[..., Any], report: Report) -> None:
    driver = visit(report)
    find(driver, "#shown input")[1].click()
    assert texts(driver, ".card:first-child .output > :first-child") == ["amber", "cedar"]


@pytest.mark.parametrize(
    ("output", "references", "lang", "html"),
    [
        ("the black cat sat.", ["the cat sat down."], "en", "the <ins>black</ins> cat sat <del>down</del>."),
        ("a dog ran", ["the cat sat", "a dog runs"], "en", "a dog <del>runs</del> <ins>ran</ins>"),  # the closest one
        ("the same", ["the same"], "en", "the same"),
        ("one", ["two"], "en", "<del>two</del> <ins>one</ins>"),
        ("我喜欢猫", ["我喜欢狗"], "zh", "我喜欢<del>狗</del><ins>猫</ins>"),
    ],
)
def test_marks_the_words_that_differ(
    visit: Callable[..., Any], output: str, references: list[str], lang: str, html: str
) -> None:
    driver = visit(arboreval.score([output], [references], metrics=["chrf"], lang=lang))
    (paragraph,) = find(driver, ".output p")
    assert paragraph.get_attribute("innerHTML") == html
    assert (paragraph.get_attribute("lang"), paragraph.get_attribute("dir")) == (lang, "auto")


def test_arabic_runs_from_right_to_left(visit: Callable[..., Any]) -> None:
    driver = visit(arboreval.score(["مرحبا"], ["مرحبا بالعالم"], metrics=["chrf"], lang="ar"))
    assert driver.execute_script("return getComputedStyle(document.querySelector('.output p')).direction") == "rtl"


def test_link_opens_its_segment(visit: Callable[..., Any], report: Report) -> None:
    last = by_score(report, "amber", "bleu")[-1]
    driver = visit(report, f"#seg-{last}")
    assert last in shown(driver)
    assert texts(driver, ".card.linked h3 a") == [last]
    top = driver.execute_script("return document.querySelector('.linked').getBoundingClientRect().top")
    assert 0 <= top < 800
    find(driver, "#filter")[0].send_keys("binoculars")
    driver.execute_script("location.hash = '#seg-12'")
    assert texts(driver, ".card.linked h3 a") == ["12"]  # the search that hid it is cleared


def test_odd_addresses_do_no_harm(visit: Callable[..., Any], report: Report) -> None:
    assert len(shown(visit(report, "#seg-%"))) == 20


def test_reasons_stand_where_a_score_is_missing(visit: Callable[..., Any]) -> None:
    driver = visit(arboreval.score(["a b", "c d"], [["a b"], None], metrics=["bleu"]), "#seg-2")
    assert texts(driver, ".linked .segment-scores") == ["bleu ↑: no score (failed: the segment has no reference)"]
    assert shown(driver) == ["1", "2"]  # without a score comes last


def test_text_stays_text(visit: Callable[..., Any]) -> None:
    name = "<b>&\"quotes'"
    driver = visit(arboreval.compare({name: [BREAKOUT], "b": [""]}, [[BREAKOUT]], metrics=["chrf"]))
    assert driver.title == "Comparison of 2 systems · arboreval"
    assert texts(driver, ".output p") == [BREAKOUT, "no output"]
    assert texts(driver, ".output > :first-child") == [name, "b"]
    assert find(driver, ".card b") == []


def test_pairs_can_be_sorted(visit: Callable[..., Any], report: Report) -> None:
    driver = visit(report)
    differences = [f"{x:+.2f}" for x in sorted(c.difference for c in report.comparisons if c.metric == "bleu")]
    selector = "#pairs .pair:nth-of-type(1) .pairs"
    head = find(driver, f"{selector} th:nth-child(2) button")[0]
    head.click()
    assert texts(driver, f"{selector} tbody .score") == differences
    head.click()
    assert texts(driver, f"{selector} tbody .score") == differences[::-1]


@pytest.mark.parametrize("width", [375, 1400])
def test_nothing_runs_out_of_the_page(visit: Callable[..., Any], report: Report, width: int) -> None:
    long = "Rindfleischetikettierungsüberwachung" * 8
    other = arboreval.compare({long: [long], "b": ["x"]}, [[long]], metrics=["chrf"], sources=[long])
    for each in (report, other):
        driver = visit(each, width=width)
        driver.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert driver.execute_script("return document.documentElement.scrollWidth") == width


def test_tables_are_there_without_javascript(visit: Callable[..., Any], report: Report, driver: Any) -> None:
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        visit(report)
        assert find(driver, "#scores .scores tbody .score")[0].text == "57.73"
        assert not find(driver, "#explorer")[0].is_displayed()
        assert "needs JavaScript" in find(driver, "noscript")[0].text
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
