"""Builds the site into build/site/html: ``python docs/site/build.py``.

With ``--without-running`` the code of the gallery is shown and not run, which takes half the time. What it builds,
where that lies and how long it took is printed. Every warning is an error. Nothing is fetched from the network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import api
import pages

TARGET = pages.ROOT / "build" / "site"


def main() -> int:
    """The number of errors that Sphinx reports as an exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--without-running", action="store_true", help="show the gallery's code, do not run it")
    arguments = parser.parse_args()
    os.environ["CLUSTERKIT_CHECKOUT"] = str(pages.ROOT)
    os.environ["CLUSTERKIT_PLUGINS"] = ""  # built-in stages only, whatever is installed
    os.environ["CLUSTERKIT_GALLERY"] = "show" if arguments.without_running else "run"
    began = time.monotonic()
    what = "the pages and the reference" if arguments.without_running else "the pages, the reference and the gallery"
    print(f"building {what}; this takes some minutes", flush=True)
    errors = build(TARGET)
    end = "built with errors, see above" if errors else f"the site: {(TARGET / 'html' / 'index.html').as_uri()}"
    print(f"{end} ({time.monotonic() - began:.0f} s)")
    return errors


def build(target: Path) -> int:
    """Collect the pages into ``target/source`` and write ``target/html``."""
    from sphinx.cmd.build import build_main

    source = target / "source"
    shutil.rmtree(target, ignore_errors=True)
    pages.copy_pages(source)
    api.write_api(source / "api")
    shutil.copyfile(Path(__file__).parent / "conf.py", source / "conf.py")
    folders = [str(source), str(target / "html")]
    return build_main(["-W", "--keep-going", "-q", "-d", str(target / "doctrees"), *folders])


if __name__ == "__main__":
    sys.exit(main())
