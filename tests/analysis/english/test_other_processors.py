"""Analyses on a processor with AVX2 but neither AVX-512 nor VNNI: one is emulated, where this one is an x86-64 too."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from tools import unavailable

from arboreval.analysis.codec import to_msgpack
from arboreval.analysis.english.analyzer import EnglishAnalyzer

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "analyses.json"
SCRIPT = """
import json, sys
from hashlib import sha256
from arboreval.analysis.codec import to_msgpack
from arboreval.analysis.english.analyzer import EnglishAnalyzer
for analysis in EnglishAnalyzer(threads=1).analyze(json.load(sys.stdin)):
    print(sha256(to_msgpack(analysis)).hexdigest())
"""


@pytest.mark.skipif(
    platform.system() != "Linux" or platform.machine() != "x86_64", reason="emulates an x86-64 processor on Linux"
)
def test_analyses_are_equal_to_the_bit_without_vnni():
    emulator = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if emulator is None:
        unavailable("no emulator: apt-get install qemu-user")
    texts = [golden["text"] for golden in json.loads(GOLDEN.read_text(encoding="utf-8"))][:10]
    wanted = [sha256(to_msgpack(analysis)).hexdigest() for analysis in EnglishAnalyzer().analyze(texts)]
    # the interpreter itself, not the virtual environment's link to it, whose packages are named by the path
    command = [emulator, "-cpu", "Haswell", os.path.realpath(sys.executable), "-c", SCRIPT]
    path = os.pathsep.join(folder for folder in sys.path if folder)
    result = subprocess.run(
        command,
        input=json.dumps(texts),
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == wanted
