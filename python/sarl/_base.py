"""What all estimators share: goals, reading, solving, results, files."""

from __future__ import annotations

import copy
import os
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from . import _core, _files
from ._checks import check_choice, check_folds, named_columns, threads
from ._moments import Moments, Progress
from ._results import Bounds, Front, HeldOut, Point
from ._rows import frame, from_tensor, is_table, is_tensor, parts
from ._shape import follow

if TYPE_CHECKING:
    from typing_extensions import Self

#: Points of `front_`.
POINTS = 101

GOALS = ("lambda_", "alpha", "max_leakage", "min_utility")


class Base(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """An encoder that keeps one thing and hides another."""

    # Passed on by pipelines and searches without being asked for: an encoder that is not told
    # what to hide is an error, so that nothing is gained by leaving it out.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    #: Whether sensitive columns of X are features too.
    _keeps_sensitive: ClassVar[bool] = False

    lambda_: float | None
    alpha: float | None
    max_leakage: float | None
    min_utility: float | None
    scale: str
    folds: int
    precision: str
    target_type: Any
    sensitive_type: Any
    sensitive: Any
    unseen: str
    random_state: Any
    n_jobs: int | None
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _moments: Moments | None
    _solved: _files.Solved | None
    _front: Front | None

    # -- fitting -----------------------------------------------------------------------------

    def _fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: ArrayLike | None,
        *,
        reset: bool,
        solve: bool = True,
    ) -> None:
        goal = self._goal()
        rows = self._rows(X, reset=reset)
        hidden, leave_out = self._sensitive(rows, sensitive_features, reset)
        if reset:
            self._moments = self._new_moments()
        assert self._moments is not None
        with self._progress(rows.shape[0], "moments") as progress:
            self._moments._update(
                rows,
                self._target(y),
                hidden,
                sample_weight,
                leave_out=leave_out,
                unseen=self._unseen(),
                progress=progress,
            )
        self._front = None
        self._solved = self._solve(goal) if solve else None

    def _target(self, y: Any) -> Any:
        """What is to be kept; none stands for the features."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is "
                "None: y is what is to be kept"
            )
        return y

    def _rows(self, X: Any, *, reset: bool, least: int = 1) -> Any:
        """X as an array, a sparse matrix or a table; its columns noted, or checked."""
        if is_tensor(X):
            X = from_tensor(X)
        if reset:
            least = 2
        if not is_table(X):
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=least,
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        if X.shape[0] < least:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) (shape={tuple(X.shape)}) while a minimum "
                f"of {least} is required by {type(self).__name__}."
            )
        return X

    def _sensitive(self, X: Any, given: Any, reset: bool) -> tuple[Any, list[int]]:
        """What is to be hidden, and the columns of X that are no features because of it."""
        name = type(self).__name__
        if self.sensitive is None:
            if given is None:
                raise ValueError(
                    f"{name} must be told what to hide: pass sensitive_features=… to fit, or name "
                    "columns of X with the parameter sensitive=[…]"
                )
            return given, []
        if given is not None:
            raise ValueError(
                "sensitive_features was passed and the parameter sensitive is set: use one of them"
            )
        places = self._places(X)
        if is_table(X):
            table = frame(X)
            hidden: Any = table.select([table.columns[j] for j in places]).to_native()
        else:
            hidden = X[:, places]
            hidden = hidden.toarray() if hasattr(hidden, "toarray") else hidden
        leave_out = [] if self._keeps_sensitive else places
        if len(leave_out) == X.shape[1]:
            raise ValueError(
                f"X has n_features = {X.shape[1]}, and all of them are sensitive: nothing is left "
                "to encode"
            )
        return hidden, leave_out

    def _places(self, X: Any) -> list[int]:
        wanted = self.sensitive
        if isinstance(wanted, (str, int, np.integer)):
            wanted = [wanted]
        names = [str(n) for n in getattr(self, "feature_names_in_", [])]
        places = []
        for column in wanted:
            if isinstance(column, str):
                if column not in names:
                    known = ", ".join(map(repr, names)) or "only numbers, as X has no names"
                    raise ValueError(f"sensitive: X has no column {column!r}; there are {known}")
                places.append(names.index(column))
            elif isinstance(column, (int, np.integer)) and -X.shape[1] <= column < X.shape[1]:
                places.append(int(column) % X.shape[1])
            else:
                raise ValueError(
                    f"sensitive: there is no column {column!r} in X with n_features = {X.shape[1]}"
                )
        if not places:
            raise ValueError("sensitive names no column")
        return places

    def _unseen(self) -> str:
        return check_choice("unseen", self.unseen, ("error", "ignore"))

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _options(self) -> dict[str, Any]:
        return {
            "folds": check_folds(self.folds),
            "precision": check_choice("precision", self.precision, ("double", "single")),
            "random_state": self._seed(),
            "target_type": self.target_type,
            "sensitive_type": self.sensitive_type,
            "n_jobs": self.n_jobs,
        }

    def _new_moments(self) -> Moments:
        return Moments(**self._options())

    def _standardises(self) -> bool:
        """Whether the moments are to be standardised when the problem is solved."""
        return check_choice("scale", self.scale, ("standard", "none")) == "standard"

    def _ridge(self) -> float | None:
        """The ridge; none for the best one."""
        return 0.0

    def _cap(self) -> int | None:
        return None

    def _goal(self) -> tuple[str, float]:
        given = [(name, getattr(self, name)) for name in GOALS if getattr(self, name) is not None]
        return one_goal(given, default=("max_leakage", 0.0))

    def _solve(self, goal: tuple[str, float]) -> _files.Solved:
        moments = self._moments
        assert moments is not None and moments._core is not None
        solved = moments._core.solve(
            standardise=self._standardises(),
            ridge=self._ridge(),
            cap=self._cap(),
            goal_name=goal[0],
            value=goal[1],
            threads=threads(self.n_jobs),
        )
        model, spreads, labels = solved
        self._warn(model)
        assert moments._columns is not None
        return _files.Solved(model, moments._columns, list(moments._labels), spreads, labels)

    def _warn(self, model: _core.Model) -> None:
        """With few rows the figures on them say little about others."""
        if model.ridge == 0 and model.rows < 5 * model.basis:
            hint = ", and try ridge='auto'" if "ridge" in self.get_params() else ""
            warnings.warn(
                f"{model.rows} rows for {model.basis} directions: leakage_ and utility_, which are of "
                f"these rows, flatter; look at heldout_{hint}",
                UserWarning,
                stacklevel=5,
            )

    def _progress(self, rows: int, what: str) -> Bar:
        return Bar(rows, f"{type(self).__name__} {what}", bool(self.verbose))

    # -- the fitted encoder --------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        moments = getattr(self, "_moments", None)
        return getattr(self, "_solved", None) is not None or (
            moments is not None and len(moments) > 0
        )

    def _fitted(self) -> _files.Solved:
        """The solution, solved for now if rows came after the last one."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        if self._solved is None:
            self._solved = self._solve(self._goal())
        return self._solved

    @property
    def _n_features_out(self) -> int:
        return self._fitted().model.dim

    @property
    def point_(self) -> Point:
        """The trade-off that was reached on the training rows."""
        return Point(*self._fitted().model.point)

    @property
    def leakage_(self) -> float:
        """The share of the sensitive variance that the best linear adversary explains."""
        return self.point_.leakage

    @property
    def utility_(self) -> float:
        """The share of the attainable that the target keeps."""
        return self.point_.utility

    @property
    def n_components_(self) -> int:
        """The number of dimensions of z."""
        return self._fitted().model.dim

    @property
    def dual_bound_(self) -> float:
        """No encoder of these features has a smaller target loss at this leakage.

        With `min_utility`: none has a greater adversary loss at this utility.
        """
        return self._fitted().model.certificate[0]

    @property
    def gap_(self) -> float:
        """How far the encoder is from that bound: zero proves that it is the best."""
        return self._fitted().model.certificate[1]

    @property
    def bounds_(self) -> Bounds:
        """What any encoder of these features could achieve."""
        return Bounds(**self._fitted().model.bounds())

    @property
    def ridge_(self) -> float:
        """The ridge, as given or as chosen."""
        return self._fitted().model.ridge

    @property
    def front_(self) -> Front:
        """The trade-offs from λ = 0 to λ = 1, training and held-out."""
        self._fitted()
        if self._front is None:
            self._front = self.front()
        return self._front

    def front(self, points: int = POINTS) -> Front:
        """The trade-offs at as many λ, evenly spaced from 0 to 1.

        Parameters
        ----------
        points : int, default=101
            How many.

        Returns
        -------
        Front
            A table with a row for each; held-out columns are NaN where there are no folds.
        """
        if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 2:
            raise ValueError(f"points is {points!r}: expected a whole number, 2 or more")
        solved = self._fitted()
        data: dict[str, NDArray[Any]] = dict(solved.model.front(int(points), threads(self.n_jobs)))
        held = self._held_out(points=int(points))
        if held is not None:
            bounds = self.bounds_
            data |= {f"heldout_{name}": column for name, column in held.items()}
            data["heldout_utility"] = np.array([bounds.utility(jy) for jy in held["jy"]])
            data["heldout_leakage"] = np.array([bounds.leakage(js) for js in held["js"]])
        return Front(data, solved.model.breakpoints())

    @property
    def heldout_(self) -> HeldOut | None:
        """Losses on rows not fitted on, by the folds; none where there are no folds."""
        solved = self._fitted()
        name, value = solved.model.goal
        held = self._held_out(goal_name=name, value=value)
        if held is None:
            losses = solved.heldout
            if losses is None:
                return None
        else:
            losses = [float(held[column][0]) for column in ("jy", "js", "jy_sd", "js_sd")]
        bounds, (jy, js, jy_sd, js_sd) = self.bounds_, losses
        return HeldOut(jy, js, jy_sd, js_sd, bounds.utility(jy), bounds.leakage(js))

    def _held_out(self, **asked: Any) -> dict[str, NDArray[np.float64]] | None:
        solved = self._fitted()
        moments = self._moments
        if moments is None or moments._core is None or moments.folds < 2:
            return None
        try:
            return moments._core.held_out(
                standardise=self._standardises(),
                ridge=solved.model.ridge,
                cap=solved.model.cap,
                threads=threads(self.n_jobs),
                **asked,
            )
        except ValueError as problem:
            warnings.warn(f"no held-out losses: {problem}", UserWarning, stacklevel=3)
            return None

    def retune(
        self,
        *,
        lambda_: float | None = None,
        alpha: float | None = None,
        max_leakage: float | None = None,
        min_utility: float | None = None,
    ) -> Self:
        """Another trade-off from the same fit, without the data.

        Exactly one goal must be given; see the class for what they mean.

        Returns
        -------
        estimator
            A new fitted estimator with the other goal.
        """
        given = [
            (name, value)
            for name, value in zip(GOALS, (lambda_, alpha, max_leakage, min_utility), strict=True)
            if value is not None
        ]
        name, value = one_goal(given)
        solved = self._fitted()
        new = copy.copy(self)
        self._clear_goal(new)
        setattr(new, name, value)
        new._solved = solved.retuned(name, value)
        return new

    @staticmethod
    def _clear_goal(estimator: Any) -> None:
        for name in GOALS:
            setattr(estimator, name, None)

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            Rows with the same columns as those of the fit.

        Returns
        -------
        array, tensor or table of shape (n_rows, n_components)
            What X is, of its precision, unless :meth:`set_output` says otherwise. A sparse matrix
            gives an array.
        """
        solved = self._fitted()
        rows = self._rows(X, reset=False)
        dense, codes = solved.columns.read(rows, self._unseen())
        with named_columns(solved.columns):
            done = [self._apply(solved, part, [c[r] for c in codes]) for r, part in parts(dense)]
        z = done[0] if len(done) == 1 else np.concatenate(done)
        return follow(self, X, z)

    def _apply(self, solved: _files.Solved, dense: Any, codes: list[Any]) -> NDArray[Any]:
        return solved.model.encode(dense, codes, threads(self.n_jobs))

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which the command line reads too: whole, or not at all.

        Parameters
        ----------
        path : path
            Where to; a safetensors file, with no code in it.
        """
        solved = self._fitted()
        held = self.heldout_
        about = {"class": type(self).__name__, "params": self._plain_params()}
        losses = None if held is None else list(held[:4])
        solved.model.save(os.fspath(path), solved.extra(losses, about))

    def _plain_params(self) -> dict[str, Any]:
        plain = (str, int, float, bool, type(None), list)
        return {k: v for k, v in self.get_params().items() if isinstance(v, plain)}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file, written here or by the command line.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        estimator
            A fitted estimator of this class. See :func:`sarl.load` if the class is not known.
        """
        return _files.load(path, cls)

    def to_onnx(self, path: str | os.PathLike[str], *, double: bool = False) -> None:
        """Write the encoder as an ONNX model: whole, or not at all.

        An encoder of arrays has one input, ``X``. One of tables has an input for each column,
        numbers or text, of shape (rows, 1). The result is called ``z``.

        Parameters
        ----------
        path : path
            Where to.
        double : bool, default=False
            Whether inputs and outputs are double precision; all is computed in it anyway.
        """
        self._to_onnx(path, double, erase=False)

    def _to_onnx(self, path: str | os.PathLike[str], double: bool, erase: bool) -> None:
        solved = self._fitted()
        columns = solved.columns
        table: list[tuple[str, list[str] | None]] | None = None
        if columns.named and not erase:
            categories = {c.place: list(c.values) for c in columns.categories}
            used = sorted([*columns.numbers, *categories])
            table = [(columns.names[j], categories.get(j)) for j in used]
        elif len(columns.numbers) != len(columns.names):
            raise ValueError(
                "columns of X were left out because they are sensitive; an array of fewer columns "
                "has no names to tell which: fit on a table, or pass sensitive_features"
            )
        solved.model.to_onnx(os.fspath(path), columns=table, erase=erase, double=double)

    # -- scikit-learn --------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def one_goal(
    given: list[tuple[str, Any]], default: tuple[str, float] | None = None
) -> tuple[str, float]:
    """The one goal that was given."""
    if len(given) > 1:
        names = " and ".join(f"{name}={value}" for name, value in given)
        raise ValueError(f"{names} were given: exactly one goal is needed")
    if not given:
        if default is None:
            raise ValueError(f"a goal is missing: give one of {', '.join(GOALS)}")
        return default
    name, value = given[0]
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} is {value!r}: expected a number")
    return name, float(value)


class Bar:
    """A progress bar over rows, if it is asked for."""

    def __init__(self, total: int, what: str, shown: bool) -> None:
        self.bar: Any = None
        if shown:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("verbose=1 needs tqdm: pip install 'sarl[progress]'") from None
            self.bar = tqdm(total=total, desc=what, unit=" rows", unit_scale=True)

    def __enter__(self) -> Progress | None:
        return None if self.bar is None else self.bar.update

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
