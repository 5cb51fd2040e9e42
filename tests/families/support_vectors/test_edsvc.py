"""The tuner edsvc: its curves are those of fits made one by one, and what it keeps agrees best with the ensemble."""

import math
import os
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.edsvc import plain_anmi, plain_best, plain_labels, widths
from oracles.maps import mapped
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from clusterkit import ensemble, recipe
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.featuremap import Chain
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers import compose
from clusterkit.errors import ClusterkitWarning, InvalidParameter, NeedsMemory
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import MinMax
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.edsvc import (
    Agreement,
    CandidateFit,
    CandidateRuns,
    EdSvc,
    ScoredCandidates,
    _beside_best,
)
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.metrics import nmi
from clusterkit.samples.limits import listening

LABELER = CompleteGraph(outliers="nearest")
STAGES = {"featuremap": Rbf(), "solver": Svdd(), "labeler": LABELER}


def tune(X, stages=STAGES, seed=0, **parameters):
    return EdSvc(**{"n_gamma": 12, "n_bounds": 10, **parameters}).tune(stages, X, np.random.default_rng(seed))


def searched(X, stages=STAGES, seed=0, **parameters):
    """What a search decided, and all its candidates as arrays."""
    scores, choice = [], ScoredCandidates.choice

    def recorded(self, *arguments):
        scores.append(self)
        return choice(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScoredCandidates, "choice", recorded)
        tuned = tune(X, stages, seed, **parameters)
    [scored] = scores
    columns = {name: np.array([getattr(c, name) for c in scored.candidates]) for name in ("gamma", "C", "n_clusters")}
    columns |= {"step": np.array(scored.steps), "score": np.array(scored.scores), "qualified": scored.qualified}
    return tuned, SimpleNamespace(**columns, chosen=scored.best())


def blobs(n=60, seed=0):
    return make_blobs(n, centers=[[0, 0], [8, 0], [0, 8]], random_state=seed)


