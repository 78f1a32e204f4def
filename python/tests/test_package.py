"""Types, and examples in docstrings."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys

import pytest

import sarl
from conftest import ROOT

MODULES = [f"sarl.{m.name}" for m in pkgutil.iter_modules(sarl.__path__) if m.name != "_core"]
MODULES += ["sarl.torch._modules", "sarl.torch._scrubber"]


@pytest.mark.parametrize("name", ["sarl", *MODULES])
def test_examples_in_docstrings(name):
    os.environ.setdefault("MPLBACKEND", "Agg")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_everything_public_is_documented_with_an_example():
    for name in ("SARL", "KernelSARL", "CertifiedSARL", "Eraser", "Moments", "audit", "load"):
        text = getattr(sarl, name).__doc__
        assert "Examples\n" in text and ">>>" in text, name
        assert "{" + "goals}" not in text
    for cls in (sarl.SARL, sarl.KernelSARL, sarl.Eraser):
        for parameter in cls().get_params():
            assert re.search(rf"^ +(\w+, )*{parameter}(, \w+)* : ", cls.__doc__, re.M), (
                cls,
                parameter,
            )
        for method in (
            "fit",
            "partial_fit",
            "transform",
            "fit_transform",
            "inverse_transform",
            "retune",
            "save",
            "load",
            "to_onnx",
            "to_torch",
            "front",
            "fit_moments",
            "fit_batches",
        ):
            assert getattr(cls, method).__doc__, method


def test_the_certified_encoder_is_documented():
    cls = sarl.CertifiedSARL
    for parameter in cls().get_params():
        assert re.search(rf"^ +(\w+, )*{parameter}(, \w+)* : ", cls.__doc__, re.M), parameter
    for method in ("fit", "transform", "fit_transform", "cell", "certify", "save", "to_onnx"):
        assert getattr(cls, method).__doc__, method


ESTIMATORS = ("SARL", "KernelSARL", "CertifiedSARL", "Eraser", "OracleEraser", "QuadraticEraser")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_one_level_above_one_base(name):
    ours = [cls for cls in getattr(sarl, name).__bases__ if cls.__module__.startswith("sarl.")]
    assert ours[-1].__name__ == "Encoder" and len(ours) <= 2
    for cls in ours:
        assert not any(base.__module__.startswith("sarl.") for base in cls.__mro__[1:]), cls


def check(*words):
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_are_those_of_the_module():
    check("mypy.stubtest", "sarl._core", "--mypy-config-file", "pyproject.toml")


def test_types():
    check("mypy", "--config-file", "pyproject.toml")


def test_the_package_is_typed():
    assert os.path.exists(os.path.join(os.path.dirname(sarl.__file__), "py.typed"))
