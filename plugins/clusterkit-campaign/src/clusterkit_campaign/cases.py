"""The list of cases, endless and the same for a seed whatever the number of processes or the time, and how one is run.

Cases come in rounds. A round has one fit of every recipe, a relation for a quarter of the recipes, fits of a few
compositions, and so many cases of the other areas that three hundred rounds are a campaign. The order within a round
is drawn, so that a run that ends early has seen all areas. `serve` runs cases in a process of its own: one that hangs
or dies takes no other case with it.
"""

from __future__ import annotations

import signal
import zlib
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import final

import attrs
import numpy as np

from clusterkit.contracts.composition import SLOTS
from clusterkit.contracts.registry import ABSTRACT, registry
from clusterkit.errors import UnknownName, nearest_names
from clusterkit_campaign.comparisons import COMPARISONS, check_comparison, comparisons_of
from clusterkit_campaign.data_sets import AwkwardSet, awkward_sets
from clusterkit_campaign.edges import EDGES, check_edge
from clusterkit_campaign.ensembles import ENSEMBLES, UNFIT_ENSEMBLES, check_ensemble
from clusterkit_campaign.findings import CRASH, CaseReport, Problem, of_error
from clusterkit_campaign.fits import Subject, Trial, check_trial, compositions_with, of_recipe, recipes_with, smallest
from clusterkit_campaign.hostile_files import FILES, check_files
from clusterkit_campaign.odd_parameters import OddCase, check_odd_case, odd_cases
from clusterkit_campaign.plugin_breakers import BREAKERS, ODDITIES, check_breaker
from clusterkit_campaign.relations import RELATIONS, check_relation
from clusterkit_campaign.user_tables import TABLES, check_table

__all__ = ["ADDRESS_SPACE", "Case", "Selection", "cases", "run_case", "serve", "subject_of", "trial_of"]

COMPOSITIONS = 4
"""Fits of compositions that are no recipe, in a round."""

PARAMETERS = 36
"""Values of parameters in a round: 10,000 in 280 rounds."""

PARAMETERS_PER_CASE = 6
"""Values of one case: most are refused within microseconds."""

COMPARISONS_PER_ROUND = 15
"""Batches of comparisons in a round: 100,000 comparisons in 280 rounds."""

FILES_PER_ROUND = 2
"""Batches of mutated files in a round: 19,000 files in 280 rounds."""

BREAKERS_PER_ROUND = 3
"""Broken stages in a round: each of the 200 four times in 280 rounds."""

ENSEMBLES_PER_ROUND = 4
"""Consensus functions on awkward ensembles in a round: each of the 350 pairs three times in 280 rounds."""

NUMBERS = (2, 3, 2, 3, 1, 9)
"""Numbers of clusters of the fits: one, which is a fit like any other, and more than many data sets have rows to tell
apart."""

ROUNDS_PER_RELATION = 4
"""A recipe has a relation in every fourth round."""

_ENSEMBLES = (*ENSEMBLES, *UNFIT_ENSEMBLES)
"""Ensembles that each consensus is tried on."""


@final
@attrs.frozen
class Case:
    """One entry of the list.

    Parameters
    ----------
    number : int
        Position of the case in the list, from 0.
    area : {"fits", "relations", "parameters", "comparisons", "ensembles", "breakers", "files", "tables", "edges"}
    subject : str
        A recipe, the number of a composition as ``"#12"``, a stage ``kind:name``, a consensus, a slot, or a kind of
        file.
    item : str
        A data set, a relation, an ensemble, or an oddity.
    seed : int
        Seed of everything that the case draws.
    round_number : int
        The round.
    parameters : tuple of OddCase
        Odd parameters, for a case in the area of odd parameters.
    """

    number: int
    area: str
    subject: str
    item: str
    seed: int
    round_number: int
    parameters: tuple[OddCase, ...] = ()


@final
@attrs.frozen
class Selection:
    """Subjects of a campaign.

    Parameters
    ----------
    recipe : str or None
        Only this recipe and the parameters of its stages.
    stage : str or None
        Only compositions and parameters of this stage, ``kind:name`` or a name that one kind has.
    """

    recipe: str | None = None
    stage: str | None = None

    def resolved(self) -> Selection:
        """The selection with a full name of the stage, checked.

        Raises
        ------
        UnknownName
            If there is no such recipe or stage.
        """
        if self.recipe is not None:
            registry.get("recipe", self.recipe)
        if self.stage is None:
            return self
        kind, _, name = self.stage.rpartition(":")
        kinds = [each for each in ABSTRACT if registry.find(each, name) is not None and kind in ("", each)]
        if len(kinds) != 1:
            names = [f"{each}:{other}" for each in ABSTRACT for other in registry.names(each)]
            raise UnknownName(f"no single stage is called {self.stage!r}. {nearest_names(self.stage, names)}")
        registry.get(kinds[0], name)
        return attrs.evolve(self, stage=f"{kinds[0]}:{name}")

    @property
    def kind_and_name(self) -> tuple[str | None, str | None]:
        """Kind and name of the stage; (None, None) without one."""
        if self.stage is None:
            return None, None
        kind, _, name = self.stage.partition(":")
        return kind, name


