"""Labels in the schema of a model file, as the command line describes them."""

from __future__ import annotations

import math
from typing import Any

from ._label import Label

#: What cells may hold that have a type of their own here.
KINDS = ("integer", "bool")


def described(label: Label) -> dict[str, Any]:
    """A label as the schema has it."""
    values = {"class": _classes(label)} if label.is_class else {"number": _numbers(label)}
    return {"name": label.name, "missing": 0, "values": values}


def _classes(label: Label) -> dict[str, Any]:
    counts = label.counts + [0] * (len(label.classes) - len(label.counts))
    kind = {"bins": "float", "combination": "text"}.get(label.kind, label.kind)
    values: dict[str, Any] = {
        "kind": label.cells or kind,
        "values": label.texts(),
        "counts": counts,
    }
    if label.kind == "bins":
        (column,) = label.columns
        values["of"] = {"bins": {"edges": label.edges} | _written(label, column)}
    if label.kind == "combination":
        columns = [
            {"name": part.name, "kind": part.cells or part.kind, "values": part.texts()}
            for part in label.parts
        ]
        made = {"columns": columns, "codes": label.codes, "pooled": label.pooled}
        values["of"] = {"combination": made}
    return values


def _numbers(label: Label) -> dict[str, Any]:
    each = [
        {"mean": mean, "std": math.sqrt(squares / weight) if weight else 0.0}
        | _written(label, column)
        for column, (weight, mean, squares) in zip(label.columns, label.spreads, strict=True)
    ]
    values: dict[str, Any] = dict(each[0])
    if label.kernel:
        values["kernel"] = True
    if len(each) > 1:
        names = zip(label.columns, each, strict=True)
        values["columns"] = [{"name": name, **of} for name, of in names]
    return values


def _written(label: Label, column: str) -> dict[str, Any]:
    return {"written": label.written[column]} if column in label.written else {}


def labels(schema: dict[str, Any]) -> list[Label]:
    """The labels that a schema describes, targets first."""
    found = []
    for role in ("targets", "sensitives"):
        places: dict[str, int] = {}
        for of in schema[role]:
            label = _label(of["name"], role == "targets", of["values"], schema["rows"])
            for column in label.columns:
                label.columns[column] = places.setdefault(column, len(places))
            found.append(label)
    return found


def _label(name: str, target: bool, values: dict[str, Any], rows: int) -> Label:
    if "number" in values:
        of = values["number"]
        each = of.get("columns") or [{"name": name, **of}]
        return Label(
            name,
            target,
            "float",
            columns=dict.fromkeys((column["name"] for column in each), 0),
            kernel=of.get("kernel", False),
            written={column["name"]: column["written"] for column in each if "written" in column},
            spreads=[(rows, column["mean"], column["std"] ** 2 * rows) for column in each],
        )
    of = values["class"]
    made = of.get("of") or {}
    if "bins" in made:
        label = Label(name, target, "bins", list(of["values"]), {name: 0})
        label.edges = list(made["bins"]["edges"])
        label.written = {name: made["bins"]["written"]} if "written" in made["bins"] else {}
    elif "combination" in made:
        parts = made["combination"]["columns"]
        label = Label(name, target, "combination", list(of["values"]))
        label.columns = dict.fromkeys((part["name"] for part in parts), 0)
        label.parts = [_plain(part["name"], target, part) for part in parts]
        label.codes = [list(codes) for codes in made["combination"]["codes"]]
        label.pooled = made["combination"]["pooled"]
    else:
        label = _plain(name, target, of)
        label.columns = {name: 0}
    label.counts = list(of["counts"])
    return label


def _plain(name: str, target: bool, of: dict[str, Any]) -> Label:
    """Classes that are the values of a column."""
    kind = of["kind"] if of["kind"] in KINDS else "text"
    classes: list[Any] = list(of["values"])
    if kind == "integer":
        try:
            classes = [int(value) for value in classes]
        except ValueError:
            kind = "text"
    elif kind == "bool":
        classes = [value == "true" for value in classes]
    return Label(name, target, kind, classes, cells=of["kind"] if of["kind"] != kind else "")
