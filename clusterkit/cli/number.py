"""``-k 3``, ``-k auto`` and ``-k 2-8``: the number of clusters on the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from clusterkit._typing import NumberLike

__all__ = ["NUMBER", "NumberOfClusters"]


class NumberOfClusters(click.ParamType):
    """A number, "auto", or a range such as 2-8, which becomes a pair."""

    name = "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What may be written."""
        return "N|auto|N-M"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> NumberLike:
        """The value of the parameter `n_clusters`."""
        if not isinstance(value, str):
            return cast("NumberLike", value)  # converted before
        word = value.strip()
        if word.lower() == "auto":
            return "auto"
        if word.isdecimal() and int(word) >= 1:
            return int(word)
        pair = re.fullmatch(r"(\d+)\s*[-:]\s*(\d+)", word)
        if pair is None:
            self.fail(
                f"{value!r} is no number of clusters: write a number from 1, auto, or a range such as 2-8", param, ctx
            )
        least, most = int(pair[1]), int(pair[2])
        if not 2 <= least <= most:
            self.fail(f"{value!r}: a range goes up, from 2 or more clusters, such as 2-8", param, ctx)
        return (least, most)


NUMBER = NumberOfClusters()
"""The type of the option -k."""
