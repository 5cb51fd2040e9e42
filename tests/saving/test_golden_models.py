"""Files of every released version load, and the models in them give the labels that they gave then."""

import json

import numpy as np
import pytest

from clusterkit import load
from clusterkit.contracts.outcomes import Ending, Status
from clusterkit.estimators.preparing import fit_prepared

from .golden_models import FOLDER, ROWS, TABLE, labels_of

FILES = sorted(FOLDER.glob("*/*.clusterkit"))


def test_there_are_files_of_every_version_with_this_format():
    assert {path.parent.name for path in FILES} >= {"0.2.0"}
    assert len(FILES) >= 17


def test_there_is_one_with_a_preparation():
    [path] = FOLDER.glob("0.2.0/prepared.clusterkit")
    fitted = load(path).preparation_
    kinds = {type(plan).__name__ for plan in fitted.plans}
    assert kinds == {"CategoryColumn", "DateColumn", "LeftOut", "NumberColumn"}
    assert "age is a gap" in fitted.features


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_old_file_gives_its_labels(path, tmp_path):
    expected = json.loads(path.with_name("labels.json").read_text(encoding="utf-8"))[path.stem]
    model = load(path)
    assert labels_of(model) == expected
    model.save(tmp_path / "again.clusterkit")
    assert labels_of(load(tmp_path / "again.clusterkit")) == expected


@pytest.mark.parametrize(("interrupted", "ending"), [(True, Ending.INTERRUPTED), (False, Ending.OUT_OF_ITERATIONS)])
def test_a_status_of_before_there_were_endings(interrupted, ending):
    old = {"n_iter": 3, "converged": False, "reason": "as it was", "interrupted": interrupted}
    assert Status(**Status.migrated(old, 1)) == Status(3, ending, "as it was")
    fitted = load(FOLDER / "0.2.0" / "gmmc.clusterkit")
    assert fitted.converged_
    assert fitted.outcome_.status.ending is Ending.CONVERGED


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_old_model_can_be_fitted_again(path):
    model = load(path)
    if not hasattr(model, "labels_"):
        pytest.skip("a classifier needs classes")
    labels = model.labels_
    if hasattr(model, "preparation_"):
        fit_prepared(model, TABLE, model.preparation_.preparation)
    else:
        model.fit(ROWS)
    np.testing.assert_array_equal(np.unique(model.labels_), np.unique(labels))
