"""``--set solver.C=1``: parameters written on the command line, and the estimator they make."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from clusterkit.cli.failures import BadInput

if TYPE_CHECKING:
    from clusterkit._typing import NumberLike
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["check_number", "estimator", "parsed"]

_WORDS = {"true": True, "false": False, "none": None}
"""Values that may be written in lower case."""


def parsed(items: Iterable[str]) -> dict[str, object]:
    """Parameters by nested name.

    A value is a Python literal, or else a string; ``true``, ``false`` and ``none`` may have any case. For
    ``featuremap`` several names may be separated by commas.

    Parameters
    ----------
    items : iterable of str
        Each is ``SLOT.PARAMETER=VALUE``.

    Raises
    ------
    BadInput
        If an item has no ``=``, or a parameter occurs twice.

    Examples
    --------
    >>> parsed(["solver.C=1", "labeler=argmax", "featuremap=zscore,elm", "balancer=none"])
    {'solver__C': 1, 'labeler': 'argmax', 'featuremap': ['zscore', 'elm'], 'balancer': None}
    """
    parameters: dict[str, Any] = {}
    for item in items:
        key, sign, word = item.partition("=")
        name = key.strip().replace(".", "__")
        if not sign or not name:
            raise BadInput(f"--set {item!r}: write SLOT.PARAMETER=VALUE, for example solver.C=1")
        if name in parameters:
            raise BadInput(f"--set gives {key.strip()!r} twice")
        parameters[name] = _value(name, word.strip())
    return parameters


def estimator(name: str, clusters: NumberLike, seed: int, settings: Iterable[str]) -> Pipeline | Driven:
    """The estimator of a recipe, with the parameters of --set.

    Parameters
    ----------
    name : str
        The recipe.
    clusters : int, "auto", (int, int) or None
        Number of clusters, from -k.
    seed : int
    settings : iterable of str
        The values of --set; see `parsed`.

    Raises
    ------
    BadInput
        If --set contains what has an option of its own, or something that the recipe refuses.
    UnknownName
        If there is no such recipe.
    """
    from clusterkit.estimators.build import recipe

    recipe(name)  # an unknown recipe is reported before a mistake in --set
    changes = parsed(settings)
    for key, option, occupied in (("n_clusters", "-k", clusters is not None), ("random_state", "--seed", True)):
        if key in changes and occupied:
            raise BadInput(f"--set {key}: use {option} instead")
    try:
        return recipe(name, **{"n_clusters": clusters, "random_state": seed, **changes})
    except ValueError as error:
        raise BadInput(f"--set {' '.join(settings)}: {error}" if changes else str(error)) from error


def check_number(name: str, model: Pipeline | Driven, number: object, *, varied: bool = False) -> None:
    """Raise `BadInput` for a number of clusters where the recipe finds it, and for none where it is needed.

    Parameters
    ----------
    name : str
        The recipe.
    model : Pipeline or Driven
        Its estimator.
    number : int or None
        All else is checked by the fit.
    varied : bool, default False
        Whether the stages are searched over, so that nothing is known of them here.
    """
    from clusterkit.core.errors import IncompatibleStages, NeedsClusters
    from clusterkit.core.registry import registry
    from clusterkit.estimators.pipeline import Pipeline

    if varied or not isinstance(model, Pipeline) or not (number is None or isinstance(number, int)):
        return
    clusters = registry.get("recipe", name).clusters
    try:
        model.composition_at(number)
    except NeedsClusters as error:
        if clusters == "given":
            raise BadInput(
                f"recipe {name} needs a number of clusters: give one with -k 3, or a range to choose in, such as -k 2-8"
            ) from error
    except IncompatibleStages as error:
        if clusters == "found" and number is not None:
            raise BadInput(
                f"recipe {name} finds the number of clusters itself: leave -k out, or take a recipe that is told the "
                "number, such as kmeans or mass-cut; `clusterkit recipes` says which are"
            ) from error
    except ValueError:
        return  # another mistake, which the fit explains


def _value(name: str, word: str) -> Any:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    if name == "featuremap" and "," in word:
        return [part.strip() for part in word.strip("[]").split(",")]
    return word
