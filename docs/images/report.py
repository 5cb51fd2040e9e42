"""Draws the report page of the demo for the README: ``python docs/images/report.py``, with Chromium on the machine."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

PICTURE = Path(__file__).with_name("report.png")
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def main() -> None:
    """Run the demo in a folder of its own, and take the first screen of its page."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["clusterkit", "demo"], cwd=folder, check=True)
        page = Path(folder, "clusterkit-demo.html").as_uri()
        window = ("--hide-scrollbars", "--window-size=1100,1150", f"--user-data-dir={folder}/browser")
        subprocess.run(["chromium", *QUIET, *window, f"--screenshot={PICTURE}", page], check=True)


if __name__ == "__main__":
    main()
