from __future__ import annotations

import numpy as np
import pytest
from evaldata import contrastive_rows, ranking_rows, scored_rows, write_jsonl

from arboreval.analysis.store import CacheWarning
from arboreval.errors import UsageError
from arboreval.meta.evalset import ForeignScores
from arboreval.meta.readers import read_jsonl
from arboreval.meta.score_store import Entry, ScoreStore, clear_store, entry_key, store_info
from arboreval.meta.scores import score_evalset
from arboreval.metrics.chrf import ChrF


@pytest.fixture
def store(tmp_path):
    made = ScoreStore(tmp_path)
    yield made
    made.close()


@pytest.fixture
def data(tmp_path):
    return read_jsonl(write_jsonl(tmp_path / "x.jsonl", scored_rows()))


def test_matrix_has_holes_where_there_is_no_output(tmp_path):
    rows = [row for row in scored_rows() if (row["system"], row["seg"]) != ("birch", 3)]
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    grid = data.matrix(data.human["raw"])
    assert grid.shape == (3, 4)
    assert np.isnan(grid[1, 2])
    assert grid[2].tolist() == [20, 10, 30, 5]


def test_limit_and_without(data):
    data = data.with_foreign([ForeignScores("m", np.arange(12.0), {"amber": 1.0})])
    first = data.limit(2)
    assert first.segment_ids == (1, 2)
    assert first.full_size == 4
    assert first.foreign["m"].rows.tolist() == [0, 1, 4, 5, 8, 9]
    assert first.foreign["m"].systems == {}
    left = data.without(["birch"])
    assert left.systems == ("amber", "cedar")
    assert left.outputs.system.tolist() == [0] * 4 + [1] * 4
    assert left.human["raw"].tolist() == [95, 90, 80, 70, 20, 10, 30, 5]
    assert data.limit(9) is data
    assert data.without(["nobody"]) is data
    with pytest.raises(UsageError, match="no system is left"):
        data.without(["amber", "birch", "cedar"])


def test_pairs_follow_their_rows(tmp_path):
    ranked = read_jsonl(write_jsonl(tmp_path / "r.jsonl", ranking_rows())).without(["birch"]).limit(3)
    assert len(ranked.comparisons) == 3
    assert set(ranked.comparisons.count.tolist()) == {3}
    assert (ranked.outputs.system[ranked.comparisons.first] == 0).all()
    contrasts = read_jsonl(write_jsonl(tmp_path / "c.jsonl", contrastive_rows())).limit(3).contrasts
    assert contrasts.kind.tolist() == [0, 1, 0]


def test_scores_are_those_of_the_metric(data):
    import sacrebleu

    bleu, ter = score_evalset(data, ["bleu", "ter"])
    for i, name in enumerate(data.systems):
        mine = [h for h, s in zip(data.outputs.hypotheses, data.outputs.system, strict=True) if s == i]
        refs = [r[0] for r, s in zip(data.outputs.references, data.outputs.system, strict=True) if s == i]
        assert bleu.systems[i] == sacrebleu.corpus_bleu(mine, [refs]).score, name
    row = sacrebleu.sentence_bleu(data.outputs.hypotheses[5], list(data.outputs.references[5])).score
    assert bleu.rows[5] == row
    assert not ter.higher_is_better
    assert (ter.oriented_rows == -ter.rows).all()


def test_measured_once_and_kept(data, store, tmp_path, monkeypatch):
    seen = []
    original = ChrF.segment_stats

    def counting(self, hypothesis, prepared):
        seen.append(hypothesis)
        return original(self, hypothesis, prepared)

    monkeypatch.setattr(ChrF, "segment_stats", counting)
    first = score_evalset(data.limit(2), ["chrf"], store=store)[0]
    assert len(seen) == 6
    whole = score_evalset(data, ["chrf"], store=store)[0]
    assert len(seen) == 12  # only what was missing
    other = ScoreStore(tmp_path)
    again = score_evalset(data, ["chrf"], store=other)[0]
    other.close()
    assert len(seen) == 12
    np.testing.assert_array_equal(whole.rows, again.rows)
    np.testing.assert_array_equal(whole.stats, again.stats)
    np.testing.assert_array_equal(first.rows, whole.rows[[0, 1, 4, 5, 8, 9]])
    score_evalset(data, ["chrf:beta=1"], store=store)
    assert len(seen) == 24  # another recipe


