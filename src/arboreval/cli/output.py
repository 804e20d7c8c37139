"""Where the text of a command goes, with a note that some has gone: after Ctrl-C it matters what is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from arboreval.errors import UsageError


class ReaderGoneError(Exception):
    """Who read our output has gone. No OSError, since click would end the process with 1 on a closed pipe."""


@dataclass
class Given:
    """Whether a command has begun to give out its result. The object of click's context."""

    begun: bool = False


def echo(text: str, *, nl: bool = True) -> None:
    """Prints to standard output."""
    _begin()
    try:
        click.echo(text, nl=nl)
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:  # the disk that it goes to is full
        raise UsageError(f"cannot write standard output: {error.strerror}.") from error


def emit(text: str, output: Path | None) -> None:
    """Prints a whole result, or writes it to a file."""
    with writer(output) as write:
        write(text)


@contextmanager
def writer(output: Path | None) -> Iterator[Callable[[str], object]]:
    """What prints a result, or writes it to a file, piece by piece."""
    if output is None:
        yield lambda text: echo(text, nl=False)
        return
    from arboreval.report.files import is_replaceable, opened_atomically

    if not is_replaceable(output):
        _begin()
    try:
        with opened_atomically(output) as file:
            # a lone surrogate in a text must not lose the rest
            yield lambda text: file.write(text.encode("utf-8", "replace").decode())
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    _begin()


def _begin() -> None:
    """To be called before the first character goes, since Ctrl-C may come while a slow reader takes it."""
    context = click.get_current_context(silent=True)
    given = context.find_object(Given) if context else None
    if given is not None:
        given.begun = True
