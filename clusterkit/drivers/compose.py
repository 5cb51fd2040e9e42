"""Stages and compositions from the values that a user may write in a slot: a name, a dict, a list, a stage.

The number of clusters may be left open, "auto" or a range (`is_open`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts import (
    Balancer,
    Codec,
    FeatureMap,
    Labeler,
    Partitioner,
    Solver,
    Stage,
    Task,
    Tuned,
    Tuner,
    outcome_labeler,
)
from clusterkit.contracts.arguments import (
    BalancerLike,
    LabelerLike,
    TunerLike,
)
from clusterkit.contracts.checks import NamingStage, check_instance
from clusterkit.contracts.composition import SLOTS, Composition, problems
from clusterkit.contracts.declared import check_declared
from clusterkit.contracts.featuremap import Chain, maps_of
from clusterkit.contracts.outcomes import Domain
from clusterkit.contracts.params import check_count, is_count
from clusterkit.contracts.providers import VARIABLE, where
from clusterkit.contracts.registry import ABSTRACT, StageKind, registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages, InvalidParameter, NeedsClusters, UnknownName, nearest_names
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import DistanceSpace, FeatureSpace, KernelSpace

AUTO = "auto"
"""The value of the slots labeler and balancer that leaves the choice to the solver."""

OFFER = "Give a number, or 'auto' to have it chosen"
"""Advice where the number of clusters is missing, in the words of the estimators."""

PLACEHOLDER = 3
"""Number of clusters with which the stages are checked where the number is chosen by the fit: above the two that some
labelers are for."""

METRICS: Mapping[str, str | None] = {
    "euclidean": None,
    "cosine": "unit",
    "haversine": "sphere",
    "precomputed": "precomputed",
}
"""How rows are compared, and the feature map for it: in front of all others, or for "precomputed" in their place."""

KINDS: Mapping[str, str] = {**SLOTS, "tuner": "tuner"}
"""Slot of a pipeline to the kind of stage that it takes."""

S = TypeVar("S", bound=Stage)


def compose(
    slots: Mapping[str, object],
    n_clusters: int | None = None,
    n_init: int = 1,
    max_iter: int = 100,
    metric: str = "euclidean",
) -> Composition:
    """A composition of the values of all slots, with every "auto" resolved and checked.

    Parameters
    ----------
    slots : mapping
        A value for each of "featuremap", "solver", "labeler", "balancer" and "init".
    n_clusters : int or None
    n_init, max_iter : int
    metric : str, default "euclidean"
        One of `METRICS`.

    Raises
    ------
    UnknownName, InvalidParameter
        If a slot, or the metric, has no valid value.
    NeedsClusters
        If `n_clusters` is None and no stage finds the number.
    IncompatibleStages
        If the stages cannot work together.
    """
    values: Mapping[str, Any] = slots  # each is checked where it is resolved
    solver = resolve_as(Solver, "solver", values["solver"])
    featuremap = measured(resolve_as(FeatureMap, "featuremap", values["featuremap"]), metric, solver)
    labeler = resolve_labeler(values["labeler"], featuremap, solver, n_clusters)
    balancer = resolve_balancer(values["balancer"], solver, labeler)
    init = resolve_as(Partitioner, "init", values["init"]) if solver.targets != "never" else None
    needed = n_clusters is None and not labeler.finds_k
    if needed:
        n_clusters = labeler.max_clusters
    limits = resolve_limits(values["balancer"], solver)
    c = Composition(featuremap, solver, labeler, balancer, init, n_clusters, n_init, max_iter, limits)
    if needed and n_clusters is None:
        reasons = [f"labeler '{labeler.name}' does not find it"]
        if solver.chooses_number:
            reasons[0] += f", and with labeler='{solver.default_labeler}' solver '{solver.name}' chooses it"
        reasons += [f"{problem.slot}: {problem.reason}" for problem in problems(c)]
        raise NeedsClusters(f"n_clusters is needed: {'; '.join(reasons)}. {OFFER}")
    check(c)
    return c


@final
@attrs.frozen(eq=False)
class Tuning:
    """Result of a tuner.

    Parameters
    ----------
    composition : Composition
        Composition with the values that the tuner decided.
    decided : mapping
        Slot to the parameters decided; under "tuner" the tuner's own account, for `resolved_`.
    interrupted : bool
        Whether Ctrl-C ended the tuner early.
    """

    composition: Composition
    decided: Mapping[str, Mapping[str, object]] = attrs.field(factory=dict)
    interrupted: bool = False


def tuned(c: Composition, tuner: Tuner | None, X: Array, seeds: Seeds) -> Tuning:
    """The composition with the values that a tuner decides.

    A tuner never sees a chain of maps: it gets the last map of the chain as the feature map, and as data what enters
    this map in the fit that follows.

    Parameters
    ----------
    c : Composition
    tuner : Tuner or None
        None decides nothing.
    X : ndarray of shape (n, d)
    seeds : Seeds
        Random streams of the fit that follows.
    """
    if tuner is None:
        return Tuning(c)
    before: dict[str, Stage] = {"featuremap": c.featuremap, "solver": c.solver, "labeler": c.labeler}
    chain = c.featuremap if isinstance(c.featuremap, Chain) else None
    if chain is not None:
        before["featuremap"] = chain.maps[-1]
        with NamingStage(chain):
            X = chain.entering_last(X, Task(len(X), c.n_clusters), seeds.stream("featuremap"))
    with NamingStage(tuner):
        answer = tuner.for_clusters(c.n_clusters).tune(before, X, seeds.stream("tuner"))
    check_instance(tuner, "tune", answer, Tuned)
    after: dict[str, Any] = {slot: answer.stages.get(slot) for slot in before}
    for slot, stage in before.items():
        check_instance(tuner, f"tune, under {slot!r},", after[slot], ABSTRACT[stage.kind])
    decided = {slot: changes(stage, after[slot]) for slot, stage in before.items()}
    decided["tuner"] = {"name": tuner.name, **answer.facts, "interrupted": answer.interrupted}
    decided = {slot: facts for slot, facts in decided.items() if facts}
    slots = frozenset(decided) & frozenset(before)
    if chain is not None:
        after["featuremap"] = chain.with_last(after["featuremap"])
    return Tuning(attrs.evolve(c, **after, rows=answer.rows, tuned=slots), decided, answer.interrupted)


def resolve(slot: str, value: object, label: str | None = None) -> Stage | None:
    """The stage that the value of a slot means; None stays None.

    Parameters
    ----------
    slot : str
        A slot of a pipeline, or a kind of stage that is no slot, such as "consensus" and "driver".
    value : str, dict, list, Stage or None
    label : str, optional
        The name of the slot in errors. Default: `slot`.

    Raises
    ------
    UnknownName
        If there is no stage or parameter of this name.
    InvalidParameter
        If the value is of another type, or a parameter is out of range.
    """
    label = label or slot
    kind = KINDS.get(slot, slot)
    if value is None:
        return value
    if isinstance(value, ABSTRACT[kind]):
        if not type(value).__module__.startswith("clusterkit."):  # the laws hold the built-in classes
            who = f"{value.kind} {getattr(value, 'name', type(value).__name__)!r}"
            check_declared(type(value), who, InvalidParameter)
        return value
    if isinstance(value, str):
        if slot == "init":
            return _initialiser(value)
        named: Stage = registry.get(cast("StageKind", kind), value)()
        return named
    if isinstance(value, Mapping):
        parameters = dict(value)
        name = parameters.pop("name", None)
        if not isinstance(name, str):
            raise InvalidParameter(f"{label} given as a dict needs the key 'name', got {value!r}")
        with_defaults = resolve(slot, name, label)
        assert with_defaults is not None
        return with_defaults.with_parameters(**parameters)
    if slot == "featuremap" and isinstance(value, (list, tuple)):
        maps: list[Any] = [resolve(slot, part) for part in value]
        return maps[0] if len(maps) == 1 else Chain(tuple(maps))
    if isinstance(value, type) and issubclass(value, Stage):
        raise InvalidParameter(f"{label} takes a stage, not its class: write {value.__name__}()")
    sequence = ", a list of these" if slot == "featuremap" else ""
    raise InvalidParameter(
        f"{label} takes a name, a dict with 'name' and parameters{sequence}, or a {ABSTRACT[kind].__name__}; "
        f"got {value!r}"
    )


def resolve_tuner(value: TunerLike | None) -> Tuner | None:
    """The tuner that a value means; None for none."""
    return None if value is None else resolve_as(Tuner, "tuner", value)


def resolve_as(kind: type[S], slot: str, value: object) -> S:
    """The stage of a slot that must have one.

    Raises
    ------
    InvalidParameter
        If no stage can be made of the value, also if it is None or "auto".
    """
    stage = None if isinstance(value, str) and value == AUTO else resolve(slot, value)
    if stage is None:
        names = ", ".join(registry.names(KINDS.get(slot, slot)))
        raise InvalidParameter(f"{slot} must name a stage, got {value!r}. Available: {names}.")
    assert isinstance(stage, kind)
    return stage


def measured(featuremap: FeatureMap, metric: str, solver: Solver) -> FeatureMap:
    """The feature map with the map of a metric in front of it, unless it begins with that map anyway.

    "precomputed" takes the place of the map instead, with the kind of matrix that the solver takes.

    Raises
    ------
    InvalidParameter
        If there is no such metric.
    IncompatibleStages
        If rows have no coordinates by the metric, and the map or the solver needs them.
    """
    front = map_of(metric)
    maps = maps_of(featuremap)
    if front is None or maps[0].name == front.name:
        return featuremap
    if front.takes_pairs:
        matrix = _matrix_for(solver)
        if matrix is None:
            reason = f"solver '{solver.name}' works on coordinates"
        elif featuremap.name != "identity" and not issubclass(featuremap.gives, KernelSpace):
            reason = f"featuremap '{featuremap.name}' maps coordinates; with featuremap='identity' the solver takes it"
        else:
            return front.with_parameters(matrix=matrix)
        raise IncompatibleStages(
            f"metric={metric!r}: X is then a matrix of distances or of a kernel, and {reason}. {recipes_of_matrices()}"
        )
    # the identity behind the map of a metric would be one more copy of the rows
    return front if [part.name for part in maps] == ["identity"] else Chain((front, *maps))


def _matrix_for(solver: Solver) -> str | None:
    """The kind of matrix that a solver takes in place of features: distances, or else a kernel; None for no kind."""
    if solver.path(DistanceSpace) is not None:
        return "distances"
    path = solver.path(KernelSpace)
    return None if path is None or issubclass(path.gives, Domain) else "kernel"


def recipes_of_matrices() -> str:
    """The sentence that names the recipes that take a matrix of distances, and those that take one of a kernel."""
    names: dict[str, list[str]] = {"distances": [], "kernel": []}
    for name, entry in registry.available("recipe").items():
        parts = entry.parameters
        if not {"featuremap", "solver"} <= parts.keys():
            continue
        matrix = _matrix_for(resolve_as(Solver, "solver", parts["solver"]))
        featuremap = resolve_as(FeatureMap, "featuremap", parts["featuremap"])
        if matrix and (featuremap.name == "identity" or issubclass(featuremap.gives, KernelSpace)):
            names[matrix].append(name)
    distances, kernels = (", ".join(names[matrix]) for matrix in ("distances", "kernel"))
    return f"These recipes take distances: {distances}; these a kernel: {kernels}"


def map_of(metric: str) -> FeatureMap | None:
    """The feature map of a metric; None for the Euclidean one.

    Raises
    ------
    InvalidParameter
        If there is no such metric.
    """
    if not isinstance(metric, str) or metric not in METRICS:
        raise InvalidParameter(
            f"metric must be one of {', '.join(map(repr, METRICS))}, got {metric!r}. For methods that take distances "
            "featuremap='distances' has others, such as featuremap__metric='manhattan'"
        )
    name = METRICS[metric]
    return None if name is None else resolve_as(FeatureMap, "featuremap", name)


def rows_by(metric: str, X: Array) -> Array:
    """Rows X (n, d), an array or a sparse matrix, as a metric compares them; sparse ones stay so if its map keeps them.

    A precomputed matrix, whose rows have no coordinates, stays as it is.

    Raises
    ------
    InvalidParameter
        If there is no such metric.
    InvalidData
        If the rows are none of this metric, such as columns that are no degrees.
    """
    front = map_of(metric)
    if front is None or metric == "precomputed":
        return X
    samples: Any = X
    if not isinstance(X, np.ndarray):
        samples = SparseRows(X) if front.keeps_sparse else X.toarray()
    space = front.space_of(samples, Task(samples.shape[0], None), np.random.default_rng(0))
    assert isinstance(space, FeatureSpace), "the map of a metric gives features"
    rows: Any = space.rows()
    return rows.csr if isinstance(rows, SparseRows) else rows


def _initialiser(name: str) -> Partitioner:
    """A partitioner by name, or else any recipe by name, wrapped in the partitioner "recipe"."""
    if registry.find("partitioner", name) is None and registry.find("recipe", name) is not None:
        # looked up by name: the class fits an estimator, and estimators are built on this module
        return registry.get("partitioner", "recipe")().with_parameters(recipe=name)
    try:
        return registry.get("partitioner", name)()
    except UnknownName as error:
        recipes = ", ".join(registry.names("recipe"))
        known = where("recipe", name, VARIABLE)
        raise UnknownName(f"{error} A recipe can start too: {known or recipes}.") from None


def resolve_balancer(value: BalancerLike | None, solver: Solver, labeler: Stage | None = None) -> Balancer | None:
    """The balancer; "auto" means the solver's default, or none for a labeler without costs."""
    if value == AUTO:
        costless = labeler is not None and not isinstance(labeler, Codec)
        value = None if costless else solver.default_balancer
    return None if value is None else resolve_as(Balancer, "balancer", value)


