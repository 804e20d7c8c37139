"""Writing files that are whole or not there."""

from __future__ import annotations

import os
import re
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

    The target of a symbolic link is replaced, not the link. A pipe, a device or an open file is written to as it
    stands, and a pipe whose reader has gone raises BrokenPipeError, as standard output does.
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
            # a copy of the descriptor shares its place in the file; opening the name would begin at the start
            descriptor = _descriptor(path)
            with open(path if descriptor is None else os.dup(descriptor), "w", encoding="utf-8", newline="\n") as file:
                yield file
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise UsageError(f"cannot write {path}: {error.strerror}.") from error
        raise


def is_replaceable(path: Path) -> bool:
    """Whether a new file may take this name: a regular file is there, or nothing. In the place of a pipe or a device
    it would cut off who reads there, and root would lose ``/dev/null``; in the place of the file that standard output
    goes to, what else goes there would be lost."""
    if _descriptor(path) is not None:
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True
    except OSError:  # opening it will say why
        return False


def _descriptor(path: Path) -> int | None:
    """The number of the open file that ``/dev/stdout``, ``/dev/fd/3`` and the like stand for."""
    names = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
    number = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", str(path))
    return int(number[1]) if number else names.get(str(path))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
