"""Laws of the transition labelling, checked against components of the domain on a fine grid."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.ndimage import label as flood
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition, problems
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.basins import Equilibrium, Transition
from clusterkit.families.support_vectors.level_sets.equilibria import Ascent, find_basins
from clusterkit.families.support_vectors.level_sets.saddles import border_pairs, highest_passes, neighbour_pairs
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit_campaign.oracles import domains as plain
from clusterkit_campaign.oracles.domains import canonical

pytestmark = pytest.mark.filterwarnings(r"ignore:\d+ of the \d+ points at which the rows lie")

TWO = KernelDomain(np.array([[-1.0], [1.0]]), np.array([1.0, 1.0]), Gaussian(2.0), level=0.5)
UNEVEN = KernelDomain(
    np.array([[-1.1875, 2.0], [0.0, 2.0], [2.0, 2.0]]), np.array([0.5, 1.0, 3.5]), Gaussian(3.0), level=0.0
)
"""The dip between the second and the third centre is lower than that before, and far from any centre."""


@st.composite
def sums(draw, max_d=2, max_n=9):
    """A kernel sum without a level."""
    s, d = draw(st.integers(2, max_n)), draw(st.integers(1, max_d))
    centres = draw(hnp.arrays(float, (s, d), elements=st.floats(-2, 2, width=16)))
    weights = draw(hnp.arrays(float, s, elements=st.floats(0.25, 2, width=16)))
    return KernelDomain(centres, weights, Gaussian(draw(st.sampled_from([0.5, 1.0, 3.0]))), level=0.0)


def label(domain, X, k=None, **parameters):
    space = KernelSpace(X, domain.kernel)
    return Transition(**parameters).label(domain, space, Task(len(X), k), np.random.default_rng(0))


def told_apart(domain):
    """Whether the ascent from the centres meets no hardly stable equilibrium and no border of basins."""
    g = plain.equilibrium(domain.value, 1e-9, domain.centres, domain.centres, domain.weights, domain.kernel.gamma)
    return g[1] > 1e-9


def on_a_grid(domain, cuts, points):
    """For each cut the components of {g >= cut} that the points lie in, 0 outside; by flooding a grid."""
    size = 2001 if points.shape[1] == 1 else 121
    axes = [np.linspace(-2.5, 2.5, size)] * points.shape[1]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = domain.value(grid.reshape(-1, points.shape[1])).reshape(grid.shape[:-1])
    at = tuple(np.round((points + 2.5) / 5.0 * (size - 1)).astype(int).T)
    return [flood(values >= cut, structure=np.ones((3,) * points.shape[1]))[0][at] for cut in cuts]


@given(sums(), st.floats(0.02, 0.98))
@example(UNEVEN, 0.125)
def test_components_of_the_flooded_domain(domain, height):
    assume(told_apart(domain))
    ascent = Ascent.of(domain, "transition", tol=1e-7, merge=1e-3, max_iter=10_000)
    tops = ascent.unscaled(find_basins(ascent, ascent.scaled(domain.centres), "transition").points)
    assume(len(tops) > 1)
    cut = float(height * domain.value(tops).max())
    values = domain.value(tops)
    assume(np.abs(values / cut - 1.0).min() > 0.02)
    # a grid cannot tell passes that are hardly higher or lower than the cut
    low, expected, high = on_a_grid(domain, [0.99 * cut, cut, 1.01 * cut], tops)
    inside = values >= cut
    assume(canonical(low[inside]).tolist() == canonical(high[inside]).tolist())
    labels = label(domain, tops, cut=cut).labels
    assert canonical(labels[inside]).tolist() == canonical(expected[inside]).tolist()
    assert len(np.unique(labels[~inside])) == (~inside).sum()


@given(sums(max_d=4), st.integers(0, 100))
def test_passes_are_what_they_claim(domain, seed):
    ascent = Ascent.of(domain, "transition", tol=1e-7, merge=1e-3, max_iter=10_000)
    rows = np.unique(ascent.scaled(domain.centres), axis=0)
    basins = find_basins(ascent, rows, "transition")
    borders = border_pairs(ascent, rows, basins.of_start, 10)[1]
    lines = len(neighbour_pairs(basins.points, 10)) + len(np.unique(borders, axis=0))
    basins, passes = highest_passes(ascent, basins, rows, basins.of_start, 20, 10, "transition")
    tops = ascent.values(basins.points)
    c, w = ascent.columns.T, ascent.weights
    for iteration, (pair, value, point) in enumerate(zip(passes.pairs, passes.values, passes.saddles, strict=True)):
        assert value == pytest.approx(float(ascent.values(point[None])[0]), rel=1e-9)
        assert value <= tops[pair].min() * (1 + 1e-9)
        if iteration >= lines:
            np.testing.assert_allclose(plain.shift(point, c, w, 1.0), point, atol=1e-7)
            assert plain.curvature(point, c, w, 1.0) > 0


@given(sums(max_d=3), st.floats(0.05, 0.95))
def test_equilibrium_joins_no_more(domain, height):
    assume(told_apart(domain))
    domain = attrs.evolve(domain, level=float(height * domain.value(domain.centres).max()))
    ascent = Ascent.of(domain, "transition", tol=1e-7, merge=1e-3, max_iter=10_000)
    rows = np.unique(ascent.scaled(domain.centres), axis=0)
    basins = find_basins(ascent, rows, "transition")
    passes = highest_passes(ascent, basins, rows, basins.of_start, 20, 100, "transition")[1].values
    assume(not len(passes) or np.abs(passes / domain.level - 1.0).min() > 0.01)
    fine = Equilibrium(n_segment_points=100).label(
        domain, KernelSpace(domain.centres, domain.kernel), Task(len(domain.centres), None), np.random.default_rng(0)
    )
    coarse = label(domain, domain.centres, n_neighbors=100)
    pairs = np.unique(np.stack([fine.labels, coarse.labels], axis=1), axis=0)
    assert len(pairs) == fine.labels.max() + 1


@given(sums(max_d=3, max_n=14))
def test_every_number_of_clusters_up_to_that_of_the_maxima(domain):
    assume(told_apart(domain))
    X = domain.centres
    most = label(domain, X, cut=1e9).labels.max() + 1
    before = None
    for k in range(most, 0, -1):
        labeling = label(domain, X, k=k)
        assert sorted(set(labeling.labels.tolist())) == list(range(k))
        assert labeling.predict(X).tolist() == labeling.labels.tolist()
        if before is not None:  # two were joined, nothing else changed
            pairs = np.unique(np.stack([before, labeling.labels], axis=1), axis=0)
            assert len(pairs) == k + 1
        before = labeling.labels
    with pytest.raises(InvalidData, match=rf"n_clusters={most + 1}; the {most} maxima .* at most {most} clusters"):
        label(domain, X, k=most + 1)


@given(sums(max_d=3), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_permutation_changes_the_numbers_only(domain, height, seed):
    assume(told_apart(domain))
    cut = float(height * domain.value(domain.centres).max())
    labeling = label(domain, domain.centres, cut=cut)
    heights = np.array(labeling.predict.facts["heights"])
    assume(not len(heights) or np.abs(heights / cut - 1).min() > 1e-6)
    order = np.random.default_rng(seed).permutation(len(domain.centres))
    permuted = label(domain, domain.centres[order], cut=cut).labels
    assert permuted.tolist() == canonical(labeling.labels[order]).tolist()


def test_the_pass_between_two_equal_centres():
    labeling = label(TWO, TWO.centres)
    assert labeling.labels.tolist() == [0, 1]
    assert labeling.predict.facts["heights"] == pytest.approx([2 * np.exp(-2.0)])
    assert label(TWO, TWO.centres, cut=2 * np.exp(-2.0) - 1e-6).labels.tolist() == [0, 0]
    assert label(TWO, TWO.centres, cut=2 * np.exp(-2.0) + 1e-6).labels.tolist() == [0, 1]
    assert label(TWO, TWO.centres, k=1, cut=1.0).labels.tolist() == [0, 0]
    assert label(TWO, TWO.centres).predict(np.array([[-9.0], [0.3], [50.0]])).tolist() == [0, 1, 1]


def test_near_samples_far_apart_join_nothing_over_a_dip():
    """With few samples, "near" ones lie beyond another maximum, and their segment crosses several dips."""
    labeling = label(UNEVEN, UNEVEN.centres, cut=0.4375)
    assert labeling.labels.tolist() == [0, 0, 1]
    assert labeling.predict.facts["heights"] == pytest.approx([0.464980526, 0.179116407], rel=1e-5)


def test_a_bent_pass_is_found():
    """The lines between the maxima on an arc leave the domain, but there is a way around."""
    angles = np.linspace(0, 1.5 * np.pi, 25)
    X = 2.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    domain = KernelDomain(X, 1.0 + 2.0 * np.cos(angles * 2 / 3) ** 8, Gaussian(6.0), level=0.8)
    lines = Equilibrium().label(domain, KernelSpace(X, domain.kernel), Task(25, None), np.random.default_rng(0))
    assert lines.labels.max() == 2
    assert label(domain, X).labels.max() == 0


@pytest.mark.parametrize(("gamma", "k"), [(8.0, None), (16.0, None), (8.0, 2), (16.0, 2), (64.0, 2)])
def test_two_moons(gamma, k):
    X, y = make_moons(400, noise=0.05, random_state=0)
    run = fit(Composition(Rbf(gamma=gamma), Svdd(nu=0.05), Transition(), n_clusters=k), X, Seeds(0))
    assert adjusted_rand_score(y, run.labels) == 1.0
    assert run.exact
    moved = pickle.loads(pickle.dumps(run.predict))(X + 1e-3)
    assert (moved == run.labels).mean() > 0.99


def test_outliers_and_small_clusters():
    X = np.array([[-1.0], [-0.9], [1.0], [1.05], [4.0]])
    assert label(TWO, X).labels.tolist() == [0, 0, 1, 1, 1]
    assert label(TWO, X, outliers="noise").labels.tolist() == [0, 0, 1, 1, -1]
    assert label(TWO, X, outliers="nearest").labels.tolist() == [0, 0, 1, 1, 1]
    assert label(TWO, X, min_cluster_size=3).labels.tolist() == [-1, -1, 0, 0, 0]
    assert label(TWO, X, k=2, outliers="noise", min_cluster_size=2).labels.tolist() == [0, 0, 1, 1, -1]
    with pytest.raises(InvalidData, match="at most 1 clusters"):
        label(TWO, X, k=2, min_cluster_size=3)


def test_few_neighbours_and_the_tree_connect_all():
    points = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    pairs = neighbour_pairs(points, 1)
    assert (2, 3) in set(map(tuple, pairs.tolist()))
    assert len(pairs) == 5
    assert len(neighbour_pairs(points, 5)) == 15


def test_it_takes_a_number_or_finds_it():
    assert not problems(Composition(Rbf(), Svdd(), Transition()))
    assert not problems(Composition(Rbf(), Svdd(), Transition(), n_clusters=3))


def test_messages():
    with pytest.raises(InvalidParameter, match="labeler 'transition': cut must be > 0 or None, got -1"):
        Transition(cut=-1.0)
    with pytest.raises(IncompatibleStages, match="labeler 'transition' ascends Gaussian kernel sums only"):
        label(attrs.evolve(TWO, kernel=Linear()), TWO.centres)