def resolve_limits(value: BalancerLike | None, solver: Solver) -> Balancer | None:
    """Size bounds for a solver that enforces them itself: those of `band`, if the balancer is left at "auto"."""
    return resolve_as(Balancer, "balancer", "band") if value == AUTO and solver.own_balance else None


def resolve_labeler(value: LabelerLike, featuremap: FeatureMap, solver: Solver, k: int | None) -> Labeler:
    """The labeler; "auto" follows from the outcome of the solver and the number of clusters k.

    Raises
    ------
    NeedsClusters
        If "auto" is a labeler that does not find the number of clusters, and k is None.
    """
    if isinstance(value, str) and value == AUTO:
        path = solver.path(featuremap.gives)
        if solver.default_labeler is not None:
            value = solver.default_labeler
        elif path is not None:
            value = outcome_labeler(path.gives, solver.codings, k)
        else:  # the solver does not work on this space: with any labeler the compatibility check then says so
            value = "argmax"
        labeler = resolve_as(Labeler, "labeler", value)
        if k is None and not labeler.finds_k:
            raise NeedsClusters(
                f"n_clusters is needed: solver '{solver.name}' with labeler='auto' does not find the number of "
                f"clusters (labeler='threshold' always makes two). {OFFER}"
            )
        return labeler
    if value is None:
        raise InvalidParameter("labeler must not be None; 'auto' chooses one")
    return resolve_as(Labeler, "labeler", value)


