"""The agreement report as one HTML file that needs no network and has no script."""

from __future__ import annotations

from markupsafe import Markup

from arboreval.report.agree_model import AgreementReport, bins, number
from arboreval.report.html import _asset
from arboreval.report.meta_html import environment


def render(report: AgreementReport) -> str:
    made = environment()
    made.filters.update(number=number, bins=bins)
    page = made.get_template("agree.html.j2").render(report=report, css=Markup(_asset("report.css")))
    return page.encode("utf-8", "replace").decode()
