"""The text of the reference pages, from the code: the command line, and every stage with what fits together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

KINDS = {
    "featuremap": "Feature maps turn the data into explicit features or into a kernel.",
    "solver": "Solvers compute scores, an embedding or a domain in that space.",
    "labeler": "Labelers read labels from the outcome of a solver.",
    "balancer": "Balancers change labels until the cluster sizes are within bounds.",
    "partitioner": "Partitioners (the slot `init`) give the labels that the loop starts from.",
    "consensus": "Consensus functions compute one labelling from several (`clusterkit.consensus`).",
    "tuner": "Tuners replace parameters left at `None` by values found without labels.",
    "driver": "Drivers decide which fits of a composition are made, and which of them is the answer.",
}
"""What the stages of each kind do; a kind that is missing here is an error."""

CELLS = ("maps", "balancers", "starts", "clusters", "predicts")
SPACES = {
    "DistanceSpace": "distances",
    "FeatureSpace": "features",
    "KernelSpace": "a kernel",
    "MixedSpace": "mixed columns",
}


def made() -> dict[str, str]:
    """The pages by their paths below docs/; with the stages of plugins that are installed, if the registry has them."""
    return {"reference/command-line.md": command_line(), "reference/stages.md": stages()}


def command_line() -> str:
    from clusterkit.cli import app

    parts = ["# The command line\n", *_help(app.help)]
    parts.append("| command | what it does |\n|---|---|")
    commands: dict[str, Any] = {name: app.get_command(None, name) for name in app.builtin}  # type: ignore[arg-type]
    for name, command in commands.items():
        first = " ".join((command.help or "").split("\n\n")[0].split())
        parts[-1] += f"\n| [`{name}`](#clusterkit-{name}) | {_cell(first)} |"
    parts[-1] += "\n"
    parts += [*_commands_of_plugins(), "Options of `clusterkit` itself:\n", _options(app.params)]
    for name, command in commands.items():
        words = [_metavar(p) for p in command.params if p.param_type_name == "argument"]
        usage = " ".join([f"clusterkit {name}", "[OPTIONS]", *words])
        parts += [f"## clusterkit {name}\n", f"```text\n{usage}\n```\n", *_help(command.help)]
        parts.append(_options(command.params))
        parts += _help(command.epilog)
    return "\n".join(parts).rstrip() + "\n"


def _commands_of_plugins() -> Iterator[str]:
    """A sentence for each command that a plugin of the checkout brings; whether it is installed does not matter."""
    from clusterkit.contracts.providers import PLUGINS

    for plugin in PLUGINS:
        for name in plugin.provides.get("command", ()):
            page = f"../../plugins/{plugin.distribution}/README.md"
            yield f"The plugin [{plugin.distribution}]({page}) adds the command `{name}`.\n"


def _metavar(argument: Any) -> str:
    word = argument.metavar or argument.name.upper()
    return word if argument.required or argument.metavar else f"[{word}]"


def _help(text: str | None) -> Iterator[str]:
    """Paragraphs; those that click keeps as they are (marked by a backspace) become code."""
    for part in inspect.cleandoc(text or "").split("\n\n"):
        if part.startswith("\b"):
            lines = part.removeprefix("\b").strip("\n").split("\n")
            if lines[0].endswith(":"):
                yield lines.pop(0) + "\n"
            yield "```sh\n" + inspect.cleandoc("\n".join(["", *lines])) + "\n```\n"
        elif part:
            pieces = part.split("`")  # what stands between backticks is code, in which a backslash would be shown
            pieces[::2] = [piece.replace("[", "\\[") for piece in pieces[::2]]
            yield "`".join(pieces) + "\n"


def _options(params: list[Any]) -> str:
    rows = []
    for option in (p for p in params if p.param_type_name == "option"):
        names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
        value = "" if option.is_flag else f"`{option.metavar or option.type.name.upper().replace(' RANGE', '')}`"
        text = " ".join((option.help or "").split())
        if option.show_default and option.default is not None:
            text += f" Default: `{option.default}`."
        rows.append(f"| {names} | {value} | {_cell(text)} |")
    return "| option | value | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""


def stages() -> str:
    import clusterkit

    intro = (
        "Every stage that ships with clusterkit, its parameters with their defaults, and what fits together. "
        "`clusterkit stages` and `clusterkit.compositions()` have the same with installed plugins included; the "
        "docstring of a stage (`help(clusterkit.stages('solver')['ridge'])`) says more.\n"
    )
    parts = ["# Stages\n", intro]
    for kind, classes in sorted(clusterkit.stages().items(), key=lambda item: list(KINDS).index(item[0])):
        parts += [f"## {kind}\n", KINDS[kind] + "\n"]
        if not classes:
            parts.append("None yet.\n")
            continue
        rows = [
            f"| `{name}` | {_cell(_first_line(stage))} | {_parameters(stage())} |"
            for name, stage in sorted(classes.items())
        ]
        parts.append("| name | what it is | parameters |\n|---|---|---|\n" + "\n".join(rows) + "\n")
        parts.append(_capabilities(kind))
    parts += [_compositions()]
    return "\n".join(parts).rstrip() + "\n"


def _capabilities(kind: str) -> str:
    """What the classes of a kind may declare; of labelers also what codecs may."""
    from clusterkit.contracts import Codec
    from clusterkit.contracts.declared import capabilities, plain
    from clusterkit.contracts.registry import ABSTRACT

    rows = [
        f"| `{each.name}` | `{_cell(each.type)}` | {_default(each, plain)} | {_cell(each.meaning)} |"
        for each in capabilities(Codec if kind == "labeler" else ABSTRACT[kind]).values()
    ]
    head = "Capabilities, which a class may declare" + (" (codecs included)" if kind == "labeler" else "")
    return f"{head}:\n\n| name | type | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def _default(capability: Any, plain: Callable[[object], object]) -> str:
    return "required" if capability.default is inspect.Parameter.empty else f"`{plain(capability.default)!r}`"


def _first_line(stage: type) -> str:
    return " ".join((inspect.getdoc(stage) or "").split("\n\n")[0].split())


def _parameters(stage: Any) -> str:
    return "<br>".join(f"`{name}={value!r}`" for name, value in stage.parameters().items()) or "none"


def _compositions() -> str:
    import clusterkit

    rows: dict[tuple[str, str, str], dict[str, set[str]]] = {}
    for c in clusterkit.compositions():
        key = (SPACES[c.featuremap.gives.__name__], c.solver.name, c.labeler.name)
        row = rows.setdefault(key, {name: set() for name in CELLS})
        row["maps"].add(f"`{c.featuremap.name}`")
        row["balancers"].add(f"`{c.balancer.name}`" if c.balancer else "`None`")
        row["starts"].add(f"`{c.init.name}`" if c.init else "none")
        row["clusters"].add("found" if c.n_clusters is None else "2" if c.n_clusters == 2 else "3 or more")
        row["predicts"].add("yes" if c.inductive else "no")
    lines = [
        "## Feature map × solver × labeler\n",
        "Each line stands for every combination of the stages that its cells list. Feature maps may also be chained "
        "(`['zscore', 'elm']`); of a chain the last map decides what fits. Any other combination is refused before any "
        "computation, and the message names stages that would fit.\n",
        "| solver | labeler | feature maps, giving | balancers | starts | clusters | predicts |",
        "|---|---|---|---|---|---|---|",
    ]
    for (space, solver, labeler), row in sorted(rows.items(), key=lambda item: (item[0][1], item[0][2], item[0][0])):
        maps, balancers, starts, clusters, predicts = (", ".join(sorted(row[name])) for name in CELLS)
        clusters = "any number" if clusters == "2, 3 or more" else clusters
        cells = [f"`{solver}`", f"`{labeler}`", f"{maps}: {space}", balancers, starts, clusters, predicts]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
