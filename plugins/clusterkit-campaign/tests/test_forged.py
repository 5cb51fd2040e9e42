"""Forged models: none ends the process, and every error is the library's own; without the declarations some do."""

from __future__ import annotations

import pytest

from clusterkit.contracts.outcomes import Tree
from clusterkit.saving import savable
from clusterkit_campaign import forged


@pytest.mark.parametrize(
    ("name", "count"),
    [("kmeans-links", 12), *(pytest.param(name, 150, marks=pytest.mark.deep) for name in ("hdbscan", "mixture-table"))],
)
def test_no_mutant_does_harm(name, count, tmp_path):
    tally = forged.run(forged.models(name), count, seed=0, minutes=5, folder=str(tmp_path), shown=False)
    assert not tally.findings
    assert sum(tally.counts.values()) >= count
    assert tally.counts["structure"] < sum(tally.counts.values()) / 2


@pytest.mark.deep
def test_a_tree_that_is_not_looked_at_is_seen(monkeypatch, tmp_path):
    saved = forged.models("hdbscan-float32")
    monkeypatch.setattr(savable.shapes, "check", lambda cls, fields: None)
    monkeypatch.setattr(Tree, "check_saved", lambda tree: None)
    tally = forged.run(saved, 300, seed=0, minutes=5, folder=str(tmp_path), shown=False)
    assert "SIGSEGV" in tally.findings or "SIGABRT" in tally.findings
