"""Plugins and their stages as data, and the recipe: a published algorithm as data.

The hooks of plugin modules are called through pluggy, one plugin at a time, so that a plugin that fails or answers
wrongly is the only one that is lost. The installed plugins are found by their entry points here too, because pluggy's
own loader stops at the first broken plugin and silently skips a second one of the same name. `code_of` records whose
code runs while plugins are imported and asked, since a plugin must not register stages in the user's name.

A `FirstParty` is a plugin of this checkout, so that an error about a name of it says where to install it from. These
plugins are on no public package index: a distribution of the same name there would belong to somebody else.
"""

from __future__ import annotations

import copy
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from importlib import metadata
from types import MappingProxyType, ModuleType
from typing import Literal, TypeAlias

import attrs
import pluggy

from clusterkit.contracts import hookspecs
from clusterkit.errors import BrokenPlugin, ClusterkitWarning

BUILTIN = "clusterkit-toolkit"
"""Name of the distribution that provides the library's own stages."""
SESSION = "this session"
"""Used as the name of the distribution if the user registered a stage."""

_running: ContextVar[str | None] = ContextVar("running", default=None)
"""The distribution whose modules are being imported or whose hooks are being called, for each thread its own."""


def running_distribution() -> str | None:
    """The distribution whose code runs now; None for the library and the user."""
    return _running.get()


@contextmanager
def code_of(distribution: str) -> Iterator[None]:
    """Context in which code of the distribution of a plugin runs."""
    token = _running.set(None if distribution in (BUILTIN, SESSION) else distribution)
    try:
        yield
    finally:
        _running.reset(token)


@attrs.frozen
class FirstParty:
    """A plugin of the checkout, in a folder of its name in ``plugins``.

    Parameters
    ----------
    distribution : str
    provides : mapping
        Kind ("solver", "recipe", "command" ...) to the names that its hooks answer.
    """

    distribution: str
    provides: Mapping[str, tuple[str, ...]]


PLUGINS = (
    FirstParty(
        "clusterkit-sdp",
        {"solver": ("gmmc_sdp", "mmc_multi_sdp", "mmc_sdp"), "recipe": ("gmmc-sdp", "mmc", "mmc-multi")},
    ),
    FirstParty("clusterkit-dask", {"engine": ("dask", "clusterkit_dask")}),
    FirstParty("clusterkit-example", {"labeler": ("rows_medians",)}),
    FirstParty("clusterkit-explore", {"command": ("explore",)}),
    FirstParty("clusterkit-kmedoids", {"solver": ("medoids",), "recipe": ("k-medoids",)}),
    FirstParty("clusterkit-min-max", {"savable": ("MinMaxModularSVC", "Modules")}),
    FirstParty("clusterkit-onnx", {"command": ("export",)}),
    FirstParty("clusterkit-scaffold", {"command": ("new-plugin",)}),
    FirstParty(
        "clusterkit-papers",
        {
            "command": ("reproduce", "benchmark"),
            "driver": ("auto_pooled", "pooled"),
            "recipe": ("emmc-auto", "emmc-multistart"),
            "solver": ("convex_nmf",),
        },
    ),
)
"""Every plugin of the checkout with the names it answers; a test compares the folders with this table."""


def where(kind: str, name: str, variable: str) -> str:
    """Advice for a name that a plugin of the checkout provides, as a sentence; empty for other names.

    Parameters
    ----------
    kind, name : str
    variable : str
        The environment variable that may have switched an installed plugin off.
    """
    for plugin in PLUGINS:
        if name.removeprefix(f"{plugin.distribution}:") not in plugin.provides.get(kind, ()):
            continue
        try:
            metadata.distribution(plugin.distribution)
        except metadata.PackageNotFoundError:
            return (
                f"The plugin {plugin.distribution} provides it, in the folder plugins/{plugin.distribution} of the "
                f"checkout of clusterkit; install it from there: pip install ./plugins/{plugin.distribution}"
            )
        return (
            f"The plugin {plugin.distribution} provides it and is installed, but not used: look at the environment "
            f"variable {variable} and at `clusterkit plugins`"
        )
    return ""


def _read_only(parameters: Mapping[str, object]) -> Mapping[str, object]:
    """A read-only copy, because a user gets the very recipe that is in the registry."""
    return MappingProxyType(copy.deepcopy(dict(parameters)))


def _all_read_only(members: Sequence[Mapping[str, object]]) -> tuple[Mapping[str, object], ...]:
    return tuple(map(_read_only, members))


