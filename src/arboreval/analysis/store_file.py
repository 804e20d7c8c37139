"""The SQLite file of the cache: how it is recognised, made and kept small."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

SCHEMA = 1
#: marks the file as ours, in the header field that SQLite keeps for this ("ArbE")
APPLICATION = 0x41726245
_MAGIC = b"SQLite format 3\0"
#: pruning goes below the limit by this share, so that it does not start over with the next entry
_PRUNE_TO = 0.9
#: about the bytes that an entry takes besides its value: key, checksum, analyzer, and its places in three indexes
_BESIDE_VALUE = 200

_TABLES = """
CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum BLOB NOT NULL, analyzer TEXT NOT NULL,
                      size INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE INDEX entries_by_use ON entries (used, size);
CREATE INDEX entries_by_analyzer ON entries (analyzer, size);
"""


class UnusableError(Exception):
    """The file is not ours, or of another version; the reason is its text."""


def connect(path: Path, timeout: float) -> sqlite3.Connection:
    """Opens the file, or makes it; one that is not ours is left as it is."""
    if path.parts[0].startswith("~"):
        raise UnusableError("there is no such home folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not is_database(path):
        raise UnusableError("it is not a database")  # SQLite would overwrite a file of a few bytes
    # a transaction is what `with db` encloses and takes the lock at once; generators may move between threads
    db = sqlite3.connect(path, timeout=timeout, isolation_level="IMMEDIATE", check_same_thread=False)
    # one flipped bit makes text of bytes; that damages an entry, it is no reason to read no others
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        _prepare(db)
    except BaseException as error:
        db.close()
        if isinstance(error, UnicodeDecodeError):  # the message of SQLite quotes what it cannot read
            raise UnusableError("its schema is damaged") from error
        raise
    return db


def _prepare(db: sqlite3.Connection) -> None:
    """Recognises the file, or makes the tables in a new one."""
    application, version, tables = _identity(db)
    if application == 0 and version == 0 and tables == 0:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # must come before the first table
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        if _identity(db)[2] == 0:  # another process may have been quicker
            for statement in _TABLES.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.commit()
        application, version, tables = _identity(db)
    if application != APPLICATION:
        raise UnusableError("it is another program's database")
    if version != SCHEMA:
        raise UnusableError(f"it has the version {version}, this arboreval reads version {SCHEMA}")
    # the log is lost at worst, never torn; what is lost is made again
    db.execute("PRAGMA synchronous = NORMAL")


def _identity(db: sqlite3.Connection) -> tuple[int, int, int]:
    application: int = db.execute("PRAGMA application_id").fetchone()[0]
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    tables: int = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    return application, version, tables


def is_ours(path: Path) -> bool:
    """Whether the header says so; works on a file that SQLite cannot open. Not of one that nobody can."""
    try:
        header = _header(path)
    except OSError:
        return False
    return header.startswith(_MAGIC) and header[68:72] == APPLICATION.to_bytes(4, "big")


def is_database(path: Path) -> bool:
    """Whether SQLite can have written it; an empty file becomes a database when it is first used."""
    return _header(path)[:16] in (b"", _MAGIC)


def is_removable(path: Path) -> bool:
    """Whether this user may remove the file; from a folder such as ``/tmp`` only its owner may."""
    try:
        folder = path.parent.stat()
        if folder.st_mode & stat.S_ISVTX and os.geteuid() not in (0, folder.st_uid, path.stat().st_uid):
            return False
    except OSError:
        return False
    return os.access(path.parent, os.W_OK | os.X_OK)


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)


def prune(db: sqlite3.Connection, limit: int | None, before: float | None, *, exact: bool = False) -> int:
    """Deletes entries not used since ``before``, then the longest unused until the rest fits the limit."""
    removed = 0
    if before is not None:
        with db:
            removed += db.execute("DELETE FROM entries WHERE used < ?", (before,)).rowcount
    if limit is not None and _used_bytes(db) > limit:
        target = limit if exact else int(limit * _PRUNE_TO)
        room: float = db.execute("SELECT TOTAL(size + ?) FROM entries", (_BESIDE_VALUE,)).fetchone()[0]
        while (used := _used_bytes(db)) > target:
            # Pages become free when they are nearly empty, so what entries free is seen late and then at once; the
            # share of the entries that is the share of bytes too many would go past the target, half of it does not.
            count, freed = _delete_oldest(db, room * (used - target) / used / 2)
            if not count:
                break
            removed += count
            room -= freed
    if removed:
        shrink(db)
    return removed


def _delete_oldest(db: sqlite3.Connection, room: float) -> tuple[int, int]:
    """Deletes the longest unused entries, as many as take this room but at least one, and tells their number and
    room. A transaction for each thousand, so that others need not wait for the whole."""
    chosen: list[tuple[int]] = []
    freed = 0
    with db:
        db.execute("BEGIN IMMEDIATE")  # nobody else deletes what is chosen
        oldest = db.execute("SELECT rowid, CAST(size AS INTEGER) FROM entries ORDER BY used, rowid LIMIT 1000")
        for rowid, size in oldest.fetchall():
            takes = size + _BESIDE_VALUE
            if chosen and freed + takes > room:
                break
            chosen.append((rowid,))
            freed += takes
        count = db.executemany("DELETE FROM entries WHERE rowid = ?", chosen).rowcount
        if chosen and not count:  # it would be chosen for ever
            raise sqlite3.DatabaseError("its index names entries that are not there")
    return count, freed


def _used_bytes(db: sqlite3.Connection) -> int:
    page, count, free = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
    )
    return int(page * (count - free))


def shrink(db: sqlite3.Connection) -> None:
    """Gives free pages back to the disk, and empties the log."""
    db.executescript("PRAGMA incremental_vacuum")  # execute() would free one page: it stops at the first step
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
