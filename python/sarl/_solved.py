"""A solved problem: the model, what its rows are called, and figures from both."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from . import _core
from ._checks import Goal
from ._columns import Columns
from ._labels import Label
from ._moments import Moments
from ._results import Front, HeldOut

#: Name, loss and share of each label: of the targets, and of what is hidden.
LabelFigures = list[list[tuple[str, float, float]]]


def asked_for(solved: Solved) -> dict[str, Any]:
    """The criterion of a model and the types of its labels, as parameters ask for them."""
    name, code = solved.model.criterion
    asked: dict[str, Any] = {"criterion": name}
    for parameter, target in (("target_type", True), ("sensitive_type", False)):
        labels = [label for label in solved.labels if label.target == target]
        if target and code is not None:
            asked["favourable"] = labels[0].classes[code]
        if not any(label.is_made or label.kernel for label in labels):
            continue
        asked[parameter] = {label.name: label.treat for label in labels}
        if len(labels) == 1 and len(labels[0].columns) == 1:
            asked[parameter] = labels[0].treat
    return asked


@dataclass(frozen=True)
class Solved:
    """A model with the names and the values of its columns and labels."""

    model: _core.Model
    columns: Columns
    labels: list[Label]
    #: Mean and standard deviation of each numeric column.
    spreads: list[tuple[float, float]]
    #: The parameters of the fit; none of a model from a file.
    params: str = ""
    #: Held-out losses that a file or a pickle has, where it has no folds.
    heldout: list[float] | None = None
    heldout_labels: LabelFigures | None = None

    @classmethod
    def solve(
        cls,
        moments: Moments,
        params: str,
        goal: Goal,
        whole: bool,
        jobs: int | None,
        *,
        front: bool = False,
        preserve: bool = False,
    ) -> Solved:
        """The solution for a goal; with `front` an erasure knows all other trade-offs too."""
        assert moments._core is not None and moments._columns is not None
        moments._settle()
        model, spreads = moments._core.solve(
            params,
            goal_name=goal[0],
            value=goal[1],
            whole=whole,
            front=front,
            preserve=preserve,
            threads=jobs,
        )
        if model.ridge == 0 and model.rows < 5 * model.basis:
            warnings.warn(
                f"{model.rows} rows for {model.basis} directions: leakage_ and utility_, which are of "
                "these rows, are too optimistic; look at heldout_, and try ridge='auto'",
                UserWarning,
                stacklevel=4,
            )
        if model.dim == 0 and moments._of(True) and not preserve:
            warnings.warn(
                "z has no columns: nothing that is to be kept can be encoded within this limit",
                UserWarning,
                stacklevel=4,
            )
        return cls(model, moments._columns, list(moments._labels), spreads, params)

    def retuned(self, goal: str, value: Any) -> Solved:
        """For another goal."""
        model = self.model.retune(goal, value)
        return replace(self, model=model, heldout=None, heldout_labels=None)

    def held_out(self, moments: Moments | None, jobs: int | None) -> Solved:
        """With the held-out losses of its goal, where there are folds."""
        name, value = self.model.goal
        held = self._held_out(moments, self.params, jobs, goal_name=name, value=value)
        if held is None:
            return self
        losses = [float(held[column][0]) for column in HeldOut._fields]
        return replace(self, heldout=losses, heldout_labels=held["labels"])

    def front(self, moments: Moments | None, params: str, points: int, jobs: int | None) -> Front:
        """Training and held-out figures of as many λ."""
        data = self.model.front(points, jobs)
        held = self._held_out(moments, params, jobs, points=points) or {}
        data |= {f"heldout_{name}": column for name, column in held.items()}
        return Front(data, self.model.breakpoints())

    def _held_out(
        self, moments: Moments | None, params: str, jobs: int | None, **wanted: Any
    ) -> dict[str, Any] | None:
        if moments is None or moments._core is None:
            return self.model.held_out(threads=jobs, **wanted)
        if moments.folds < 2:
            return None
        try:
            model = self.model
            return moments._core.held_out(
                params,
                whole=model.is_whole,
                preserve=model.is_preserving,
                threads=jobs,
                **wanted,
            )
        except ValueError as problem:
            warnings.warn(f"no held-out losses: {problem}", UserWarning, stacklevel=5)
            return None

    def attributes(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The figures of each label."""
        found: dict[str, dict[str, dict[str, Any]]] = {}
        sides = (("target", "jy", "utility"), ("sensitive", "js", "leakage"))
        for i, (side, loss, share) in enumerate(sides):
            found[side] = {
                label: {loss: error, share: part, "limit": limit, "heldout": None}
                for label, error, part, limit in self.model.attributes()[i]
            }
            for label, error, part in self.heldout_labels[i] if self.heldout_labels else []:
                found[side][label]["heldout"] = {loss: error, share: part}
        return found