@attrs.frozen
class Recipe:
    """A composition of stages with its parameters, the driver that runs it, and its source.

    Parameters
    ----------
    name : str
        kebab-case.
    title : str
        Description in one line.
    citation : str
        Author (year), title, where.
    parameters : mapping
        Values that differ from the defaults of `clusterkit.Pipeline` and of the driver: whole slots (``"solver":
        "ridge"``), parameters of stages (``"solver__C": 1.0``), and parameters of the driver by their plain names
        (``"n_maps": 5``). Copied, and read-only from then on.
    driver : str, default "single"
        Name of a registered driver (``clusterkit.stages("driver")``).
    clusters : {"given", "two", "found"}
        Whether the user gives the number of clusters, the number is always two, or the method finds it.
    use_when : str
        The kind of data and purpose that it suits.
    family : str
        Kind of method, for the recipe ``auto``: clusterings of one family do not confirm each other.
    pool : sequence of mapping
        Makes the recipe a candidate of ``auto``: changes to its parameters, one mapping for each member of the pool,
        such as ``({},)`` for the recipe as it is. Empty: it does not take part.
    pool_known : mapping
        Further changes to each member of the pool where the number of clusters is known, and one fit counts for more.
    tables : mapping
        Changes to its parameters for tables: data frames, mappings of names to columns, and files. Empty: tables are
        prepared as features, or refused.
    """

    name: str
    title: str
    citation: str
    parameters: Mapping[str, object] = attrs.field(factory=dict, converter=_read_only)
    driver: str = "single"
    clusters: Literal["given", "two", "found"] = "given"
    use_when: str = ""
    family: str = ""
    pool: Sequence[Mapping[str, object]] = attrs.field(default=(), converter=_all_read_only)
    pool_known: Mapping[str, object] = attrs.field(factory=dict, converter=_read_only)
    tables: Mapping[str, object] = attrs.field(factory=dict, converter=_read_only)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the constructor, because a read-only view does not pickle."""
        pool = tuple(map(dict, self.pool)), dict(self.pool_known), dict(self.tables)
        rest = (self.driver, self.clusters, self.use_when, self.family, *pool)
        return Recipe, (self.name, self.title, self.citation, dict(self.parameters), *rest)


VARIABLE = "CLUSTERKIT_PLUGINS"
"""Environment variable with the names of the plugins to use, separated by commas; empty: none; not set: all."""

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Names of recipes: as options of the command line are written."""

PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
"""Pattern of a location in a hook: a module, a colon, and a name at its top level."""

Target: TypeAlias = "str | type[object] | Recipe | Mapping[str, object]"
"""Target of a name: ``"module:attribute"``, or the object itself; a mapping has the arguments of a `Recipe`."""


@attrs.frozen
class Entry:
    """A name that can be loaded.

    Parameters
    ----------
    kind, name : str
    target : str, type, Recipe or mapping
        ``"module:attribute"``, or the thing itself.
    distribution : str
        Name of the distribution that provides it.
    """

    kind: str
    name: str
    target: Target
    distribution: str


@attrs.frozen
class Plugin:
    """An installed plugin and what became of it.

    Parameters
    ----------
    name : str
        Name of the entry point.
    distribution, version : str
    problem : str or None
        Reason why it is not used.
    provides : tuple of (kind, name)
    shadowed : tuple of (kind, name)
        Entries of `provides` whose name a built-in has: they are reached as ``distribution:name`` only.
    """

    name: str
    distribution: str
    version: str
    problem: str | None = None
    provides: tuple[tuple[str, str], ...] = ()
    shadowed: tuple[tuple[str, str], ...] = ()


@attrs.frozen(eq=False)
class PluginHooks:
    """The plugin modules in use and their hooks.

    Parameters
    ----------
    manager : pluggy.PluginManager
    """

    manager: pluggy.PluginManager = attrs.field(factory=lambda: _manager())

    def add(
        self, module: ModuleType, distribution: str, accept: Callable[[list[Entry]], None] = lambda entries: None
    ) -> list[Entry]:
        """Take a plugin module into use; returns what it provides.

        A module of the same name, from a notebook cell that ran before, makes room for it.

        Parameters
        ----------
        module : module
        distribution : str
        accept : callable, optional
            Told what the module provides; raises to refuse it.

        Raises
        ------
        BrokenPlugin
            If it speaks another version of the interface, has a hook that does not exist, or answers no mapping.
        Exception
            Whatever a hook of the module or `accept` raises. Nothing is changed then: neither a hook nor a listener of
            the module is called again.
        """
        _check_version(module)
        name = f"{distribution}:{getattr(module, '__name__', id(module))}"
        before = module if self.manager.is_registered(module) else self.manager.get_plugin(name)
        self._swap(before, module, name)
        try:
            self.manager.check_pending()
            entries = list(self._entries(module, distribution))
            accept(entries)
        except BaseException:
            self._swap(module, before, name)
            raise
        return entries

    def _swap(self, old: object, new: object, name: str) -> None:
        """Unregister the module `old` and register `new` in its place; None means no module."""
        if old is new:
            return
        if old is not None:
            self.manager.unregister(old)
        if new is not None:
            self.manager.register(new, name=name)

    def listeners(self) -> list[tuple[str, Callable[..., object]]]:
        """Name and caller of each plugin that wants the report of every iteration."""
        plugins = [impl.plugin for impl in self.manager.hook.clusterkit_iteration.get_hookimpls()]
        return [(str(self.manager.get_name(plugin)), self._only(plugin, "clusterkit_iteration")) for plugin in plugins]

    def _only(self, module: object, hook: str) -> pluggy.HookCaller:
        """A hook of one module alone; pluggy passes each implementation the arguments that it takes."""
        others = [plugin for plugin in self.manager.get_plugins() if plugin is not module]
        return self.manager.subset_hook_caller(hook, remove_plugins=others)

    def _entries(self, module: ModuleType, distribution: str) -> Iterator[Entry]:
        for kind, hook in hookspecs.HOOKS.items():
            for answer in self._only(module, hook)():
                if not isinstance(answer, Mapping):
                    raise BrokenPlugin(f"{hook} must answer a mapping of names, got {answer!r}")
                for name, target in answer.items():
                    check_name(kind, name, hook)
                    _check_target(kind, name, target, hook)
                    yield Entry(kind, str(name), target, distribution)


