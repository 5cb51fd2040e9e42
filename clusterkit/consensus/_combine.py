"""`combine`: check labelings, resolve the consensus stage, run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterkit._typing import ArrayLike, ConsensusLike, Labels, RandomState

__all__ = ["combine"]


def combine(
    labelings: ArrayLike | Sequence[ArrayLike],
    consensus: ConsensusLike = "diclens",
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    names: Sequence[str] | None = None,
    **parameters: object,
) -> Labels:
    """Combine several labelings of the same samples into one.

    Parameters
    ----------
    labelings : array-like of shape (M, n), or sequence of M array-likes of shape (n,)
        Whole numbers from 0; -1 is noise: the labeling does not know the sample. The names of clusters do not matter.
    consensus : str, dict or Consensus, default "diclens"
        A name of ``clusterkit.stages("consensus")``, a dict with ``name`` and parameters, or a stage.
    n_clusters : int, optional
        Number of clusters, for a method that takes it.
    random_state : int, Generator, RandomState or None
        Seed of a method with random choices; the others ignore it.
    names : sequence of M str, optional
        Names of the labelings in errors.
    **parameters
        Parameters of the consensus.

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
        raise InvalidData("all labels of all labelings are -1 (noise): there is nothing to combine")
    return stage.combine(members, n_clusters, Seeds.of(random_state).stream("consensus"))
