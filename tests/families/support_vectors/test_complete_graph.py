"""Laws of the complete graph labelling, checked against the plain version with no short cut."""

import pickle

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.domains import WIDTHS, point_tables
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition, problems
from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.basins import Equilibrium
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.subsampled import Subsampled
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import listening
from clusterkit_campaign.oracles import domains as plain

pytestmark = pytest.mark.filterwarnings(r"ignore:\d+ of the \d+ points at which the rows lie")

POLICIES = ("noise", "nearest", "singleton")


@st.composite
def contours(draw, max_n=14):
    """Points (duplicates likely) and the contour of a sphere around them."""
    X, gamma = draw(point_tables(max_n)), draw(WIDTHS)
    n = len(X)
    nu = draw(st.floats(1 / n, 1.0))
    space = KernelSpace(X, Gaussian(gamma))
    prepared = Svdd(nu=nu).prepare(space, Task(n, None), np.random.default_rng(0))
    return X, prepared.solve(None, None, np.random.default_rng(0))


def label(domain, X, **parameters):
    space = KernelSpace(X, domain.kernel if isinstance(domain, KernelDomain) else Gaussian(1.0))
    return CompleteGraph(**parameters).label(domain, space, Task(len(X), None), np.random.default_rng(0))


def as_function(domain):
    """The same region, known by a function only."""
    return FunctionDomain(domain.value, level=domain.level)


def refines(fine, coarse):
    """Whether clusters only split and samples only leave."""
    labelled = fine >= 0
    if np.any(coarse[labelled] < 0):
        return False
    pairs = np.unique(np.stack([fine[labelled], coarse[labelled]], axis=1), axis=0)
    return len(np.unique(pairs[:, 0])) == len(pairs)


@given(contours(), st.sampled_from(POLICIES), st.sampled_from([1, 4, 20]), st.integers(1, 3))
def test_labels_of_the_plain_version(contour, policy, m, least):
    X, domain = contour
    expected, margin = plain.complete_graph(domain.value, domain.level, X, m, policy, least)
    assume(margin > 1e-10)
    labeling = label(domain, X, n_segment_points=m, outliers=policy, min_cluster_size=least)
    assert labeling.labels.tolist() == expected.tolist()


@given(contours(), st.sampled_from(POLICIES), st.integers(1, 3))
def test_any_domain_is_labeled_like_a_kernel_domain(contour, policy, least):
    X, domain = contour
    _, margin = plain.complete_graph(domain.value, domain.level, X)
    assume(margin > 1e-10)
    compiled = label(domain, X, outliers=policy, min_cluster_size=least)
    blocks = label(as_function(domain), X, outliers=policy, min_cluster_size=least)
    assert compiled.labels.tolist() == blocks.labels.tolist()


@given(contours(), st.sampled_from(POLICIES), st.integers(1, 4), st.booleans())
def test_predict_gives_the_labels_back(contour, policy, least, function):
    X, domain = contour
    labeling = label(as_function(domain) if function else domain, X, outliers=policy, min_cluster_size=least)
    predicted = labeling.predict(X)
    if labeling.exact:
        assert predicted.tolist() == labeling.labels.tolist()
        assert labeling.predict(X[::-1][:3]).tolist() == labeling.labels[::-1][:3].tolist()
    else:
        assert policy == "singleton"
        noise = label(domain, X, min_cluster_size=least).labels
        assert np.array_equal(predicted < 0, noise < 0)
        assert np.array_equal(predicted[noise >= 0], labeling.labels[noise >= 0])


@given(contours(), st.sampled_from(("noise", "nearest")), st.integers(0, 1000), st.booleans())
def test_new_points_of_the_plain_version(contour, policy, seed, function):
    X, domain = contour
    assume(len(X) > 1)
    rng = np.random.default_rng(seed)
    new = np.concatenate([X[rng.integers(len(X), size=6)] + rng.normal(size=(6, X.shape[1])), X[:1]])
    labeling = label(as_function(domain) if function else domain, X, outliers=policy)
    expected, margin = plain.predict(domain.value, domain.level, X, labeling.labels, new, outliers=policy)
    assume(margin > 1e-10)
    assert labeling.predict(new).tolist() == expected.tolist()