def with_parameter(slot: str, stage: Stage, key: str, value: object) -> Stage:
    """The stage of a slot with one parameter changed.

    A key ``inner__parameter`` reaches a stage that is itself a parameter. In a chain the key is ``map__parameter``, or
    a parameter alone, which then belongs to the last map that has it.
    """
    if not isinstance(stage, Chain):
        head, _, rest = key.partition("__")
        inner = stage.parameters().get(head)
        if rest and isinstance(inner, Stage):
            return stage.with_parameters(**{head: with_parameter(slot, inner, rest, value)})
        return stage.with_parameters(**{key: value})
    head, _, rest = key.partition("__")
    if rest:
        names = [part.name for part in stage.maps]
        if head not in names:
            raise UnknownName(f"no map named {head!r} in the chain. {nearest_names(head, names)}")
        index = names.index(head)
    else:
        index, rest = stage.owner(head), head
    maps = list(stage.maps)
    maps[index] = maps[index].with_parameters(**{rest: value})
    return Chain(tuple(maps))


def deep_parameters(slot: str, stage: Stage | None) -> dict[str, object]:
    """Parameters of a stage under their nested names, ``slot__parameter`` or ``slot__map__parameter``."""
    if stage is None:
        return {}
    if isinstance(stage, Chain):
        return {
            f"{slot}__{part.name}__{name}": value for part in stage.maps for name, value in part.parameters().items()
        }
    return {f"{slot}__{name}": value for name, value in stage.parameters().items()}


