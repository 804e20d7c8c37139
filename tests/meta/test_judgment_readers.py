"""Every shape of judgments is read, and what cannot be right is refused with file and line."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from evaldata import (
    JUDGMENTS,
    OUTPUTS,
    contrastive_rows,
    pair_rows,
    ranking_rows,
    scored_rows,
    system_rows,
    write_jsonl,
)

from arboreval.errors import InputError
from arboreval.meta.mtme import read_mtme, write_mtme_evalset
from arboreval.meta.readers import read_evalsets, read_jsonl
from arboreval.meta.scores import score_evalset
from arboreval.meta.tables import join_ratings, read_scores


def test_scored_outputs(tmp_path):
    rows = scored_rows()
    rows[3]["z"] = None
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    assert (data.dataset, data.lp, data.target, data.shape) == ("toy", "de-en", "en", "scored")
    assert data.systems == ("amber", "birch", "cedar")
    assert data.segment_ids == (1, 2, 3, 4)
    assert np.isnan(data.human["z"][3])
    assert np.isfinite(data.human["z"]).sum() == 11
    assert data.human["raw:fluency"][0] == 5
    assert data.resolve_human() == "z"
    assert data.resolve_human("fluency") == "raw:fluency"
    with pytest.raises(InputError, match="fluency"):
        data.resolve_human("fluence")


def test_classes_are_ordered_and_other_labels_missing(tmp_path):
    rows = scored_rows(("amber",))
    for row, label in zip(rows, "SBCF", strict=True):
        row["adequacy"] = label
    column = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows)).human["raw:adequacy"]
    assert column[[0, 1, 3]].tolist() == [3, 1, 0]
    assert np.isnan(column[2])


def test_rankings(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", ranking_rows()))
    c = data.comparisons
    assert len(c) == 13
    assert c.count[~c.tie].sum() == 24
    assert data.outputs.hypotheses[c.first[0]] == OUTPUTS["amber"][0]
    assert data.outputs.hypotheses[c.second[0]] == OUTPUTS["birch"][0]


def test_systems_contrasts_and_pairs(tmp_path):
    systems = read_jsonl(write_jsonl(tmp_path / "s.jsonl", system_rows()))
    assert systems.system_scores == {"raw": {"amber": 0.9, "birch": 0.3, "cedar": -0.5}}
    assert len(systems.outputs) == 12
    contrasts = read_jsonl(write_jsonl(tmp_path / "c.jsonl", contrastive_rows())).contrasts
    assert contrasts.phenomena == ("drop", "swap")
    assert contrasts.kind.tolist() == [0, 1, 0, 1]
    pairs = read_jsonl(write_jsonl(tmp_path / "p.jsonl", pair_rows()))
    assert (pairs.dataset, pairs.lp, pairs.target) == ("toy-pairs.dev", "en", "en")
    assert pairs.human["raw"].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_gzip_is_read(tmp_path):
    plain = write_jsonl(tmp_path / "x.jsonl", scored_rows())
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    (data,) = read_evalsets(tmp_path / "x.jsonl.gz")
    assert len(data.outputs) == 12


def broken(rows, index, **changes):
    rows = json.loads(json.dumps(rows))
    rows[index].update(changes)
    return rows


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        (scored_rows() + scored_rows()[:1], 13, "'amber' of segment 1 is there already"),
        (broken(scored_rows(), 4, raw="good"), 5, "must be a number or null, not 'good'"),
        (broken(scored_rows(), 4, raw=True), 5, "must be a number"),
        (broken(scored_rows(), 2, hyp=None), 3, "'hyp' must be a text"),
        (broken(scored_rows(), 2, refs="one text"), 3, "'refs' must be a list"),
        (broken(scored_rows(), 2, dataset="other"), 3, "the data set is 'other'"),
        (broken(ranking_rows(), 1, pairs=[["amber", "nobody", 1]]), 2, "unknown system 'nobody'"),
        (broken(ranking_rows(), 1, pairs=[["amber", "birch"]]), 2, "not \\[system, system, count\\]"),
        (broken(ranking_rows(), 2, seg=1), 3, "segment 1 is there already"),
        (broken(system_rows(), 0, system_scores={"amber": 1, "birch": 1}), 1, "'cedar' has outputs but no human score"),
        (broken(system_rows(), 0, system_scores=dict.fromkeys([*OUTPUTS, "ghost"], 1)), 1, "unknown system 'ghost'"),
        ([{"dataset": "x", "nothing": 1}], 1, "no judgment in any known shape"),
    ],
)
def test_bad_lines_are_named(tmp_path, rows, line, message):
    path = write_jsonl(tmp_path / "bad.jsonl", rows)
    with pytest.raises(InputError, match=f"bad.jsonl, line {line}: .*{message}"):
        read_jsonl(path)


def test_other_bad_files(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("")
    with pytest.raises(InputError, match="is empty"):
        read_jsonl(path)
    path.write_text('{"a": 1}\n{not json}\n')
    with pytest.raises(InputError, match="known shape"):
        read_jsonl(path)
    write_jsonl(path, scored_rows())
    path.write_text(path.read_text() + "{not json}\n")
    with pytest.raises(InputError, match="line 13: not JSON"):
        read_jsonl(path)
    with pytest.raises(InputError, match="cannot read"):
        read_jsonl(tmp_path / "absent.jsonl")


# --- tables ------------------------------------------------------------------------------------------------------


def table(path, *lines):
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    return path


def test_table_with_texts(tmp_path):
    rows = [["a", 1, "the cat", "a cat", 3], ["a", 2, "x", "y", "None"], ["b", 1, "the dog", "a cat", 1.5]]
    (data,) = read_evalsets(table(tmp_path / "h.de-en.tsv", ["system", "seg", "hyp", "ref", "score"], *rows))
    assert (data.lp, data.systems) == ("de-en", ("a", "b"))
    assert data.outputs.references[0] == ("a cat",)
    assert data.human["raw"][[0, 2]].tolist() == [3, 1.5]
    assert np.isnan(data.human["raw"][1])


def test_annotators_are_averaged(tmp_path):
    """The worked example of z-scores: mean of per-annotator z with n - 1, traps left out."""
    given = {"A": (0, 50, 100, 80), "B": (10, 60, 90, 70), "C": (0, 40, 100, 90)}
    rows = [[who, "s", i, v, 0] for who, values in given.items() for i, v in enumerate(values)]
    rows.append(["A", "s", 0, 99, 1])
    head = ["annotator", "system", "seg", "score", "trap"]
    (data,) = read_evalsets(table(tmp_path / "h.tsv", head, *rows))
    assert data.human["z"] == pytest.approx([-1.3185, -0.1586, 0.9490, 0.5281], abs=5e-5)
    assert data.human["raw"] == pytest.approx([10 / 3, 50, 290 / 3, 80])


def test_ratings_are_joined_or_refused(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", scored_rows()))
    head = ["system", "seg", "clarity"]
    joined = join_ratings(data, table(tmp_path / "r.tsv", head, ["amber", 1, 7], ["cedar", 4, ""]))
    assert joined.human["raw:clarity"][0] == 7
    assert np.isnan(joined.human["raw:clarity"][1:]).all()
    for rows, message in (
        ([["amber", 1, 7], ["ghost", 1, 7]], "line 3: unknown system 'ghost'"),
        ([["amber", 9, 7]], "line 2: .*no output of amber for segment '9'"),
        ([["amber", 1, 7], ["birch", 1, 3], ["amber", 1, 7]], "line 4: the same output is in line 2"),
        ([["amber", 1, "high"]], "line 2: 'clarity' must be a number, not 'high'"),
        ([["amber", 1]], "line 2: 2 cells, but the header has 3"),
    ):
        with pytest.raises(InputError, match=message):
            join_ratings(data, table(tmp_path / "r.tsv", head, *rows))


def test_scores_computed_elsewhere(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", scored_rows()))
    long = table(tmp_path / "s.tsv", ["metric", "system", "score"], ["m1", "amber", 3], ["m1", "birch", 2])
    (one,) = read_scores(long, data)
    assert one.systems == {"amber": 3, "birch": 2}
    assert one.rows is None
    more = table(tmp_path / "s.tsv", ["metric", "system", "score"], ["m1", "amber", 3], ["m1", "ghost", 2])
    (one,) = read_scores(more, data)
    assert (one.systems, one.ignored) == ({"amber": 3}, ("ghost",))
    with pytest.raises(InputError, match="line 2: unknown system 'ghost'"):
        read_scores(table(tmp_path / "s.tsv", ["metric", "system", "score"], ["m1", "ghost", 2]), data)
    wide = table(tmp_path / "w.tsv", ["system", "seg", "m1", "m2"], ["amber", 1, 3, ""], ["birch", 2, 2, 8])
    first, second = read_scores(wide, data)
    assert first.rows[[0, 5]].tolist() == [3, 2]
    assert np.isnan(second.rows[0])
    assert second.rows[5] == 8
    lines = [[s, 4 * i + j] for i, s in enumerate(data.systems) for j in range(4)]
    (mtme,) = read_scores(table(tmp_path / "m-refA.seg.score", *lines), data)
    assert mtme.name == "m"
    assert mtme.rows.tolist() == list(range(12))
    for bad, message in (
        (lines[:-1], "line 11: 3 scores for 'cedar', but .* has 4 segments"),
        ([*lines, ["cedar", 1]], "line 13: more than 4 scores for 'cedar'"),
        ([*lines[:-1], ["ghost", 1]], "line 12: unknown system 'ghost'"),
        ([*lines[:-1], ["cedar", "much"]], "line 12: 'the score' must be a number, not 'much'"),
    ):
        with pytest.raises(InputError, match=message):
            read_scores(table(tmp_path / "m-refA.seg.score", *bad), data)


# --- mt-metrics-eval ---------------------------------------------------------------------------------------------


def test_mtme_directory_survives_a_round_trip(tmp_path):
    rows = [row for row in scored_rows() if (row["system"], row["seg"]) != ("birch", 3)]
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    scores = score_evalset(data, ["bleu", "chrf"])
    folder = tmp_path / "toyset"
    write_mtme_evalset(data, folder, scores)
    assert (folder / "human-scores/de-en.z.seg.score").read_text().split("\n")[6] == "birch\tNone"
    back = read_mtme(folder, "de-en")
    assert (back.dataset, back.systems, len(back.segment_ids)) == ("toyset", data.systems, 4)
    np.testing.assert_array_equal(back.matrix(back.human["z"]), data.matrix(data.human["z"]))
    np.testing.assert_array_equal(back.matrix(back.foreign["chrf"].rows), data.matrix(scores[1].rows))
    assert back.foreign["bleu"].systems == dict(zip(data.systems, scores[0].systems.tolist(), strict=True))
    np.testing.assert_array_equal(back.matrix(back.human["raw:fluency"]), data.matrix(data.human["raw:fluency"]))
    assert [d.lp for d in read_evalsets(folder)] == ["de-en"]


def test_mtme_directory_with_a_short_file(tmp_path):
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", scored_rows()))
    write_mtme_evalset(data, tmp_path / "set")
    (tmp_path / "set/system-outputs/de-en/birch.txt").write_text("one\ntwo\n")
    with pytest.raises(InputError, match=r"birch\.txt has 2 lines, but .*amber\.txt has 4"):
        read_mtme(tmp_path / "set", "de-en")
    with pytest.raises(InputError, match="no mt-metrics-eval directory"):
        read_evalsets(tmp_path)


def test_every_real_file_is_read():
    files = sorted(JUDGMENTS.glob("*.jsonl.gz"))
    if not files:
        pytest.skip(f"no human judgments: {JUDGMENTS} is not there")
    listed = [line.split("\t") for line in (JUDGMENTS / "index.tsv").read_text().splitlines()]
    index = {row[0]: dict(zip(listed[0], row, strict=True)) for row in listed[1:]}
    for path in files:
        (data,) = read_evalsets(path)
        known = index[path.name]
        assert len(data.systems) == int(known["systems"]), path.name
        if data.shape in ("scored", "pair"):
            assert len(data.outputs) == int(known["rows"]), path.name
        if data.shape == "ranking":
            assert data.comparisons.count[~data.comparisons.tie].sum() == int(known["judgments"]), path.name
