"""Options and output shared by the commands that judge systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arboreval.cli.analysis_options import analysis_options, plain_warnings
from arboreval.cli.output import emit
from arboreval.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from arboreval.report.model import Report

#: below this many segments and systems a progress bar would only flicker
_PROGRESS_FROM = 2_000

FORMATS = ("text", "json", "tsv", "latex", "html")


def judging_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `score` and `compare`; their defaults are those of the Python functions."""
    for decorate in reversed(
        [
            click.argument("hypotheses", nargs=-1, required=True, metavar="HYP..."),
            click.option("-r", "--reference", "references", multiple=True, metavar="REF",
                         help="Reference file; repeat for several references."),
            click.option("-s", "--source", metavar="SRC", help="Source file."),
            click.option("-m", "--metric", "metrics", multiple=True, metavar="METRIC[:OPTION=VALUE]...[,METRIC...]",
                         help="Metrics, separated by commas; repeatable. Default: bleu,chrf,ter."),
            click.option("--level", type=click.Choice(["sys", "seg"]), default="sys", show_default=True,
                         help="seg adds a score for every segment."),
            click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True,
                         help="Format of the output."),
            click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
                         help="Write to FILE instead of standard output."),
            click.option("--mtme", type=click.Path(path_type=Path), metavar="DIR",
                         help="Also write score files as mt-metrics-eval reads them."),
            click.option("--lang", metavar="LANG", help="Target language (en) or language pair (zh-en)."),
            click.option("--seed", type=int, help="Seed of all random numbers.  [default: 12345]"),
            click.option("--limit", type=click.IntRange(min=1), help="Score only the first N segments.", metavar="N"),
            click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Number of processes.  [default: 1]"),
            click.option("--batch-size", type=click.IntRange(min=1), metavar="N",
                         help="Segments per batch; changes no score."),
            click.option("--fail-under", multiple=True, metavar="METRIC=VALUE",
                         help="Exit with 6 if a system is worse than VALUE; repeatable."),
            click.option("-q", "--quiet", is_flag=True, help="No input report and no progress bar."),
        ]
    ):  # fmt: skip
        function = decorate(function)
    return analysis_options(function)


def judge(
    function: str,
    *,
    hypotheses: Sequence[str],
    references: Sequence[str],
    source: str | None,
    metrics: Sequence[str],
    level: str,
    format_: str,
    output: Path | None,
    mtme: Path | None,
    lang: str | None,
    fail_under: Sequence[str],
    quiet: bool,
    no_cache: bool,
    **settings: int | str | None,
) -> int:
    """Reads the files, calls ``arboreval.score`` or ``arboreval.compare``, and writes the result."""
    from arboreval import api
    from arboreval.corpus import read_corpus

    # what was not given stays at the default of the Python function
    keywords: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    specs = [spec for text in metrics for spec in text.split(",") if spec.strip()] or list(api.DEFAULT_METRICS)
    labels = check_metrics(specs)
    thresholds = [parse_threshold(text, labels) for text in fail_under]
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: there is no folder {output.parent}.")
    corpus = read_corpus(hypotheses, references, source=source, lang=lang)
    files = [path for path in (*hypotheses, *references) if path != "-"]
    with plain_warnings(), progress_bar(len(corpus), show=not quiet) as progress:
        report: Report = getattr(api, function)(
            corpus, metrics=specs, level=level, cache=not no_cache, files=files, progress=progress, **keywords
        )
    if not quiet:
        print_input_report(report)
    emit(report.render(format_), output)
    if mtme is not None:
        from arboreval.report.mtme import write_mtme

        write_mtme(report, mtme)
    return exit_code(report, thresholds)


def check_metrics(specs: Sequence[str]) -> list[str]:
    """The labels of the metrics; a wrong name or option is found before any file is read."""
    from arboreval.registry import make_metric

    return [make_metric(spec).label for spec in specs]


def parse_threshold(text: str, labels: Sequence[str]) -> tuple[str, float]:
    """``bleu=20`` → ("bleu", 20.0). The metric may have options, so the last = counts."""
    metric, equals, value = text.rpartition("=")
    try:
        threshold = float(value)
    except ValueError:
        equals = ""
        threshold = 0.0
    if not equals or threshold != threshold:
        raise UsageError(f"--fail-under {text!r}: write METRIC=VALUE, for example bleu=20.")
    (label,) = check_metrics([metric])
    if label not in labels:
        raise UsageError(f"--fail-under {text!r}: {label} is not among the metrics scored ({', '.join(labels)}).")
    return label, threshold


def exit_code(report: Report, thresholds: Sequence[tuple[str, float]]) -> int:
    missed = False
    for metric, threshold in thresholds:
        for system in report.systems:
            score = system.scores[metric]
            if score.value is None:
                good = False
            else:
                good = score.value >= threshold if score.higher_is_better else score.value <= threshold
            if not good:
                missed = True
                click.echo(f"{system.name}: {metric} is {score.value}, the limit is {threshold:g}.", err=True)
    if missed:
        return ExitCode.BELOW_THRESHOLD
    return ExitCode.SOME_FAILED if report.failures else ExitCode.OK


def print_input_report(report: Report) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True)
    count = "1 segment" if report.input.segments == 1 else f"{report.input.segments} segments"
    names = "1 system" if len(report.systems) == 1 else f"{len(report.systems)} systems"
    remarks = report.input.remarks()
    head = f"input: {count}, {names}, target language {report.input.lang!r}"
    console.print(Text(head + ("" if remarks else "; nothing to remark"), style="dim"))
    for remark in remarks:
        console.print(Text(f"  {remark}", style="yellow"))


@contextmanager
def progress_bar(total: int, *, show: bool) -> Iterator[Callable[[int], None] | None]:
    """A bar on standard error if that is a terminal and there is enough to do."""
    import sys

    if not show or total < _PROGRESS_FROM or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("segments"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("score", total=total)
        yield lambda done: bar.update(task, completed=done)
