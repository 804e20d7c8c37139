"""The treebanks beside the repository, for tests that read whole files; they are no part of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def shared_file(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the treebank file {name} is not here; it is not distributed with the package")
    return path


def content(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")
