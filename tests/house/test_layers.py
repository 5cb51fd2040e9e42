"""The arrows between packages: the page, the contracts and the code say the same."""

from itertools import pairwise

from house import architecture
from house.source import ROOT

from clusterkit.contracts.registry import registry


def test_the_table_of_parts_says_what_the_contracts_check():
    assert architecture.parts_of_the_page() == architecture.parts_of_the_contracts()


def test_every_package_is_in_a_layer():
    packages = {path.stem for path in (ROOT / "clusterkit").iterdir() if path.suffix == ".py" or _is_package(path)}
    parts = architecture.parts_of_the_page()
    assert packages - {"__init__"} <= set(parts)
    assert {name for name, part in parts.items() if not part.optional} <= packages


def test_every_family_is_under_the_contract_of_independence():
    families = {path.name for path in (ROOT / "clusterkit" / "families").iterdir() if _is_package(path)}
    modules = architecture.contract("no arrow between families")["modules"]
    assert {name.rpartition(".")[2] for name in modules} == families
    cell = next(line for line in architecture.PAGE.read_text(encoding="utf-8").splitlines() if "| `families` |" in line)
    assert all(f"`{family}`" in cell for family in families)


def _is_package(path) -> bool:
    return path.is_dir() and (path / "__init__.py").exists()


class TestTheMapOfAFit:
    def test_every_file_and_name_exists(self):
        missing = [
            (path, name)
            for _, _, path, name in architecture.jumps()
            if not (ROOT / "clusterkit" / path).exists() or not architecture.defines(path, name)
        ]
        assert missing == []

    def test_each_jump_is_named_by_the_one_before(self):
        lists = {}
        for title, _, path, name in architecture.jumps():
            lists.setdefault(title, []).append((path, name))
        steps = [step for jumps in lists.values() if jumps[0][0].endswith("/recipes.py") for step in pairwise(jumps)]
        assert len(steps) > 10
        assert [step for step in steps if not architecture.names_next(*step[0], *step[1])] == []

    def test_every_solver_names_the_function_with_its_mathematics(self):
        for solver in map(type, registry.specimens("solver").values()):
            if solver.__module__.startswith("clusterkit."):
                path = f"{solver.__module__.partition('.')[2].replace('.', '/')}.py"
                assert architecture.places(path, solver.__doc__) - {(path, solver.__name__)}, path

    def test_the_mathematics_is_four_jumps_away_at_most(self):
        lists = {}
        for title, number, _, _ in architecture.jumps():
            lists.setdefault(title, []).append(number)
        assert {"emmc", "svc, the dual", "svc, the labels", "svc, from components to labels", "nmf"} <= set(lists)
        for title, numbers in lists.items():
            assert numbers == list(range(1, len(numbers) + 1)), title
            assert len(numbers) <= 4, title
