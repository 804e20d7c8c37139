"""JSON of a meta-evaluation; the schema is ``meta_schema.json`` beside this file."""

from __future__ import annotations

import json

from arboreval.report.meta_model import MetaReport


def render(report: MetaReport) -> str:
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
