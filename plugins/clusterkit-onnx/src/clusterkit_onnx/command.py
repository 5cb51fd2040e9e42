"""``clusterkit export``: a saved model as a file that other programs run."""

from __future__ import annotations

from typing import Any

import click

from clusterkit.cli import outputs
from clusterkit.cli.failures import BadInput

__all__ = ["export"]

EPILOG = """\b
Examples:
  clusterkit export model.clusterkit -o model.onnx
  clusterkit export model.clusterkit -o model.onnx --dtype float32
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""


@click.command(epilog=EPILOG, short_help="Write a saved model for other programs, in ONNX.")
@click.argument("model_file", metavar="MODEL")
@click.option("-o", "--output", "path", required=True, metavar="FILE", help="File for the model: .onnx.")
@click.option(
    "--dtype",
    type=click.Choice(["float64", "float32"]),
    default="float64",
    show_default=True,
    help="Type of the numbers, those of the rows included. With float32 rows near a border may change sides.",
)
@click.option(
    "--without-preparation", is_flag=True, help="Take prepared features instead of the columns of the table of the fit."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def export(model_file: str, path: str, dtype: str, without_preparation: bool, as_json: bool) -> None:
    """Write what MODEL does with new rows as an ONNX file, which runs without Python.

    MODEL is a file that `clusterkit fit --save`, or the method save of an estimator, wrote. The preparation of its
    table is a part of the file: numbers and dates are one input, categories another one. Methods whose labels follow
    from scores or nearest rows can be exported; support vector clustering, which searches a domain, cannot.
    """
    from clusterkit.cli import console, models

    if path == outputs.STDOUT:
        raise BadInput("-o needs a file; a model in ONNX is not written to standard output")
    outputs.check({"-o": path}, [model_file])
    outputs.check_ending(path, (".onnx",), "a model in ONNX")
    model = models.load(model_file)  # before slow imports, because the file may be none
    from clusterkit_onnx import to_onnx

    exported = to_onnx(model["pipeline"], path, dtype=dtype, preparation=not without_preparation)
    inputs = [_in_words(value) for value in exported.graph.input]
    answers = [value.name for value in exported.graph.output]
    if as_json:
        facts = {"model": model_file, "recipe": model["recipe"], "file": path, "bytes": exported.ByteSize()}
        metadata = {entry.key: entry.value for entry in exported.metadata_props}
        console.as_json({**facts, "inputs": inputs, "outputs": answers, "metadata": metadata})
        return
    console.heading(f"{model_file} ({model['recipe']}) as a model in ONNX")
    console.facts({"inputs": ", ".join(inputs), "outputs": ", ".join(answers), "model in": path})


def _in_words(value: Any) -> str:
    """Name, type and shape of an input."""
    from onnx import TensorProto

    tensor = value.type.tensor_type
    shape = ", ".join(str(size.dim_param or size.dim_value) for size in tensor.shape.dim)
    return f"{value.name} {TensorProto.DataType.Name(tensor.elem_type).lower()} ({shape})"