@given(contours(), st.floats(1.0, 1.5))
def test_a_higher_level_refines(contour, factor):
    X, domain = contour
    assume(len(X) > 1)
    higher = attrs.evolve(domain, level=domain.level * factor)
    assert refines(label(higher, X).labels, label(domain, X).labels)


@given(contours())
def test_more_samples_on_a_line_refine(contour):
    X, domain = contour
    _, margin = plain.complete_graph(domain.value, domain.level, X, 19)
    assume(margin > 1e-10)
    four, nine, nineteen = (label(domain, X, n_segment_points=m).labels for m in (4, 9, 19))
    assert refines(nineteen, nine)
    assert refines(nine, four)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("least", [1, 5])
def test_one_sample_is_one_cluster(policy, least):
    domain = KernelDomain(np.array([[9.0]]), np.array([1.0]), Gaussian(1.0), level=0.5)
    labeling = label(domain, np.array([[1.0]]), outliers=policy, min_cluster_size=least)
    assert labeling.labels.tolist() == [0]
    assert labeling.predict(np.array([[1.0]])).tolist() == [0]


@pytest.mark.parametrize(
    ("policy", "expected"), [("noise", [-1, -1, -1]), ("nearest", [0, 0, 0]), ("singleton", [0, 1, 0])]
)
def test_all_outliers(policy, expected):
    domain = KernelDomain(np.array([[9.0]]), np.array([1.0]), Gaussian(1.0), level=0.5)
    X = np.array([[1.0], [2.0], [1.0]])
    labeling = label(domain, X, outliers=policy)
    assert labeling.labels.tolist() == expected
    assert labeling.predict(np.array([[1.0], [7.0]])).tolist() == ([0, 0] if policy == "nearest" else [-1, -1])


def test_a_small_component_is_treated_as_outliers():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [9.0], [9.1]])
    domain = KernelDomain(X, np.full(6, 1 / 6), Gaussian(1.0), level=0.1)
    assert label(domain, X).labels.tolist() == [0, 0, 0, 1, 2, 2]
    noise = label(domain, X, min_cluster_size=2)
    assert noise.labels.tolist() == [0, 0, 0, -1, 1, 1]
    assert noise.predict(np.array([[5.01], [8.9], [30.0]])).tolist() == [-1, 1, -1]
    nearest = label(domain, X, min_cluster_size=2, outliers="nearest")
    assert nearest.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert nearest.predict(np.array([[5.01], [4.0], [30.0]])).tolist() == [1, 0, 1]


@pytest.mark.filterwarnings("ignore:with gamma.*numerically")
@pytest.mark.parametrize(("gamma", "clusters"), [(1e-9, 1), (1e6, 30)])
def test_extreme_widths(gamma, clusters):
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert fit(Composition(Rbf(gamma=gamma), Svdd(), CompleteGraph()), X, Seeds(0)).labels.max() + 1 == clusters


@pytest.mark.parametrize("gamma", [16.0, 32.0, 64.0])
def test_two_moons(gamma):
    X, y = make_moons(400, noise=0.05, random_state=0)
    run = fit(Composition(Rbf(gamma=gamma), Svdd(), CompleteGraph()), X, Seeds(0))
    assert adjusted_rand_score(y, run.labels) == 1.0
    assert run.exact
    assert np.array_equal(run.predict(X), run.labels)
    moved = pickle.loads(pickle.dumps(run.predict))(X + 1e-3)
    inside = moved >= 0  # support vectors leave at once
    assert inside.mean() > 0.6
    assert np.array_equal(moved[inside], run.labels[inside])


