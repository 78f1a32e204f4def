"""Parts of docstrings that several estimators share."""

from __future__ import annotations

from typing import Any

GOALS = """trade_off : float, optional
        The weight λ of the adversary, 0 to 1; both ends are limits.
    alpha : float, optional
        The least loss of the adversary, a mean squared error.
    max_leakage : float or dict, optional
        The most leakage, 0 to 1: the share of the variance of each sensitive feature that the best
        linear adversary explains. ``{"sex": 0.01, "age": 0.05}`` limits those that it names, and
        no others. Of these four goals exactly one may be given; without any it is
        ``max_leakage=0``.
    min_utility : float or dict, optional
        The least utility, 0 to 1: the share of what all the features give that each target keeps.
        With names likewise."""

FOLDS = """folds : int, default=5
        Folds for held-out losses, which cost no further pass; 1 for none.
    precision : {"auto", "double", "single", "fast"}, default="auto"
        How products of features are formed; they are added up in double precision, always. Single
        is up to twice as fast. Covariances then have the error of single precision, and a
        direction with less than 1e-5 of a feature's variance is left out. Fast is single precision
        on the matrix units of a GPU; without a GPU it is single. "auto" is single for float32 rows
        of 256 columns or more without a kernel, and double otherwise.
    device : {"auto", "cpu", "cuda", "cuda:N"}, default="auto"
        Where the rows of a fit are added up. With "auto" that is a GPU where there is one and the work
        is worth the way to it. `device_` says which was used."""

SENSITIVE = """sensitive : name, place or list of them, optional
        Columns of X that hold what is to be hidden, instead of passing ``sensitive_features``."""

LABELS = """target_type, sensitive_type : str or dict, default="auto"
        With "auto", text, booleans and up to 20 different whole numbers are classes, all other
        numbers are numbers. "class" and "number" overrule this. Of a number in `sensitive_features`
        only what is linear in it is hidden; "kernel" hides every smooth function of it. "bins" and
        "bins=5" make classes of numbers by their quantiles, 8 without a number. A dict gives types of
        columns by name, and may name several: ``{"sex*race": "class"}`` is the combination of their
        classes, of which those with fewer than 30 rows or less than 1/1000 of the rows are one;
        ``{"lat+lon": "kernel"}`` is one kernel over both. A column of such a name is a label of
        its own only where it is named too. Bins, combinations and kernels are those of the first
        rows."""

CRITERION = """criterion : {"parity", "equal-opportunity", "equalized-odds"}, default="parity"
        What of the sensitive features is hidden: all of them; what tells them among rows of the
        favourable class of y; or what tells them among rows of any one class of y, beside a
        number in y. It must be known while rows are added.
    favourable : class of y, optional
        The class that equal opportunity is about. Of two classes it is the second in sorted order
        by default. It may come in later rows of a stream."""

SEED = """random_state : int, RandomState or None, default=0
        Seed of folds, and of landmarks or random features.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores. The result does not depend on it.
    verbose : int, default=0
        Above 0 a progress bar is shown (needs tqdm)."""

REST = f"""{FOLDS}
    {LABELS}
    {SENSITIVE}
        They are then no features.
    unseen : {{"error", "ignore"}}, default="error"
        What to do with a category that was not there in the fit.
    {SEED}"""

ERASING = f"""{FOLDS}
    {LABELS}
    {SENSITIVE}
        They stay features, and are erased like the others.
    {SEED}"""

ATTRIBUTES = """leakage_, utility_ : float
        What was reached on the training rows, in shares; of several labels that of the worst.
    attributes_ : dict
        The figures of each label.
    point_, heldout_ : Point, HeldOut
        The same with λ, dimensions and losses; and on rows not fitted on.
    lambda_ : float
        The λ of the solution.
    bounds_ : Bounds
        What any encoder of these features could achieve.
    ridge_ : float
        The ridge, as given or as chosen.
    dual_bound_, gap_ : float
        The certificate: a gap of zero proves that no encoder does better.
    front_ : Front
        All trade-offs, from λ = 0 to λ = 1.
    n_components_ : int
        The number of dimensions of z; of an eraser that of what is left of X.
    moments_ : Moments
        The second moments of the training rows.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array
        Their names, where X has names."""


def documented(cls: Any) -> Any:
    """Inserts these parts into the docstring of a class."""
    cls.__doc__ = cls.__doc__.format(
        goals=GOALS,
        labels=LABELS,
        criterion=CRITERION,
        rest=REST,
        erasing=ERASING,
        attributes=ATTRIBUTES,
    )
    return cls
