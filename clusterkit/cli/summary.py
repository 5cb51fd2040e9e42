"""What a fit or a prediction found, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterkit.cli import console

__all__ = ["of_fit", "show", "show_sizes", "sizes"]

NOISE = -1
MOST_CLUSTERS = 20
MOST_NAMES = 6


def sizes(labels: Any) -> dict[int, int]:
    """Rows of each cluster, by label; noise is no cluster."""
    import numpy as np

    values, counts = np.unique(labels, return_counts=True)
    return {int(v): int(c) for v, c in zip(values, counts, strict=True) if v != NOISE}


def of_fit(data: str, table: Any, name: str, model: Any, seconds: float, classes: Any) -> dict[str, Any]:
    """All facts about a fit; with known `classes` also how well they agree."""
    found: dict[str, Any] = {
        "data": data,
        "rows": table.data.shape[0],
        "columns": list(table.names),
        "recipe": name,
        "n_clusters": len(sizes(model.labels_)),
        "sizes": sizes(model.labels_),
        "noise": int((model.labels_ == NOISE).sum()),
        "n_iter": model.n_iter_,
        "converged": bool(model.converged_),
        "stop_reason": model.stop_reason_,
        "objective": float(model.objective_),
        "resolved": model.resolved_,
        "seconds": round(seconds, 3),
    }
    if hasattr(model, "agreement_"):
        found["agreement"] = float(model.agreement_)
    if classes is not None:
        from clusterkit.metrics import adjusted_rand, clustering_accuracy

        found["accuracy"] = float(clustering_accuracy(classes, model.labels_))
        found["adjusted_rand"] = float(adjusted_rand(classes, model.labels_))
    return found


def show(found: Mapping[str, Any], *, as_json: bool, err: bool) -> None:
    """Print the facts of `of_fit`."""
    if as_json:
        console.as_json(found, err=err)
        return
    names = found["columns"]
    shown = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    console.heading(f"{found['data']}: {found['n_clusters']} clusters by {found['recipe']}", err=err)
    console.facts(
        {
            "rows": f"{found['rows']:,}",
            "columns": f"{len(names)} ({shown})",
            "stopped": f"{found['stop_reason']}, after {_count(found['n_iter'], 'iteration')}",
            "converged": "yes" if found["converged"] else "no",
            "objective": "" if found["objective"] != found["objective"] else f"{found['objective']:.6g}",
            "resolved": _resolved(found["resolved"]),
            "agreement of maps": f"{100 * found['agreement']:.1f} %" if found.get("agreement", -1.0) >= 0 else "",
            "known classes": (
                f"accuracy {100 * found['accuracy']:.1f} %, adjusted Rand {found['adjusted_rand']:.3f}"
                if "accuracy" in found
                else ""
            ),
            "noise": f"{found['noise']:,} ({100 * found['noise'] / found['rows']:.1f} %)" if found["noise"] else "none",
            "time": f"{found['seconds']:.2f} s",
            "labels in": _file(found.get("labels_file")),
            "model in": _file(found.get("model_file")),
            "picture in": _file(found.get("plot_file")),
        },
        err=err,
    )
    show_sizes(found["sizes"], found["rows"], err=err)


def show_sizes(counts: Mapping[int, int], rows: int, *, err: bool) -> None:
    """A table of clusters, the largest if they are many."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])[:MOST_CLUSTERS]
    console.text(err=err)
    console.table(
        ["cluster", "rows", "share"],
        [[str(label), f"{count:,}", f"{100 * count / rows:.1f} %"] for label, count in sorted(ranked)],
        err=err,
    )
    if len(counts) > MOST_CLUSTERS:
        console.text(f"and {len(counts) - MOST_CLUSTERS} smaller clusters", err=err)


def _resolved(found: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(
        f"{slot}={value}" if key == "name" else f"{slot}.{key}={console.number(value)}"
        for slot, facts in found.items()
        for key, value in facts.items()
    )


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def _file(path: str | None) -> str:
    return "" if path in (None, "-") else str(path)
