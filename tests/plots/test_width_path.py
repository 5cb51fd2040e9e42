"""The path as it is, its plateaus, and the width that was chosen."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from matplotlib.figure import Figure

from clusterkit import plots, width_path
from clusterkit.errors import InvalidParameter
from clusterkit.plots._widths import plateaus


@pytest.fixture(scope="module")
def path(moons):
    return width_path(moons, gammas=[0.1, 1.0, 4.0, 8.0, 12.0, 16.0, 30.0, 100.0, 1000.0], nu=0.1)


def line(ax, label):
    lines = [line for line in ax.lines if line.get_label() == label]
    return lines[0] if lines else None


def with_clusters(path, numbers):
    steps = len(numbers)
    return attrs.evolve(
        path, gamma=np.geomspace(1, 10, steps), n_clusters=np.array(numbers), labels=path.labels[:steps],
        **{name: getattr(path, name)[:steps] for name in ("n_sv", "n_bsv", "n_noise", "seconds")},
    )  # fmt: skip


def test_numbers(path):
    top, bottom = axes = plots.width_path(path)
    assert isinstance(axes, np.ndarray)
    for ax, label, values in (
        (top, "clusters", path.n_clusters),
        (bottom, "support vectors", path.n_sv),
        (bottom, "at the bound", path.n_bsv),
        (bottom, "noise", path.n_noise),
    ):
        assert np.array_equal(line(ax, label).get_xdata(), path.gamma)
        assert np.array_equal(line(ax, label).get_ydata(), values)
        assert ax.get_xscale() == "log"
    assert top.get_title(loc="left").startswith("9 widths, 1 to ")


def test_what_the_solver_does_not_tell_is_left_out(path):
    unknown = attrs.evolve(path, n_sv=np.full(len(path), -1), n_bsv=np.full(len(path), -1))
    _, bottom = plots.width_path(unknown)
    assert line(bottom, "support vectors") is None
    assert line(bottom, "noise") is not None


@pytest.mark.parametrize(
    ("numbers", "stretches"),
    [
        ([1, 1, 1, 1], []),
        ([1, 2, 2, 2, 5], [(1, 3)]),
        ([2, 2, 2, 3, 3, 3, 3], [(3, 6), (0, 2)]),
        ([1, 2, 2, 3, 3], []),
        ([4], []),
    ],
)
def test_plateaus(path, numbers, stretches):
    changed = with_clusters(path, numbers)
    assert plateaus(changed) == stretches
    top, _ = plots.width_path(changed)
    assert [text.get_text() for text in top.texts] == [str(numbers[first]) for first, _ in stretches]
    assert len(top.patches) == 1 + len(stretches)  # the stairs, and the shades


def test_chosen(path, svc):
    for chosen in (12.0, svc):
        for ax in plots.width_path(path, chosen=chosen):
            assert set(line(ax, "chosen: 12").get_xdata()) == {12.0}
    for wrong in (0.0, -1.0, np.inf, "wide"):
        with pytest.raises(InvalidParameter, match="chosen must be a finite gamma > 0 or a fitted model"):
            plots.width_path(path, chosen=wrong)


def test_axes_given(path):
    pair = Figure().subplots(2, 1)
    assert plots.width_path(path, axes=pair, legend=False).tolist() == pair.tolist()
    assert pair[0].get_legend() is None
    with pytest.raises(InvalidParameter, match="axes must be a pair of matplotlib axes or None, got 3"):
        plots.width_path(path, axes=Figure().subplots(3, 1))


def test_refusals(path, svc, moons):
    with pytest.raises(InvalidParameter, match=r"clusterkit\.width_path\(X\) returns, got Pipeline; a fitted model is"):
        plots.width_path(svc)
    with pytest.raises(InvalidParameter, match="got ndarray"):
        plots.width_path(moons)
    with pytest.raises(InvalidParameter, match="no step"):
        plots.width_path(with_clusters(path, []))