def test_an_interrupted_run_goes_on(data, store, monkeypatch):
    from arboreval.meta import scores

    monkeypatch.setattr(scores, "_BLOCK", 3)
    calls = []

    def stop(name, done, total):
        calls.append(done)
        if done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_evalset(data, ["chrf"], store=store, progress=stop)
    calls.clear()
    score_evalset(data, ["chrf"], store=store, progress=lambda name, done, total: calls.append((done, total)))
    assert calls[0][0] >= 6
    assert calls[-1] == (12, 12)


def test_the_store_keeps_every_digit_and_mistrusts_damage(store):
    entries = {
        b"a" * 20: Entry(np.array([1.0, 2.0, 65_535.0])),
        b"b" * 20: Entry(np.array([0.1, -2.0, 1e300]), "degraded", "a fallback"),
        b"c" * 20: Entry(np.zeros(3), "failed", "no reference"),
    }
    store.put("m", entries.items())
    found = store.get(entries)
    for key, entry in entries.items():
        np.testing.assert_array_equal(found[key].stats, entry.stats)
        assert (found[key].status, found[key].reason) == (entry.status, entry.reason)
    store._db.execute("UPDATE entries SET value = x'00' WHERE key = ?", (b"a" * 20,))
    assert set(store.get(entries)) == {b"b" * 20, b"c" * 20}
    assert entry_key("m", "ab", ["c"], None) != entry_key("m", "a", ["bc"], None)
    assert entry_key("m", "a", ["b"], "") != entry_key("m", "a", ["b"], None)


def test_an_unusable_store_costs_no_result(data, tmp_path):
    (tmp_path / "scores-1.sqlite").write_bytes(b"not a database at all, but long enough to be looked at " * 5)
    with pytest.warns(CacheWarning, match="not kept"):
        store = ScoreStore(tmp_path)
    assert np.isfinite(score_evalset(data, ["chrf"], store=store)[0].rows).all()


@pytest.mark.parametrize(
    ("disk", "message"), [("PRAGMA query_only = ON", "readonly"), ("PRAGMA max_page_count = 1", "full")]
)
def test_a_full_or_read_only_disk_costs_no_result(data, store, disk, message):
    """One warning; what is kept already is still read, what is new is not written."""
    kept = score_evalset(data.limit(2), ["chrf"], store=store)[0]
    store._db.execute(disk)
    # entries as large as a page, so that the last free bytes cannot hold them
    large = {bytes([i]) * 20: Entry(np.arange(9_000) / 7) for i in range(3)}
    with pytest.warns(CacheWarning, match=message):
        store.put("m", large.items())
    found = score_evalset(data, ["chrf", "bleu"], store=store)  # and no other warning, which would be an error
    np.testing.assert_array_equal(found[0].stats, score_evalset(data, ["chrf"])[0].stats)
    np.testing.assert_array_equal(found[0].rows[[0, 1, 4, 5, 8, 9]], kept.rows)
    assert store.get(large) == {}
    assert store._db is not None
    store.close()


