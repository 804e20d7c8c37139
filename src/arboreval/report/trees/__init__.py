"""Analyses to look at: trees in the terminal, and as SVG in a page."""
