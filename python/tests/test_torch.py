"""Encoders and erasers as modules of PyTorch."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch

from conftest import Rows
from sarl import SARL, CertifiedSARL, Eraser, KernelSARL
from sarl.torch import Encoding, Erasure


@pytest.fixture(scope="module")
def eraser(rows: Rows) -> Eraser:
    return Eraser().fit(rows.X, sensitive_features=rows.s)


@pytest.fixture(scope="module")
def encoder(rows: Rows) -> SARL:
    return SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=rows.s)


@pytest.fixture(scope="module", params=["eraser", "partial", "encoder"])
def fitted(request, rows):
    if request.param == "encoder":
        return request.getfixturevalue("encoder")
    leakage = 0.0 if request.param == "eraser" else 0.1
    return Eraser(leakage=leakage).fit(rows.X, sensitive_features=rows.s)


def test_a_module_is_the_transform(fitted, rows):
    module = fitted.to_torch(dtype=torch.float64)
    expected = fitted.transform(rows.X)
    found = module(torch.from_numpy(rows.X)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-11)
    single = fitted.to_torch()(torch.from_numpy(rows.X.astype(np.float32)))
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single.numpy(), expected, atol=1e-4)


def test_any_leading_shape(fitted, rows):
    module = fitted.to_torch(dtype=torch.float64)
    x = torch.from_numpy(rows.X[:24])
    flat = module(x)
    torch.testing.assert_close(module(x.reshape(2, 3, 4, -1)).reshape(24, -1), flat)
    torch.testing.assert_close(module(x[0]), flat[0])
    assert module(x[:0]).shape == (0, flat.shape[1])
    strided = x.reshape(4, 6, -1).transpose(0, 1)
    torch.testing.assert_close(module(strided), module(strided.contiguous()))
    with pytest.raises(ValueError, match="last dimension is 5, but 6"):
        module(x[:, :5])


def test_gradients(fitted, rows):
    module = fitted.to_torch(dtype=torch.float64)
    x = torch.from_numpy(rows.X[:3]).requires_grad_()
    assert torch.autograd.gradcheck(module, (x,))


@pytest.mark.parametrize(("dtype", "unit"), [(torch.float16, 2**-11), (torch.bfloat16, 2**-8)])
def test_half_rows_are_rounded_once(fitted, rows, dtype, unit):
    """The stated error: one rounding of the exact result of the half rows."""
    x = torch.from_numpy(rows.X).to(dtype)
    exact = fitted.to_torch(dtype=torch.float64)(x.double())
    module = fitted.to_torch().to(dtype)  # buffers stay in single precision
    assert all(b.dtype == torch.float32 for b in module.buffers())
    for one in (module, fitted.to_torch()):
        out = one(x)
        assert out.dtype == dtype
        scale = x.double().abs().amax() * 1e-5
        assert ((out.double() - exact).abs() <= unit * exact.abs() + scale).all()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = fitted.to_torch()(x.float())
    assert out.dtype == torch.float32
    torch.testing.assert_close(out.double(), exact, atol=1e-4, rtol=1e-5)


def test_half_rows_keep_the_erasure(eraser, rows):
    """The gap between class means that is left is below the rounding of the rows."""
    module, s = eraser.to_torch(), torch.from_numpy(rows.s == 1)
    gap = lambda x: (x[s].mean(0) - x[~s].mean(0)).abs().max().item()
    x = torch.from_numpy(rows.X)
    for dtype, unit in ((torch.float16, 2**-11), (torch.bfloat16, 2**-8)):
        half = x.to(dtype)
        out = module(half).double()
        bound = 4 * unit * out.abs().mean().item()
        assert gap(half.double()) > 10 * bound, "the control"
        assert gap(out) <= bound


def test_state_moves_and_copies(fitted, rows):
    module, x = fitted.to_torch(), torch.from_numpy(rows.X.astype(np.float32))
    other = copy.deepcopy(module)
    for buffer in other.buffers():
        buffer.zero_()
    other.load_state_dict(module.state_dict())
    torch.testing.assert_close(other(x), module(x))
    assert module.to("meta")(x.to("meta")).device.type == "meta"
    double = fitted.to_torch().double()
    assert double(x).dtype == torch.float32 and double(x.double()).dtype == torch.float64
    with pytest.raises(ValueError, match="expected torch.float32 or torch.float64"):
        fitted.to_torch(dtype=torch.float16)


def test_export_and_compile(fitted, rows):
    module = fitted.to_torch()
    x = torch.from_numpy(rows.X.astype(np.float32)).reshape(20, 20, -1)
    rows_of = torch.export.Dim("rows", min=2, max=100)
    exported = torch.export.export(module, (x,), dynamic_shapes=({0: rows_of},))
    torch.testing.assert_close(exported.module()(x[:7]), module(x[:7]))
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))


def test_compiled_code(eraser, rows):
    """With the default backend, which needs a C++ compiler."""
    module = eraser.to_torch()
    x = torch.from_numpy(rows.X.astype(np.float32)).requires_grad_()
    compiled = torch.compile(module, fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))
    for half in (x.bfloat16(), x.half()):
        torch.testing.assert_close(compiled(half), module(half))


def test_columns_that_are_left_out(rows):
    table = np.column_stack([rows.s, rows.X])
    encoder = SARL(max_leakage=0.05, sensitive=0).fit(table, rows.y)
    found = encoder.to_torch(dtype=torch.float64)(torch.from_numpy(table))
    np.testing.assert_allclose(found.numpy(), encoder.transform(table), atol=1e-11)


def test_what_is_not_linear_is_refused(rows):
    kernel = KernelSARL(max_leakage=0.1, landmarks=20).fit(
        rows.X, rows.y, sensitive_features=rows.s
    )
    with pytest.raises(ValueError, match="not linear .it has a kernel"):
        kernel.to_torch()
    big = Rows(4000)
    cells = CertifiedSARL(max_advantage=0.4).fit(big.X, big.y, sensitive_features=big.s)
    with pytest.raises(ValueError, match="constant in each cell"):
        cells.to_torch()


def test_arrays_of_others_come_by_dlpack(eraser, rows):
    x = torch.from_dlpack(rows.X[:50])
    out = eraser.to_torch(dtype=torch.float64)(x)
    np.testing.assert_allclose(np.from_dlpack(out), eraser.transform(rows.X[:50]), atol=1e-11)


def test_the_package_does_not_import_torch():
    code = "import sys, sarl; assert 'torch' not in sys.modules and not hasattr(sarl, 'nothing')"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_classes(fitted):
    assert isinstance(fitted.to_torch(), (Encoding, Erasure))
    assert "width=6" in repr(fitted.to_torch())


def test_batches(rows):
    """A loader: one pass, any leading shape."""
    x, s = torch.from_numpy(rows.X).reshape(20, 20, -1), torch.from_numpy(rows.s).reshape(20, 20)
    loader = ((x[i : i + 5], s[i : i + 5]) for i in range(0, 20, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Eraser().fit_batches(loader)
    expected = Eraser().fit(rows.X, sensitive_features=rows.s)
    np.testing.assert_allclose(found.matrix_, expected.matrix_, atol=1e-10)
    y = torch.from_numpy(rows.y).reshape(20, 20)
    triples = [(x[i : i + 5], y[i : i + 5], s[i : i + 5]) for i in range(0, 20, 5)]
    keyed = [{"X": a, "y": b, "sensitive_features": c} for a, b, c in triples]
    one = SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=rows.s)
    for given in (triples, keyed):
        other = SARL(max_leakage=0.05).fit_batches(given)
        np.testing.assert_allclose(other.transform(rows.X), one.transform(rows.X), atol=1e-9)
