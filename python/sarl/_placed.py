"""Rows that lie on a GPU: tensors and arrays of any library, by DLPack or the CUDA array interface."""

from __future__ import annotations

import ctypes
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

#: Devices of DLPack: memory of a GPU, and memory that a GPU and the processor share.
GPU = (2, 13)

#: The default stream of CUDA, as both protocols number it.
LEGACY = 1

#: Numbers as DLPack has them, by the codes of their types.
KINDS = {0: "i", 1: "u", 2: "f", 4: "bfloat", 5: "c", 6: "b"}

#: Numbers that are encoded at a time, as doubles.
CHUNK = 1 << 27


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


@dataclass(frozen=True)
class _Found:
    """An array as its library describes it; strides are in numbers."""

    device: int
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    bits: int
    stream: int | None
    #: What must live while the numbers are read.
    owner: Any

    @property
    def is_float(self) -> bool:
        return self.kind == "f" and self.bits in (32, 64)

    @property
    def is_row_major(self) -> bool:
        (rows, columns), (apart, step) = self.shape, self.strides
        return (columns <= 1 or step == 1) and (rows <= 1 or apart >= columns)


@dataclass(frozen=True)
class Placed:
    """Rows of single or double precision on a GPU, each of which lies in one piece."""

    #: The tensor or array, and what must live while its numbers are read.
    given: Any
    owner: Any
    device: int
    address: int
    shape: tuple[int, int]
    stride: int
    dtype: np.dtype[Any]
    stream: int | None

    @property
    def core(self) -> tuple[int, int, int, int, int, bool, int | None]:
        """As the core is told of them."""
        single = self.dtype == np.float32
        return (self.device, self.address, *self.shape, self.stride, single, self.stream)

    def host(self) -> NDArray[Any]:
        """The rows in host memory."""
        return host(self.given)


def _is_tensor(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "torch" and hasattr(x, "detach")


def _interface(x: Any) -> Any:
    """The CUDA array interface of an object that has one."""
    if not hasattr(type(x), "__cuda_array_interface__"):
        return None
    return getattr(x, "__cuda_array_interface__", None)


def on_gpu(x: Any) -> bool:
    """Whether an object is an array that lies on a GPU of CUDA's."""
    if type(x) in (type(None), np.ndarray, Placed, list, tuple, dict):
        return False
    if hasattr(type(x), "__dlpack_device__"):
        try:
            return int(x.__dlpack_device__()[0]) in GPU
        except (BufferError, RuntimeError, TypeError, ValueError):
            return False
    return _interface(x) is not None


def read(x: Any) -> Placed:
    """Rows on a GPU. Other numbers than reals, and rows in pieces, are converted there."""
    if _is_tensor(x):
        x = _plain(x)
    found = _described(x)
    if found.kind not in ("f", "bfloat", "i", "u", "b"):
        raise ValueError(f"the array on cuda:{found.device} does not hold real numbers")
    if not found.is_float:
        x = _typed(x, found)
        found = _described(x)
    if len(found.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(found.shape)}D array instead: X on cuda:{found.device} has "
            f"shape {found.shape}, expected rows by columns"
        )
    if not found.is_row_major:
        x = _contiguous(x, found)
        found = _described(x)
    if not (found.is_float and found.is_row_major):
        raise ValueError(
            f"the array on cuda:{found.device} could not be converted to rows of float32 or float64"
        )
    rows, columns = found.shape
    stride = found.strides[0] if rows > 1 else columns
    dtype = np.dtype(f"f{found.bits // 8}")
    place = (found.device, found.address, (rows, columns), stride)
    return Placed(x, found.owner, *place, dtype, found.stream)


