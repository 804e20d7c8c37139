"""The SQLite file of the cache: how it is recognised, made, kept small and emptied."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from arboreval.errors import InputError

SCHEMA = 1
#: marks the file as ours, in the header field that SQLite keeps for this ("ArbE")
APPLICATION = 0x41726245
_MAGIC = b"SQLite format 3\0"
#: pruning goes below the limit by this share, so that it does not start over with the next entry
_PRUNE_TO = 0.9
#: about the bytes that an entry takes besides its value: key, checksum, analyzer, and its places in three indexes
_BESIDE_VALUE = 200
#: damage, and what cannot be written though perhaps removed; in other cases another process may be at work
_CURED_BY_REMOVAL = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)

_TABLES = """
CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum BLOB NOT NULL, analyzer TEXT NOT NULL,
                      size INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE INDEX entries_by_use ON entries (used, size);
CREATE INDEX entries_by_analyzer ON entries (analyzer, size);
"""


class UnusableError(Exception):
    """The file is not ours, of another version, or damaged; the reason is its text."""


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
            raise UnusableError("its index names entries that are not there")
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


def is_there(path: Path) -> bool:
    """Whether there is a file; a folder that nobody may look into could hold one."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise failure(path, "read", error) from error
    return True


def clear(path: Path, timeout: float) -> int:
    """Removes every entry, or a whole file of ours that is beyond use; the number of entries removed."""
    if not is_there(path):
        return 0
    try:
        with closing(connect(path, timeout)) as db:
            with db:
                removed = db.execute("DELETE FROM entries").rowcount
            shrink(db)
            return removed
    except (sqlite3.Error, OSError, UnusableError) as error:
        if not is_cured_by_removal(error):
            raise failure(path, "changed", error) from error
        if not is_ours(path):
            raise InputError(f"the cache {path} cannot be used ({reason(error)}). It was left as it is.") from error
    try:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise failure(path, "removed", error) from error
    return 0


def failure(path: Path, action: str, error: Exception) -> InputError:
    """The error of what a user asked of the file itself."""
    return InputError(f"the cache {path} cannot be {action} ({reason(error)}).{hint(path, error)}")


def reason(error: Exception) -> str:
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return "a file is where its folder should be"
    return str(error) if not isinstance(error, OSError) else error.strerror or str(error)


def hint(path: Path, error: Exception) -> str:
    """What to do about a file that cannot be used; to remove it is no help where it cannot be removed."""
    if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return " Another process is at work with it; try again when that has ended."
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return " Set ARBOREVAL_CACHE to a folder."
    if not is_removable(path):
        return " It cannot be removed either; set ARBOREVAL_CACHE to another folder."
    return " `arboreval cache clear` removes it." if is_ours(path) and is_cured_by_removal(error) else ""


def is_cured_by_removal(error: Exception) -> bool:
    return isinstance(error, UnusableError) or primary_code(error) in _CURED_BY_REMOVAL


def primary_code(error: Exception) -> int | None:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
