"""Odd values for every declared parameter of every stage: refused with the documented error, or fitted as promised."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, final

import attrs
import numpy as np

from clusterkit.contracts import Stage
from clusterkit.contracts.registry import ABSTRACT, registry
from clusterkit.errors import NeedsMemory
from clusterkit_campaign.data_sets import awkward_sets
from clusterkit_campaign.findings import SILENT, UNCLEAR, Problem, of_error
from clusterkit_campaign.fits import (
    Subject,
    Trial,
    check_trial,
    composition_of,
    compositions_with,
    of_recipe,
    recipes_with,
)

__all__ = ["ODD_VALUES", "OddCase", "check_odd_case", "odd_cases"]

ODD_VALUES: Mapping[str, object] = {
    "None": None, "True": True, "False": False, "numpy True": np.True_,
    "0": 0, "1": 1, "2": 2, "3": 3, "7": 7, "-1": -1, "10**9": 10**9, "2**31 - 1": 2**31 - 1, "2**31": 2**31,
    "2**53 + 1": 2**53 + 1,
    "2**63": 2**63, "10**30": 10**30, "10**400": 10**400, "-(2**63)": -(2**63),
    "0.0": 0.0, "-0.0": -0.0, "0.5": 0.5, "1.0": 1.0, "1 - 1e-16": 1 - 1e-16, "1 + 1e-15": 1 + 1e-15,
    "-0.5": -0.5, "2.5": 2.5,
    "1e-3": 1e-3, "1e-12": 1e-12, "1e-150": 1e-150, "1e-300": 1e-300, "1e-320": 1e-320, "1e12": 1e12,
    "1e150": 1e150, "1e300": 1e300, "1e308": 1e308,
    "nan": math.nan, "inf": math.inf, "-inf": -math.inf,
    "Fraction(1, 3)": Fraction(1, 3), "Fraction(4)": Fraction(4), "Decimal('0.5')": Decimal("0.5"), "0.5j": 0.5j,
    "np.float16(0.5)": np.float16(0.5), "np.float32(0.1)": np.float32(0.1), "np.float64(2)": np.float64(2),
    "np.longdouble(0.5)": np.longdouble(0.5),
    "np.int8(2)": np.int8(2), "np.uint64(3)": np.uint64(3), "np.array(2)": np.array(2),
    "np.array([0.5])": np.array([0.5]),
    "''": "", "'1'": "1", "'auto'": "auto", "'no such word'": "no such word",
    "a word with a control character": "a\x1b[31mb", "b'1'": b"1",
    "()": (), "(1,)": (1,), "(1.0, 2.0)": (1.0, 2.0), "[0.5, 2]": [0.5, 2], "(2.0, 1.0)": (2.0, 1.0),
    "(nan, 1)": (math.nan, 1), "((1,),)": ((1,),),
    "{}": {}, "{'name': 'x'}": {"name": "x"}, "set()": frozenset(), "object()": object(), "int": int, "len": len,
    "Ellipsis": ...,
}  # fmt: skip
"""Values by the words that write them."""

OF_THE_FIELD = "of the field: "
"""Beginning of the names of values that a field declares itself: words to choose from, and values to refuse."""


@final
@attrs.frozen
class OddCase:
    """One value for one parameter.

    Parameters
    ----------
    kind, name : str
        Kind and name of the stage; the kind is "estimator" for parameters of a pipeline.
    parameter : str
    value : str
        Key of `ODD_VALUES`, or a value that the field declares.
    """

    kind: str
    name: str
    parameter: str
    value: str


ESTIMATOR = (
    "n_clusters", "n_init", "max_iter", "random_state", "verbose", "featuremap", "solver", "labeler", "balancer",
    "init", "tuner",
)  # fmt: skip
"""Parameters of the estimator itself."""


@cache
def odd_cases(kind: str | None = None, name: str | None = None) -> tuple[OddCase, ...]:
    """Every value for every parameter of the registered stages and of the estimator, or of one stage."""
    cases = []
    for stage_kind in ABSTRACT if kind is None else [kind]:
        for stage_name, stage in registry.specimens(stage_kind).items():
            if name is None or stage_name == name:
                cases += list(_of_stage(stage_kind, stage_name, stage))
    if kind is None:
        cases += [OddCase("estimator", "kmeans", parameter, value) for parameter in ESTIMATOR for value in ODD_VALUES]
    return tuple(cases)


def _of_stage(kind: str, name: str, stage: Stage) -> Iterator[OddCase]:
    for field in _fields(stage):
        words = [f"{OF_THE_FIELD}{position}" for position, _ in enumerate(_declared(field))]
        yield from (OddCase(kind, name, field.name, value) for value in (*ODD_VALUES, *words))


def _fields(stage: Stage) -> list[attrs.Attribute[Any]]:
    return [field for field in attrs.fields(type(stage)) if field.init]


def _declared(field: attrs.Attribute[Any]) -> tuple[object, ...]:
    return (*field.metadata.get("options", ()), *field.metadata.get("invalid", ()))


def check_odd_case(case: OddCase, counts: Counter[str], seed: int) -> list[tuple[Problem, str]]:
    """Construct, and fit where the value is accepted; problems with the programs that show them.

    Parameters
    ----------
    case : OddCase
    counts : Counter
        Raised by "parameters", by "accepted", and by the fits made.
    seed : int
        Chooses the recipe or composition that the stage is fitted in.
    """
    counts["parameters"] += 1
    if (case.parameter, case.value) == ("n_clusters", "'auto'"):
        return []  # a search over numbers, which has no composition that the checks could be about
    if case.kind == "estimator":
        return _in_a_fit(of_recipe(case.name), case.parameter, ODD_VALUES[case.value], case.value, counts, seed)
    stage = registry.specimens(case.kind)[case.name]
    field = next(each for each in _fields(stage) if each.name == case.parameter)
    value, words, must_refuse = _value(field, case.value)
    program = (
        f"from clusterkit.contracts.registry import registry\n"
        f"registry.get({case.kind!r}, {case.name!r})().with_parameters({case.parameter}={words})"
    )
    try:
        stage.with_parameters(**{case.parameter: value})
    except Exception as error:
        problem = of_error(error)
        if problem is None and case.name not in str(error):
            problem = Problem(UNCLEAR, "the refusal does not name the stage", str(error))
        if problem is None and case.parameter not in str(error):
            problem = Problem(UNCLEAR, "the refusal does not name the parameter", str(error))
        return [] if problem is None else [(problem, program)]
    if must_refuse:
        return [(Problem(SILENT, "a value that the field declares invalid is accepted", words), program)]
    counts["accepted"] += 1
    subject, prefix = _subject(case.kind, case.name, seed)
    if subject is None:
        return []
    return _in_a_fit(subject, prefix + case.parameter, value, words, counts, seed)


def _value(field: attrs.Attribute[Any], key: str) -> tuple[object, str, bool]:
    """The value, how it is written, and whether the field declares that it must be refused."""
    if not key.startswith(OF_THE_FIELD):
        return ODD_VALUES[key], key, False
    position = int(key.removeprefix(OF_THE_FIELD))
    options = field.metadata.get("options", ())
    value = _declared(field)[position]
    return value, repr(value), position >= len(options)


SLOT_OF = {"featuremap": "featuremap", "solver": "solver", "labeler": "labeler", "balancer": "balancer",
           "partitioner": "init", "tuner": "tuner"}  # fmt: skip
"""Kind of stage to the slot of a pipeline."""


def _subject(kind: str, name: str, seed: int) -> tuple[Subject | None, str]:
    """Something to fit that contains a stage, and the prefix of the stage's parameters."""
    if kind == "consensus":
        return None, ""
    prefix = "" if kind == "driver" else f"{SLOT_OF[kind]}__"
    names = recipes_with(kind, name)
    if names:
        return of_recipe(names[seed % len(names)]), prefix
    if kind in ("driver", "tuner"):
        return None, ""
    subjects = compositions_with(kind, name)
    return (subjects[seed % len(subjects)] if subjects else None), prefix


