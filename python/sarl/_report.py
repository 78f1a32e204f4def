"""The page of a fitted encoder."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import _core
from ._checks import threads
from ._files import schema_of
from ._inputs import read_rows, read_sensitive, seed_of, unseen
from ._progress import Steps
from ._table import SHOWN, Rows, check_shown

if TYPE_CHECKING:
    from ._adversaries import LinearAdversaries

#: Rows at most for an audit of many encoders.
AUDITED = 15_000


def report(
    self: LinearAdversaries,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    audit: bool = False,
    rows: int = SHOWN,
    verbose: int = 0,
) -> None:
    """Write the page of ``sarl fit --html``: whole, or not at all.

    One HTML file that opens in any browser, without a network: the front under a slider, held-out
    figures, the certificate and the call for each position. See docs/report.md.

    Parameters
    ----------
    path : path
        Where to.
    X : array or table of shape (n_rows, n_features), optional
        Rows that the page shows encoded, those of the fit or others.
    y, sensitive_features : arrays or tables of n_rows, optional
        Their labels, which colour them.
    audit : bool, default=False
        Whether attackers of every kind try along the front. For this the encoder is fitted anew on
        parts of X, so that X, y and sensitive_features are needed.
    rows : int, default=1000
        Rows that are shown at most, drawn at random, 0 to 2000.
    verbose : int, default=0
        Above 0 a progress bar is shown (needs tqdm).

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, sarl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> s, y = X[:, 0] + X[:, 1] > 0, X[:, 1] + X[:, 2] > 0
    >>> encoder = sarl.SARL(max_leakage=0.1).fit(X, y, sensitive_features=s)
    >>> path = os.path.join(tempfile.mkdtemp(), "report.html")
    >>> encoder.report(path, X, y, sensitive_features=s)
    >>> os.path.getsize(path) > 100_000
    True
    """
    solved = self._whole()
    count = check_shown(rows)
    if X is None and (audit or y is not None or sensitive_features is not None):
        raise ValueError("report needs X to show labels, or to audit")
    if X is not None and self.sensitive is not None:
        sensitive_features, _ = read_sensitive(
            self, read_rows(self, X, reset=False), sensitive_features
        )
    if audit and (y is None or sensitive_features is None):
        raise ValueError("an audit needs X, y and sensitive_features")
    shown = audited = table = None
    if X is not None:
        table = Rows.of_model(
            solved,
            read_rows(self, X, reset=False),
            y,
            sensitive_features,
            (self.target_type, self.sensitive_type),
        )
        shown = table.side(count, seed_of(self), unseen(self)) if count else None
        audited = table.side(AUDITED, seed_of(self), unseen(self)) if audit else None
    model, spreads = solved.model, None
    moments = None if self._moments is None else self._moments._core
    if moments is not None:
        params = self._front_params(solved)
        model = moments.with_folds(params, model, threads=threads(self.n_jobs))
        spreads = moments.feature_spreads(params, threads=threads(self.n_jobs))
    elif shown is None and not solved.columns.categories:
        spreads = [sd for _, sd in solved.spreads]
    with Steps("report", bool(verbose)) as progress:
        _core.report(
            model,
            os.fspath(path),
            (
                f"sarl for Python · {type(self).__name__}",
                "encoder.report(…)",
                "encoder.retune({goal})",
                seed_of(self),
            ),
            schema=json.dumps(schema_of(solved)),
            labels=[] if table is None else table.named(),
            spreads=spreads,
            shown=shown,
            audited=audited,
            threads=threads(self.n_jobs),
            progress=progress,
        )