def changes(before: Stage, after: Stage) -> dict[str, object]:
    """Parameters of `after` that differ from those of `before`; for two chains the parameters of all maps."""
    if isinstance(before, Chain) and isinstance(after, Chain):
        by_name: dict[str, Any] = {}
        for one, other in zip(before.maps, after.maps, strict=True):
            by_name.update(changes(one, other))
        return by_name
    old = before.parameters()
    return {name: value for name, value in after.parameters().items() if old.get(name) != value}


def alternatives(c: Composition) -> dict[str, list[str]]:
    """Single changes that would make the composition legal: numbers of clusters and starts, and stages by slot."""
    fits = _numbers(c)
    for slot, kind in SLOTS.items():
        if getattr(c, slot) is None:
            continue
        names = ["None"] if slot == "balancer" and not problems(attrs.evolve(c, balancer=None)) else []
        for name, stage in registry.specimens(kind).items():
            change: dict[str, Any] = {slot: stage}
            if not problems(attrs.evolve(c, **change)):
                names.append(name)
        fits[slot] = names
    return fits


def _numbers(c: Composition) -> dict[str, list[str]]:
    """Numbers of clusters and starts that make the composition legal when only that number changes."""
    limits = [most for most in (c.labeler.max_clusters, c.solver.max_clusters) if most is not None]
    tried: dict[str, Any] = {"n_clusters": min(limits, default=None), "n_init": 1}
    return {
        name: [str(value)]
        for name, value in tried.items()
        if value is not None and value != getattr(c, name) and not problems(attrs.evolve(c, **{name: value}))
    }


