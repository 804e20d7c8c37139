"""One report model, rendered as text, JSON, TSV, LaTeX or HTML."""
