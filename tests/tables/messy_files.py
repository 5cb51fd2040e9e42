"""Writes tables as people have them, each with planted clusters: path and classes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import numpy as np

N = 240
"""Rows of the small files."""

SIZES = {2: (0.6, 0.4), 3: (0.5, 0.3, 0.2), 4: (0.4, 0.25, 0.2, 0.15)}
"""Shares of the clusters: of different size, as clusters are."""

WORDS = (
    "alpha",
    "brief",
    "call",
    "delayed",
    "email",
    "follow",
    "great",
    "help",
    "invoice",
    "lost",
    "new",
    "old",
    "paid",
)


class Planted:
    """Rows in clusters, whose means are `gap` standard deviations apart in some column.

    Parameters
    ----------
    seed, k, d : int
    n : int
    gap : float
    """

    def __init__(self, seed: int, k: int = 3, d: int = 3, n: int = N, gap: float = 9.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.n, self.k = n, k
        counts = np.array([round(share * n) for share in SIZES[k]])
        counts[0] += n - counts.sum()
        self.y = self.rng.permutation(np.repeat(np.arange(k), counts))
        # corners of a simplex, so that every two clusters are apart in two columns
        corners = np.array([[gap * (j % d == c) * (1 + j // d) for j in range(d)] for c in range(k)])
        self.Z = corners[self.y] + self.rng.normal(size=(n, d))

    def column(self, j: int, mean: float, scale: float, digits: int = 2) -> np.ndarray:
        """A column in units of its own."""
        return np.round(mean + scale * self.Z[:, j], digits)

    def level(self, names: tuple[str, ...], purity: float = 1.0) -> np.ndarray:
        """A category; with purity 1 each cluster has its own level, with 0 it says nothing."""
        random = self.rng.integers(len(names), size=self.n)
        informed = self.rng.random(self.n) < purity
        return np.array(names, dtype=object)[np.where(informed, self.y % len(names), random)]

    def note(self) -> list[str]:
        """Free text."""
        return [" ".join(self.rng.choice(WORDS, 6)) + f" {i}" for i in range(self.n)]

    def text(self, columns: dict[str, object], sep: str = ",", gaps: dict[str, float] | None = None) -> str:
        """The table as delimited text; a share of the cells of some columns is empty."""
        cells = {name: [str(value) for value in values] for name, values in columns.items()}  # type: ignore[attr-defined]
        for name, share in (gaps or {}).items():
            for i in np.flatnonzero(self.rng.random(self.n) < share):
                cells[name][i] = ""
        lines = [sep.join(columns), *(sep.join(row) for row in zip(*cells.values(), strict=True))]
        return "\n".join(lines) + "\n"


def german(value: float, digits: int = 2) -> str:
    """1234.5 as 1.234,50."""
    return f"{value:,.{digits}f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def gaps(folder: Path) -> tuple[Path, np.ndarray]:
    """A tenth of the cells of every column is empty, NA or a question mark."""
    t = Planted(1, d=5)
    columns = {f"sensor {j}": t.column(j, 20.0 * j, 1.0 + j) for j in range(5)}
    text = t.text(columns, gaps=dict.fromkeys(columns, 0.08)).replace(",,", ",NA,", 20).replace(",,", ",?,", 10)
    path = folder / "gaps.csv"
    path.write_text(text, encoding="utf-8")
    return path, t.y


def decimal_comma(folder: Path) -> tuple[Path, np.ndarray]:
    """Semicolons, decimal commas, points between thousands, days first."""
    t = Planted(2, k=4, d=4)
    columns = {
        "Umsatz": [german(v) for v in t.column(0, 12_000.0, 900.0)],
        "Gewicht": [german(v, 3) for v in t.column(1, 7.0, 0.4, 3)],
        "Anzahl": [german(v, 0) for v in t.column(2, 3_000.0, 150.0, 0)],
        "Quote": [german(v) for v in t.column(3, 4.0, 0.3)],
    }
    path = folder / "umsatz.csv"
    path.write_text(t.text(columns, ";"), encoding="utf-8")
    return path, t.y


def utf16(folder: Path) -> tuple[Path, np.ndarray]:
    """Tabs in UTF-16, as spreadsheets export "Unicode text"."""
    t = Planted(3)
    columns = {"Größe": t.column(0, 170.0, 4.0), "Höhe": t.column(1, 40.0, 2.0), "λ": t.column(2, 0.0, 0.1, 4)}
    path = folder / "masse.txt"
    path.write_bytes(t.text(columns, "\t").replace("\n", "\r\n").encode("utf-16"))
    return path, t.y


def latin1(folder: Path) -> tuple[Path, np.ndarray]:
    """Umlauts in Latin-1, in names and cells."""
    t = Planted(4)
    columns = {
        "Länge": t.column(0, 12.0, 1.0),
        "Straße": [f"Mühlweg {i}" for i in range(t.n)],
        "Breite": t.column(1, 900.0, 30.0),
        "Stadt": t.level(("Köln", "Nürnberg", "Göttingen"), 0.8),
        "Höhe": t.column(2, 0.3, 0.01, 4),
    }
    path = folder / "straßen.csv"
    path.write_bytes(t.text(columns, ";").encode("latin-1"))
    return path, t.y


def excel(folder: Path) -> tuple[Path, np.ndarray]:
    """A workbook with numbers, dates, truth values, gaps and an id."""
    import openpyxl

    t = Planted(5)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Customer No", "Opened", "Balance", "Visits", "Active", "Score"])
    start = datetime.datetime(2021, 1, 1)
    for i in range(t.n):
        opened = start + datetime.timedelta(days=int(t.rng.integers(0, 900)))
        active = bool(t.rng.random() < 0.5)
        balance = None if t.rng.random() < 0.04 else float(5_000 + 400 * t.Z[i, 0])
        sheet.append([100_000 + i, opened, balance, round(30 + 2 * t.Z[i, 1]), active, float(t.Z[i, 2])])
    path = folder / "accounts.xlsx"
    book.save(path)
    return path, t.y


def percent(folder: Path) -> tuple[Path, np.ndarray]:
    """Percent signs, currencies and commas between thousands, in quotes."""
    t = Planted(6)
    columns = {
        "revenue": [f'"${v:,.0f}"' for v in t.column(0, 45_920.0, 3_000.0)],
        "margin": [f"{v:.1f}%" for v in t.column(1, 20.0, 2.0)],
        "units sold": [f'"{v:,.0f}"' for v in t.column(2, 8_000.0, 300.0)],
    }
    path = folder / "sales.csv"
    path.write_text(t.text(columns), encoding="utf-8")
    return path, t.y


def categories(folder: Path) -> tuple[Path, np.ndarray]:
    """Categories that go with the clusters, one with rare levels, one that says nothing, and words for truth."""
    t = Planted(7, d=3)
    rare = t.level(("north", "south", "west"), 0.9)
    rare[:9] = [f"abroad {i}" for i in range(9)]
    columns = {
        "region": rare,
        "plan": t.level(("basic", "plus", "pro"), 0.95),
        "colour": t.level(("red", "green"), 0.0),
        "usage": t.column(0, 200.0, 9.0),
        "age": t.column(1, 30.0, 1.5, 0),
        "newsletter": t.level(("yes", "no"), 0.0),
        "spend": t.column(2, 3_000.0, 150.0),
    }
    path = folder / "plans.csv"
    path.write_text(t.text(columns, gaps={"region": 0.03}), encoding="utf-8")
    return path, t.y


def dates(folder: Path) -> tuple[Path, np.ndarray]:
    """Clusters that joined at different times."""
    t = Planted(8, d=3)
    joined = [datetime.date(2015, 1, 1) + datetime.timedelta(days=round(100 * z)) for z in t.Z[:, 0]]
    columns = {
        "joined": [f"{day:%d/%m/%Y}" for day in joined],
        "minutes": t.column(1, 400.0, 20.0),
        "calls": t.column(2, 60.0, 4.0, 0),
    }
    path = folder / "members.csv"
    path.write_text(t.text(columns), encoding="utf-8")
    return path, t.y


def identifiers(folder: Path) -> tuple[Path, np.ndarray]:
    """A key, a serial number, names, notes, a constant, an empty column, and codes that begin with a zero."""
    t = Planted(9)
    columns = {
        "id": t.rng.permutation(t.n) + 1,
        "key": [f"{value:08x}" for value in t.rng.integers(0, 2**31, t.n)],
        "name": [f"Person {i}" for i in range(t.n)],
        "zip": [f"{value:05d}" for value in t.rng.integers(0, 9000, t.n)],
        "country": ["DE"] * t.n,
        "fax": [""] * t.n,
        "a": t.column(0, 1.0, 0.02, 4),
        "note": t.note(),
        "b": t.column(1, 10.0, 3.0),
        "c": t.column(2, 5.0, 1.0),
    }
    path = folder / "people.csv"
    path.write_text(t.text(columns), encoding="utf-8")
    return path, t.y


def units(folder: Path) -> tuple[Path, np.ndarray]:
    """Grams and euros: spreads differ by a factor of ten millions."""
    t = Planted(10, k=4, d=4)
    columns = {
        "income": t.column(0, 40_000.0, 2_500.0),
        "share": t.column(1, 0.4, 0.004, 6),
        "height": t.column(2, 1.7, 0.02, 4),
        "assets": t.column(3, 900_000.0, 60_000.0),
    }
    path = folder / "units.tsv"
    path.write_text(t.text(columns, "\t"), encoding="utf-8")
    return path, t.y


def long(folder: Path) -> tuple[Path, np.ndarray]:
    """200,000 rows of 20 columns: numbers with gaps, two categories, a date and an id."""
    t = Planted(11, k=4, d=15, n=200_000)
    columns: dict[str, object] = {"id": np.arange(t.n)}
    columns |= {f"v{j}": t.column(j, 10.0**j, 10.0 ** (j % 5)) for j in range(15)}
    columns |= {"kind": t.level(("a", "b", "c", "d"), 0.7), "side": t.level(("left", "right"), 0.0)}
    days = np.datetime64("2020-01-01") + t.rng.integers(0, 1000, t.n)
    columns |= {"day": days, "constant": np.zeros(t.n, dtype=int)}
    path = folder / "long.csv"
    path.write_text(t.text(columns, gaps={"v3": 0.1, "v7": 0.05}), encoding="utf-8")
    return path, t.y


def wide(folder: Path) -> tuple[Path, np.ndarray]:
    """50 rows of 5,000 columns."""
    t = Planted(12, k=2, d=5000, n=50)
    Z = np.random.default_rng(12).normal(size=(50, 5000)) + 1.5 * (t.y == 1)[:, None] * (np.arange(5000) % 10 == 0)
    columns = {f"gene {j}": np.round(Z[:, j] * 10.0 ** (j % 4), 4) for j in range(5000)}
    path = folder / "wide.csv"
    path.write_text(t.text(columns), encoding="utf-8")
    return path, t.y


FILES: dict[str, Callable[[Path], tuple[Path, np.ndarray]]] = {
    file.__name__: file
    for file in (gaps, decimal_comma, utf16, latin1, excel, percent, categories, dates, identifiers, units)
}
"""The ten small files."""

LARGE: dict[str, Callable[[Path], tuple[Path, np.ndarray]]] = {"long": long, "wide": wide}
"""The two large ones."""
