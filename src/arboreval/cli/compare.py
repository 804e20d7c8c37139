"""``arboreval compare``."""

from __future__ import annotations

from typing import Any

import click

from arboreval.cli.common import judge, judging_options


@click.command()
@judging_options
def compare(**options: Any) -> int:
    """Compare systems: ranks, intervals, p-values, and who beats whom.

    Every pair is tested by paired bootstrap (1,000 resamples) and paired approximate randomisation (10,000 trials),
    Holm-corrected over all pairs of a metric.

    \b
    arboreval compare a.txt b.txt c.txt -r reference.txt -m bleu,chrf
    """
    return judge("compare", **options)
