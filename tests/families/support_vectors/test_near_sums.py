"""The parts of the search for components: near sums, certified stretches and balls, the tree, neighbours, rows.

Each is checked against brute force on random kernel sums in the scaled coordinates, where the kernel is
``exp(-|x - y|²)`` and the weights sum to 1.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clusterkit.families.support_vectors.level_sets import _ascent_jit as bounds
from clusterkit.families.support_vectors.level_sets._segments_jit import (
    ContourArrays,
    PointArrays,
    first_outside,
    segment_workspace,
    stretch,
)
from clusterkit.families.support_vectors.level_sets._tree_jit import ComponentTree
from clusterkit.families.support_vectors.level_sets.neighbours import TREE_DIMENSIONS, nearest_edges, nearest_rows
from clusterkit.numerics.gaussian_jit import SIZE, Blocks, block_terms, far_enough, near_blocks
from clusterkit.numerics.selection import distinct_rows
from clusterkit.numerics.structures_jit import find_rows
from clusterkit_campaign.oracles.domains import kernel_sum

SIZES = (1, 2, 30, SIZE - 1, SIZE, SIZE + 1, 1000)


class Sum:
    """A kernel sum, its blocks, and exact values and derivatives along lines."""

    def __init__(self, seed, s, d, spread, level):
        rng = np.random.default_rng(seed)
        self.rng, self.level, self.d = rng, level, d
        self.centres = spread * rng.normal(size=(s, d))
        # some far away, as the contour of one cluster sees those of others
        self.centres[rng.random(s) < 0.2] += 50.0
        self.weights = rng.random(s) ** rng.choice([1.0, 6.0])
        self.weights /= self.weights.sum()
        self.blocks = Blocks.of(self.centres, self.weights, far_enough(level))

    def value(self, Y):
        return kernel_sum(Y, self.centres, self.weights, 1.0)

    def ball(self, r):
        """A point near the centres, and many of the ball around it, a good part on its surface."""
        y = self.centres[self.rng.integers(len(self.centres))] + self.rng.uniform(0, 2) * self.rng.normal(size=self.d)
        directions = self.rng.normal(size=(300, self.d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        radii = r * np.minimum(1.0, 1.5 * self.rng.random(300))
        return y, y + radii[:, None] * directions

    def at(self, y, r):
        """Value, number of near blocks and work space, as the bounds take them."""
        work = bounds.ball_workspace(self.d, self.blocks.arrays)
        value, near = bounds.value_terms(y, r, self.blocks.arrays, work)
        return value, near, work

    def derivatives(self, y, u, t):
        """The sum and its first three derivatives along the unit vector u at y + t u, each (len(t),)."""
        z = y + t[:, None] * u - self.centres[:, None]
        terms = self.weights[:, None] * np.exp(-np.square(z).sum(axis=2))
        p = z @ u
        return [(terms * factor).sum(axis=0) for factor in (1.0, -2 * p, 4 * p**2 - 2, 12 * p - 8 * p**3)]


@st.composite
def sums(draw, max_d=9, sizes=SIZES):
    spread = draw(st.sampled_from([0.1, 0.7, 2.0, 6.0]))
    level = 10.0 ** draw(st.floats(-8, -0.2))
    return Sum(
        draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from(sizes)), draw(st.integers(1, max_d)), spread, level
    )


radii = st.floats(-4, 1).map(lambda power: 10.0**power)


@given(sums())
def test_near_sums_are_sums(case):
    Y = np.concatenate([case.centres[:50], case.centres[:50] + case.rng.normal(size=case.centres[:50].shape)])
    Y = np.concatenate([Y, Y.mean(axis=0, keepdims=True), Y[:1] + 1e6])
    values, gradients = case.blocks.sums_gradients(Y)
    expected = case.value(Y)
    for sums_of_blocks in (case.blocks.sums(Y), values):
        # what is left out, and rounding of a sum whose terms are at most 1
        np.testing.assert_allclose(sums_of_blocks, expected, rtol=1e-12, atol=1e-12 * case.level)
    z = case.centres - Y[:, None]
    exact = 2.0 * np.einsum("ps,s,psd->pd", np.exp(-np.square(z).sum(axis=2)), case.weights, z)
    np.testing.assert_allclose(gradients, exact, rtol=1e-10, atol=1e-11 * case.level + 1e-14)


@given(sums(), st.integers(0, 2**32 - 1))
def test_a_near_sum_depends_on_its_point_alone(case, seed):
    Y = case.centres[:60] + 0.1
    order = np.random.default_rng(seed).permutation(len(Y))
    assert np.array_equal(case.blocks.sums(Y)[order], case.blocks.sums(Y[order]))


@pytest.mark.parametrize("s", SIZES)
def test_every_centre_is_in_one_block_and_padding_weighs_nothing(s):
    rng = np.random.default_rng(s)
    centres, weights = rng.normal(size=(s, 3)), rng.random(s) + 0.1
    blocks = Blocks.of(centres, weights, 2.0)
    rows = blocks.centres.transpose(0, 2, 1).reshape(-1, 3)
    used = blocks.weights.reshape(-1) > 0
    assert used.sum() == s
    pairs = sorted(map(tuple, np.c_[rows[used], blocks.weights.reshape(-1)[used]].tolist()))
    assert pairs == sorted(map(tuple, np.c_[centres, weights].tolist()))
    distance = np.linalg.norm(blocks.centres.transpose(0, 2, 1) - blocks.middle[:, None], axis=2)
    assert (distance.max(axis=1) + 2.0 <= blocks.reach).all()


@given(sums(), radii)
def test_near_blocks_leave_out_what_is_far_from_the_whole_ball(case, r):
    y, inside = case.ball(r)
    near = np.empty(len(case.blocks.reach), dtype=np.int64)
    listed = near[: near_blocks(y, r, case.blocks.arrays, near)]
    squares, terms = np.empty(SIZE), np.empty(SIZE)
    totals = [sum(block_terms(z, b, case.blocks.arrays, squares, terms) for b in listed) for z in inside[:40]]
    np.testing.assert_allclose(totals, case.value(inside[:40]), rtol=1e-12, atol=1e-12 * case.level)


@given(sums(max_d=5))
def test_a_certified_stretch_is_inside(case):
    y, _ = case.ball(1.0)
    u = case.rng.normal(size=case.d)
    u /= np.linalg.norm(u)
    value, slope, _, _ = (float(part[0]) for part in case.derivatives(y, u, np.zeros(1)))
    level = value * case.rng.choice([0.01, 0.5, 0.9, 0.999, 1.0 - 1e-9, 1.0])
    assume(level > 0)
    length = stretch(value, slope, level)
    # rounding may put it below 0 where there is no room
    assert length >= -1e-12
    least = case.value(y + np.linspace(0.0, length, 400)[:, None] * u).min()
    assert least >= level * (1.0 - 1e-12)
    assert stretch(level * (1.0 - 1e-12), slope, level) == 0.0


def test_a_stretch_is_as_long_as_one_bump_allows():
    """The bound is that of cos(√2 t), which a single centre beats: 1.11 of the width at level 0."""
    assert stretch(1.0, 0.0, 0.5) == pytest.approx(math.acos(0.5) / math.sqrt(2.0), rel=1e-8)
    assert stretch(1.0, 0.0, 1e-12) == pytest.approx(math.pi / 2 / math.sqrt(2.0), rel=1e-8)


@given(sums(), st.sampled_from([1, 2, 4, 19, 20, 33]))
def test_a_line_is_tested_like_all_its_samples(case, m):
    points = case.centres[:30] + 0.3 * case.rng.normal(size=case.centres[:30].shape)
    values = case.value(points)
    assume(len(points) > 1 and values.max() > 1e-8)
    level = float(values.max() * case.rng.choice([0.01, 0.3, 0.9]))
    inside = points[values >= level * (1 + 1e-9)]
    assume(len(inside) > 1)
    blocks = Blocks.of(case.centres, case.weights, far_enough(level))
    samples = PointArrays(inside, *blocks.sums_gradients(inside))
    contour = ContourArrays(m, level, blocks.arrays)
    work, count = segment_workspace(case.d, contour), np.zeros(1, dtype=np.int64)
    fractions = np.arange(1, m + 1)[:, None] / (m + 1)
    for i, j in zip(*np.triu_indices(len(inside), 1), strict=True):
        line = case.value(inside[i] + fractions * (inside[j] - inside[i]))
        if np.abs(line / level - 1.0).min() < 1e-10:
            continue
        number = first_outside(i, j, samples, contour, work, count)
        assert number == first_outside(j, i, samples, contour, work, count)
        assert (number == 0) == bool((line >= level).all())
        assert number == 0 or line[number - 1] < level


@given(sums(), radii)
def test_a_ball_outside_is_outside_and_a_ball_inside_is_inside(case, r):
    y, inside = case.ball(r)
    value, near, work = case.at(y, r)
    values = case.value(inside)
    for factor in (1.0001, 1.01, 1.3, 3.0, 100.0):
        low = value * factor
        if case.level <= low and value < low and bounds.is_outside(y, r, value, near, low, case.blocks.arrays, work):
            assert values.max() < low
            # and so for every higher level
            assert bounds.is_outside(y, r, value, near, 1.1 * low, case.blocks.arrays, work)
        high = value / factor
        if case.level <= high and bounds.is_inside(y, r, value, near, high, case.blocks.arrays, work):
            assert values.min() >= high * (1.0 - 1e-12)


def test_bounds_are_not_empty_promises():
    """Small balls beside a single centre are recognised as outside or inside, and large ones far away as outside."""
    case = Sum(0, 1, 2, 0.0, 0.01)
    centre = case.centres[0]
    for off, r, low, outside in [(2.0, 0.1, 0.1, True), (5.0, 2.0, 0.01, True), (1.0, 1.0, 0.5, False)]:
        y = centre + np.array([off, 0.0])
        value, near, work = case.at(y, r)
        assert bounds.is_outside(y, r, value, near, low, case.blocks.arrays, work) == outside
    value, near, work = case.at(centre, 0.3)
    assert bounds.is_inside(centre, 0.3, value, near, 0.8, case.blocks.arrays, work)
    value, near, work = case.at(centre, 0.6)
    assert not bounds.is_inside(centre, 0.6, value, near, 0.8, case.blocks.arrays, work)


def test_no_small_ball_beside_one_centre_is_outside_below_its_largest_value():
    """In one dimension it is known. The ball is so small that the bound of second order is tried first."""
    for off in np.linspace(0.5, 3.0, 51):
        case = Sum(0, 1, 1, 0.0, 1e-3)
        y, r = case.centres[0] + off, 0.1
        value, near, work = case.at(y, r)
        most = float(case.value((y - r)[None])[0])
        assert not bounds.is_outside(y, r, value, near, most * (1.0 - 1e-9), case.blocks.arrays, work)


@given(sums(max_d=6), st.floats(-3, 0).map(lambda power: 10.0**power))
def test_the_expansion_bounds_the_sum(case, r):
    y, inside = case.ball(r)
    value, near, work = case.at(y, r)
    assume(value > case.level)
    steep = bounds.expansion(y, value, near, case.blocks.arrays, work)
    gradient, hessian = work.gradient.copy(), work.hessian.copy()
    assert steep == pytest.approx(np.linalg.norm(gradient), rel=1e-12, abs=1e-300)
    np.testing.assert_array_equal(hessian, hessian.T)
    u = case.rng.normal(size=(5, case.d))
    for direction in u / np.linalg.norm(u, axis=1, keepdims=True):
        _, first, second, _ = (part[0] for part in case.derivatives(y, direction, np.zeros(1)))
        tolerance = 1e-11 * (value + case.level)
        assert gradient @ direction == pytest.approx(first, rel=1e-9, abs=tolerance)
        assert direction @ hessian @ direction == pytest.approx(second, rel=1e-9, abs=tolerance)
    third = bounds.third_derivative(r, near, case.blocks.arrays, work) / 6.0
    z = inside - y
    taylor = value + z @ gradient + 0.5 * np.einsum("pa,ab,pb->p", z, hessian, z)
    reach = np.linalg.norm(z, axis=1)
    rounding = 1e-12 * (value + case.level)
    assert (case.value(inside) <= taylor + third * reach**3 + rounding).all()
    most = bounds.largest_eigenvalue(hessian)
    assert (taylor <= value + steep * reach + 0.5 * most * reach**2 + rounding).all()


def test_the_third_derivative_of_one_centre():
    """In one dimension there is one direction: the bound is at least the derivative at the middle of the ball."""
    for off in np.linspace(0.0, 3.0, 3001):
        case = Sum(0, 1, 1, 0.0, 1e-3)
        y = case.centres[0] + off
        third = abs(case.derivatives(y, np.ones(1), np.zeros(1))[3][0])
        for r in (0.0, 0.1):
            _, near, work = case.at(y, r)
            assert bounds.third_derivative(r, near, case.blocks.arrays, work) >= third * (1.0 - 1e-12)


@given(
    hnp.arrays(float, st.integers(1, 7).map(lambda d: (d, d)), elements=st.floats(-100, 100, width=16)),
    st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_no_eigenvalue_is_larger(A, scale):
    symmetric = scale * (A + A.T)
    largest = np.linalg.eigvalsh(symmetric)[-1]
    bound = bounds.largest_eigenvalue(symmetric)
    assert bound >= 0
    # the root of a difference is exact to half the digits
    assert bound >= largest - 1e-7 * np.abs(symmetric).max() * len(A)
    if len(A) <= 2 and largest > 0:
        assert bound == pytest.approx(largest, abs=1e-6 * np.abs(symmetric).max())


@st.composite
def forests(draw):
    """Points, some of them equal, in components."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    u, d = draw(st.integers(1, 120)), draw(st.integers(1, 5))
    points = rng.normal(size=(u, d))
    if draw(st.booleans()):
        points = np.round(2.0 * points)
    raw = rng.integers(draw(st.integers(1, u)), size=u)
    _, first, inverse = np.unique(raw, return_index=True, return_inverse=True)
    return points, first[inverse]


