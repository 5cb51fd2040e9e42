"""What the library's own plugin provides: kind to names to places."""

from clusterkit.contracts.registry import Registry


def table() -> dict[str, dict[str, str]]:
    """Names and places by kind."""
    places: dict[str, dict[str, str]] = {}
    for (kind, name), entry in Registry().builtins().items():
        places.setdefault(kind, {})[name] = str(entry.target)
    return places


TABLE = table()
