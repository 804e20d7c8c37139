"""Evidence as its readers use it, in a real browser."""

from __future__ import annotations

import pytest
from browser import chromium, console_errors, set_width
from telescopes import BY, HAVING, OTHER, explained, metric

import arboreval


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def visit(driver, tmp_path):
    """Opens a page; whatever a test did, the page must not have logged an error."""

    def visit(made, width=1200):
        file = tmp_path / "page.html"
        file.write_text(made.render("html"), encoding="utf-8")
        set_width(driver, width)
        driver.get(file.as_uri())
        return driver

    yield visit
    assert console_errors(driver) == []


def find(driver, selector):
    return driver.find_elements("css selector", selector)


def point_at(driver, element):
    from selenium.webdriver import ActionChains

    ActionChains(driver).move_to_element(element).perform()


def mark(driver, side, text):
    """The mark whose spoken name begins with a text."""
    name = ("output: ", "reference: ")[side] + text
    return next(
        m for m in find(driver, f".side[data-s='{side}'] .mark") if m.get_attribute("aria-label").startswith(name)
    )


def panel(driver):
    return find(driver, ".panel")[0].text


def lit_words(driver, side):
    return [word.text for word in find(driver, f".side[data-s='{side}'] .w.on")]


def lit_marks(driver, side):
    return [m.get_attribute("aria-label").split(" ↔ ")[0] for m in find(driver, f".side[data-s='{side}'] .mark.on")]


def test_pointing_at_a_subtree_shows_its_partner(visit):
    driver = visit(explained())
    point_at(driver, mark(driver, 1, "NP a girl having"))
    assert lit_words(driver, 1) == ["a", "girl", "having", "a", "telescope"]
    assert lit_words(driver, 0) == ["saw", "a", "girl", "by", "a", "telescope"]
    assert lit_marks(driver, 0) == ["output: VP saw a girl by a telescope"]
    assert lit_marks(driver, 1) == ["reference: NP a girl having a telescope"]
    assert panel(driver) == (
        "reference: NP a girl having a telescope ↔ VP saw a girl by a telescope · similarity 0.730 · "
        "costs 0.0193 of recall"
    )
    assert len(find(driver, ".over path")) == 1
    point_at(driver, find(driver, "h1")[0])
    assert panel(driver) == "Point at a mark to see what it was matched with."
    assert lit_words(driver, 0) == lit_words(driver, 1) == []
    assert find(driver, ".over path") == []


def test_a_part_without_a_partner(visit):
    driver = visit(explained(filter="label"))
    phrase = mark(driver, 0, "PP by a telescope")
    assert "none" in phrase.get_attribute("class")
    assert len(phrase.find_elements("css selector", ".cross")) == 1  # not by colour alone
    point_at(driver, phrase)
    assert (
        panel(driver) == "output: PP by a telescope found nothing with PP in the reference. · costs 0.0769 of precision"
    )
    assert lit_words(driver, 0) == ["by", "a", "telescope"]
    assert lit_words(driver, 1) == []


def test_a_click_keeps_and_escape_lets_go(visit):
    from selenium.webdriver import Keys

    driver = visit(explained())
    phrase = mark(driver, 0, "PP by a telescope")
    phrase.click()
    point_at(driver, find(driver, "h1")[0])
    assert lit_words(driver, 0) == ["by", "a", "telescope"]
    driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert lit_words(driver, 0) == []
    find(driver, ".weakest [data-s='0'] button")[0].click()
    assert lit_words(driver, 0) == ["by"]
    assert [row.text.split()[2] for row in find(driver, "tr.chosen")] == ["IN"]


def test_keyboard(visit):
    from selenium.webdriver import Keys

    driver = visit(explained())
    marks = find(driver, ".side[data-s='0'] .mark")
    assert [m.get_attribute("tabindex") for m in marks] == ["0", *["-1"] * (len(marks) - 1)]
    assert {m.get_attribute("role") for m in marks} == {"button"}
    driver.execute_script("arguments[0].focus()", marks[0])
    first = panel(driver)
    driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert driver.switch_to.active_element == marks[1]
    assert panel(driver) != first
    driver.switch_to.active_element.send_keys(Keys.ARROW_UP)
    assert panel(driver) == first
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    driver.execute_script("document.activeElement.blur()")
    assert panel(driver) == first


