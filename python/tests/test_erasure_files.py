"""The command line over files of erasers: `encode` is `transform`, of any width."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sarl
from sarl import Eraser

#: Below and above the width up to which a partial erasure is stored with its whole problem.
WIDTHS = (8, 200)
ERASERS = [
    Eraser(),
    Eraser(ridge=0.1),
    Eraser(preserve=True),
    Eraser(leakage=0.05),
    Eraser(leakage=0.05, scale="standard"),
    Eraser(min_utility=0.7),
    Eraser(leakage=0.05, criterion="equalized-odds"),
]


class Table:
    """A table whose attributes lie in some of its columns."""

    def __init__(self, width: int, n: int = 1500) -> None:
        rng = np.random.default_rng(width)
        some = rng.normal(size=(n, 4))
        x = rng.normal(size=(n, width)) + some @ rng.normal(size=(4, width)) + 5
        self.X = pd.DataFrame(x, columns=[f"column {j}" for j in range(width)])
        self.y = pd.Series(
            np.where(some[:, 1] + 0.5 * rng.normal(size=n) > 0, "yes", "no"), name="y"
        )
        s = np.where(some[:, 0] + 0.5 * rng.normal(size=n) > 0, "a", "b")
        self.s = pd.DataFrame({"s": s, "t": some[:, 2] + rng.normal(size=n)})

    def fit(self, eraser: Eraser, hidden: str | list[str] = "s") -> Eraser:
        return Eraser(**eraser.get_params()).fit(self.X, self.y, sensitive_features=self.s[hidden])

    def write(self, path) -> None:
        """The columns in another order, with others between them."""
        whole = pd.concat([self.X, self.y, self.s], axis=1)
        whole.iloc[:, ::-1].to_parquet(path)


@pytest.fixture(scope="module", params=WIDTHS)
def table(request):
    return Table(request.param)


@pytest.mark.parametrize("eraser", ERASERS, ids=str)
def test_encode_is_transform(table, eraser, tmp_path, cli):
    """Of full, preserving and partial erasures, whatever their files hold."""
    fitted = table.fit(eraser)
    data, model, out = (tmp_path / n for n in ("d.parquet", "m.safetensors", "e.parquet"))
    table.write(data)
    fitted.save(model)
    told = cli("encode", model, data, "--keep", "s", "-o", out)
    assert (told["rows"], told["dim"], told["erased"]) == (*table.X.shape, True)
    found = pd.read_parquet(out)
    assert list(found.columns) == ["s", *table.X.columns]
    expected = fitted.transform(table.X)
    np.testing.assert_allclose(found[table.X.columns], expected, rtol=0, atol=1e-9)
    assert np.abs(np.asarray(expected) - table.X).max(axis=None) > 0.1, "the control"


def test_the_whole_problem_gives_the_same(table, tmp_path, cli):
    fitted = table.fit(Eraser(leakage=0.05))
    data, model, out = (tmp_path / n for n in ("d.parquet", "m.safetensors", "e.npy"))
    table.write(data)
    fitted.save(model, whole=True)
    cli("encode", model, data, "-o", out)
    np.testing.assert_allclose(np.load(out), fitted.transform(table.X), rtol=0, atol=1e-9)


def test_several_attributes_and_another_goal(table, tmp_path, cli):
    fitted = table.fit(Eraser(leakage={"s": 0.0, "t": 0.1}), ["s", "t"])
    data, model, other = (tmp_path / n for n in ("d.parquet", "m.safetensors", "o.safetensors"))
    out = tmp_path / "e.npy"
    table.write(data)
    fitted.save(model)
    cli("encode", model, data, "-o", out)
    np.testing.assert_allclose(np.load(out), fitted.transform(table.X), rtol=0, atol=1e-9)
    told = cli("retune", model, "--max-leakage", 0.2, "-o", other)
    assert told.get("leakage", 0.2) == pytest.approx(0.2, abs=1e-9)
    cli("encode", other, data, "-o", out)
    again = sarl.load(other)
    np.testing.assert_allclose(np.load(out), again.transform(table.X), rtol=0, atol=1e-9)
    assert again.leakage_ == pytest.approx(0.2, abs=1e-9)


@pytest.mark.parametrize("eraser", [ERASERS[0], ERASERS[2], ERASERS[3], ERASERS[4]], ids=str)
def test_attackers_see_what_is_published(table, eraser, tmp_path, cli):
    """An audit fits the same erasure anew on a part of the rows, or takes it as it is on others."""
    fitted, other = table.fit(eraser), Table(len(table.X.columns), 3000)
    data, model, fresh = (tmp_path / n for n in ("d.parquet", "m.safetensors", "f.parquet"))
    table.write(data)
    other.write(fresh)
    fitted.save(model)
    options = ("--probes", "logistic", "--seeds", 1)
    told = cli("audit", model, data, *options)
    assert told["encoder"]["refitted"] and told["encoder"]["dim"] == table.X.shape[1]
    assert told["encoder"]["leakage"] == pytest.approx(fitted.leakage_, abs=1e-12)
    limit = 0.25 if fitted.leakage_ < 1e-6 else 0.45
    assert told["sensitive"]["best"]["advantage"] < limit
    assert told["control"]["sensitive"]["best"]["advantage"] > 0.5
    told = cli("audit", model, data, "--test", fresh, *options)
    assert not told["encoder"]["refitted"]


def test_the_size_of_a_file_is_that_of_its_directions(tmp_path):
    sizes = []
    for width in (400, 800):
        path = tmp_path / f"{width}.safetensors"
        fitted = Table(width, 2500).fit(Eraser(leakage=0.05, folds=1))
        fitted.save(path)
        sizes.append(path.stat().st_size)
        assert sizes[-1] < 8 * width * width / 4, "a whole problem has width²"
    assert sizes[1] < 2.5 * sizes[0]


def test_what_an_erasure_has_not_is_told(table, tmp_path):
    import subprocess

    from conftest import ROOT

    model, data = tmp_path / "m.safetensors", tmp_path / "d.parquet"
    table.fit(Eraser()).save(model)
    table.write(data)
    line = [
        ROOT / "target" / "release" / "sarl",
        "audit",
        model,
        data,
        "--html",
        tmp_path / "r.html",
    ]
    done = subprocess.run([*map(str, line), "--quiet"], capture_output=True, text=True)
    assert done.returncode == 3 and "holds an erasure, without the problem" in done.stderr
