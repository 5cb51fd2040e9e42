"""Consensus functions: one labelling from several labellings of the same samples.

- ``evidence.py``: ``coassociation`` (Fred, Jain 2005), and ``diclens`` (Mimaroglu, Aksehirli 2012).
- ``expansion.py``: ``comusa`` (Mimaroglu, Erdil 2011) and ``comusacl``, and the overlaps of base clusters.
- ``spectral.py``: ``cspa`` (Strehl, Ghosh 2002) and ``hbgf`` (Fern, Brodley 2004); eigenvectors in `_leading`.
- ``plurality.py``: ``voting`` (Dudoit, Fridlyand 2003); the matching is in `_voted`.
- ``_consensus_jit.py``: the compiled loops.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_consensus() -> dict[str, str]:
    """Consensus functions by name."""
    return {
        "coassociation": "clusterkit.families.consensus.evidence:Coassociation",
        "comusa": "clusterkit.families.consensus.expansion:Comusa",
        "comusacl": "clusterkit.families.consensus.expansion:Comusacl",
        "comusacl_dew": "clusterkit.families.consensus.expansion:ComusaclDew",
        "cspa": "clusterkit.families.consensus.spectral:Cspa",
        "diclens": "clusterkit.families.consensus.evidence:Diclens",
        "hbgf": "clusterkit.families.consensus.spectral:Hbgf",
        "voting": "clusterkit.families.consensus.plurality:Voting",
    }
