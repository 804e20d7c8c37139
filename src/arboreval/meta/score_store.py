"""Statistics of segments on disk, one entry for each metric and input, so that nothing is measured twice.

The file lies beside the cache of analyses and has its form (:mod:`arboreval.analysis.store_file`); the metric's name
stands where the analyzer's does. A file that cannot be used costs time, never a result: the run goes on without it.
"""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from arboreval.analysis.store import CacheWarning, cache_folder, cache_limit
from arboreval.analysis.store_file import SCHEMA, UnusableError, clear, connect, hint, is_there, prune, reason
from arboreval.meta.evalset import FloatArray

FILE = f"scores-{SCHEMA}.sqlite"
_BUSY_SECONDS = 30.0


@dataclass(frozen=True, eq=False)
class Entry:
    """What a metric found in one segment: its statistics, or the reason why it has none."""

    stats: FloatArray
    status: str = "ok"  # ok | degraded | failed
    reason: str = ""


def entry_key(recipe: str, hypothesis: str, references: Sequence[str], source: str | None) -> bytes:
    """A hash of the metric's recipe and of everything it reads."""
    digest = blake2b(digest_size=20)
    for part in (recipe, hypothesis, "" if source is None else f"s{source}", *references):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))  # without lengths ("a", "bc") would be ("ab", "c")
        digest.update(data)
    return digest.digest()


class ScoreStore:
    """The store in one folder; ``folder`` None is the user's cache."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder if folder is not None else cache_folder()) / FILE
        self._limit = cache_limit()
        self._db: sqlite3.Connection | None = None
        self._wrote = False
        self._writable = True
        try:
            self._db = connect(self.path, _BUSY_SECONDS)
        except (OSError, sqlite3.Error, UnusableError) as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        self._warn(error)

    def _warn(self, error: Exception) -> None:
        self._writable = False
        why = f"{reason(error)}.{hint(self.path, error)}"
        warnings.warn(f"scores are not kept in {self.path}: {why}", CacheWarning, stacklevel=4)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Entry]:
        """The entries that are there; damaged ones are not."""
        found: dict[bytes, Entry] = {}
        if self._db is None:
            return found
        try:
            for key in keys:
                row = self._db.execute("SELECT value, checksum FROM entries WHERE key = ?", (key,)).fetchone()
                if row is not None and isinstance(row[0], bytes) and _checksum(key, row[0]) == row[1]:
                    found[key] = _decode(row[0])
        except sqlite3.Error as error:
            self._give_up(error)
        return found

    def put(self, metric: str, entries: Iterable[tuple[bytes, Entry]]) -> None:
        if self._db is None or not self._writable:
            return
        now = int(time.time())
        rows = []
        for key, entry in entries:
            value = _encode(entry)
            rows.append((key, value, _checksum(key, value), metric, len(value), now))
        try:
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._wrote = True
        except sqlite3.Error as error:  # a full or a read-only disk: what is there can still be read
            self._warn(error)

    def close(self) -> None:
        if self._db is None:
            return
        try:
            if self._wrote:
                prune(self._db, self._limit, None)
        except (sqlite3.Error, UnusableError) as error:
            self._give_up(error)
        if self._db is not None:
            self._db.close()
            self._db = None


@dataclass(frozen=True)
class StoreInfo:
    """What a store of scores holds."""

    path: Path
    #: bytes of the file and of its log
    size: int
    #: entries and bytes by metric
    metrics: dict[str, tuple[int, int]]


def clear_store(folder: Path | None = None) -> int | None:
    """Removes every entry, or a whole file of ours beyond use; how many entries, None where there is no file."""
    path = (folder if folder is not None else cache_folder()) / FILE
    return clear(path, _BUSY_SECONDS) if is_there(path) else None


def store_info(folder: Path | None = None) -> StoreInfo:
    """Looks into the store without making it; a file that cannot be read holds nothing, with a warning."""
    path = (folder if folder is not None else cache_folder()) / FILE
    files = [file for suffix in ("", "-wal") if (file := Path(f"{path}{suffix}")).exists()]
    metrics: dict[str, tuple[int, int]] = {}
    if path.exists():
        query = "SELECT analyzer, COUNT(*), SUM(size) FROM entries GROUP BY analyzer ORDER BY analyzer"
        try:
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
            with closing(db):
                metrics = {name: (count, size) for name, count, size in db.execute(query)}
        except sqlite3.Error as error:
            warnings.warn(f"{path} cannot be read: {error}.", CacheWarning, stacklevel=2)
    return StoreInfo(path, sum(file.stat().st_size for file in files), metrics)


def _checksum(key: bytes, value: bytes) -> bytes:
    return blake2b(key + value, digest_size=16).digest()


def _encode(entry: Entry) -> bytes:
    """Counts take two bytes each, other numbers eight."""
    small = entry.stats.astype(np.uint16) if _counts(entry.stats) else None
    data = (small if small is not None else entry.stats).tobytes()
    return msgspec.msgpack.encode((small is not None, data, entry.status, entry.reason))


def _counts(stats: FloatArray) -> bool:
    return bool(np.all((stats >= 0) & (stats < 65_536) & (stats == np.floor(stats))))


def _decode(value: bytes) -> Entry:
    small, data, status, reason = msgspec.msgpack.decode(value, type=tuple[bool, bytes, str, str])
    stats = np.frombuffer(data, dtype=np.uint16 if small else np.float64).astype(np.float64)
    return Entry(stats, status, reason)
