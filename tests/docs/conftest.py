"""The pages that the repository does not have, because they are made where the site is built."""

import pytest
from docs_scripts import script


@pytest.fixture(scope="session")
def made() -> dict[str, str]:
    """The text of these pages by their paths below docs."""
    pytest.importorskip("clusterkit_papers")
    results = script("write_results")
    return results.whole(results.made()) | script("site/reference").made()
