"""pytest plugin: whole numbers of numpy wrap around without a warning, as those of compiled functions do.

The conformance kit makes errors of warnings, so a filter of warnings is not enough; it still serves other threads.
"""

from __future__ import annotations

import numpy as np
import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Silence overflow in the main thread."""
    np.seterr(over="ignore")
