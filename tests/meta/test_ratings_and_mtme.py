"""Ratings that are added on purpose, z-scores by annotator and task, and directories of mt-metrics-eval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaldata import contrastive_rows, ranking_rows, scored_rows, system_rows, write_jsonl

import arboreval
from arboreval.errors import InputError
from arboreval.meta.mtme import read_mtme, write_mtme_evalset
from arboreval.meta.readers import read_evalsets, read_jsonl
from arboreval.meta.scores import score_evalset
from arboreval.meta.tables import join_ratings

NAN = float("nan")


def table(path, *lines):
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    return path


def z(values):
    return (np.array(values) - np.mean(values)) / np.std(values, ddof=1)


# --- ratings -----------------------------------------------------------------------------------------------------


def test_scores_are_standardised_by_annotator_and_task(tmp_path):
    """A uses the scale differently in the two tasks; the same item may be in both."""
    given = {("A", "en-zh"): (0, 50, 100), ("A", "zh-en"): (70, 80, 75), ("B", "en-zh"): (10, 20, 60)}
    rows = [[who, task, "s", i, v] for (who, task), values in given.items() for i, v in enumerate(values)]
    (data,) = read_evalsets(table(tmp_path / "h.tsv", ["annotator", "task", "system", "seg", "score"], *rows))
    expected = np.mean([z(values) for values in given.values()], axis=0)
    assert data.human["z"] == pytest.approx(expected)
    assert data.human["raw"] == pytest.approx(np.mean(list(given.values()), axis=0))
    pooled = z((0, 50, 100, 70, 80, 75))
    assert data.human["z"][0] != pytest.approx(np.mean([pooled[0], pooled[3], z(given["B", "en-zh"])[0]]))


def test_the_same_annotator_twice_in_a_task_is_refused(tmp_path):
    head = ["annotator", "task", "system", "seg", "score"]
    rows = [["A", "t", "s", 1, 5], ["A", "u", "s", 1, 6], ["A", "t", "s", 1, 7]]
    with pytest.raises(InputError, match="line 4: 'A' rated the same output in line 2"):
        read_evalsets(table(tmp_path / "h.tsv", head, *rows))


def rated(tmp_path, rows, head=("system", "seg", "score"), name="toy"):
    data = read_jsonl(write_jsonl(tmp_path / f"{name}.jsonl", rows))
    values = {("amber", 1): 1, ("amber", 2): 5, ("birch", 1): 4, ("birch", 2): 3, ("cedar", 1): 2}
    return data, table(tmp_path / "ratings.tsv", head, *([s, i, v] for (s, i), v in values.items()))


@pytest.mark.parametrize(("column", "used"), [("score", "raw"), ("z", "z"), ("clarity", "raw:clarity")])
def test_ratings_win_over_what_the_data_has(tmp_path, column, used):
    """The data has z, raw and fluency; none of these is what was asked for."""
    data, path = rated(tmp_path, scored_rows(), ("system", "seg", column))
    report = arboreval.meta_evaluate(data, ["chrf"], ratings=path, corr=["pearson"], trials=0)
    assert report.data[0].human == used
    assert report.results[0].n == 5
    assert f"human: {used}" in report.render("text")
    joined = join_ratings(data, path)
    assert ("z" in joined.human) == (column != "score")  # z-scores of other ratings do not stand beside new raw ones
    chosen = arboreval.meta_evaluate(data, ["chrf"], ratings=path, human="fluency", corr=["pearson"], trials=0)
    assert (chosen.data[0].human, chosen.results[0].n) == ("raw:fluency", 12)


def test_ratings_of_a_criterion_replace_its_scores(tmp_path):
    rows = [row | {"z_by": {"fluency": 0.5}} for row in scored_rows()]
    data, path = rated(tmp_path, rows, ("system", "seg", "fluency"))
    assert data.resolve_human("fluency") == "z:fluency"
    joined = join_ratings(data, path)
    assert joined.resolve_human("fluency") == "raw:fluency"
    assert joined.human["raw:fluency"][:3] == pytest.approx([1, 5, NAN], nan_ok=True)
    assert joined.resolve_human("z") == "z"


@pytest.mark.parametrize("rows", [system_rows(), ranking_rows()], ids=["published-scores", "preferences"])
def test_ratings_win_over_published_scores_and_preferences(tmp_path, rows):
    data, path = rated(tmp_path, rows)
    segments = arboreval.meta_evaluate(data, ["chrf"], ratings=path, corr=["pearson"], trials=0)
    assert (segments.data[0].level, segments.data[0].human, segments.results[0].n) == ("seg", "raw", 5)
    systems = arboreval.meta_evaluate(data, ["chrf"], ratings=path, level="sys", corr=["pearson"], trials=0)
    assert systems.data[0].human == "mean raw"
    (chrf,) = score_evalset(data, ["chrf"])
    assert systems.results[0].value == pytest.approx(np.corrcoef(chrf.systems, [3, 3.5, 2])[0, 1])


def test_contrastive_pairs_cannot_be_rated(tmp_path):
    data, path = rated(tmp_path, contrastive_rows())
    with pytest.raises(InputError, match="ratings cannot be added"):
        join_ratings(data, path)


# --- mt-metrics-eval ---------------------------------------------------------------------------------------------


def same(back, data):
    assert back.systems == data.systems
    assert back.segment_ids == data.segment_ids
    for field in ("hypotheses", "references", "sources"):
        assert getattr(back.outputs, field) == getattr(data.outputs, field), field
    np.testing.assert_array_equal(back.outputs.system, data.outputs.system)
    np.testing.assert_array_equal(back.outputs.segment, data.outputs.segment)
    assert set(back.human) == set(data.human)
    for key, values in data.human.items():
        np.testing.assert_array_equal(back.human[key], values)
    assert back.system_scores == data.system_scores


def holes():
    """An output nobody made, an empty output that was judged, an output nobody judged, a segment without source and
    one with a single reference."""
    rows = [row for row in scored_rows() if (row["system"], row["seg"]) != ("birch", 3)]
    for row in rows:
        row["refs"] = [row["refs"][0], "another reference"] if row["seg"] != 2 else row["refs"]
        row["src"] = None if row["seg"] == 4 else row["src"]
    rows[0]["hyp"] = ""
    rows[5] |= {"raw": None, "z": None, "raw_by": {}}
    return rows


def test_missing_texts_stay_missing(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "toyset.jsonl", holes()))
    write_mtme_evalset(data, tmp_path / "toyset", score_evalset(data, ["chrf"]))
    back = read_mtme(tmp_path / "toyset", "de-en")
    assert len(back.outputs) == 11
    same(back, data)
    assert back.outputs.hypotheses[0] == ""
    assert back.full_size == 4
    (before,), (after,) = score_evalset(data, ["chrf"]), score_evalset(back, ["chrf"])
    np.testing.assert_array_equal(before.systems, after.systems)
    again = write_mtme_evalset(back, tmp_path / "again", score_evalset(back, ["chrf"]))
    for path in again:
        first = tmp_path / "toyset" / path.relative_to(tmp_path / "again")
        assert path.read_text() == first.read_text(), path.name


def test_empty_outputs_without_any_segment_score_are_outputs(tmp_path):
    """Where nothing was scored by segment an empty line says nothing about being missing."""
    folder = tmp_path / "set"
    for name, lines in (
        ("system-outputs/de-en/a.txt", ["one", ""]), ("system-outputs/de-en/b.txt", ["one", "two"]),
        ("references/de-en.refA.txt", ["one", "two"]), ("human-scores/de-en.mqm.sys.score", ["a\t1", "b\t2"]),
    ):  # fmt: skip
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines))
    data = read_mtme(folder, "de-en")
    assert data.outputs.hypotheses == ("one", "", "one", "two")
    assert data.outputs.sources == (None,) * 4
    assert data.system_scores == {"raw:mqm": {"a": 1.0, "b": 2.0}}
    report = arboreval.meta_evaluate(data, ["chrf"], corr=["kendall"], trials=5)
    assert (report.data[0].level, report.data[0].human) == ("sys", "system scores")
    assert report.results[0].value == 1


def test_published_system_scores_are_read_used_and_written(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "toyset.jsonl", scored_rows()))
    folder = tmp_path / "toyset"
    write_mtme_evalset(data, folder)
    table(folder / "human-scores/de-en.wmt-z.sys.score", ["amber", -1.5], ["birch", 0.5], ["cedar", "None"])
    table(folder / "human-scores/de-en.fluency.sys.score", ["amber", 1], ["birch", 2], ["cedar", 4])
    back = read_mtme(folder, "de-en")
    assert back.system_scores == {
        "z": {"amber": -1.5, "birch": 0.5},
        "raw:fluency": {"amber": 1.0, "birch": 2.0, "cedar": 4.0},
    }
    write_mtme_evalset(back, tmp_path / "again/toyset")
    same(read_mtme(tmp_path / "again/toyset", "de-en"), back)
    (chrf,) = score_evalset(back, ["chrf"])
    found = {}
    for human in ("z", "fluency", "raw"):
        report = arboreval.meta_evaluate(back, ["chrf"], human=human, level="sys", corr=["pearson"], trials=20)
        found[report.data[0].human] = report.results[0]
    assert set(found) == {"published z", "published raw:fluency", "mean raw"}
    assert found["published z"].n == 2
    assert found["published raw:fluency"].value == pytest.approx(np.corrcoef(chrf.systems, [1, 2, 4])[0, 1])
    segments = arboreval.meta_evaluate(back, ["chrf"], corr=["pearson"], trials=0)
    assert (segments.data[0].level, segments.data[0].human, segments.results[0].n) == ("seg", "z", 12)


def test_published_scores_of_all_segments_are_not_those_of_some(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "toyset.jsonl", scored_rows()))
    published = {"z": {"amber": 1.0, "birch": 2.0, "cedar": 3.0}}
    assert replace(data, system_scores=published).limit(2).system_scores == {}
    systems = read_jsonl(write_jsonl(tmp_path / "s.jsonl", system_rows()))
    assert systems.limit(2).system_scores == systems.system_scores
    assert systems.without(["birch"]).system_scores == {"raw": {"amber": 0.9, "cedar": -0.5}}


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("de-en.z.sys.score", [["amber", 1], ["ghost", 2]], "line 2: unknown system 'ghost'"),
        ("de-en.z.sys.score", [["amber", 1], ["amber", 2]], "line 2: the system 'amber' comes twice"),
        ("de-en.z.sys.score", [["amber", "good"]], "line 1: 'the score' must be a number, not 'good'"),
        ("de-en.z.seg.score", [["amber", 1]] * 3, "line 3: 3 scores for 'amber', but .* has 4 segments"),
        ("de-en.z.seg.score", [["amber", 1]] * 5, "line 5: more than 4 scores for 'amber'"),
        ("de-en.z.seg.score", [["amber", 1, 2]], "line 1: 3 words where a system and a score were expected"),
    ],
)
def test_bad_human_score_files_are_named(tmp_path, name, lines, message):
    data = read_jsonl(write_jsonl(tmp_path / "toyset.jsonl", scored_rows()))
    write_mtme_evalset(data, tmp_path / "toyset")
    table(tmp_path / "toyset/human-scores" / name, *lines)
    with pytest.raises(InputError, match=f"{name}, {message}"):
        read_mtme(tmp_path / "toyset", "de-en")
