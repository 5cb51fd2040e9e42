"""The list of faults, and ``python -m clusterkit_campaign faults``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from clusterkit._typing import Rng
from clusterkit_campaign.faults.children import NOT_TRIED
from clusterkit_campaign.faults.disks import DISKS
from clusterkit_campaign.faults.environments import ENVIRONMENTS
from clusterkit_campaign.faults.interrupts import INTERRUPTS
from clusterkit_campaign.faults.kills import KILLS
from clusterkit_campaign.faults.starts import STARTS
from clusterkit_campaign.faults.threads import THREADS

__all__ = ["FAULTS", "main", "problems"]

Fault: TypeAlias = Callable[[Path, Rng, int], Iterator[str]]
"""From an empty folder, a random generator and a number of times to problems."""

FAULTS: Mapping[str, Fault] = {**STARTS, **DISKS, **ENVIRONMENTS, **THREADS, **KILLS, **INTERRUPTS}
"""All faults by name; those that start processes in other ways first, before this one has been forked often."""


def problems(name: str, *, kills: int, interrupts: int, seed: int) -> list[str]:
    """What a fault shows; nothing if all is well. A line that begins with `NOT_TRIED` is no problem.

    Parameters
    ----------
    name : str
        One of `FAULTS`.
    kills, interrupts : int
        How often a process is killed or interrupted.
    seed : int
        For the moments.
    """
    count = interrupts if name in INTERRUPTS else kills
    with tempfile.TemporaryDirectory() as folder:
        return list(FAULTS[name](Path(folder), np.random.default_rng(seed), count))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 0 without problems, 1 with some, 2 where there is no POSIX."""
    parser = argparse.ArgumentParser(prog="python -m clusterkit_campaign faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="kills of each command (default 100)")
    parser.add_argument("--interrupts", type=int, default=200, help="Ctrl-C over ten recipes (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="for the moments (default 0)")
    parser.add_argument("--only", action="append", choices=list(FAULTS), help="only this fault; may be repeated")
    options = parser.parse_args(arguments)
    if os.name != "posix":
        print("error: faults need the signals and limits of POSIX", file=sys.stderr)
        return 2
    failures = 0
    for name in options.only or FAULTS:
        lines = problems(name, kills=options.kills, interrupts=options.interrupts, seed=options.seed)
        failed = [line for line in lines if not line.startswith(NOT_TRIED)]
        verdict = f"{len(failed)} problems" if failed else "ok" if not lines else "nothing was seen"
        print(f"{name}: {verdict}", flush=True)
        for line in lines[:20]:
            print(f"  {line}", flush=True)
        failures += len(failed)
    return int(failures > 0)
