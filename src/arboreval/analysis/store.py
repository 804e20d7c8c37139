"""The cache of analyses: one SQLite file, keyed by what was analysed and by what.

Several processes may use it at once (write-ahead log, short transactions). Nothing that can happen to the file fails a
run: entries that were damaged are made again and counted, and a file that cannot be read or written is a
:class:`CacheWarning`, after which the run goes on without it.
"""

from __future__ import annotations

import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from arboreval.analysis.codec import FORMAT, from_msgpack, to_msgpack
from arboreval.analysis.store_file import (
    SCHEMA,
    UnusableError,
    clear,
    connect,
    failure,
    hint,
    is_there,
    primary_code,
    prune,
    reason,
)
from arboreval.analysis.structures import Analysis
from arboreval.errors import StructureError, UsageError

DEFAULT_LIMIT = 2_000_000_000
FILE = f"analyses-{SCHEMA}.sqlite"
_BUSY_SECONDS = 5.0
#: the time of last use is written again only if it is this old, so that reading is hardly ever writing
_USED_SECONDS = 3_600
#: bytes that a process writes before it looks again whether the limit is passed
_PRUNE_EVERY = 64_000_000
_ENTRIES = "SELECT rowid, key, value, checksum, size, used FROM entries"
#: what can be wrong with writing where reading goes on
_ONLY_WRITING = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
)
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}

T = TypeVar("T")


class CacheWarning(UserWarning):
    """Something about the cache that a user should know; the results are not affected."""


@dataclass(frozen=True)
class Info:
    """What is in the cache."""

    path: Path
    entries: int
    #: bytes of the file and of its log
    size: int
    limit: int
    #: entries and bytes by the fingerprint of their analyzer
    analyzers: dict[str, tuple[int, int]]


def cache_folder() -> Path:
    """``ARBOREVAL_CACHE``, or the folder that the platform has for caches. It begins with ``~`` where there is no home,
    as in a container whose user has no name; such a folder is never made."""
    if given := os.environ.get("ARBOREVAL_CACHE"):
        return Path(os.path.expanduser(given))
    from platformdirs import user_cache_path

    try:
        return user_cache_path("arboreval", appauthor=False)
    except RuntimeError:
        return Path("~/.cache/arboreval")


def parse_size(text: str) -> int:
    """``500MB`` → 500000000."""
    number = text.strip().lower().rstrip("bkmgt ")
    unit = text.strip().lower()[len(number) :].strip()
    try:
        size = float(number) * _UNITS[unit if unit in _UNITS else f"{unit}b"]
        if not 0 <= size < 2**62:
            raise ValueError
    except (ValueError, KeyError):
        raise UsageError(f"{text!r} is not a size; write for example 500MB or 2GB.") from None
    return int(size)


def cache_limit() -> int:
    """``ARBOREVAL_CACHE_LIMIT``, or 2 GB."""
    given = os.environ.get("ARBOREVAL_CACHE_LIMIT")
    try:
        return parse_size(given) if given else DEFAULT_LIMIT
    except UsageError as error:
        raise UsageError(f"ARBOREVAL_CACHE_LIMIT: {error}") from None


def entry_key(text: str, fingerprint: str, layers: Iterable[str]) -> bytes:
    """The name of an entry: a hash of everything that determines the analysis and how it is stored."""
    digest = blake2b(digest_size=20)
    for part in (str(FORMAT), fingerprint, ",".join(sorted(layers)), text):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))  # without lengths ("a", "bc") would be ("ab", "c")
        digest.update(data)
    return digest.digest()


def _checksum(key: bytes, value: bytes) -> bytes:
    # with the key, so that a value under the wrong key is found out too
    return blake2b(key + value, digest_size=16).digest()


