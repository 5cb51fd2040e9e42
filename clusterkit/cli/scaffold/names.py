"""The names in a new plugin, all from one: distribution, package, stage and class."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
import unicodedata

import attrs

from clusterkit.cli.failures import BadInput
from clusterkit.cli.scaffold.kinds import KINDS, LEFT_OUT, Kind

__all__ = ["Names", "kind_of", "names_of"]

PREFIX = "clusterkit-"
"""What many plugins begin with, as those of pytest begin with pytest-; the stage inside is called without it."""

_PLAIN = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""Names that are their own normal form on a package index and turn into names of modules, stages and recipes."""


SPELLED = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ð": "d", "þ": "th", "ł": "l", "đ": "d", "ı": "i"})
"""Letters that are no others with accents."""


@attrs.frozen
class Names:
    """What a new plugin and the thing in it are called.

    Parameters
    ----------
    distribution : str
        What is installed, such as ``my-plugin``.
    package : str
        What is imported, ``my_plugin``.
    name : str
        What the registry calls the thing: lower_snake for a stage, kebab-case for a recipe or a command, an ending for
        a reader.
    cls : str
        The class of a stage, in CamelCase.
    """

    distribution: str
    package: str
    name: str
    cls: str


def kind_of(word: str) -> Kind:
    """The kind that a word means.

    Raises
    ------
    BadInput
        With the nearest kind, or why it has no template.
    """
    from clusterkit.core.errors import nearest_names

    if word in KINDS:
        return KINDS[word]
    if word in LEFT_OUT:
        raise BadInput(f"--kind {word}: {LEFT_OUT[word]}. Available: {', '.join(KINDS)}.")
    raise BadInput(f"no kind named {word!r}. {nearest_names(word, KINDS)}")


def names_of(distribution: str, kind: Kind) -> Names:
    """The names that follow from that of the distribution.

    Parameters
    ----------
    distribution : str
    kind : Kind

    Raises
    ------
    BadInput
        If it is no name for a distribution, or something of the name is there already.

    Examples
    --------
    >>> names_of("clusterkit-median-scale", KINDS["featuremap"]).package
    'clusterkit_median_scale'
    >>> names_of("clusterkit-median-scale", KINDS["featuremap"]).name
    'median_scale'
    """
    if not _PLAIN.fullmatch(distribution):
        plain = re.sub(r"[^a-z0-9]+", "-", _in_ascii(distribution.lower())).strip("-").lstrip("0123456789-")
        offer = f" Did you mean {plain!r}?" if plain else ""
        raise BadInput(
            f"{distribution!r} is no name for a plugin: lower-case letters and digits in words joined by single "
            f"hyphens, a letter first.{offer}"
        )
    package = distribution.replace("-", "_")
    bare = distribution.removeprefix(PREFIX)
    bare = bare if bare[0].isalpha() else distribution
    snake = bare.replace("-", "_")
    cls = "".join(part[0].upper() + part[1:] for part in bare.split("-"))
    reason = _occupied(package, snake)
    if reason:
        raise BadInput(f"{distribution!r} cannot be the name of a plugin: {reason}. Choose another name.")
    name = {"recipe": bare, "command": bare, "reader": f".{snake}"}.get(kind.kind, snake)
    _refuse_taken(kind, name)
    return Names(distribution, package, name, cls)


def _in_ascii(word: str) -> str:
    """A word without accents, with ß and the like as the letters that stand for them where there are none.

    Examples
    --------
    >>> _in_ascii("größe"), _in_ascii("ærø")
    ('grosse', 'aero')
    """
    letters = unicodedata.normalize("NFKD", word.translate(SPELLED))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _occupied(package: str, snake: str) -> str:
    """Why no package can have the name; empty if it can."""
    if keyword.iskeyword(package) or keyword.iskeyword(snake):
        return f"{snake!r} is a word of Python"
    if package in sys.stdlib_module_names:
        return f"{package!r} is a module of Python"
    if importlib.util.find_spec(package) is not None:
        return f"a package {package!r} is installed already"
    return ""


def _refuse_taken(kind: Kind, name: str) -> None:
    """Raise if the registry has the name: of two things with one name only one would be found by it."""
    from clusterkit.core.registry import registry

    taken = registry.find(kind.kind, name)
    if taken is not None:
        raise BadInput(f"the {kind.word} {name!r} exists already, in {taken.distribution}. Choose another name.")
    if kind.kind == "command":
        from clusterkit.cli import app

        if name in app.builtin:
            raise BadInput(f"the command {name!r} is built in. Choose another name.")
