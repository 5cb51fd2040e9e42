"""Options of several commands.

``--set solver.C=1`` sets parameters (`parsed`), from which `estimator` makes an estimator. ``--device`` says where the
blocks of rows of a command are computed. ``-k 3``, ``-k auto`` and ``-k 2-8`` are numbers of clusters.
`PreparationOptions` overrule what the preparation of a table decides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from clusterkit.cli.data import TableOptions, grouped, keys_of
from clusterkit.cli.failures import BadInput

if TYPE_CHECKING:
    from clusterkit.contracts.arguments import NumberLike
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.tables import Preparation, Table

_WORDS = {"true": True, "false": False, "none": None}
"""Values that may be written in lower case."""


def parsed(items: Iterable[str]) -> dict[str, object]:
    """Parameters by nested name.

    A value is a Python literal, or else a string; ``true``, ``false`` and ``none`` may have any case. For
    ``featuremap`` several names may be separated by commas.

    Parameters
    ----------
    items : iterable of str
        Texts ``SLOT.PARAMETER=VALUE``.

    Raises
    ------
    BadInput
        If an item has no ``=``, or a parameter occurs twice.

    Examples
    --------
    >>> parsed(["solver.C=1", "labeler=argmax", "featuremap=zscore,elm", "balancer=none"])
    {'solver__C': 1, 'labeler': 'argmax', 'featuremap': ['zscore', 'elm'], 'balancer': None}
    """
    parameters: dict[str, Any] = {}
    for item in items:
        key, sign, word = item.partition("=")
        name = key.strip().replace(".", "__")
        if not sign or not name:
            raise BadInput(f"--set {item!r}: write SLOT.PARAMETER=VALUE, for example solver.C=1")
        if name in parameters:
            raise BadInput(f"--set gives {key.strip()!r} twice")
        parameters[name] = _value(name, word.strip())
    return parameters


def estimator(
    name: str, clusters: NumberLike, seed: int, settings: Iterable[str], metric: str | None = None
) -> Pipeline | Driven:
    """The estimator of a recipe, with the parameters of --set.

    Parameters
    ----------
    name : str
        The recipe.
    clusters : int, "auto", (int, int) or None
        Number of clusters, from -k.
    seed : int
    settings : iterable of str
        The values of --set; see `parsed`.
    metric : str or None, default None
        The value of --metric; None leaves it to the recipe.

    Raises
    ------
    BadInput
        If --set contains what has an option of its own, or something that the recipe refuses.
    UnknownName
        If there is no such recipe.
    """
    from clusterkit.estimators.build import recipe

    recipe(name)  # an unknown recipe is reported before a mistake in --set
    changes = parsed(settings)
    occupied = {
        "n_clusters": ("-k", clusters is not None),
        "random_state": ("--seed", True),
        "metric": ("--metric", metric),
    }
    for key, (option, taken) in occupied.items():
        if key in changes and taken:
            raise BadInput(f"--set {key}: use {option} instead")
    if metric is not None:
        changes["metric"] = metric
    try:
        return recipe(name, **{"n_clusters": clusters, "random_state": seed, **changes})
    except ValueError as error:
        raise BadInput(f"--set {' '.join(settings)}: {error}" if settings else str(error)) from error


def check_number(name: str, model: Pipeline | Driven, number: object) -> None:
    """Raise `BadInput` for a number of clusters where the recipe finds it, and for none where it is needed.

    Parameters
    ----------
    name : str
        The recipe.
    model : Pipeline or Driven
        Estimator of the recipe.
    number : int or None
        All else is checked by the fit.
    """
    from clusterkit.contracts.registry import registry
    from clusterkit.errors import IncompatibleStages, NeedsClusters
    from clusterkit.estimators.pipeline import Pipeline

    if not isinstance(model, Pipeline) or not (number is None or isinstance(number, int)):
        return
    clusters = registry.get("recipe", name).clusters
    try:
        model._composition_at(number)
    except NeedsClusters as error:
        if clusters == "given":
            raise BadInput(
                f"recipe {name} needs a number of clusters: give one with -k 3, or a range to choose in, such as -k 2-8"
            ) from error
    except IncompatibleStages as error:
        if clusters == "found" and number is not None:
            raise BadInput(
                f"recipe {name} finds the number of clusters itself: leave -k out, or take a recipe that is told the "
                "number, such as kmeans or mass-cut; `clusterkit recipes` says which are"
            ) from error
    except ValueError:
        return  # another mistake, which the fit explains


def _value(name: str, word: str) -> Any:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    if name == "featuremap" and "," in word:
        return [part.strip() for part in word.strip("[]").split(",")]
    return word


def device(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--device`` to a command; the device is tried out before anything is read."""
    add = click.option(
        "--device",
        metavar="NAME",
        callback=_chosen,
        expose_value=False,
        help="Compute there: cuda, cuda:1, torch:cuda:0, cupy:cuda:0; cpu is none.  [default: $CLUSTERKIT_DEVICE]",
    )
    return add(command)


