"""What is hidden: criteria and types of labels against plain numpy, from the rows themselves."""

import json
import pickle
import struct

import numpy as np
import pandas as pd
import pytest

import sarl
from sarl import SARL, CertifiedSARL, Eraser, KernelSARL, Moments

#: What a regression on features of the target adds to their variance.
GIVEN = 1e-6

CRITERIA = {
    "parity": {},
    "equal-opportunity": {"criterion": "equal-opportunity", "favourable": "b"},
    "equalized-odds": {"criterion": "equalized-odds"},
}


class Made:
    """Rows with classes and numbers to keep and to hide."""

    def __init__(self, n=900, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n, 5)) * [1, 3, 1, 0.1, 1] + [0, 5, 0, 1, 0]
        x = (self.X - [0, 5, 0, 1, 0]) / [1, 3, 1, 0.1, 1]
        noise = rng.normal(size=(4, n))
        score = x[:, 0] + 0.6 * x[:, 1] + 0.5 * noise[0]
        self.y = np.array(["a", "b", "c"])[np.digitize(score, [-0.3, 0.4])]
        tells = x[:, 1] + x[:, 2] + 0.4 * (self.y == "c") + 0.5 * noise[1]
        self.sex = np.where(tells > 0, "m", "f")
        self.race = rng.choice(["p", "q", "r"], p=[0.6, 0.38, 0.02], size=n)
        self.age = np.round(40 + 10 * (x[:, 2] + x[:, 3] ** 2) + noise[2])
        self.income = 3 * x[:, 0] - x[:, 4] + noise[3]
        self.weights = rng.uniform(0.2, 3, n)


@pytest.fixture(scope="module")
def made():
    return Made()


def one_hot(values):
    return (np.asarray(values)[:, None] == np.unique(values)).astype(float)


def conditional(hidden, y, weights, criterion):
    """1[y=c] (s − E[s | y=c]) for each class c that counts."""
    classes = {"equal-opportunity": ["b"], "equalized-odds": np.unique(y)}.get(criterion)
    if classes is None:
        return hidden
    blocks = []
    for c in classes:
        rows = y == c
        mean = weights[rows] @ hidden[rows] / weights[rows].sum()
        blocks.append(np.where(rows[:, None], hidden - mean, 0.0))
    return np.hstack(blocks)


class ByHand:
    """The reduced problem of rows: whitened features, and what they explain of two sides."""

    def __init__(self, X, target, hidden, weights):
        w = weights / weights.sum()
        x, y, s = (a - w @ a for a in (X, target, hidden))
        spread = np.sqrt(w @ x**2)
        x = x[:, spread > 0] / spread[spread > 0]
        values, vectors = np.linalg.eigh(x.T @ (w[:, None] * x))
        kept = values > 1e-9 * values.max()
        white = vectors[:, kept] / np.sqrt(values[kept])
        self.y, self.s = (white.T @ (x.T @ (w[:, None] * a)) for a in (y, s))
        self.variances = [(w @ a**2).sum() for a in (y, s)]

    def losses(self, basis):
        sides = zip(self.variances, (self.y, self.s), strict=True)
        return [variance - ((basis.T @ a) ** 2).sum() for variance, a in sides]

    def at(self, lambda_):
        """The losses of the best encoder for a weight λ of the adversary."""
        a = lambda_ * self.s @ self.s.T - (1 - lambda_) * self.y @ self.y.T
        values, vectors = np.linalg.eigh(a)
        return self.losses(vectors[:, values < -1e-12 * np.abs(values).max()])

    def bounds(self):
        everything = np.eye(len(self.y))
        left, values, _ = np.linalg.svd(self.s)
        rank = (values > 1e-9 * values.max()).sum()
        useful, of_y, _ = np.linalg.svd(self.y, full_matrices=False)
        useful = useful[:, of_y > 1e-9 * of_y.max()]
        gamma_min, alpha_star_min = self.losses(everything)
        return {
            "gamma_min": gamma_min,
            "gamma_max": self.losses(left[:, rank:])[0],
            "alpha_min": self.losses(useful)[1],
            "alpha_max": self.variances[1],
            "alpha_star_min": alpha_star_min,
            "target_variance": self.variances[0],
        }


