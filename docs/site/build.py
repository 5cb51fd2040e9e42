"""Builds the site into build/site/html: ``python docs/site/build.py``.

The pages of results and the reference, which the repository does not have, are made first. With ``--markdown`` all
pages are written into build/site/source as they are, and Sphinx is neither needed nor run. With ``--without-running``
the code of the gallery is shown and not run, which takes half the time. Pages of results with holes, values that nobody
recorded yet, are refused with the list of them; ``--holes`` previews such pages. What it builds, where that lies and
how long it took is printed. Every warning is an error. Nothing is fetched from the network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import pages

TARGET = pages.ROOT / "build" / "site"


def main() -> int:
    """The number of errors that Sphinx reports as an exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--markdown", action="store_true", help="only write the pages into build/site/source")
    parser.add_argument("--without-running", action="store_true", help="show the gallery's code, do not run it")
    parser.add_argument("--holes", action="store_true", help="build pages of results that lack values too")
    arguments = parser.parse_args()
    os.environ["CLUSTERKIT_CHECKOUT"] = str(pages.ROOT)
    os.environ["CLUSTERKIT_PLUGINS"] = ""  # built-in stages only, whatever is installed
    os.environ["CLUSTERKIT_GALLERY"] = "show" if arguments.without_running else "run"
    if arguments.markdown:
        collect(TARGET, holes=arguments.holes)
        print(f"the pages: {(TARGET / 'source' / 'index.md').as_uri()}")
        return 0
    began = time.monotonic()
    what = "the pages and the reference" if arguments.without_running else "the pages, the reference and the gallery"
    print(f"building {what}; this takes some minutes", flush=True)
    errors = build(TARGET, holes=arguments.holes)
    end = "built with errors, see above" if errors else f"the site: {(TARGET / 'html' / 'index.html').as_uri()}"
    print(f"{end} ({time.monotonic() - began:.0f} s)")
    return errors


def build(target: Path, *, holes: bool = False) -> int:
    """Collect the pages into ``target/source`` and write ``target/html``."""
    import api
    from sphinx.cmd.build import build_main

    source = collect(target, holes=holes)
    api.write_api(source / "api")
    shutil.copyfile(Path(__file__).parent / "conf.py", source / "conf.py")
    folders = [str(source), str(target / "html")]
    return build_main(["-W", "--keep-going", "-q", "-d", str(target / "doctrees"), *folders])


def collect(target: Path, *, holes: bool = False) -> Path:
    """Write the pages of the checkout and those that are made into ``target/source``; holes are refused by default."""
    sys.path.insert(0, str(pages.DOCS))
    import reference
    import write_results

    results = write_results.made()
    if not holes:
        write_results.whole(results | {"results.md": (pages.DOCS / "results.md").read_text(encoding="utf-8")})
    shutil.rmtree(target, ignore_errors=True)
    pages.copy_pages(target / "source", results | reference.made())
    return target / "source"


if __name__ == "__main__":
    sys.exit(main())
