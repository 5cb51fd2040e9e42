"""Every law that applies to a stage: all at once, each as a case of pytest, or for all that a plugin provides."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import attrs

from clusterkit.contracts import Codec, Stage
from clusterkit.contracts.providers import Entry, Plugin
from clusterkit.contracts.registry import ABSTRACT, ABSTRACT_NAMES, StageKind, registry
from clusterkit.errors import UnknownName
from clusterkit.testing.compare import check_recipe_saves
from clusterkit.testing.contract import LAWS as CONTRACT
from clusterkit.testing.law import Law
from clusterkit.testing.laws import CODEC_LAWS, LAWS

if TYPE_CHECKING:
    import pytest

StageOrName: TypeAlias = Stage | type[Stage] | str
"""A stage, its class, or its registered name."""


def check_stage(stage: StageOrName, share: float = 1.0) -> None:
    """Run every law that applies to a stage.

    Parameters
    ----------
    stage : Stage, type or str
        A stage, its class, or its registered name (``"ridge"``, or ``"solver:ridge"`` if several kinds have it).
    share : float, default 1.0
        Share of the hypothesis profile's examples to try, for a stage that takes long.

    Raises
    ------
    AssertionError
        Raised at the first law that is broken; the message names it, what it says and the smallest example that breaks
        it.
    """
    for _, check in laws_of(stage, share):
        check()


def laws_of(stage: StageOrName, share: float = 1.0) -> Iterator[tuple[str, Callable[[], None]]]:
    """Name and check of each law that applies to a stage.

    Parameters
    ----------
    stage : Stage, type or str
    share : float, default 1.0
        Fraction of the examples, see `check_stage`.
    """
    tested = _stage_of(stage)
    for law in _applicable(tested):
        yield law.name, functools.partial(_check, law, tested, share)


def variants(stage: Stage) -> Iterator[tuple[str, Stage]]:
    """The stage with its defaults, then with each word of its parameters that take one of a few words.

    The words come from the fields' metadata ("options"), so nobody has to list them.
    """
    yield "", stage
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(type(stage))
    for field in fields:
        for value in field.metadata.get("options", ()):
            if value != getattr(stage, field.name):
                yield f"[{field.name}={value}]", stage.with_parameters(**{field.name: value})


def parametrize_with_laws(
    kind: str | None = None,
    names: Iterable[str] | None = None,
    distribution: str | None = None,
    share: float = 1.0,
) -> pytest.MarkDecorator:
    """Pytest decorator: one case for each law of each registered stage.

    Parameters
    ----------
    kind : str, optional
        Only this kind.
    names : iterable of str, optional
        Only stages of these names.
    distribution : str, optional
        Only stages that this installed distribution provides: what a plugin's own tests ask for.
    share : float, default 1.0
        Share of the hypothesis profile's examples to try, for stages that take long.

    Returns
    -------
    A decorator for a test function with one argument ``law``, which it calls. Cases with drawn examples have the marker
    ``hypothesis``, as tests have that hypothesis drives: ``pytest -m hypothesis`` runs those that more examples help.
    Cases of variants have the marker ``deep``: ``pytest -m "not deep"`` runs each law for the defaults of the stage.

    Raises
    ------
    UnknownName
        If no registered stage matches: a plugin that is not installed must not pass because it has no tests.

    Examples
    --------
    >>> @parametrize_with_laws(kind="balancer", names=["band"])
    ... def test_laws(law):
    ...     law()
    """
    import pytest

    chosen = None if names is None else set(names)
    entries = [
        entry
        for slot_kind in (ABSTRACT if kind is None else [kind])
        for entry in registry.entries(slot_kind)
        if (chosen is None or entry.name in chosen) and distribution in (None, entry.distribution)
    ]
    if not entries:
        conditions = {"kind": kind, "names": None if chosen is None else sorted(chosen), "distribution": distribution}
        described = ", ".join(f"{key}={value!r}" for key, value in conditions.items() if value is not None)
        seen = "; ".join(
            f"{p.name} of {p.distribution}" + (f" (not used: {p.problem})" if p.problem else "")
            for p in registry.plugins()
        )
        raise UnknownName(f"no registered stage has {described}. Installed plugins: {seen or 'none'}.")
    cases = [
        pytest.param(case, id=case.label, marks=[getattr(pytest.mark, name) for name in case.markers])
        for entry in entries
        for case in cases_of(entry, share)
    ]
    return pytest.mark.parametrize("law", cases)


@final
@attrs.frozen(eq=False)
class LawCase:
    """One law of one stage, to be called.

    Parameters
    ----------
    label : str
        Name that pytest shows.
    run : callable
    draws : bool, default False
        Whether it is checked on drawn examples.
    of_variant : bool, default False
        Whether it is checked for a variant of the stage; the defaults are enough for most runs.
    """

    label: str
    run: Callable[[], None]
    draws: bool = False
    of_variant: bool = False

    @property
    def markers(self) -> list[str]:
        """Names of the markers of pytest that say so."""
        return [name for name, marked in (("hypothesis", self.draws), ("deep", self.of_variant)) if marked]

    def __call__(self) -> None:
        """Check it."""
        self.run()


def cases_of(entry: Entry, share: float) -> Iterator[LawCase]:
    """One case for each law of a registered stage and its variants.

    A stage that does not load or construct is a single case, which fails.

    Parameters
    ----------
    entry : Entry
        Entry of a stage; its name is one that the registry finds.
    share : float
        Fraction of the examples, see `check_stage`.
    """
    where = f"{entry.kind}-{entry.name}"
    try:
        default: Stage = registry.get(cast("StageKind", entry.kind), entry.name)()
        default = default.with_parameters(**default.trial)
    except Exception as problem:  # whatever a plugin does wrong is for its test to show, not for the collection
        yield LawCase(f"{where}-loads", functools.partial(_fail, problem))
        return
    (_, usual), *others = variants(default)
    for law in _applicable(usual):
        yield LawCase(f"{where}-{law.name}", functools.partial(_check, law, usual, share), bool(law.sources))
    for suffix, stage in others:
        for law in _applicable(stage):
            if law not in CONTRACT:  # the contract is about the class
                run = functools.partial(_check, law, stage, share)
                yield LawCase(f"{where}{suffix}-{law.name}", run, bool(law.sources), of_variant=True)


def _fail(problem: Exception) -> None:
    raise problem


def _applicable(stage: Stage) -> list[Law]:
    laws = [*CONTRACT, *LAWS.get(stage.kind, []), *(CODEC_LAWS if isinstance(stage, Codec) else [])]
    return [law for law in laws if law.applies(stage)]


def _check(law: Law, stage: Stage, share: float = 1.0) -> None:
    try:
        law(stage, share)
    except Exception as error:  # an accident inside the stage breaks the law as well
        notes = "\n".join(getattr(error, "__notes__", ()))
        raise AssertionError(
            f"{stage.kind} '{stage.name}' breaks the law {law.name}: {law.statement}\n"
            f"{type(error).__name__}: {error}\n{notes}"
        ) from error


def _stage_of(stage: Any) -> Stage:
    if isinstance(stage, Stage):
        return stage
    if isinstance(stage, type) and issubclass(stage, Stage):
        return stage()
    if not isinstance(stage, str):
        raise TypeError(f"check_stage takes a stage, its class or its name, got {stage!r}")
    kind, _, name = stage.rpartition(":")
    if kind in ABSTRACT:
        return _stage_of(registry.get(kind, name))
    kinds = [kind for kind in ABSTRACT if registry.find(kind, stage) is not None]
    if len(kinds) != 1:
        what = "no kind of stage has" if not kinds else f"{' and '.join(kinds)} have"
        raise UnknownName(f"{what} a stage named {stage!r}; write 'kind:name' or pass the class")
    return _stage_of(registry.get(kinds[0], stage))


PLUGIN_EXAMPLES = 25
"""Examples of each law for a stage of a plugin, as many as pytest tries by default."""


@final
@attrs.frozen
class PluginCheck:
    """Laws that a stage or recipe of a plugin fulfils and breaks.

    Parameters
    ----------
    kind, name : str
    holds : tuple of str
        Names of the laws that hold.
    breaks : tuple of (str, str)
        Names of the laws that do not hold, with the message of each.
    """

    kind: str
    name: str
    holds: tuple[str, ...]
    breaks: tuple[tuple[str, str], ...] = ()


def checks_of(plugin: Plugin, examples: int = PLUGIN_EXAMPLES) -> Iterator[PluginCheck]:
    """Check all that a plugin provides, one after the other; the same result in every run.

    Stages have the laws of the conformance kit. A recipe fits two groups and what it fits can be saved, a command
    prints its help, and everything else loads.

    Parameters
    ----------
    plugin : Plugin
        One of ``clusterkit.plugins()`` that is used.
    examples : int
        Examples of each law of a stage.
    """
    for kind, name in plugin.provides:
        # a name of a built-in reaches the built-in, the longer one the plugin
        reachable = f"{plugin.distribution}:{name}" if (kind, name) in plugin.shadowed else name
        entry = registry.find(kind, reachable)
        laws = [("is_registered", _unreachable)] if entry is None else _checks_of(attrs.evolve(entry, name=reachable))
        holds, breaks = [], []
        with _fixed_examples(examples):
            for law, check in laws:
                try:
                    check()
                except (Exception, SystemExit) as error:  # a plugin's error is a broken law; go on with the others
                    breaks.append((law, f"{type(error).__name__}: {error}"))
                else:
                    holds.append(law)
        yield PluginCheck(kind, name, tuple(holds), tuple(breaks))


def _checks_of(entry: Entry) -> list[tuple[str, Callable[[], object]]]:
    """Name and check of every law of the stage or recipe of an entry."""
    if entry.kind in ABSTRACT_NAMES:
        before = f"{entry.kind}-{entry.name}"  # then "-law", or "[parameter=value]-law" for a variant
        return [(case.label.removeprefix(before).removeprefix("-"), case) for case in cases_of(entry, 1.0)]
    laws: list[tuple[str, Callable[[], object]]] = [("loads", functools.partial(registry.get, entry.kind, entry.name))]
    if entry.kind == "recipe":
        laws.append(("fits_and_can_be_saved", functools.partial(check_recipe_saves, entry.name)))
    elif entry.kind == "command":
        laws.append(("prints_its_help", functools.partial(_prints_help, entry.name)))
    return laws


def _unreachable() -> None:
    raise AssertionError("the registry does not find it")


def _prints_help(name: str) -> None:
    """The command loads, and its help ends without an error."""
    from click.testing import CliRunner

    command: Any = registry.get("command", name)
    answer = CliRunner().invoke(command, ["--help"])
    assert answer.exit_code == 0, f"--help ends with exit code {answer.exit_code}: {answer.output}"


@contextmanager
def _fixed_examples(examples: int) -> Iterator[None]:
    """Use the same examples in every run, and write nothing; afterwards hypothesis is set as before."""
    from hypothesis import settings

    settings.register_profile("before-the-check", parent=settings.default)
    settings.register_profile("plugin-check", max_examples=examples, deadline=None, derandomize=True, database=None)
    settings.load_profile("plugin-check")
    try:
        yield
    finally:
        settings.load_profile("before-the-check")
