"""The command line: one module per command. Commands parse, call the public functions and print; nothing heavy is
imported before a command runs."""

from __future__ import annotations

import io
import os
import sys

import click

from arboreval import __version__
from arboreval.cli.agree import agree
from arboreval.cli.analyze import analyze
from arboreval.cli.cache import cache
from arboreval.cli.compare import compare
from arboreval.cli.doctor import doctor
from arboreval.cli.explain import explain
from arboreval.cli.list_show import list_, show
from arboreval.cli.meta import meta
from arboreval.cli.output import Given, ReaderGoneError
from arboreval.cli.score import score
from arboreval.errors import ArborevalError, ExitCode


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="arboreval")
@click.option("--debug", is_flag=True, help="Show the full traceback of an error.")
def cli(debug: bool) -> None:
    """Judge machine-generated English by its structure.

    \b
    arboreval score system.txt -r reference.txt
    arboreval compare a.txt b.txt -r ref1.txt -r ref2.txt -m bleu,chrf
    """


for command in (score, compare, explain, analyze, meta, agree, list_, show, cache, doctor):
    cli.add_command(command)


def main(args: list[str] | None = None) -> None:
    """Runs the command line and turns every outcome into its exit code."""
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:  # closed by who started us
            setattr(sys, stream, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    if isinstance(sys.stdout, io.TextIOWrapper):
        # results are data, in UTF-8 wherever they go; a terminal shows what its encoding has
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")
    arguments = sys.argv[1:] if args is None else args
    given = Given()
    try:
        code = cli.main(arguments, prog_name="arboreval", standalone_mode=False, obj=given)
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):  # Abort is click's word for Ctrl-C
        what = "the output is not complete" if given.begun else "nothing was written"
        click.echo(f"interrupted; {what}.", err=True)
        code = ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (ReaderGoneError, BrokenPipeError):  # as in `arboreval list | head -1`; the latter comes of the last flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.OK
    except ArborevalError as error:
        if "--debug" in arguments:
            raise
        click.echo(f"error: {error}", err=True)
        code = error.exit_code
    except Exception as error:
        if "--debug" in arguments:
            raise
        click.echo(
            f"unexpected error: {type(error).__name__}: {error}\n"
            "This is a bug. Please report it with the output of `arboreval doctor` and of the same command after "
            "`arboreval --debug`.",
            err=True,
        )
        code = ExitCode.UNEXPECTED
    sys.exit(int(code or 0))
