"""Consensus: one labeling of several labelings of the same samples.

Every registered consensus is a function here, those of plugins and of this session included:

>>> from clusterkit import consensus
>>> members = [[0, 0, 0, 1, 1, 1], [5, 5, 5, 7, 7, 7], [0, 0, 1, 1, 2, 2]]
>>> consensus.diclens(members).tolist()
[0, 0, 0, 1, 1, 1]
>>> consensus.coassociation(members, n_clusters=2, linkage="complete").tolist()
[0, 0, 0, 1, 1, 1]

`combine` takes the name, or a stage, as an argument. To make the members see `clusterkit.ensemble`, to do both at once
`clusterkit.ConsensusClustering`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clusterkit._typing import Labels

__all__ = ["combine"]


def combine(
    labelings: Any,
    consensus: Any = "diclens",
    *,
    n_clusters: int | None = None,
    random_state: Any = None,
    names: Sequence[str] | None = None,
    **parameters: Any,
) -> Labels:
    """One labeling of several.

    Parameters
    ----------
    labelings : array-like of shape (M, n), or sequence of M array-likes of shape (n,)
        Whole numbers from 0; -1 is noise: the labeling says nothing about the sample. Names of clusters do not matter.
    consensus : str, dict or Consensus, default "diclens"
        A name of ``clusterkit.stages("consensus")``, a dict with ``name`` and parameters, or a stage.
    n_clusters : int, optional
        For a method that takes it.
    random_state : int, Generator, RandomState or None
        For a method with random choices; the others give the same labels whatever it is.
    names : sequence of M str, optional
        How errors call the labelings.
    **parameters
        Of the consensus.

    Returns
    -------
    ndarray of shape (n,), int64
        Labels numbered from 0 by first appearance; -1 for a sample that is noise in all labelings.

    Raises
    ------
    InvalidData
        If there is no labeling, one is empty or not of whole numbers, the lengths differ, or all samples are noise in
        all labelings.
    InvalidParameter, UnknownName
        If the consensus, a parameter of it or the number of clusters is wrong.

    Examples
    --------
    >>> combine([[0, 0, 1, 1], [1, 1, 0, -1]], "voting").tolist()
    [0, 0, 1, 1]
    """
    from clusterkit.core.errors import InvalidData, InvalidParameter
    from clusterkit.core.labelings import NOISE, checked
    from clusterkit.core.registry import registry
    from clusterkit.core.seeds import Seeds
    from clusterkit.core.stages import Consensus

    if isinstance(consensus, Mapping) and isinstance(consensus.get("name"), str):
        parameters = {key: value for key, value in consensus.items() if key != "name"} | parameters
        consensus = consensus["name"]
    if not isinstance(consensus, str | Consensus):
        raise InvalidParameter(
            f"consensus takes a name, a dict with 'name' and parameters, or a Consensus; got {consensus!r}"
        )
    stage: Consensus = registry.get("consensus", consensus)() if isinstance(consensus, str) else consensus
    stage = stage.with_parameters(**parameters)
    stage.check_k(n_clusters)
    members = checked(labelings, names)
    if (members == NOISE).all():
        raise InvalidData("all labels of all labelings are -1 (noise): there is nothing to combine")
    return stage.combine(members, n_clusters, Seeds.of(random_state).stream("consensus"))


def _function(name: str) -> Callable[..., Labels]:
    """`combine` by one consensus, with the text of its stage."""
    import inspect

    from clusterkit.core.registry import registry

    stage = registry.get("consensus", name)

    def call(labelings: Any, *, n_clusters: int | None = None, random_state: Any = None, **parameters: Any) -> Labels:
        return combine(labelings, stage(), n_clusters=n_clusters, random_state=random_state, **parameters)

    call.__name__ = call.__qualname__ = name
    head = (
        "Parameters, beside those of the consensus\n"
        "-----------------------------------------\n"
        "labelings, n_clusters, random_state\n"
        "    As in `clusterkit.consensus.combine`, which says what is returned and raised too."
    )
    call.__doc__ = f"{inspect.getdoc(stage)}\n\n{head}"
    usual = list(inspect.signature(call).parameters.values())[:-1]
    own = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value)
        for key, value in stage().parameters().items()
    ]
    call.__signature__ = inspect.Signature([*usual, *own])  # type: ignore[attr-defined]
    return call


def __getattr__(name: str) -> Callable[..., Labels]:
    from clusterkit.core.registry import registry

    if name.startswith("_") or registry.find("consensus", name) is None:
        known = ", ".join(registry.names("consensus")) if not name.startswith("_") else ""
        raise AttributeError(
            f"module 'clusterkit.consensus' has no function {name!r}" + (f"; there are: {known}" if known else "")
        )
    return _function(name)


def __dir__() -> list[str]:
    from clusterkit.core.registry import registry

    return sorted({*globals(), *registry.names("consensus")})