@given(forests(), st.sampled_from([1, 2, 4, 50]))
def test_the_tree_holds_every_point_once(forest, leaf):
    points, parent = forest
    tree = ComponentTree.of(points, parent, leaf)
    assert sorted(tree.order.tolist()) == list(range(len(points)))
    leaves = tree.children[:, 0] < 0
    ranges = sorted(zip(tree.start[leaves].tolist(), tree.stop[leaves].tolist(), strict=True))
    assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])]
    assert ranges[-1][1] == len(points)
    assert (tree.start[0], tree.stop[0]) == (0, len(points))
    for node in range(len(tree.start)):
        members = tree.order[tree.start[node] : tree.stop[node]]
        assert len(members)
        parts = set(parent[members].tolist())
        assert not tree.single[node] or len(parts) == 1
        box = points[members]
        np.testing.assert_allclose(tree.centre[node], 0.5 * (box.min(axis=0) + box.max(axis=0)), atol=1e-15)
        distances = np.sqrt(np.square(box - tree.centre[node]).sum(axis=1))
        assert (distances <= tree.radius[node]).all()
        assert tree.radius[node] <= distances.max() * (1.0 + 1e-8)
        one, other = tree.children[node]
        if one < 0:
            assert tree.single[node]
            assert len(members) <= leaf or (box == box[0]).all()
            continue
        assert (tree.start[one], tree.stop[one], tree.stop[other]) == (
            tree.start[node], tree.start[other], tree.stop[node],
        )  # fmt: skip
        if not tree.single[node]:
            halves = [set(parent[tree.order[tree.start[half] : tree.stop[half]]].tolist()) for half in (one, other)]
            assert not halves[0] & halves[1]


