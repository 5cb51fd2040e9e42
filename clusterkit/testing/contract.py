"""The contract: what every stage class must be, whatever its kind."""

from __future__ import annotations

import ast
import atexit
import copy
import functools
import json
import pickle
import re
import subprocess
import sys
from typing import Any

import attrs

from clusterkit.contracts import Stage
from clusterkit.contracts.declared import undeclared
from clusterkit.contracts.registry import ABSTRACT
from clusterkit.errors import UnknownName
from clusterkit.testing.law import Law, law

LAWS: list[Law] = []
"""The laws of every stage, whatever its kind; filled by the decorator `law`."""

HEAVY = ("sklearn", "scipy", "numba", "cvxpy", "matplotlib", "pandas", "torch")
"""Packages that the module of a stage must not import at its top: listing the stages would take as long."""


@law(LAWS)
def is_final_and_frozen(stage: Stage) -> None:
    """The class is decorated with typing.final and attrs.frozen, and says which abstract stage it is."""
    cls: Any = type(stage)
    assert getattr(cls, "__final__", False), f"decorate {cls.__name__} with typing.final"
    assert attrs.has(cls), f"decorate {cls.__name__} with attrs.frozen"
    abstract = ABSTRACT[stage.kind]
    assert isinstance(stage, abstract), f"kind {stage.kind!r}, but it is no {abstract.__name__}"
    for name in stage.parameters():
        try:
            setattr(stage, name, None)
        except attrs.exceptions.FrozenInstanceError:
            continue
        raise AssertionError(f"parameter {name} can be assigned to: use attrs.frozen")


@law(LAWS)
def has_a_plain_name(stage: Stage) -> None:
    """`kind` is one of the kinds, `name` is lower_snake."""
    cls = type(stage)
    assert cls.kind in ABSTRACT, f"kind {cls.kind!r}, which is none of {sorted(ABSTRACT)}"
    name = getattr(cls, "name", None)
    assert isinstance(name, str), "the class attribute `name` is missing"
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name), f"name {name!r} is not lower_snake"


@law(LAWS)
def declares_capabilities_of_its_kind(stage: Stage) -> None:
    """Class variables are capabilities of the kind, under their names and of their types (`capabilities`)."""
    problems = undeclared(type(stage))
    assert not problems, "; ".join(problems)


@law(LAWS)
def constructs_without_arguments(stage: Stage) -> None:
    """Every parameter has a default, so that the class can be tried where its name is offered."""
    cls: Any = type(stage)
    assert cls() == cls()


@law(LAWS)
def equal_objects_hash_alike(stage: Stage) -> None:
    """Stages compare by their parameters; equal ones have one hash."""
    again = stage.with_parameters(**stage.parameters())
    assert again == stage
    assert again is not stage
    assert hash(again) == hash(stage), "equal stages hash differently"


@law(LAWS)
def survives_pickle_and_copy(stage: Stage) -> None:
    """A pickled, copied or deep-copied stage equals it."""
    assert pickle.loads(pickle.dumps(stage)) == stage
    assert copy.copy(stage) == stage
    assert copy.deepcopy(stage) == stage


@law(LAWS)
def documents_itself(stage: Stage) -> None:
    """The class has a docstring, whose Parameters section names every parameter; a default that it states is true."""
    text = type(stage).__doc__ or ""
    assert text.strip(), "no docstring"
    for field in attrs.fields(type(stage)):
        if not field.init:
            continue
        # numpydoc: "name : type, default X", or several names before one colon
        line = re.search(rf"^\s*(?:\w+, )*{field.name}(?:, \w+)* :(.*)$", text, re.MULTILINE)
        assert line, f"the docstring lacks '{field.name} :'"
        _, says, value = line[1].partition(", default ")
        if says:
            default = getattr(type(stage)(), field.name)
            default = default.name if isinstance(default, Stage) else default
            assert _literal(value) == default, (
                f"the docstring says '{field.name} :{line[1]}', and the default is {default!r}"
            )


def _literal(text: str) -> object:
    """The value that a text writes; the text itself where it writes none, as the name of an object does."""
    try:
        return ast.literal_eval(text.strip().rstrip("."))
    except (ValueError, SyntaxError):
        return text.strip()


@law(LAWS)
def refuses_values_out_of_range(stage: Stage) -> None:
    """Every value that the metadata of a field call invalid is refused by an error with stage, parameter and value."""
    cls: Any = type(stage)
    for field in attrs.fields(cls):
        for value in field.metadata.get("invalid", ()):
            try:
                cls(**{field.name: value})
            except ValueError as error:
                message = str(error)
            else:
                raise AssertionError(f"{field.name} = {value!r} was accepted")
            for part in (f"{cls.kind} '{cls.name}'", field.name, repr(value)):
                assert part in message, f"{part} is not in the message: {message}"


@law(LAWS)
def offers_the_nearest_parameter(stage: Stage) -> None:
    """A parameter that does not exist is refused with the names that do."""
    for wrong in [name + "x" for name in stage.parameters()] or ["alpha"]:
        try:
            stage.with_parameters(**{wrong: 1})
        except UnknownName as error:
            message = str(error)
        else:
            raise AssertionError(f"with_parameters({wrong}=1) was accepted")
        assert f"{stage.kind} '{stage.name}' has no parameter {wrong!r}" in message
        assert wrong[:-1] in message or not stage.parameters()


@law(LAWS)
def tunes_what_it_has(stage: Stage) -> None:
    """`tunable` lists parameters that may be None."""
    cls: Any = type(stage)
    for name in stage.tunable:
        assert name in stage.parameters(), f"tunable names {name!r}, which is no parameter"
        assert cls(**{name: None}).parameters()[name] is None


@law(LAWS, applies=lambda stage: type(stage).__module__ != "__main__")
def imports_nothing_heavy(stage: Stage) -> None:
    """Importing its module loads none of the packages in `HEAVY`; import them inside the methods."""
    loaded = _loaded_by(type(stage).__module__)
    assert not loaded, f"importing {type(stage).__module__} also imports {', '.join(loaded)}"


@functools.cache
def _loaded_by(module: str) -> tuple[str, ...]:
    """Heavy packages in a fresh interpreter after importing a module."""
    process = _importer() if FORKS else _new_importer()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps([module, sys.path]) + "\n")
    process.stdin.flush()
    loaded, error = json.loads(process.stdout.readline() or '[[], "its import ends the process"]')
    assert not error, f"{module} cannot be imported on its own:\n{error}"
    return tuple(loaded)


FORKS = sys.platform == "linux"
"""Whether one interpreter imports a module in a copy of itself, which saves the time to start and to import numpy."""

_IMPORTER = f"""
import json, os, sys, traceback
for line in sys.stdin:
    module, sys.path = json.loads(line)
    import clusterkit.contracts.composition  # with all that every stage needs
    if {FORKS} and os.fork():
        os.wait()
        continue
    error = ""
    try:
        __import__(module)
    except BaseException:
        error = traceback.format_exc()
    print(json.dumps([[name for name in {HEAVY!r} if name in sys.modules], error]), flush=True)
    os._exit(0)
"""


@functools.cache
def _importer() -> subprocess.Popen[str]:
    """An interpreter that imports one module after another, each in a copy of itself."""
    process = _new_importer()
    atexit.register(process.communicate)
    return process


def _new_importer() -> subprocess.Popen[str]:
    """An interpreter that reads the name of a module and where modules are, and answers with what the import loads."""
    return subprocess.Popen([sys.executable, "-c", _IMPORTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
