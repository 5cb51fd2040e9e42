"""The list of cases: endless, the same for a seed whatever the number of processes or the time.

Cases come in rounds. A round has one fit of every recipe, a relation for a quarter of the recipes, fits of a few
compositions, and so many cases of the other areas that three hundred rounds are a campaign. The order within a round
is drawn, so that a run that ends early has seen all areas.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import final

import attrs
import numpy as np

from clusterkit.core.errors import UnknownName, nearest_names
from clusterkit.core.registry import ABSTRACT, registry
from clusterkit.testing.campaign.comparisons import COMPARISONS, comparisons_of
from clusterkit.testing.campaign.data_sets import awkward_sets
from clusterkit.testing.campaign.edges import EDGES
from clusterkit.testing.campaign.ensembles import ENSEMBLES, UNFIT_ENSEMBLES
from clusterkit.testing.campaign.hostile_files import FILES
from clusterkit.testing.campaign.odd_parameters import OddCase, odd_cases
from clusterkit.testing.campaign.plugin_breakers import BREAKERS, ODDITIES
from clusterkit.testing.campaign.relations import RELATIONS
from clusterkit.testing.campaign.subjects import compositions_with, recipes_with

__all__ = ["Case", "Selection", "cases"]

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

RELATION_TURNS = 4
"""A recipe has a relation in every fourth round."""

_ENSEMBLES = (*ENSEMBLES, *UNFIT_ENSEMBLES)
"""What each consensus is tried on."""


@final
@attrs.frozen
class Case:
    """One entry of the list.

    Parameters
    ----------
    number : int
        Its position, from 0.
    area : {"fits", "relations", "parameters", "comparisons", "ensembles", "breakers", "files", "edges"}
    subject : str
        A recipe, the number of a composition as ``"#12"``, a stage ``kind:name``, a consensus, a slot, or a kind of
        file.
    item : str
        A data set, a relation, an ensemble, or an oddity.
    seed : int
        For what the case draws.
    turn : int
        The round.
    parameters : tuple of OddCase
        Of an odd-parameter case.
    """

    number: int
    area: str
    subject: str
    item: str
    seed: int
    turn: int
    parameters: tuple[OddCase, ...] = ()


@final
@attrs.frozen
class Selection:
    """What a campaign is about.

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
        """The same with a full name of the stage, checked.

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
    number = turn = 0
    while True:
        drafts = plan.round(turn)
        if not drafts:
            return
        for position in np.random.default_rng([seed, turn, 1]).permutation(len(drafts)):
            yield attrs.evolve(drafts[position], number=number)
            number += 1
        turn += 1


class _Plan:
    """What does not change from round to round."""

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

    def round(self, turn: int) -> list[Case]:
        """The cases of a round, not numbered yet."""
        return [
            *self._fits(turn), *self._relations(turn), *self._parameters(turn), *self._comparisons(turn),
            *self._ensembles(turn), *self._breakers(turn), *self._files(turn), *self._edges(turn),
        ]  # fmt: skip

    def _case(
        self, turn: int, area: str, subject: str, item: str, *more: int, **parameters: tuple[OddCase, ...]
    ) -> Case:
        seed = zlib.crc32(repr((self.seed, turn, area, subject, item, more)).encode())
        return Case(0, area, subject, item, seed, turn, **parameters)

    def _fits(self, turn: int) -> Iterator[Case]:
        for name in self.recipes:
            order = _shuffled(zlib.crc32(f"{self.seed} {name}".encode()), self.sets)
            yield self._case(turn, "fits", name, order[turn % len(order)])
        rng = np.random.default_rng([self.seed, turn, 2])
        for _ in range(COMPOSITIONS if self.n_compositions else 0):
            number, item = int(rng.integers(self.n_compositions)), self.sets[int(rng.integers(len(self.sets)))]
            yield self._case(turn, "fits", f"#{number}", item)

    def _relations(self, turn: int) -> Iterator[Case]:
        names = list(RELATIONS)
        for position, name in enumerate(self.recipes):
            if (position + turn) % RELATION_TURNS == 0:
                yield self._case(turn, "relations", name, names[(turn // RELATION_TURNS + position) % len(names)])

    def _parameters(self, turn: int) -> Iterator[Case]:
        if not self.parameters:
            return
        for part in range(PARAMETERS // PARAMETERS_PER_CASE):
            first = turn * PARAMETERS + part * PARAMETERS_PER_CASE
            chosen = tuple(self.parameters[(first + i) % len(self.parameters)] for i in range(PARAMETERS_PER_CASE))
            yield self._case(turn, "parameters", "", "", part, parameters=chosen)

    def _comparisons(self, turn: int) -> Iterator[Case]:
        for part in range(COMPARISONS_PER_ROUND if self.comparisons else 0):
            name = self.comparisons[(turn * COMPARISONS_PER_ROUND + part) % len(self.comparisons)]
            yield self._case(turn, "comparisons", COMPARISONS[name].stage, name, part)

    def _ensembles(self, turn: int) -> Iterator[Case]:
        for part in range(ENSEMBLES_PER_ROUND if self.ensembles else 0):
            name, item = self.ensembles[(turn * ENSEMBLES_PER_ROUND + part) % len(self.ensembles)]
            yield self._case(turn, "ensembles", name, item)

    def _breakers(self, turn: int) -> Iterator[Case]:
        for part in range(BREAKERS_PER_ROUND if self.breakers else 0):
            slot, how = self.breakers[(turn * BREAKERS_PER_ROUND + part) % len(self.breakers)]
            yield self._case(turn, "breakers", slot, how)

    def _files(self, turn: int) -> Iterator[Case]:
        for part in range(FILES_PER_ROUND if self.files else 0):
            yield self._case(turn, "files", self.files[(turn * FILES_PER_ROUND + part) % len(self.files)], "", part)

    def _edges(self, turn: int) -> Iterator[Case]:
        for item in EDGES if self.whole else ():
            yield self._case(turn, "edges", "", item)


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
    from clusterkit.core.compat import SLOTS
    from clusterkit.testing.campaign.subjects import of_recipe

    subject = of_recipe(selection.recipe)
    c = subject.composition()
    stages = [(kind, getattr(c, slot)) for slot, kind in SLOTS.items()]
    return tuple(case for kind, stage in stages if stage is not None for case in odd_cases(kind, stage.name))