def same_curves(one, other):
    for name in ("step", "gamma", "C", "score", "n_clusters", "qualified"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.chosen == other.chosen


# --- the search -------------------------------------------------------------------------------------------------


# the grid reaches widths at which a fit by itself warns
@pytest.mark.filterwarnings("ignore:with gamma = .* the kernel matrix is numerically the identity")
@pytest.mark.parametrize("X", [blobs()[0], make_moons(70, noise=0.1, random_state=1)[0]], ids=["blobs", "moons"])
def test_the_curves_are_those_of_fits_made_one_by_one(X):
    tuned, curves = searched(X)
    members = ensemble(X, 10, random_state=np.random.default_rng(0))
    gammas = widths(X, 12)
    scores = [plain_anmi(plain_labels(X, gamma, 1.0, LABELER), members) for gamma in gammas]
    first = curves.step == 0
    np.testing.assert_allclose(curves.gamma[first], gammas, rtol=1e-9)
    np.testing.assert_allclose(curves.score[first], scores, atol=1e-12)
    gamma = gammas[plain_best(gammas, np.ones(12), scores)]
    bounds = np.geomspace(1.0, 1.0 / (0.9 * len(X)), 10)
    labels = [plain_labels(X, gamma, C, LABELER) for C in bounds]
    scores = [plain_anmi(partition, members) for partition in labels]
    np.testing.assert_allclose(curves.C[~first], bounds, rtol=1e-12)
    np.testing.assert_allclose(curves.score[~first], scores, atol=1e-12)
    assert curves.n_clusters[~first].tolist() == [len(set(partition.tolist())) for partition in labels]
    best = plain_best([gamma] * 10, bounds, scores)
    assert tuned.stages["featuremap"].gamma == pytest.approx(gamma, rel=1e-9)
    np.testing.assert_allclose(tuned.stages["solver"].C, bounds[best], rtol=1e-12)
    assert tuned.facts["members"] == tuple(len(set(member.tolist())) for member in members)


def test_the_second_step_is_no_worse_than_the_first():
    _, curves = searched(blobs()[0])
    assert curves.score[curves.step == 1].max() >= curves.score[curves.step == 0].max() - 1e-12
    assert 0.0 <= curves.score.min() <= curves.score.max() <= 1.0


@pytest.mark.parametrize("search", ["coordinate", "plane"])
def test_bounds_that_no_weight_reaches_are_not_solved_and_have_the_same_partitions(search, monkeypatch):
    X, _ = make_moons(80, noise=0.1, random_state=3)
    solved, solve = [], CandidateRuns._solve
    monkeypatch.setattr(CandidateRuns, "_solve", lambda *each: (solved.append(each[-1]), solve(*each))[1])
    short, its = searched(X, search=search)
    n_solved = len(solved)
    monkeypatch.setattr(CandidateRuns, "_has_one_solution", False)
    whole, their = searched(X, search=search)
    assert n_solved < len(solved) - n_solved
    same_curves(its, their)
    assert dict(short.stages) == dict(whole.stages)


def test_the_plane_has_every_pair_and_shuns_shattered_partitions():
    X, y = blobs(90)
    _, curves = searched(X, search="plane")
    assert len(curves.gamma) == (12 + 8) * 12
    assert np.unique(curves.gamma).size == 12 + 8
    shares = np.sort(1.0 / (90 * np.unique(curves.C)))
    np.testing.assert_allclose(shares[1:], [0.02, 0.05, *np.arange(0.1, 0.95, 0.1)], rtol=1e-9)
    assert curves.C.max() == 1.0
    np.testing.assert_array_equal(curves.qualified, (curves.n_clusters >= 2) & (curves.n_clusters <= math.sqrt(90)))
    assert curves.qualified[curves.chosen]
    assert curves.score[curves.chosen] == curves.score[curves.qualified].max()
    labels = recipe("edsvc", random_state=0, tuner__search="plane").fit(X).labels_
    assert adjusted_rand_score(y, labels) == 1.0


def test_members_of_the_plane_have_every_number_of_clusters_as_often():
    X, _ = blobs(90)  # 2 to 4 clusters
    counts = np.bincount(tune(X, search="plane").facts["members"])
    assert counts.tolist() == [0, 0, 20, 20, 20]
    wide = tune(X, search="plane", member_clusters="sqrt").facts[
        "members"
    ]  # 2 to 9: the least multiple of 8 from 60 on
    assert np.bincount(wide)[2:].tolist() == [8] * 8
    few = np.bincount(tune(X, search="plane", n_members=4).facts["members"], minlength=5)
    assert few.sum() == 4
    assert few[2:].max() - few[2:].min() <= 1


def test_more_widths_follow_beside_the_best_of_the_plane():
    X, _ = make_moons(80, noise=0.1, random_state=2)
    _, curves = searched(X, search="plane")
    coarse, beside = np.unique(curves.gamma[: 12 * 12]), np.unique(curves.gamma[12 * 12 :])
    assert len(beside) == 8
    scores = np.where(curves.qualified, curves.score, -1.0)
    i = int(np.searchsorted(coarse, curves.gamma[: 12 * 12][np.argmax(scores[: 12 * 12])] * (1 - 1e-12)))
    step = coarse[1] / coarse[0]
    assert coarse[i] / step < beside[0] < beside[3] < coarse[i] < beside[4] < beside[7] < coarse[i] * step
    assert curves.score[curves.chosen] == scores.max()


@pytest.mark.parametrize("end", [0, 5])
def test_beside_an_end_of_the_plane_the_widths_go_a_step_further(end):
    groups = [(2.0**i, (1.0, 0.5)) for i in range(6)]
    scored = ScoredCandidates(Agreement(np.array([[0, 0, 1]])), (0, math.inf))
    fits = [CandidateFit(gamma, 1.0, np.array([0, 0, int(i == end)])) for i, (gamma, _) in enumerate(groups)]
    scored.add(2, [fits])
    beside = _beside_best(scored, groups)
    assert [bounds for _, bounds in beside] == [(1.0, 0.5)] * 8
    np.testing.assert_allclose([gamma for gamma, _ in beside], [2.0 ** (end + j / 5) for j in range(-4, 5) if j])
    assert _beside_best(scored, groups[:1]) == []


def test_any_number_of_clusters_may_win_in_the_plane():
    _, curves = searched(blobs()[0], search="plane", clusters="any")
    assert curves.qualified.all()


def test_where_no_candidate_qualifies_the_widest_kernel_is_used():
    X = np.array([[0.0], [1.0], [2.1]])
    with pytest.warns(ClusterkitWarning, match="no candidate has between 2 and 2 clusters"):
        tuned = tune(X, clusters="sqrt", n_gamma=1, n_bounds=1)
    assert tuned.facts["rule"].startswith("no candidate")
    assert tuned.stages["featuremap"].gamma == pytest.approx(1.0 / 2.1**2)
    assert tuned.stages["solver"].C == 1.0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_ties_go_to_the_smallest_width_and_then_the_largest_bound(rows):
    scored = ScoredCandidates(Agreement(np.array([[0, 1]])), (0, math.inf))
    for width, bound, score in rows:
        scored.candidates.append(CandidateFit(float(width), float(bound), np.array([1])))
        scored.scores.append(score + 5e-13 * (width % 2))
        scored.steps.append(0)
    gammas, bounds, scores = ([float(row[i]) for row in rows] for i in range(3))
    assert rows[scored.best()] == rows[plain_best(gammas, bounds, scores)]


# --- fixed parameters, and the result -------------------------------------------------------------------------


def test_a_fit_reports_its_search():
    X, y = blobs()
    model = recipe("edsvc", random_state=0).fit(X)
    facts = model.resolved_["tuner"]
    assert facts["name"] == "edsvc"
    assert facts["candidates"] == 200
    assert facts["clusters"] == model.labels_.max() + 1
    assert model.resolved_["featuremap"]["gamma"] == model.outcome_.kernel.gamma
    assert adjusted_rand_score(y, model.labels_) > 0.5


@pytest.mark.parametrize("featuremap", [Rbf(gamma=0.5), Rbf(sigma=1.0), Rbf(sigma_fraction=0.2)])
def test_with_a_fixed_width_only_bounds_are_searched(featuremap):
    X, _ = blobs()
    tuned, curves = searched(X, {**STAGES, "featuremap": featuremap})
    assert tuned.stages["featuremap"] == featuremap
    assert curves.step.tolist() == [1] * 10
    np.testing.assert_allclose(curves.gamma, mapped(featuremap, X, 0).kernel.gamma)


@pytest.mark.parametrize("solver", [Svdd(C=0.5), Svdd(nu=0.2)])
@pytest.mark.parametrize("search", ["coordinate", "plane"])
def test_with_a_fixed_bound_only_widths_are_searched(solver, search):
    tuned = tune(blobs()[0], {**STAGES, "solver": solver}, search=search)
    assert tuned.stages["solver"] == solver
    assert tuned.facts["candidates"] == (12 if search == "coordinate" else 12 + 8)
    assert tuned.stages["featuremap"].gamma > 0


def test_nothing_to_decide_is_refused():
    with pytest.raises(InvalidParameter, match="edsvc' decides gamma"):
        tune(blobs()[0], {"featuremap": Elm(), "solver": Ridge(), "labeler": LABELER})


def test_a_chain_is_searched_after_its_scaling():
    X, _ = blobs()
    tuner = EdSvc(n_gamma=12, n_bounds=10)
    plain = tuner.tune(STAGES, mapped(MinMax(), X, 0).rows(), Seeds(0).stream("tuner"))
    chain = Composition(**{**STAGES, "featuremap": Chain((MinMax(), Rbf()))})
    first, last = compose.tuned(chain, tuner, X * [1.0, 1e4], Seeds(0)).composition.featuremap.maps
    assert first == MinMax()
    assert last.gamma == pytest.approx(plain.stages["featuremap"].gamma, rel=1e-6)


def test_a_sample_of_the_rows_keeps_the_share_of_outliers():
    X, _ = blobs(150)
    tuned, curves = searched(X, max_rows=60)
    C = curves.C[curves.chosen]
    assert tuned.facts["rows"] == 60
    np.testing.assert_allclose(tuned.stages["solver"].C, C if C == 1.0 else C * 60 / 150)


def test_the_scale_of_the_data_does_not_matter():
    X, _ = blobs()
    one, other = tune(X), tune(1024.0 * X)
    assert other.stages["featuremap"].gamma * 1024.0**2 == pytest.approx(one.stages["featuremap"].gamma, rel=1e-9)
    np.testing.assert_allclose(other.stages["solver"].C, one.stages["solver"].C)


# --- degenerate data --------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:all .* samples are equal")
@pytest.mark.parametrize("search", ["coordinate", "plane"])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((1, 2)),
        np.ones((7, 3)),
        np.array([[0.0], [1.0]]),
        np.array([[0.0], [0.0], [1.0]]),
        np.array([[0.0], [1.0], [3.0]], dtype=np.float32),
        np.repeat([[0.0, 0.0], [5.0, 5.0]], 6, axis=0),
    ],
    ids=["one row", "equal", "two", "a pair", "three", "two places"],
)
def test_few_or_equal_rows_have_an_answer(X, search):
    model = recipe("edsvc", random_state=0, tuner__search=search, tuner__n_gamma=5, tuner__n_bounds=4).fit(X)
    assert model.labels_.shape == (len(X),)
    if len(np.unique(X, axis=0)) == 1:
        assert model.labels_.tolist() == [0] * len(X)
    for row in X:
        assert len(set(model.labels_[(row == X).all(axis=1)].tolist())) == 1