def test_an_arc_of_several_paths_shows_one_after_the_other(visit):
    driver = visit(explained(tree="dep"))
    arc = mark(driver, 1, "root saw → girl → having")
    driver.execute_script("arguments[0].focus()", arc)
    assert "saw → girl → having → telescope → a ↔" in panel(driver)
    assert "the weakest of 2 here" in panel(driver)
    arc.send_keys(" ")
    arc.send_keys(" ")
    assert panel(driver).startswith("reference: root saw → girl → a ↔ root saw → girl → a")


def test_all_parts_can_be_listed(visit):
    driver = visit(explained())
    rows = ".weakest [data-s='1'] tbody tr"
    assert len(find(driver, rows)) == 8
    (more,) = find(driver, ".weakest [data-s='1'] .more")
    assert more.text == "Show all 14"
    more.click()
    assert len(find(driver, rows)) == 14
    similarities = [float(row.text.split()[0].replace("–", "-1")) for row in find(driver, rows)]
    assert similarities == sorted(similarities)
    find(driver, f"{rows} button")[-1].click()
    assert lit_words(driver, 1) == ["a", "telescope"]


@pytest.mark.parametrize("width", [375, 800, 1400])
@pytest.mark.parametrize("options", [{}, {"tree": "dep"}])
def test_nothing_runs_out_of_the_page(visit, width, options):
    driver = visit(explained(**options), width)
    assert driver.execute_script("return document.documentElement.scrollWidth") == width
    frame = find(driver, ".evidence .figure")[0]
    hidden = driver.execute_script("return arguments[0].scrollWidth - arguments[0].clientWidth", frame)
    assert (hidden == 0) == (width > 375)


def test_labels_stand_in_their_boxes(visit):
    """The widths of texts are estimates; no browser may draw a text wider than its box, or over its neighbour."""
    driver = visit(explained())
    outside = driver.execute_script(
        """return [...document.querySelectorAll(".mark")].filter((m) => {
          const [box, text] = ["rect", "text"].map((e) => m.querySelector(e)?.getBoundingClientRect());
          return text && (text.left < box.left || text.right > box.right);
        }).length"""
    )
    assert outside == 0
    boxes = driver.execute_script(
        "return [...document.querySelectorAll('.evidence svg text')].map((t) => { const b = t.getBoundingClientRect();"
        " return [b.left, b.top + 4, b.right, b.bottom - 4]; })"
    )
    for i, (a, b, c, d) in enumerate(boxes):
        assert all(c <= e or g <= a or d <= f or h <= b for e, f, g, h in boxes[i + 1 :])


def test_the_report_opens_evidence_where_it_is_asked_for(visit):
    systems = {"one": [BY.text, OTHER.text], "two": [HAVING.text, BY.text]}
    driver = visit(arboreval.compare(systems, [HAVING.text] * 2, metrics=["chrf", metric(), metric(tree="dep")]))
    assert len(find(driver, "template")) == 8
    assert find(driver, ".evidence") == []
    card = find(driver, "#seg-1")[0]
    summaries = card.find_elements("css selector", "summary")
    assert [s.text for s in summaries] == [
        "What structure-alignment:leaves=word found", "What structure-alignment:tree=dep:leaves=word found",
    ] * 2  # fmt: skip
    summaries[0].click()
    driver.execute_script("return new Promise((done) => requestAnimationFrame(done))")
    assert len(find(driver, "#seg-1 .evidence")) == 1
    summaries[0].click()
    summaries[0].click()
    assert len(find(driver, "#seg-1 .evidence")) == 1
    point_at(driver, mark(driver, 0, "PP by a telescope"))
    assert lit_words(driver, 1) == ["a", "telescope"]


def test_figures_and_lists_are_there_without_javascript(visit, driver):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        visit(explained())
        assert len(find(driver, ".evidence svg .mark")) == 8 * 2 + 6 + 7  # words and phrases
        assert find(driver, ".weakest td button")[0].text == "IN by"
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