def test_a_store_that_cannot_be_made_costs_no_result(data, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(CacheWarning, match="not kept"):
        store = ScoreStore(tmp_path / "file" / "cache")
    assert np.isfinite(score_evalset(data, ["chrf"], store=store)[0].rows).all()
    store.close()
    (tmp_path / "scores-1.sqlite").write_bytes(b"few")
    with pytest.warns(CacheWarning, match="not a database"):
        ScoreStore(tmp_path)
    assert (tmp_path / "scores-1.sqlite").read_bytes() == b"few"


def test_a_limit_that_is_no_size_is_found_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setenv("ARBOREVAL_CACHE_LIMIT", "much")
    with pytest.raises(UsageError, match="'much' is not a size"):
        ScoreStore(tmp_path)


def test_the_cache_command_knows_the_scores(data, capsys):
    from arboreval.cli import main

    def run(command="info"):
        with pytest.raises(SystemExit) as ended:
            main(["cache", command])
        assert ended.value.code == 0
        return capsys.readouterr().out

    assert "scores" not in run()
    store = ScoreStore()
    score_evalset(data, ["chrf", "bleu"], store=store)
    store.close()
    found = store_info()
    assert {metric: count for metric, (count, _) in found.metrics.items()} == {"bleu": 12, "chrf": 12}
    out = run()
    assert f"scores   {store.path}" in out
    assert "entries  24" in out
    assert "  chrf: 12 entries, " in out
    assert run("clear").endswith("24 scores removed\n")
    assert "entries  0" in run().partition("scores")[2]


def test_a_segment_without_reference_fails_alone(tmp_path):
    rows = scored_rows()
    rows[0]["refs"] = []
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    (chrf,) = score_evalset(data, ["chrf"])
    assert chrf.failed == 1
    assert np.isnan(chrf.rows[0])
    assert np.isfinite(chrf.rows[1:]).all()


def test_metrics_of_other_languages_have_no_value(tmp_path):
    rows = [row | {"lp": "en-de"} for row in scored_rows()]
    data = read_jsonl(write_jsonl(tmp_path / "x.jsonl", rows))
    (rouge_w,) = score_evalset(data, ["rouge-w"])
    assert rouge_w.rows is None
    assert "the target language is de" in rouge_w.reason


def test_neither_processes_nor_batches_change_a_score(data):
    alone = score_evalset(data, ["bleu", "chrf"])
    spread = score_evalset(data, ["bleu", "chrf"], jobs=2, batch_size=1)
    for a, b in zip(alone, spread, strict=True):
        np.testing.assert_array_equal(a.stats, b.stats)
        np.testing.assert_array_equal(a.systems, b.systems)


def test_clearing_the_scores_gives_the_space_back(tmp_path):
    assert clear_store(tmp_path) is None
    store = ScoreStore(tmp_path)
    store.put("m", [(bytes([i]) * 20, Entry(np.arange(5_000) / 7)) for i in range(20)])
    store.close()
    assert store.path.stat().st_size > 800_000
    assert clear_store(tmp_path) == 20
    assert store.path.stat().st_size < 100_000
    store.path.write_bytes(store.path.read_bytes()[:100] + b"\xff" * 50_000)
    with pytest.warns(CacheWarning, match=r"malformed\. `arboreval cache clear` removes it\.$"):
        ScoreStore(tmp_path)
    assert clear_store(tmp_path) == 0
    assert not store.path.exists()


def test_scores_that_cannot_be_cleared(tmp_path, monkeypatch, capsys):
    from arboreval.cli import main

    def cleared():
        with pytest.raises(SystemExit) as ended:
            main(["cache", "clear"])
        captured = capsys.readouterr()
        assert captured.out == "0 entries removed\n"
        return ended.value.code, captured.err

    monkeypatch.setattr("arboreval.meta.score_store._BUSY_SECONDS", 0.05)
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path))
    store = ScoreStore()
    store._db.execute("BEGIN IMMEDIATE")
    why = "database is locked). Another process is at work with it; try again when that has ended."
    assert cleared() == (4, f"error: the cache {store.path} cannot be changed ({why}\n")
    store._db.rollback()
    store.close()
    store.path.write_text("my diary")
    why = "it is not a database). It was left as it is."
    assert cleared() == (4, f"error: the cache {store.path} cannot be used ({why}\n")
    assert store.path.read_text() == "my diary"