def cases(seed: int, selection: Selection | None = None) -> Iterator[Case]:
    """All cases of a seed, without an end.

    Parameters
    ----------
    seed : int
    selection : Selection, optional
        Resolved.
    """
    chosen = Selection() if selection is None else selection
    plan = _Plan(seed, chosen)
    number = round_number = 0
    while True:
        drafts = plan.round(round_number)
        if not drafts:
            return
        for position in np.random.default_rng([seed, round_number, 1]).permutation(len(drafts)):
            yield attrs.evolve(drafts[position], number=number)
            number += 1
        round_number += 1


class _Plan:
    """Parts of a campaign that are the same in every round."""

    def __init__(self, seed: int, selection: Selection) -> None:
        self.seed = seed
        kind, name = selection.kind_and_name
        self.whole = selection == Selection()
        self.recipes = _recipes(selection)
        self.n_compositions = _count_of_compositions(selection)
        self.sets = list(awkward_sets())
        self.parameters = _shuffled(seed, _parameters(selection))
        self.comparisons = [] if selection.recipe is not None else comparisons_of(selection.stage)
        self.kind, self.name = kind, name
        self.ensembles = _shuffled(seed, [(each, item) for each in _consensus(selection) for item in _ENSEMBLES])
        pairs = [(slot, how) for slot in BREAKERS for how in ODDITIES]
        self.breakers = _shuffled(seed, pairs) if self.whole else []
        self.files = list(FILES) if self.whole else []

    def round(self, round_number: int) -> list[Case]:
        """The cases of a round, not numbered yet."""
        areas = (
            self._fits, self._relations, self._parameters, self._comparisons, self._ensembles, self._breakers,
            self._files, self._tables, self._edges,
        )  # fmt: skip
        return [case for area in areas for case in area(round_number)]

    def _case(
        self, round_number: int, area: str, subject: str, item: str, *more: int, **parameters: tuple[OddCase, ...]
    ) -> Case:
        seed = zlib.crc32(repr((self.seed, round_number, area, subject, item, more)).encode())
        return Case(0, area, subject, item, seed, round_number, **parameters)

    def _fits(self, round_number: int) -> Iterator[Case]:
        for name in self.recipes:
            order = _shuffled(zlib.crc32(f"{self.seed} {name}".encode()), self.sets)
            yield self._case(round_number, "fits", name, order[round_number % len(order)])
        rng = np.random.default_rng([self.seed, round_number, 2])
        for _ in range(COMPOSITIONS if self.n_compositions else 0):
            number, item = int(rng.integers(self.n_compositions)), self.sets[int(rng.integers(len(self.sets)))]
            yield self._case(round_number, "fits", f"#{number}", item)

    def _relations(self, round_number: int) -> Iterator[Case]:
        names = list(RELATIONS)
        for position, name in enumerate(self.recipes):
            if (position + round_number) % ROUNDS_PER_RELATION == 0:
                item = names[(round_number // ROUNDS_PER_RELATION + position) % len(names)]
                yield self._case(round_number, "relations", name, item)

    def _parameters(self, round_number: int) -> Iterator[Case]:
        if not self.parameters:
            return
        for part in range(PARAMETERS // PARAMETERS_PER_CASE):
            first = round_number * PARAMETERS + part * PARAMETERS_PER_CASE
            chosen = tuple(self.parameters[(first + i) % len(self.parameters)] for i in range(PARAMETERS_PER_CASE))
            yield self._case(round_number, "parameters", "", "", part, parameters=chosen)

    def _comparisons(self, round_number: int) -> Iterator[Case]:
        for part in range(COMPARISONS_PER_ROUND if self.comparisons else 0):
            name = self.comparisons[(round_number * COMPARISONS_PER_ROUND + part) % len(self.comparisons)]
            yield self._case(round_number, "comparisons", COMPARISONS[name].stage, name, part)

    def _ensembles(self, round_number: int) -> Iterator[Case]:
        for part in range(ENSEMBLES_PER_ROUND if self.ensembles else 0):
            name, item = self.ensembles[(round_number * ENSEMBLES_PER_ROUND + part) % len(self.ensembles)]
            yield self._case(round_number, "ensembles", name, item)

    def _breakers(self, round_number: int) -> Iterator[Case]:
        for part in range(BREAKERS_PER_ROUND if self.breakers else 0):
            slot, how = self.breakers[(round_number * BREAKERS_PER_ROUND + part) % len(self.breakers)]
            yield self._case(round_number, "breakers", slot, how)

    def _files(self, round_number: int) -> Iterator[Case]:
        for part in range(FILES_PER_ROUND if self.files else 0):
            kind = self.files[(round_number * FILES_PER_ROUND + part) % len(self.files)]
            yield self._case(round_number, "files", kind, "", part)

    def _edges(self, round_number: int) -> Iterator[Case]:
        for item in EDGES if self.whole else ():
            yield self._case(round_number, "edges", "", item)

    def _tables(self, round_number: int) -> Iterator[Case]:
        for kind in TABLES if self.whole else ():
            yield self._case(round_number, "tables", kind, "")


def _shuffled(seed: int, entries: Sequence[object]) -> list:  # type: ignore[type-arg]
    return [entries[i] for i in np.random.default_rng([seed, 3]).permutation(len(entries))]


def _recipes(selection: Selection) -> list[str]:
    if selection.recipe is not None:
        return [selection.recipe]
    kind, name = selection.kind_and_name
    if kind is None or name is None:
        return sorted(registry.available("recipe"))
    return sorted(recipes_with(kind, name))


def _consensus(selection: Selection) -> list[str]:
    """The consensus functions that a campaign checks."""
    kind, name = selection.kind_and_name
    if kind == "consensus" and name is not None:
        return [name]
    return sorted(registry.available("consensus")) if selection == Selection() else []


def _count_of_compositions(selection: Selection) -> int:
    if selection.recipe is not None:
        return 0
    return len(compositions_with(*selection.kind_and_name))


def _parameters(selection: Selection) -> tuple[OddCase, ...]:
    if selection.recipe is None:
        return odd_cases(*selection.kind_and_name)
    subject = of_recipe(selection.recipe)
    c = subject.composition()
    stages = [(kind, getattr(c, slot)) for slot, kind in SLOTS.items()]
    return tuple(case for kind, stage in stages if stage is not None for case in odd_cases(kind, stage.name))


ADDRESS_SPACE = 12 * 2**30
"""Bytes of address space of a worker: what wants more than that should have been refused before."""


def serve(connection: Connection, selection: Selection, threads: int) -> None:
    """Run the cases that come over a connection until None comes, and send each report back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that collects the reports
    _limit_address_space()
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads):
        while True:
            case: Case | None = connection.recv()
            if case is None:
                return
            connection.send(run_case(case, selection))


def _limit_address_space() -> None:
    try:
        import resource
    except ImportError:  # not available on this system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = ADDRESS_SPACE if hard == resource.RLIM_INFINITY else min(hard, ADDRESS_SPACE)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def run_case(case: Case, selection: Selection | None = None) -> CaseReport:
    """Run a case in this process."""
    report = CaseReport()
    try:
        report.problems = list(_problems(case, Selection() if selection is None else selection, report))
    except Exception as error:  # an error of the campaign itself is a finding too, or it would go unseen
        problem = of_error(error, documented=())
        report.problems.append((problem or Problem(CRASH, "a case cannot be run", repr(error)), ""))
    return report


def _problems(case: Case, selection: Selection, report: CaseReport) -> Sequence[tuple[Problem, str]]:
    if case.area == "fits":
        return _fit_problems(case, selection, report)
    if case.area == "relations":
        return check_relation(case.item, subject_of(case, selection), report.counts, case.seed)
    if case.area == "parameters":
        return [each for odd in case.parameters for each in check_odd_case(odd, report.counts, case.seed)]
    if case.area == "comparisons":
        return check_comparison(case.item, report.counts, case.seed)
    if case.area == "ensembles":
        return check_ensemble(case.subject, case.item, report.counts, case.seed)
    if case.area == "breakers":
        return check_breaker(case.subject, case.item, report.counts)
    if case.area == "edges":
        return check_edge(case.item, report.counts, case.seed, case.round_number)
    if case.area == "tables":
        return check_table(case.subject, report.counts, case.seed)
    return check_files(case.subject, report.counts, case.seed)


def subject_of(case: Case, selection: Selection) -> Subject:
    """The subject that a case fits."""
    if case.subject.startswith("#"):
        return compositions_with(*selection.kind_and_name)[int(case.subject[1:])]
    return of_recipe(case.subject)


def trial_of(case: Case, selection: Selection) -> Trial:
    """The fit of a case."""
    data: AwkwardSet = awkward_sets()[case.item]
    subject = subject_of(case, selection)
    k = NUMBERS[case.seed % len(NUMBERS)]
    return Trial(subject, data, data.drawn(case.seed), k, case.seed % 1000, case.round_number)


def _fit_problems(case: Case, selection: Selection, report: CaseReport) -> list[tuple[Problem, str]]:
    trial = trial_of(case, selection)
    unique: dict[tuple[str, str], Problem] = {}
    for problem in check_trial(trial, report.counts):
        unique.setdefault((problem.severity, problem.what), problem)
    return [(problem, smallest(trial, problem)) for problem in unique.values()]
