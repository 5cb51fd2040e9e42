"""Every registered stage against every law of its kind; nothing to edit when a stage is added."""

from itertools import groupby

import pytest

from clusterkit.contracts.providers import BUILTIN
from clusterkit.testing import parametrize_with_laws
from clusterkit.testing.contract import LAWS as CONTRACT

CASES = parametrize_with_laws(distribution=BUILTIN).args[1]
ABOUT_CLASSES = {law.name for law in CONTRACT}


def _is_about_the_class(case) -> bool:
    return case.id.rpartition("-")[2] in ABOUT_CLASSES


OF_EACH_CLASS = {
    stage: list(cases)
    for stage, cases in groupby(filter(_is_about_the_class, CASES), lambda case: case.id.rpartition("-")[0])
}


@pytest.mark.parametrize("stage", OF_EACH_CLASS)
def test_built_in_class_keeps_the_contract(stage):
    for case in OF_EACH_CLASS[stage]:
        case.values[0]()


@pytest.mark.parametrize("law", [case for case in CASES if not _is_about_the_class(case)])
def test_built_in_stage_keeps_the_law(law):
    law()
