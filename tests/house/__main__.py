"""Every rule of the house on the whole project: ``python -m tests.house``."""

import gc
import sys

from .rules import RULES


def main() -> int:
    """Print each rule with the places that break it; 1 if there is any."""
    gc.disable()  # the trees live to the end, and looking through them again and again takes most of the time
    worst = 0
    for rule in RULES:
        breaches = list(rule())
        print(f"{'ok  ' if not breaches else 'FAIL'} {(rule.__doc__ or '').splitlines()[0]}")
        for breach in breaches:
            print(f"       {breach}")
        worst = max(worst, len(breaches))
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