def agrees(encoder, hand):
    """Losses along the front and bounds are those by hand."""
    scale = max(1.0, *hand.variances)
    for lambda_ in (0.1, 0.3, 0.5, 0.7, 0.9):
        point = encoder.retune(trade_off=lambda_).point_
        assert (point.jy, point.js) == pytest.approx(hand.at(lambda_), abs=1e-8 * scale), lambda_
    for name, value in hand.bounds().items():
        assert getattr(encoder.bounds_, name) == pytest.approx(value, abs=1e-8 * scale), name


def label_map(moments):
    """What moments say of the columns of their labels."""
    data = moments.to_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    about = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["sarl"])
    return json.loads(about["extra"]["sarl.labels"])


def psi(kernel, numbers):
    """The features of a kernel over the numbers of a label."""
    scaled = (numbers.reshape(len(numbers), -1) - kernel["shift"]) * kernel["factor"]
    landmarks = np.reshape(kernel["landmarks"], (-1, scaled.shape[1]))
    distance = ((scaled[:, None] - landmarks) ** 2).sum(axis=2)
    lower = np.zeros((len(landmarks),) * 2)
    lower[np.tril_indices(len(landmarks))] = kernel["lower"]
    return np.linalg.solve(lower, np.exp(-kernel["gamma"] * distance).T).T


def quantile_bins(values, weights, count):
    """Edges one by one: where k/count of the weight is below."""
    order = np.argsort(values, kind="stable")
    edges, below, k = [], 0.0, 1
    different = np.unique(values[order])
    sums = [weights[values == v].sum() for v in different]
    for value, weight in zip(different, sums, strict=True):
        while k < count and below >= sum(sums) * k / count:
            edges += [value] if not edges or edges[-1] != value else []
            k += 1
        below += weight
    return edges


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("treat", ["class", "number", "kernel", "bins=5", "combination"])
def test_every_criterion_is_that_of_columns_by_hand(criterion, treat, made):
    X, y, w = made.X, made.y, made.weights
    hidden, types = made.age, treat
    if treat == "class":
        hidden = made.sex
    elif treat == "combination":
        hidden, types = pd.DataFrame({"sex": made.sex, "race": made.race}), {"sex*race": "class"}
    encoder = SARL(trade_off=0.5, sensitive_type=types, **CRITERIA[criterion])
    encoder.fit(X, y, sensitive_features=hidden, sample_weight=w)
    columns = {
        "class": lambda: one_hot(made.sex),
        "number": lambda: made.age[:, None],
        "kernel": lambda: psi(label_map(encoder.moments_)["kernels"][1], made.age),
        "bins=5": lambda: one_hot(
            np.searchsorted(quantile_bins(made.age, w, 5), made.age, "right")
        ),
        "combination": lambda: one_hot(pooled(made)),
    }[treat]()
    agrees(encoder, ByHand(X, one_hot(y), conditional(columns, y, w, criterion), w))
    assert encoder.criterion_ == criterion
    assert encoder.favourable_ == ("b" if criterion == "equal-opportunity" else None)


def pooled(made):
    """Combinations, of which those with fewer than 30 rows are one."""
    joint = pd.Series(made.sex) + "*" + pd.Series(made.race)
    counts = joint.map(joint.value_counts())
    assert (counts < 30).any()
    return np.where(counts < 30, "other", joint)


@pytest.mark.parametrize("treat", ["class", "number", "kernel"])
@pytest.mark.parametrize("kept", ["number", "kernel"])
def test_beside_a_number_it_is_a_residual(treat, kept, made):
    X, w = made.X, made.weights
    hidden = made.sex if treat == "class" else made.age
    encoder = SARL(
        trade_off=0.5, criterion="equalized-odds", target_type=kept, sensitive_type=treat
    )
    encoder.fit(X, made.income, sensitive_features=hidden, sample_weight=w)
    kernels = label_map(encoder.moments_)["kernels"]
    u = psi(kernels[0], made.income)
    v = one_hot(made.sex) if treat == "class" else made.age[:, None]
    v = psi(kernels[1], made.age) if treat == "kernel" else v
    u, v = u - w @ u / w.sum(), v - w @ v / w.sum()
    square = u.T @ (w[:, None] * u) / w.sum()
    square += np.eye(len(square)) * GIVEN * np.trace(square) / len(square)
    rest = v - u @ np.linalg.solve(square, u.T @ (w[:, None] * v) / w.sum())
    target = made.income[:, None] if kept == "number" else psi(kernels[0], made.income)
    agrees(encoder, ByHand(X, target, rest, w))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("hidden", ["sex", "sex*race", "age:bins=4", "age"])
