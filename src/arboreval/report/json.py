"""JSON."""

from __future__ import annotations

import json

from arboreval.report.model import Report


def render(report: Report) -> str:
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
