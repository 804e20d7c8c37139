"""Documentation that fails the build when it lies."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import arboreval
from arboreval.analysis.english.rst_tree import CLASSES
from arboreval.analysis.formats import conllu, ptb, rst, ucca
from arboreval.cli import main
from arboreval.metrics.base import option_fields
from arboreval.registry import BUILT_IN, metric_class

ROOT = Path(__file__).resolve().parents[1]
FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
CARDS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "metrics").glob("*.md")}


def value(hypothesis, reference, metric, **keywords):
    report = arboreval.score([hypothesis], [reference], metrics=[metric], **keywords)
    return report.systems[0].scores[metric].value


def test_the_model_card_has_the_measured_figures():
    page = (ROOT / "docs" / "results" / "analyzer.md").read_text(encoding="utf-8")
    sections = dict(section.split("\n", 1) for section in page.split("\n## ")[1:])
    card = (ROOT / "src" / "arboreval" / "models" / "en" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| (\d*\.\d+) \|$", card, re.MULTILINE)
    assert {section for section, _, _ in rows} == set(sections) - {"spaCy's small model on the same text"}
    for section, measure, value in rows:
        assert re.search(rf"^\| {re.escape(measure)} \| {re.escape(value)} ", sections[section], re.MULTILINE), measure


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


def test_the_json_of_an_analysis_is_what_is_printed(capsys):
    section = FORMATS.partition("## JSON of an analysis\n")[2].partition("\n## ")[0]
    shown = json.loads(re.search(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[1])
    with pytest.raises(SystemExit):
        main(["analyze", "--text", "Ann left.", "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    model = re.compile(r"(arboreval-en)-.*")
    assert [model.sub(r"\1", made.pop("fingerprint")) for made in (shown, printed)] == ["arboreval-en"] * 2
    assert shown == printed
    described = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    assert sorted(", ".join(described).replace("`", "").split(", ")) == sorted([*printed, "fingerprint"])


def samples_of_parses():
    """The samples of docs/formats.md by the ends of their files' names."""
    return dict(re.findall(r"^\*\*`x\.txt(\..*?)`\*\*:.*?^```\n(.*?)^```", FORMATS, re.MULTILINE | re.DOTALL))


def test_the_samples_of_parses_are_read_and_written(tmp_path):
    text = re.search(r"^The samples are .* `x.txt` with the one line `(.*)`$", FORMATS, re.MULTILINE)[1]
    (tmp_path / "x.txt").write_text(f"{text}\n", encoding="utf-8")
    samples = samples_of_parses()
    layers = {".conllu": "dep", ".ptb": "const", ".ucca.jsonl": "ucca", ".rst.jsonl": "rst"}
    assert samples.keys() == layers.keys()

    def read():
        return list(arboreval.analyze([text], analyzer=f"files:path={tmp_path / 'x.txt'}"))

    for ending, layer in layers.items():
        path = tmp_path / f"x.txt{ending}"
        path.write_text(samples[ending], encoding="utf-8")
        (analysis,) = read()
        (layer,) = analysis.layers()
        assert (analysis.status, analysis.words) == ("ok", ["It", "rained", ".", "Ann", "stayed", "."])
        assert layer.startswith(layers[ending])
        path.unlink()
    for ending, sample in samples.items():
        (tmp_path / f"x.txt{ending}").write_text(sample, encoding="utf-8")
    (both,) = analyses = read()
    assert both.layers() == ("dependency", "constituency", "ucca", "rst")
    assert both.dependency.relation == ("nsubj", "root", "punct") * 2
    assert both.constituency.label == ("TOP", "S", "NP", "VP") * 2
    assert both.ucca.category == ("H", "U", "F", "P", "H", "U", "A", "S")
    assert both.rst.nested() == ["SN", "causal", 0, 1]
    for module, sample in zip((conllu, ptb, ucca, rst), samples.values(), strict=True):
        assert "".join(module.write(analyses)) == sample


def test_names_of_categories_and_relations():
    listed = re.search(r"The categories are (.*?)\.", FORMATS, re.DOTALL)[1].split(",")
    letters = {name.split()[0] for name in listed}
    config = json.loads((ROOT / "src/arboreval/models/en/config.json").read_text(encoding="utf-8"))
    labels = [label.replace("ROOT", "") for label in config["labels"]["ucca"]]
    assert letters == {letter for label in labels for letter in re.findall("[A-Z]", label)}
    listed = re.search(r"classes of the GUM corpus: (.*?)\.", FORMATS, re.DOTALL)[1]
    assert re.findall("`(.*?)`", listed) == list(CLASSES)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "examples/plugin-metric/README.md"]:
        for target, heading in re.findall(r"\]\(([^)#:]+)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")):
            path = page.parent / target
            assert path.exists(), f"{page}: {target}"
            if heading:
                headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
                anchors = [re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings]
                assert heading in anchors, f"{page}: {target}#{heading}"
