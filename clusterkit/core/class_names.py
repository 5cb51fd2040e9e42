"""The classes of built-in stages by class name, for packages that export them on first use.

The names come from the registration (`clusterkit.core.builtin_plugin`), so that a new stage is still one file and one
line, and importing a package of stages loads none of them.
"""

from __future__ import annotations

__all__ = ["built_in_class", "built_in_class_names"]


def built_in_class(kind: str, name: str, module: str) -> object:
    """The class of a built-in stage, loaded now.

    Parameters
    ----------
    kind : str
        Kind of stage, "solver" for example.
    name : str
        Name of the class.
    module : str
        The package that is asked, for the error.

    Raises
    ------
    AttributeError
        If no built-in stage of the kind has a class of this name.
    """
    stages = _names(kind)
    if name not in stages:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    from clusterkit.core.registry import registry

    return registry.get(kind, stages[name])


def built_in_class_names(kind: str) -> list[str]:
    """Names of the classes of all built-in stages of a kind."""
    return sorted(_names(kind))


def _names(kind: str) -> dict[str, str]:
    """Class name to registered name."""
    from clusterkit.core.registry import registry

    builtins = registry.builtins().values()
    return {str(entry.target).rpartition(":")[2]: entry.name for entry in builtins if entry.kind == kind}
