"""``arboreval analyze``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arboreval.cli.analysis_options import analysis_options, plain_warnings
from arboreval.cli.output import writer
from arboreval.errors import ExitCode, InputError, UsageError

if TYPE_CHECKING:
    from arboreval.analysis.structures import Analysis

FORMATS = ("text", "json", "conllu", "ptb", "html")
_STDIN = "-"
S = TypeVar("S")
_TABLES = (".tsv", ".jsonl", ".ndjson", ".parquet")


@click.command()
@click.argument("file", required=False)
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="Analyse TEXT; repeatable, instead of FILE.")
@click.option(
    "--layers",
    metavar="LAYER[,LAYER...]",
    help="Some of dep,const,ucca,rst,srl,ner,vectors.  [default: all that the analyzer makes but vectors]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Format of the output; json is one object a line.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE instead of standard output."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Analyse only the first N texts.")
@analysis_options
def analyze(
    file: str | None,
    texts: tuple[str, ...],
    layers: str | None,
    format_: str,
    output: Path | None,
    limit: int | None,
    analyzer: str | None,
    encoder: str | None,
    no_cache: bool,
) -> int:
    """Show the structure of texts: words, trees, meaning, discourse, roles, entities.

    FILE has a text a line (it may be gzipped); - is standard input.

    \b
    arboreval analyze --text "The girl having a telescope saw the man."
    arboreval analyze system.txt --layers dep,const --format html -o trees.html
    """
    from itertools import islice

    from arboreval.analysis.analyzer import DEFAULT_ANALYZER, layer_names, make_analyzer
    from arboreval.api_analysis import analyze as run

    if (file is None) == (not texts):
        raise UsageError("give either a FILE (or - for standard input) or --text.")
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: there is no folder {output.parent}.")
    if output is not None and file is not None and output.is_file() and Path(file).is_file() and output.samefile(file):
        raise UsageError(f"cannot write {output}: it is the text that is to be analysed.")
    lines: Iterable[str] = _lines(file) if file is not None else texts
    spec = DEFAULT_ANALYZER if analyzer is None else analyzer
    made = make_analyzer(spec, files=[file] if file not in (None, _STDIN) else [])
    if format_ == "ptb" and "const" not in (made.provides if layers is None else layer_names(layers)):
        raise UsageError("the format ptb needs the layer const.")
    count: dict[str, int] = {"ok": 0, "degraded": 0, "failed": 0}
    with plain_warnings():
        analyses = run(islice(lines, limit), analyzer=made, layers=layers, encoder=encoder, cache=not no_cache)
        with writer(output) as write:
            if format_ == "html":
                title = f"Analysis of {Path(file).name if file not in (None, _STDIN) else 'a text'}"
                write(_page(_counted(analyses, count), title))
            else:
                for piece in _RENDER[format_](_counted(analyses, count)):
                    write(piece)
    total = sum(count.values())
    for status in ("degraded", "failed"):
        if count[status]:
            click.echo(f"{count[status]} of {total} texts {status}.", err=True)
    return ExitCode.SOME_FAILED if count["failed"] else ExitCode.OK


def _counted(analyses: Iterable[Analysis], count: dict[str, int]) -> Iterator[Analysis]:
    for made in analyses:
        analysis = _writable(made)
        count[analysis.status] += 1
        yield analysis


def _writable(analysis: Analysis) -> Analysis:
    """The analysis with U+FFFD for each half of a surrogate pair: one text must not lose the others their places."""
    whole = _whole(analysis)
    if whole is analysis:
        return analysis
    why = "half a surrogate pair, which UTF-8 cannot hold, is replaced by U+FFFD"
    return replace(
        whole,
        status="failed" if whole.status == "failed" else "degraded",
        reason=f"{whole.reason}; {why}" if whole.reason else why,
    )


def _whole(structure: S) -> S:
    """The structure with the replacements in all its strings, or itself where there is nothing to replace."""
    from arboreval.analysis.structures.base import Structure
    from arboreval.analysis.surrogates import SURROGATE, replace_surrogates

    changed: dict[str, Any] = {}
    for field in fields(structure):  # type: ignore[arg-type]
        value = new = getattr(structure, field.name)
        if isinstance(value, Structure):
            new = _whole(value)
        elif isinstance(value, str):
            new = replace_surrogates(value)
        elif isinstance(value, tuple) and any(isinstance(item, str) and SURROGATE.search(item) for item in value):
            new = tuple(map(replace_surrogates, value))
        if new is not value:
            changed[field.name] = new
    return replace(structure, **changed) if changed else structure  # type: ignore[type-var]


def _lines(path: str) -> Iterator[str]:
    """The lines of a text file as they come."""
    import gzip
    import zlib

    if path.lower().removesuffix(".gz").endswith(_TABLES):
        raise UsageError(f"{path} is a table; analyze reads plain text, a text a line.")
    origin = "standard input" if path == _STDIN else path
    number = 0
    try:
        with nullcontext(sys.stdin.buffer) if path == _STDIN else Path(path).open("rb") as raw:
            packed = getattr(raw, "peek", lambda _: b"")(2)[:2] == b"\x1f\x8b"
            source: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            for number, data in enumerate(source, 1):
                yield data.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except UnicodeDecodeError as error:
        where = f"{origin}, line {number}, byte {error.start + 1}"
        raise InputError(f"{where}: 0x{error.object[error.start]:02x} is not valid UTF-8.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{origin} cannot be read: {error}.") from error
    if number == 0:
        raise InputError(f"{origin} is empty.")


# --- formats -----------------------------------------------------------------------------------------------------


def _text(analyses: Iterable[Analysis]) -> Iterator[str]:
    from arboreval.report.trees.text import render

    for number, analysis in enumerate(analyses, 1):
        yield ("\n" if number > 1 else "") + render(analysis, number)


def _json(analyses: Iterable[Analysis]) -> Iterator[str]:
    from arboreval.analysis.codec import to_json

    for analysis in analyses:
        yield to_json(analysis).decode() + "\n"


def _conllu(analyses: Iterable[Analysis]) -> Iterator[str]:
    from arboreval.analysis.formats.conllu import write

    # a text without words has no sentences; the numbers of the others tell where it was
    return write(analyses, numbered=True)


def _ptb(analyses: Iterable[Analysis]) -> Iterator[str]:
    from arboreval.analysis.formats.ptb import from_analysis

    for number, analysis in enumerate(analyses, 1):
        yield "".join(f"# seg = {number}\n{tree}\n" for tree in from_analysis(analysis))


_RENDER = {"text": _text, "json": _json, "conllu": _conllu, "ptb": _ptb}


def _page(analyses: Iterable[Analysis], title: str) -> str:
    from arboreval.report.trees.html import MAX_ANALYSES, render

    shown: list[Analysis] = []
    total = 0
    for analysis in analyses:
        total += 1
        if total <= MAX_ANALYSES:
            shown.append(analysis)
    return render(shown, total, title)
