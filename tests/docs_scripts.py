"""Scripts below docs as modules, for the tests of the pages."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[1] / "docs"


def script(name: str) -> ModuleType:
    """The script of a name such as ``site/pages``, loaded once."""
    known = f"docs_{name.replace('/', '_')}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, DOCS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]
