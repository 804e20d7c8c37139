"""``arboreval list`` and ``arboreval show``."""

from __future__ import annotations

import click

from arboreval.cli.output import echo


@click.command("list")
def list_() -> None:
    """List all metrics."""
    from arboreval.api import list_metrics
    from arboreval.registry import registrations

    where = registrations()
    infos = list_metrics()
    width = max(len(name) for name in infos)
    for name, info in infos.items():
        direction = "↑" if info.higher_is_better else "↓"
        origin = where[name].distribution
        plugin = "" if origin == "arboreval" else f"  [{origin}]"
        echo(f"{name:{width}}  {direction}  {','.join(info.languages):4} {info.summary}{plugin}")


@click.command()
@click.argument("metric")
def show(metric: str) -> None:
    """Show what METRIC is: definition, options, range, citation."""
    from arboreval.metrics.base import option_fields
    from arboreval.registry import metric_class, split_spec

    cls = metric_class(split_spec(metric)[0])
    info = cls.info
    low, high = ("unbounded" if bound is None else f"{bound:g}" for bound in info.scale)
    levels = {"sys": "system", "seg": "segment"}
    rows = [
        ("definition", info.definition),
        ("range", f"{low} to {high}, {'higher' if info.higher_is_better else 'lower'} is better"),
        ("languages", ", ".join(info.languages)),
        ("levels", " and ".join(levels[level] for level in info.levels)),
        ("citation", info.citation),
    ]
    echo(f"{info.name}: {info.summary}\n")
    for name, text in rows:
        echo(click.wrap_text(text, width=100, initial_indent=f"{name:11} ", subsequent_indent=" " * 12))
    echo("\noptions")
    for f in option_fields(cls):
        choices = f" ({'|'.join(f.metadata['choices'])})" if f.metadata["choices"] else ""
        default = str(f.default).lower() if isinstance(f.default, bool) else f.default
        shown = "" if default is None else f"  [default: {default}]"
        echo(f"  {f.name}{choices}\n      {f.metadata['help']}{shown}")