@pytest.mark.parametrize(
    "stages", [(Svdd(), CompleteGraph()), (Svdd(), Equilibrium()), (Subsampled(), CompleteGraph())]
)
def test_equal_rows_are_one_cluster(stages):
    with pytest.warns(ClusterkitWarning, match="all 6 samples are equal"):
        run = fit(Composition(Rbf(gamma=1.0), *stages), np.full((6, 5), 0.3), Seeds(0))
    assert run.labels.tolist() == [0] * 6


def three_clusters(n):
    """Samples far apart, of which some are outside."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)) + 8.0 * rng.integers(3, size=(n, 1))
    domain = KernelDomain(X, np.full(n, 1 / n), Gaussian(2.0), level=0.0)
    return X, attrs.evolve(domain, level=float(np.quantile(domain.value(X), 0.1)) * (1.0 - 1e-7))


def interrupting(after):
    """A listener that presses Ctrl-C at a report of the labeler, once."""
    seen = []

    def stop(report):
        if report.stage == "complete_graph":
            seen.append(report)
            if len(seen) == after:
                raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize("function", [False, True])
def test_progress(function):
    X, domain = three_clusters(60)
    reports = []
    with listening(reports.append):
        labeling = label(as_function(domain) if function else domain, X)
    assert not labeling.interrupted
    assert labeling.labels.max() > 0
    assert {report.stage for report in reports} == {"complete_graph"}
    if function:
        inside = int((labeling.labels >= 0).sum())
        assert reports[-1].iteration == reports[-1].max_iter == inside
    else:
        assert len(reports) >= 2  # neighbours, proof


@pytest.mark.parametrize("function", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
def test_an_interrupt_keeps_what_is_joined(function, policy):
    X, domain = three_clusters(300)
    region = as_function(domain) if function else domain
    whole = label(region, X).labels
    for after in (1, 2):
        with listening(interrupting(after)):
            noise = label(region, X)
        assert noise.interrupted
        assert np.array_equal(noise.labels < 0, whole < 0)
        assert refines(noise.labels, whole)
        assert noise.labels.max() < (whole >= 0).sum() - 1, "nothing was joined"
        with listening(interrupting(after)):
            labeling = label(region, X, outliers=policy)
        assert labeling.interrupted
        assert labeling.labels.tolist() == plain.canonical(labeling.labels).tolist()
        inside = whole >= 0
        assert plain.canonical(labeling.labels[inside]).tolist() == plain.canonical(noise.labels[inside]).tolist()
        if labeling.exact:
            assert labeling.predict(X).tolist() == labeling.labels.tolist()


def test_an_interrupted_proof_is_reported():
    """Even if no join was missing: without the proof that is unknown."""
    X = np.concatenate([np.zeros((1, 2)), np.full((1, 2), 9.0)])
    domain = KernelDomain(X, np.array([0.5, 0.5]), Gaussian(1.0), level=0.1)
    reports = []
    with listening(reports.append):
        whole = label(domain, X)
    with listening(interrupting(len(reports))):
        labeling = label(domain, X)
    assert labeling.interrupted
    assert labeling.labels.tolist() == whole.labels.tolist() == [0, 1]


def test_a_fit_whose_labeling_was_interrupted_ends_with_labels():
    X, _ = make_moons(200, noise=0.05, random_state=0)
    model = Pipeline({"name": "rbf", "gamma": 30.0}, "svdd", "complete_graph")
    whole = model.fit(X)
    assert whole.converged_
    assert "interrupted" not in whole.stop_reason_
    labels = whole.labels_.copy()
    with listening(interrupting(1)):
        model.fit(X)
    assert not model.converged_
    assert "interrupted" in model.stop_reason_
    assert refines(model.labels_, labels)
    assert np.array_equal(model.labels_ >= 0, labels >= 0)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.fit(X).converged_


def test_it_finds_the_number_of_clusters_itself():
    c = Composition(Rbf(), Svdd(), CompleteGraph(), n_clusters=2)
    assert [problem.slot for problem in problems(c)] == ["n_clusters"]
