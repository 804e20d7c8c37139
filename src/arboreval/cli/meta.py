"""``arboreval meta``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from arboreval.cli.analysis_options import analysis_options
from arboreval.cli.common import FORMATS
from arboreval.cli.output import emit
from arboreval.errors import ExitCode, UsageError

CORRS = (
    "pearson, spearman, kendall, kendall-wmt12, kendall-wmt13, kendall-wmt14, kendall-darr, kendall-xties, acc23, spa, "
    "pairwise-accuracy, auc, accuracy, hybrid, hybrid-exact"
)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC[:OPTION=VALUE]...[,METRIC...]",
    help="Metrics, separated by commas; repeatable. Default: those of --scores.",
)
@click.option("--human", metavar="z|raw|CRITERION", help="Human scores.  [default: z where present, else raw]")
@click.option(
    "--level",
    type=click.Choice(["seg", "sys"]),
    help="Segments or systems.  [default: seg where people judged segments]",
)
@click.option("--corr", "corrs", multiple=True, metavar="NAME[,NAME...]", help=f"Coefficients: {CORRS}.")
@click.option(
    "--test",
    type=click.Choice(["williams", "zou", "perm-both", "perm-sys", "perm-input", "bootstrap"]),
    help="Test every pair of metrics.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni"]),
    default="holm",
    show_default=True,
    help="Correction of the p-values of --test for the number of pairs.",
)
@click.option(
    "--average",
    type=click.Choice(["none", "item", "sys"]),
    default="none",
    show_default=True,
    help="Pearson, Spearman, Kendall of all outputs, or averaged over segments or systems.",
)
@click.option(
    "--scores",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Scores of metrics computed elsewhere; repeatable.",
)
@click.option(
    "--lower-is-better",
    multiple=True,
    metavar="NAME",
    help="A metric of --scores for which a lower score is better; repeatable.",
)
@click.option(
    "--ratings", type=click.Path(path_type=Path), metavar="TSV", help="Human scores to add to FILE, and to use."
)
@click.option("--without", multiple=True, metavar="SYSTEM", help="Leave a system out; repeatable.")
@click.option("--partial", is_flag=True, help="Add correlations between metrics given the human scores.")
@click.option(
    "--unit",
    type=click.Choice(["segment", "row"]),
    default="segment",
    show_default=True,
    help="What is resampled: segments with all their systems, or single judgments.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=0),
    metavar="N",
    help="Bootstrap resamples for intervals, 0 for none.  [default: 1000]",
)
@click.option(
    "--permutations", type=click.IntRange(min=1), metavar="N", help="Permutations of a perm-* test.  [default: 1000]"
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Format of the output."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE instead of standard output."
)
@click.option("--pictures", type=click.Path(path_type=Path), metavar="DIR", help="Also write pictures as SVG and PDF.")
@click.option("--seed", type=int, help="Seed of all random numbers.  [default: 12345]")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Use only the first N segments.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Number of processes.  [default: 1]")
@click.option("--batch-size", type=click.IntRange(min=1), metavar="N", help="Segments per batch; changes no score.")
@analysis_options
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
def meta(
    files: tuple[str, ...],
    metrics: tuple[str, ...],
    corrs: tuple[str, ...],
    format_: str,
    output: Path | None,
    pictures: Path | None,
    no_cache: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Measure how well metrics agree with people.

    FILE is a file of human judgments (JSON Lines or TSV, see docs/formats.md) or an mt-metrics-eval directory.
    What a metric measures of a segment is kept, so that a second run is quick and an interrupted one goes on.

    \b
    arboreval meta wmt17.cs-en.jsonl.gz -m bleu,chrf
    arboreval meta wmt20.zh-en.jsonl.gz -m chrf -m bleu --corr pearson,kendall-darr --test williams
    """
    from arboreval import meta_evaluate

    # what was not given stays at the default of the Python function
    keywords = {name: value for name, value in settings.items() if value not in (None, ())}
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: there is no folder {output.parent}.")
    with progress_bar(show=not quiet) as progress:
        report = meta_evaluate(
            files,
            [name.strip() for text in metrics for name in text.split(",") if name.strip()],
            corr=[name.strip() for text in corrs for name in text.split(",") if name.strip()] or None,
            keep=not no_cache,
            cache=not no_cache,
            progress=progress,
            **keywords,
        )
    emit(report.render(format_), output)
    if pictures is not None:
        report.save_pictures(pictures)
    return ExitCode.SOME_FAILED if report.failed else ExitCode.OK


@contextmanager
def progress_bar(*, show: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for the metric at work, on standard error if that is a terminal."""
    import sys

    if not show or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda name, done, total: bar.update(task, description=name, completed=done, total=total)
