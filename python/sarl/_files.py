"""Model files: the same that the command line reads and writes."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, TypeVar

import numpy as np

from . import _core, _schema
from ._checks import threads
from ._columns import Categories, Columns
from ._inputs import name_inputs
from ._label import Label
from ._labelled import ByLabels
from ._results import HeldOut
from ._solved import LabelFigures, Solved, asked_for

#: The version of the schema in the file.
SCHEMA_VERSION = 2

E = TypeVar("E")


def save(estimator: Any, solved: Solved, path: str | os.PathLike[str]) -> None:
    """Write the model file of a fitted estimator."""
    held, model = estimator._held_out(), solved.model
    moments = estimator._moments
    if held.heldout is not None and moments is not None and moments._core is not None:
        params = estimator._front_params(solved)
        model = moments._core.with_folds(params, model, threads=threads(estimator.n_jobs))
    losses = None if held.heldout is None else dict(zip(HeldOut._fields, held.heldout, strict=True))
    labels = held.heldout_labels and {
        side: [{"name": name, "loss": loss, "share": share} for name, loss, share in figures]
        for side, figures in zip(("target", "sensitive"), held.heldout_labels, strict=True)
    }
    extra = {
        "schema": schema_of(solved),
        "heldout": losses,
        "heldout_labels": labels,
        "python": about(estimator, solved.columns),
    }
    model.save(os.fspath(path), {name: json.dumps(value) for name, value in extra.items()})


def about(estimator: Any, columns: Columns) -> dict[str, Any]:
    """What a file says of the estimator that wrote it."""
    plain = (str, int, float, bool, type(None), list, dict)
    params = {
        k: v.item() if isinstance(v, np.generic) else v for k, v in estimator.get_params().items()
    }
    return {
        "class": type(estimator).__name__,
        "params": {k: v for k, v in params.items() if isinstance(v, plain)},
        "columns": columns.plain(),
    }


def to_onnx(solved: Solved, path: str | os.PathLike[str], *, double: bool, erase: bool) -> None:
    """Write an encoder or an eraser as an ONNX model."""
    columns = solved.columns
    table: list[tuple[str, list[str] | None]] | None = None
    if columns.named and not erase:
        categories = {c.place: list(c.values) for c in columns.categories}
        used = sorted([*columns.numbers, *categories])
        table = [(columns.names[j], categories.get(j)) for j in used]
    elif len(columns.numbers) != len(columns.names):
        raise ValueError(
            "columns of X were left out because they are sensitive, and an array of fewer columns has "
            "no names to find them by: fit on a table, or pass sensitive_features"
        )
    solved.model.to_onnx(os.fspath(path), columns=table, erase=erase, double=double)


def schema_of(solved: Solved) -> dict[str, Any]:
    """The columns and labels of a solved problem."""
    keeps = keeps_features(solved)
    return schema(solved.model.rows, solved.columns, solved.labels, solved.spreads, keeps=keeps)


def keeps_features(solved: Solved) -> bool:
    """Whether the features themselves are kept: by an erasure, or where no label is a target."""
    return not solved.model.is_whole or not any(label[1] for label in solved.model.labels)


def schema(
    rows: int,
    columns: Columns,
    labels: list[Label],
    spreads: list[tuple[float, float]],
    *,
    keeps: bool = False,
) -> dict[str, Any]:
    """Columns and labels, as the command line describes them."""
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
        "targets": [_schema.described(label) for label in targets],
        "target_is_features": keeps or not targets,
        "sensitives": [_schema.described(label) for label in hidden],
        "weight": None,
        "missing": "error" if columns.fills is None else "mean",
    }


def load(path: str | os.PathLike[str], cls: type[E] | None = None) -> E:
    """Read a model file, written by :meth:`SARL.save` or by the command line.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    SARL, KernelSARL, CertifiedSARL, Eraser, OracleEraser or QuadraticEraser
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
    try:
        with open(path, "rb") as file:
            data = file.read()
    except IsADirectoryError:
        raise ValueError(f"{os.fspath(path)} is a folder, not a model file") from None
    return from_bytes(data, os.fspath(path), cls)


