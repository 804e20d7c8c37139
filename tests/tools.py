"""Programs that tests need beside Python packages."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """Skips the test, or fails it where ARBOREVAL_REQUIRE_TOOLS is 1."""
    if os.environ.get("ARBOREVAL_REQUIRE_TOOLS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
