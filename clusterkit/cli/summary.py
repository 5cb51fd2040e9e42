"""The summary of a fit or of a prediction, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from clusterkit.cli import console
from clusterkit.core.errors import first_names
from clusterkit.core.labelings import NOISE, cluster_sizes

if TYPE_CHECKING:
    from clusterkit._typing import AnyArray
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.tables import Table

__all__ = ["of_fit", "show", "show_sizes"]

MOST_CLUSTERS = 20
"""Number of clusters in the printed table of sizes."""

MOST_NAMES = 6
"""Number of column names in the printed summary."""


BAR = 30
"""Characters of the longest bar of the curve."""


def of_fit(
    data: str, table: Table, name: str, model: Pipeline | Driven, seconds: float, classes: AnyArray | None
) -> dict[str, object]:
    """All facts about a fit; with known `classes` also the agreement with them."""
    sizes = cluster_sizes(model.labels_)
    facts: dict[str, Any] = {
        "data": data,
        "rows": len(model.labels_),
        "columns": list(model.preparation_.used),
        "recipe": name,
        "n_clusters": len(sizes),
        "sizes": sizes,
        "noise": int((model.labels_ == NOISE).sum()),
        "n_iter": model.n_iter_,
        "converged": bool(model.converged_),
        "stop_reason": model.stop_reason_,
        "objective": float(model.objective_),
        "resolved": {slot: its for slot, its in model.resolved_.items() if slot != "preparation"},
        "preparation": model.preparation_.resolved(),
        "prepared": ". ".join((*table.notes, model.preparation_.paragraph(options=True))),
        "seconds": round(seconds, 3),
    }
    if isinstance(getattr(model, "agreement_", None), Real):  # the driver of a plugin may report anything by that name
        facts["agreement"] = float(model.agreement_)
    if classes is not None:
        from clusterkit.metrics import adjusted_rand, clustering_accuracy

        facts["accuracy"] = float(clustering_accuracy(classes, model.labels_))
        facts["adjusted_rand"] = float(adjusted_rand(classes, model.labels_))
    return facts


def show(facts: Mapping[str, object], *, as_json: bool, err: bool) -> None:
    """Print the facts of `of_fit`."""
    if as_json:
        console.as_json(facts, err=err)
        return
    values: Mapping[str, Any] = facts
    names, noise = values["columns"], values["noise"]
    shown = first_names(names, MOST_NAMES)
    console.heading(f"{values['data']}: {values['n_clusters']} clusters by {values['recipe']}", err=err)
    console.facts(
        {
            "rows": f"{values['rows']:,}",
            "columns": f"{len(names)} ({shown})",
            "prepared": values["prepared"],
            "stopped": f"{values['stop_reason']}, after {_count(values['n_iter'], 'iteration')}",
            "converged": "yes" if values["converged"] else "no",
            "objective": "" if values["objective"] != values["objective"] else f"{values['objective']:.6g}",
            "resolved": _resolved({slot: its for slot, its in values["resolved"].items() if slot != "auto"}),
            **_choice(values["resolved"].get("auto", {})),
            "agreement of maps": f"{100 * values['agreement']:.1f} %" if values.get("agreement", -1.0) >= 0 else "",
            "known classes": (
                f"accuracy {100 * values['accuracy']:.1f} %, adjusted Rand {values['adjusted_rand']:.3f}"
                if "accuracy" in values
                else ""
            ),
            "noise": f"{noise:,} ({100 * noise / values['rows']:.1f} %)" if noise else "none",
            "time": f"{values['seconds']:.2f} s",
            "labels in": _file(values.get("labels_file")),
            "model in": _file(values.get("model_file")),
            "picture in": _file(values.get("plot_file")),
        },
        err=err,
    )
    show_sizes(values["sizes"], values["rows"], err=err)
    _show_curve(values["resolved"].get("auto", {}), err=err)


def show_sizes(counts: Mapping[int, int], rows: int, *, err: bool) -> None:
    """Print the sizes of the clusters; if they are many, of the largest ones."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])[:MOST_CLUSTERS]
    console.text(err=err)
    console.table(
        ["cluster", "rows", "share"],
        [[str(label), f"{count:,}", f"{100 * count / rows:.1f} %"] for label, count in sorted(ranked)],
        err=err,
    )
    if len(counts) > MOST_CLUSTERS:
        console.text(f"and {len(counts) - MOST_CLUSTERS} smaller clusters", err=err)


def _choice(choice: Mapping[str, Any]) -> dict[str, str]:
    """How method and number of clusters were chosen, where they were."""
    if "recipe" not in choice:
        return {}
    confidence, second = choice.get("confidence"), choice.get("second_n_clusters")
    sure = "" if confidence is None or confidence != confidence else f", confidence {100 * confidence:.0f} %"
    nested = "; both may be right, as the clusters of one divide those of the other"
    return {
        "chosen": f"{choice['recipe']} with {_count(choice['n_clusters'], 'cluster')} of "
        f"{_count(choice['distinct'], 'different clustering')}{sure}",
        "as good": ", ".join(choice.get("tied_with", ())),
        "next best": ""
        if second is None
        else _count(second, "cluster") + nested * bool(choice.get("second_is_nested")),
        "perhaps": "no clusters at all: two tests for more than one cluster show none"
        if choice.get("perhaps_one_cluster")
        else "",
    }


def _show_curve(choice: Mapping[str, Any], *, err: bool) -> None:
    """Print the best score at each number of clusters, where the number was chosen among several."""
    curve = choice.get("score_of_number", ())
    if len(curve) < 2:
        return
    scores = [score for _, score in curve]
    low, width = min(scores), max(scores) - min(scores)
    rows = [
        [
            str(k),
            f"{score:.3f}",
            "#" * (1 + round(BAR * (score - low) / width) if width else 1) + " chosen" * (k == choice["n_clusters"]),
        ]
        for k, score in curve
    ]
    console.text(err=err)
    console.table(["clusters", "best score", ""], rows, err=err)


def _resolved(facts: Mapping[str, Mapping[str, Any]]) -> str:
    """Parameters that the fit decided, as --set would write them."""
    return ", ".join(
        f"{slot}={value}" if key == "name" else f"{slot}.{key}={console.number(value)}"
        for slot, parameters in facts.items()
        for key, value in parameters.items()
    )


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def _file(path: str | None) -> str:
    return "" if path in (None, "-") else str(path)