def _plain(x: Any) -> Any:
    """A tensor without gradient, dense, of single or double precision, contiguous."""
    x = x.detach()
    if str(x.layout) != "torch.strided":
        raise ValueError(f"the tensor on {x.device} is sparse: pass a dense one, with .to_dense()")
    if x.is_complex():
        raise ValueError(f"the tensor on {x.device} does not hold real numbers: it is {x.dtype}")
    if str(x.dtype) not in ("torch.float32", "torch.float64"):
        x = x.float() if x.is_floating_point() else x.double()
    if x.ndim == 2 and not (x.stride(1) == 1 and x.stride(0) >= x.shape[1]):
        x = x.contiguous()
    return x


def _typed(x: Any, found: _Found) -> Any:
    """Half numbers as single ones, whole ones as doubles, where they are."""
    to = "float32" if found.kind in ("f", "bfloat") else "float64"
    if not hasattr(x, "astype"):
        raise ValueError(
            f"the array on cuda:{found.device} has numbers of {found.bits} bits that are neither float32 "
            f"nor float64: convert it to {to} first"
        )
    return x.astype(to)


def _contiguous(x: Any, found: _Found) -> Any:
    if not hasattr(x, "flags") or not hasattr(x, "copy"):
        raise ValueError(
            f"the rows on cuda:{found.device} do not lie in one piece each: make the array contiguous first"
        )
    return x.copy(order="C")


def _described(x: Any) -> _Found:
    return _by_dlpack(x) if hasattr(type(x), "__dlpack__") else _by_interface(x)


def _by_dlpack(x: Any) -> _Found:
    stream: int | None = LEGACY
    if hasattr(x, "block_until_ready"):
        # JAX has streams of its own, which it does not name.
        x.block_until_ready()
        capsule, stream = _capsule(x), None
    else:
        # What writes the array is waited for by the default stream, which the core waits for.
        capsule = _capsule(x, stream=LEGACY)
    tensor = _tensor(capsule)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        strides = _dense(shape)
    kind = KINDS.get(tensor.code, "") if tensor.lanes == 1 else ""
    return _Found(
        device=tensor.device[1],
        address=(tensor.data or 0) + tensor.byte_offset,
        shape=shape,
        strides=strides,
        kind=kind,
        bits=tensor.bits,
        stream=stream,
        # Nobody takes the tensor over: it goes with the capsule.
        owner=(x, capsule),
    )


def _capsule(x: Any, **asked: Any) -> Any:
    try:
        return x.__dlpack__(max_version=(1, 0), **asked)
    except TypeError:
        # Before DLPack 1.0.
        return x.__dlpack__(**asked)


