"""``arboreval explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arboreval.cli.analysis_options import analysis_options, plain_warnings
from arboreval.cli.output import emit
from arboreval.errors import ExitCode, UsageError

FORMATS = ("text", "json", "html")


@click.command()
@click.argument("hypotheses", nargs=-1, metavar="[HYP]...")
@click.option("-r", "--reference", "references", multiple=True, metavar="REF", help="Reference file; repeatable.")
@click.option("--text", metavar="TEXT", help="Explain TEXT, instead of files.")
@click.option("--ref-text", "ref_texts", multiple=True, metavar="TEXT", help="A reference of --text; repeatable.")
@click.option(
    "-m",
    "--metric",
    default="structure-alignment",
    show_default=True,
    metavar="METRIC[:OPTION=VALUE]...",
    help="structure-alignment or bertscore.",
)
@click.option(
    "--seg",
    "segments",
    multiple=True,
    metavar="N",
    help="A segment, or several as in 3-7; repeatable. Segments are counted from 1, or named by their ids.  "
    "[default: the first 20]",
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Format of the output."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE instead of standard output."
)
@click.option("--lang", metavar="LANG", help="Target language (en) or language pair (zh-en).")
@analysis_options
def explain(
    hypotheses: tuple[str, ...],
    references: tuple[str, ...],
    text: str | None,
    ref_texts: tuple[str, ...],
    metric: str,
    segments: tuple[str, ...],
    format_: str,
    output: Path | None,
    lang: str | None,
    analyzer: str | None,
    encoder: str | None,
    no_cache: bool,
) -> int:
    """Show what a score is made of: which parts of the output found which parts of the reference.

    HYP and REF are files as `arboreval score` takes them.

    \b
    arboreval explain system.txt -r reference.txt --seg 12 --format html -o why.html
    arboreval explain --text "I saw a girl by a telescope." --ref-text "I saw a girl having a telescope."
    """
    from arboreval import api_explain
    from arboreval.corpus import read_corpus

    if (text is None) == (not hypotheses):
        raise UsageError("give either HYP files with -r REF, or --text with --ref-text.")
    if text is not None and (references or segments):
        raise UsageError("--text goes with --ref-text; -r and --seg are for files.")
    if text is None and ref_texts:
        raise UsageError("--ref-text goes with --text; the reference of a file is given with -r.")
    if text is not None and not ref_texts:
        raise UsageError("no reference: give one with --ref-text.")
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: there is no folder {output.parent}.")
    api_explain.check_metric(metric)
    settings: dict[str, Any] = {"metric": metric, "analyzer": analyzer, "encoder": encoder, "cache": not no_cache}
    with plain_warnings():
        if text is not None:
            made = api_explain.explain(text, ref_texts, lang=lang, **settings)
        else:
            corpus = read_corpus(hypotheses, references, lang=lang)
            files = [name for name in (*hypotheses, *references) if name != "-"]
            made = api_explain.explain(corpus, segments=segments or None, files=files, **settings)
    emit(made.render(format_), output)
    failed = sum(entry.status == "failed" for entry in made.outputs)
    if failed:
        click.echo(f"{failed} of {len(made.outputs)} outputs have no score.", err=True)
    return ExitCode.SOME_FAILED if failed else ExitCode.OK
