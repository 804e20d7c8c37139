"""The cache: what is put in comes out, and nothing that happens to the file fails a run."""

from __future__ import annotations

import multiprocessing
import pickle
import sqlite3
import warnings

import pytest
import samples
from samples import SampleAnalyzer

import arboreval
from arboreval.analysis.store import FILE, CacheWarning, Store, cache_folder, entry_key, parse_size
from arboreval.analysis.store_file import APPLICATION
from arboreval.errors import InputError, UsageError

TEXTS = [samples.telescope().text, samples.two_sentences().text, "one two three"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ARBOREVAL_CACHE_LIMIT", raising=False)
    return tmp_path / "cache"


def run(analyzer, texts=TEXTS, **options):
    return list(arboreval.analyze(texts, analyzer=analyzer, **options))


def change(folder, statement, *parameters):
    with sqlite3.connect(folder / FILE) as db:
        db.execute(statement, parameters)
    db.close()


def test_the_second_run_analyses_nothing(folder):
    first, second = SampleAnalyzer(), SampleAnalyzer()
    made = run(first)
    assert run(second) == made
    assert (first.asked, second.asked) == (TEXTS, [])
    assert made[0] == samples.telescope()
    with sqlite3.connect(folder / FILE) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_another_analyzer_text_or_layer_set_is_another_entry():
    run(SampleAnalyzer())
    other = SampleAnalyzer("sample-2")
    assert [a.fingerprint for a in run(other)] == ["sample-2"] * 3
    assert other.asked == TEXTS
    assert Store().info().analyzers.keys() == {"sample-1", "sample-2"}
    keys = {entry_key(*k) for k in [("a", "bc", ["dep"]), ("c", "ab", ["dep"]), ("a", "bc", ["ner"])]}
    assert len(keys) == 3
    assert entry_key("a", "b", ["ner", "dep"]) == entry_key("a", "b", ["dep", "ner"])


def test_no_cache_leaves_no_trace(folder):
    run(SampleAnalyzer(), cache=False)
    assert not folder.exists()


def test_vectors_are_kept_only_on_request():
    makes = [SampleAnalyzer(vectors=True) for _ in range(5)]
    plain = run(makes[0])
    assert plain[0].vectors is None
    with_vectors = run(makes[1], layers="dep,vectors")
    assert with_vectors[0].vectors == samples.vectors_of(with_vectors[0].tokens)
    assert makes[1].asked == TEXTS  # they had to be encoded
    run(makes[2], layers="dep,vectors", cache_vectors=True)
    assert run(makes[3], layers="dep,vectors", cache_vectors=True) == with_vectors
    assert makes[3].asked == []
    run(makes[4])
    assert makes[4].asked == []


def test_failed_analyses_are_not_kept():
    run(SampleAnalyzer(), ["fail 1"])
    again = SampleAnalyzer()
    assert run(again, ["fail 1"])[0].status == "failed"
    assert again.asked == ["fail 1"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET value = x'00' WHERE rowid = 1",
        "UPDATE entries SET checksum = x'00' WHERE rowid = 1",
        "UPDATE entries SET value = 'text' WHERE rowid = 1",
        "UPDATE entries SET value = (SELECT value FROM entries WHERE rowid = 2),"
        " checksum = (SELECT checksum FROM entries WHERE rowid = 2) WHERE rowid = 1",
        "UPDATE entries SET value = CAST(x'ff' AS TEXT) WHERE rowid = 1",
        "UPDATE entries SET used = 'text' WHERE rowid = 1",
        "UPDATE entries SET size = x'00' WHERE rowid = 1",
    ],
)
def test_a_damaged_entry_is_made_again_and_reported(folder, damage):
    made = run(SampleAnalyzer())
    change(folder, damage)
    again = SampleAnalyzer()
    with pytest.warns(CacheWarning, match="1 damaged entry was found in the cache"):
        assert run(again) == made
    assert again.asked == TEXTS[:1]
    third = SampleAnalyzer()
    assert run(third) == made
    assert third.asked == []


def test_verify_removes_what_is_damaged(folder):
    run(SampleAnalyzer())
    change(folder, "UPDATE entries SET value = x'00' WHERE rowid > 1")
    assert Store().verify() == (1, 2)
    assert Store().verify() == (1, 0)


@pytest.mark.parametrize("value", ["'key'", "17", "CAST(x'ff' AS TEXT)"])
def test_verify_removes_what_has_no_sound_key(folder, value):
    run(SampleAnalyzer())
    change(folder, f"UPDATE entries SET key = {value} WHERE rowid = 1")
    assert Store().verify() == (2, 1)
    assert Store().verify() == (2, 0)