def _tensor(capsule: Any) -> _Tensor:
    """What a capsule of DLPack's holds, while the capsule lives."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    called = name(capsule)
    if called == b"dltensor":
        return _Tensor.from_address(pointer(capsule, called))
    if called == b"dltensor_versioned":
        tensor: _Tensor = _Versioned.from_address(pointer(capsule, called)).tensor
        return tensor
    raise ValueError(f"the capsule of DLPack is called {called!r}: expected 'dltensor'")


def _by_interface(x: Any) -> _Found:
    about = _interface(x)
    if about is None:
        raise ValueError(f"{type(x).__name__} is no array on a GPU")
    if about.get("mask") is not None:
        raise ValueError("the array on the GPU has a mask: pass one without missing values")
    dtype, shape = np.dtype(about["typestr"]), tuple(about["shape"])
    address = int(about["data"][0] or 0)
    strides = about.get("strides")
    stream = about.get("stream")
    if strides is None:
        strides = _dense(shape)
    elif any(step % dtype.itemsize for step in strides):
        raise ValueError("the numbers of the array on the GPU are not aligned")
    else:
        strides = tuple(step // dtype.itemsize for step in strides)
    kind = dtype.kind if dtype.isnative else ""
    return _Found(
        device=_core.device_of(address) if address else 0,
        address=address,
        shape=shape,
        strides=strides,
        kind=kind,
        bits=8 * dtype.itemsize,
        # 2 stands for a stream of the thread that asks.
        stream=None if stream == 2 else stream,
        owner=(x, about),
    )


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of rows one after the other."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(1, size)
    return tuple(reversed(strides))


def host(x: Any) -> NDArray[Any]:
    """An array on a GPU in host memory."""
    if _is_tensor(x):
        x = x.detach().cpu()
        return np.asarray((x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy())
    for name in ("to_numpy", "copy_to_host", "get"):
        if hasattr(x, name) and not hasattr(x, "block_until_ready"):
            return np.asarray(getattr(x, name)())
    values = np.asarray(x)
    # Types of other libraries, such as bfloat16.
    return values.astype(np.float32) if values.dtype.kind == "V" else values


def here(x: Any) -> Any:
    """What it is, in host memory if it is an array on a GPU."""
    return host(x) if on_gpu(x) else x


def flattened(x: Any) -> Any:
    """An array on a GPU with one leading dimension."""
    return x.reshape(-1, x.shape[-1]) if len(x.shape) > 2 else x


def like(x: Any, z: NDArray[Any]) -> Any:
    """An array from here where x lies, of the library of x."""
    xp = _namespace(x)
    if xp is None:
        return z
    device = x.device
    if hasattr(type(device), "__enter__"):
        with device:
            return xp.asarray(z)
    return xp.asarray(z, device=device)


def _namespace(x: Any) -> Any:
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    return sys.modules.get(type(x).__module__.partition(".")[0])


def encoded(estimator: Any, x: Any) -> Any:
    """z or erased rows where x lies; nothing where the processor must compute them."""
    solved = estimator._fitted()
    model, columns = solved.model, solved.columns
    linear = model.is_linear and model.cells is None and not columns.categories
    if not linear or columns.fills is not None or len(x.shape) != 2:
        return None
    rows, width = x.shape
    if width != len(columns.names):
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting "
            f"{len(columns.names)} features as input"
        )
    step = max(1, CHUNK // max(1, width))
    parts = [x[start : start + step] for start in range(0, rows, step)] or [x]
    if _is_tensor(x):
        import torch

        module = estimator.to_torch(dtype=torch.float64, device=x.device)
        done = []
        for i, part in enumerate(parts):
            _check_finite(part, torch, i * step)
            done.append(module(part))
        return done[0] if len(done) == 1 else torch.cat(done)
    xp = _namespace(x)
    if xp is None or str(x.dtype) not in ("float32", "float64"):
        return None
    device = x.device
    with device if hasattr(type(device), "__enter__") else nullcontext():
        done = []
        for i, part in enumerate(parts):
            _check_finite(part, xp, i * step)
            done.append(_products(estimator, xp, part))
        return done[0] if len(done) == 1 else xp.concatenate(done)


def _products(estimator: Any, xp: Any, x: Any) -> Any:
    """Rows erased or encoded by products of their library, in doubles where it has them."""
    dtype = xp.asarray(np.zeros(1)).dtype
    if estimator._erases:
        mean, found, taken = (xp.asarray(m, dtype=dtype) for m in estimator._erasure())
        rows = x.astype(dtype)
        return (rows - ((rows - mean) @ found.T) @ taken).astype(x.dtype)
    solved = estimator._fitted()
    numbers = list(solved.columns.numbers)
    bias = solved.model.encode(np.zeros((1, len(numbers))), [], None)[0]
    weights, bias = (xp.asarray(m, dtype=dtype) for m in (solved.model.weights(), bias))
    rows = x if len(numbers) == x.shape[1] else x[:, xp.asarray(numbers)]
    return (rows.astype(dtype) @ weights + bias).astype(x.dtype)


def _check_finite(x: Any, xp: Any, first: int) -> None:
    """Refuses rows as the core does; `named_columns` gives the column its name."""
    sound = xp.isfinite(x)
    if bool(sound.all()):
        return
    place = host(~sound).ravel().argmax()
    row, column = divmod(int(place), x.shape[1])
    raise _core.NotFinite(first + row, column, float(x[row, column]))