@st.composite
def clouds(draw, max_u=60):
    """Distinct points, in general position or on a grid, whose distances tie."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    u, d = draw(st.integers(1, max_u)), draw(st.sampled_from([1, 2, 3, 6, TREE_DIMENSIONS, TREE_DIMENSIONS + 1, 15]))
    points = rng.integers(0, 3, size=(u, d)).astype(float) if draw(st.booleans()) else rng.normal(size=(u, d))
    return np.unique(points + draw(st.sampled_from([0.0, 100.0])), axis=0)


@given(clouds(), st.integers(1, 9))
def test_edges_to_the_nearest_points(points, k):
    u = len(points)
    edges = nearest_edges(points, k)
    D = np.square(points[:, None] - points).sum(axis=2)
    assert len(set(map(tuple, edges.tolist()))) == len(edges)
    assert (edges[:, 0] < edges[:, 1]).all()
    lengths = D[edges[:, 0], edges[:, 1]]
    assert (np.diff(lengths) >= -1e-9 * (1.0 + lengths[1:])).all()
    joined = np.zeros((u, u), dtype=bool)
    joined[edges[:, 0], edges[:, 1]] = joined[edges[:, 1], edges[:, 0]] = True
    for i in range(u):
        others = np.sort(np.delete(D[i], i))[:k]
        # ties may be decided either way, but no nearer point is left out and there are k neighbours
        assert joined[i].sum() >= len(others)
        if len(others):
            nearer = (D[i] < others[-1] * (1.0 - 1e-9)) & (np.arange(u) != i)
            assert joined[i][nearer].all()
    if len(edges):
        far = [max(np.sort(np.delete(D[i], i))[:k][-1] for i in edge) for edge in edges]
        assert (lengths <= np.array(far) * (1.0 + 1e-9)).all()


@given(clouds(), st.integers(0, 2**32 - 1))
def test_the_nearest_row_and_ties_by_index(points, seed):
    rng = np.random.default_rng(seed)
    points = points[rng.permutation(len(points))]
    # halfway between two points both are nearest, if any is
    i, j = rng.integers(len(points), size=(2, 20))
    Y = np.concatenate([points[i], 0.5 * (points[i] + points[j]), points[i] + rng.normal(size=(20, points.shape[1]))])
    D = np.square(points - Y[:, None]).sum(axis=2)
    assert nearest_rows(Y, points).tolist() == D.argmin(axis=1).tolist()


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32]),
        st.tuples(st.integers(0, 40), st.integers(1, 3)),
        elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 2.0**-1060, 1e30]).map(np.float32).map(float),
    )
)
def test_distinct_rows_are_those_of_numpy(X):
    first, inverse = distinct_rows(X)
    rows, where, numbers = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    assert sorted(where.tolist()) == first.tolist()
    assert len(first) == len(rows)
    assert np.array_equal(X[first][inverse], X)
    assert np.array_equal(first[inverse], where[numbers.ravel()])


@given(st.integers(0, 2**32 - 1), st.integers(0, 50), st.integers(1, 4))
def test_rows_are_found(seed, u, d):
    rng = np.random.default_rng(seed)
    rows, Y = (rng.integers(-1, 2, size=(size, d)).astype(float) for size in (u, 30))
    Y[rng.random(Y.shape) < 0.3] *= -0.0
    for y, at in zip(Y, find_rows(rows, Y), strict=True):
        equal = np.flatnonzero((rows == y).all(axis=1))
        assert at == (equal[0] if len(equal) else -1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_that_differ_little(dtype):
    """Numbers that share most of their bits must not share their place in the table."""
    X = (1.0 + np.arange(60_000) * np.finfo(dtype).eps).astype(dtype)[:, None]
    X = np.concatenate([X, X[::-1]])
    first, inverse = distinct_rows(X)
    assert first.tolist() == list(range(60_000))
    assert np.array_equal(X[first][inverse], X)
    assert np.array_equal(find_rows(X[:60_000], X), inverse)
