"""Evidence, EM and roles of mixed tables against plain versions, and the laws that they obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.families.mixtures import expectation, levels
from clusterkit.families.mixtures.columns import mixed_columns
from clusterkit.families.mixtures.evidence import (
    COVARIATE,
    DEPENDENT,
    MEAN_WEIGHT,
    completed_likelihood,
    normal_evidence,
    number_scale,
    numbers_evidence,
)
from clusterkit.families.mixtures.expectation import (
    ModelSums,
    expectation_maximisation,
    maximise,
)
from clusterkit.families.mixtures.levels import PRIOR_COUNT, LevelForms, multinomial_evidence
from clusterkit.families.mixtures.mixed_table import MixedTable, PartitionSums
from clusterkit.families.mixtures.roles import roles_of_columns
from clusterkit.families.mixtures.search import Search, agreement
from clusterkit_campaign.oracles import mixed as oracle

STRUCTURES = ("diag", "tied", "full")


FORMS = [("free", "free"), ("ordered", "count")]
"""Forms of two categories."""


def _table(seed=0, n=60, p=3, levels=(3, 2), k=3, spread=2.0, gaps=0.0, grid=0.0, forms=()):
    """A table whose columns all depend on hidden clusters, and the clusters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = spread * rng.standard_normal((k, p))[y] + rng.standard_normal((n, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = np.array([np.where(rng.random(n) < 0.7, y % L, rng.integers(L, size=n)) for L in levels])
    codes = codes.T.astype(np.int32).reshape(n, len(levels))
    X[rng.random(X.shape) < gaps] = np.nan
    codes[rng.random(codes.shape) < gaps] = -1
    return MixedTable.of(X, np.full(p, grid), codes, np.array(levels, dtype=np.intp), forms), y


def _soft(labels, k):
    return np.eye(k)[labels] * 0.9 + 0.1 / k


@given(seed=st.integers(0, 1000))
def test_evidence_is_the_product_of_predictions(seed):
    rng = np.random.default_rng(seed)
    X, codes = rng.standard_normal((12, 2)), rng.integers(3, size=12).astype(np.int32)
    counts = np.bincount(codes, minlength=3).astype(float)
    assert multinomial_evidence(counts) == pytest.approx(oracle.predictive_evidence_of_levels(codes, 3), abs=1e-9)
    x = X[:, :1]
    one = normal_evidence(np.array(12.0), x.mean(), np.square(x - x.mean()).sum(), 0.7)
    assert one == pytest.approx(oracle.predictive_evidence_of_numbers(x, 0.7), abs=1e-9)
    # of all numbers in two clusters, each with its covariance
    y = np.array([0] * 6 + [1] * 6)
    table = MixedTable.of(X, np.zeros(2), np.empty((12, 0), np.int32), np.empty(0, np.intp))
    all_relevant = np.ones(2, dtype=bool)
    value, _ = numbers_evidence(table, PartitionSums.of(table, y, 2), "full", all_relevant, np.empty(0, np.intp))
    parts = [oracle.predictive_evidence_of_numbers(X[y == c], 0.5) for c in range(2)]
    assert value == pytest.approx(sum(parts), abs=1e-8)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("covariates", [[], [1]])
def test_the_gain_of_a_role_is_what_changing_it_gains(structure, covariates):
    table, y = _table(p=4, grid=0.01)
    sums, chosen = PartitionSums.of(table, y, 3), np.array(covariates, dtype=np.intp)
    for relevant in ([1, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]):
        mask = np.array(relevant, dtype=bool)
        value, gains = numbers_evidence(table, sums, structure, mask, chosen)
        for j in range(4):
            other = mask ^ (np.arange(4) == j)
            again, _ = numbers_evidence(table, sums, structure, other, chosen)
            assert again - value == pytest.approx(gains[j], abs=1e-7)


@given(seed=st.integers(0, 1000))
def test_evidence_of_ordered_levels_and_counts_is_that_of_the_plain_versions(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 2
    codes = np.column_stack([np.minimum(rng.poisson(1 + y), 4), np.minimum(rng.poisson(1 + 3 * y), 7)]).astype(np.int32)
    table = MixedTable.of(np.empty((24, 0)), np.empty(0), codes, np.array([5, 8]), ("ordered", "count"))
    alone, dependent = table.forms.evidence(PartitionSums.of(table, y, 2).counts)
    free = [oracle.predictive_evidence_of_levels(codes[:, j], L) for j, L in enumerate((5, 8))]
    rate = (codes[:, 1].sum() + 0.5) / 24.5
    of_rates = [oracle.predictive_evidence_of_counts(codes[rows, 1], rate) for rows in (y >= 0, y == 0, y == 1)]
    assert alone == pytest.approx([free[0], max(free[1], of_rates[0])], abs=1e-9)
    assert dependent[1] == pytest.approx(sum(of_rates[1:]), abs=1e-9)
    # the mean over the grid of the hidden Gaussian
    every = np.bincount(codes[:, 0], minlength=5).astype(float)
    means, weights = levels.LOCATIONS, np.exp(-0.5 * levels.LOCATIONS**2)
    logs = np.array([[np.log(oracle.probit_levels(every, m, s)) for m in means] for s in levels.DEVIATIONS])

    def of(rows):
        return np.log((np.exp(logs[:, :, codes[rows, 0]].sum(axis=2)) * weights).sum() / weights.sum() / len(logs))

    assert dependent[0] == pytest.approx(free[0] + of(y == 0) + of(y == 1) - of(y >= 0), abs=1e-9)


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_em_agrees_with_naive_em(structure, forms):
    table, y = _table(n=80, levels=(4, 5), gaps=0.1 if structure == "diag" else 0.0, forms=forms)
    P = _soft((y + (np.arange(80) % 5 == 0)) % 3, 3)
    numbers = np.where(table.observed, table.Z, np.nan)
    relevant, categories = np.ones(3, dtype=bool), np.full(2, DEPENDENT, dtype=np.int8)
    ours = expectation_maximisation(table, P, structure, relevant, categories, 4, tol=-1.0)
    plain, likelihood = oracle.naive_em(numbers, table.codes, [4, 5], P, structure, 4, forms)
    np.testing.assert_allclose(ours, plain, atol=1e-9)
    # the posteriors of a model, and its likelihood
    before = expectation_maximisation(table, P, structure, relevant, categories, 3, tol=-1.0)
    model = maximise(table, before, structure, relevant, categories)
    rows, total = model.posteriors(numbers, table.codes)
    np.testing.assert_allclose(rows, plain, atol=1e-9)
    assert total == pytest.approx(likelihood, rel=1e-9)


def _log_prior(model, j):
    """Logarithm of the prior of the probabilities of a category in all clusters, up to a constant."""
    forms, of_j = model.forms, model.tables[model.forms.slice_of(j)]
    if forms.forms[j] == "count":
        rates = -of_j[0]
        return PRIOR_COUNT * float((np.log(rates) - rates / forms.rate(j)).sum())
    if forms.forms[j] == "ordered":
        points = np.abs(forms.grid(j)[:, :, None] - of_j).sum(axis=1).argmin(axis=0)
        return float(levels._grid_prior()[points].sum())
    return PRIOR_COUNT * float(of_j.sum())


def penalised_likelihood(model, likelihood):
    """What EM maximises: the log-likelihood with the logarithms of the priors, up to a constant."""
    k, r = model.means.shape
    total = likelihood + PRIOR_COUNT * float(model.shares.sum())
    total += sum(_log_prior(model, j) for j in np.flatnonzero(model.places >= 0).tolist())
    scale = number_scale(k)
    B = expectation._coefficients(model)
    if len(model.spreads) > 1 or model.spreads.ndim == 2:
        total -= 0.5 * float(np.square(B).sum())
    if model.spreads.ndim == 2:
        squares = (scale + MEAN_WEIGHT * np.square(model.means)) / model.spreads
        return total - 0.5 * float((squares + expectation.VARIANCE_ROWS * np.log(model.spreads)).sum())
    rows = r + 2.0 + k if len(model.spreads) == 1 else r + 3.0
    inverses = np.linalg.inv(model.spreads)
    logs = np.linalg.slogdet(model.spreads)[1]
    if len(model.spreads) == 1:
        total -= 0.5 * float(len(B) * logs.sum() + np.trace(inverses[0] @ B.T @ B))
    total -= 0.5 * float(rows * logs.sum() + scale * np.trace(inverses, axis1=1, axis2=2).sum())
    of_means = np.einsum("ki,kij,kj->", model.means, np.broadcast_to(inverses, (k, r, r)), model.means)
    return total - 0.5 * MEAN_WEIGHT * float(of_means)


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_em_raises_what_it_maximises(structure, forms):
    table, _ = _table(
        seed=3, n=90, levels=(4, 5), spread=0.8, gaps=0.15 if structure == "diag" else 0.0, grid=0.02, forms=forms
    )
    P = _soft(np.random.default_rng(0).integers(3, size=90), 3)
    relevant, categories = np.array([True, True, False]), np.array([DEPENDENT, DEPENDENT], dtype=np.int8)
    values = []
    for _ in range(12):
        model = maximise(table, P, structure, relevant, categories)
        P, likelihood = model.posteriors(np.where(table.observed, table.Z, np.nan), table.codes)
        values.append(penalised_likelihood(model, likelihood))
    assert (np.diff(values) > -1e-8 * abs(values[0])).all(), values


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", [0, 1])
def test_em_raises_what_it_maximises_with_a_covariate(structure, seed):
    rng = np.random.default_rng(seed)
    y, site = rng.integers(3, size=90), rng.integers(3, size=90)
    X = 1.2 * rng.standard_normal((3, 3))[y] + rng.standard_normal((90, 3)) + 1.5 * rng.standard_normal((3, 3))[site]
    codes = np.column_stack([np.where(rng.random(90) < 0.7, y, 0), site]).astype(np.int32)
    table = MixedTable.of((X - X.mean(axis=0)) / X.std(axis=0), np.full(3, 0.01), codes, np.array([3, 3]))
    roles = structure, np.ones(3, dtype=bool), np.array([DEPENDENT, COVARIATE], dtype=np.int8)
    P, model, values = _soft(rng.integers(3, size=90), 3), None, []
    for _ in range(15):
        model = maximise(table, P, *roles, before=model)
        P, likelihood = model.posteriors(table.Z, table.codes)
        values.append(penalised_likelihood(model, likelihood))
    assert (np.diff(values) > -1e-9 * abs(values[0])).all(), values


LIKELIHOODS = (
    -491.07417759342445, -728.9046130481051, -644.345117393337, -634.3938641409571, -560.1114493447363,
    -805.8315915192734, -492.6725661044137, -671.196091959073, -585.8584887274696, -678.7590363065863,
    -556.8822544707941, -746.1852783156855, -469.7311958640771, -776.298909625955, -617.7911544265893,
    -648.9659051653855, -577.4889831942655, -854.2453593673554, -469.577973100498, -708.3555339868299,
)  # fmt: skip
"""Log-likelihoods at which StepMix 3.0.0 ends on the sets of `_stepmix_set` (parts gaussian_diag_nan and
categorical_nan, tolerances 1e-12, the best of three starts), seeds 0 to 19."""


def _stepmix_set(seed):
    rng = np.random.default_rng(seed)
    n, k, p, q = 120, 2 + seed % 2, 2 + seed % 2, 1 + seed % 3
    y = rng.integers(k, size=n)
    X = np.round(3.0 * rng.standard_normal((k, p))[y] + rng.standard_normal((n, p)), 3)
    codes = np.where(rng.random((n, q)) < 0.75, (y[:, None] + np.arange(q)) % 3, rng.integers(3, size=(n, q)))
    if seed % 4 == 3:
        X[rng.random((n, p)) < 0.1] = np.nan
    return X, codes.astype(np.int32), y, k


@pytest.mark.parametrize("seed", range(20))
def test_without_priors_the_likelihood_is_that_of_stepmix(seed, monkeypatch):
    for module in (expectation, levels):  # a level that a cluster lacks has no logarithm at 0
        monkeypatch.setattr(module, "PRIOR_COUNT", 1e-12)
    for name in ("MEAN_WEIGHT", "VARIANCE_ROWS"):
        monkeypatch.setattr(expectation, name, 0.0)
    monkeypatch.setattr(expectation, "number_scale", lambda k: 0.0)
    X, codes, y, k = _stepmix_set(seed)
    table = MixedTable.of(X, np.zeros(X.shape[1]), codes, np.full(codes.shape[1], 3))
    roles = "diag", np.ones(X.shape[1], dtype=bool), np.full(codes.shape[1], DEPENDENT, dtype=np.int8)
    P = expectation_maximisation(table, _soft(y, k), *roles, 600, tol=1e-13)
    _, likelihood = maximise(table, P, *roles).posteriors(X, codes)
    assert likelihood == pytest.approx(LIKELIHOODS[seed], abs=1e-6)


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_sums_of_blocks_give_the_model_of_all_rows(structure, forms):
    table, y = _table(n=80, levels=(4, 5), gaps=0.1 if structure == "diag" else 0.0, grid=0.01, forms=forms)
    roles = structure, np.array([True, False, True]), np.array([DEPENDENT, DEPENDENT], dtype=np.int8)
    model = maximise(table, _soft(y, 3), *roles)
    numbers = np.where(table.observed, table.Z, np.nan)
    P, likelihood = model.posteriors(numbers, table.codes)
    sums = ModelSums.of(model, numbers[:30], table.codes[:30]) + ModelSums.of(model, numbers[30:], table.codes[30:])
    assert sums.likelihood == pytest.approx(likelihood, rel=1e-12)
    ours, plain = sums.maximised(model), maximise(table, P, *roles)
    for name in ("shares", "means", "spreads", "tables"):
        np.testing.assert_allclose(getattr(ours, name), getattr(plain, name), rtol=1e-9, atol=1e-12)


def test_gaps_are_integrated_out_of_covariances():
    table, y = _table(n=70)
    model = maximise(table, _soft(y, 3), "full", np.ones(3, dtype=bool), np.zeros(2, dtype=np.int8))
    row, codes = np.array([[0.3, np.nan, -1.0]]), np.array([[-1, -1]], dtype=np.int32)
    logs = model.shares.copy()
    for c in range(3):
        keep = [0, 2]
        S, gap = model.spreads[c][np.ix_(keep, keep)], row[0, keep] - model.means[c, keep]
        logs[c] -= 0.5 * gap @ np.linalg.solve(S, gap) + 0.5 * np.linalg.slogdet(2 * np.pi * S)[1]
    expected = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(model.posteriors(row, codes)[0][0], expected, atol=1e-12)
    nothing = model.posteriors(np.full((1, 3), np.nan), codes)[0][0]
    np.testing.assert_allclose(nothing, np.exp(model.shares) / np.exp(model.shares).sum(), atol=1e-12)


def _two(apart, spreads, tables=()):
    """A mixture of two clusters of equal weight, with one category if `tables` has its levels."""
    d, L, tables = len(apart), len(tables), np.reshape(tables, (-1, 2))
    forms = LevelForms.of(np.array([L] * (L > 0), dtype=np.intp), (), np.ones(L))
    means, no_shift, none = np.array([np.zeros(d), apart]), np.zeros((L, d)), np.array([], dtype=np.intp)
    places = np.array([0] * (L > 0), dtype=np.intp)
    return expectation.MixtureModel(
        np.log([0.5, 0.5]), np.arange(d), means, spreads, np.zeros(d), places, tables, no_shift, none, forms
    )


def test_two_clusters_have_one_mode_up_to_two_deviations():
    ones = np.ones((2, 1))
    assert _two([1.99], ones).valley(1, 0) == pytest.approx(1.0)
    height = np.exp(-0.5 * 1.5**2) / (0.5 + 0.5 * np.exp(-0.5 * 9.0))  # half way, and at either centre
    assert _two([3.0], ones).valley(0, 1) == pytest.approx(height, abs=1e-3)
    # a core and its tails, though the centres differ by ten deviations of the core
    assert _two([1.0], np.array([[0.01], [4.0]])).valley(0, 1) > 0.9
    # levels that never occur together divide them
    assert _two([0.0], ones, np.log([[0.999, 0.001], [0.001, 0.999]])).valley(0, 1) < 0.1


def test_a_valley_is_that_of_any_coordinates():
    rng = np.random.default_rng(0)
    M, apart, variances = (
        rng.standard_normal((3, 3)),
        np.array([2.0, 0.5, -3.0]),
        np.array([[1.0, 0.5, 2.0], [3.0, 0.2, 1.0]]),
    )
    plain = _two(apart, variances).valley(0, 1)
    assert 0.1 < plain < 0.9
    covariances = np.array([M @ np.diag(v) @ M.T for v in variances])
    assert _two(M @ apart, covariances).valley(0, 1) == pytest.approx(plain, rel=1e-9)


def test_labels_do_not_depend_on_the_order_of_columns_and_levels():
    table, _ = _table(seed=1, n=120, p=3, levels=(3, 4), spread=3.0)
    solution = Search.of(table, np.random.default_rng(0)).known(3)
    codes = table.codes[:, ::-1].copy()
    codes[:, 1] = 2 - codes[:, 1]
    other = MixedTable.of(table.Z[:, ::-1], table.grid, codes, np.array([4, 3], dtype=np.intp))
    again = Search.of(other, np.random.default_rng(0)).known(3)
    assert agreement(solution.labels, again.labels, 3, 3) == pytest.approx(1.0)
    assert again.value == pytest.approx(solution.value, rel=1e-9)
    assert (again.relevant[::-1] == solution.relevant).all()
    assert (again.categories[::-1] == solution.categories).all()


def test_the_criterion_is_that_of_the_solution():
    table, _ = _table(seed=2, n=100)
    solution = Search.of(table, np.random.default_rng(0)).known(3)
    sums = PartitionSums.of(table, solution.labels, 3)
    value = completed_likelihood(table, sums, solution.structure, solution.relevant, solution.categories)
    assert value == pytest.approx(solution.value, rel=1e-12)


def _with_columns(seed, more, n=200):
    """Three clusters in three numbers, and further numbers."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = np.array([[0, 0, 0], [5, 0, 3], [0, 5, -3]])[y] + rng.standard_normal((n, 3))
    X = np.hstack([X, more(X, rng)])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    empty = np.empty((n, 0), np.int32), np.empty(0, np.intp)
    return MixedTable.of(X, np.zeros(X.shape[1]), *empty), y


def test_noise_is_irrelevant_in_nearly_all_draws():
    relevant = 0
    for seed in range(2):
        table, y = _with_columns(seed, lambda X, rng: rng.standard_normal((len(X), 25)))
        solution = Search.of(table, np.random.default_rng(seed)).known(3)
        roles = roles_of_columns(table, solution).roles
        assert roles[:3] == ("cluster-dependent",) * 3
        assert agreement(solution.labels, y, 3, 3) > 0.95
        relevant += sum(role == "cluster-dependent" for role in roles[3:])
    assert relevant <= 1  # 2 % of 50


def test_flags_that_say_nothing_are_irrelevant_in_nearly_all_draws():
    relevant = 0
    for seed in range(2):
        table, y = _with_columns(seed, lambda X, rng: rng.standard_normal((len(X), 1)))
        flags = (np.random.default_rng(seed).random((len(y), 35)) < 0.3).astype(np.int32)
        with_flags = MixedTable.of(table.Z, table.grid, flags, np.full(35, 2, dtype=np.intp))
        solution = Search.of(with_flags, np.random.default_rng(seed), covariates=False).known(3)
        roles = roles_of_columns(with_flags, solution).roles
        assert agreement(solution.labels, y, 3, 3) > 0.95
        relevant += sum(role == "cluster-dependent" for role in roles[4:])
    assert relevant <= 1  # 2 % of 70


@pytest.mark.parametrize("difference", [0.05, 0.0])
def test_a_copy_is_redundant(difference):
    table, _ = _with_columns(0, lambda X, rng: X[:, :1] + difference * rng.standard_normal((len(X), 1)))
    roles = roles_of_columns(table, Search.of(table, np.random.default_rng(0)).known(3)).roles
    assert sorted(roles) == ["cluster-dependent"] * 3 + ["redundant"]
    assert "redundant" in (roles[0], roles[3])


def test_a_repeated_category_is_redundant():
    table, _ = _table(seed=4, n=150, levels=(3, 3))
    codes = np.hstack([table.codes, (table.codes[:, :1] + 1) % 3])
    other = MixedTable.of(table.Z, table.grid, codes, np.array([3, 3, 3], dtype=np.intp))
    solution = Search.of(other, np.random.default_rng(0)).known(3)
    assert solution.categories[2] != DEPENDENT
    assert roles_of_columns(other, solution).roles[5] == "redundant"


def test_a_category_that_shifts_all_clusters_alike_is_a_covariate():
    rng = np.random.default_rng(0)
    y, site = rng.integers(2, size=150), rng.integers(3, size=150)
    X = np.array([[0, 0], [4, 4]])[y] + np.array([[0, 0], [6, -6], [-6, 6]])[site] + rng.standard_normal((150, 2))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    table = MixedTable.of(X, np.zeros(2), site[:, None].astype(np.int32), np.array([3], dtype=np.intp))
    search = Search.of(table, np.random.default_rng(0))
    solution = search.known(2)
    assert solution.categories[0] == COVARIATE
    assert agreement(solution.labels, y, 2, 2) > 0.9
    assert search.unknown(1, 3)[0].k == 2


@pytest.mark.parametrize("exact", [pytest.param(True, marks=pytest.mark.deep), False])
def test_a_category_that_says_the_clusters_does_not_hide_them_as_a_covariate(exact):
    """As a covariate it leaves one cluster, or pieces of its tails where the number is given."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=120)
    X = np.array([[0, 0], [5, 1], [1, 5]])[y] + rng.standard_t(4, size=(120, 2))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    kind = y if exact else np.where(rng.random(120) < 0.97, y, rng.integers(3, size=120))
    table = MixedTable.of(X, np.zeros(2), kind[:, None].astype(np.int32), np.array([3], dtype=np.intp))
    search = Search.of(table, np.random.default_rng(0))
    for solution in (search.known(3), search.unknown(1, 3)[0]):
        assert solution.k == 3
        assert agreement(solution.labels, y, 3, 3) > 0.9
        assert solution.read == 0
        assert solution.instead.k < 3
    if exact:
        assert agreement(search.known(2).labels, y, 2, 3) > 0.4  # two of them together


def test_a_sample_of_the_rows_finds_what_all_rows_have(monkeypatch):
    from clusterkit.families.mixtures import search

    table, y = _with_columns(1, lambda X, rng: rng.standard_normal((len(X), 3)), n=600)
    monkeypatch.setattr(search, "MOST_START_ROWS", 150)
    solution = Search.of(table, np.random.default_rng(0)).known(3)
    assert len(solution.labels) == 600
    assert agreement(solution.labels, y, 3, 3) > 0.95


def test_a_category_that_shifts_all_numbers_does_not_hide_the_clusters_from_the_starts():
    rng = np.random.default_rng(0)
    y, site = np.arange(180) % 3, rng.integers(2, size=180)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[y] + rng.standard_normal((180, 2)) + 8.0 * site[:, None]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = np.column_stack(
        [np.where(rng.random(180) < 0.8, y, rng.integers(3, size=180)), site, rng.integers(3, size=180)]
    )
    table = MixedTable.of(Z, np.zeros(2), codes.astype(np.int32), np.array([3, 2, 3]))
    solution = Search.of(table, np.random.default_rng(0)).known(3)
    assert agreement(y, solution.labels, 3, 3) > 0.9
    assert solution.categories[1] == COVARIATE


def test_counts_and_ordered_levels_find_clusters_and_noise_of_them_does_not():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    good = np.column_stack([rng.poisson(np.array([2, 6, 14])[(y + j) % 3]) for j in range(2)])
    answers = np.clip(np.round(2 + 1.3 * (y - 1)[:, None] + rng.standard_normal((300, 3))), 0, 4)
    noise = np.column_stack([rng.negative_binomial(2, 0.3, 300), rng.integers(5, size=300)])
    codes = np.hstack([good, answers, noise]).astype(np.int32)
    forms = ("count", "count", "ordered", "ordered", "ordered", "count", "ordered")
    table = MixedTable.of(np.empty((300, 0)), np.empty(0), codes, codes.max(axis=0).astype(np.intp) + 1, forms)
    search = Search.of(table, np.random.default_rng(0))
    solution, _, by_number, _ = search.unknown(1, 6)
    assert solution.k == 3
    np.testing.assert_array_equal(search.of_all_rows(by_number[2]).labels, search.known(2).labels)
    assert agreement(y, solution.labels, 3, 3) > 0.9
    assert solution.categories.tolist() == [DEPENDENT] * 5 + [0, 0]
    # of ordered levels, the order read from above
    other = codes.copy()
    other[:, 2] = 4 - other[:, 2]
    turned = MixedTable.of(np.empty((300, 0)), np.empty(0), other, table.levels, forms)
    again = Search.of(turned, np.random.default_rng(0)).known(3)
    assert agreement(search.known(3).labels, again.labels, 3, 3) == pytest.approx(1.0)
    assert again.value == pytest.approx(search.known(3).value, rel=1e-9)


def test_few_denormal_numbers_are_columns_too():
    x = np.repeat([1.0, 2.0, 3.0, 4.0], 5)[:, None]
    parts = [mixed_columns(X, ("auto",)) for X in (x, x * np.finfo(float).tiny)]
    assert len(parts[0].numbers) == len(parts[1].numbers)
