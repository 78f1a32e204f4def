"""The data of the benchmark `fit`, and what is done with it: ours, numpy's, concept-erasure's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that are made, and that the careful ones read, at a time.
CHUNK = 65_536

#: Rows that are fitted before a transform counts.
LEARNED = 50_000

Doubles = NDArray[np.float64]


# -- data --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Features, what is to be kept and what is to be hidden, this also in one-hot columns."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]
    s: NDArray[np.int64]
    z: NDArray[np.float32]

    def head(self, rows: int) -> Data:
        """The first rows."""
        return Data(self.x[:rows], self.y[:rows], self.s[:rows], self.z[:rows])


#: Does the work on the data, and says what came out.
Work = Callable[[Data], dict[str, Any]]


def chunks(rows: int) -> Iterator[slice]:
    """All rows, some at a time."""
    for start in range(0, rows, CHUNK):
        yield slice(start, min(start + CHUNK, rows))


def make(folder: Path, rows: int, columns: int) -> None:
    """Correlated features about means of their own, and two classes each that depend on them."""
    rng = np.random.default_rng(0)
    mixing = np.eye(columns) + rng.normal(size=(columns, columns)) / (2 * np.sqrt(columns))
    means = rng.normal(size=columns).astype(np.float32)
    kept, hidden = rng.normal(size=(2, columns)) / np.sqrt(columns)
    towards = np.column_stack([kept, hidden + kept / 2]).astype(np.float32)
    with (
        open(folder / "x.f32", "wb") as x_file,
        open(folder / "y.u32", "wb") as y_file,
        open(folder / "s.u32", "wb") as s_file,
    ):
        for part in chunks(rows):
            size = part.stop - part.start
            x = rng.standard_normal((size, columns), dtype=np.float32) @ mixing.astype(np.float32)
            told = x @ towards + rng.standard_normal((size, 2), dtype=np.float32)
            (x + means).tofile(x_file)
            (told[:, 0] > 0).astype(np.uint32).tofile(y_file)
            (told[:, 1] > 0.5).astype(np.uint32).tofile(s_file)


def read(folder: Path, columns: int) -> Data:
    """The data that was made, all of it in memory."""
    x = np.fromfile(folder / "x.f32", np.float32).reshape(-1, columns)
    y, s = (np.fromfile(folder / f"{name}.u32", np.uint32).astype(np.int64) for name in "ys")
    return Data(x, y, s, np.equal(s[:, None], np.arange(2)).astype(np.float32))


# -- numpy -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Covariances:
    """Of the features, and of the features with the classes of y and of s."""

    features: Doubles
    with_y: Doubles
    with_s: Doubles
    y_variance: float


def one_hot(codes: NDArray[np.int64]) -> Doubles:
    """A column of zeros and ones for each of two classes."""
    return np.equal(codes[:, None], np.arange(2)).astype(np.float64)


def careful_covariances(data: Data) -> Covariances:
    """In double precision and about a shift, with memory for some rows at a time."""
    rows, columns = data.x.shape
    shift = data.x[:1024].mean(axis=0, dtype=np.float64)
    buffer = np.empty((min(CHUNK, rows), columns))
    scatter, sums, counts = np.zeros((columns, columns)), np.zeros((4, columns)), np.zeros(4)
    for part in chunks(rows):
        u = np.subtract(data.x[part], shift, out=buffer[: part.stop - part.start])
        classes = np.hstack([one_hot(data.y[part]), one_hot(data.s[part])])
        scatter += u.T @ u
        sums += classes.T @ u
        counts += classes.sum(axis=0)
    mean, shares = sums[:2].sum(axis=0) / rows, counts / rows
    crossed = (sums / rows - np.outer(shares, mean)).T
    features = scatter / rows - np.outer(mean, mean)
    return Covariances(features, crossed[:, :2], crossed[:, 2:], spread(shares[:2]))


def lazy_covariances(data: Data) -> Covariances:
    """As one writes it down: a copy of X in double precision."""
    x = data.x.astype(np.float64)
    x -= x.mean(axis=0)
    y, s = one_hot(data.y), one_hot(data.s)
    rows = len(x)
    return Covariances(x.T @ x / rows, x.T @ y / rows, x.T @ s / rows, spread(y.mean(axis=0)))


def spread(shares: Doubles) -> float:
    """The variance of classes that have these shares of the rows."""
    return float((shares * (1 - shares)).sum())


def best_encoder(of: Covariances) -> tuple[Doubles, float]:
    """The weights of the encoder that keeps most of y and nothing of s, and its loss of y."""
    from scipy.linalg import cholesky, eigh, solve_triangular, svd

    lower = cholesky(of.features, lower=True)
    y = solve_triangular(lower, of.with_y, lower=True)
    found, sizes, _ = svd(solve_triangular(lower, of.with_s, lower=True), full_matrices=False)
    found = found[:, sizes > 1e-10 * sizes[0]]
    y -= found @ (found.T @ y)
    told, directions = eigh(y.T @ y)
    kept = told > 1e-10 * told[-1]
    weights = y @ directions[:, kept] / np.sqrt(told[kept])
    loss = of.y_variance - float(told[kept].sum())
    return solve_triangular(lower, weights, lower=True, trans="T"), loss


def numpy_job(covariances: Callable[[Data], Covariances]) -> Callable[[Data], Work]:
    """An encoder by numpy, on covariances made in this way."""

    def prepare(_: Data) -> Work:
        return lambda data: {"jy": best_encoder(covariances(data))[1]}

    return prepare


# -- the others --------------------------------------------------------------------------------


def sarl_job(**params: Any) -> Callable[[Data], Work]:
    """`sarl.SARL` with these parameters."""

    def prepare(_: Data) -> Work:
        from sarl import SARL

        def work(data: Data) -> dict[str, Any]:
            fitted = SARL(max_leakage=0, **params).fit(data.x, data.y, sensitive_features=data.s)
            return {"jy": fitted.point_.jy}

        return work

    return prepare


def eraser_job(**params: Any) -> Callable[[Data], Work]:
    """`sarl.Eraser` with these parameters."""

    def prepare(_: Data) -> Work:
        from sarl import Eraser

        def work(data: Data) -> dict[str, Any]:
            return {"matrix": Eraser(**params).fit(data.x, sensitive_features=data.s).matrix_}

        return work

    return prepare


def leace(data: Data, step: int) -> Any:
    """An eraser of concept-erasure's, from as many rows at a time."""
    import torch
    from concept_erasure import LeaceFitter

    x, z = torch.from_numpy(data.x), torch.from_numpy(data.z)
    fitter = LeaceFitter(x.shape[1], 2, dtype=torch.float32)
    for start in range(0, len(x), step):
        fitter.update(x[start : start + step], z[start : start + step])
    return fitter.eraser


