"""``python -m clusterkit_campaign``: run a campaign, or with the word ``faults`` a campaign of faults."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from clusterkit.errors import UnknownName

__all__ = ["main", "seed_of_commit"]

NO_COMMIT = 0xC1057E12
"""Seed where there is no checkout of git."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 0 without failures, 1 with failures, 2 for wrong usage, 130 after Ctrl-C."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["faults"]:
        from clusterkit_campaign.faults import main as faults

        return faults(arguments[1:])
    options = _parser().parse_args(arguments)
    from clusterkit_campaign.cases import Selection
    from clusterkit_campaign.findings import exclusions, split
    from clusterkit_campaign.runner import Outcome, run, write

    try:
        selection = Selection(options.recipe, options.stage).resolved()
    except UnknownName as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    seed = seed_of_commit() if options.seed is None else int(options.seed, 16)
    minutes = None if options.cases is not None and options.minutes is None else (options.minutes or 1.0)

    shown = 0

    def on_report(outcome: Outcome) -> None:
        nonlocal shown
        if not options.verbose:
            return
        for finding in outcome.findings[shown:]:
            print(f"{finding.problem.severity}: {finding.problem.what}\n{finding.snippet}", file=sys.stderr, flush=True)
        shown = len(outcome.findings)
        if outcome.n_cases % 50 == 0:
            fits = outcome.counts["fits"]
            print(
                f"{outcome.n_cases} cases, {fits} fits, {len(outcome.findings)} findings", file=sys.stderr, flush=True
            )

    outcome = run(seed, selection, minutes=minutes, n_cases=options.cases, workers=options.workers, on_report=on_report)
    failures, covered = split(outcome.findings, exclusions())
    path = write(Path(options.output or f"campaign-{seed:08x}"), outcome, failures, covered)
    print(path.read_text(encoding="utf-8"), end="")
    print(f"\nwritten: {path}")
    return 130 if outcome.interrupted else int(bool(failures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m clusterkit_campaign",
        description="Awkward data, odd parameters, relations, references, broken plugins and mutated files, for all "
        "recipes and stages. The word 'faults' instead of options starts the campaign of faults.",
    )
    parser.add_argument("--minutes", type=_positive, help="no case is started after this time (default 1)")
    parser.add_argument("--cases", type=int, help="the first so many cases, whatever time they take")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--recipe", help="only this recipe and the parameters of its stages")
    chosen.add_argument("--stage", help="only what contains this stage: NAME or KIND:NAME")
    parser.add_argument("--seed", metavar="HEX", help="default: the first eight digits of the commit of the checkout")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2); the cases do not depend on it")
    parser.add_argument("--output", metavar="FOLDER", help="where the report is written (default campaign-SEED)")
    parser.add_argument(
        "--verbose", action="store_true", help="on standard error a line every 50 cases, and findings as they come"
    )
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"must be a number of minutes above 0, got {text}")
    return value


def seed_of_commit() -> int:
    """The first eight hexadecimal digits of the commit that is checked out; `NO_COMMIT` without one."""
    folder = Path(__file__).parent
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True, timeout=60
        )
        return int(done.stdout[:8], 16)
    except (OSError, ValueError, subprocess.SubprocessError):
        return NO_COMMIT


if __name__ == "__main__":
    sys.exit(main())
