"""The templates of a new plugin filled in, and written to a folder that did not exist.

A `Kind` is something that ``clusterkit new-plugin`` writes: all that a hook answers for, but those in `LEFT_OUT`.
`Names` are the names in a new plugin, all from one: distribution, package, stage and class.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
import unicodedata
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template
from types import MappingProxyType

import attrs

from clusterkit.cli.failures import BadInput
from clusterkit.contracts import hookspecs

__all__ = [
    "KINDS",
    "LEFT_OUT",
    "Kind",
    "Names",
    "files_of",
    "kind_of",
    "names_of",
    "write",
]


@attrs.frozen
class Kind:
    """A value of `clusterkit new-plugin --kind`.

    Parameters
    ----------
    kind : str
        Kind in the registry.
    word : str
        Word for the kind in sentences.
    title : str
        First line of the docstring of its hook.
    steps : tuple of str
        Next steps for the author, for the README.
    savable : str
        Ending of the name of the stage's helper class, which fitted models hold; empty if there is none.
    """

    kind: str
    word: str
    title: str
    steps: tuple[str, ...]
    savable: str = ""

    @property
    def is_stage(self) -> bool:
        """Whether it is a class with laws."""
        from clusterkit.contracts.registry import ABSTRACT_NAMES

        return self.kind in ABSTRACT_NAMES


_STAGE = (
    "The fields of the class are its parameters, each with a default. Arrays live in what its methods return.",
    "Every random number comes from the argument `rng`.",
    "The section `Parameters` of the docstring names every parameter; the laws read it.",
    "Heavy imports (scipy, scikit-learn, numba) stand inside the methods.",
)
"""Steps for every stage."""

_SAVED = "Every class whose objects stand in fitted models is named by the hook `clusterkit_savables`."
"""Step for stages with a helper class."""

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.kind: kind
        for kind in (
            Kind("featuremap", "feature map", "Feature maps by name", (*_STAGE, _SAVED), "Map"),
            Kind("solver", "solver", "Solvers by name", (*_STAGE, _SAVED), "Scores"),
            Kind("labeler", "labeler", "Labelers by name", (*_STAGE, _SAVED), "Labels"),
            Kind("balancer", "balancer", "Balancers by name", _STAGE),
            Kind("partitioner", "partitioner", "Partitioners by name", _STAGE),
            Kind("consensus", "consensus function", "Consensus functions by name", _STAGE),
            Kind("tuner", "tuner", "Tuners by name", _STAGE),
            Kind(
                "driver",
                "driver",
                "Drivers by name",
                (*(step.replace("`rng`", "`seeds`") for step in _STAGE), "A recipe names it: `driver=...`."),
            ),
            Kind(
                "recipe",
                "recipe",
                "Recipes by name",
                (
                    "`parameters` names the stage of each slot, and `slot__parameter` sets a parameter of a stage.",
                    "`clusterkit stages` lists the stages with their parameters, `compositions()` what fits.",
                    "`citation` begins with the authors and the year in parentheses.",
                ),
            ),
            Kind(
                "command",
                "command",
                "Commands of the command line by name",
                (
                    "Raise `click.UsageError` for wrong input: it ends the command with one line and exit code 2.",
                    "Heavy imports (numpy, clusterkit) stand inside the function.",
                ),
            ),
            Kind(
                "reader",
                "reader of files that end in",
                "Readers of data files by ending",
                (
                    "The key in the hook is the ending of the files, in lower case with its dot.",
                    "Return a mapping of column names to arrays (n,); raise `ValueError` for a file that is none.",
                ),
            ),
        )
    }
)
"""Every kind with a template, by the registry's name of the kind."""

LEFT_OUT: Mapping[str, str] = MappingProxyType(
    {
        "namer": "clusterkit has one, and asks for no other",
        "view": "clusterkit has one, and asks for no other",
        "engine": "it takes the collections of a package that no template can know; clusterkit-dask is one to read",
        "savable": "what can be saved comes with the stage that returns it: choose the kind of the stage",
    }
)
"""Kinds of names without a template, and why."""


PREFIX = "clusterkit-"
"""Prefix of the names of many plugins, like pytest- for pytest; the stage inside is called without it."""

