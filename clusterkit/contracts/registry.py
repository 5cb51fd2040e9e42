"""Names to stages: built-ins first and without a scan, then what was registered, then installed plugins.

Every name comes from a hook: the library's own from `clusterkit.contracts.builtin_plugin` and from every family of
methods in `clusterkit.families`, so that a new stage is one file and one line. What is registered in a running session
needs no hook.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, overload

import attrs

from clusterkit.contracts.providers import (
    BUILTIN,
    SESSION,
    VARIABLE,
    Entry,
    Plugin,
    PluginHooks,
    Recipe,
    can_be_saved,
    check_name,
    code_of,
    installed,
    running_distribution,
    same_thing,
    warn_shadowed,
    where,
)
from clusterkit.errors import BrokenPlugin, ClusterkitWarning, UnknownName, nearest_names

if TYPE_CHECKING:
    from clusterkit.contracts.balancer import Balancer
    from clusterkit.contracts.consensus import Consensus
    from clusterkit.contracts.driver import Driver, Tuner
    from clusterkit.contracts.featuremap import FeatureMap
    from clusterkit.contracts.labeler import Labeler
    from clusterkit.contracts.partitioner import Partitioner
    from clusterkit.contracts.solver import Solver
    from clusterkit.contracts.stage import Stage
    from clusterkit.samples.limits import Listener, Report

    ABSTRACT: Mapping[str, type[Stage]]

ABSTRACT_NAMES: Mapping[str, str] = {
    "featuremap": "FeatureMap",
    "solver": "Solver",
    "labeler": "Labeler",
    "balancer": "Balancer",
    "partitioner": "Partitioner",
    "consensus": "Consensus",
    "tuner": "Tuner",
    "driver": "Driver",
}
"""Name of the abstract class of each kind of stage in `clusterkit.contracts`."""

StageKind: TypeAlias = Literal[
    "featuremap", "solver", "labeler", "balancer", "partitioner", "consensus", "tuner", "driver"
]
"""The kinds of stages."""

T = TypeVar("T", bound="type[object] | Recipe | types.ModuleType")


def __getattr__(name: str) -> object:
    """`ABSTRACT`, the abstract class of each kind: on first use, because these classes import numpy.

    ``clusterkit --help`` asks the registry for the commands of plugins and must not wait for numpy.
    """
    if name != "ABSTRACT":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _abstract()


@attrs.frozen
class _Scan:
    """Result of one scan of the installed entry points."""

    plugins: tuple[Plugin, ...]
    entries: Mapping[tuple[str, str], tuple[Entry, ...]]


@attrs.define(eq=False)
class Registry:
    """All stages and recipes by kind and name."""

    _session: dict[tuple[str, str], Entry] = attrs.field(factory=dict)
    _builtins: Mapping[tuple[str, str], Entry] | None = None
    _scanned: _Scan | None = None
    _hooks: PluginHooks = attrs.field(factory=PluginHooks)
    _warned: set[tuple[str, str]] = attrs.field(factory=set)
    _silenced: set[str] = attrs.field(factory=set)

    @overload
    def get(self, kind: Literal["featuremap"], name: str) -> type[FeatureMap]: ...
    @overload
    def get(self, kind: Literal["solver"], name: str) -> type[Solver]: ...
    @overload
    def get(self, kind: Literal["labeler"], name: str) -> type[Labeler]: ...
    @overload
    def get(self, kind: Literal["balancer"], name: str) -> type[Balancer]: ...
    @overload
    def get(self, kind: Literal["partitioner"], name: str) -> type[Partitioner]: ...
    @overload
    def get(self, kind: Literal["consensus"], name: str) -> type[Consensus]: ...
    @overload
    def get(self, kind: Literal["tuner"], name: str) -> type[Tuner]: ...
    @overload
    def get(self, kind: Literal["driver"], name: str) -> type[Driver]: ...
    @overload
    def get(self, kind: Literal["recipe"], name: str) -> Recipe: ...
    @overload
    def get(self, kind: StageKind, name: str) -> type[Stage]: ...
    @overload
    def get(self, kind: str, name: str) -> object: ...

    def get(self, kind: str, name: str) -> object:
        """The stage class (or the `Recipe`) of a name.

        Raises
        ------
        UnknownName
            If there is no such stage; says the nearest names or the folder of the plugin that has it, and the plugins
            that could not be loaded.
        BrokenPlugin
            If the plugin that provides the name fails to import or provides something else.
        """
        entry = self.find(kind, name)
        if entry is None:
            unusable = "".join(
                f" Plugin '{plugin.name}' ({plugin.distribution} {plugin.version}) is not used: {plugin.problem}."
                for plugin in self.plugins()
                if plugin.problem
            )
            folder = where(kind, name, VARIABLE)
            # a saved model names its classes itself, so the seventy names of all of them help nobody
            advice = f"{folder}." if folder else nearest_names(name, self.names(kind), only_near=kind == "savable")
            if kind in ABSTRACT_NAMES and (meant := self.called(kind, name)):
                # the word is known, so that names spelt like it are not guessed at
                advice = f"{meant} {advice if folder else nearest_names('', self.names(kind))}"
            raise UnknownName(f"no {kind} named {name!r}. {advice}".rstrip() + unusable)
        return self._load(entry)

    def called(self, kind: str, word: str) -> str:
        """A sentence about what papers and other libraries call by a word; empty if no stage has that name.

        Stages of the kind are named if there are any, else those of the other kinds, by their names, their synonyms or
        a value of a parameter; and a recipe of that name. Upper case, hyphens, underscores and blanks do not matter.
        """
        meant = self._called(kind, word) or [each for other in ABSTRACT_NAMES for each in self._called(other, word)]
        recipes = [name for name in self.names("recipe") if plain_word(name) == plain_word(word)]
        sentences = [f"Papers and other libraries call {' and '.join(meant)} by that name."] if meant else []
        sentences += [f"The recipe {recipe!r} is the whole method." for recipe in recipes[:1]]
        return " ".join(sentences)

    def _called(self, kind: str, word: str) -> list[str]:
        wanted, meant = plain_word(word), list[str]()
        stages: Mapping[str, Any] = self.available(kind)
        for name, stage in stages.items():
            if wanted in map(plain_word, (name, *stage.synonyms)):
                meant.append(f"{kind} {name!r}")
                continue
            for field in attrs.fields(stage):
                for option in field.metadata.get("options", ()):
                    if isinstance(option, str) and plain_word(option) == wanted:
                        meant.append(f"{kind} {name!r} with {field.name}={option!r}")
        return meant

    def find(self, kind: str, name: str) -> Entry | None:
        """The entry of a name, or None; scans installed plugins only if nothing nearer has the name."""
        nearer = self._session.get((kind, name)) or self.builtins().get((kind, name))
        if nearer is not None:
            return nearer
        distribution, _, bare = name.rpartition(":")
        entries = self._scan().entries.get((kind, bare), ())
        if distribution:
            return next((entry for entry in entries if entry.distribution == distribution), None)
        if len(entries) > 1 and (kind, name) not in self._warned:
            self._warned.add((kind, name))
            others = ", ".join(f"'{entry.distribution}:{name}'" for entry in entries[1:])
            warnings.warn(
                f"{kind} {name!r} comes from {entries[0].distribution}; {others} has the same name and is reached "
                "by that longer one",
                ClusterkitWarning,
                stacklevel=3,
            )
        return entries[0] if entries else None

    def builtins(self) -> Mapping[tuple[str, str], Entry]:
        """Entries of the library itself, by kind and name."""
        if self._builtins is None:
            entries = [entry for module in _of_the_library() for entry in self._hooks.add(module, BUILTIN)]
            self._builtins = types.MappingProxyType({(entry.kind, entry.name): entry for entry in entries})
        return self._builtins

    def provider(self, stage: type[Stage]) -> str:
        """The distribution that a stage class is from; nothing is imported to learn it."""
        place = f"{stage.__module__}:{stage.__qualname__}"
        scanned = () if self._scanned is None else [e for each in self._scanned.entries.values() for e in each]
        for entry in (*self._session.values(), *self.builtins().values(), *scanned):
            if entry.target is stage or entry.target == place:
                return entry.distribution
        return BUILTIN if stage.__module__.startswith("clusterkit.") else f"module {stage.__module__}"

    def names(self, kind: str) -> list[str]:
        """All names of a kind, built-in, registered and installed."""
        everywhere = (*self.builtins(), *self._session, *self._scan().entries)
        return sorted({name for key, name in everywhere if key == kind})

    def entries(self, kind: str) -> list[Entry]:
        """All entries of a kind, the winner of each name."""
        return [entry for name in self.names(kind) if (entry := self.find(kind, name)) is not None]

    def every(self, kind: str, name: str | None = None) -> Iterator[Entry]:
        """All entries of a kind, those behind a nearer one of the same name too; plugins are scanned last."""
        for entries in (self._session.values(), self.builtins().values()):
            yield from (entry for entry in list(entries) if entry.kind == kind and name in (None, entry.name))
        for (entry_kind, entry_name), providers in self._scan().entries.items():
            if entry_kind == kind and name in (None, entry_name):
                yield from providers

    @overload
    def available(self, kind: Literal["recipe"]) -> dict[str, Recipe]: ...
    @overload
    def available(self, kind: StageKind) -> dict[str, type[Stage]]: ...
    @overload
    def available(self, kind: str) -> Mapping[str, object]: ...

    def available(self, kind: str) -> Mapping[str, object]:
        """Everything of a kind that loads; what does not load is left out."""
        loaded = {}
        for name in self.names(kind):
            try:
                loaded[name] = self.get(kind, name)
            except BrokenPlugin:
                continue
        return loaded

    def specimens(self, kind: str) -> Mapping[str, Stage]:
        """A stage of every name with default parameters; one that takes no defaults is a broken plugin."""
        specimens: dict[str, Stage] = {}
        for name, stage in self.available(cast("StageKind", kind)).items():
            try:
                specimens[name] = stage()
            except (Exception, SystemExit):  # errors of a plugin must not spoil the tables of the others
                entry = self.find(kind, name)
                if entry is not None and entry.distribution == BUILTIN:
                    raise
        return specimens

    def plugins(self) -> list[Plugin]:
        """Installed plugins, the unusable ones with the reason."""
        return list(self._scan().plugins)

    def register(self, thing: T, *, replace: bool = False) -> T:
        """Make a class, a `Recipe` or a plugin module known to this session; returns it, so it decorates.

        The class is one of stages, or one whose objects may stand in a saved model.

        A class defined anew under the same name (a notebook cell run twice) takes the place of the old one. A module
        that is refused is not used at all: its `clusterkit_iteration` is not called either.

        Raises
        ------
        BrokenPlugin
            If the thing is none of these, its name is taken and `replace` is False, or an installed plugin calls this
            while it is imported or asked: what it provides is told by its hooks.
        """
        from clusterkit.contracts.stage import Stage

        plugin = running_distribution()
        if plugin is not None:
            raise BrokenPlugin(
                f"{plugin} calls register while it is loaded; a plugin provides names by its hooks, and register is "
                "for the user"
            )
        if isinstance(thing, type) and issubclass(thing, Stage) and thing not in _abstract().values():
            from clusterkit.contracts.declared import check_declared

            check_declared(thing, f"{thing.kind} {getattr(thing, 'name', thing.__name__)!r}", BrokenPlugin)
            self._enter([Entry(thing.kind, thing.name, thing, SESSION)], replace)
        elif isinstance(thing, Recipe):
            check_name("recipe", thing.name, "the Recipe")
            self._enter([Entry("recipe", thing.name, thing, SESSION)], replace)
        elif isinstance(thing, types.ModuleType):
            self._hooks.add(thing, SESSION, partial(self._enter, replace=replace))
        elif isinstance(thing, type) and not issubclass(thing, Stage) and can_be_saved(thing):
            self._enter([Entry("savable", thing.__name__, thing, SESSION)], replace)
        else:
            raise BrokenPlugin(
                "register takes a concrete stage class, a class that can be saved, a Recipe or a plugin module, got "
                f"{thing!r}"
            )
        return thing

    def _enter(self, entries: list[Entry], replace: bool) -> None:
        """Make entries known to the session, all of them or none."""
        for entry in entries:
            taken = self.find(entry.kind, entry.name)
            if taken is not None and not replace and not same_thing(taken, entry):
                raise BrokenPlugin(
                    f"{entry.kind} {entry.name!r} is already provided by {taken.distribution}; "
                    "choose another name or pass replace=True"
                )
        self._session.update({(entry.kind, entry.name): entry for entry in entries})

    def iteration_listeners(self) -> list[Listener]:
        """Functions that call the `clusterkit_iteration` hook of each plugin, installed ones and those of this session.

        A listener that raises is not called again in this process; one warning names its plugin.
        """
        self._scan()
        return [self._listener(name, call) for name, call in self._hooks.listeners() if name not in self._silenced]

    def forget(self) -> None:
        """Drop what was registered and scanned (for tests and after installing a plugin in a live session)."""
        self._session.clear()
        self._warned.clear()
        self._silenced.clear()
        self._scanned = self._builtins = None
        self._hooks = PluginHooks()

    def _listener(self, name: str, call: Callable[..., object]) -> Listener:
        """A caller of one plugin's hook that is silent after the first failure."""

        def listen(report: Report) -> None:
            if name in self._silenced:
                return
            try:
                call(report=report)
            except (Exception, SystemExit) as error:  # the fit goes on without a plugin that fails
                self._silenced.add(name)
                warnings.warn(
                    f"clusterkit_iteration of plugin {name} is not called again: {type(error).__name__}: {error}",
                    ClusterkitWarning,
                    stacklevel=2,
                )

        return listen

    def _load(self, entry: Entry) -> Any:
        target: Any = entry.target
        try:
            if isinstance(target, str):
                module, _, attribute = target.partition(":")
                with code_of(entry.distribution):
                    target = getattr(importlib.import_module(module), attribute)
            if entry.kind == "recipe" and not isinstance(target, Recipe):
                target = Recipe(**{"name": entry.name, **target})
        except (Exception, SystemExit) as error:  # a plugin may fail in any way; it must not take the rest with it
            if entry.distribution == BUILTIN:
                raise
            raise BrokenPlugin(
                f"{entry.kind} {entry.name!r} of {entry.distribution} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        expected, fits = "", True
        if entry.kind == "command":  # click is not imported here: what can be invoked in a context is a command
            expected, fits = "click command", hasattr(target, "make_context") and hasattr(target, "invoke")
        elif entry.kind == "reader":
            expected, fits = "function", callable(target)
        elif entry.kind == "savable":
            expected, fits = "class that can be saved", can_be_saved(target)
        elif entry.kind == "engine":
            from clusterkit.samples.engines import Engine

            expected, fits = "Engine", isinstance(target, type) and issubclass(target, Engine)
        elif entry.kind in ABSTRACT_NAMES:
            base = _abstract()[entry.kind]
            expected, fits = base.__name__, isinstance(target, type) and issubclass(target, base)
        if not fits:
            raise BrokenPlugin(f"{entry.kind} {entry.name!r} of {entry.distribution} is no {expected}: {target!r}")
        if entry.kind in ABSTRACT_NAMES and entry.distribution != BUILTIN:  # the laws hold the built-in ones
            from clusterkit.contracts.declared import check_declared

            check_declared(target, f"{entry.kind} {entry.name!r} of {entry.distribution}", BrokenPlugin)
        if entry.kind in ABSTRACT_NAMES or entry.kind == "recipe":
            own_name = getattr(target, "name", None)
            if own_name != entry.name:
                raise BrokenPlugin(
                    f"{entry.kind} {entry.name!r} of {entry.distribution} calls itself {own_name!r}; "
                    "the plugin must use one name for it"
                )
        return target

    def _scan(self) -> _Scan:
        if self._scanned is None:
            plugins: list[Plugin] = []
            entries: dict[tuple[str, str], tuple[Entry, ...]] = {}
            for plugin, point in installed():
                answers: list[Entry] = []
                problem = plugin.problem
                if problem is None:
                    try:
                        with code_of(plugin.distribution):
                            answers = self._hooks.add(point.load(), plugin.distribution)
                    # isolation: any failure of one plugin is a report, not an error
                    except (Exception, SystemExit) as error:
                        problem = str(error) if isinstance(error, BrokenPlugin) else f"{type(error).__name__}: {error}"
                provides = tuple((entry.kind, entry.name) for entry in answers)
                shadowed = tuple(key for key in provides if key in self.builtins())
                plugins.append(attrs.evolve(plugin, problem=problem, provides=provides, shadowed=shadowed))
                for entry in answers:
                    key = (entry.kind, entry.name)
                    entries[key] = (*entries.get(key, ()), entry)
            self._scanned = _Scan(tuple(plugins), entries)  # only now: a scan that Ctrl-C cut short is made anew
            warn_shadowed(plugins)
        return self._scanned


@cache
def plain_word(word: str) -> str:
    """A name reduced to lower-case letters, digits and plus signs, so that spellings do not differ.

    Examples
    --------
    >>> plain_word("Complete-Graph"), plain_word("k-means++")
    ('completegraph', 'kmeans++')
    """
    return re.sub(r"[^a-z0-9+]", "", word.lower())


def _abstract() -> Mapping[str, type[Stage]]:
    """The abstract class of each kind of stage."""
    module = importlib.import_module("clusterkit.contracts")
    return {kind: getattr(module, name) for kind, name in ABSTRACT_NAMES.items()}


registry = Registry()
"""The one registry of the process."""


def _of_the_library() -> Iterator[types.ModuleType]:
    """The plugins of the library itself: that of the core, and every family of methods."""
    yield importlib.import_module("clusterkit.contracts.builtin_plugin")
    families = importlib.import_module("clusterkit.families")
    for module in pkgutil.iter_modules(families.__path__, "clusterkit.families."):
        yield importlib.import_module(module.name)
