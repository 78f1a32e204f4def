"""Model files: the same that the command line reads and writes."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._labels import Label
from ._rows import Categories, Columns

#: The version of the schema in the file.
SCHEMA_VERSION = 2

Stats = tuple[list[float], list[float]]

#: The held-out figures that a file has.
HELD_OUT = ("jy", "js", "jy_sd", "js_sd", "utility", "leakage")

E = TypeVar("E")


@dataclass(frozen=True)
class Solved:
    """A model with what it needs to be told in names."""

    model: _core.Model
    columns: Columns
    labels: list[Label]
    #: Mean and standard deviation of each numeric column.
    spreads: list[tuple[float, float]]
    #: Means and variances of the label columns: of the target, of what is hidden.
    stats: list[Stats]
    heldout: list[float] | None = None
    #: The same of each label: name, loss and share, of the targets and of what is hidden.
    heldout_labels: list[list[tuple[str, float, float]]] | None = None
    #: The parameters of the fit.
    params: str = ""

    def retuned(self, goal: str, value: Any) -> Solved:
        """For another goal."""
        model = self.model.retune(goal, value)
        return replace(self, model=model, heldout=None, heldout_labels=None)

    def extra(
        self,
        heldout: list[float] | None,
        labels: dict[str, list[dict[str, Any]]] | None,
        python: dict[str, Any],
    ) -> dict[str, str]:
        """The texts that travel in the file."""
        held = None if heldout is None else dict(zip(HELD_OUT, heldout, strict=True))
        about = {**python, "columns": self.columns.plain()}
        return {
            "schema": json.dumps(self._schema()),
            "heldout": json.dumps(held),
            "heldout_labels": json.dumps(labels),
            "python": json.dumps(about),
        }

    def _schema(self) -> dict[str, Any]:
        return schema(self.model.rows, self.columns, self.labels, self.spreads, self.stats)


def schema(
    rows: int,
    columns: Columns,
    labels: list[Label],
    spreads: list[tuple[float, float]],
    stats: list[Stats],
) -> dict[str, Any]:
    """The columns and labels of a table, as the file describes them."""
    features: dict[int, dict[str, Any]] = {}
    for place, (mean, sd) in zip(columns.numbers, spreads, strict=True):
        number: dict[str, Any] = {"mean": mean, "std": sd}
        if place in columns.written:
            number["written"] = columns.written[place]
        features[place] = {"number": number}
    for c in columns.categories:
        values: dict[str, Any] = {"kind": c.kind, "values": c.values, "fill": c.fill}
        if c.pooled or c.spare:
            values |= {"pooled": c.pooled, "spare": c.spare}
        features[c.place] = {"category": values}
    targets = [label for label in labels if label.target]
    hidden = [label for label in labels if not label.target]
    return {
        "version": SCHEMA_VERSION,
        "rows": rows,
        "dropped": 0,
        "features": [
            {"name": columns.names[j], "missing": 0, "values": features[j]}
            for j in sorted(features)
        ],
        "targets": _label_schema(targets, stats[0], rows),
        "target_is_features": not targets,
        "sensitives": _label_schema(hidden, stats[1], rows),
        "weight": None,
        "missing": "error" if columns.fills is None else "mean",
    }


def _label_schema(labels: list[Label], stats: Stats, rows: int) -> list[dict[str, Any]]:
    described, at = [], 0
    for label in labels:
        means, variances = stats[0][at : at + max(1, label.size)], stats[1][at]
        at += max(1, label.size)
        values: dict[str, Any] = {"number": {"mean": means[0], "std": float(np.sqrt(variances))}}
        if label.is_class:
            counts = [round(share * rows) for share in means]
            values = {"class": {"kind": label.kind, "values": label.texts(), "counts": counts}}
        described.append({"name": label.name, "missing": 0, "values": values})
    return described


def load(path: str | os.PathLike[str], cls: type[E] | None = None) -> E:
    """Read a model file, written by :meth:`SARL.save` or by the command line.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    SARL, KernelSARL or Eraser
        The fitted estimator.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, sarl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> s, y = X[:, 0] + X[:, 1] > 0, X[:, 1] + X[:, 2] > 0
    >>> encoder = sarl.SARL(max_leakage=0.1).fit(X, y, sensitive_features=s)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> encoder.save(path)
    >>> sarl.load(path)
    SARL(max_leakage=0.1)
    """
    import sarl

    try:
        with open(path, "rb") as file:
            data = file.read()
    except IsADirectoryError:
        raise ValueError(f"{os.fspath(path)} is a folder, not a model file") from None
    try:
        model = _core.Model.from_bytes(data)
    except ValueError as problem:
        raise ValueError(f"{os.fspath(path)}: {problem}") from None
    extra = model.extra
    about = json.loads(extra.get("python", "{}"))
    solved = _solved(model, extra, about)
    found = _class(solved, about, sarl)
    if cls is not None and not issubclass(found, cls):
        kernel = sarl.KernelSARL
        if (cls is kernel) != (found is kernel) or cls is sarl.Eraser:
            raise ValueError(
                f"{os.fspath(path)} holds a model of {found.__name__}, not of {cls.__name__}"
            )
        found = cls
    restored: E = found._restored(solved, about.get("params"))
    return restored


def _class(solved: Solved, about: dict[str, Any], package: Any) -> Any:
    if about.get("class") in ("SARL", "KernelSARL", "Eraser"):
        return getattr(package, about["class"])
    if not solved.model.is_linear:
        return package.KernelSARL
    erases = not any(label.target for label in solved.labels)
    plain = erases and not solved.columns.categories and solved.model.ridge == 0
    return package.Eraser if plain else package.SARL


def _solved(model: _core.Model, extra: dict[str, str], about: dict[str, Any]) -> Solved:
    held = json.loads(extra.get("heldout", "null"))
    # Files written before labels had figures of their own have no shares here.
    known = held is not None and all(name in held for name in HELD_OUT)
    heldout = [held[name] for name in HELD_OUT] if known else None
    each = json.loads(extra.get("heldout_labels", "null"))
    heldout_labels = (
        None
        if each is None
        else [
            [(label["name"], label["loss"], label["share"]) for label in each[side]]
            for side in ("target", "sensitive")
        ]
    )
    if "schema" not in extra:
        columns = Columns(tuple(f"x{j}" for j in range(model.inputs)), tuple(range(model.inputs)))
        labels = [
            Label(name, target, "integer" if n else "float", list(range(n)))
            for name, target, n in model.labels
        ]
        empty: Stats = ([0.0], [0.0])
        return Solved(
            model,
            columns,
            labels,
            [(0.0, 0.0)] * model.inputs,
            [empty, empty],
            heldout,
            heldout_labels,
        )
    schema = json.loads(extra["schema"])
    columns, spreads = _columns(schema)
    if "columns" in about:
        columns = Columns.from_plain(about["columns"])
    labels, stats = [], []
    for role, target in (("targets", True), ("sensitives", False)):
        means: list[float] = []
        variances: list[float] = []
        for described in schema[role]:
            label, mean, variance = _label(described, target, schema["rows"])
            labels.append(label)
            means += mean
            variances += variance
        stats.append((means, variances))
    return Solved(model, columns, labels, spreads, stats, heldout, heldout_labels)


def _columns(schema: dict[str, Any]) -> tuple[Columns, list[tuple[float, float]]]:
    names = tuple(feature["name"] for feature in schema["features"])
    places, spreads, categories, written = [], [], [], {}
    for j, feature in enumerate(schema["features"]):
        values = feature["values"]
        if "number" in values:
            places.append(j)
            spreads.append((values["number"]["mean"], values["number"]["std"]))
            if "written" in values["number"]:
                written[j] = values["number"]["written"]
        else:
            c = values["category"]
            pooled, spare = c.get("pooled", False), tuple(c.get("spare", ()))
            known = Categories(j, c["kind"], tuple(c["values"]), c["fill"], pooled, spare)
            categories.append(known)
    named = names != tuple(f"x{j}" for j in range(len(names)))
    fills = tuple(mean for mean, _ in spreads) if schema["missing"] == "mean" else None
    return Columns(names, tuple(places), tuple(categories), named, fills, written), spreads


def _label(
    described: dict[str, Any], target: bool, rows: int
) -> tuple[Label, list[float], list[float]]:
    values = described["values"]
    if "number" in values:
        mean, sd = values["number"]["mean"], values["number"]["std"]
        return Label(described["name"], target, "float"), [mean], [sd * sd]
    of = values["class"]
    kind = of["kind"] if of["kind"] in ("integer", "bool") else "text"
    classes: list[Any] = list(of["values"])
    if kind == "integer":
        try:
            classes = [int(v) for v in classes]
        except ValueError:
            kind = "text"
    elif kind == "bool":
        classes = [v == "true" for v in classes]
    shares = [count / max(1, rows) for count in of["counts"]]
    return Label(described["name"], target, kind, classes), shares, [p * (1 - p) for p in shares]
