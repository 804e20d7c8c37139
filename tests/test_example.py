"""The shipped example is what its README says."""

from __future__ import annotations

import re
from collections import Counter

import pytest

MAIN_TYPES = ("attachment", "roles", "negation", "tense", "idiom")


@pytest.fixture(scope="module")
def labels(demo):
    head, *rows = (line.split("\t") for line in demo.lines("labels.tsv"))
    assert head == ["seg", "system", "errors", "note"]
    return {(int(seg), system): (errors.split(","), note) for seg, system, errors, note in rows}


def test_forty_segments_each(demo, labels):
    names = ["source.de.txt", "ref.a.txt", "ref.b.txt", *(f"system-{n}.txt" for n in demo.systems)]
    assert {name: len(demo.lines(name)) for name in names} == dict.fromkeys(names, 40)
    assert set(labels) == {(seg, system) for seg in range(1, 41) for system in demo.systems}


def test_label_counts_are_those_of_the_readme(demo, labels):
    table = {}
    for line in (demo.folder / "README.md").read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"\| `([a-z-]+)` \| .* \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", line)
        if match:
            table[match[1]] = [int(n) for n in match.groups()[1:]]
    counts = Counter((error, system) for (_, system), (errors, _) in labels.items() for error in errors)
    kinds = {error for error, _ in counts}
    assert table == {
        kind: [sum(counts[kind, s] for s in demo.systems), *(counts[kind, s] for s in demo.systems)] for kind in kinds
    }
    assert all(table[kind][0] >= 4 for kind in MAIN_TYPES)


def test_labels_agree_with_the_text(demo, labels):
    source = demo.lines("source.de.txt")
    for (seg, system), (errors, note) in labels.items():
        text = demo.systems[system][seg - 1]
        assert (errors == ["empty"]) == (text == "")
        if text == source[seg - 1]:
            assert errors == ["untranslated"]
        assert bool(note) != (errors in (["none"], ["paraphrase"]))


def test_errors_can_look_more_like_the_reference_than_paraphrases(demo, labels):
    """What the example is made to show: word overlap does not see swapped roles."""
    from sacrebleu import CHRF

    def mean(kinds):
        scores = [
            CHRF().sentence_score(demo.systems[system][seg - 1], list(demo.references[seg - 1])).score
            for (seg, system), (errors, _) in labels.items()
            if set(errors) & kinds
        ]
        return sum(scores) / len(scores)

    assert mean({"roles", "negation", "attachment"}) > mean({"paraphrase"}) + 20
