"""One module per metric; see :mod:`arboreval.metrics.base` for what a metric is."""