def test_adult_by_hand(criterion, hidden, adult):
    X, income, sex = adult
    y = income.map({"<=50K": "a", ">50K": "b"})
    features = X.drop(columns=["age", "race"])
    s = pd.DataFrame({"sex": sex, "race": X.race, "age": X.age})
    weights = np.ones(len(X))
    if hidden == "sex*race":
        joint = s.sex + "*" + s.race
        columns = one_hot(np.where(joint.map(joint.value_counts()) < 30, "other", joint))
        s, types = s[["sex", "race"]], {"sex*race": "class"}
    elif hidden == "sex":
        columns, s, types = one_hot(sex), sex, "class"
    else:
        s, types = X.age, hidden.partition(":")[2] or "number"
        columns = s.to_numpy(float)[:, None]
        if types != "number":
            edges = quantile_bins(columns[:, 0], weights, 4)
            columns = one_hot(np.searchsorted(edges, columns[:, 0], "right"))
    encoder = SARL(trade_off=0.5, sensitive_type=types, **CRITERIA[criterion])
    encoder.fit(features, y, sensitive_features=s)
    numbers = features.select_dtypes("number")
    hot = [one_hot(features[c]) for c in features if c not in numbers]
    hand = ByHand(
        np.hstack([numbers.to_numpy(float), *hot]),
        one_hot(y),
        conditional(columns, y.to_numpy(), weights, criterion),
        weights,
    )
    agrees(encoder, hand)


def test_the_target_by_bins_and_by_a_kernel(made):
    weights = np.ones(len(made.X))
    edges = quantile_bins(made.income, weights, 3)
    by_bins = SARL(trade_off=0.5, target_type="bins=3").fit(
        made.X, made.income, sensitive_features=made.sex
    )
    target = one_hot(np.searchsorted(edges, made.income, "right"))
    agrees(by_bins, ByHand(made.X, target, one_hot(made.sex), weights))
    fair = SARL(criterion="equal-opportunity", target_type="bins=2").fit(
        made.X, made.income, sensitive_features=made.sex
    )
    assert fair.favourable_ == f"≥ {quantile_bins(made.income, weights, 2)[0]}"


def test_a_kernel_hides_what_a_number_does_not(made):
    def explained(z, of):
        z, of = z - z.mean(axis=0), of - of.mean()
        rest = of - z @ np.linalg.lstsq(z, of, rcond=None)[0]
        return 1 - (rest @ rest) / (of @ of)

    rng = np.random.default_rng(1)
    s, (a, b, c) = rng.uniform(-1, 1, 3000), rng.normal(size=(3, 3000))
    X = np.column_stack([s + 0.1 * a, s**2 + 0.1 * b, c])
    y = X[:, 0] + 3 * X[:, 1] + X[:, 2]
    found = {}
    for treat in ("number", "kernel"):
        z = SARL(max_leakage=1e-3, sensitive_type=treat).fit_transform(X, y, sensitive_features=s)
        found[treat] = [explained(z, of) for of in (s, s**2, np.cos(3 * s))]
    assert max(found["kernel"]) < 5e-3
    assert found["number"][0] < 1.001e-3 and min(found["number"][1:]) > 0.3


def test_one_kernel_over_two_columns(made):
    s = pd.DataFrame({"lat": made.age, "lon": made.income, "sex": made.sex})
    encoder = SARL(max_leakage={"lat+lon": 0.05, "sex": 0.1}, sensitive_type={"lat+lon": "kernel"})
    encoder.fit(made.X, made.y, sensitive_features=s)
    assert list(encoder.attributes_["sensitive"]) == ["sex", "lat+lon"]
    kernel = label_map(encoder.moments_)["kernels"][2]
    features = psi(kernel, s[["lat", "lon"]].to_numpy())
    encoder = SARL(trade_off=0.5, sensitive_type={"lat+lon": "kernel"})
    encoder.fit(made.X, made.y, sensitive_features=s[["lat", "lon"]])
    agrees(encoder, ByHand(made.X, one_hot(made.y), features, np.ones(len(s))))


