"""The conformance kit, then what is special about this stage."""

from __future__ import annotations

import numpy as np
from clusterkit_example.rows_medians import RowsMedians

from clusterkit import Pipeline, plugins
from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import Embedding
from clusterkit.testing import parametrize_with_laws


@parametrize_with_laws(distribution="clusterkit-example")
def test_laws(law):
    law()


def test_the_entry_point_alone_provides_it():
    [plugin] = [plugin for plugin in plugins() if plugin.distribution == "clusterkit-example"]
    assert plugin.problem is None
    assert plugin.provides == (("labeler", "rows_medians"), ("savable", "NearestMedian"))


def test_works_in_a_pipeline():
    X = np.abs(np.random.default_rng(0).normal([[0.0, 4.0]] * 20 + [[4.0, 0.0]] * 20, 0.3))
    model = Pipeline("minmax", "nmf", "rows_medians", n_clusters=2, random_state=0).fit(X)
    assert sorted(np.bincount(model.labels_)) == [20, 20]
    assert len(set(model.labels_[:20])) == 1


def test_outliers_do_not_move_medians():
    """The median of the first cluster is 0 and the border 5; its mean, 0.4, would put the border at 5.2."""
    rows = np.array([[0.0]] * 9 + [[4.0]] + [[10.0]] * 10)
    labeling = RowsMedians().label(Embedding(rows, np.asarray), None, Task(20, 2), np.random.default_rng(0))
    assert labeling.labels.tolist() in ([0] * 10 + [1] * 10, [1] * 10 + [0] * 10)
    first, second = labeling.predict(np.array([[4.9], [5.1]]))
    assert first == labeling.labels[0]
    assert second == labeling.labels[-1]