def _chosen(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Choose the device until the command ends."""
    if value is None:
        return
    from clusterkit.samples.devices import config

    context.with_resource(config(device=value))


class NumberOfClusters(click.ParamType):
    """A number, "auto", or a range such as 2-8, which becomes a pair."""

    name = "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Placeholder of the value in the help."""
        return "N|auto|N-M"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> NumberLike:
        """The value of the parameter `n_clusters`."""
        if not isinstance(value, str):
            return cast("NumberLike", value)  # converted before
        word = value.strip()
        if word.lower() == "auto":
            return "auto"
        if word.isdecimal() and int(word) >= 1:
            return int(word)
        pair = re.fullmatch(r"(\d+)\s*[-:]\s*(\d+)", word)
        if pair is None:
            self.fail(
                f"{value!r} is no number of clusters: write a number from 1, auto, or a range such as 2-8", param, ctx
            )
        least, most = int(pair[1]), int(pair[2])
        if not 2 <= least <= most:
            self.fail(f"{value!r}: a range goes up, from 2 or more clusters, such as 2-8", param, ctx)
        return (least, most)


NUMBER = NumberOfClusters()
"""The type of the option -k."""


SCALES = ("auto", "none", "zscore", "spread", "minmax")
"""Choices for units; those of `clusterkit.tables.Preparation`, which is not imported for the help."""

NA_CHOICES = ("auto", "level", "gap")
"""Choices for texts such as NA; those of `clusterkit.tables.Preparation`."""

GAP_CHOICES = ("similar", "typical")
"""Methods of filling gaps; those of `clusterkit.tables.Preparation`."""

OVERRULED = ("as_category", "as_number", "as_date", "as_ordered", "keep")
"""Options that name columns."""


class PreparationOptions(NamedTuple):
    """The values of the options that `options` adds.

    Parameters
    ----------
    as_category, as_number, as_date, as_ordered, keep : tuple of str
        Columns, written as in --columns.
    scale : str
    na : str
    gaps : str
    sphere : bool
    weight : tuple of (str, float)
        Columns with their weights.
    """

    as_category: tuple[str, ...] = ()
    as_number: tuple[str, ...] = ()
    as_date: tuple[str, ...] = ()
    as_ordered: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    scale: str = "auto"
    na: str = "auto"
    gaps: str = "similar"
    sphere: bool = True
    weight: tuple[tuple[str, float], ...] = ()

    def of_metric(self, metric: str | None) -> PreparationOptions:
        """These options without scaling where a metric compares whole rows: scaled columns have other directions."""
        if metric in (None, "euclidean"):
            return self
        return self._replace(scale="none" if self.scale == "auto" else self.scale, sphere=False)

    def spec(self, table: Table, table_options: TableOptions) -> Preparation:
        """The preparation of a table, without the columns that --columns and --drop leave out."""
        from clusterkit.tables import Preparation
        from clusterkit.tables.cells.column_names import positions

        chosen = {table.names[j] for j in table_options.chosen(table.names, table.title)}
        uses = {
            option: tuple(
                table.names[j]
                for key in keys_of(getattr(self, option), table.names)
                for j in positions(key, table.names, table.title)
            )
            for option in OVERRULED
        }
        drop = tuple(name for name in table.names if name not in chosen)
        # decimal mark and order of dates are those of the table: later tables may have others
        return Preparation(
            **uses,
            drop=drop,
            scale=self.scale,
            decimal=None,
            day_first=None,
            na=self.na,
            gaps=self.gaps,
            sphere=self.sphere,
            weights={
                table.names[j]: weight for key, weight in self.weight for j in positions(key, table.names, table.title)
            },
        )


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command receives them as `preparation`."""
    choices = (
        click.option(
            "--gaps",
            type=click.Choice(GAP_CHOICES),
            default="similar",
            show_default=True,
            help="What fills gaps: the value of the most similar of up to 500 rows, which the model keeps; or the mean "
            "or most frequent level of the column.",
        ),
        click.option(
            "--na",
            type=click.Choice(NA_CHOICES),
            default="auto",
            show_default=True,
            help="Whether texts such as NA, None or ? are levels; auto: NA among codes of countries or zones, None "
            "among few other levels, ? and - in columns of --as-category.",
        ),
        click.option(
            "--sphere/--no-sphere",
            default=True,
            help="Whether latitudes and longitudes, by names and ranges, become points on a sphere.  [default: sphere]",
        ),
        click.option(
            "--scale",
            type=click.Choice(SCALES),
            default="auto",
            show_default=True,
            help="Units: auto is zscore where they differ, else none; spread subtracts nothing.",
        ),
        click.option(
            "--weight",
            multiple=True,
            type=(str, float),
            metavar="COL TIMES",
            help="Count a column so many times in squared distances; 0 leaves it out.",
        ),
        click.option("--keep", multiple=True, metavar="COLS", help="Columns to use though they look like identifiers."),
        click.option(
            "--as-ordered",
            multiple=True,
            metavar="COLS",
            help="Columns of ordered levels: numbers, or texts with a number in each.",
        ),
        click.option("--as-date", multiple=True, metavar="COLS", help="Columns to read as dates."),
        click.option("--as-number", multiple=True, metavar="COLS", help="Columns to read as numbers."),
        click.option(
            "--as-category", multiple=True, metavar="COLS", help="Columns whose values are names, not numbers."
        ),
    )
    return grouped(command, "preparation", PreparationOptions, choices)
