"""The list of hand-made faults fits the checkout, so that ``python -m tests.faults`` does not end after an hour."""

import runpy
from pathlib import Path

SCRIPT = runpy.run_path(str(Path(__file__).with_name("__main__.py")))
FAULTS = SCRIPT["faults"]()


def test_every_fault_can_be_put_into_the_checkout_and_changes_it():
    assert [problem for fault in FAULTS for problem in SCRIPT["problems_of"](fault)] == []
    for fault in FAULTS:
        assert fault["old"] != fault["new"], fault["name"]
        assert fault["sentence"].endswith("."), fault["name"]
        assert fault["tests"], fault["name"]


def test_there_are_enough_of_them_and_no_name_stands_twice():
    names = [fault["name"] for fault in FAULTS]
    assert len(names) >= 60
    assert len({*names}) == len(names)


def test_code_that_is_compiled_with_a_changed_function_in_it_is_compiled_again(tmp_path):
    """numba keeps code by the file of the outermost function."""
    folder = tmp_path / "clusterkit" / "a"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "one_jit.py").write_text("LOW = 1\n")
    (folder / "two_jit.py").write_text("from clusterkit.a.one_jit import LOW\n")
    (folder / "three_jit.py").write_text("from clusterkit.a.two_jit import LOW\n")
    (folder / "other_jit.py").write_text("HIGH = 2\n")
    compiled = {name: folder / "__pycache__" / f"{name}_jit.f-1.py311.nbi" for name in ("one", "two", "three", "other")}
    for path in compiled.values():
        path.touch()
    SCRIPT["put_into"](tmp_path, {"file": "clusterkit/a/one_jit.py", "old": "LOW = 1", "new": "LOW = 2"})
    assert (folder / "one_jit.py").read_text() == "LOW = 2\n"
    assert [name for name, path in compiled.items() if path.exists()] == ["other"]
