"""Laws of the equilibrium labelling, checked against the plain version with no short cut."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.domains import ascent_of, labeled
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition, problems
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.compose import alternatives
from clusterkit.errors import ClusterkitWarning, IncompatibleStages
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import Identity
from clusterkit.families.support_vectors.basins import Equilibrium
from clusterkit.families.support_vectors.level_sets.equilibria import find_basins
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import listening
from clusterkit_campaign.oracles import domains as plain

pytestmark = pytest.mark.filterwarnings(r"ignore:\d+ of the \d+ points at which the rows lie")

POLICIES = ("basin", "noise", "nearest", "singleton")


def label(domain, X, **parameters):
    space = KernelSpace(X, domain.kernel)
    return Equilibrium(**parameters).label(domain, space, Task(len(X), None), np.random.default_rng(0))


def oracle(domain, X, **parameters):
    return plain.equilibrium(
        domain.value, domain.level, X, domain.centres, domain.weights, domain.kernel.gamma, **parameters
    )


@given(labeled(), st.sampled_from(POLICIES), st.sampled_from([4, 20]), st.integers(1, 3))
def test_labels_of_the_plain_version(case, policy, m, least):
    domain, X = case
    expected, margin = oracle(domain, X, n_segment_points=m, policy=policy, least=least)
    assume(margin > 1e-9)
    labels = label(domain, X, n_segment_points=m, outliers=policy, min_cluster_size=least).labels
    assert labels.tolist() == expected.tolist()


@given(labeled(), st.sampled_from(POLICIES), st.sampled_from([0.01, 0.1, 0.5]), st.integers(1, 3))
def test_labels_of_the_plain_version_from_the_strip(case, policy, strip, least):
    domain, X = case
    expected, margin = oracle(domain, X, policy=policy, least=least, strip=strip)
    assume(margin > 1e-9)
    labels = label(domain, X, outliers=policy, min_cluster_size=least, start="strip", strip=strip).labels
    assert labels.tolist() == expected.tolist()


@given(labeled(), st.sampled_from(POLICIES), st.sampled_from(["all", "strip", "cover"]), st.integers(1, 3))
def test_predict_gives_the_labels_back(case, policy, start, least):
    domain, X = case
    labeling = label(domain, X, outliers=policy, start=start, min_cluster_size=least)
    assert labeling.exact
    assert labeling.predict(X).tolist() == labeling.labels.tolist()
    assert labeling.predict(X[::-1][:3]).tolist() == labeling.labels[::-1][:3].tolist()


@given(labeled(), st.sampled_from(POLICIES), st.integers(0, 1000))
def test_a_new_point_is_labeled_as_if_it_had_been_there(case, policy, seed):
    domain, X = case
    new = X[:2] + np.random.default_rng(seed).normal(size=X[:2].shape)
    together, margin = oracle(domain, np.concatenate([X, new]), policy=policy)
    alone, other = oracle(domain, X, policy=policy)
    assume(min(margin, other) > 1e-9 and len(X) > 1)
    assume(policy != "singleton" and together[: len(X)].tolist() == alone.tolist())
    known = together[len(X) :] <= alone.max()  # another label means a new equilibrium
    if policy == "nearest":  # new samples inside may be the nearest ones
        known &= domain.value(new) >= domain.level
        assume((domain.value(X) >= domain.level).any())
    predicted = label(domain, X, outliers=policy).predict(new)
    assert predicted[known].tolist() == together[len(X) :][known].tolist()


@given(labeled(), st.sampled_from(POLICIES))
def test_samples_inside_one_basin_share_a_label(case, policy):
    domain, X = case
    ascent = ascent_of(domain)
    basin = find_basins(ascent, ascent.scaled(X), "equilibrium").of_start
    _, margin = oracle(domain, X)
    assume(margin > 1e-9)
    labels = label(domain, X, outliers=policy).labels
    inside = domain.value(X) >= domain.level
    for b in np.unique(basin[inside]):
        assert len(np.unique(labels[inside & (basin == b)])) == 1


@given(labeled())
def test_a_tiny_cover_is_all(case):
    domain, X = case
    assert label(domain, X, start="cover", radius=1e-12).labels.tolist() == label(domain, X).labels.tolist()


def test_the_strip():
    X = np.linspace(0.0, 4.0, 41)[:, None]
    domain = KernelDomain(np.array([[0.5], [3.5]]), np.array([2.0, 2.0]), Gaussian(2.0), level=1.0)
    labeling = label(domain, X, start="strip", strip=0.2)
    assert labeling.labels.tolist() == [0] * 21 + [1] * 20 or labeling.labels.tolist() == [0] * 20 + [1] * 21
    assert not labeling.predict.facts["strip_empty"]
    assert labeling.predict.facts["starts"] == (np.abs(domain.value(X) - 1.0) <= 0.2).sum() < 41
    nobody = label(domain, X, start="strip", strip=1e-9)
    assert nobody.predict.facts["strip_empty"]
    assert nobody.predict.facts["starts"] == 41
    assert nobody.labels.tolist() == label(domain, X).labels.tolist()


def test_equilibria_below_the_level_are_clusters_of_their_own():
    X = np.array([[0.0], [0.3], [5.0], [5.2], [9.0]])
    domain = KernelDomain(X, np.array([3.0, 3.0, 0.2, 0.2, 0.3]), Gaussian(1.0), level=1.0)
    assert label(domain, X).labels.tolist() == [0, 0, 1, 1, 2]
    assert label(domain, X, outliers="noise").labels.tolist() == [0, 0, -1, -1, -1]
    assert label(domain, X, outliers="nearest").labels.tolist() == [0] * 5
    assert label(domain, X, outliers="singleton").labels.tolist() == [0, 0, 1, 2, 3]
    assert label(domain, X, min_cluster_size=2).labels.tolist() == [0, 0, 1, 1, -1]
    predict = label(domain, X, min_cluster_size=2).predict
    assert predict(np.array([[9.1], [5.1], [-40.0], [1e200]])).tolist()[:3] == [-1, 1, 0]


@pytest.mark.parametrize("start", ["all", "strip", "cover"])
def test_underflow_is_never_nan(start):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 6.0 * rng.integers(-1, 2, size=(60, 2))
    domain = KernelDomain(X[:5], np.full(5, 0.2), Gaussian(32.0), level=0.1)
    labeling = label(domain, X, start=start)
    assert labeling.labels.min() >= 0
    assert np.isfinite(labeling.predict.basins.points).all()
    assert labeling.predict(X * 1e9 + 0.5).min() >= 0


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("start", ["all", "strip", "cover"])
def test_one_sample_and_equal_samples(policy, start):
    domain = KernelDomain(np.array([[9.0, 1.0]]), np.array([1.0]), Gaussian(1.0), level=0.5)
    one = label(domain, np.array([[1.0, 1.0]]), outliers=policy, start=start, min_cluster_size=3)
    assert one.labels.tolist() == [0]
    assert one.predict(np.array([[1.0, 1.0]])).tolist() == [0]
    inside = label(domain, np.full((6, 2), [9.0, 1.0]), outliers=policy, start=start)
    assert inside.labels.tolist() == [0] * 6


def test_several_equal_rows_outside_that_get_the_label_of_others_are_told():
    X = np.repeat([[21.0, 0.0], [5.0, 5.0]], [599, 5], axis=0)  # within the .8 % that the recipe leaves outside
    with pytest.warns(ClusterkitWarning, match=r"1 of the 2 points .* with 5 equal rows, lie outside of the domain"):
        recipe("sgd-lmsvc", random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterkitWarning)
        parted = recipe("sgd-lmsvc", random_state=0, labeler__outliers="singleton").fit_predict(X)
    assert np.array_equal(parted, np.repeat([0, 1], [599, 5]))


def test_blobs_from_data_to_predictions():
    X, y = make_blobs(600, centers=3, random_state=3, cluster_std=0.7)
    run = fit(Composition(Rbf(gamma=1.0), Svdd(nu=0.1), Equilibrium()), X, Seeds(0))
    assert adjusted_rand_score(y, run.labels) > 0.98
    assert run.exact
    assert run.labels.min() >= 0
    moved = pickle.loads(pickle.dumps(run.predict))(X + 1e-3)
    assert (moved == run.labels).mean() > 0.99
    covered = fit(Composition(Rbf(gamma=1.0), Svdd(nu=0.1), Equilibrium(start="cover")), X, Seeds(0))
    assert adjusted_rand_score(run.labels, covered.labels) > 0.98
    assert covered.predict.facts["starts"] < 300


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 5, 40])
def test_float32_and_many_attributes(dtype, d):
    X = np.random.default_rng(2).normal(size=(80, d)).astype(dtype)
    run = fit(Composition(Rbf(), Svdd(nu=0.2), Equilibrium()), X, Seeds(0))
    assert run.exact
    assert np.array_equal(run.predict(X[7:9]), run.labels[7:9])
    assert run.predict(X[:0]).shape == (0,)


def test_too_few_steps_warn():
    X = np.random.default_rng(0).normal(size=(30, 2))
    domain = KernelDomain(X, np.full(30, 1 / 30), Gaussian(0.5), level=0.1)
    with pytest.warns(ClusterkitWarning, match=r"of 30 starts still moved after max_iter=2 steps"):
        labeling = label(domain, X, max_iter=2)
    assert labeling.labels.min() >= 0


def test_progress_and_interrupt():
    X = np.random.default_rng(0).normal(size=(100, 2))
    domain = KernelDomain(X, np.full(100, 0.01), Gaussian(1.0), level=0.0)
    reports = []
    with listening(reports.append):
        label(domain, X)
    mine = [report.iteration for report in reports if report.stage == "equilibrium"]
    assert mine == sorted(mine)
    assert mine[-1] == 100
    assert len(mine) > 1

    def stop(report):
        raise KeyboardInterrupt

    with listening(stop), pytest.raises(KeyboardInterrupt):
        label(domain, X)


@pytest.mark.parametrize(
    ("kernel", "weights", "words"),
    [
        (
            Linear(),
            [1.0],
            "ascends Gaussian kernel sums only, and this domain has a Linear kernel; use labeler 'complete_graph'",
        ),
        (Gaussian(1.0), [-1.0], "needs weights >= 0, not all 0: the least of this domain is -1"),
        (Gaussian(1.0), [0.0], "needs weights >= 0, not all 0"),
    ],
)
def test_domains_it_cannot_climb(kernel, weights, words):
    domain = KernelDomain(np.array([[0.0]]), np.array(weights), kernel, level=0.0)
    with pytest.raises(IncompatibleStages, match=words):
        label(domain, np.zeros((2, 1)))


def test_features_have_no_contour_to_climb():
    c = Composition(Identity(), Svdd(), Equilibrium())
    assert [problem.slot for problem in problems(c)] == ["solver"]
    assert "rbf" in alternatives(c)["featuremap"]
