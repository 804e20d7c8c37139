"""``arboreval cache``."""

from __future__ import annotations

import click

from arboreval.cli.output import echo


@click.group()
def cache() -> None:
    """Look after the cache of analyses.

    It is in ARBOREVAL_CACHE, or else in the user's cache folder, and holds up to 2 GB (or ARBOREVAL_CACHE_LIMIT, for
    example 500MB). What has not been used for the longest time goes first.
    """


@cache.command()
def info() -> None:
    """Print where the cache is and what it holds."""
    from arboreval.analysis.store import Store

    found = Store().info()
    echo(f"file     {found.path}{'' if found.path.exists() else ' (not there yet)'}")
    echo(f"entries  {found.entries:,}")
    echo(f"size     {_bytes(found.size)} of at most {_bytes(found.limit)}")
    for analyzer, (entries, size) in found.analyzers.items():
        echo(f"  {analyzer or 'unknown'}: {entries:,} entries, {_bytes(size)}")
    _scores()


def _scores() -> None:
    """What `arboreval meta` has kept, in a file of its own."""
    from arboreval.cli.analysis_options import plain_warnings
    from arboreval.meta.score_store import store_info

    with plain_warnings():
        scores = store_info()
    if not scores.path.exists():
        return
    echo(f"scores   {scores.path}")
    echo(f"entries  {sum(count for count, _ in scores.metrics.values()):,}")
    echo(f"size     {_bytes(scores.size)}")
    for metric, (entries, size) in scores.metrics.items():
        echo(f"  {metric}: {entries:,} entries, {_bytes(size)}")


@cache.command()
def verify() -> int:
    """Check every entry and remove those that are damaged. Exit with 3 if there were any."""
    from arboreval.analysis.store import Store
    from arboreval.errors import ExitCode

    good, bad = Store().verify()
    echo(f"{good:,} sound, {bad:,} damaged{' (removed)' if bad else ''}")
    return ExitCode.SOME_FAILED if bad else ExitCode.OK


@cache.command()
@click.option("--max-size", metavar="SIZE", help="Remove the longest unused until this much is left, e.g. 500MB.")
@click.option("--unused", type=click.FloatRange(min=0), metavar="DAYS", help="Remove what was not used for DAYS days.")
def prune(max_size: str | None, unused: float | None) -> None:
    """Make the cache smaller; without options, down to its limit."""
    from arboreval.analysis.store import Store, parse_size

    removed = Store().prune(None if max_size is None else parse_size(max_size), unused)
    echo(f"{removed:,} entries removed")


@cache.command()
def clear() -> None:
    """Remove every entry, and every score that `arboreval meta` kept."""
    from arboreval.analysis.store import Store
    from arboreval.meta.score_store import clear_store

    echo(f"{Store().clear():,} entries removed")
    if (scores := clear_store()) is not None:
        echo(f"{scores:,} scores removed")


def _bytes(size: int) -> str:
    value = float(size)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