_PLAIN = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""Names that are their own normal form on a package index and turn into names of modules, stages and recipes."""


SPELLED = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ð": "d", "þ": "th", "ł": "l", "đ": "d", "ı": "i"})
"""Letters that are no others with accents."""


@attrs.frozen
class Names:
    """Names of a new plugin and of the stage, recipe, command or reader in it.

    Parameters
    ----------
    distribution : str
        Name of the installed package, such as ``my-plugin``.
    package : str
        Name of the imported package, ``my_plugin``.
    name : str
        Name in the registry: lower_snake for a stage, kebab-case for a recipe or a command, an ending for a reader.
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
        If there is no such kind; says the nearest kind, or why it has no template.
    """
    from clusterkit.errors import nearest_names

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
    """A word in ASCII: accents are dropped, and letters without an ASCII form, such as ß, are replaced.

    Examples
    --------
    >>> _in_ascii("größe"), _in_ascii("ærø")
    ('grosse', 'aero')
    """
    letters = unicodedata.normalize("NFKD", word.translate(SPELLED))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _occupied(package: str, snake: str) -> str:
    """Reason why no package can have the name; empty if it can."""
    if keyword.iskeyword(package) or keyword.iskeyword(snake):
        return f"{snake!r} is a word of Python"
    if package in sys.stdlib_module_names:
        return f"{package!r} is a module of Python"
    if importlib.util.find_spec(package) is not None:
        return f"a package {package!r} is installed already"
    return ""


def _refuse_taken(kind: Kind, name: str) -> None:
    """Raise if the registry has the name: of two things with one name only one would be found by it."""
    from clusterkit.contracts.registry import registry

    taken = registry.find(kind.kind, name)
    if taken is not None:
        raise BadInput(f"the {kind.word} {name!r} exists already, in {taken.distribution}. Choose another name.")
    if kind.kind == "command":
        from clusterkit.cli import app

        if name in app.builtin:
            raise BadInput(f"the command {name!r} is built in. Choose another name.")


TEMPLATES = "templates"
"""Folder of the templates beside this module. Each is a `string.Template` whose words are those of `_words`."""


def files_of(names: Names, kind: Kind) -> dict[str, str]:
    """Path from the folder of the plugin to text, of every file.

    Parameters
    ----------
    names : Names
    kind : Kind
    """
    words = _words(names, kind)
    parts = _parts(kind, words)
    source, tests = f"src/{names.package}", "tests"
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{source}/__init__.py": "__init__.py",
        f"{source}/plugin.py": "plugin.py",
        f"{tests}/test_plugin.py": "test_plugin.py",
        f"{tests}/test_{kind.kind}.py": f"test_{kind.kind}.py",
    }
    if kind.kind != "recipe":
        files[f"{source}/{kind.kind}.py"] = f"{kind.kind}.py"
    return {path: _filled(template, {**words, **parts}) for path, template in sorted(files.items())}


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a new plugin.

    Parameters
    ----------
    folder : Path
        Folder that is made, with the folders above it.
    files : mapping of str to str

    Raises
    ------
    BadInput
        If there is something at the place of the folder; nothing is written then.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise BadInput(f"{folder} exists already; nothing is written. Choose another folder with -o.") from error
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _words(names: Names, kind: Kind) -> dict[str, str]:
    """Values of the placeholders in the templates, for a name and a kind."""
    bare = names.name.lstrip(".").replace("-", "_")
    attribute = {"command": bare, "reader": f"read_{bare}"}.get(kind.kind, names.cls)
    return {
        "distribution": names.distribution,
        "package": names.package,
        "name": names.name,
        "kebab": names.name.replace("_", "-"),
        "cls": names.cls,
        "attribute": attribute,
        "savable": f"{names.cls}{kind.savable}",
        "kind": kind.kind,
        "module": kind.kind,
        "word": kind.word,
        "title": kind.title,
        "hook": hookspecs.HOOKS[kind.kind],
        "api_version": str(hookspecs.API_VERSION),
    }


def _parts(kind: Kind, words: Mapping[str, str]) -> dict[str, str]:
    """Parts of the files that depend on the kind, made of templates of their own."""
    hooks = _filled("recipe_hook" if kind.kind == "recipe" else "hook", words)
    hooks += _filled("savable", words) if kind.savable else ""
    rows = f"| `tests/` | {'the laws of the conformance kit, and ' if kind.is_stage else ''}what is special about it |"
    if kind.kind != "recipe":
        rows = f"| `src/{words['package']}/{kind.kind}.py` | the {kind.word} `{words['name']}` |\n{rows}"
    return {
        "hooks": hooks.rstrip("\n"),
        "rows": rows,
        "steps": "\n".join(f"- {step}" for step in kind.steps),
        "and_laws": ", and the laws of the conformance kit" if kind.is_stage else "",
        "imports": "from clusterkit.testing import parametrize_with_laws\n" if kind.is_stage else "",
        "laws": _filled("laws", words).rstrip("\n") if kind.is_stage else "",
    }


def _filled(template: str, words: Mapping[str, str]) -> str:
    """A template with its words filled in; one line end at the end."""
    place = resources.files("clusterkit_scaffold") / TEMPLATES / f"{template}.template"
    text = Template(place.read_text(encoding="utf-8")).substitute(words)
    return text.rstrip("\n") + "\n"
