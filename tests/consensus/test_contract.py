"""What a consensus function returns is checked: every sample gets a label, or an error names the function."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from clusterkit.core.errors import BrokenStage
from clusterkit.core.stages import Consensus


@attrs.frozen
class OddConsensus(Consensus):
    name: ClassVar[str] = "odd"
    takes_k: ClassVar[bool] = True
    what: Any = None

    def merge(self, labelings, k, rng):
        return self.what(np.arange(4) % 2)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda y: y * np.nan, "it must give 4 integer labels, got shape (4,) of float64"),
        (lambda y: y[1:], "it must give 4 integer labels, got shape (3,)"),
        (lambda y: y - 1, "it gave the label -1, outside 0.."),
    ],
)
def test_consensus(returned, message):
    from clusterkit.consensus import combine

    with pytest.raises(
        BrokenStage, match=re.escape(f"consensus 'odd' of module {__name__} breaks its contract: {message}")
    ):
        combine([[0, 0, 1, 1], [0, 1, 0, 1]], OddConsensus(returned), n_clusters=2)
