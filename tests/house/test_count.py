"""The numbers of the house: each counts what its sentence says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from house import architecture, count
from house.count import Rooms
from house.source import Source


def source(text: str, path: str = "a.py") -> Source:
    return Source(Path(path), text, ast.parse(text))


MODULES = {
    "p": source("__version__ = '1'", "p/__init__.py"),
    "p.a": source("from p import b\nif TYPE_CHECKING:\n    from p.b import B\n    from p.c import C", "p/a.py"),
    "p.b": source("class B: pass\ndef f():\n    from p import c", "p/b.py"),
    "p.c": source("if TYPE_CHECKING:\n    import p.a", "p/c.py"),
    "p.d": source("import p.c\nfrom p import __version__", "p/d.py"),
}
ARROWS = count.arrows_of(MODULES)


def test_an_arrow_has_the_place_that_runs_first():
    assert ARROWS == {
        ("p.a", "p.b"): "top", ("p.a", "p.c"): "types", ("p.b", "p.c"): "inside", ("p.c", "p.a"): "types",
        ("p.d", "p.c"): "top", ("p.d", "p"): "top",
    }  # fmt: skip


def test_circles_that_only_type_checkers_see():
    assert count.circles_of(ARROWS, ("top", "inside")) == []
    assert count.circles_of(ARROWS, ("top", "inside", "types")) == [["p.a", "p.c"]]


def test_modules_with_one_importer():
    assert list(count.single_importers(ARROWS)) == ["p <- p.d (top)", "p.a <- p.c (types)", "p.b <- p.a (top)"]


def test_lines_of_code():
    texts = ['"""Module.', "", 'More."""', "X = 1  # why", '"""What X is."""', "# alone", "def f():", '    """Do."""']
    code = ["    return (", '        """a', "", 'b"""', "    )"]
    text = "\n".join([*texts, *code, ""])
    assert count.code_lines(text) == 7


class TestRooms:
    ROOMS = Rooms(
        "p", {"top": 0, "left": 1, "right": 1, "x": 2, "y": 2}, frozenset("xy"), frozenset({("p.x.c", "p.top.z")})
    )

    @pytest.mark.parametrize(
        ("importer", "module"),
        [("p.left.a", "p.top"), ("p.left", "p.right.b"), ("p.x", "p.left"), ("p.x", "p"), ("p.new", "p.x")],
    )
    def test_an_arrow_up(self, importer, module):
        assert self.ROOMS.is_upward(importer, module)

    @pytest.mark.parametrize(
        ("importer", "module"),
        [("p.top", "p.x.c"), ("p.left.a", "p.left.b"), ("p.x", "p.y"), ("p", "p.top"), ("p.x.c", "p.top.z")],
    )
    def test_an_arrow_down(self, importer, module):
        assert not self.ROOMS.is_upward(importer, module)

    def test_they_are_those_of_the_contract(self):
        rooms = Rooms.of_the_contract()
        assert set(rooms.depth) == set(architecture.parts_of_the_contracts())
        assert rooms.container in count.packages_of_the_wheel()
        assert all(rooms.of(importer) in rooms.depth for importer, _ in rooms.ignored)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("p.__init__", "", "__init__"),
        ("p.steps_jit", "", "compiled"),
        ("p.ridge", "class Ridge:\n    name: ClassVar[str] = 'ridge'", "registered"),
        ("p.emmc", "EMMC: Recipe = Recipe('emmc')", "registered"),
        ("p.a", "", "for type checkers"),
        ("p.c", "", ""),
    ],
)
def test_a_small_file_has_a_reason_or_none(name, text, reason):
    path = name.replace(".", "/") + ".py"
    assert count.reason_to_be_small(name, source(text, path), ARROWS) == reason


def test_a_module_that_only_functions_import_is_imported_late():
    assert count.reason_to_be_small("p.c", source("", "p/c.py"), {("p.b", "p.c"): "inside"}) == "imported late"


def test_constructions_and_handlers():
    modules = {
        "p.run": source("class Fit: pass\nFit()"),
        "p.b": source("run.Fit(1)\ntry: pass\nexcept (OSError, KeyboardInterrupt): pass"),
    }
    assert list(count.constructions(modules, "Fit")) == ["p.b:1"]
    assert list(count.interrupt_handlers(modules)) == ["p.b:3"]


def test_a_long_list_is_cut(capsys):
    count.show([("3 things", ["a", "b", "c"])], 2)
    assert capsys.readouterr().out.split() == ["3", "things", "a", "b", "and", "1", "more", "(--all)"]
