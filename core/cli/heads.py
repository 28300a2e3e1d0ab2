"""`spokeshave-cli heads`: what attention heads are worth, the loss without some, the curve as they go."""

from __future__ import annotations

from typing import Any

import click

from core.cli.commands import (
    _file,
    _labels,
    columns_options,
    command,
    device_option,
    document,
    labels_option,
    show,
    table,
    variant_option,
    workspace_option,
)
from core.cli.drive import Driver, out
from core.errors import UserError
from core.records import HeadMap, HeadsSpec
from core.workspace import Workspace

CRITERIA = ("taylor", "taylor_normalised", "magnitude", "random", "leave_out")


@command("heads")
@workspace_option
@variant_option
@click.option("--off", default="", metavar="UNITS", help="Measure the loss without these: layer and head, as in '0.3 1.7', from 0.")
@click.option("--curve", is_flag=True, help="Measure what's left as the least important go one after the other.")
@click.option("--criterion", type=click.Choice(CRITERIA), default="taylor", show_default=True, help="What the map or the curve goes by.")
@click.option("--leave-out", is_flag=True, help="Measure each head's own loss too: takes a while.")
@click.option("--windows", type=click.IntRange(1, 1024), default=8, show_default=True, help="Windows of text that are looked at.")
@click.option("--context", type=click.IntRange(8), default=256, show_default=True, help="Tokens a window.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--text", type=click.Path(dir_okay=False), help="The text; the starter's otherwise.")
@labels_option
@columns_options[0]
@columns_options[1]
@device_option
def heads(
    workspace: str,
    variant: str,
    off: str,
    curve: bool,
    text: str | None,
    labels: str | None,
    text_column: str,
    label_column: str,
    device: str,
    as_json: bool,
    debug: bool,
    **how: Any,
) -> None:
    """What each attention head is worth (or key-value group, where heads share keys and values)."""
    home = Workspace(workspace)
    source = home.variant(variant)
    spec = HeadsSpec(
        workspace=str(home.folder),
        variant=source.id,
        action="curve" if curve else "loss" if off.strip() else "importance",
        off=_units(off),
        text=_file(text),
        labels=_labels(labels, text_column, label_column),
        **how | {"leave_out": how["leave_out"] or (how["criterion"] == "leave_out" and not curve)},
    )
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Looking at the heads of {source.name}", device=device)
    if as_json:
        return document(result)
    if spec.action == "curve":
        made = table(">removed", f">{result['measure']}")
        for count, value in result["points"]:
            made.add_row(str(count), f"{value:.4g}")
        show(made)
    elif spec.action == "loss":
        _tell_loss(result)
    else:
        _show_map(HeadMap.model_validate(result["map"]), how["criterion"])


def _show_map(found: HeadMap, criterion: str) -> None:
    kind = "head" if found.unit == "head" else "key-value group"
    out(f"{criterion} of each {kind}, by layer")
    made = table("layer", *(f">{unit}" for unit in range(found.units)))
    for layer, row in enumerate(found.scores[criterion]):
        made.add_row(str(layer), *("" if value is None else f"{value:.3g}" for value in row))
    show(made)
    out(f"loss of the whole model: {found.base:.4f} on {found.tokens:,} tokens")


def _tell_loss(result: dict[str, Any]) -> None:
    out(f"loss {result['base']:.4f} -> {result['loss']:.4f} on {result['tokens']:,} tokens that importance wasn't computed on")
    if result["perplexity"] is not None:
        out(f"perplexity {result['base_perplexity']:.4g} -> {result['perplexity']:.4g}")
    if "accuracy" in result:
        out(f"accuracy {result['base_accuracy']:.4f} -> {result['accuracy']:.4f}")
    for name, value in result["predicted"].items():
        out(f"estimate by {name}: {value:.4f}")


def _units(text: str) -> tuple[tuple[int, int], ...]:
    out = []
    for word in text.replace(",", " ").split():
        layer, point, unit = word.partition(".")
        if not (point and layer.isdecimal() and unit.isdecimal()):
            raise UserError(
                "{word} isn't a head.", hint="Write layer and head with a point between them, as in 0.3 1.7.", kind="usage", word=repr(word)
            )
        out.append((int(layer), int(unit)))
    return tuple(out)
