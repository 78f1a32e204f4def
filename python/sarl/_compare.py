"""Our encoders and other methods on the same rows, with one audit for all."""

from __future__ import annotations

import html
import json
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _criterion
from ._checks import check_choice, check_folds, check_ridge, threads
from ._inputs import dimensions
from ._kernel import KernelSARL
from ._labels import Treats
from ._progress import Steps
from ._rows import native
from ._table import SHOWN, Rows, check_shown, check_whole

if TYPE_CHECKING:
    import pandas as pd


class Comparison:
    """What came of each encoder of a comparison.

    Attributes
    ----------
    entries : list of dict
        The raw features, our encoders at each leakage, the other methods: ``method``, ``setting``,
        ``dim``, how well the strongest attackers predict the ``target`` and what is hidden
        (``worst``), the ``linear_leakage`` on the rows of the fit, seconds, and for other methods
        the best of ours that leaks no more (``ours_at_no_more``).
    guess : dict
        What can be predicted without looking.
    left_out : list of dict
        Methods that have no answer for such labels, and why.
    n_train, n_test : int
        Rows that the attackers learnt from, and those that they were tested on.
    """

    def __init__(self, core: _core.Compared, seconds: float, about: dict[str, Any]) -> None:
        self._core = core
        self._found: dict[str, Any] = json.loads(core.json()) | {"seconds": {"total": seconds}}
        self._about = about
        self.entries: list[dict[str, Any]] = self._found["entries"]
        self.guess: dict[str, Any] = self._found["guess"]
        self.left_out: list[dict[str, str]] = self._found["left_out"]
        self.n_train: int = self._found["n_train"]
        self.n_test: int = self._found["n_test"]

    def to_dict(self) -> dict[str, Any]:
        """All of it, as the JSON of ``sarl compare`` says it, but for the files that it writes."""
        return dict(self._found)

    def to_pandas(self) -> pd.DataFrame:
        """The entries as a DataFrame of pandas, a row for each; columns such as ``target.mean``."""
        import pandas as pd

        return pd.json_normalize(self.entries)

    def fairness_rows(self) -> list[dict[str, Any]]:
        """A row for each entry and attribute to hide: its gaps, intervals and verdicts."""
        return [
            {"method": entry["method"], "setting": entry["setting"], **fair}
            for entry in self.entries
            for fair in entry["fairness"]
        ]

    def __repr__(self) -> str:
        line, sentences = self._core.words()
        header, rows = self._core.table()
        cells = [header, *([cell.replace("\n", " ") for cell in row] for row in rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
        lines = [
            "  ".join(
                cell.ljust(width) if j < 2 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        rule = "  ".join("-" * width for width in widths)
        first = [] if line is None else [line, ""]
        return "\n".join([*first, lines[0], rule, *lines[1:], "", *sentences])

    def _repr_html_(self) -> str:
        line, sentences = self._core.words()
        header, rows = self._core.table()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        first = "" if line is None else f"<p><b>{html.escape(line)}</b></p>"
        text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"{first}{table}{text}"

    def report(self, path: str | os.PathLike[str], *, rows: int = SHOWN, verbose: int = 0) -> None:
        """Write the page of ``sarl compare --html``: whole, or not at all.

        Parameters
        ----------
        path : path
            Where to; one HTML file that opens in any browser, without a network.
        rows : int, default=1000
            Test rows that the page shows encoded, with their labels, 0 to 2000.
        verbose : int, default=0
            Above 0 a progress bar is shown (needs tqdm).
        """
        fit = f".fit(X, {self._about['kept']}sensitive_features=s)"
        text = (
            "sarl.compare(…)",
            f"sarl.SARL({{goal}}{self._about['linear']}){fit}",
            f"sarl.KernelSARL({{goal}}{self._about['kernel']}){fit}",
        )
        with Steps("report", bool(verbose)) as progress:
            self._core.report(
                os.fspath(path),
                text,
                rows=check_shown(rows),
                threads=self._about["threads"],
                progress=progress,
            )


def compare(
    X: Any,
    y: Any = None,
    sensitive_features: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    sensitive_features_test: Any = None,
    rivals: str | Sequence[str] = "all",
    leakages: Sequence[float] | None = None,
    hiding: Sequence[float] | None = None,
    probes: Sequence[str] | None = None,
    seeds: int = 3,
    rows: int = 50_000,
    test_size: float | None = None,
    kernel: str | None = None,
    gamma: float | str = "auto",
    degree: int = 3,
    coef0: float = 1.0,
    approx: str = "landmarks",
    sampling: str = "adaptive",
    landmarks: int = 1000,
    tolerance: float = 1e-8,
    n_components: int | None = None,
    ridge: float | str | None = None,
    scale: str = "standard",
    folds: int = 5,
    target_type: Treats = "auto",
    sensitive_type: Treats = "auto",
    criterion: str = "parity",
    favourable: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compare our encoders with other methods on your rows, with one audit for all.

    A linear encoder and one with a kernel are fitted once each and retuned for every leakage. Other
    methods are fitted for each seed. The same attackers learn from z of other rows, and are tested
    on rows that nobody has seen. See ``sarl compare`` of the command line.

    Parameters
    ----------
    X, y, sensitive_features : arrays or tables
        Rows with what is to be kept and what is to be hidden. Without y the features are kept.
    X_test, y_test, sensitive_features_test : arrays or tables, optional
        Other rows: half of them teach the attackers, the others test them. Without them X is
        parted: two fifths fit the encoders, three tenths teach, three tenths test.
    rivals : "all", "none" or list of str, default="all"
        Other methods: "ssgd", "lfr", "vae", "vfae", "ml-arl", "maxent-arl", "leace", "splince",
        "inlp", "rlace", "fare"; all are those that can hide such labels.
    leakages : list of float, optional
        Leakages to ask of our encoders, 0 to 1; seven from none to all by default.
    hiding : list of float, optional
        Weights of hiding to try with each other method, 0 to 1; its own by default.
    probes : list of str, optional
        Attackers that try; all by default.
    seeds : int, default=3
        Seeds of everything that has randomness.
    rows : int, default=50000
        Rows of X, and of `X_test`, used at most, drawn at random.
    test_size : float, optional
        The share that is tested on: 0.3 of X, or a half of `X_test`.
    kernel : {"rbf", "laplacian", "polynomial"}, optional
        Kernel of the kernel encoder; by default rbf with ``ridge="auto"``.
    gamma, degree, coef0, approx, sampling, landmarks, tolerance
        As in :class:`KernelSARL`.
    n_components, ridge, scale, folds
        As in :class:`SARL`, for both encoders.
    target_type, sensitive_type : str or dict, default="auto"
        As in :class:`SARL`. Attackers predict the numbers behind a kernel.
    criterion, favourable
        As in :class:`SARL`, for both encoders. Other methods hide all of an attribute.
    random_state : int, default=0
        The first seed, and that of the split.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.
    verbose : int, default=0
        Above 0 a progress bar and results as they come are shown (needs tqdm).

    Returns
    -------
    Comparison
        What came of each encoder.

    Examples
    --------
    >>> import numpy as np, sarl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> s = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> y = (X[:, 1] + X[:, 2] > 0).astype(int)
    >>> found = sarl.compare(
    ...     X, y, s, rivals=["leace"], leakages=[0], probes=["linear"], landmarks=50, seeds=1
    ... )
    >>> [entry["method"] for entry in found.entries]
    ['raw', 'linear-sarl', 'kernel-sarl', 'leace']
    """
    start = time.perf_counter()
    if sensitive_features is None:
        raise ValueError("sensitive features are missing: say what is to be hidden")
    apart = X_test is not None
    if apart and (sensitive_features_test is None or (y is None) != (y_test is None)):
        raise ValueError("X_test needs sensitive_features_test, and y_test if there is a y")
    for name, given in (("seeds", seeds), ("rows", rows), ("random_state", random_state)):
        check_whole(name, given, 0 if name == "random_state" else 1)
    if test_size is not None and not 0 < test_size < 1:
        raise ValueError(f"test_size is {test_size}: expected above 0, below 1")
    ridges = (ridge, "auto" if kernel is None else ridge)
    model = KernelSARL(
        kernel=kernel or "rbf",
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        approx=approx,
        sampling=sampling,
        landmarks=check_whole("landmarks", landmarks, 1),
        tolerance=tolerance,
        n_components=n_components,
    )
    _criterion.check(criterion, favourable)
    table = Rows(native(X), y, sensitive_features, target_type, sensitive_type)
    hides = _criterion.settle(criterion, favourable, table.labels)
    features: list[Any] = ["linear", {"kernel": model._how()}]
    encoders = [
        json.dumps(
            {
                "features": of,
                "scale": "none",
                "ridge": check_ridge(given, check_folds(folds)),
                "dimensions": dimensions(model),
                "folds": folds,
                "seed": random_state,
                "precision": "double",
                "criterion": hides,
            }
        )
        for of, given in zip(features, ridges, strict=True)
    ]
    data = table.side(rows, random_state)
    fresh = (native(X_test), y_test, sensitive_features_test)
    test = table.other(*fresh).side(rows, random_state) if apart else None
    with Steps("comparing", bool(verbose)) as progress:
        core = _core.compare(
            data,
            test,
            table.named(),
            json.dumps(table.schema()),
            encoders=(encoders[0], encoders[1]),
            scale=check_choice("scale", scale, ("standard", "none")) == "standard",
            rivals=[rivals] if isinstance(rivals, str) else names(rivals),
            leakages=shares("leakages", leakages),
            hiding=shares("hiding", hiding),
            probes=[name for name, _ in _core.probes()] if probes is None else list(probes),
            seeds=[random_state + i for i in range(seeds)],
            test_size=test_size,
            threads=threads(n_jobs),
            progress=progress,
        )
    asked = "" if criterion == "parity" else f", criterion={criterion!r}"
    asked += "" if favourable is None else f", favourable={_criterion.plain(favourable)!r}"
    about = {
        "kept": "" if y is None else "y, ",
        "linear": asked if ridge is None else f", ridge={ridge!r}{asked}",
        "kernel": f", kernel={kernel or 'rbf'!r}, ridge={ridges[1]!r}{asked}",
        "threads": threads(n_jobs),
    }
    return Comparison(core, time.perf_counter() - start, about)


def shares(name: str, values: Any) -> list[float]:
    """Numbers from 0 to 1."""
    found = [] if values is None else [float(v) for v in np.atleast_1d(values)]
    for value in found:
        if not 0 <= value <= 1:
            hint = f" ({value:g} % is {value / 100:g})" if 1 < value <= 100 else ""
            raise ValueError(f"{name} has {value:g}: expected 0 to 1{hint}")
    return found


def names(rivals: Any) -> list[str]:
    """Other methods by name; none of them is none."""
    return [str(name) for name in rivals] or ["none"]
