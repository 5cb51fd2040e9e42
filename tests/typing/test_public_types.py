"""What type checkers know of the public interface, under their strict rules, by way of short programs that use it.

The programs in ``snippets`` hold what must pass and, after ``type: ignore``, what must be refused: both checkers report
an ignore that is not needed.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import clusterkit

SNIPPETS = Path(__file__).parent / "snippets"
LIBRARY = Path(clusterkit.__file__).parents[1]

pytestmark = pytest.mark.timeout(600) if hasattr(pytest.mark, "timeout_") else ()


def run_in(folder, *command):
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
