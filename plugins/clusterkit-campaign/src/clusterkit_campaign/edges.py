"""The edges of what is allowed: piles of equal rows, more clusters than distinct rows, forged models, weights, bounds.

`EDGES` has a generator of problems for each item of the area. A case takes a part of the recipes, parameters or forged
files; the next round takes the next part.
"""

from __future__ import annotations

import copy
import math
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
from sklearn.utils.validation import has_fit_parameter

from clusterkit import __version__, saving
from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts.registry import ABSTRACT, registry
from clusterkit.errors import ClusterkitWarning, InvalidModelFile
from clusterkit.estimators.loading import load
from clusterkit_campaign.findings import DOCUMENTED, SILENT, UNCLEAR, Problem, of_error
from clusterkit_campaign.fits import Answer, Subject, compositions_with, fitted, of_recipe, recipes_with
from clusterkit_campaign.odd_parameters import SLOT_OF

__all__ = ["EDGES", "check_edge"]

RECIPES = 20
"""Recipes of a case: more than half of all, so that two rounds have all."""

BOUNDS, PARTS = 80, 4
"""Values of parameters of a case, and such cases of a round: two rounds have all of the built-in stages."""

FORGED, FORGED_RECIPES = 200, 5
"""Forged files of a case, and the recipes whose models they were."""

COMPOSITIONS = 20
"""Compositions of a case that are fitted, saved and asked row by row."""

TIES = 1e-5
"""Scores that differ by less, relative to the largest, may be told apart by the rounding of a batch."""

SLOWEST = frozenset({"mmc", "gmmc-sdp", "auto", "emmc-auto"})
"""Recipes that a case leaves to the other areas: they take seconds for a fit of few rows."""

Found: TypeAlias = Iterator[tuple[Problem, str]]
"""Problems with the programs that show them."""


def check_edge(item: str, counts: Counter[str], seed: int, round_number: int) -> list[tuple[Problem, str]]:
    """The problems of a case, with the programs that show them."""
    return list(EDGES[item](np.random.default_rng([seed, 5]), counts, round_number))


def _recipes(round_number: int) -> list[str]:
    """The part of the recipes that a round takes."""
    names = [name for name in sorted(registry.available("recipe")) if name not in SLOWEST]
    first = round_number * RECIPES
    return [names[(first + i) % len(names)] for i in range(min(RECIPES, len(names)))]


def _piles(rng: Rng, sizes: list[int], d: int) -> Array:
    """Rows that repeat a few points, which are distinct and not negative, in random order."""
    points = 3 * rng.permutation(4 * len(sizes))[: len(sizes), None] + rng.integers(0, 3, (len(sizes), d))
    return rng.permutation(np.repeat(points.astype(np.float64), sizes, axis=0))


def _parted(X: Array, labels: Labels) -> int:
    """Number of points whose rows have several labels."""
    return sum(len(np.unique(labels[(point == X).all(axis=1)])) > 1 for point in np.unique(X, axis=0))


def _heard(subject: Subject, X: Array, k: int, counts: Counter[str]) -> tuple[Answer, list[str], list[Problem]]:
    """A fit, the warnings of the library, and the problems that the fit itself has."""
    counts["fits"] += 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = error = None
        try:
            model = subject.estimator(k, 0).fit(X)
        except Exception as raised:
            error = raised
    ours = [str(each.message) for each in caught if issubclass(each.category, ClusterkitWarning)]
    others = [each for each in caught if not issubclass(each.category, ClusterkitWarning)]
    problems = [Problem(UNCLEAR, f"{each.category.__name__} of a fit", str(each.message)[:400]) for each in others]
    if error is not None and (problem := of_error(error)) is not None:
        problems.append(problem)
    return Answer(model, error, ()), ours, problems


def _program(subject: Subject, X: Array, k: int) -> str:
    return (
        "import numpy as np\nfrom clusterkit import Pipeline, recipe\n"
        f"print({subject.program(k)}.fit(np.array({X.tolist()!r}, {X.dtype.str!r})).labels_)"
    )


def _by_contours(name: str) -> bool:
    """Whether a recipe finds the number of clusters by contours of a kernel, and looks at every row for it."""
    each = registry.get("recipe", name)
    by_kernel = each.clusters == "found" and each.parameters.get("featuremap") == "rbf"
    return by_kernel and each.parameters.get("labeler__start") != "strip"


