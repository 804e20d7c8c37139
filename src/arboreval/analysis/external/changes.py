"""Whether files are still as they were when something was made of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def state(paths: Iterable[Path]) -> list[tuple[int, int, int] | None]:
    """What changes when the content of one of the files does; None for a file that is not there."""
    found: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            about = path.stat()
        except OSError:
            found.append(None)
        else:
            found.append((about.st_ino, about.st_size, about.st_mtime_ns))
    return found