@pytest.mark.parametrize("damage", ["size = 'text'", "size = x'00'", "analyzer = CAST(x'ff' AS TEXT)"])
def test_a_damaged_entry_is_no_obstacle_to_the_others(folder, damage):
    run(SampleAnalyzer())
    change(folder, f"UPDATE entries SET {damage} WHERE rowid = 1")
    assert Store().info().entries == 3
    assert Store().prune(limit=0) == 3


def test_the_longest_unused_entries_are_pruned_first(folder):
    texts = [f"text number {i} " + "word " * 300 for i in range(60)]
    run(SampleAnalyzer(), texts)
    for i in range(60):
        change(folder, "UPDATE entries SET used = ? WHERE rowid = ?", 1_000_000 + (i * 7) % 60, i + 1)
    store = Store()
    size = store.info().size
    removed = store.prune(limit=size // 2)
    assert 20 < removed < 40
    store.close()
    assert Store().info().size <= size // 2
    with sqlite3.connect(folder / FILE) as db:
        kept = {used for (used,) in db.execute("SELECT used FROM entries")}
    db.close()
    assert kept == {1_000_000 + i for i in range(removed, 60)}
    assert Store().prune(unused_days=1) == 60 - removed
    assert Store().info().entries == 0


def test_use_makes_an_entry_young(folder):
    run(SampleAnalyzer())
    change(folder, "UPDATE entries SET used = 1000000")
    run(SampleAnalyzer(), TEXTS[1:])
    assert Store().prune(unused_days=1) == 1
    assert Store().info().entries == 2
    assert Store().prune(unused_days=1e20) == 0
    assert Store().prune(unused_days=float("inf")) == 0


def test_a_run_keeps_the_limit(folder, monkeypatch):
    monkeypatch.setenv("ARBOREVAL_CACHE_LIMIT", "200kB")
    run(SampleAnalyzer(), [f"text number {i} " + "word " * 300 for i in range(60)])
    assert 160_000 < Store().info().size <= 200_000
    assert 0 < Store().info().entries < 60


def filled(folder, sizes, *, in_turn=True):
    """A cache of values of these sizes, last used in turn or in an order that has nothing to do with their places."""
    store = Store(folder)
    store.get([b""])
    rows = [
        (
            f"key {i:16}".encode(),
            bytes(size),
            bytes(16),
            "english-1.0+ort1.31-x86_64.2",
            size,
            i if in_turn else i * 7919 % 10_007,
        )
        for i, size in enumerate(sizes)
    ]
    with sqlite3.connect(folder / FILE) as db:
        db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
    db.close()
    return store


@pytest.mark.parametrize("in_turn", [True, False])
@pytest.mark.parametrize(
    ("sizes", "limit"),
    [
        ([1_000 + i * 37 % 800 for i in range(250)], 100_000),  # entries take much more room than their values
        ([80] * 5_000, 500_000),
        ([500 + i * 7_919 % 40_000 for i in range(2_000)], 20_000_000),
        ([8_000] * 100 + [200] * 5_000, 1_000_000),
    ],
)
def test_pruning_comes_close_to_the_limit(folder, sizes, limit, in_turn):
    store = filled(folder, sizes, in_turn=in_turn)
    assert store.info().size > 1.5 * limit
    removed = store.prune(limit=limit)
    left = store.info()
    assert 0.9 * limit < left.size <= limit
    assert left.entries == len(sizes) - removed
    store.close()
    # a run goes a little lower, so that the next entry does not start it over
    lower = Store(folder, limit=limit // 2)
    lower.put([(b"new", samples.simple("a new text"))])
    lower.close()
    assert 0.4 * limit < lower.info().size <= 0.455 * limit


def _write(folder, start):
    store = Store(folder)
    for i in range(start, start + 200, 5):
        analyses = [samples.simple(f"text {j}") for j in range(i, i + 5)]
        store.put([(entry_key(a.text, "f", ()), a) for a in analyses])
    store.close()


def test_two_processes_write_at_once(folder):
    context = multiprocessing.get_context("spawn")
    # half of the entries are written by both
    workers = [context.Process(target=_write, args=(folder, start)) for start in (0, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    store = Store(folder)
    assert store.verify() == (300, 0)
    found = store.get([entry_key(f"text {j}", "f", ()) for j in range(300)])
    assert [a.text for a in found.values()] == [f"text {j}" for j in range(300)]


def test_a_store_travels_to_other_processes_without_its_connection(folder):
    store = Store(folder, 5)
    store.get([b"x"])
    copy = pickle.loads(pickle.dumps(store))
    assert (copy.path, copy.limit, copy._connection) == (store.path, 5, None)


def expect_one_warning(message, analyzer=None):
    analyzer = analyzer or SampleAnalyzer()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = run(analyzer)
    assert made == run(SampleAnalyzer(), cache=False)
    assert [w.category for w in caught] == [CacheWarning]
    assert message in str(caught[0].message)


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for folder in ("file", "file/cache"):
        monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path / folder))
        why = r"\(a file is where its folder should be\)\. Set ARBOREVAL_CACHE to a folder\.$"
        for look in (Store.info, Store.verify, Store.prune, Store.clear):
            with pytest.raises(InputError, match=rf"cannot be read {why}"):
                look(Store())
        expect_one_warning("cannot be used (a file is where its folder should be); going on without it. Set")


@pytest.mark.parametrize("given", ["", "~", "~no_such_user/cache"])
def test_no_home_folder(given, tmp_path, monkeypatch):
    """As in a container whose user has no name."""
    monkeypatch.setenv("ARBOREVAL_CACHE", given)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    expect_one_warning("cannot be used (there is no such home folder); going on without it.")
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_folder(monkeypatch):
    """The log of a database cannot be read there either, so nothing is."""
    run(SampleAnalyzer())

    def no_log(*_args, **_options):
        error = sqlite3.OperationalError("attempt to write a readonly database")
        error.sqlite_errorcode = sqlite3.SQLITE_READONLY
        raise error

    monkeypatch.setattr(sqlite3, "connect", no_log)
    expect_one_warning("cannot be used (attempt to write a readonly database); going on without it.")


def read_only(*args, **kwargs):
    db = sqlite3.Connection(*args, **kwargs)
    db.execute("PRAGMA query_only = ON")
    return db


def test_a_read_only_database(folder, monkeypatch):
    run(SampleAnalyzer(), TEXTS[:1])
    monkeypatch.setattr(sqlite3, "connect", read_only)
    analyzer = SampleAnalyzer()
    expect_one_warning("cannot be written (attempt to write a readonly database); new analyses are not kept.", analyzer)
    assert analyzer.asked == TEXTS[1:]  # what is there is still read


def test_a_full_disk(folder, monkeypatch):
    run(SampleAnalyzer(), ["a"])
    connect = sqlite3.connect

    def full(*args, **kwargs):
        db = connect(*args, **kwargs)
        db.execute("PRAGMA max_page_count = 1")
        return db

    monkeypatch.setattr(sqlite3, "connect", full)
    texts = ["word " * 3000]
    with pytest.warns(CacheWarning, match="cannot be written .database or disk is full."):
        assert len(run(SampleAnalyzer(), texts)) == 1


def test_a_locked_database(folder, monkeypatch):
    run(SampleAnalyzer(), ["a"])
    monkeypatch.setattr("arboreval.analysis.store._BUSY_SECONDS", 0.05)
    other = sqlite3.connect(folder / FILE)
    other.execute("BEGIN IMMEDIATE")
    expect_one_warning("cannot be written (database is locked)")
    other.rollback()
    other.close()


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to look at " * 40, b"x"])
def test_a_file_that_is_no_database(folder, content):
    folder.mkdir()
    (folder / FILE).write_bytes(content)
    expect_one_warning("cannot be used (it is not a database)")
    assert (folder / FILE).read_bytes() == content
    with pytest.raises(InputError, match="It was left as it is"):
        Store().clear()
    assert (folder / FILE).read_bytes() == content


def test_a_database_of_another_program(folder):
    folder.mkdir()
    change(folder, "CREATE TABLE bookmarks (url TEXT)")
    expect_one_warning("it is another program's database")
    with pytest.raises(InputError, match="another program's"):
        Store().clear()


def test_an_unknown_schema_version(folder):
    run(SampleAnalyzer())
    change(folder, "PRAGMA user_version = 99")
    expect_one_warning("it has the version 99, this arboreval reads version 1")
    assert Store().clear() == 0  # ours, so it may go
    run(SampleAnalyzer())
    assert Store().info().entries == 3


def test_a_damaged_file(folder):
    run(SampleAnalyzer(), [f"text number {i} " + "word " * 300 for i in range(20)])
    data = bytearray((folder / FILE).read_bytes())
    assert data[68:72] == APPLICATION.to_bytes(4, "big")
    data[100:20_000] = b"\xff" * 19_900
    (folder / FILE).write_bytes(data)
    with pytest.warns(CacheWarning, match=r"going on without it\. `arboreval cache clear` removes it\.$"):
        assert len(run(SampleAnalyzer())) == 3
    assert Store().clear() == 0
    run(SampleAnalyzer())
    assert Store().info().entries == 3


@pytest.mark.parametrize("look", [Store.info, Store.verify, Store.prune])
def test_a_file_that_cannot_be_read_is_not_called_empty(folder, look):
    """A run goes on without the cache; who asks about the cache itself must hear of it."""
    run(SampleAnalyzer(), [f"text number {i} " + "word " * 300 for i in range(20)])
    data = bytearray((folder / FILE).read_bytes())
    data[100:20_000] = b"\xff" * 19_900
    (folder / FILE).write_bytes(data)
    with pytest.raises(InputError, match=r"cannot be (read|changed) \(.*malformed\)\. `arboreval cache clear` removes"):
        look(Store())
    (folder / FILE).write_text("my diary")
    with pytest.raises(InputError, match=r"cannot be (read|changed) \(it is not a database\)\.$"):
        look(Store())
    with pytest.raises(InputError, match=r"cannot be read \(File name too long\)\..* set ARBOREVAL_CACHE"):
        look(Store(folder / ("long" * 100)))


def test_a_schema_that_cannot_be_quoted(folder):
    run(SampleAnalyzer())
    data = (folder / FILE).read_bytes()
    data = data.replace(b"CREATE INDEX", b"CREATE INDEQ").replace(b"entries_by_useentries", b"\xc5ntries_by_useentries")
    (folder / FILE).write_bytes(data)
    expect_one_warning("cannot be used (its schema is damaged)")


def test_an_index_of_entries_that_are_not_there(folder, monkeypatch):
    """Pruning chooses by the index; it must not go on for ever."""
    run(SampleAnalyzer())
    change(folder, "UPDATE entries SET used = 1000000")
    with sqlite3.connect(folder / FILE) as db:
        (index,) = db.execute("SELECT * FROM sqlite_master WHERE name = 'entries_by_use'").fetchall()
    db.close()
    with sqlite3.connect(folder / FILE) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DELETE FROM sqlite_master WHERE name = 'entries_by_use'")
    db.close()
    change(folder, "DELETE FROM entries WHERE rowid < 3")
    with sqlite3.connect(folder / FILE) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index)
    db.close()
    with pytest.raises(
        InputError, match=r"cannot be changed \(its index names entries .*`arboreval cache clear` removes"
    ):
        Store().prune(limit=0)
    monkeypatch.setenv("ARBOREVAL_CACHE_LIMIT", "1kB")
    expect_one_warning("cannot be used (its index names entries that are not there)")


def test_advice_that_can_be_followed(folder, monkeypatch):
    run(SampleAnalyzer(), TEXTS[:1])
    message = f"the cache {folder / FILE} cannot be changed (attempt to write a readonly database)."
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", read_only)

        def advice():
            with pytest.raises(InputError) as caught:
                Store().prune(unused_days=1)
            assert str(caught.value).startswith(message)
            return str(caught.value).removeprefix(message)

        assert advice() == " `arboreval cache clear` removes it."
        instead = " It cannot be removed either; set ARBOREVAL_CACHE to another folder."
        with monkeypatch.context() as inner:
            inner.setattr("os.access", lambda path, mode: False)
            assert advice() == instead
        # a folder in which only the owner of a file may remove it
        folder.chmod(0o1777)
        assert advice() == " `arboreval cache clear` removes it."
        patch.setattr("os.geteuid", lambda: folder.stat().st_uid + 1)
        assert advice() == instead
    monkeypatch.setattr("arboreval.analysis.store._BUSY_SECONDS", 0.05)
    other = sqlite3.connect(folder / FILE)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match=r"\(database is locked\)\. Another process is at work with it; try again"):
        Store().prune(unused_days=1)
    other.rollback()
    other.close()