# -- streams, merges, pickles --------------------------------------------------------------------


def figures(encoder):
    return [*encoder.bounds_, encoder.point_.jy, encoder.point_.js, *encoder.heldout_[:2]]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_streams_and_merges_with_new_classes(criterion, made):
    order = np.argsort(made.y, kind="stable")
    # The first rows have neither class "c" nor, where it is favourable, "b".
    X, y, s, w = made.X[order], made.y[order], made.sex[order], made.weights[order]
    s = np.where(np.arange(len(s)) > 700, "x", s)
    whole = SARL(trade_off=0.5, folds=1, **CRITERIA[criterion])
    whole.fit(X, y, sensitive_features=s, sample_weight=w)
    stream = SARL(trade_off=0.5, folds=1, **CRITERIA[criterion])
    parts = np.array_split(np.arange(len(X)), 6)
    for part in parts:
        stream.partial_fit(X[part], y[part], sensitive_features=s[part], sample_weight=w[part])
    assert stream.favourable_ == whole.favourable_
    np.testing.assert_allclose(stream.bounds_, whole.bounds_, atol=1e-12)
    np.testing.assert_allclose(stream.point_[2:], whole.point_[2:], atol=1e-12)
    total = Moments(folds=1, **CRITERIA[criterion])
    for part in reversed(parts):
        one = Moments(folds=1, **CRITERIA[criterion]).update(X[part], y[part], s[part], w[part])
        total.merge(Moments.from_bytes(one.to_bytes()))
    merged = SARL(trade_off=0.5, **CRITERIA[criterion]).fit_moments(total)
    assert merged.favourable_ == whole.favourable_
    np.testing.assert_allclose(merged.bounds_, whole.bounds_, atol=1e-12)
    again = pickle.loads(pickle.dumps(merged.moments_))
    once_more = SARL(trade_off=0.5, **CRITERIA[criterion]).fit_moments(again)
    np.testing.assert_allclose(once_more.bounds_, whole.bounds_, atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("treat", ["number", "kernel", "bins=4"])
def test_streams_of_numbers_keep_what_the_first_rows_decide(criterion, treat, made):
    options = {"sensitive_type": treat, **CRITERIA[criterion]}
    parts = np.array_split(np.arange(len(made.X)), 3)
    rows = [(made.X[p], made.y[p], made.age[p], made.weights[p]) for p in parts]
    stream = SARL(trade_off=0.5, **options)
    for x, y, s, w in rows:
        stream.partial_fit(x, y, sensitive_features=s, sample_weight=w)
    first = Moments(**options).update(*rows[0])
    others = [pickle.loads(pickle.dumps(first.empty())).update(*part) for part in rows[1:]]
    assert len(first.empty()) == 0 and len(first) == len(parts[0])
    merged = SARL(trade_off=0.5, **options).fit_moments(first.merge(others[1]).merge(others[0]))
    np.testing.assert_allclose(merged.bounds_, stream.bounds_, atol=1e-10)
    np.testing.assert_allclose(merged.point_[2:], stream.point_[2:], atol=1e-10)
    if treat == "bins=4":
        edges = quantile_bins(made.age[parts[0]], made.weights[parts[0]], 4)
        columns = one_hot(np.searchsorted(edges, made.age, "right"))
        hidden = conditional(columns, made.y, made.weights, criterion)
        agrees(stream, ByHand(made.X, one_hot(made.y), hidden, made.weights))


def test_a_kernel_encoder_streams_pickles_and_goes_on(made):
    options = {"landmarks": 40, "sensitive_type": "kernel", **CRITERIA["equal-opportunity"]}
    first, second = slice(0, 500), slice(500, 900)
    encoder = KernelSARL(max_leakage=0.05, **options)
    encoder.partial_fit(made.X[first], made.y[first], sensitive_features=made.age[first])
    copy = pickle.loads(pickle.dumps(encoder))
    for one in (encoder, copy):
        one.partial_fit(made.X[second], made.y[second], sensitive_features=made.age[second])
    np.testing.assert_allclose(copy.bounds_, encoder.bounds_, atol=1e-12)
    assert (copy.criterion_, copy.favourable_) == ("equal-opportunity", "b")


def test_merges_that_cannot_be(made):
    halves = [(made.X[a], made.y[a], made.age[a]) for a in (slice(0, 450), slice(450, 900))]
    for treat, word in (("bins", "bins of s differ"), ("kernel", "labels differ")):
        one, other = (Moments(sensitive_type=treat).update(*half) for half in halves)
        with pytest.raises(ValueError, match=f"{word}.*empty"):
            one.merge(other)
    one = Moments().update(*halves[0])
    with pytest.raises(ValueError, match="criteria differ"):
        one.merge(Moments(criterion="equalized-odds").update(*halves[1]))
    with pytest.raises(ValueError, match="labels differ"):
        one.merge(Moments(sensitive_type="kernel").update(*halves[1]))


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "odds"}, "criterion is 'odds': expected one of 'parity'"),
        ({"favourable": "b"}, "favourable needs criterion='equal-opportunity'"),
        (
            {"criterion": "equal-opportunity"},
            "favourable is missing: y has more than two classes; name one of: 'a', 'b', 'c'",
        ),
        (
            {"criterion": "equal-opportunity", "favourable": "d"},
            "favourable is 'd': y has no such class; its classes are: 'a', 'b', 'c'",
        ),
        (
            {"criterion": "equal-opportunity", "favourable": 1},
            "favourable is 1: y has no such class",
        ),
        ({"sensitive_type": "bin"}, "sensitive_type is 'bin': expected 'auto'"),
        ({"sensitive_type": "bins=1"}, "expected bins=2 to bins=100"),
        ({"sensitive_type": "bins=x"}, "expected bins=2 to bins=100"),
        ({"sensitive_type": {"age*sex": "kernel"}}, "a combination is one of classes"),
        ({"sensitive_type": {"age+sex": "class"}}, "go together in one kernel"),
        ({"sensitive_type": {"age+sex": "kernel"}}, "sex holds text"),
        ({"sensitive_type": {"age*race": "class"}}, "names 'race', but the columns are"),
        ({"sensitive_type": {"sex*sex": "class"}}, "a column comes twice"),
        ({"sensitive_type": {"sex": "bins"}}, "sex holds text"),
    ],
)
def test_what_does_not_suit_is_refused(options, message, made):
    s = pd.DataFrame({"age": made.age, "sex": made.sex})
    with pytest.raises(ValueError, match=message):
        SARL(**options).fit(made.X, made.y, sensitive_features=s)


