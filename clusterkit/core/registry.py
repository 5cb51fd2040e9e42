"""Names to stages: built-ins first and without a scan, then what was registered, then installed plugins.

pluggy carries the hook specifications; the loader around it is ours, because pluggy's own stops at the first broken
plugin and silently skips a second one of the same name.
"""

from __future__ import annotations

import importlib
import inspect
import os
import types
import warnings
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import attrs
import pluggy

from clusterkit.core import hookspecs, stages
from clusterkit.core.errors import BrokenPlugin, ClusterkitWarning, UnknownName, nearest_names
from clusterkit.core.recipe import Recipe

__all__ = ["Entry", "Plugin", "Registry", "registry"]

VARIABLE = "CLUSTERKIT_PLUGINS"
BUILTIN = "clusterkit-toolkit"
SESSION = "this session"

ABSTRACT: Mapping[str, type] = {
    "featuremap": stages.FeatureMap,
    "solver": stages.Solver,
    "labeler": stages.Labeler,
    "balancer": stages.Balancer,
    "partitioner": stages.Partitioner,
    "consensus": stages.Consensus,
    "tuner": stages.Tuner,
    "driver": stages.Driver,
}


@attrs.frozen
class Entry:
    """A name that can be loaded.

    Parameters
    ----------
    kind, name : str
    target : str, type, Recipe or mapping
        ``"module:attribute"``, or the thing itself.
    distribution : str
        Who provides it.
    """

    kind: str
    name: str
    target: Any
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
        Why it is not used.
    provides : tuple of (kind, name)
    """

    name: str
    distribution: str
    version: str
    problem: str | None = None
    provides: tuple[tuple[str, str], ...] = ()


@attrs.define
class _Scan:
    """What one look at the installed entry points found."""

    plugins: list[Plugin] = attrs.field(factory=list)
    entries: dict[tuple[str, str], list[Entry]] = attrs.field(factory=dict)


@attrs.define(eq=False)
class Registry:
    """All stages and recipes by kind and name."""

    _session: dict[tuple[str, str], Entry] = attrs.field(factory=dict)
    _scanned: _Scan | None = None
    _hooks: pluggy.PluginManager | None = None
    _warned: set[tuple[str, str]] = attrs.field(factory=set)

    def get(self, kind: str, name: str) -> Any:
        """The stage class (or the `Recipe`) of a name.

        Raises
        ------
        UnknownName
            With the nearest names or the folder of the plugin that has it, and with the plugins that could not be
            loaded.
        BrokenPlugin
            If the plugin that provides the name fails to import or provides something else.
        """
        entry = self.find(kind, name)
        if entry is None:
            broken = [plugin for plugin in self.plugins() if plugin.problem]
            lost = "".join(
                f" Plugin '{p.name}' ({p.distribution} {p.version}) is not used: {p.problem}." for p in broken
            )
            known = _where(kind, name)
            advice = f"{known}." if known else nearest_names(name, self.names(kind))
            raise UnknownName(f"no {kind} named {name!r}. {advice}{lost}")
        return self._load(entry)

    def find(self, kind: str, name: str) -> Entry | None:
        """The entry of a name, or None; scans installed plugins only if nothing nearer has the name."""
        builtin = _builtins().get(kind, {}).get(name)
        if (kind, name) in self._session:
            return self._session[kind, name]
        if builtin is not None:
            return Entry(kind, name, builtin, BUILTIN)
        distribution, _, bare = name.rpartition(":")
        found = self._scan().entries.get((kind, bare), [])
        if distribution:
            return next((e for e in found if e.distribution == distribution), None)
        if len(found) > 1 and (kind, name) not in self._warned:
            self._warned.add((kind, name))
            others = ", ".join(f"'{e.distribution}:{name}'" for e in found[1:])
            warnings.warn(
                f"{kind} {name!r} comes from {found[0].distribution}; {others} has the same name and is reached "
                "by that longer one",
                ClusterkitWarning,
                stacklevel=3,
            )
        return found[0] if found else None

    def names(self, kind: str) -> list[str]:
        """All names of a kind, built-in, registered and installed."""
        external = [name for (k, name) in (*self._session, *self._scan().entries) if k == kind]
        return sorted({*_builtins().get(kind, {}), *external})

    def entries(self, kind: str) -> list[Entry]:
        """All entries of a kind, the winner of each name."""
        return [entry for name in self.names(kind) if (entry := self.find(kind, name)) is not None]

    def available(self, kind: str) -> dict[str, Any]:
        """Everything of a kind that loads; what does not load is left out."""
        loaded = {}
        for name in self.names(kind):
            try:
                loaded[name] = self.get(kind, name)
            except BrokenPlugin:
                continue
        return loaded

    def specimens(self, kind: str) -> dict[str, Any]:
        """A stage of every name with default parameters; one that takes no defaults is a broken plugin."""
        made = {}
        for name, stage in self.available(kind).items():
            try:
                made[name] = stage()
            except Exception:  # of a plugin: it must not spoil the tables of the others
                if self.find(kind, name) == Entry(kind, name, _builtins().get(kind, {}).get(name), BUILTIN):
                    raise
        return made

    def plugins(self) -> list[Plugin]:
        """Installed plugins, the unusable ones with the reason."""
        return list(self._scan().plugins)

    def register(self, thing: Any, *, name: str | None = None, replace: bool = False) -> Any:
        """Make a stage class, a `Recipe` or a plugin module known to this session; returns it, so it decorates.

        A class defined anew under the same name (a notebook cell run twice) takes the place of the old one.

        Raises
        ------
        BrokenPlugin
            If the thing is neither, or its name is taken and `replace` is False.
        """
        if isinstance(thing, type) and issubclass(thing, stages.Stage) and not inspect.isabstract(thing):
            entries = [Entry(thing.kind, name or thing.name, thing, SESSION)]
        elif isinstance(thing, Recipe):
            entries = [Entry("recipe", name or thing.name, thing, SESSION)]
        elif isinstance(thing, types.ModuleType):
            entries = self._ask(thing, SESSION)
        else:
            raise BrokenPlugin(f"register takes a concrete stage class, a Recipe or a plugin module, got {thing!r}")
        for entry in entries:
            taken = self.find(entry.kind, entry.name)
            if taken is not None and not replace and not _same(taken, entry):
                raise BrokenPlugin(
                    f"{entry.kind} {entry.name!r} is already provided by {taken.distribution}; "
                    "choose another name or pass replace=True"
                )
        self._session.update({(entry.kind, entry.name): entry for entry in entries})
        return thing

    def iteration_listeners(self) -> list[Any]:
        """Hooks of loaded plugins that want each turn's report; asks nobody to load."""
        if self._hooks is None:
            return []
        return [impl.function for impl in self._hooks.hook.clusterkit_iteration.get_hookimpls()]

    def forget(self) -> None:
        """Drop what was registered and scanned (for tests and after installing a plugin in a live session)."""
        self._session.clear()
        self._warned.clear()
        self._scanned = self._hooks = None

    def _load(self, entry: Entry) -> Any:
        target = entry.target
        try:
            if isinstance(target, str):
                module, _, attribute = target.partition(":")
                target = getattr(importlib.import_module(module), attribute)
            if entry.kind == "recipe":
                return target if isinstance(target, Recipe) else Recipe(name=entry.name, **target)
        except Exception as error:  # a plugin may fail in any way; it must not take the rest with it
            if entry.distribution == BUILTIN:
                raise
            raise BrokenPlugin(
                f"{entry.kind} {entry.name!r} of {entry.distribution} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        if not (isinstance(target, type) and issubclass(target, ABSTRACT[entry.kind])):
            raise BrokenPlugin(
                f"{entry.kind} {entry.name!r} of {entry.distribution} is no {ABSTRACT[entry.kind].__name__}: {target!r}"
            )
        return target

    def _scan(self) -> _Scan:
        if self._scanned is None:
            self._scanned = scan = _Scan()
            chosen = _chosen()
            points = sorted(metadata.entry_points(group=hookspecs.GROUP), key=_order)
            for point in points:
                distribution, version = _origin(point)
                if chosen is not None and not chosen & {point.name, distribution}:
                    continue
                try:
                    found = self._ask(point.load(), distribution)
                except Exception as error:  # isolation: any failure of one plugin is a report, not an error
                    problem = str(error) if isinstance(error, BrokenPlugin) else f"{type(error).__name__}: {error}"
                    scan.plugins.append(Plugin(point.name, distribution, version, problem))
                    continue
                for entry in found:
                    scan.entries.setdefault((entry.kind, entry.name), []).append(entry)
                provides = tuple((entry.kind, entry.name) for entry in found)
                scan.plugins.append(Plugin(point.name, distribution, version, None, provides))
            if chosen:
                missing = chosen - {p.name for p in scan.plugins} - {p.distribution for p in scan.plugins}
                scan.plugins += [
                    Plugin(name, "not installed", "", f"{VARIABLE} names it but no such plugin is installed")
                    for name in sorted(missing)
                ]
        return self._scanned

    def _ask(self, module: Any, distribution: str) -> list[Entry]:
        """Entries a plugin module answers, by its hooks."""
        version = getattr(module, "API_VERSION", None)
        if not isinstance(version, int) or version > hookspecs.API_VERSION:
            raise BrokenPlugin(
                f"it says API_VERSION = {version!r}, this clusterkit speaks {hookspecs.API_VERSION}; "
                + ("update clusterkit" if isinstance(version, int) else "set API_VERSION in the plugin module")
            )
        manager = pluggy.PluginManager(hookspecs.GROUP)
        manager.add_hookspecs(hookspecs)
        manager.register(module)
        manager.check_pending()
        entries = []
        for kind, hook in hookspecs.HOOKS.items():
            for answer in getattr(manager.hook, hook)():
                if not isinstance(answer, Mapping):
                    raise BrokenPlugin(f"{hook} must answer a mapping of names, got {answer!r}")
                entries += [Entry(kind, str(name), target, distribution) for name, target in answer.items()]
        if self._hooks is None:
            self._hooks = pluggy.PluginManager(hookspecs.GROUP)
            self._hooks.add_hookspecs(hookspecs)
        if not self._hooks.is_registered(module):
            self._hooks.register(module, name=f"{distribution}:{getattr(module, '__name__', id(module))}")
        return entries


def _builtins() -> Mapping[str, Mapping[str, str]]:
    from clusterkit.builtins import TABLE

    return TABLE


def _where(kind: str, name: str) -> str:
    from clusterkit.first_party import where

    return where(kind, name, VARIABLE)


def _same(taken: Entry, entry: Entry) -> bool:
    """Whether an entry is the one that has the name already, or the same class defined anew by a notebook cell."""
    if taken.distribution != SESSION:
        return False
    old, new = taken.target, entry.target
    where = [(getattr(each, "__module__", None), getattr(each, "__qualname__", None)) for each in (old, new)]
    return bool(old == new or (isinstance(new, type) and where[0] == where[1]))


def _chosen() -> set[str] | None:
    """Plugins the environment allows; None means all."""
    text = os.environ.get(VARIABLE)
    return None if text is None else {name.strip() for name in text.split(",") if name.strip()}


def _origin(point: metadata.EntryPoint) -> tuple[str, str]:
    return (point.dist.name, point.dist.version) if point.dist is not None else (point.value, "unknown")


def _order(point: metadata.EntryPoint) -> tuple[str, str]:
    return _origin(point)[0], point.name


registry = Registry()
"""The one registry of the process."""
