"""``arboreval doctor``."""

from __future__ import annotations

import click

from arboreval.cli.output import echo

REQUIRED = (
    "click", "jinja2", "msgspec", "numpy", "onnxruntime", "platformdirs", "regex", "rich", "rouge-score", "sacrebleu",
    "scipy", "tokenizers",
)  # fmt: skip
#: package → what it is for and how to get it
OPTIONAL = {
    "pyarrow": "Parquet files: pip install 'arboreval[parquet]'",
    "mecab-python3": "BLEU on Japanese: pip install 'sacrebleu[ja]'",
    "mecab-ko": "BLEU on Korean: pip install 'sacrebleu[ko]'",
    "spacy": "the analyzer spacy: pip install 'arboreval[spacy]'",
    "torch": "vectors of other encoders: pip install 'arboreval[torch]'",
    "transformers": "vectors of other encoders: pip install 'arboreval[torch]'",
}


@click.command()
def doctor() -> int:
    """Print versions, and what is installed or missing, to paste in a bug report."""
    import os
    import platform
    import sys

    from arboreval import __version__
    from arboreval.analysis.analyzer import ANALYZERS, DEFAULT_ANALYZER
    from arboreval.cores import available_cores
    from arboreval.errors import ArborevalError, ExitCode, MissingExtraError
    from arboreval.registry import METRICS, registrations

    broken = False
    echo(f"arboreval {__version__}")
    cores = f"{available_cores()} of {os.cpu_count()} cores"
    echo(f"python {platform.python_version()} ({sys.implementation.name}), {cores}")
    echo(f"platform {platform.platform()}")
    echo("packages")
    for name in REQUIRED:
        found = _version(name)
        broken |= found is None
        echo(f"  {name} {found or 'MISSING: reinstall arboreval'}")
    for name, purpose in OPTIONAL.items():
        echo(f"  {name} {_version(name) or f'not installed; {purpose}'}")
    for kind in (METRICS, ANALYZERS):
        echo(f"{kind.name}s")
        for name, registration in sorted(registrations(kind).items()):
            try:
                plugin = registration.load()
                # making it checks the files of the bundled model
                state = f"ok, {plugin().fingerprint}" if (kind, name) == (ANALYZERS, DEFAULT_ANALYZER) else "ok"
            except (ArborevalError, AttributeError, ImportError) as error:
                # that an extra of ours is not installed is no fault
                extra = isinstance(error, MissingExtraError) and registration.distribution == "arboreval"
                broken |= not extra
                state = f"{'not installed' if extra else 'BROKEN'}: {error}"
            echo(f"  {name} ({registration.distribution}): {state}")
    return ExitCode.MISSING_EXTRA if broken else ExitCode.OK


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
