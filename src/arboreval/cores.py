"""How many cores there are to work on."""

from __future__ import annotations

import os

__all__ = ["available_cores"]


def available_cores() -> int:
    """How many cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
