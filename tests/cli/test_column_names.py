"""Names of columns on the command line: several on lines of their own, with accents of either form, with line ends."""

from unicodedata import normalize

import pytest

from clusterkit.cli.data import keys_of

pytest.importorskip("pandas", reason="needs pandas")


@pytest.fixture
def named(tmp_path, blobs):
    """Writes a table with these names of three columns."""

    def write(file, *names):
        rows = [",".join(f"{value:.3f}" for value in row) for row in blobs[:, [0, 1, 1]].tolist()]
        header = ",".join(f'"{name}"' for name in names)
        path = tmp_path / file
        path.write_bytes("\n".join([header, *rows]).encode())
        return path

    return write


@pytest.mark.parametrize("value", ["a\r\nb\r\n", '"a"\nb'])
def test_names_on_lines_of_their_own(run, named, value):
    """As `--drop "$(cat names.txt)"` gives them."""
    answer = run("fit", named("t.csv", "a", "b", "c"), "-k", 3, "-r", "kmeans", "--drop", value)
    assert answer.exit_code == 0, answer.output
    assert "columns    1 (c)" in answer.stdout


@pytest.mark.parametrize(("written", "typed"), [("a\r\nb", "a\nb"), ("a\nb", 'c,"a\r\nb"')])
def test_a_name_of_two_lines(run, named, written, typed):
    answer = run("fit", named("t.csv", written, "b", "c"), "-k", 3, "-r", "kmeans", "--drop", typed)
    assert answer.exit_code == 0, answer.output
    assert "a\\nb" not in answer.stdout.splitlines()[2]


def test_errors_show_line_ends_as_escapes(run, named, error_of):
    message = error_of(run("fit", named("t.csv", "a\nb", "b", "c"), "-k", 3, "--drop", "x"))
    assert message.endswith("no column named 'x'. Its 3 columns: a\\nb, b, c")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_of_either_form(run, named, form):
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    here, there = ([normalize(its, name) for name in ("größe", "é", "b")] for its in (form, other))
    model = named("x.csv", "a", "b", "c").with_name("m.clusterkit")
    words = ("-k", 3, "-r", "kmeans", "--save", model, "-o", "-")
    fitted = run("fit", named("fit.csv", *here), "--drop", there[1], *words)
    assert fitted.exit_code == 0, fitted.output
    answer = run("predict", model, named("new.csv", *there))
    assert answer.exit_code == 0, answer.output
    assert answer.stdout == fitted.stdout


def test_two_columns_that_differ_in_the_form_of_an_accent_are_two():
    names = [normalize(form, "é") for form in ("NFC", "NFD")]
    assert [keys_of([name], names) for name in names] == [[name] for name in names]
