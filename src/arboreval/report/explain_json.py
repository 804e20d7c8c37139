"""JSON of an explanation."""

from __future__ import annotations

import json

from arboreval.report.explain_model import Explanation


def render(explanation: Explanation) -> str:
    return json.dumps(explanation.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
