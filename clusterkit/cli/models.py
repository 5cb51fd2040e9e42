"""Model files: a fitted pipeline, the columns it was fitted on, and the version that wrote the file."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypedDict

from clusterkit.cli import outputs
from clusterkit.cli.data import check_file
from clusterkit.cli.failures import BadInput
from clusterkit.cli.summary import columns_of
from clusterkit.errors import InvalidModelFile, counted, first_names, shortened

if TYPE_CHECKING:
    from clusterkit._typing import Labels
    from clusterkit.cli.data import TableOptions
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.tables import Table

ENDINGS = ("", ".clusterkit", ".model", ".safetensors")
"""Endings that a model file may have."""

MOST_NAMES = 5
"""Number of column names in a message."""


def check(path: str | None) -> None:
    """Raise `BadInput` before the fit if the ending of the file is none of a model."""
    outputs.check_ending(path, ENDINGS, "a model")


def save(path: str, model: Pipeline | Driven, recipe: str, *, named: bool) -> None:
    """Write a model file, whole or not at all: the fitted model, and whether its columns have names."""
    from clusterkit.estimators.saving import save_with_facts

    save_with_facts(path, model, {"named": named, "recipe": recipe})


class ModelFile(TypedDict):
    """Content of a model file.

    Parameters
    ----------
    clusterkit : str
        The version that wrote it.
    pipeline : Pipeline or Driven
        The fitted estimator.
    recipe : str
        Name of its recipe.
    columns : list of str
        Columns of the data it was fitted on.
    named : bool
        Whether these are names in the data, or numbers.
    """

    clusterkit: str
    pipeline: Pipeline | Driven
    recipe: str
    columns: list[str]
    named: bool


def load(path: str) -> ModelFile:
    """Read a model file; of one that was saved in Python the columns are those of the fit.

    Raises
    ------
    BadInput
        If there is no such file, it is no model, or holds no clustering.
    InvalidModelFile
        If it is damaged.
    """
    check_file(path)
    with open(path, "rb") as file:
        first = file.read(9)
    if first[8:] != b"{":  # the header of a file of tensors; nothing is imported for another one
        raise BadInput(f"{path} is no model of `clusterkit fit --save`")
    from clusterkit.estimators.saving import load_with_facts

    loaded = load_with_facts(path)
    estimator: Any = loaded.estimator
    facts = loaded.facts
    if not hasattr(estimator, "_why_not_inductive"):
        raise BadInput(f"{path} holds a {type(estimator).__name__}, which `clusterkit predict` does not use")
    has_names = hasattr(estimator, "preparation_") or hasattr(estimator, "feature_names_in_")
    named, recipe = facts.get("named", has_names), facts.get("recipe", type(estimator).__name__)
    if not isinstance(named, bool) or not isinstance(recipe, str):
        raise InvalidModelFile(path, "what it says about its table or its recipe is wrong")
    columns = columns_of(estimator)
    return ModelFile(clusterkit=loaded.version, pipeline=estimator, recipe=recipe, columns=columns, named=named)


def labels_of(model: ModelFile, rows: object) -> Labels:
    """The labels of the rows, (n,), that `rows_of` gives."""
    any_rows: Any = rows
    with warnings.catch_warnings():
        # scikit-learn misses the names of columns that were matched by name here
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return model["pipeline"].predict(any_rows)


def rows_of(model: ModelFile, table: Table, options: TableOptions) -> object:
    """Rows for `predict` of the model: the columns of a table that the model uses.

    Columns are matched by name, so their order does not matter and further columns are ignored. Where only one of the
    model and the data has names, they are matched by position: all columns of the fit, or those that it used.

    Raises
    ------
    BadInput
        If columns are missing, or without names their number differs.
    """
    import attrs

    preparation = getattr(model["pipeline"], "preparation_", None)
    if preparation is None:
        return table.pick(places_of(model, table, options)).numbers()
    chosen = options.chosen(table.names, table.title)
    columns = [attrs.evolve(column, header="") for column in table.columns()]  # columns are matched here
    if model["named"] != table.named and len(chosen) == len(preparation.columns):
        of_position = [columns[j] for j, plan in zip(chosen, preparation.plans, strict=True) if plan.used]
    else:
        of_position = [columns[j] for j in places_of(model, table, options)]
    return dict(zip(preparation.used, of_position, strict=True))


def places_of(model: ModelFile, table: Table, options: TableOptions) -> list[int]:
    """Positions in the data of the columns that the model uses; `rows_of` says which errors there are."""
    fitted_columns, chosen = model["columns"], options.chosen(table.names, table.title)
    if model["named"] == table.named:
        places = _places(table, chosen, fitted_columns)
        missing = [name for name in fitted_columns if name not in places]
        folded = _folded(table, chosen)
        if table.named and len(missing) == len(fitted_columns) and not any(_fold(name) in folded for name in missing):
            names = first_names([shortened(table.names[j]) for j in chosen], MOST_NAMES)
            raise BadInput(
                f"{table.title} has none of the {counted(len(missing), 'column')} that the model was fitted on "
                f"({first_names([shortened(name) for name in missing], MOST_NAMES)}); the names in it are {names}. If "
                "its first row has data and no names, add --no-header: columns are then found by their position"
                f"{table.other_sheets}"
            )
        if missing:
            raise BadInput(
                f"{table.title} lacks {len(missing)} of the {len(fitted_columns)} columns the model was fitted on: "
                f"{first_names(missing, MOST_NAMES)}{_nearly(missing, folded)}"
                f"{'' if any(_fold(name) in folded for name in missing) else table.other_sheets}"
            )
        return [places[name] for name in fitted_columns]
    if len(chosen) != len(fitted_columns):
        raise BadInput(
            f"{table.title} has {len(chosen)} columns, the model was fitted on {len(fitted_columns)} "
            f"({first_names(fitted_columns, MOST_NAMES)}); choose them with --columns{table.other_sheets}"
        )
    return chosen


def _fold(name: str) -> str:
    """A name without case and blanks, which people write in several ways."""
    return " ".join(name.casefold().split())


def _folded(table: Table, chosen: list[int]) -> dict[str, str]:
    """Names of columns by their form from `_fold`."""
    return {_fold(table.names[j]): table.names[j] for j in chosen}


def _nearly(missing: list[str], folded: dict[str, str]) -> str:
    """The end of a sentence about columns whose names differ from missing ones in case or blanks only."""
    near = [(folded[_fold(name)], name) for name in missing if _fold(name) in folded]
    if not near:
        return ""
    if len(near) == 1:
        return f"; it has {shortened(near[0][0])!r}, but not {shortened(near[0][1])!r}"
    pairs = first_names([f"{shortened(its)!r} for {shortened(name)!r}" for its, name in near], MOST_NAMES)
    return f"; their names are written otherwise, {pairs}: write them as in the fit"


def _places(table: Table, chosen: list[int], used: list[str]) -> dict[str, int]:
    """The position of each column by its name; where several have it, one of them must have been chosen.

    Raises
    ------
    BadInput
        If the model uses a column that is there twice.
    """
    from clusterkit.tables.cells.column_names import place_of

    places = {table.names[j]: j for j in chosen}
    groups: dict[str, list[int]] = {}
    for j in chosen:
        if table.names[j] in table.shared:
            groups.setdefault(table.shared[table.names[j]], []).append(j)
    for header, group in groups.items():
        names = [table.names[j] for j in group]
        if len(group) == 1:
            places.setdefault(header, group[0])
        elif header in used or any(name in used for name in names):
            raise BadInput(
                f"{table.title} has {len(group)} columns named {header!r}, and the model uses one: leave out all but "
                f"one with --drop; here they are called {first_names(names, MOST_NAMES)}"
            )
    free = [name for name in places if name not in used]
    for name in used:
        place = None if name in places else place_of(name, free)
        if place is not None:  # the same letters, with accents encoded in another way
            places[name] = places[free[place]]
    return places


def decimal_of(model: ModelFile) -> str | None:
    """The mark before the decimals of the texts that a model was fitted on; None where there were none."""
    preparation = getattr(model["pipeline"], "preparation_", None)
    decimal_marks = [] if preparation is None else [getattr(plan, "decimal", ".") for plan in preparation.plans]
    return "," if "," in decimal_marks else None