def test_too_many_rows_for_the_memory_are_refused(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    with pytest.raises(NeedsMemory, match="Lower its max_rows"):
        tune(blobs()[0])


def test_ctrl_c_keeps_the_candidates_so_far():
    X, _ = blobs()

    def stop(report):
        if report.stage == "edsvc" and report.iteration == 4:
            raise KeyboardInterrupt

    with listening(stop):
        tuned, curves = searched(X)
    assert tuned.interrupted
    assert tuned.facts["ended"] == "interrupted"
    assert tuned.facts["candidates"] == 4
    assert tuned.stages["featuremap"].gamma == curves.gamma[curves.chosen]


# --- on data, without labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("components", "least"),
    [
        pytest.param(None, 0.70, id="attributes in [0, 1]", marks=pytest.mark.deep),
        pytest.param(2, 0.80, id="two components"),
    ],
)
def test_the_plane_on_wine(components, least):
    """The published value is 0.781; every sample alone has 0.458."""
    data = load_wine()
    X = mapped(MinMax(), data.data, 0).rows()
    if components is not None:
        scores = StandardScaler().fit_transform(data.data)
        left, sizes, _ = np.linalg.svd(scores, full_matrices=False)
        X = left[:, :components] * sizes[:components]
    for seed in (0, 4):  # thirty members of drawn numbers of clusters led the second astray: 0.72 on the components
        labels = recipe("edsvc", random_state=seed, tuner__search="plane").fit(X).labels_
        assert nmi(data.target, labels, average="geometric") >= least


@pytest.mark.skipif("CLUSTERKIT_DATA" not in os.environ, reason="CLUSTERKIT_DATA is not set")
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.deep), 1])
def test_the_plane_on_ionosphere(seed):
    """Thirty members with drawn numbers of clusters led the search astray with seed 1: 0.087."""
    datasets = pytest.importorskip("clusterkit_papers.datasets")
    data = datasets.load("ionosphere")
    X = StandardScaler().fit_transform(data.data)
    labels = recipe("edsvc", random_state=seed, tuner__search="plane").fit(X).labels_
    assert nmi(data.target, labels, average="geometric") >= 0.23