def check(c: Composition) -> None:
    """Raise `IncompatibleStages` with every reason and the legal names of every slot."""
    broken = problems(c)
    if not broken:
        return
    reasons = "; ".join(f"{problem.slot}: {problem.reason}" for problem in broken)
    fits = [f"{slot}: {', '.join(names)}" for slot, names in alternatives(c).items() if names]
    advice = (
        f" With one change, these fit: {'; '.join(fits)}."
        if fits
        else " No single change makes it work; `clusterkit compositions` lists what does."
    )
    raise IncompatibleStages(f"{reasons}.{advice}")


def legal_compositions() -> Iterator[Composition]:
    """Every legal mix of registered stages with their default parameters; a number only where it is not found."""
    stages: dict[str, list[Any]] = {slot: [*registry.specimens(kind).values()] for slot, kind in SLOTS.items()}
    for solver in stages["solver"]:
        inits = [None] if solver.targets == "never" else stages["init"]
        for featuremap, labeler in product(stages["featuremap"], stages["labeler"]):
            if problems(Composition(featuremap, solver, labeler)):
                continue  # whatever the other stages are
            for balancer, init, k in product((None, *stages["balancer"]), inits, (None, 2, 3)):
                c = Composition(featuremap, solver, labeler, balancer, init, k)
                if labeler.finds_k == (k is None) and not problems(c):
                    yield c


def is_open(value: object) -> bool:
    """Whether the number of clusters is to be chosen: "auto", or a pair (least, most).

    Examples
    --------
    >>> is_open("auto"), is_open((2, 8)), is_open(3), is_open(None)
    (True, True, False, False)
    """
    return (isinstance(value, str) and value == AUTO) or isinstance(value, tuple | list)


def limits_of(value: object, fewest: int = 2) -> tuple[int, int] | None:
    """The least and the most number of clusters to choose from; None for "auto", which has no limits.

    Raises
    ------
    InvalidParameter
        If the pair is none of integers in ascending order, from `fewest` on.
    """
    if isinstance(value, str) or value is None:
        return None
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    if len(pair) == 2 and is_count(pair[0], fewest) and is_count(pair[1], int(pair[0])):
        return int(pair[0]), int(pair[1])
    one = len(pair) == 2 and pair[0] == 1 < fewest
    why = ". One cluster is compared with several by recipe 'mixture' on a table; see perhaps_one_cluster_ elsewhere"
    raise InvalidParameter(
        f"n_clusters as a range must be two integers (least, most) with {fewest} <= least <= most, got "
        f"{value!r}{why if one else ''}"
    )


def checked_number(value: object) -> int | None:
    """A given number of clusters, or None.

    Raises
    ------
    InvalidParameter
        If the value is anything else; says what may be written.
    """
    if value is None or is_count(value):
        return check_count("n_clusters", value, optional=True)
    shown = f"a {type(value).__name__}; samples are for fit" if getattr(value, "shape", ()) else repr(value)
    raise InvalidParameter(f"n_clusters must be an integer >= 1, 'auto', a range (least, most) or None, got {shown}")
