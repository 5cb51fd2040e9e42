"""`combine`, which checks labellings and runs a consensus stage, and the built-in methods as functions on plain arrays.

The docstring of each function is the text of its stage, completed by the parameters that all functions share, so that
``help`` is complete.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clusterkit._typing import ArrayLike, Labels, RandomState
from clusterkit.contracts import Consensus
from clusterkit.contracts.arguments import ConsensusLike
from clusterkit.families.consensus.evidence import Coassociation, Diclens
from clusterkit.families.consensus.expansion import Comusa, Comusacl, ComusaclDew
from clusterkit.families.consensus.plurality import Voting
from clusterkit.families.consensus.spectral import Cspa, Hbgf


def combine(
    labelings: ArrayLike | Sequence[ArrayLike],
    consensus: ConsensusLike = "diclens",
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    names: Sequence[str] | None = None,
    **parameters: object,
) -> Labels:
    """Combine several labellings of the same samples into one.

    Parameters
    ----------
    labelings : array-like of shape (M, n), or sequence of M array-likes of shape (n,)
        Whole numbers from 0; -1 is noise: the labelling does not know the sample. The names of clusters do not matter.
    consensus : str, dict or Consensus, default "diclens"
        A name of ``clusterkit.stages("consensus")``, a dict with ``name`` and parameters, or a stage.
    n_clusters : int, optional
        Number of clusters, for a method that takes it.
    random_state : int, Generator, RandomState or None, default None
        Seed of a method with random choices; the others ignore it.
    names : sequence of M str, optional
        Names of the labellings in errors.
    **parameters
        Parameters of the consensus.

    Returns
    -------
    ndarray of shape (n,), int64
        Labels numbered from 0 by first appearance; -1 for a sample that is noise in all labellings.

    Raises
    ------
    InvalidData
        If there is no labelling, one is empty or not of whole numbers, the lengths differ, or all samples are noise in
        all labellings.
    InvalidParameter, UnknownName
        If the consensus, a parameter of it or the number of clusters is wrong.

    Examples
    --------
    >>> combine([[0, 0, 1, 1], [1, 1, 0, -1]], "voting").tolist()
    [0, 0, 1, 1]
    """
    from clusterkit.contracts import Consensus
    from clusterkit.contracts.labelings import NOISE, checked
    from clusterkit.contracts.registry import registry
    from clusterkit.contracts.seeds import Seeds
    from clusterkit.errors import InvalidData, InvalidParameter
    from clusterkit.fitting.ensembles import combine as combine_members

    if isinstance(consensus, Mapping) and isinstance(consensus.get("name"), str):
        parameters = {key: value for key, value in consensus.items() if key != "name"} | parameters
        consensus = str(consensus["name"])
    if not isinstance(consensus, str | Consensus):
        raise InvalidParameter(
            f"consensus takes a name, a dict with 'name' and parameters, or a Consensus; got {consensus!r}"
        )
    stage: Consensus = registry.get("consensus", consensus)() if isinstance(consensus, str) else consensus
    stage = stage.with_parameters(**parameters)
    stage.check_k(n_clusters)
    members = checked(labelings, names)
    if (members == NOISE).all():
        raise InvalidData("all labels of all labellings are -1 (noise): there is nothing to combine")
    return combine_members(stage, members, n_clusters, Seeds.of(random_state).stream("consensus"))


PARAMETERS = "Parameters\n----------\n"
"""The heading of the parameters of a stage."""

NOTES = "Notes\n-----\n"
"""The heading of the section that follows them."""

LABELINGS = """labelings : array-like of shape (M, n), or sequence of M array-likes of shape (n,)
    Whole numbers from 0; -1 is noise: the labelling does not know the sample. The names of clusters do not matter.
"""
"""Documentation of the parameter that every consensus combines."""

RETURNS = """Returns
-------
ndarray of shape (n,), int64
    Labels numbered from 0 by first appearance; -1 for a sample that is noise in all labellings.

Raises
------
InvalidData
    If there is no labelling, one is empty or not of whole numbers, the lengths differ, or all samples are noise in all
    labellings.
InvalidParameter
    If a parameter or the number of clusters is wrong.
"""
"""Documentation of the result and the errors of every consensus."""


def function_of(stage: type[Consensus]) -> Callable[..., Labels]:
    """A stage as a function of labellings, with its parameters in the signature and its full docstring."""

    def function(
        labelings: ArrayLike | Sequence[ArrayLike],
        *,
        n_clusters: int | None = None,
        random_state: RandomState = None,
        **parameters: object,
    ) -> Labels:
        chosen = stage().with_parameters(**parameters)
        return combine(labelings, chosen, n_clusters=n_clusters, random_state=random_state)

    signature = inspect.signature(function)
    common = list(signature.parameters.values())[:-1]
    single = [inspect.Parameter(name, common[-1].kind, default=its) for name, its in stage().parameters().items()]
    described: Any = function
    described.__name__ = described.__qualname__ = stage.name
    described.__module__, described.__doc__ = "clusterkit.consensus", _text(stage)
    described.__signature__ = signature.replace(parameters=[*common, *single])
    return function


def _text(stage: type[Consensus]) -> str:
    """Documentation of a stage: description, all parameters, result and errors, and notes."""
    before, _, notes = inspect.cleandoc(stage.__doc__ or "").partition(NOTES)
    description, _, parameters = before.partition(PARAMETERS)
    every = "\n".join(
        part for part in (LABELINGS + _n_clusters(stage) + _random_state(stage), parameters.strip()) if part
    )
    module = stage.__module__
    return "\n\n".join([
        description.strip(),
        PARAMETERS + every,
        RETURNS.strip(),
        f"See Also\n--------\n{module}.{stage.__name__} : the same method as a stage.",
        NOTES + notes.strip(),
    ])  # fmt: skip


def _n_clusters(stage: type[Consensus]) -> str:
    if not stage.takes_k:
        text = "Only None: the method finds the number of clusters."
    elif stage.finds_k:
        text = "Number of clusters; None lets the method find it."
    else:
        text = "Number of clusters; the method needs it."
    return f"n_clusters : int, optional\n    {text}\n"


def _random_state(stage: type[Consensus]) -> str:
    text = "Seed of the random starts." if stage.varies else "Ignored: nothing in the method is random."
    return f"random_state : int, Generator, RandomState or None, default None\n    {text}"


coassociation = function_of(Coassociation)
comusa = function_of(Comusa)
comusacl = function_of(Comusacl)
comusacl_dew = function_of(ComusaclDew)
cspa = function_of(Cspa)
diclens = function_of(Diclens)
hbgf = function_of(Hbgf)
voting = function_of(Voting)