class Store:
    """The cache in one folder. Connects when first used, in each process anew."""

    def __init__(self, folder: Path | None = None, limit: int | None = None) -> None:
        self.path = (folder if folder is not None else cache_folder()) / FILE
        self.limit = cache_limit() if limit is None else limit
        #: entries found damaged since the store was made
        self.damaged = 0
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._readable = self._writable = True
        self._written = 0
        self._warned_damaged = 0

    def __getstate__(self) -> dict[str, object]:
        return {"folder": self.path.parent, "limit": self.limit}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    # --- entries -------------------------------------------------------------------------------------------------

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Analysis]:
        """The analyses that are there, by key."""
        rows = self._guarded("read", lambda db: self._select(db, keys))
        found: dict[bytes, Analysis] = {}
        stale: list[bytes] = []
        bad: list[int] = []
        now = int(time.time())
        for rowid, key, value, checksum, size, used in rows or ():
            analysis = _decode(key, value, checksum, size, used)
            if analysis is None:
                bad.append(rowid)
                continue
            found[key] = analysis
            if now - used > _USED_SECONDS:
                stale.append(key)
        self.damaged += len(bad)
        if bad or stale:
            self._guarded("write", lambda db: self._touch(db, bad, stale, now))
        return found

    @staticmethod
    def _select(db: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[int, bytes, bytes, bytes, int, int]]:
        return [row for key in keys for row in db.execute(f"{_ENTRIES} WHERE key = ?", (key,))]

    @staticmethod
    def _touch(db: sqlite3.Connection, bad: Sequence[int], stale: Sequence[bytes], now: int) -> None:
        with db:
            # by number, since the key may be what is damaged
            db.executemany("DELETE FROM entries WHERE rowid = ?", [(rowid,) for rowid in bad])
            db.executemany("UPDATE entries SET used = ? WHERE key = ?", [(now, key) for key in stale])

    def put(self, entries: Iterable[tuple[bytes, Analysis]]) -> None:
        """Stores analyses; those that are there already are left as they are."""
        if not self._writable:
            return
        now = int(time.time())
        rows: list[tuple[bytes, bytes, bytes, str, int, int]] = []
        for key, analysis in entries:
            try:
                value = to_msgpack(analysis)
            except StructureError:  # half a surrogate pair: not worth a format of its own
                continue
            rows.append((key, value, _checksum(key, value), analysis.fingerprint, len(value), now))

        def write(db: sqlite3.Connection) -> int:
            with db:
                db.executemany("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
            return sum(row[4] for row in rows)

        if rows:
            self._written += self._guarded("write", write) or 0
            if self._written >= _PRUNE_EVERY:
                self._guarded("write", lambda db: prune(db, self.limit, None))
                self._written = 0

    def close(self) -> None:
        """Ends the use of the store by a run: keeps the size limit and reports what was damaged."""
        if self._connection is not None and self._written:
            self._guarded("write", lambda db: prune(db, self.limit, None))
            self._written = 0
        self._disconnect()
        if new := self.damaged - self._warned_damaged:
            self._warned_damaged = self.damaged
            what = "entry was" if new == 1 else "entries were"
            warnings.warn(
                f"{new} damaged {what} found in the cache {self.path} and made again.", CacheWarning, stacklevel=2
            )

    # --- what the command line offers ----------------------------------------------------------------------------

    def info(self) -> Info:
        def collect(db: sqlite3.Connection) -> dict[str, tuple[int, int]]:
            query = "SELECT analyzer, COUNT(*), SUM(size) FROM entries GROUP BY analyzer ORDER BY analyzer"
            return {analyzer: (count, size) for analyzer, count, size in db.execute(query)}

        analyzers = self._asked("read", collect) if is_there(self.path) else {}
        files = [Path(f"{self.path}{suffix}") for suffix in ("", "-wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
        return Info(self.path, sum(count for count, _ in analyzers.values()), size, self.limit, analyzers)

    def verify(self) -> tuple[int, int]:
        """Checks every entry and removes those that are damaged: how many were sound, how many were not."""
        if not is_there(self.path):
            return 0, 0
        good = 0
        bad: list[int] = []

        def look(db: sqlite3.Connection) -> None:
            nonlocal good
            for rowid, *entry in db.execute(_ENTRIES):
                if _decode(*entry) is None:
                    bad.append(rowid)
                else:
                    good += 1

        self._asked("read", look)
        if bad:
            self._asked("write", lambda db: self._touch(db, bad, (), 0))
        return good, len(bad)

    def prune(self, limit: int | None = None, unused_days: float | None = None) -> int:
        """Removes what has not been used for the longest time; the number of entries removed."""
        if unused_days is not None and not unused_days >= 0:  # nan is not
            raise UsageError(f"{unused_days} is not a number of days.")
        if not is_there(self.path):
            return 0
        before = None if unused_days is None else time.time() - unused_days * 86_400
        size = self.limit if limit is None and before is None else limit
        return self._asked("write", lambda db: prune(db, size, before, exact=True))

    def clear(self) -> int:
        """Removes every entry, or a whole file of ours that is beyond use; the number of entries removed."""
        self._disconnect()
        return clear(self.path, _BUSY_SECONDS)

    # --- the connection ------------------------------------------------------------------------------------------

    def _asked(self, action: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Does what a user asked of the cache itself; that it cannot be done is then an error."""
        try:
            return work(self._connect())
        except (sqlite3.Error, OSError, UnusableError) as error:
            self._disconnect()
            raise failure(self.path, "read" if action == "read" else "changed", error) from error

    def _guarded(self, action: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Does something with the database; what goes wrong is a warning, and not tried again in this run."""
        if not (self._readable and (self._writable or action == "read")):
            return None
        try:
            return work(self._connect())
        except (sqlite3.Error, OSError, UnusableError) as error:
            self._give_up(action, error)
            return None

    def _give_up(self, action: str, error: Exception) -> None:
        self._writable = False
        why = reason(error)
        if action == "write" and primary_code(error) in _ONLY_WRITING:
            message = f"the cache {self.path} cannot be written ({why}); new analyses are not kept."
        else:
            self._readable = False
            self._disconnect()
            message = f"the cache {self.path} cannot be used ({why}); going on without it.{hint(self.path, error)}"
        warnings.warn(message, CacheWarning, stacklevel=4)

    def _connect(self) -> sqlite3.Connection:
        # a connection must not be carried over a fork
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        self._connection, self._process = connect(self.path, _BUSY_SECONDS), os.getpid()
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():
            connection.close()


def _decode(key: object, value: object, checksum: object, size: object, used: object) -> Analysis | None:
    """What is stored, or None if anything of the entry is not as it was written."""
    if not (isinstance(key, bytes) and isinstance(value, bytes) and isinstance(used, int) and size == len(value)):
        return None
    if _checksum(key, value) != checksum:
        return None
    try:
        return from_msgpack(value, Analysis)
    except StructureError:
        return None
