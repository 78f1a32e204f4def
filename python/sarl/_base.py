"""What all estimators share: reading, solving, encoding, files."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from . import _core, _files
from ._checks import (
    GOALS,
    Goal,
    Limit,
    check_choice,
    check_folds,
    named_columns,
    one_goal,
    threads,
)
from ._fitted import Fitted
from ._moments import Moments
from ._progress import Bar
from ._rows import frame, is_table, is_tensor, native, parts
from ._shape import follow

if TYPE_CHECKING:
    from typing_extensions import Self


class Base(Fitted, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """An encoder that keeps one thing and hides another."""

    # Passed on by pipelines and searches without being asked for: an encoder that is not told
    # what to hide is an error, so that nothing is gained by leaving it out.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    #: Whether sensitive columns of X are features too.
    _keeps_sensitive: ClassVar[bool] = False

    lambda_: float | None
    alpha: float | None
    max_leakage: Limit | None
    min_utility: Limit | None
    scale: str
    folds: int
    precision: str
    target_type: Any
    sensitive_type: Any
    sensitive: Any
    unseen: str
    random_state: Any
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

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
        hidden, leave_out = self._sensitive(rows, sensitive_features)
        # What is refused or interrupted leaves the estimator as it was.
        moments = self._new_moments() if reset or self._moments is None else self._moments
        with self._progress(rows.shape[0], "moments") as progress:
            moments._update(
                rows,
                self._target(y),
                hidden,
                sample_weight,
                leave_out=leave_out,
                unseen=self._unseen(),
                progress=progress,
            )
        solved = self._solve(goal, moments) if solve else None
        self._moments, self._solved, self._front = moments, solved, None
        self._streams = not solve

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
        if reset:
            least = 2
        X = native(X)
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

    def _sensitive(self, X: Any, given: Any) -> tuple[Any, list[int]]:
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

    def _ridge(self) -> str | dict[str, float]:
        """The ridge, as the fit wants it."""
        raise NotImplementedError

    def _cap(self) -> int | None:
        return None

    def _goal(self) -> Goal:
        given = [(name, getattr(self, name)) for name in GOALS if getattr(self, name) is not None]
        return one_goal(given, default=("max_leakage", 0.0))

    def _params(self, moments: Moments) -> str:
        """The parameters of the fit."""
        linear = {"scale": check_choice("scale", self.scale, ("standard", "none"))}
        return json.dumps(
            moments._params()
            | (linear if moments._kernel is None else {})
            | {"ridge": self._ridge(), "dimensions": self._cap()}
        )

    def _solve(self, goal: Goal, moments: Moments, *, whole: bool = True) -> _files.Solved:
        assert moments._core is not None and moments._columns is not None
        params = self._params(moments)
        solved = moments._core.solve(
            params,
            goal_name=goal[0],
            value=goal[1],
            whole=whole,
            threads=threads(self.n_jobs),
        )
        model, spreads, labels = solved
        self._warn(model)
        return _files.Solved(
            model, moments._columns, list(moments._labels), spreads, labels, params=params
        )

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
        X = X if is_tensor(X) else native(X)
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
        self._save(path, self._fitted())

    def _save(self, path: str | os.PathLike[str], solved: _files.Solved) -> None:
        held = self.heldout_
        model = solved.model
        if held is not None and self._moments is not None and self._moments._core is not None:
            params = self._held_out_params(solved, points=0)
            model = self._moments._core.with_folds(params, model, threads=threads(self.n_jobs))
        about = {"class": type(self).__name__, "params": self._plain_params()}
        losses = None if held is None else list(held)
        model.save(os.fspath(path), solved.extra(losses, self._heldout_labels(), about))

    def _heldout_labels(self) -> dict[str, list[dict[str, Any]]] | None:
        """The held-out figures of each label, as the command line writes them."""
        found = {
            side: [
                {"name": name, "loss": figures["heldout"][loss], "share": figures["heldout"][share]}
                for name, figures in self.attributes_[side].items()
                if figures["heldout"] is not None
            ]
            for side, loss, share in (("target", "jy", "utility"), ("sensitive", "js", "leakage"))
        }
        return found if found["sensitive"] else None

    def _plain_params(self) -> dict[str, Any]:
        plain = (str, int, float, bool, type(None), list, dict)
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
