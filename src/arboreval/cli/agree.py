"""``arboreval agree``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arboreval.cli.common import FORMATS
from arboreval.cli.output import emit
from arboreval.errors import UsageError


@click.command()
@click.argument("ratings", nargs=-1, required=True, metavar="RATINGS...")
@click.option("--criterion", metavar="NAME", help="Column with the ratings.  [default: every column with numbers]")
@click.option("--cut", type=float, metavar="SECONDS", help="Longest time in the second mean time.  [default: 600]")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Format of the output."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE instead of standard output."
)
def agree(ratings: tuple[str, ...], format_: str, output: Path | None, **settings: Any) -> None:
    """Report how far annotators agree: correlation with the rest, Krippendorff's alpha, kappa, traps, times.

    RATINGS are TSV or JSON Lines files, a line for each annotator and item (see docs/formats.md). Files with one
    annotator each are joined.

    \b
    arboreval agree ratings.tsv
    arboreval agree anna.tsv ben.tsv carla.tsv
    """
    from arboreval import agreement

    if output is not None and not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: there is no folder {output.parent}.")
    keywords = {name: value for name, value in settings.items() if value is not None}
    emit(agreement(ratings, **keywords).render(format_), output)
