"""The plugins that live in this checkout, so that an error about a name of theirs says where to install it from.

They are on no public package index: a distribution of the same name there would belong to somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

import attrs

__all__ = ["PLUGINS", "FirstParty", "where"]


@attrs.frozen
class FirstParty:
    """A plugin of the checkout.

    Parameters
    ----------
    distribution : str
    folder : str
        From the root of the checkout.
    provides : mapping
        Kind ("solver", "recipe", "command" ...) to the names that its hooks answer.
    """

    distribution: str
    folder: str
    provides: Mapping[str, tuple[str, ...]]


PLUGINS = (
    FirstParty(
        "clusterkit-sdp",
        "plugins/clusterkit-sdp",
        {"solver": ("gmmc_sdp", "mmc_sdp"), "recipe": ("gmmc-sdp", "mmc")},
    ),
    FirstParty("clusterkit-dask", "plugins/clusterkit-dask", {"engine": ("dask", "clusterkit_dask")}),
    FirstParty("clusterkit-example", "plugins/clusterkit-example", {"labeler": ("rows_medians",)}),
    FirstParty("clusterkit-papers", "plugins/clusterkit-papers", {"command": ("reproduce",)}),
)
"""Every plugin of the checkout with the names it answers; a test compares the folders with this table."""


def where(kind: str, name: str, variable: str) -> str:
    """What to do for a name that a plugin of the checkout provides, as a sentence; empty for other names.

    Parameters
    ----------
    kind, name : str
    variable : str
        The environment variable that may have switched an installed plugin off.
    """
    for plugin in PLUGINS:
        if name.removeprefix(f"{plugin.distribution}:") not in plugin.provides.get(kind, ()):
            continue
        try:
            metadata.distribution(plugin.distribution)
        except metadata.PackageNotFoundError:
            return (
                f"The plugin {plugin.distribution} provides it, in the folder {plugin.folder} of the checkout of "
                f"clusterkit; install it from there: pip install ./{plugin.folder}"
            )
        return (
            f"The plugin {plugin.distribution} provides it and is installed, but not used: look at the environment "
            f"variable {variable} and at `clusterkit plugins`"
        )
    return ""
