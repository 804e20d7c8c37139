"""Every error arboreval raises on purpose. The command line turns each into its exit code and one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    SOME_FAILED = 3
    BAD_INPUT = 4
    MISSING_EXTRA = 5
    BELOW_THRESHOLD = 6
    INTERRUPTED = 130


class ArborevalError(Exception):
    """Base of all errors a user can cause and cure."""

    exit_code: ExitCode = ExitCode.UNEXPECTED


class UsageError(ArborevalError, ValueError):
    """An unknown metric, an unknown option, or a value an option does not take."""

    exit_code = ExitCode.USAGE


class InputError(ArborevalError, ValueError):
    """Data that cannot be scored: misaligned, missing, empty, not UTF-8, or in the wrong language."""

    exit_code = ExitCode.BAD_INPUT


class StructureError(ArborevalError, ValueError):
    """A linguistic structure that is not well formed: in memory, in a stored record or in a file."""

    exit_code = ExitCode.BAD_INPUT


class MissingExtraError(ArborevalError, ImportError):
    """A package that the base install leaves out is needed."""

    exit_code = ExitCode.MISSING_EXTRA


class SegmentError(ArborevalError):
    """Raised by a metric for one segment it cannot score; the segment is marked as failed, the run goes on."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """One sentence for a name that does not exist, with the nearest one first."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"unknown {kind} {name!r}.{hint} Known: {', '.join(names) or 'none'}."
