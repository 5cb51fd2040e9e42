"""Logarithmic axes with plain numbers, for the pictures of figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis

__all__ = ["plain_log"]


def plain_log(axis: Axis, *, decades: bool = False) -> None:
    """Write the ticks of a logarithmic axis as plain numbers.

    Parameters
    ----------
    axis : Axis
        The x axis or y axis of some axes, which is made logarithmic.
    decades : bool, default False
        Ticks at powers of ten alone, not at 2 and 5 times them.
    """
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    axis.set_major_locator(LogLocator(subs=(1.0,) if decades else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
