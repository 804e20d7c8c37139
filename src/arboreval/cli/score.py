"""``arboreval score``."""

from __future__ import annotations

from typing import Any

import click

from arboreval.cli.common import judge, judging_options


@click.command()
@judging_options
def score(**options: Any) -> int:
    """Score the output of one or more systems.

    HYP is a file with a segment a line, a TSV with a header, JSON Lines or Parquet (each possibly gzipped), or - for
    standard input. Systems are named by their files.

    \b
    arboreval score system.txt -r reference.txt -m bleu,chrf
    arboreval score outputs.jsonl -m rouge-l:measure=r --level seg --format tsv
    """
    return judge("score", **options)