def test_what_does_not_suit_the_rows_is_refused(made):
    X, s = made.X, made.sex
    with pytest.raises(ValueError, match="y holds numbers: equal-opportunity is about a class"):
        SARL(criterion="equal-opportunity").fit(X, made.income, sensitive_features=s)
    with pytest.raises(ValueError, match="needs one target"):
        SARL(criterion="equal-opportunity", favourable="b").fit(
            X, np.column_stack([made.y, made.race]), sensitive_features=s
        )
    with pytest.raises(ValueError, match="needs a target"):
        Moments(criterion="equalized-odds").update(X, None, s)
    with pytest.raises(ValueError, match="one number 3: expected at least two"):
        SARL(sensitive_type="bins").fit(X, made.y, sensitive_features=np.full(len(X), 3.0))
    most = np.where(np.arange(len(X)) < 800, 1.0, 0.0)
    with pytest.raises(ValueError, match="below its largest number"):
        SARL(sensitive_type="bins=2").fit(X, made.y, sensitive_features=most)
    same = pd.DataFrame({"a": np.full(len(X), "p"), "b": np.full(len(X), 1)})
    with pytest.raises(ValueError, match=r"one class 'p\*1'"):
        SARL(sensitive_type={"a*b": "class"}).fit(X, made.y, sensitive_features=same)
    with pytest.raises(ValueError, match="constant|single value|beside the target"):
        SARL(criterion="equalized-odds").fit(X, made.y, sensitive_features=made.y)
    with pytest.raises(TypeError, match="criterion"):
        CertifiedSARL(criterion="equalized-odds")