def test_clear():
    run(SampleAnalyzer())
    assert Store().clear() == 3
    assert Store().info().entries == 0
    assert Store().clear() == 0


def test_what_another_process_writes_to_is_not_cleared(folder, monkeypatch):
    run(SampleAnalyzer())
    monkeypatch.setattr("arboreval.analysis.store._BUSY_SECONDS", 0.05)
    other = sqlite3.connect(folder / FILE)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(
        InputError, match=r"cannot be changed \(database is locked\)\. Another process is at work with it"
    ):
        Store().clear()
    other.rollback()
    other.close()
    assert Store().info().entries == 3


def test_what_cannot_be_written_is_removed(folder, monkeypatch):
    """Emptying takes room, and who empties the cache may do it because the disk is full."""
    run(SampleAnalyzer())
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", read_only)
        assert Store().clear() == 0
    assert list(folder.iterdir()) == []


def test_where_the_cache_is(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("ARBOREVAL_CACHE")
    assert cache_folder().name == "arboreval"


def test_sizes():
    assert [parse_size(s) for s in ("2GB", "500 MB", "1.5k", "10", "3b")] == [2 * 10**9, 5 * 10**8, 1500, 10, 3]
    for wrong in ("", "GB", "-1GB", "2 XB", "many", "nan"):
        with pytest.raises(UsageError, match="is not a size"):
            parse_size(wrong)


def test_a_lone_surrogate_is_analysed_but_not_kept():
    text = "a \ud800 b"
    assert run(SampleAnalyzer(), [text])[0].text == text
    assert Store().info().entries == 0
