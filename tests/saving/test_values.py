"""What a file can hold: every kind of value comes back as it was, equal arrays once, and anything else is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from enum import Enum
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest
import scipy.sparse
from oracles.recipes import small
from safetensors.numpy import load_file

import clusterkit
from clusterkit import Pipeline, load, recipe, saving
from clusterkit.contracts import array
from clusterkit.contracts.declared import fits
from clusterkit.contracts.registry import registry
from clusterkit.errors import InvalidModelFile, NotSavable
from clusterkit.testing.compare import saved_copy, two_groups

X = two_groups()


class TestValues:
    @pytest.mark.parametrize(
        "value",
        [
            None, True, False, 0, -3, 2**127, 0.1, -0.0, float("inf"), float("-inf"), "", "Ω\n\0\ud800", (), (1,), [],
            [1, [2, (3,)]], {}, {"a": 1, (1, 2.5): "b", None: 2, 3: {}}, {1, 2}, frozenset({"x"}),
            np.float32(0.1), np.int8(-3), np.bool_(True), np.float64("nan"), np.str_("x"), np.complex64(1 + 2j),
            np.dtype("float32"), np.dtype(">i4"), np.dtype("U7"),
        ],
        ids=repr,
    )  # fmt: skip
    def test_of_one_kind(self, value):
        again = saved_copy((value,))[0]
        assert type(again) is type(value)
        np.testing.assert_equal(again, value)
        assert repr(again) == repr(value)

    def test_nan(self):
        assert np.isnan(saved_copy([float("nan")])[0])

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(6.0).reshape(2, 3), np.arange(6.0, dtype=np.float32).reshape(2, 3).T, np.arange(6)[::2],
            np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::2], np.array(3.5), np.array(True), np.empty((0, 5)),
            np.empty((3, 0)), np.array([True, False]), np.arange(3, dtype=">f8"), np.arange(3, dtype=">u2"),
            np.arange(3, dtype=np.uint64), np.float16([1, 2]), np.complex128([1 + 2j, 3]), np.complex64([[1j]]),
            np.array(["a", "Ωbc"]), np.array([["x"], ["y"]]), np.array("word"), np.array(["a", "b"], dtype=object),
            np.array(["2020-01-01"], dtype="M8[D]"), np.array([3], dtype="m8[s]"), np.array([np.nan, -np.inf, -0.0]),
            np.array([[1, 2], [3, 4]], order="F", dtype=np.int32), np.array([], dtype="U1"),
        ],
        ids=lambda a: f"{a.dtype}-{a.shape}",
    )  # fmt: skip
    def test_arrays(self, array):
        again = saved_copy((array,))[0]
        np.testing.assert_array_equal(again, array, strict=True)
        assert again.dtype.str == array.dtype.str
        contiguous = array.flags.c_contiguous or array.flags.f_contiguous
        for flag in ("f_contiguous", "c_contiguous"):
            assert getattr(again.flags, flag) == getattr(array.flags, flag) or not contiguous
        assert again.flags.aligned

    def test_what_may_not_be_written_stays_so(self):
        array = np.arange(3)
        array.flags.writeable = False
        assert not saved_copy((array,))[0].flags.writeable
        assert saved_copy((np.arange(3),))[0].flags.writeable

    @pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
    def test_sparse_matrices_become_rows(self, make):
        matrix = make(np.array([[0.0, 1.5], [0.0, 0.0], [2.0, 0.0]]))
        again = saved_copy((matrix,))[0]
        assert again.format == "csr"
        assert isinstance(again, scipy.sparse.sparray) == isinstance(matrix, scipy.sparse.sparray)
        np.testing.assert_array_equal(again.toarray(), matrix.toarray())

    @pytest.mark.parametrize(
        "generator", [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
    )
    def test_random_generators_go_on(self, generator):
        rng = np.random.Generator(generator(3))
        rng.integers(3, dtype=np.int32)  # leaves half a word behind
        again = saved_copy((rng,))[0]
        np.testing.assert_array_equal(
            again.integers(100, size=9, dtype=np.int32), rng.integers(100, size=9, dtype=np.int32)
        )
        legacy = np.random.RandomState(generator(3))
        legacy.normal()
        assert saved_copy((legacy,))[0].normal() == legacy.normal()

    def test_equal_things_are_stored_once(self):
        array = np.arange(1000.0)
        packed = saving.pack([array, (array, array[:]), {"x": array.view()}, array[:10]])
        assert sorted(len(tensor) for tensor in packed.tensors.values()) == [10, 1000]
        first, (second, third), mapping, _ = saved_copy([array, (array, array[:]), {"x": array.view()}, array[:10]])
        assert first is second is third is mapping["x"]
        model = recipe("emmc", n_clusters=2, random_state=0).fit(X)
        again = saved_copy(model)
        assert again.predictor_.extend is again.outcome_.extend


class TestRefusals:
    @pytest.mark.parametrize(
        "value",
        [
            len, lambda: 0, Fraction(1, 3), object(), b"bytes", 1j, slice(3), int, 2**300,
            np.array([1, "a"], dtype=object), np.zeros(2, dtype="i4,f8"), np.zeros(2, dtype="S3"),
            np.ma.masked_array([1, 2], mask=[0, 1]), np.zeros(2, dtype=np.longdouble),
        ],
        ids=lambda value: type(value).__name__ + str(np.shape(value)),
    )  # fmt: skip
    def test_what_is_no_data(self, value):
        with pytest.raises(NotSavable, match=r"the model\[0\]\['place'\]"):
            saving.pack([{"place": value}])

    def test_what_contains_itself(self):
        value: list[Any] = []
        value.append(value)
        with pytest.raises(NotSavable, match="contains itself"):
            saving.pack(value)

    def test_what_is_nested_too_deeply(self):
        value: Any = 1
        for _ in range(5000):
            value = (value,)
        with pytest.raises(NotSavable, match="nested more than"):
            saving.pack(value)

    def test_a_model_names_the_place_and_leaves_no_file(self, tmp_path):
        from sklearn.cluster import KMeans

        model = clusterkit.ConsensusClustering(base=KMeans(2), n_members=2, random_state=0).fit(X)
        with pytest.raises(NotSavable, match=r"^base cannot be saved: sklearn\.cluster\._kmeans\.KMeans is no class"):
            model.save(tmp_path / "m.clusterkit")
        assert list(tmp_path.iterdir()) == []

    def test_before_the_fit(self, tmp_path):
        with pytest.raises(ValueError, match="not fitted"):
            Pipeline().save(tmp_path / "m.clusterkit")


def test_the_file_is_one_of_tensors_and_the_same_each_time(tmp_path):
    model = recipe("emmc", n_clusters=2, random_state=0).fit(X)
    for name in ("a", "b"):
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    tensors = load_file(tmp_path / "a").values()
    assert any(np.array_equal(tensor, model.labels_) for tensor in tensors)


def test_names_of_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["breite", "höhe"])
    model = recipe("kmeans", n_clusters=2, random_state=0).fit(frame)
    model.save(tmp_path / "m.clusterkit")
    again = load(tmp_path / "m.clusterkit")
    np.testing.assert_array_equal(again.feature_names_in_, model.feature_names_in_, strict=True)
    np.testing.assert_array_equal(again.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["höhe", "breite"]])


@pytest.mark.filterwarnings("ignore:rows of 2 columns that are scaled to length 1")  # recipe embeddings says so
def test_loading_needs_no_pickle(tmp_path):
    """In a new process, with everything that unpickles replaced by a function that raises."""
    names = [name for name in clusterkit.recipes() if name not in ("mmc", "gmmc-sdp")]
    for name in names:
        model = small(name, random_state=0).fit(X)
        model.save(tmp_path / f"{name}.clusterkit")
        np.save(tmp_path / f"{name}.npy", model.labels_)
    script = f"""
        import pickle, _pickle, sys
        import clusterkit
        from pathlib import Path
        import numpy as np
        load = clusterkit.load
        def refuse(*args, **kwargs):
            raise AssertionError("something was unpickled")
        import joblib.numpy_pickle
        places = [pickle, _pickle, joblib.numpy_pickle]
        names = ["loads", "load", "Unpickler", "_Unpickler", "_loads", "_load"]
        before = {{(p, n): getattr(p, n) for p in places for n in names if hasattr(p, n)}}
        models = {{}}
        for place, name in before:
            setattr(place, name, refuse)
        for path in sorted(Path({str(tmp_path)!r}).glob("*.clusterkit")):
            models[path.stem] = load(path)
        for (place, name), value in before.items():
            setattr(place, name, value)
        for name, model in models.items():
            assert np.array_equal(model.labels_, np.load(Path({str(tmp_path)!r}) / (name + ".npy"))), name
        print(len(models))
    """
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}  # its cache of compiled code has pickles
    command = [sys.executable, "-c", textwrap.dedent(script)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == len(names)


@attrs.frozen(eq=False)
class Halves:
    """Two halves, registered by the tests; version 1 of it had one list."""

    low: np.ndarray = attrs.field(validator=array("d"))
    high: np.ndarray = attrs.field(validator=array("d"))
    weight: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))


class Shade(Enum):
    LIGHT = 1
    DARK = 2


class TestClasses:
    def test_a_class_must_be_registered(self):
        halves = Halves(np.zeros(2), np.ones(2))
        with pytest.raises(NotSavable, match="clusterkit_savables"):
            saving.pack(halves)
        clusterkit.register(Halves)
        again = saved_copy(halves)
        assert isinstance(again, Halves)
        np.testing.assert_array_equal(again.high, halves.high)
        clusterkit.register(Shade)
        assert saved_copy([Shade.DARK])[0] is Shade.DARK

    def test_a_file_of_a_class_that_is_not_there(self, tmp_path):
        clusterkit.register(Halves)
        packed = saving.pack(Halves(np.zeros(2), np.ones(2)))
        saving.write(tmp_path / "h", saving.Content(packed.tree(), packed.tensors))
        registry.forget()
        with pytest.raises(
            InvalidModelFile, match=r"it needs the class savable 'Halves': no savable named 'Halves'\. The"
        ):
            saving.unpack(saving.read(tmp_path / "h"), "h")

    def test_its_validators_run(self):
        clusterkit.register(Halves)
        packed = saving.pack(Halves(np.zeros(2), np.ones(2)))
        packed.nodes[-1]["fields"]["weight"] = -1.0
        with pytest.raises(InvalidModelFile, match=r"\(Halves\) is wrong: 'weight' must be > 0"):
            saving.unpack(saving.Content(packed.tree(), packed.tensors), "file")

    def test_an_older_schema_is_migrated_and_a_newer_one_refused(self):
        @attrs.frozen(eq=False)
        class Parted:
            low: np.ndarray = attrs.field(validator=array("d"))
            high: np.ndarray = attrs.field(validator=array("d"))
            saved_schema = 2

            @classmethod
            def migrated(cls, fields, schema):
                assert schema == 1
                low, high = np.split(fields["both"], 2)
                return {"low": low, "high": high}

        clusterkit.register(Parted)
        packed = saving.pack(Parted(np.zeros(2), np.ones(2)))
        assert packed.classes[0].schema == 2
        tree, tensors = packed.tree(), {"000000": np.arange(4.0)}
        old = {**tree, "classes": [["savable", "Parted", 1, "this session"]]}
        old["nodes"] = [{"tensor": "000000"}, {"class": 0, "fields": {"both": {"node": 0}}}]
        old["root"] = {"node": 1}
        again = saving.unpack(saving.Content(old, tensors), "file")
        assert again.high.tolist() == [2.0, 3.0]
        for schema, message in ((3, "has schema 3 of the class 'Parted'"), (0, "names no class")):
            newer = {**tree, "classes": [["savable", "Parted", schema, "this session"]]}
            with pytest.raises(InvalidModelFile, match=message):
                saving.unpack(saving.Content(newer, packed.tensors), "file")

    def test_a_field_with_a_default_may_be_missing(self):
        clusterkit.register(Halves)
        packed = saving.pack(Halves(np.zeros(2), np.ones(2), 3.0))
        del packed.nodes[-1]["fields"]["weight"]
        assert saving.unpack(saving.Content(packed.tree(), packed.tensors), "file").weight == 1.0

    def test_a_subclass_of_an_estimator_is_registered_by_its_user(self, tmp_path):
        class Mine(Pipeline):
            pass

        model = Mine("identity", "centroids", "argmax", init="seeds", n_clusters=2, random_state=0).fit(X)
        with pytest.raises(NotSavable, match="Mine is no class"):
            model.save(tmp_path / "m.clusterkit")
        clusterkit.register(Mine)
        model.save(tmp_path / "m.clusterkit")
        assert type(load(tmp_path / "m.clusterkit")) is Mine

    def test_the_class_of_a_plugin(self, tmp_path):
        if "rows_medians" not in clusterkit.stages("labeler"):
            pytest.skip("the plugin clusterkit-example is not installed")
        model = Pipeline("identity", "nmf", "rows_medians", n_clusters=2, random_state=0).fit(X)
        model.save(tmp_path / "m.clusterkit")
        np.testing.assert_array_equal(load(tmp_path / "m.clusterkit").predict(X), model.predict(X))


def test_every_entry_of_the_table_is_a_class_and_can_be_found_by_it():
    for entry in (name for kind, name in registry.builtins() if kind == "savable"):
        assert saving.name_of(registry.get("savable", entry)).name == entry


@pytest.mark.parametrize(
    ("value", "hint", "fine"),
    [
        (1, float, True), (True, int, False), (np.float32(1), float, True), ("x", str | None, True),
        (3, str | None, False), ({"a": 1}, dict[str, int], True), ({"a": "b"}, dict[str, int], False),
        (np.zeros(2), np.ndarray, True), (np.arange(3), clusterkit._typing.Array, False),
        (np.arange(3), clusterkit._typing.Labels, True), ([1.0], tuple[float, ...], False),
        ((1.0, 2), tuple[float, int], True), (len, "anything", True),
    ],
)  # fmt: skip
def test_types_of_fields(value, hint, fine):
    assert fits(value, hint) is fine
