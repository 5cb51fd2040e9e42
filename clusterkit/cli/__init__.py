"""The command line: `clusterkit`.

Nothing heavy is imported before a command runs, so that ``clusterkit --help`` answers at once.

======================  ===============================================================================================
app                     The group of commands: the built-in ones by name, then those of plugins.
fit, predict, explain,  A command each.
report, demo
listings                The lists `stages`, `recipes` and `plugins`.
plugin_tools            ``clusterkit plugins --check``.
data                    From the argument DATA to an array: which file, which columns, and what is refused.
options                 Options of several commands, and from ``--set solver.C=1`` to an estimator.
outputs, models,        What a command writes: label files, fitted models, pictures, summaries.
picture, summary
console                 How tables and facts are printed: for a terminal, for a pipe, as JSON. Plugins may use it.
failures                Exceptions and Ctrl-C to one line on standard error and an exit code.
early                   Wrong files and names before slow imports; one line on a terminal about what takes long.
======================  ===============================================================================================
"""

from __future__ import annotations

from clusterkit.cli.app import App

__all__ = ["app", "main"]

app = App(
    name="clusterkit",
    commands={
        "demo": "clusterkit.cli.demo:demo",
        "fit": "clusterkit.cli.fit:fit",
        "predict": "clusterkit.cli.predict:predict",
        "explain": "clusterkit.cli.predict:explain",
        "report": "clusterkit.cli.report:report",
        "stages": "clusterkit.cli.listings:stages",
        "recipes": "clusterkit.cli.listings:recipes",
        "plugins": "clusterkit.cli.listings:plugins",
    },
    help="""Cluster tables of numbers with published algorithms, composed of stages.

    \b
    clusterkit demo                          a first example, with a picture
    clusterkit fit data.csv -k 3 -o out.csv  cluster your own rows
    clusterkit report data.csv -o page.html  cluster them and read what is in the clusters
    clusterkit recipes                       list the algorithms

    Exit codes: 0 success, 1 unexpected failure, 2 wrong usage or data, 130 interrupted.
    """,
)


def main() -> None:
    """Entry point of the script."""
    app()
