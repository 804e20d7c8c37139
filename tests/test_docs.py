"""Documentation that fails the build when it lies."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import arboreval
from arboreval.cli import main
from arboreval.metrics.base import option_fields
from arboreval.registry import BUILT_IN, metric_class

ROOT = Path(__file__).resolve().parents[1]
CARDS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "metrics").glob("*.md")}


def value(hypothesis, reference, metric, **keywords):
    report = arboreval.score([hypothesis], [reference], metrics=[metric], **keywords)
    return report.systems[0].scores[metric].value


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_metric_has_a_card_with_its_options(name):
    (card,) = (text for text in CARDS.values() if f"`{name}`" in text.splitlines()[0])
    for f in option_fields(metric_class(name)):
        assert re.search(rf"^\| `{f.name}` \|", card, re.MULTILINE), f.name


def test_worked_examples_of_the_cards():
    assert value("ab", "abc", "chrf") == pytest.approx(63.64, abs=0.005)
    assert value("the cat on mat sat", "the cat sat on the mat", "ter") == pytest.approx(33.33, abs=0.005)
    assert value("今天天气很好", "今天的天气真好", "rouge-1", lang="zh") == pytest.approx(10 / 13)


def console_examples(path):
    """(command, expected lines) of every ``` block that starts with `$ arboreval`."""
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"^```\n(\$ arboreval .*?)^```", text, re.MULTILINE | re.DOTALL):
        command, *expected = block.rstrip("\n").split("\n")
        yield command.removeprefix("$ "), expected


@pytest.mark.parametrize(("command", "expected"), list(console_examples(ROOT / "README.md")))
def test_readme_shows_what_is_printed(command, expected, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    words = shlex.split(command)[1:]
    arguments = [str(p) for word in words for p in (sorted(ROOT.glob(word)) if "*" in word else [word])]
    with pytest.raises(SystemExit):
        main([a.removeprefix(f"{ROOT}/") for a in arguments])
    captured = capsys.readouterr()
    printed = (captured.err + captured.out).split("\n")
    version = re.compile(r"version:\S+")
    if expected[-1] == "...":
        expected, printed = expected[:-1], printed[: len(expected) - 1]
    else:
        printed = printed[:-1]
    assert [version.sub("", line) for line in printed] == [version.sub("", line) for line in expected]


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "examples/plugin-metric/README.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"
