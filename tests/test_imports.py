"""Start-up stays cheap because nothing heavy is imported before it is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"numpy", "torch", "rich", "sacrebleu", "rouge_score", "nltk", "jinja2", "pyarrow", "scipy", "polars", "regex"}


def modules_after(code: str) -> set[str]:
    program = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}


def test_import_is_light():
    loaded = modules_after("import arboreval")
    assert not loaded & (HEAVY | {"click"})


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["score", "--help"]])
def test_help_is_light(arguments):
    code = f"from arboreval.cli import main\ntry:\n    main({arguments!r})\nexcept SystemExit:\n    pass"
    assert not modules_after(code) & HEAVY


def test_listing_metrics_imports_no_metric_library():
    loaded = modules_after("import arboreval; arboreval.list_metrics()")
    assert not loaded & (HEAVY - {"numpy"})


def test_scoring_with_bleu_imports_no_other_metric_library():
    loaded = modules_after("import arboreval; arboreval.score(['a'], ['a'], metrics=['bleu'])")
    assert not loaded & {"rouge_score", "nltk", "jinja2", "rich", "torch", "pyarrow"}


def test_public_names():
    import arboreval

    assert dir(arboreval) == sorted(arboreval.__all__)
    for name in arboreval.__all__:
        assert getattr(arboreval, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = arboreval.nothing
