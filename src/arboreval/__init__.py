"""arboreval judges machine-generated English by its structure.

The public functions are loaded on first use, so that ``import arboreval`` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arboreval.api import compare, list_metrics, score
    from arboreval.api_analysis import analyze
    from arboreval.api_explain import explain
    from arboreval.corpus import Corpus, Segment
    from arboreval.meta.agree import agreement
    from arboreval.meta.evalset import EvalSet
    from arboreval.meta.evaluate import meta_evaluate
    from arboreval.report.model import Report

__version__ = "0.1.0"

__all__ = [
    "Corpus",
    "EvalSet",
    "Report",
    "Segment",
    "__version__",
    "agreement",
    "analyze",
    "compare",
    "explain",
    "list_metrics",
    "meta_evaluate",
    "score",
]

_HOME = {
    "Corpus": "arboreval.corpus",
    "EvalSet": "arboreval.meta.evalset",
    "Report": "arboreval.report.model",
    "Segment": "arboreval.corpus",
    "agreement": "arboreval.meta.agree",
    "analyze": "arboreval.api_analysis",
    "compare": "arboreval.api",
    "explain": "arboreval.api_explain",
    "list_metrics": "arboreval.api",
    "meta_evaluate": "arboreval.meta.evaluate",
    "score": "arboreval.api",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'arboreval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
