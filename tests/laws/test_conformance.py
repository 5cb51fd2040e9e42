"""Every registered stage against every law of its kind; nothing to edit when a stage is added."""

from __future__ import annotations

from clusterkit.contracts.providers import BUILTIN
from clusterkit.testing import parametrize_with_laws


@parametrize_with_laws(distribution=BUILTIN)
def test_built_in_stage_keeps_the_law(law):
    law()
