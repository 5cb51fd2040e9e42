"""What the words of a command line mean, by the functions that read them: rows of data, without a command."""

from unicodedata import normalize

import click
import pytest

from clusterkit.cli import early, models, outputs
from clusterkit.cli.data import TableOptions, check_file, keys_of
from clusterkit.cli.failures import BadInput
from clusterkit.cli.options import NUMBER, check_number, estimator, parsed
from clusterkit.errors import UnknownName

COMPOSED, DECOMPOSED = ([normalize(form, name) for name in ("größe", "é", "b")] for form in ("NFC", "NFD"))
COMMAS = ["a,b", "c", "d, e"]


def test_names_of_columns():
    for values, names, keys in (
        (["a\r\nb\r\n"], ["a", "b", "c"], ["a", "b"]),  # as `--drop "$(cat names.txt)"` gives them
        (['"a"\nb'], ["a", "b", "c"], ["a", "b"]),
        (['c,"a\r\nb"'], ["a\nb", "b", "c"], ["c", "a\nb"]),
        (["d, e", "c"], COMMAS, ["d, e", "c"]),
        (['"d, e",c'], COMMAS, ["d, e", "c"]),
        (DECOMPOSED[:1], COMPOSED, COMPOSED[:1]),
        (DECOMPOSED[1:2], [COMPOSED[1], DECOMPOSED[1]], DECOMPOSED[1:2]),  # two columns
    ):
        assert keys_of(values, names) == keys


def test_columns_of_new_rows(write):
    """Columns of the fit, names in a file and options of reading it; the places in the file, or what is said."""
    pytest.importorskip("pandas")
    for fitted, header, options, answer in (
        (["height", "width"], "width,height", {}, [1, 0]),
        (["height", "width"], None, {}, [0, 1]),
        (["height", "width"], "height,width", {"drop": ("1",)}, "lacks 1 of the 2 columns the model was fitted on: h"),
        (["a", "b"], None, {"columns": ("1",)}, "1 columns, the model was fitted on 2 (a, b); choose them with --col"),
        (COMPOSED[:2], ",".join(DECOMPOSED[1::-1]), {}, [1, 0]),
        (["p", "q"], "x,y", {}, "none of the 2 columns that the model was fitted on (p, q); the names in it are x, y"),
        (["p", "q"], "x,y", {}, "add --no-header"),
        (["p", "q"], "x,y", {"header": False}, [0, 1]),
        (["share", "b"], "SHARE,B", {}, "'SHARE' for 'share', 'B' for 'b': write them as in the fit"),
        (["Share", "b"], "share,b", {}, "it has 'share', but not 'Share'"),
        (["a", "b"], "a,a,b", {"drop": ("2",)}, [0, 2]),
        (["a", "b"], "a,a,b", {}, "has 2 columns named 'a', and the model uses one"),
    ):
        width = 2 if header is None else header.count(",") + 1
        rows = [",".join("12345"[start : start + width]) for start in (0, 2)]
        table_options = TableOptions(**options)
        table = table_options.open(str(write("t.csv", "\n".join([*filter(None, [header]), *rows]))))
        try:
            places = models.places_of({"columns": fitted, "named": True}, table, table_options)
        except BadInput as failure:
            places = str(failure)
        assert answer in places if isinstance(answer, str) else answer == places, places


def test_values_of_set():
    words = ["solver.C=1.5", "a=true", "b=None", "c=x", "d='1'", "e=(0, 1)", "featuremap.elm.n_hidden=9", "f=a=b"]
    assert parsed(words) == {
        "solver__C": 1.5,
        "a": True,
        "b": None,
        "c": "x",
        "d": "1",
        "e": (0, 1),
        "featuremap__elm__n_hidden": 9,
        "f": "a=b",
    }


def test_numbers_of_clusters():
    assert [NUMBER.convert(word, None, None) for word in ("3", "Auto", "2-8", "2:8")] == [3, "auto", (2, 8), (2, 8)]


def of_all(**options):
    return outputs.BesideOptions(**dict.fromkeys(outputs.BesideOptions._fields, False) | options)


def of_number(name, k):
    check_number(name, estimator(name, k, 0, ()), k)


REFUSED = {
    "'0' is no number of clusters: write a number from 1, auto, or a range such as 2-8": lambda: NUMBER.convert(
        "0", None, None
    ),
    "'8-2': a range goes up, from 2 or more clusters, such as 2-8": lambda: NUMBER.convert("8-2", None, None),
    "no recipe named 'kmeanz'. Did you mean 'kmeans'": lambda: estimator("kmeanz", 2, 0, ()),
    "recipe hdbscan finds the number of clusters itself: leave -k out": lambda: of_number("hdbscan", 3),
    "--set solver.c=1: solver 'ridge' has no": lambda: estimator("emmc", 2, 0, ["solver.c=1"]),
    "recipe 'auto' has no stages to change. Name one with -r, for example -r emmc": lambda: early.check(
        "x", None, ["solver.C=1"]
    ),
    "write SLOT.PARAMETER=VALUE, for example solver.C=1": lambda: parsed(["solver"]),
    "gives 'n_init' twice": lambda: parsed(["n_init=1", "n_init=2"]),
    "--set n_clusters: use -k instead": lambda: estimator("emmc", 2, 0, ["n_clusters=3"]),
    "--set random_state: use --seed instead": lambda: estimator("emmc", 2, 0, ["random_state=3"]),
    "no/l.csv cannot be written: there is no such folder": lambda: outputs.check({"-o": "no/l.csv"}),
    ". cannot be written: it is a folder": lambda: outputs.check({"-o": "."}),
    "--with-data needs -o FILE": lambda: of_all(with_data=True).check(None),
    "--with-data writes a table, so the file cannot be .npy": lambda: of_all(with_data=True).check("l.npy"),
    "--escape-formulas is about the texts that --with-data and --names write": lambda: of_all(
        escape_formulas=True
    ).check("l.csv"),
    "l.xls: labels can be .csv, .tsv, .txt (each also .gz), .parquet, .xlsx or .npy": lambda: of_all().check("l.xls"),
    "l.npy.gz: labels can be": lambda: of_all().check("l.npy.gz"),
    "m.csv: a model can be .clusterkit, .model, .safetensors, not .csv": lambda: models.check("m.csv"),
    "a model needs a file; standard output (-) takes labels only": lambda: models.check("-"),
    "out.gif: a picture can be .pdf, .png, .svg, not .gif": lambda: outputs.check_picture("out.gif"),
    "out: a picture can be .pdf, .png, .svg, not without an ending": lambda: outputs.check_picture("out"),
    "--delimiter must be one character, got 'ab'": lambda: TableOptions(delimiter="ab").reading(),
    "patterns are for Python: clusterkit.open(": lambda: check_file("*.npy"),
    ". is a folder, not a file": lambda: check_file("."),
    "none.csv: no such file": lambda: check_file("none.csv"),
    "; there is no folder no": lambda: check_file("no/t.csv"),
    "no such file. Did you mean 'english.csv'?": lambda: check_file("engllish.csv"),
}


def test_what_is_refused_before_anything_is_read(write, monkeypatch):
    monkeypatch.chdir(write("english.csv", "").parent)
    for message, call in REFUSED.items():
        with pytest.raises((BadInput, UnknownName, click.BadParameter)) as failure:
            call()
        assert message in getattr(failure.value, "message", str(failure.value))
