"""Ctrl-C at drawn moments: the labels so far are kept, or the interrupt ends the fit; no thread is left."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from clusterkit._typing import Rng
from clusterkit_campaign.data_sets import blobs
from clusterkit_campaign.faults.children import Ended, clusterkit, forked
from clusterkit_campaign.fits import of_recipe

__all__ = ["INTERRUPTS"]

RECIPES = ("kmeans", "emmc", "emmc-multistart", "nmf", "svc", "psvc", "fuzzy-cmeans", "ncut", "cpmmc", "gmmc")
"""Ten recipes of all families."""

ROWS = 240
"""Rows of the samples: the fits take from hundredths of a second to a second."""


def _fit(name: str) -> int:
    """Fit in a forked process and tell how it ended."""
    X = np.abs(blobs(np.random.default_rng(0), n=ROWS, d=4))
    threads = threading.active_count()
    answer: dict[str, object] = {}
    try:
        model = of_recipe(name).estimator(2, 0).fit(X)
        answer = {
            "labels": len(model.labels_), "interrupted": bool(model.interrupted_), "reason": model.stop_reason_,
            "finite": int(model.labels_.min()) >= -1,
        }  # fmt: skip
    except KeyboardInterrupt:
        answer = {"raised": True}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    alive = [each.name for each in threading.enumerate() if not each.daemon]
    answer["threads"] = max(0, len(alive) - threads)
    print(json.dumps(answer))
    sys.stdout.flush()
    return 0


def fits(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """`count` interrupts in all, spread over the recipes."""
    wholes = {name: forked(partial(_fit, name)) for name in RECIPES}
    for number in range(count):
        name = RECIPES[number % len(RECIPES)]
        moment = float(rng.uniform(0.0, wholes[name].seconds))
        ended = forked(partial(_fit, name), sent=signal.SIGINT, after=moment)
        yield from (f"{name} after {moment:.3f} s: {what}" for what in _complaints(ended))


def _complaints(ended: Ended) -> Iterator[str]:
    if ended.hung:
        yield "it hangs"
        return
    try:
        answer = json.loads(ended.text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        # the interrupt came before the fit, or after it, and Python ended as it does
        if ended.code not in (130, 0) or "Traceback" in ended.text:
            yield f"exit status {ended.code}: {ended.text[-300:]}"
        return
    if answer["threads"]:
        yield f"{answer['threads']} threads are left"
    if answer.get("raised"):
        return
    if answer["labels"] != ROWS or not answer["finite"]:
        yield f"labels that are none: {answer}"


def commands(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """The command line: one line, exit status 130 or 0, and a file of labels that is whole or absent."""
    data, labels = folder / "data.csv", folder / "labels.csv"
    np.savetxt(data, blobs(np.random.default_rng(0), n=ROWS), delimiter=",", header="a,b", comments="")
    command = clusterkit("fit", data, "-r", "emmc-multistart", "-k", 2, "-o", labels)
    whole = forked(command)
    for _ in range(max(1, count // 10)):
        labels.unlink(missing_ok=True)
        ended = forked(command, sent=signal.SIGINT, after=float(rng.uniform(0.0, whole.seconds)))
        if ended.hung or ended.code not in (0, 130) or "Traceback" in ended.text:
            yield f"exit status {ended.code}: {ended.text[-300:]}"
        if labels.exists() and len(labels.read_text(encoding="utf-8").splitlines()) != ROWS + 1:
            yield "the file of labels is cut short"


INTERRUPTS = {"Ctrl-C in fits": fits, "Ctrl-C in commands": commands}
"""The faults of this file: generators of problems."""