def test_streams_that_cannot_go_on_say_why_and_change_nothing(made):
    order = np.argsort(made.y, kind="stable")
    X, y, s = made.X[order], made.y[order], made.age[order]
    two = y != "c"
    beside = SARL(criterion="equalized-odds", sensitive_type="number")
    beside.partial_fit(X[two], y[two], sensitive_features=s[two])
    before = beside.bounds_
    with pytest.raises(ValueError, match="y has new classes.*first rows must have all"):
        beside.partial_fit(X[~two], y[~two], sensitive_features=s[~two])
    assert beside.bounds_ == before
    default = SARL(criterion="equal-opportunity")
    default.partial_fit(X[two], y[two], sensitive_features=made.sex[order][two])
    assert default.favourable_ == "b"
    with pytest.raises(ValueError, match="favourable is missing: y has more than two"):
        default.partial_fit(X[~two], y[~two], sensitive_features=made.sex[order][~two])
    with pytest.raises(ValueError, match="one class in these rows"):
        SARL(criterion="equal-opportunity").partial_fit(
            X[:9], np.full(9, "a"), sensitive_features=made.sex[:9]
        )
    default.set_params(criterion="parity")
    with pytest.raises(ValueError, match="criterion is 'parity', but the moments were added up"):
        default.partial_fit(X[two], y[two], sensitive_features=made.sex[order][two])
    early = SARL(criterion="equal-opportunity", favourable="b")
    early.partial_fit(X[:50], y[:50], sensitive_features=made.sex[order][:50])
    with pytest.raises(ValueError, match="favourable is 'b': y has no such class"):
        early.transform(X)
    joint = pd.DataFrame({"a": made.sex, "b": made.race})
    kept = joint.b != "r"
    combined = SARL(sensitive_type={"a*b": "class"})
    combined.partial_fit(made.X[kept], made.y[kept], sensitive_features=joint[kept])
    with pytest.raises(ValueError, match="b is 'r' in row .* not there in the first rows"):
        combined.partial_fit(made.X, made.y, sensitive_features=joint)


def test_moments_of_another_criterion(made):
    odds = Moments(criterion="equalized-odds").update(made.X, made.y, made.sex)
    with pytest.raises(ValueError, match="criterion is 'parity', but .*'equalized-odds'"):
        SARL().fit_moments(odds)
    chance = Moments(**CRITERIA["equal-opportunity"]).update(made.X, made.y, made.sex)
    with pytest.raises(ValueError, match="favourable is 'c', but .*'b'"):
        SARL(criterion="equal-opportunity", favourable="c").fit_moments(chance)
    assert SARL(**CRITERIA["equal-opportunity"]).fit_moments(chance).favourable_ == "b"


@pytest.mark.parametrize(
    ("y", "favourable"),
    [
        (np.array([0, 1]), 0),
        (np.array([0, 1]), np.int64(1)),
        (np.array([False, True]), True),
        (np.array([1.0, 2.0]), 2),
        (np.array(["no", "yes"]), None),
    ],
)
def test_the_favourable_class_as_its_value(y, favourable, made, tmp_path):
    kept = y[(made.y == "a").astype(int)]
    treat = "class" if kept.dtype.kind == "f" else "auto"
    encoder = SARL(criterion="equal-opportunity", favourable=favourable, target_type=treat)
    encoder.fit(made.X, kept, sensitive_features=made.sex)
    assert encoder.favourable_ == (y[1] if favourable is None else favourable)
    encoder.save(tmp_path / "m.safetensors")
    assert SARL.load(tmp_path / "m.safetensors").favourable_ == encoder.favourable_


def test_names_of_bins_are_those_of_the_command_line():
    from sarl._making import _names, shown

    numbers = [25.0, 0.1, 1e21, -1e-7, 123456.789, 0.0]
    assert [shown(n) for n in numbers] == [
        "25", "0.1", "1" + "0" * 21, "-0.0000001", "123456.789", "0",
    ]  # fmt: skip
    assert _names([25.0, 40.5]) == ["< 25", "[25, 40.5)", "≥ 40.5"]