def wake_torch() -> None:
    """Lets torch use all cores."""
    import torch

    torch.set_num_threads(os.cpu_count() or 1)


def leace_job(step: int | None) -> Callable[[Data], Work]:
    """concept-erasure's LEACE, with all rows at once or some at a time."""

    def prepare(_: Data) -> Work:
        wake_torch()

        def work(data: Data) -> dict[str, Any]:
            return {"matrix": leace(data, step or len(data.x)).P.numpy().T}

        return work

    return prepare


def eraser_transform(data: Data) -> Work:
    """`sarl.Eraser.transform`."""
    from sarl import Eraser

    head = data.head(LEARNED)
    eraser = Eraser().fit(head.x, sensitive_features=head.s)
    return lambda data: {"erased": eraser.transform(data.x)}


def leace_transform(data: Data) -> Work:
    """`LeaceEraser.__call__`."""
    import torch

    wake_torch()
    eraser = leace(data.head(LEARNED), LEARNED)
    return lambda data: {"erased": eraser(torch.from_numpy(data.x)).numpy()}


def numpy_erasure(data: Data) -> Work:
    """The product with the matrix of the erasure, in single precision."""
    from sarl import Eraser

    head = data.head(LEARNED)
    eraser = Eraser().fit(head.x, sensitive_features=head.s)
    matrix = eraser.matrix_.astype(np.float32)
    offset = (eraser.mean_ - eraser.mean_ @ eraser.matrix_).astype(np.float32)
    return lambda data: {"erased": data.x @ matrix + offset}


def sarl_transform(data: Data) -> Work:
    """`sarl.SARL.transform`."""
    from sarl import SARL

    head = data.head(LEARNED)
    encoder = SARL(max_leakage=0).fit(head.x, head.y, sensitive_features=head.s)
    return lambda data: {"z": encoder.transform(data.x)}


def numpy_encoding(data: Data) -> Work:
    """The product with the weights of the encoder, in single precision."""
    from sarl import SARL

    head = data.head(LEARNED)
    encoder = SARL(max_leakage=0).fit(head.x, head.y, sensitive_features=head.s)
    weights = encoder.components_.T.astype(np.float32)
    offset = (encoder.mean_ @ encoder.components_.T).astype(np.float32)
    return lambda data: {"z": data.x @ weights - offset}


def retunes(data: Data) -> Work:
    """`sarl.SARL.retune`, a thousand times."""
    from sarl import SARL

    head = data.head(LEARNED)
    encoder = SARL(max_leakage=0).fit(head.x, head.y, sensitive_features=head.s)
    goals = np.linspace(0.001, 0.1, 1000)
    return lambda data: {"leakage": [encoder.retune(max_leakage=goal).leakage_ for goal in goals]}


def partial_erasure(data: Data) -> Work:
    """`sarl.Eraser` for a leakage that is not zero, after the pass over the rows."""
    from sarl import Eraser, Moments

    head = data.head(LEARNED)
    moments = Moments().update(head.x, sensitive_features=head.s)
    return lambda _: {"leakage": Eraser(leakage=0.05).fit_moments(moments).leakage_}
