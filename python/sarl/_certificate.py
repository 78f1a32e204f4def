"""What is guaranteed against every adversary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

#: What a certificate does not say.
LIMITS = (
    "Not covered: rows from elsewhere, adversaries that know more about a row than z, and rows that "
    "are published again by another encoder."
)


class Parts(NamedTuple):
    """Rows that served each purpose; none served two."""

    #: Rows that the encoder was fitted on.
    fit: int
    #: Rows that the cells were chosen on.
    choose: int
    #: Rows that certify them.
    certify: int


@dataclass(frozen=True)
class Figures:
    """What the best adversary reaches, of all there can be."""

    #: How far its balanced accuracy is above guessing: 0 to 1.
    advantage: float
    #: The mean over groups of the share of a group that it recognises.
    balanced_accuracy: float
    #: The share of rows whose group it recognises.
    accuracy: float
    #: The largest total variation between two groups: no classifier of cells has a larger gap of
    #: demographic parity.
    tv: float


@dataclass(frozen=True)
class CertifiedAttribute(Figures):
    """What no adversary exceeds about one sensitive attribute, on rows drawn like those counted."""

    #: The attribute.
    name: str
    #: The number of groups.
    groups: int
    #: The groups, in the order of the counts.
    values: tuple[Any, ...]
    #: The share of the largest group.
    majority: float
    #: What the best adversary reaches on the very rows that were counted.
    observed: Figures
    #: How the balanced accuracy is bounded: "mean" or "subsets".
    rule: str
    #: Rows by cell and group.
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class CertifiedTarget:
    """How well a target is predicted from cells, on rows that no choice was made on."""

    #: The target.
    name: str
    #: The share of rows whose class is the expected one, or the share of variance explained.
    score: float
    #: What is reached without cells: the share of the largest class, or 0.
    guess: float


@dataclass(frozen=True, repr=False)
class Certificate:
    """A guarantee against every adversary that sees only the cells.

    Printed, it says what is guaranteed and what is not.
    """

    #: How sure the figures are. Those of all attributes hold together.
    confidence: float
    #: The number of cells.
    cells: int
    #: Rows of the fit, of the choice and of the certificate.
    rows: Parts
    #: Proposals that were certified on the same rows; each had its part of 1 - confidence.
    looks: int
    #: For each sensitive attribute.
    attributes: dict[str, CertifiedAttribute]
    #: For each target, where its values were known.
    targets: dict[str, CertifiedTarget]

    @classmethod
    def _read(cls, found: dict[str, Any], groups: Mapping[str, Sequence[Any]]) -> Certificate:
        """From the JSON of the core; `groups` has the values of each attribute."""
        attributes = {}
        for name, a in found["attributes"].items():
            values = tuple(groups.get(name, range(a["groups"])))
            more = {
                "observed": Figures(**a["observed"]),
                "counts": tuple(tuple(row) for row in a["counts"]),
            }
            attributes[name] = CertifiedAttribute(name=name, values=values, **{**a, **more})
        targets = {t["name"]: CertifiedTarget(**t) for t in found["targets"]}
        rest = {"rows": Parts(**found["rows"]), "attributes": attributes, "targets": targets}
        return cls(**{**found, **rest})

    def to_dict(self) -> dict[str, Any]:
        """All of it, as in the JSON of the command line."""
        attributes = {}
        for name, attribute in self.attributes.items():
            figures = asdict(attribute)
            del figures["name"], figures["values"]
            attributes[name] = figures | {"counts": [list(row) for row in attribute.counts]}
        return {
            "confidence": self.confidence,
            "cells": self.cells,
            "rows": self.rows._asdict(),
            "looks": self.looks,
            "attributes": attributes,
            "targets": [asdict(target) for target in self.targets.values()],
        }

    def __str__(self) -> str:
        sure = f"{round(1e8 * self.confidence) / 1e6:.9g} %"
        lines = [
            f"With {sure} confidence, no adversary that sees only z, however powerful, predicts {a.name} "
            f"with more than {_percent(a.balanced_accuracy)} balanced accuracy on rows drawn like "
            f"these; guessing has {_percent(1 / a.groups)}."
            for a in self.attributes.values()
        ]
        rows = self.rows
        return "\n".join(
            [
                *lines,
                LIMITS,
                f"{rows.certify} rows certify; {rows.fit} others fitted the encoder, {rows.choose} "
                "others chose the cells.",
            ]
        )

    __repr__ = __str__


def _percent(share: float) -> str:
    return f"{100 * (0.0 if abs(share) < 5e-5 else share):.2f} %"