def _in_a_fit(
    subject: Subject, parameter: str, value: object, words: str, counts: Counter[str], seed: int
) -> list[tuple[Problem, str]]:
    data = awkward_sets()[("blobs", "many duplicates", "probabilities")[seed % 3]]
    changed = subject.changed(**{parameter: value})
    estimator = subject.estimator()
    program = (
        "from clusterkit import Pipeline, recipe\n"
        f"{subject.program()}.set_params({parameter}={words})  # .fit({data.name!r} of the corpus)"
    )
    try:
        estimator.set_params(**{parameter: value})
        changed.arguments(2, 0)
        trial = Trial(_Fixed(subject, parameter, value), data, data.drawn(seed), 2, 0, 2)  # type: ignore[arg-type]
        problems = check_trial(trial, counts)
    except NeedsMemory:
        return []
    except Exception as error:
        problem = of_error(error)
        problems = [] if problem is None else [problem]
    return [(problem, program) for problem in problems]


@final
@attrs.frozen
class _Fixed:
    """A subject with one parameter that wins over all others, the number of clusters and the seed too."""

    subject: Subject
    parameter: str
    value: object

    def estimator(self, k: int | None, seed: int) -> Any:
        return self.subject.estimator(k, seed).set_params(**{self.parameter: self.value})

    def composition(self, k: int | None) -> Any:
        return composition_of(self.estimator(k, 0))