def check_name(kind: str, name: object, who: str) -> None:
    """Refuse a name that is no text, and a name of a recipe that is not in kebab-case.

    Raises
    ------
    BrokenPlugin
    """
    if not isinstance(name, str) or (kind == "recipe" and not KEBAB.fullmatch(name)):
        form = ", in lower case with hyphens between its words" if kind == "recipe" else ""
        raise BrokenPlugin(f"{who} has the {kind} name {name!r}; a name is a text{form}")


def _check_target(kind: str, name: str, target: object, hook: str) -> None:
    """Refuse a target that cannot be the location of a thing, before it is imported."""
    if kind == "recipe" and isinstance(target, Mapping | Recipe):
        return
    if not isinstance(target, str) or not PLACE.fullmatch(target):
        form = " or the arguments of a Recipe" if kind == "recipe" else ""
        raise BrokenPlugin(
            f'{hook} must answer "module:name"{form} for {name!r}, with a colon before the name, got {target!r}'
        )


def installed() -> Iterator[tuple[Plugin, metadata.EntryPoint]]:
    """Installed plugins that the environment variable allows, in order of their distributions' names; none is loaded.

    Names in the variable that no plugin has come last, with the problem and an entry point that leads nowhere.
    """
    allowed = _allowed()
    present: set[str] = set()
    for point in sorted(
        metadata.entry_points(group=hookspecs.GROUP), key=lambda point: (_origin(point)[0], point.name)
    ):
        distribution, version = _origin(point)
        if allowed is None or allowed & {point.name, distribution}:
            present |= {point.name, distribution}
            yield Plugin(point.name, distribution, version), point
    for name in sorted((allowed or set()) - present):
        problem = f"{VARIABLE} names it but no such plugin is installed"
        yield Plugin(name, "not installed", "", problem), metadata.EntryPoint(name, "", hookspecs.GROUP)


def can_be_saved(target: object) -> bool:
    """Whether objects can be taken apart and made anew: of attrs, of an enumeration, or by methods of their own."""
    if not isinstance(target, type):
        return False
    by_methods = hasattr(target, "saved_fields") and hasattr(target, "from_saved_fields")
    return by_methods or attrs.has(target) or issubclass(target, Enum)


def same_thing(taken: Entry, entry: Entry) -> bool:
    """Whether an entry is the one that has the name already, or the same class defined anew by a notebook cell."""
    if taken.distribution != SESSION:
        return False
    old, new = taken.target, entry.target
    places = [(getattr(target, "__module__", None), getattr(target, "__qualname__", None)) for target in (old, new)]
    return bool(old == new or (isinstance(new, type) and places[0] == places[1]))


def warn_shadowed(plugins: list[Plugin]) -> None:
    """Name what plugins provide under names of built-ins."""
    names = [f"{kind} '{plugin.distribution}:{name}'" for plugin in plugins for kind, name in plugin.shadowed]
    if names:
        warnings.warn(
            f"built-in names stay with clusterkit; what plugins provide under the same names is reached as: "
            f"{', '.join(names)}",
            ClusterkitWarning,
            stacklevel=4,
        )


def _manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    return manager


def _check_version(module: ModuleType) -> None:
    version = getattr(module, "API_VERSION", None)
    present = hookspecs.API_VERSION
    if isinstance(version, bool) or not isinstance(version, int):
        advice = "set API_VERSION in the plugin module to an integer"
    elif version > present:
        advice = "update clusterkit"
    elif version < present:
        later = [change for number in range(version + 1, present + 1) for change in hookspecs.CHANGES.get(number, ())]
        advice = f"update the plugin: {'; '.join(later)}"
    else:
        return
    raise BrokenPlugin(f"it says API_VERSION = {version!r}, this clusterkit speaks {present}; {advice}")


def _allowed() -> set[str] | None:
    """Plugins the environment allows; None means all."""
    text = os.environ.get(VARIABLE)
    return None if text is None else {name.strip() for name in text.split(",") if name.strip()}


def _origin(point: metadata.EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution that an entry point is from, as far as its metadata have them."""
    if point.dist is None:
        return point.value, "unknown"
    return str(point.dist.name or point.value), str(point.dist.version or "unknown")
