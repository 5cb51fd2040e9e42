"""Saving fitted estimators as data: no pickle, so a file that is loaded runs no code of its own."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast, final

import attrs
import numpy as np
from sklearn.utils.validation import check_is_fitted

from clusterkit import saving
from clusterkit._version import __version__
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidModelFile, shortened
from clusterkit.samples.array_libraries import to_host

LONGEST = 400
"""Characters of the longest reason that is shown: a file may hold values of any length."""

FITTED = re.compile(r"[A-Za-z]\w*_")
"""Names of the attributes that a fit sets, as in scikit-learn."""

PRIVATE = frozenset({"_names", "_recipe", "_takes_sparse_rows", "_modules"})
"""Attributes with other names that a fitted estimator may have."""


LATER = frozenset({"combine", "metric"})
"""Parameters that files of older versions lack: they have their defaults."""


class SavedAsData:
    """Gives an estimator the method `save`; its parameters and what the fit left are the content of the file."""

    _always_fitted: ClassVar[frozenset[str]] = frozenset({"n_features_in_"})
    """Attributes that every fit sets, without which a file holds no model."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file of data, which `clusterkit.load` reads.

        Parameters
        ----------
        path : path
            Path of any name; ``.clusterkit`` is the usual ending. The file is written beside its place and then moved
            there, so that the path holds the complete new file, or what was there before.

        Raises
        ------
        NotSavable
            If a parameter, or a plugin's part of the fit, is of a class that no file may hold; names the class.
        NotFittedError
            Before the fit.
        OSError
            If the file cannot be written; names path and reason.

        Notes
        -----
        The file is in the safetensors format: arrays as tensors, everything else as JSON. The loaded estimator gives
        the same labels, bit for bit.

        Examples
        --------
        >>> import os, tempfile, clusterkit
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs([20, 20], centers=[[0, 0], [9, 9]], random_state=0)
        >>> model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        >>> path = os.path.join(tempfile.mkdtemp(), "blobs.clusterkit")
        >>> model.save(path)
        >>> bool((clusterkit.load(path).predict(X) == model.labels_).all())
        True
        """
        save_with_facts(path, self, {})

    def saved_fields(self) -> Mapping[str, object]:
        """Fields of the estimator in a file: its parameters and everything that the fit set."""
        # in a fixed order, so that a loaded estimator is saved as the same bytes
        fields = sorted(vars(self).items())
        return {
            name: to_host(value)  # a model in a file belongs to no device
            for name, value in fields
            if value is not None or name != "_recipe"
        }

    @classmethod
    def from_saved_fields(cls, fields: Mapping[str, object]) -> Self:
        """The estimator from the fields in a file, which are checked."""
        estimator: Any = cls
        names = estimator._get_param_names()
        missing = [name for name in names if name not in fields and name not in LATER]
        if missing:
            raise ValueError(f"{cls.__name__} lacks {', '.join(missing)}")
        model = cls(**{name: fields[name] for name in names if name in fields})
        for name, value in fields.items():
            if name in names:
                continue
            if not (FITTED.fullmatch(name) or name in PRIVATE) or callable(getattr(cls, name, None)):
                raise ValueError(f"{cls.__name__} has no attribute {name[:60]!r}")
            setattr(model, name, value)
        return model

    def _check_whole(self) -> None:
        """Raise an error if the fit is incomplete or inconsistent: a file may contain anything."""
        missing = sorted(self._always_fitted - vars(self).keys())
        if missing:
            raise ValueError(f"it lacks {', '.join(missing)}")
        width, names = vars(self)["n_features_in_"], vars(self).get("feature_names_in_")
        if not isinstance(width, int | np.integer) or width < 1:
            raise ValueError(f"n_features_in_ is {width!r}")
        if names is not None and np.shape(names) != (width,):
            raise ValueError(f"feature_names_in_ has not the {width} names of n_features_in_")
        self._check_parameters()
        self._try_out()

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        random_state = vars(self).get("random_state")
        if not isinstance(random_state, np.random.Generator | np.random.RandomState):  # drawing would advance these
            Seeds.of(random_state)

    def _try_out(self) -> None:
        """Use the model on a row of zeros; what is wrong raises some error."""


@final
@attrs.frozen(eq=False)
class LoadedModel:
    """Content of a file of a model.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    facts : mapping of str to object
        Facts that were saved with it, for example the columns of the table that it was fitted on.
    version : str
        The version of clusterkit that wrote the file.
    """

    estimator: SavedAsData
    facts: Mapping[str, object]
    version: str


def save_with_facts(path: str | os.PathLike[str], estimator: object, facts: Mapping[str, object]) -> None:
    """Write a fitted estimator with facts about it, which are JSON; the errors are those of `SavedAsData.save`."""
    check_is_fitted(estimator)
    packed = saving.pack(estimator)
    tree = {**packed.tree(), "clusterkit": __version__, "facts": dict(facts)}
    saving.write(path, saving.Content(tree, packed.tensors))


def load_with_facts(path: str | os.PathLike[str]) -> LoadedModel:
    """The estimator in a file, with the facts that were saved with it; the errors are those of `clusterkit.load`."""
    name = os.fspath(path)
    content = saving.read(path)
    facts, version = content.tree.get("facts"), content.tree.get("clusterkit")
    if not isinstance(facts, dict) or not isinstance(version, str):
        raise InvalidModelFile(name, "it does not say which version of clusterkit saved it")
    estimator = saving.unpack(content, name)
    if not isinstance(estimator, SavedAsData):
        raise InvalidModelFile(name, f"it holds no estimator, but an object of the class {type(estimator).__name__}")
    called = type(estimator).__name__
    try:
        check_is_fitted(estimator)
    except Exception as error:  # scikit-learn asks the estimator, which may have any parameters, for its tags
        raise InvalidModelFile(
            name, f"its {called} is not fitted, or has wrong parameters: {shortened(str(error), LONGEST)}"
        ) from error
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            estimator._check_whole()
    except Exception as error:  # numbers that do not go together fail anywhere
        text = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        text = shortened(text, LONGEST)
        raise InvalidModelFile(name, f"the {called} in it is incomplete or inconsistent: {text}") from error
    return LoadedModel(estimator, cast("Mapping[str, object]", facts), version)