def from_bytes(data: bytes, name: str, cls: type[E] | None = None) -> E:
    """The fitted estimator in the bytes of a model file of this name."""
    import sarl

    try:
        by_labels = _core.LabelledErasure.is_file(data)
        model: Any = (_core.LabelledErasure if by_labels else _core.Model).from_bytes(data)
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from None
    written = json.loads(model.extra.get("python", "{}"))
    solved = (ByLabels.read if by_labels else _solved)(model, written)
    found = _as(cls, _class(solved, written, sarl), name, sarl)
    restored: E = _restored(found, solved, written.get("params"))
    return restored


def to_bytes(estimator: Any) -> bytes:
    """The bytes of the model file of a fitted estimator."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        estimator.save(path)
        with open(path, "rb") as file:
            return file.read()


def _restored(cls: Any, solved: Any, params: dict[str, Any] | None) -> Any:
    """An estimator around a model that was read."""
    known = cls._get_param_names()
    params = params or cls._params_of(solved)
    new = cls(**{name: value for name, value in params.items() if name in known})
    new._restore(solved)
    name_inputs(new, solved.columns)
    return new


def params_of(solved: Solved) -> dict[str, Any]:
    """The parameters of an estimator that a model has."""
    model = solved.model
    scale = "standard" if model.scaling[0] else "none"
    params = {"n_components": model.cap, "ridge": model.ridge, "scale": scale}
    return params | asked_for(solved)


def _as(cls: Any, found: Any, name: str, package: Any) -> Any:
    """The class to restore: the one that is asked for, where it can hold what was found."""
    if cls is None or issubclass(found, cls):
        return found
    if issubclass(cls, found):
        return cls
    kernel, erasers = package.KernelSARL, (package.OracleEraser, package.QuadraticEraser)
    apart = (package.CertifiedSARL, *erasers)
    if (
        issubclass(cls, (*apart, package.Eraser))
        or found in apart
        or issubclass(cls, kernel) != issubclass(found, kernel)
    ):
        raise ValueError(f"{name} holds a model of {found.__name__}, not of {cls.__name__}")
    return cls


def _class(solved: Any, about: dict[str, Any], package: Any) -> Any:
    if isinstance(solved, ByLabels):
        return package.QuadraticEraser if solved.model.is_quadratic else package.OracleEraser
    if solved.model.cells is not None:
        return package.CertifiedSARL
    if about.get("class") in ("SARL", "KernelSARL", "Eraser"):
        return getattr(package, about["class"])
    if not solved.model.is_whole:
        return package.Eraser
    if not solved.model.is_linear:
        return package.KernelSARL
    erases = keeps_features(solved)
    plain = erases and not solved.columns.categories and solved.model.ridge == 0
    return package.Eraser if plain else package.SARL


def _solved(model: _core.Model, about: dict[str, Any]) -> Solved:
    extra = model.extra
    if "schema" in extra:
        schema = json.loads(extra["schema"])
        columns, spreads = _columns(schema)
        if "columns" in about:
            columns = Columns.from_plain(about["columns"])
        labels = _schema.labels(schema)
    else:
        columns = Columns.unnamed(model.inputs)
        spreads = [(0.0, 0.0)] * model.inputs
        labels = [_unnamed(*label) for label in model.labels]
    held = json.loads(extra.get("heldout", "null"))
    # Files written before labels had figures of their own have no shares here.
    known = held is not None and all(name in held for name in HeldOut._fields)
    heldout = [held[name] for name in HeldOut._fields] if known else None
    each = json.loads(extra.get("heldout_labels", "null"))
    figures: LabelFigures | None = each and [
        [(label["name"], label["loss"], label["share"]) for label in each[side]]
        for side in ("target", "sensitive")
    ]
    return Solved(model, columns, labels, spreads, heldout=heldout, heldout_labels=figures)


def _unnamed(name: str, target: bool, classes: int, kernel: int) -> Label:
    """A label of a model without a schema."""
    kind = "integer" if classes else "float"
    columns = [name] if kernel < 2 else [f"{name}{j}" for j in range(kernel)]
    places = {column: j for j, column in enumerate(columns)}
    return Label(name, target, kind, list(range(classes)), places, kernel=kernel > 0)


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
