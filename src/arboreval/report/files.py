"""Writing files that are whole or not there."""

from __future__ import annotations

import os
import stat
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
    """The same for what is written piece by piece: the file is there when the block has ended without an error.

    The target of a symbolic link is replaced, not the link. A pipe or a device is written to as it stands.
    """
    temporary: Path | None = None
    try:
        if is_replaceable(path):
            target = Path(os.path.realpath(path))
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            temporary = Path(name)
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                yield file
            temporary.chmod(0o666 & ~_umask())  # what open() would have given; mkstemp is stricter
            temporary.replace(target)
        else:
            with path.open("w", encoding="utf-8", newline="\n") as file:
                yield file
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UsageError(f"cannot write {path}: {error.strerror}.") from error
        raise


def is_replaceable(path: Path) -> bool:
    """Whether a new file may take this name: a regular file is there, or nothing. In the place of a pipe or a device
    it would cut off who reads there, and root would lose ``/dev/null``."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True
    except OSError:  # opening it will say why
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
