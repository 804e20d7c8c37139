"""Options and messages shared by the commands that analyse texts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click


def analysis_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which analyzer, whose vectors, and whether to keep the results."""
    for decorate in reversed(
        [
            click.option("--analyzer", metavar="NAME[:OPTION=VALUE]...",
                         help="What analyses: english, spacy:model=NAME, files, or a plug-in.  [default: english]"),
            click.option("--encoder", metavar="english|PATH[:layer=N]",
                         help="Take vectors from the bundled encoder, or from a Hugging Face encoder: a folder, or a "
                              "name on the hub."),
            click.option("--no-cache", is_flag=True,
                         help="Neither use nor fill the caches of analyses and statistics."),
        ]
    ):  # fmt: skip
        function = decorate(function)
    return function


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Shows warnings as one line on standard error, without the place in our source where they arose."""

    def show(message: Warning | str, *_args: object, **_keywords: object) -> None:
        click.echo(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield
