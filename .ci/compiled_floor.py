"""Fails if a compiled module ran less as plain Python than the floor: ``compiled_floor.py COVERAGE.json PER_CENT``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

report, floor = Path(sys.argv[1]), float(sys.argv[2])
modules = json.loads(report.read_text(encoding="utf-8"))["files"]
expected = {path.as_posix() for path in Path("clusterkit").rglob("?*_jit.py")}
share = {path: modules[path]["summary"]["percent_covered"] if path in modules else 0.0 for path in expected}
low = [f"{path}: {per_cent:.0f} %" for path, per_cent in sorted(share.items()) if per_cent < floor]
print(f"{len(expected)} compiled modules, the least covered one by {min(share.values()):.0f} %")
if low:
    sys.exit("\n".join([f"below the floor of {floor:g} %: UNCOMPILED in .ci/deep lacks a test", *low]))