def test_an_eraser_hides_kernels_and_bins(made):
    for treat in ("kernel", "bins=4"):
        eraser = Eraser(sensitive_type=treat).fit(made.X, sensitive_features=made.age)
        again = pickle.loads(pickle.dumps(eraser))
        assert eraser.leakage_ == 0 and eraser.criterion_ == "parity"
        assert eraser.heldout_.leakage < 0.05 and again.heldout_ == eraser.heldout_


class TestEraser:
    """Erasure beside a target: the features are kept."""

    @staticmethod
    def rows():
        rng = np.random.default_rng(3)
        X = rng.normal(size=(1500, 5))
        y = (X[:, 0] + 0.5 * rng.normal(size=1500) > 0).astype(int)
        s = (X[:, 1] + 0.8 * y + 0.5 * rng.normal(size=1500) > 0.4).astype(int)
        return X, y, s

    def test_nothing_is_left_within_a_class(self):
        X, y, s = self.rows()
        eraser = Eraser(criterion="equalized-odds").fit(X, y, sensitive_features=s)
        erased = eraser.transform(X)
        for c in (0, 1):
            among = erased[y == c]
            gap = among[s[y == c] == 0].mean(axis=0) - among[s[y == c] == 1].mean(axis=0)
            assert np.abs(gap).max() < 1e-10
        # Between the classes of y the attribute is still there.
        assert np.abs(erased[s == 0].mean(axis=0) - erased[s == 1].mean(axis=0)).max() > 0.1
        assert eraser.criterion_ == "equalized-odds"
        assert eraser.n_components_ == 3
        only = Eraser(criterion="equal-opportunity", favourable=1)
        only.fit(X, y, sensitive_features=s)
        assert (only.n_components_, only.favourable_) == (4, 1)

    def test_streams_files_and_partial_erasures(self, tmp_path):
        X, y, s = self.rows()
        whole = Eraser(criterion="equalized-odds").fit(X, y, sensitive_features=s)
        stream = Eraser(criterion="equalized-odds")
        for rows in (slice(0, 700), slice(700, None)):
            stream.partial_fit(X[rows], y[rows], sensitive_features=s[rows])
        assert np.allclose(stream.transform(X), whole.transform(X), atol=1e-10)
        for name, again in (("small", False), ("whole", True)):
            path = tmp_path / f"{name}.safetensors"
            whole.save(path, whole=again)
            loaded = sarl.load(path)
            assert type(loaded) is Eraser
            assert loaded.criterion_ == "equalized-odds"
            assert np.allclose(loaded.transform(X), whole.transform(X), atol=1e-12)
        partial = Eraser(criterion="equalized-odds", leakage=0.05).fit(X, y, sensitive_features=s)
        assert 0 < partial.leakage_ <= 0.05 + 1e-9
        moments = Moments(criterion="equalized-odds", keep_features=True).update(X, y, s)
        fitted = Eraser(criterion="equalized-odds").fit_moments(moments)
        assert np.allclose(fitted.transform(X), whole.transform(X), atol=1e-10)

    def test_y_is_needed_and_only_then(self):
        X, y, s = self.rows()
        with pytest.raises(ValueError, match="beside which attributes are hidden"):
            Eraser(criterion="equalized-odds").fit(X, sensitive_features=s)
        with pytest.raises(ValueError, match="use preserve=True"):
            Eraser().fit_moments(Moments(keep_features=True).update(X, y, s))
        plain = Eraser().fit(X, sensitive_features=s)
        assert np.allclose(
            Eraser().fit(X, y, sensitive_features=s).transform(X), plain.transform(X)
        )


def test_audits_favour_the_class_of_the_encoder():
    """Equal opportunity is about the favourable class, also where it is not the second."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=1500) > 0.5, "bad", "good")
    s = np.where(X[:, 1] + 0.5 * rng.normal(size=1500) > 0, "a", "b")
    options = {"criterion": "equal-opportunity", "favourable": "bad"}
    encoder = SARL(max_leakage=0.01, **options).fit(X, y, sensitive_features=s)
    found = sarl.audit(encoder, X, y, sensitive_features=s, probes=["logistic"], seeds=1)
    assert found.fairness["positive"] == ["bad"]
    compared = sarl.compare(X, y, s, rivals=[], probes=["linear"], leakages=[0.01], **options)
    assert compared.to_dict()["entries"][1]["fairness"]
