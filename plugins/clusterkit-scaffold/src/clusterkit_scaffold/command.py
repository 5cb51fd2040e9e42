"""``clusterkit new-plugin`` writes the files of a plugin whose tests pass at once."""

from __future__ import annotations

from pathlib import Path

import click

from clusterkit.cli import console

__all__ = ["new_plugin"]

EPILOG = """\b
Examples:
  clusterkit new-plugin robust-scale --kind featuremap
  clusterkit new-plugin my-recipes --kind recipe -o plugins/my-recipes

KIND is featuremap, solver, labeler, balancer, partitioner (for the slot init), consensus, tuner, driver, recipe,
command or reader.
"""
"""Text below the help; the backspace keeps click from rewrapping the lines after it."""


@click.command("new-plugin", epilog=EPILOG, short_help="Write the files of a new plugin.")
@click.argument("name")
@click.option("--kind", "word", required=True, metavar="KIND", help="What the plugin provides; see below.")
@click.option("-o", "--output", "path", metavar="FOLDER", help="New folder for the files.  [default: NAME]")
def new_plugin(name: str, word: str, path: str | None) -> None:
    """Write a plugin called NAME: a package with a small working example of its KIND, its registration and its tests.

    NAME becomes the name of the distribution, such as robust-scale, and of what is in it, robust_scale (without a
    leading clusterkit-). The tests pass after `pip install -e ".[testing]"`; replace the example by your own method.
    A folder that exists is left as it is.
    """
    from clusterkit_scaffold.files import files_of, kind_of, names_of, write

    kind = kind_of(word)
    names = names_of(name, kind)
    folder = Path(path or name)
    files = files_of(names, kind)
    write(folder, files)
    console.text(f"{folder}: a plugin with the {kind.word} {names.name}, {len(files)} files")
    for file in files:
        console.text(f"  {file}")
    console.text(f"Next: cd {folder} && pip install -e '.[testing]' && pytest")
