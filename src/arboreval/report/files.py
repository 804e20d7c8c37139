"""Writing files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from arboreval.errors import UsageError


def write_atomically(path: Path, text: str) -> None:
    """Writes beside ``path`` and renames, so that an interruption leaves no half-written file."""
    with opened_atomically(path) as file:
        file.write(text)


@contextmanager
def opened_atomically(path: Path) -> Iterator[TextIO]:
    """The same for what is written piece by piece: the file is there when the block has ended without an error."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}.") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
        temporary.chmod(0o666 & ~_umask())  # what open() would have given; mkstemp is stricter
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UsageError(f"cannot write {path}: {error.strerror}.") from error
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
