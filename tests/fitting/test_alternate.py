"""The loop, driven by a solver that follows a script: labels lead to labels, each with its objective."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped

from clusterkit.contracts import Prepared, Task
from clusterkit.contracts.iteration import Ended, Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Embedding, Ending, Scores, Status
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.means.rows_kmeans import RowsKMeans
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.elm import Elm
from clusterkit.fitting.label_iterations import alternate, solve_once
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Linear
from clusterkit.samples.limits import listening
from clusterkit.testing.compositions import samples

N = 4  # labels of four samples are the digits of a number below 16
SPACE = KernelSpace(np.zeros((N, 1)), Linear())
RNG = np.random.default_rng(0)


def labels_of(state: int) -> np.ndarray:
    return np.array([state >> bit & 1 for bit in range(N)])


def state_of(labels: np.ndarray) -> int:
    return sum(int(label) << bit for bit, label in enumerate(labels))


@attrs.define(eq=False)
class Script(Prepared):
    """Reads the next labels from a table; raises KeyboardInterrupt in a given call."""

    leads_to: dict[int, int]
    objectives: dict[int, float] | None
    interrupted_at: int | None = None
    settles_at: int | None = None
    calls: int = 0
    widths: list[int] = attrs.field(factory=list)

    @property
    def resolved(self) -> dict[str, Any]:
        return {}

    def solve(self, targets, previous, rng):
        self.calls += 1
        if self.calls == self.interrupted_at:
            raise KeyboardInterrupt
        assert previous is None or previous.starts == targets.starts, "previous is of other starts"
        self.widths.append(targets.starts)
        follow = [labels_of(self.leads_to[state_of(labels)]) for labels in targets.labels]
        rows = np.concatenate([np.eye(2)[labels] for labels in follow], axis=1)
        settles = state_of(follow[0]) == self.settles_at
        status = Status(1, Ending.SETTLED, "hardly changed", settled=True) if settles else None
        return Scores(rows, None, status=status, starts=targets.starts)

    def objective(self, targets, outcome):
        if self.objectives is None:
            return None
        return np.array([self.objectives[state_of(labels)] for labels in targets.labels])


def run(script: Script, *starts: int, max_iter: int = 50, balancer: Any = None, together: bool = True) -> list[Ended]:
    labels = [labels_of(start) for start in starts]
    ends, interrupted = alternate(
        script,
        Argmax(),
        balancer,
        SPACE,
        Task(N, 2),
        labels.__getitem__,
        starts=len(starts),
        max_iter=max_iter,
        together=together,
        rng=RNG,
    )
    assert interrupted == (script.calls == script.interrupted_at)
    return ends


def summary(end: Ended) -> tuple[int, int, bool, float, tuple[float, ...]]:
    """Everything a result says but the reason."""
    state = state_of(end.answer.labels)
    return state, end.n_iter, end.converged, end.objective, end.history


LINE = {0: 1, 1: 2, 2: 3, 3: 3}
FALLING = {0: 9.0, 1: 4.0, 2: 2.0, 3: 1.0}
RING = {0: 1, 1: 2, 2: 3, 3: 1}


class TestFixedPoint:
    def test_it_ends_where_labels_repeat(self):
        [end] = run(Script(LINE, FALLING), 0)
        assert summary(end) == (3, 4, True, 1.0, (9.0, 4.0, 2.0, 1.0))
        assert end.reason == "converged: labels no longer change"

    def test_a_start_that_is_one_takes_one_iteration(self):
        [end] = run(Script(LINE, FALLING), 3)
        assert summary(end) == (3, 1, True, 1.0, (1.0,))

    def test_it_is_returned_even_if_the_objective_was_lower_before(self):
        """A balancer may force labels of higher objective; a fixed point is still the answer."""
        [end] = run(Script(LINE, {0: 0.0, 1: 1.0, 2: 2.0, 3: 3.0}), 0)
        assert summary(end)[:4] == (3, 4, True, 3.0)

    @given(table=st.lists(st.integers(0, 15), min_size=16, max_size=16), start=st.integers(0, 15), data=st.data())
    def test_any_map_of_labels_ends_in_a_fixed_point_or_a_cycle(self, table, start, data):
        costs = data.draw(st.lists(st.integers(0, 99), min_size=16, max_size=16))
        [end] = run(Script(dict(enumerate(table)), {s: float(c) for s, c in enumerate(costs)}), start)
        path = [start]
        while table[path[-1]] not in path:
            path.append(table[path[-1]])
        state = state_of(end.answer.labels)
        assert end.n_iter == len(path)
        assert end.history == tuple(float(costs[s]) for s in path)
        assert end.converged == (table[path[-1]] == path[-1])
        if end.converged:
            assert state == path[-1]
        else:
            # labels read on the way whose objective is known; the start was read from nothing
            assert end.objective == costs[state]
            assert costs[state] == min([costs[s] for s in path[1:]], default=costs[state])


class TestCycle:
    def test_the_lowest_of_it_is_returned(self):
        [end] = run(Script(RING, {0: 1.0, 1: 4.0, 2: 2.0, 3: 3.0}), 0)
        assert summary(end) == (2, 4, False, 2.0, (1.0, 4.0, 2.0, 3.0))
        assert "labels alternate between states" in end.reason

    def test_a_balancer_can_cause_one(self):
        """All zeros are balanced to 0011, which leads to all ones, balanced to 1100, which leads to all zeros."""
        script = Script({0b0101: 0b0000, 0b0011: 0b1111, 0b1100: 0b0000}, dict.fromkeys(range(16), 1.0))
        [end] = run(script, 0b0101, balancer=Band(0))
        assert "labels alternate between states" in end.reason
        assert end.answer.labels.tolist() == [1, 1, 0, 0]
        assert not end.answer.exact

    def test_labels_come_with_the_outcome_they_were_read_from(self):
        [end] = run(Script(RING, {0: 9.0, 1: 4.0, 2: 2.0, 3: 3.0}), 0)
        outcome = end.answer.outcome
        np.testing.assert_array_equal(np.argmax(outcome.rows, axis=1), end.answer.labels)


class TestSettled:
    def test_the_solver_says_why_and_the_labels_it_gave_are_judged(self):
        [end] = run(Script(LINE, FALLING, settles_at=2), 0)
        assert summary(end) == (2, 2, True, 2.0, (9.0, 4.0))
        assert (end.ending, end.reason) == (Ending.SETTLED, "hardly changed")

    def test_labels_that_repeat_are_said_to_repeat(self):
        [end] = run(Script(LINE, FALLING, settles_at=3), 3)
        assert (end.ending, end.reason) == (Ending.CONVERGED, "converged: labels no longer change")

    def test_labels_that_come_back_are_a_cycle_even_if_the_solver_settles_on_them(self):
        [end] = run(Script(RING, {0: 1.0, 1: 4.0, 2: 2.0, 3: 3.0}, settles_at=1), 3)
        assert (end.ending, end.converged) == (Ending.SETTLED, True), "1 had not been there before"
        [end] = run(Script({0: 1, 1: 2, 2: 0}, {0: 1.0, 1: 4.0, 2: 2.0}, settles_at=0), 0)
        assert (end.ending, end.converged) == (Ending.CYCLED, False)
        assert "labels alternate between states" in end.reason


@attrs.frozen(eq=False)
class Halving(Iterations[float]):
    """A solver with a number as its state; counts two steps an iteration, and has nothing left to do below `floor`."""

    tol: float = 0.0
    floor: float = 0.0
    name = "halving"
    sentences = {Ending.INTERRUPTED: "stopped after {n} steps", Ending.STALLED: "stuck at {detail}"}

    def advance(self, active):
        [start] = active
        if start.state < self.floor:
            yield Iteration(start.answer, None, Ending.STALLED, f"{start.answer:g}")
            return
        value = start.state / 2.0
        start.judge(value)
        start.n_iter += 1
        yield Iteration(value, value, Ending.SETTLED if value <= self.tol else None, f", at {value:g}")


class TestSolver:
    def start(self) -> Start[float]:
        return Start(0, 16.0, keeps_best=False)

    @pytest.mark.parametrize(
        ("iterations", "max_iter", "value", "n_iter", "ending", "reason"),
        [
            (Halving(tol=2.0), 50, 2.0, 6, Ending.SETTLED, ", at 2"),
            (Halving(floor=3.0), 50, 2.0, 6, Ending.STALLED, "stuck at 2"),
            (Halving(), 4, 4.0, 4, Ending.OUT_OF_ITERATIONS, "max_iter = 4 reached, at 4"),
        ],
    )
    def test_each_end_has_its_sentence(self, iterations, max_iter, value, n_iter, ending, reason):
        heard = []
        with listening(heard.append):
            answer, status = solve(iterations, self.start(), max_iter)
        assert (answer, status.n_iter, status.ending, status.reason) == (value, n_iter, ending, reason)
        assert status.history == tuple(8.0 / 2**iteration for iteration in range(n_iter // 2))
        assert [report.iteration for report in heard] == list(range(2, n_iter + 1, 2)), (
            "an iteration not made is not reported"
        )

    @pytest.mark.parametrize("iteration", [1, 3])
    def test_ctrl_c_is_kept_in_the_status_even_if_the_iteration_was_the_last_one(self, iteration):
        def stop(report):
            if report.iteration == 2 * iteration:
                raise KeyboardInterrupt

        with listening(stop):
            answer, status = solve(Halving(tol=2.0), self.start(), 50)
        assert (answer, status.ending) == (16.0 / 2**iteration, Ending.INTERRUPTED)
        assert status.reason == f"stopped after {2 * iteration} steps"

    def test_a_status_tells_how_it_ended_by_one_of_the_endings(self):
        with pytest.raises(TypeError, match=r"True, which is none of Ending\.CONVERGED, "):
            Status(1, True, "closed form")


class TestMostIterations:
    @pytest.mark.parametrize(
        ("max_iter", "state", "objective"),
        [
            (1, 1, 9.0),  # one iteration: the labels read, with the objective of those before
            (2, 1, 4.0),
            (3, 2, 2.0),
        ],
    )
    def test_the_labels_of_lowest_known_objective_are_returned(self, max_iter, state, objective):
        [end] = run(Script(LINE, FALLING), 0, max_iter=max_iter)
        assert summary(end)[:4] == (state, max_iter, False, objective)
        assert end.reason == f"max_iter = {max_iter} reached"

    def test_the_lowest_need_not_be_the_last(self):
        [end] = run(Script(LINE, {0: 9.0, 1: 1.0, 2: 5.0, 3: 7.0}), 0, max_iter=3)
        assert summary(end)[:4] == (1, 3, False, 1.0)

    def test_start_labels_are_no_candidates(self):
        """Nothing was read to give them, so there would be nothing to predict with."""
        [end] = run(Script(LINE, {0: 0.0, 1: 1.0, 2: 5.0, 3: 7.0}), 0, max_iter=3)
        assert state_of(end.answer.labels) == 1

    def test_without_an_objective_the_last_labels_are_returned(self):
        [end] = run(Script(LINE, None), 0, max_iter=3)
        assert state_of(end.answer.labels) == 3
        assert math.isnan(end.objective)


class TestCtrlC:
    def test_the_best_labels_so_far_are_kept(self):
        [end] = run(Script(LINE, FALLING, interrupted_at=3), 0)
        assert summary(end) == (1, 2, False, 4.0, (9.0, 4.0))
        assert end.reason.startswith("interrupted")

    def test_after_one_iteration_the_labels_read_in_it(self):
        [end] = run(Script(LINE, FALLING, interrupted_at=2), 0)
        assert summary(end)[:3] == (1, 1, False)

    def test_before_anything_was_read_there_is_nothing_to_keep(self):
        with pytest.raises(KeyboardInterrupt):
            run(Script(LINE, FALLING, interrupted_at=1), 0)

    def test_starts_that_had_ended_are_returned_as_they_ended(self):
        ends = run(Script(LINE, FALLING, interrupted_at=3), 3, 0, together=True)
        assert [(summary(end)[:3], end.index) for end in ends] == [((3, 1, True), 0), ((1, 2, False), 1)]

    def test_starts_that_had_not_begun_are_left_out(self):
        ends = run(Script(LINE, FALLING, interrupted_at=3), 2, 0, 1, together=False)
        assert [end.index for end in ends] == [0]
        assert ends[0].converged

    def test_starts_are_drawn_when_they_begin(self):
        """Ctrl-C need not wait for the initial labels of starts that will not run."""
        drawn = []

        def draw(index):
            drawn.append(index)
            return labels_of(3)

        script, task = Script(LINE, FALLING, interrupted_at=3), Task(N, 2)
        alternate(script, Argmax(), None, SPACE, task, draw, starts=9, max_iter=9, together=False, rng=RNG)
        assert drawn == [0, 1, 2]


class TestSeveralStarts:
    @given(
        table=st.lists(st.integers(0, 15), min_size=16, max_size=16),
        costs=st.lists(st.integers(0, 99), min_size=16, max_size=16),
        starts=st.lists(st.integers(0, 15), min_size=1, max_size=5),
        max_iter=st.integers(1, 9),
    )
    def test_together_they_end_as_each_alone(self, table, costs, starts, max_iter):
        objectives = {state: float(cost) for state, cost in enumerate(costs)}
        leads_to = dict(enumerate(table))
        together = run(Script(leads_to, objectives), *starts, max_iter=max_iter)
        single = run(Script(leads_to, objectives), *starts, max_iter=max_iter, together=False)
        assert [summary(r) for r in together] == [summary(r) for r in single]
        assert [r.reason for r in together] == [r.reason for r in single]
        assert [r.index for r in together] == list(range(len(starts)))

    def test_finished_ones_are_dropped(self):
        script = Script(LINE, FALLING)
        run(script, 3, 0, 2)
        assert script.widths == [3, 2, 1, 1]

    @pytest.mark.parametrize("balancer", [None, Band()])
    def test_a_real_solver_agrees_with_itself(self, balancer):
        X = samples()
        space = mapped(Elm(n_hidden=10), X, 0)
        task = Task(len(X), 3)
        prepared = Ridge(df=5.0).prepare(space, task, RNG)
        labels = np.random.default_rng(1).integers(3, size=(6, len(X)))

        def results(together: bool) -> list[Ended]:
            labels_of_start = labels.__getitem__
            return alternate(
                prepared,
                Argmax(),
                balancer,
                space,
                task,
                labels_of_start,
                starts=6,
                max_iter=40,
                together=together,
                rng=RNG,
            )[0]

        for one, other in zip(results(True), results(False), strict=True):
            np.testing.assert_array_equal(one.answer.labels, other.answer.labels)
            np.testing.assert_allclose(one.history, other.history, rtol=1e-9)
            assert (one.n_iter, one.converged, one.reason) == (other.n_iter, other.converged, other.reason)
            np.testing.assert_array_equal(one.answer.predict(X), other.answer.predict(X))

    def test_progress_is_told_iteration_by_iteration(self):
        heard = []
        with listening(heard.append):
            run(Script(LINE, FALLING), 3, 0, max_iter=9)
        assert [(r.iteration, r.max_iter, r.active, r.objective) for r in heard] == [
            (1, 9, 1, 1.0), (2, 9, 1, 4.0), (3, 9, 1, 2.0), (4, 9, 0, 1.0),
        ]  # fmt: skip


@attrs.define(eq=False)
class Drawn(Prepared):
    """One iteration: random rows; stops by Ctrl-C, raised or reported."""

    raised_at: int | None = None
    reported_at: int | None = None
    calls: int = 0
    resolved = {}

    def solve(self, targets, previous, rng):
        self.calls += 1
        if self.calls == self.raised_at:
            raise KeyboardInterrupt
        rows = rng.standard_normal((N, 1))
        ending = Ending.INTERRUPTED if self.calls == self.reported_at else Ending.OUT_OF_ITERATIONS
        end = Status(3, ending, "as drawn", (float(rows.sum()),))
        return Embedding(rows, None, status=end)

    def objective(self, targets, outcome):
        return np.array(outcome.status.history)


class TestSolveOnce:
    def results(self, prepared: Drawn, starts: int = 4) -> list[Ended]:
        rngs = [np.random.default_rng(start) for start in range(starts)]
        ends, interrupted = solve_once(prepared, RowsKMeans(n_init=1), None, SPACE, Task(N, 2), rngs)
        assert interrupted == (prepared.calls in (prepared.raised_at, prepared.reported_at))
        return ends

    def test_each_random_stream_is_a_start(self):
        ends = self.results(Drawn())
        assert len({end.objective for end in ends}) == 4
        alone = [float(np.random.default_rng(start).standard_normal((N, 1)).sum()) for start in range(4)]
        assert [end.objective for end in ends] == alone

    def test_the_solver_says_how_it_ended(self):
        [end] = self.results(Drawn(), 1)
        assert (end.n_iter, end.converged, end.reason) == (3, False, "as drawn")
        assert end.history == (end.objective,)

    def test_ctrl_c_keeps_the_starts_before(self):
        assert [r.index for r in self.results(Drawn(raised_at=3))] == [0, 1]
        with pytest.raises(KeyboardInterrupt):
            self.results(Drawn(raised_at=1))

    def test_ctrl_c_that_the_solver_survived_ends_the_starts_too(self):
        assert [r.index for r in self.results(Drawn(reported_at=2))] == [0, 1]
