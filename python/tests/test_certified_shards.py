"""Cells over partitions: any partition of the rows gives what one machine has."""

import numpy as np
import pytest

from conftest import People, same_cells
from sarl import CertifiedSARL, _core, _cutting
from sarl._cells import Tally
from sarl._engine import FAN_IN, fit_over, merged, shard_for

NAMED = {
    "features": list(People.features),
    "target": "income",
    "sensitive": "group",
    "row_id": "person",
}


def over(parts):
    """Adds up what a pass starts with over parts; all that is between them travels."""

    def gathered(start):
        kind, zero = type(start), start.to_bytes()
        sums = [kind.from_bytes(zero).update(part).to_bytes() for part in parts]
        while len(sums) > 1:
            sums = [merged(kind, sums[at : at + FAN_IN]) for at in range(0, len(sums), FAN_IN)]
        return kind.from_bytes(sums[0])

    return gathered


def fit(estimator, parts, **named):
    return fit_over(estimator, shard_for(estimator, **NAMED | named), over(parts))


def one_machine(people, **params):
    frame = people.frame
    ids = frame["person"]
    return CertifiedSARL(**params).fit(
        people.X, frame["income"], sensitive_features=frame["group"], row_id=ids
    )


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_partitions_are_one_machine(people, count):
    whole = one_machine(people, max_advantage=0.5)
    for seed in range(2):
        encoder = fit(CertifiedSARL(max_advantage=0.5), people.parts(count, seed))
        same_cells(encoder, whole, people.X)


def test_counts_are_those_of_rows_that_certify(people):
    encoder = fit(CertifiedSARL(max_advantage=0.5), people.parts(7))
    frame = people.frame
    part = _core.key_parts(_core.text_keys(frame["person"].tolist()), 0)
    assert np.bincount(part) / len(part) == pytest.approx([0.4, 0.3, 0.3], abs=0.05)
    rows = encoder.certificate_.to_dict()["rows"]
    assert [rows[k] for k in ("fit", "choose", "certify")] == np.bincount(part).tolist()
    cell, group = encoder.cell(people.X)[part == 2], frame["group"].to_numpy()[part == 2]
    table = [
        [int(((cell == c) & (group == g)).sum()) for g in "abc"] for c in range(encoder.cells_)
    ]
    assert encoder.certificate_.to_dict()["attributes"]["group"]["counts"] == table


def test_a_sample_chooses(people, monkeypatch):
    """Of very many rows some choose, whatever the partition."""
    monkeypatch.setattr(_cutting, "ROWS", 500)
    whole = one_machine(people, max_advantage=0.6)
    monkeypatch.setattr(_cutting, "ROWS", 249_000)
    all_rows = one_machine(people, max_advantage=0.6)
    assert not np.array_equal(all_rows.centres_, whole.centres_)
    monkeypatch.setattr(_cutting, "ROWS", 500)
    same_cells(fit(CertifiedSARL(max_advantage=0.6), people.parts(7)), whole, people.X)


@pytest.mark.parametrize(
    "params",
    [
        {"max_advantage": 0.5, "kernel": "rbf", "landmarks": 40},
        {"max_adversary_accuracy": 0.9, "sensitive_type": "bins=3"},
        {"max_advantage": 0.5, "cell_utility": "variance", "cells": 4, "random_state": 3},
    ],
    ids=str,
)
def test_what_is_learned_is_learned_from_rows_that_fit(people, params):
    named = {"sensitive": "wealth"} if "sensitive_type" in params else {}
    fits = [fit(CertifiedSARL(**params), people.parts(count), **named) for count in (1, 5)]
    same_cells(fits[1], fits[0], people.X, atol=1e-9)


def test_numbers_as_targets(people):
    fits = [
        fit(CertifiedSARL(max_advantage=0.5), people.parts(count), target="wealth")
        for count in (1, 7)
    ]
    same_cells(fits[1], fits[0], people.X)


def test_what_is_refused(people):
    parts = people.parts(2)
    with pytest.raises(ValueError, match="row_id is missing: which rows fit, choose and certify"):
        fit(CertifiedSARL(), parts, row_id=None)
    with pytest.raises(ValueError, match="sample_weight: a guarantee against every adversary"):
        fit(CertifiedSARL(), parts, weight="weight")
    with pytest.raises(ValueError, match="wealth holds numbers"):
        fit(CertifiedSARL(), parts, sensitive="wealth")
    with pytest.raises(ValueError, match="they read other columns"):
        parted = shard_for(CertifiedSARL(), **NAMED)
        parted.merge(shard_for(CertifiedSARL(), **NAMED | {"row_id": "place"}))
    with pytest.raises(ValueError, match="approx and rows as landmarks are for kernels"):
        fit(CertifiedSARL(approx="random-features"), parts)
    few = [part.slice(0, 2) for part in parts]
    with pytest.raises(ValueError):
        fit(CertifiedSARL(), few)


def test_a_tally_travels_without_its_models(people):
    encoder = fit(CertifiedSARL(max_advantage=0.5), people.parts(1))
    zero = shard_for(CertifiedSARL(), **NAMED)
    reader = zero.empty().update(people.table)
    reader._moments = reader.finish().empty()
    start = Tally(reader, [encoder._solved.model.to_bytes()]).to_bytes()
    counted = Tally.from_bytes(start).update(people.table).to_bytes()
    assert len(counted) < len(start) / 2
    twice = merged(Tally, [counted, counted])
    with pytest.raises(ValueError, match="these are no counts"):
        _core.add_counted(b"{}", b"{}")
    assert len(twice) == pytest.approx(len(counted), abs=100)
