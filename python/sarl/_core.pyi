"""The Rust half: arrays in, arrays out. Private to the package."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Compared",
    "Counter",
    "Cutter",
    "Fit",
    "LabelledErasure",
    "LabelledSums",
    "Model",
    "NotFinite",
    "__version__",
    "add_counted",
    "audit",
    "compare",
    "device_of",
    "draw_rows",
    "integer_codes",
    "key_parts",
    "parts",
    "probes",
    "read_layers",
    "report",
    "rivals",
    "side_by_side",
    "text_keys",
    "write_layers",
]

__version__: str

_Matrix = NDArray[np.float64] | NDArray[np.float32]
_Codes = NDArray[np.uint32]
_Values = NDArray[np.uint32] | NDArray[np.float64]
_Label = tuple[str, bool, int, int]
_Limit = float | dict[str, float]
_Figures = list[tuple[str, float, float, float | None]]

class NotFinite(ValueError): ...

def integer_codes(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], _Codes]: ...
def text_keys(texts: Sequence[str], place: int | None = None) -> NDArray[np.uint64]: ...
def parts(rows: int, seed: int) -> NDArray[np.uint8]: ...
def key_parts(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint8]: ...
def add_counted(a: bytes, b: bytes) -> bytes: ...
def side_by_side(columns: Sequence[_Matrix], rows: int) -> _Matrix: ...
def probes() -> list[tuple[str, str]]: ...
def audit(
    views: Sequence[tuple[_Matrix, _Matrix]],
    attributes: Sequence[tuple[str, list[str], _Values, _Values]],
    targets: int,
    *,
    probes: Sequence[str | tuple[str, Callable[..., Any], tuple[bool, bool]]],
    seeds: Sequence[int],
    threads: int,
    favourable: int | None = None,
    own: tuple[_Matrix, Sequence[tuple[int, _Values]]] | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[str]: ...

_Named = tuple[str, bool, list[str], str | None]
_Side = tuple[_Matrix, Sequence[_Values], Sequence[int], int]
_Progress = Callable[[str, int, int, list[str]], Any]

def device_of(address: int) -> int: ...
def draw_rows(rows: int, cap: int, seed: int) -> list[int]: ...
def rivals() -> list[tuple[str, str]]: ...
def report(
    model: Model,
    path: str | PathLike[str],
    text: tuple[str, str, str, int],
    *,
    schema: str,
    labels: Sequence[_Named],
    spreads: Sequence[float] | None = None,
    shown: _Side | None = None,
    audited: _Side | None = None,
    threads: int | None = None,
    progress: _Progress | None = None,
) -> None: ...
def compare(
    data: _Side,
    test: _Side | None,
    labels: Sequence[_Named],
    schema: str,
    *,
    encoders: tuple[str, str],
    scale: bool,
    rivals: Sequence[str],
    leakages: Sequence[float],
    hiding: Sequence[float],
    probes: Sequence[str],
    seeds: Sequence[int],
    test_size: float | None,
    threads: int | None = None,
    progress: _Progress | None = None,
) -> Compared: ...

@final
class Compared:
    def json(self) -> str: ...
    def table(self) -> tuple[list[str], list[list[str]]]: ...
    def words(self) -> tuple[str | None, list[str]]: ...
    def report(
        self,
        path: str | PathLike[str],
        text: tuple[str, str, str],
        *,
        rows: int,
        threads: int | None = None,
        progress: _Progress | None = None,
    ) -> None: ...

_Layer = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

def write_layers(
    path: str | PathLike[str], order: str, about: str, matrices: Sequence[_Layer], extra: str
) -> None: ...
def read_layers(bytes: bytes) -> tuple[str, str, list[_Layer], str]: ...

@final
class Fit:
    def __new__(
        cls,
        params: str,
        dense: int,
        categories: Sequence[int],
        labels: Sequence[_Label],
        *,
        features_are_target: bool,
        keep_inputs: bool,
    ) -> Fit: ...
    def on(self, device: str, fast: bool, near: int = 0) -> None: ...
    @property
    def device(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def needs_sample(self) -> bool: ...
    @property
    def kernel(self) -> tuple[float | None, float] | None: ...
    def sample(
        self,
        x: _Matrix,
        codes: Sequence[_Codes],
        labels: Sequence[_Values],
        weights: NDArray[np.float64] | None = None,
        *,
        landmarks: bool = False,
        threads: int | None = None,
    ) -> None: ...
    def choose(self, threads: int | None = None) -> None: ...
    def push(
        self,
        x: _Matrix,
        codes: Sequence[_Codes],
        labels: Sequence[_Values],
        weights: NDArray[np.float64] | None,
        *,
        keys: NDArray[np.uint64] | None = None,
        threads: int | None = None,
        progress: Callable[[int], Any] | None = None,
        in_place: bool = False,
    ) -> None: ...
    def push_placed(
        self,
        x: tuple[int, int, int, int, int, bool, int | None],
        labels: Sequence[_Values],
        weights: NDArray[np.float64] | None,
        *,
        keys: NDArray[np.uint64] | None = None,
        threads: int | None = None,
    ) -> bool: ...
    def settle(self, threads: int | None = None) -> None: ...
    def merge(self, other: Fit) -> None: ...
    def reclass(self, label: int, to: Sequence[int], classes: int) -> None: ...
    def recode(self, category: int, to: Sequence[int], size: int) -> None: ...
    def without_rows(self) -> Fit: ...
    def copy(self) -> Fit: ...
    def held_out(
        self,
        params: str,
        *,
        points: int | None = None,
        goal_name: str | None = None,
        value: _Limit | None = None,
        whole: bool = True,
        preserve: bool = False,
        threads: int | None = None,
    ) -> dict[str, Any]: ...
    def solve(
        self,
        params: str,
        *,
        goal_name: str,
        value: _Limit,
        whole: bool = True,
        front: bool = False,
        preserve: bool = False,
        threads: int | None = None,
    ) -> tuple[Model, list[tuple[float, float]]]: ...
    def with_folds(self, params: str, model: Model, *, threads: int | None = None) -> Model: ...
    def feature_spreads(self, params: str, *, threads: int | None = None) -> list[float]: ...
    def to_bytes(self, extra: dict[str, str]) -> bytes: ...
    def chosen(self) -> tuple[bytes, list[tuple[float, float]]] | None: ...
    @staticmethod
    def from_bytes(params: str, bytes: bytes) -> tuple[Fit, dict[str, str]]: ...
    @staticmethod
    def from_chosen(
        params: str,
        bytes: bytes,
        chosen: tuple[bytes, Sequence[tuple[float, float]]],
        layout: tuple[int, Sequence[int], Sequence[_Label]],
    ) -> Fit: ...

@final
class Cutter:
    def __new__(
        cls, fit: Fit, params: str, goal: str, seed: int, *, threads: int | None = None
    ) -> Cutter: ...
    def push(
        self,
        x: _Matrix,
        codes: Sequence[_Codes],
        labels: Sequence[_Values],
        *,
        threads: int | None = None,
    ) -> None: ...
    def choose(self, rows: int, *, threads: int | None = None) -> None: ...
    def proposals(self) -> list[Model]: ...
    def merge(self, counted: Sequence[bytes]) -> None: ...
    def finish(self) -> tuple[Model, list[tuple[float, float]]]: ...

@final
class Counter:
    def __new__(cls, model: Model) -> Counter: ...
    def push(
        self,
        x: _Matrix,
        codes: Sequence[_Codes],
        labels: Sequence[_Values],
        *,
        threads: int | None = None,
    ) -> None: ...
    def counted(self) -> bytes: ...
    def certificate(self, confidence: float, targets: bool) -> str: ...

@final
class Model:
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def retune(self, goal_name: str, value: _Limit) -> Model: ...
    def held_out(
        self,
        *,
        points: int | None = None,
        goal_name: str | None = None,
        value: _Limit | None = None,
        threads: int | None = None,
    ) -> dict[str, Any] | None: ...
    def encode(
        self, x: _Matrix, codes: Sequence[_Codes], threads: int | None = None
    ) -> NDArray[Any]: ...
    def cell(
        self, x: _Matrix, codes: Sequence[_Codes], threads: int | None = None
    ) -> NDArray[np.int64]: ...
    @property
    def cells(self) -> str | None: ...
    def centres(self) -> NDArray[np.float64]: ...
    def erase(self, x: _Matrix, threads: int | None = None) -> NDArray[Any]: ...
    def decode(self, z: _Matrix) -> NDArray[np.float64]: ...
    @property
    def dim(self) -> int: ...
    @property
    def inputs(self) -> int: ...
    @property
    def is_preserving(self) -> bool: ...
    @property
    def is_linear(self) -> bool: ...
    @property
    def is_whole(self) -> bool: ...
    @property
    def cap(self) -> int | None: ...
    @property
    def ridge(self) -> float: ...
    @property
    def rows(self) -> int: ...
    @property
    def basis(self) -> int: ...
    @property
    def kernel(self) -> tuple[str, float | None, int | None, float | None] | None: ...
    @property
    def goal(self) -> tuple[str, _Limit]: ...
    @property
    def point(self) -> tuple[float, int, float, float, float, float]: ...
    @property
    def certificate(self) -> tuple[float, float]: ...
    @property
    def labels(self) -> list[_Label]: ...
    @property
    def criterion(self) -> tuple[str, int | None]: ...
    @property
    def scaling(self) -> tuple[list[float], list[float]]: ...
    @property
    def extra(self) -> dict[str, str]: ...
    def attributes(self) -> tuple[_Figures, _Figures]: ...
    def bounds(self) -> dict[str, float]: ...
    def front(self, points: int, threads: int | None = None) -> dict[str, NDArray[Any]]: ...
    def breakpoints(self) -> list[float]: ...
    def weights(self) -> NDArray[np.float64]: ...
    def erasure_parts(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    def save(self, path: str | PathLike[str], extra: dict[str, str]) -> None: ...
    def to_onnx(
        self,
        path: str | PathLike[str],
        *,
        columns: Sequence[tuple[str, list[str] | None]] | None,
        erase: bool,
        double: bool,
    ) -> None: ...
    def __reduce__(self) -> Any: ...

@final
class LabelledSums:
    def __new__(cls, dense: int, labels: Sequence[_Label], *, quadratic: bool) -> LabelledSums: ...
    @property
    def rows(self) -> int: ...
    def copy(self) -> LabelledSums: ...
    def push(
        self,
        x: _Matrix,
        labels: Sequence[_Values],
        weights: NDArray[np.float64] | None,
        *,
        threads: int | None = None,
    ) -> None: ...
    def merge(self, other: LabelledSums) -> None: ...
    def reclass(self, label: int, to: Sequence[int], classes: int) -> None: ...
    def solve(self, threads: int | None = None) -> LabelledErasure: ...

@final
class LabelledErasure:
    @property
    def is_quadratic(self) -> bool: ...
    @property
    def inputs(self) -> int: ...
    @property
    def figures(self) -> tuple[int, float, float]: ...
    @property
    def labels(self) -> list[_Label]: ...
    @property
    def extra(self) -> dict[str, str]: ...
    def oracle_parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def mean(self) -> NDArray[np.float64]: ...
    def class_parts(
        self, class_: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    def apply(
        self, x: _Matrix, labels: Sequence[_Values], threads: int | None = None
    ) -> _Matrix: ...
    def to_bytes(self, extra: dict[str, str]) -> bytes: ...
    def save(self, path: str | PathLike[str], extra: dict[str, str]) -> None: ...
    @staticmethod
    def is_file(bytes: bytes) -> bool: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> LabelledErasure: ...
