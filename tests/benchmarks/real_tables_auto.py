"""`auto` on the tables that ``real_tables.py`` keeps, and its place among the five methods by leaving tables out.

    PYTHONPATH=CHECKOUT python tests/benchmarks/real_tables_auto.py fit --peers peers.jsonl --out auto.jsonl \
        --folder ../shared/data
    python tests/benchmarks/real_tables_auto.py show --peers peers.jsonl --auto auto.jsonl [--auto before.jsonl]

`fit` writes a line for each table with the number of clusters given and open; with another checkout in PYTHONPATH it
has the `auto` of that. Tables that are done in `OUT` are left out, so that it can be ended and begun again. `show` has
no table for training, counts tables and gives the mean difference to each method with a bootstrap interval.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from real_tables import Table, limited, plain, scored, sources, table

LIMIT = 300


def lines(file: str) -> list[dict[str, Any]]:
    path = Path(file)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tables(peers: str, folder: str) -> list[Table]:
    """The tables that are kept, the smallest first, those for training last."""
    keys = {(r["table"], r["package"]): r["class"] for r in lines(peers) if r.get("kept")}
    answer: dict[tuple[str, str], Table] = {}
    for source in sources(folder):
        key = source.name, source.package
        if key in keys and source.even and key not in answer:
            T = table(source, keys[key], plain(source.read()))
            if T is not None:
                answer[key] = T
    return sorted(answer.values(), key=lambda T: (T.source.package == "training", T.X.size))


def fitted(T: Table, known: bool) -> dict[str, Any]:
    """Index, number and the facts of a fit that are numbers or words."""
    from clusterkit import Auto

    model = Auto(len(np.unique(T.y)) if known else None, random_state=0).fit(T.X)
    facts = {key: value for key, value in model.resolved_["auto"].items() if isinstance(value, (str, int, float))}
    return {**scored(T, model.labels_), "confidence": float(model.confidence_), "facts": facts}


def fit(peers: str, out: str, folder: str) -> None:
    from clusterkit import Auto, __version__

    done = {(r["table"], r["known"]) for r in lines(out) if "table" in r}
    Auto(2, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))  # compiles outside of the limit
    with Path(out).open("a") as stream:
        stream.write(json.dumps({"clusterkit": __version__}) + "\n")
        for T in tables(peers, folder):
            for known in (True, False):
                if (T.source.name, known) not in done:
                    record = limited(lambda T=T, known=known: fitted(T, known), LIMIT)
                    stream.write(json.dumps({**T.about(), "method": "auto", "known": known, **record}) + "\n")
                    stream.flush()


def show(peers: str, autos: list[str]) -> None:
    """A row for each table, then means and differences of the first `auto` to all others."""
    scores: dict[bool, dict[str, dict[str, float]]] = {True: {}, False: {}}
    about = {}
    for name, records in [("", lines(peers)), *((Path(file).stem, lines(file)) for file in autos)]:
        for r in records:
            if r.get("package", "training") != "training" and r.get("kept", True):
                scores[r["known"]].setdefault(r["table"], {})[name or r["method"]] = r["ari"]
                about[r["table"]] = r
    rng, first = np.random.default_rng(0), Path(autos[0]).stem
    for known, rows in scores.items():
        done = {t: row for t, row in rows.items() if all(Path(file).stem in row for file in autos)}
        methods = list(next(iter(done.values())))
        print(f"\nk {'given' if known else 'open'}, {len(done)} tables: {', '.join(methods)}")
        for t in sorted(done):
            a = about[t]
            head = f"{t:28s} fold {a['fold']} {a['rows']:4d} x {a['numbers']:2d} + {a['categories']:2d}"
            print(f"{head}, {a['k']:2d} classes", *(f"{done[t].get(m, 0.0):6.2f}" for m in methods))
        V = np.array([[row.get(m, 0.0) for m in methods] for row in done.values()])
        draws = rng.integers(len(V), size=(4000, len(V)))
        place = methods.index(first)
        for j, m in enumerate(methods):
            D = V[:, place] - V[:, j]
            low, high = np.quantile(D[draws].mean(axis=1), [0.025, 0.975])
            worse = int((D < -0.1).sum()), int((D > 0.1).sum())
            print(
                f"{m:20s} mean {V[:, j].mean():.3f}; {first} less this {D.mean():+.3f} [{low:+.3f}, {high:+.3f}], ",
                end="",
            )
            print(f"more than .10 below {worse[0]}, above {worse[1]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["fit", "show"])
    parser.add_argument("--peers", required=True)
    parser.add_argument("--folder")
    parser.add_argument("--out")
    parser.add_argument("--auto", action="append", default=[])
    options = parser.parse_args()
    if options.part == "fit":
        fit(options.peers, options.out, options.folder)
    else:
        show(options.peers, options.auto)
