"""The summary of a fit or of a prediction, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from clusterkit.cli import console
from clusterkit.errors import counted, first_names

if TYPE_CHECKING:
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

MOST_CLUSTERS = 20
"""Number of clusters in the printed table of sizes."""

NOT_DOUBTED = "whether a single column makes the clusters was not tested, because that needs all rows in memory"
"""Sentence in place of doubts about clusters of rows that are read block by block."""

MOST_NAMES = 6
"""Number of column names in the printed summary."""


BAR = 30
"""Characters of the longest bar of the curve."""


def of_fit(
    data: str,
    name: str,
    model: Pipeline | Driven,
    seconds: float,
    notes: Sequence[str] = (),
) -> dict[str, object]:
    """All facts about a fit.

    Parameters
    ----------
    data : str
        The DATA argument.
    name : str
        The recipe.
    model : Pipeline or Driven
        The fitted estimator; what its preparation decided, if it has one, is among the facts.
    seconds : float
    notes : sequence of str
        Notices about the file.
    """
    from clusterkit.contracts.labelings import NOISE, cluster_sizes

    sizes = cluster_sizes(model.labels_)
    facts: dict[str, Any] = {
        "data": data,
        "rows": len(model.labels_),
        "columns": columns_of(model),
        "recipe": name,
        "n_clusters": len(sizes),
        "wanted_n_clusters": _wanted(model),
        "sizes": sizes,
        "noise": int((model.labels_ == NOISE).sum()),
        "n_iter": model.n_iter_,
        "converged": bool(model.converged_),
        "stop_reason": model.stop_reason_,
        "objective": float(model.objective_),
        "resolved": {slot: its for slot, its in model.resolved_.items() if slot != "preparation"},
        "seconds": round(seconds, 3),
    }
    keeper = _size_keeper(model)
    if keeper is not None:
        facts["sizes_kept_by"] = keeper
    if hasattr(model, "preparation_"):
        facts["preparation"] = model.preparation_.resolved()
        facts["prepared"] = ". ".join((*notes, model.preparation_.paragraph(options=True)))
    if isinstance(getattr(model, "agreement_", None), Real):  # the driver of a plugin may report anything by that name
        facts["agreement"] = float(model.agreement_)
    return facts


def columns_of(model: object) -> list[str]:
    """Names of the columns that a fitted estimator uses, or their places from 1."""
    fitted: Any = model
    preparation = getattr(model, "preparation_", None)
    if preparation is not None:
        return list(preparation.used)
    names = getattr(model, "feature_names_in_", None)
    return list(map(str, range(1, fitted.n_features_in_ + 1) if names is None else names))


def show(facts: Mapping[str, object], *, as_json: bool, err: bool) -> None:
    """Print the facts of `of_fit`."""
    if as_json:
        console.as_json(facts, err=err)
        return
    values: Mapping[str, Any] = facts
    names, noise = values["columns"], values["noise"]
    shown = first_names(names, MOST_NAMES)
    console.heading(f"{values['data']}: {counted(values['n_clusters'], 'cluster')} by {values['recipe']}", err=err)
    console.facts(
        {
            "rows": f"{values['rows']:,}" + _reading(values),
            "clusters": _fewer(values),
            "columns": f"{len(names)} ({shown})",
            "prepared": values.get("prepared", ""),
            "stopped": f"{values['stop_reason']}, after {counted(values['n_iter'], 'iteration')}",
            "converged": "yes" if values["converged"] else "no",
            "objective": "" if values["objective"] != values["objective"] else f"{values['objective']:.6g}",
            "resolved": _resolved({slot: its for slot, its in values["resolved"].items() if slot != "auto"}),
            "roles": _roles(values["resolved"]),
            **_choice(values["resolved"].get("auto", {})),
            "agreement of maps": f"{100 * values['agreement']:.1f} %" if values.get("agreement", -1.0) >= 0 else "",
            "sizes": _kept_sizes(values.get("sizes_kept_by")),
            "but": NOT_DOUBTED if values.get("doubts", ()) is None else " ".join(values.get("doubts", ())),
            "noise": f"{noise:,} ({100 * noise / values['rows']:.1f} %)" if noise else _no_noise(values["resolved"]),
            "time": f"{values['seconds']:.2f} s",
            "labels in": _file(values.get("labels_file")),
            "model in": _file(values.get("model_file")),
            "picture in": _file(values.get("plot_file")),
            "report in": _file(values.get("report_file")),
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
        console.text(f"and {counted(len(counts) - MOST_CLUSTERS, 'smaller cluster')}", err=err)


def _no_noise(resolved: Mapping[str, Mapping[str, Any]]) -> str:
    """Text that no row is noise, though the method of the chosen clustering left some out."""
    outside = resolved.get("labeler", {}).get("noise", 0)
    if not outside:
        return "none"
    verb = "is" if outside == 1 else "are"
    return f"none: {counted(outside, 'row')} that the labeler called noise {verb} in the nearest clusters"


def _reading(values: Mapping[str, Any]) -> str:
    """Text on how rows were read that did not fit into memory."""
    if "read" not in values:
        return ""
    note = "" if values.get("copy") is None else f", {values['copy']}"
    from clusterkit.samples.memory import human

    return f", read {values['read']}, because they take {human(values['bytes'])} in memory{note}"


def _size_keeper(model: Pipeline | Driven) -> str | None:
    """The name of the balancer of a fit with several clusters; None where nothing keeps their sizes."""
    c = model._planned() if hasattr(model, "_planned") else None  # Auto has no stages
    if c is None or c.n_clusters == 1:
        return None
    return None if c.balancer is None else c.balancer.name


def _wanted(model: Pipeline | Driven) -> int | None:
    """The number of clusters that was asked for; None where it was left open."""
    number = getattr(model, "n_clusters", None)
    return int(number) if isinstance(number, Integral) else None


def _fewer(values: Mapping[str, Any]) -> str:
    """Text that some of the clusters that were asked for have no rows; empty if all have some."""
    wanted = values.get("wanted_n_clusters")
    if wanted is None or values["n_clusters"] >= wanted:
        return ""
    return f"{values['n_clusters']} of the {wanted} that were asked for have rows"


def _kept_sizes(keeper: str | None) -> str:
    """Text that names the balancer of the cluster sizes, which the user may not expect."""
    if keeper is None:
        return ""
    return f"kept nearly equal by balancer {keeper!r}; --set balancer=None or -r auto lets them be any"


def _choice(choice: Mapping[str, Any]) -> dict[str, str]:
    """Text on how method and number of clusters were chosen, where they were."""
    if choice.get("recipe") is None:  # not chosen, or nothing to choose among
        return {}
    from clusterkit.drivers.auto import confidence_in_words, perhaps_in_words, second_in_words

    confidence, second = choice.get("confidence"), choice.get("second_n_clusters")
    sure = confidence_in_words(math.nan if confidence is None else confidence)
    nested = bool(choice.get("second_is_nested"))
    among = f"of {counted(choice['distinct'], 'different clustering')}" if "distinct" in choice else (
        "by the evidence of the columns"
    )  # fmt: skip
    return {
        "chosen": f"{choice['recipe']} with {counted(choice['n_clusters'], 'cluster')} {among}"
        + (f", confidence {sure} that these are groups of the rows" if sure else ""),
        "as good": ", ".join(choice.get("tied_with", ())),
        "next best": "" if second is None else second_in_words(choice["n_clusters"], second, nested=nested),
        "perhaps": perhaps_in_words(choice),
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
    """Parameters that the fit decided, as --set would write them; lists of columns are not among them."""
    return ", ".join(
        f"{slot}={value}" if key == "name" else f"{slot}.{key}={console.number(value)}"
        for slot, parameters in facts.items()
        for key, value in parameters.items()
        if not isinstance(value, Mapping)
    )


def _roles(facts: Mapping[str, Mapping[str, Any]]) -> str:
    """The columns by what they say about the clusters, where the fit found that out."""
    roles: Mapping[str, str] = next((its["roles"] for its in facts.values() if "roles" in its), {})
    return "; ".join(
        f"{role}: {first_names([name for name, its in roles.items() if its == role], MOST_NAMES)}"
        for role in dict.fromkeys(roles.values())
    )


def _file(path: str | None) -> str:
    return "" if path in (None, "-") else str(path)