def _piles_of_equal_rows(rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """Equal rows share a label, or the fit says that sizes part them; who finds the number finds the piles or warns."""
    sizes = np.geomspace(8, 400, 100).astype(int)[rng.integers(0, 100, size=int(rng.integers(2, 5)))].tolist()
    X = _piles(rng, sizes, int(rng.integers(1, 4)))
    by_contours = [name for name in registry.available("recipe") if _by_contours(name)]
    for name in dict.fromkeys([*_recipes(round_number), *sorted(by_contours)]):
        subject = of_recipe(name)
        k = 2 if subject.clusters == "two" else len(sizes)
        answer, ours, problems = _heard(subject, X, k, counts)
        if answer.model is not None:
            problems += _of_equal_rows(answer.model, X, ours)
            number = answer.model.n_clusters_
            if name in by_contours and number < len(sizes) and not ours:
                text = f"{number} clusters of {len(sizes)} piles"
                problems.append(Problem(SILENT, "piles of equal rows are joined without a warning", text))
        yield from ((problem, _program(subject, X, k)) for problem in problems)


def _groups_in_many_columns(rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """Few distinct rows of many columns are as many clusters, with their number and without, or the fit warns."""
    sizes = rng.integers(20, 60, size=int(rng.integers(2, 9)))
    X = rng.permutation(np.repeat(rng.normal(size=(len(sizes), int(rng.integers(5, 60)))), sizes, axis=0))
    for name in dict.fromkeys([*_recipes(round_number), "embeddings"]):
        subject = of_recipe(name)
        if subject.clusters == "two":
            continue
        variants = [subject, attrs.evolve(subject, clusters="given")] if name == "embeddings" else [subject]
        for each in variants:
            answer, ours, problems = _heard(each, X, len(sizes), counts)
            if answer.model is not None:
                problems += _of_equal_rows(answer.model, X, ours)
                number = answer.model.n_clusters_
                if number < len(sizes) and all("different units" in text for text in ours):
                    text = f"{number} clusters of {len(sizes)} groups"
                    problems.append(Problem(SILENT, "groups of equal rows are joined without a warning", text))
            yield from ((problem, _program(each, X, len(sizes))) for problem in problems)


def _directions(rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """Rows that differ in length alone are as many clusters of embeddings as directions, or the fit warns."""
    sizes = rng.integers(3, 60, size=int(rng.integers(2, 9)))
    X = np.repeat(rng.normal(size=(len(sizes), int(rng.integers(5, 60)))), sizes, axis=0)
    X = rng.permutation((X * rng.uniform(0.5, 2.0, (len(X), 1))).astype(np.float32))
    subject = of_recipe("embeddings")
    answer, ours, problems = _heard(subject, X, len(sizes), counts)
    if answer.model is not None and answer.model.n_clusters_ != len(sizes) and not ours:
        text = f"{answer.model.n_clusters_} clusters of {len(sizes)} directions"
        problems.append(Problem(SILENT, "rows equal up to rounding are no clusters, and no warning", text))
    yield from ((problem, _program(subject, X, len(sizes))) for problem in problems)


def _more_clusters_than_rows(rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """Every fit says so if fewer rows are distinct than clusters are asked for."""
    points = int(rng.integers(2, 5))
    X = _piles(rng, [5] * points, 2)
    if rng.random() < 0.5:
        X = X[:, :1] * np.array([[1.0, 2.0]])  # on a ray, of which a factorisation has many
    k = int(rng.integers(points, points + 3))
    distinct = len(np.unique(X, axis=0))
    for name in _recipes(round_number):
        subject = of_recipe(name)
        if subject.clusters != "given":
            continue
        answer, ours, problems = _heard(subject, X, k, counts)
        if answer.model is not None:
            problems += _of_equal_rows(answer.model, X, ours)
            if distinct < k and not ours:
                problems.append(
                    Problem(SILENT, "more clusters than distinct rows, and no warning", f"{distinct} < {k}")
                )
        yield from ((problem, _program(subject, X, k)) for problem in problems)


def _of_equal_rows(model: Any, X: Array, ours: list[str]) -> Iterator[Problem]:
    parted = _parted(X, model.labels_)
    counted = any("points_parted" in facts for facts in model.resolved_.values() if isinstance(facts, Mapping))
    if parted and not counted and not any("different clusters" in text for text in ours):
        yield Problem(SILENT, "equal rows have different labels without a word", f"at {parted} points")


LEGAL: tuple[object, ...] = (0, 1, math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0), 1e-300, 1e300, None)
"""Values that are the bound of some parameter, or next to it."""


@cache
def _bounds() -> tuple[tuple[str, str, str, object], ...]:
    """Kind, name, parameter and value: every value of `LEGAL`, and every word, that a parameter of a stage takes.

    0 and 1, which are bounds themselves, come first: the first round of a campaign has all of them.
    """
    legal = []
    for kind in SLOT_OF:
        assert kind in ABSTRACT
        for name, stage in registry.specimens(kind).items():
            for field in attrs.fields(type(stage)):
                if field.init:
                    values = (*LEGAL, *field.metadata.get("options", ()))
                    legal += [(kind, name, field.name, value) for value in values if _takes(stage, field.name, value)]
    order = np.random.default_rng(0).permutation(len(legal))
    return tuple(sorted((legal[i] for i in order), key=lambda each: each[-1] not in (0, 1)))


def _takes(stage: Any, name: str, value: object) -> bool:
    try:
        stage.with_parameters(**{name: value})
    except Exception:  # refusals are checked in another area
        return False
    return True


def _legal_bounds(part: int, rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """The bounds of parameters on rows at fewer points than clusters: an answer, or a documented refusal."""
    X, every = _piles(rng, [6, 6, 6], int(rng.integers(1, 4))), _bounds()
    for position in range(BOUNDS):
        kind, name, parameter, value = every[((PARTS * round_number + part) * BOUNDS + position) % len(every)]
        names = [each for each in recipes_with(kind, name) if each not in SLOWEST]
        subjects = compositions_with(kind, name) if not names and kind != "tuner" else ()
        if not names and not subjects:
            continue
        drawn = int(rng.integers(2**31))
        subject = of_recipe(names[drawn % len(names)]) if names else subjects[drawn % len(subjects)]
        subject = subject.changed(**{f"{SLOT_OF[kind]}__{parameter}": value})
        counts["parameters"] += 1
        for k in (2, 5):
            _, _, problems = _heard(subject, X, k, counts)
            yield from ((problem, _program(subject, X, k)) for problem in problems)


def _weights(rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """Weights at the ends of the numbers: an answer that is finite, or a documented refusal."""
    X = rng.normal(size=(30, 2)) + np.repeat([[0.0], [6.0]], 15, axis=0)
    kinds = [
        np.full(30, 10.0 ** int(rng.integers(-320, 309))),
        10.0 ** rng.uniform(-300, 300, size=30),
        10.0 ** rng.uniform(-30, 30, size=30),
        np.r_[1e30, np.full(29, 1e-30)],
        np.r_[1.0, np.zeros(29)],
    ]
    for name in _recipes(round_number):
        subject = of_recipe(name)
        for weights in kinds:
            counts["fits"] += 1
            problem = None
            program = f"{subject.program()}.fit(X, sample_weight={weights.tolist()!r})"
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", ClusterkitWarning)
                try:
                    model: Any = subject.estimator()
                    if has_fit_parameter(model, "sample_weight"):
                        model.fit(X, sample_weight=weights)
                except Exception as error:
                    problem = of_error(error)
            if problem is not None:
                yield problem, program


def _forged_models(rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """Models in which values were exchanged: an `InvalidModelFile`, or a model that answers."""
    X = rng.normal(size=(24, 3)) ** 2 + np.repeat([[0.0], [6.0]], 12, axis=0)
    for name in rng.permutation(_recipes(round_number))[:FORGED_RECIPES].tolist():
        answer = fitted(of_recipe(name), X, 2, 0)
        if answer.model is None:
            continue
        packed = saving.pack(answer.model)
        for _ in range(FORGED // FORGED_RECIPES):
            counts["files"] += 1
            tree: Any = {**copy.deepcopy(packed.tree()), "clusterkit": __version__, "facts": {}}
            tensors = dict(packed.tensors)
            what = [_forge(tree, tensors, rng) for _ in range(int(rng.integers(1, 3)))]
            problem = _answer_of_forged(tree, tensors, X)
            if problem is not None:
                program = f"# {of_recipe(name).program()}, fitted, saved, and in the file: {'; '.join(what)}"
                yield attrs.evolve(problem, message=f"{'; '.join(what)}: {problem.message}"), program


def _forge(tree: Any, tensors: dict[str, Any], rng: Rng) -> str:
    """Change one value, in place; says which."""
    values: tuple[object, ...] = (None, -1, 0, 1, 2, 7, 10**6, "x", True, 0.5, {"float": "nan"}, {"float": "inf"})
    objects = [node for node in tree["nodes"] if node.get("fields")]
    node, other = (objects[int(rng.integers(len(objects)))] for _ in range(2))
    name, theirs = (sorted(each["fields"])[int(rng.integers(len(each["fields"])))] for each in (node, other))
    place = f"{tree['classes'][node['class']][1]}.{name}"
    kind = int(rng.integers(4))
    if kind == 0 and len(node["fields"]) > 1:
        del node["fields"][name]
        return f"no {place}"
    if kind == 1:
        node["fields"][name] = other["fields"][theirs]
        return f"{place} is {theirs} of another object"
    if kind == 2 and tensors:
        which = sorted(tensors)[int(rng.integers(len(tensors)))]
        array = tensors[which]
        shapes = [(array.size,), (1, array.size), (array.size, 1), array.shape[::-1]]
        tensors[which] = array.reshape(shapes[int(rng.integers(4))])
        return f"tensor {which} has the shape {tensors[which].shape}"
    node["fields"][name] = values[int(rng.integers(len(values)))]
    return f"{place} is {node['fields'][name]!r}"


def _answer_of_forged(tree: Any, tensors: dict[str, Any], X: Array) -> Problem | None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.clusterkit"
        saving.write(path, saving.Content(tree, tensors))
        try:
            model: Any = load(path)
            for method in ("predict", "transform", "decision_function"):
                if hasattr(model, method) and len(getattr(model, method)(X)) != len(X):
                    return Problem(SILENT, "a forged model answers for another number of rows")
        except Exception as error:
            return of_error(error, documented=(*DOCUMENTED, InvalidModelFile))
    return None


def _saved_and_row_by_row(rng: Rng, counts: Counter[str], round_number: int) -> Found:
    """Compositions that are fitted, saved and loaded: they label a row alone as in a batch, but for ties."""
    every = compositions_with()
    X = rng.normal(size=(20, 3)) ** 2 + np.repeat([[0.0], [5.0]], 10, axis=0)
    for _ in range(COMPOSITIONS):
        subject = every[int(rng.integers(len(every)))]
        answer = fitted(subject, X, 2, 0)
        counts["fits"] += 1
        if answer.model is None or not hasattr(answer.model, "predict"):
            continue
        try:
            what = _differing(answer.model, X)
        except Exception as error:
            problem = of_error(error, documented=())
        else:
            problem = None if what is None else Problem(SILENT, what)
        if problem is not None:
            yield problem, _program(subject, X, 2)


def _differing(model: Any, X: Array) -> str | None:
    """Difference of a loaded model, or of a row alone, in words; None if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clusterkit"
        model.save(path)
        loaded: Any = load(path)
    labels = model.predict(X)
    if not np.array_equal(loaded.predict(X), labels):
        return "a loaded model predicts other labels"
    alone = np.concatenate([model.predict(row[None]) for row in X])
    differing = np.flatnonzero(alone != labels)
    if len(differing) and hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        scores = np.stack([scores, -scores], axis=1) if scores.ndim == 1 else scores
        two = np.sort(scores, axis=1)[differing, -2:]
        differing = differing[two[:, 1] - two[:, 0] > TIES * np.abs(scores).max()]
    return "a row alone has another label than in a batch" if len(differing) else None


EDGES: Mapping[str, Callable[[Rng, Counter[str], int], Found]] = {
    "piles of equal rows": _piles_of_equal_rows,
    "groups in many columns": _groups_in_many_columns,
    "directions": _directions,
    "more clusters than rows": _more_clusters_than_rows,
    **{f"legal bounds, part {part + 1}": partial(_legal_bounds, part) for part in range(PARTS)},
    "weights": _weights,
    "forged models": _forged_models,
    "saved, and row by row": _saved_and_row_by_row,
}
"""The items of the area by name."""
