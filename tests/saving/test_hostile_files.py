"""Files that are damaged, or made to do harm: each is one error that names the file and what is wrong."""

import json
import resource
import warnings

import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterkit import Auto, ConsensusClustering, Pipeline, load, recipe
from clusterkit.errors import InvalidModelFile
from clusterkit.testing.compare import two_groups

from .hostile import changed, framed, joined, parts

X = two_groups()


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A saved model of some recipes, by name."""
    folder = tmp_path_factory.mktemp("models")
    paths = {}
    for name in ("emmc", "svc", "sgd-lmsvc", "nmf", "kernel-kmeans", "kmeans"):
        k = {} if name in ("svc", "sgd-lmsvc") else {"n_clusters": 2}
        paths[name] = folder / f"{name}.clusterkit"
        recipe(name, random_state=0, **k).fit(X).save(paths[name])
    return paths


def refusal(path) -> str:
    with pytest.raises(InvalidModelFile) as caught:
        load(path)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message) < 1500  # it may list the classes that there are
    return message


class TestDamage:
    def test_cut_short(self, models, tmp_path):
        content = models["svc"].read_bytes()
        path = tmp_path / "cut.clusterkit"
        for length in [*range(0, len(content), 37), len(content) - 1]:
            path.write_bytes(content[:length])
            refusal(path)

    def test_longer(self, models, tmp_path):
        path = tmp_path / "long.clusterkit"
        path.write_bytes(models["svc"].read_bytes() + b"\0")
        assert "longer than its tensors" in refusal(path)

    @given(data=st.data())
    def test_any_change_of_bytes_is_noticed_or_harmless(self, models, tmp_path_factory, data):
        name = data.draw(st.sampled_from(sorted(models)))
        content = bytearray(models[name].read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(0, len(content) - 1))
            content[place] = data.draw(st.integers(0, 255))
        path = tmp_path_factory.getbasetemp() / "mutated.clusterkit"
        path.write_bytes(content)
        try:
            model = load(path)
        except InvalidModelFile:
            return
        np.testing.assert_array_equal(model.predict(X), load(models[name]).predict(X))

    @given(content=st.binary(max_size=300))
    def test_any_bytes(self, tmp_path_factory, content):
        path = tmp_path_factory.getbasetemp() / "any.clusterkit"
        path.write_bytes(content)
        refusal(path)

    def test_a_folder_and_no_file_are_errors_of_the_system(self, tmp_path):
        with pytest.raises(OSError, match=r"(?i)directory"):
            load(tmp_path)
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none.clusterkit")

    def test_a_pickle_is_refused(self, tmp_path):
        import joblib

        joblib.dump(recipe("kmeans", n_clusters=2, random_state=0).fit(X), tmp_path / "m.joblib")
        assert "does not begin like a saved model" in refusal(tmp_path / "m.joblib")

    def test_tensors_of_another_program(self, tmp_path):
        from safetensors.numpy import save_file

        save_file({"weights": np.zeros(3)}, tmp_path / "other.safetensors")
        assert "no model that clusterkit saved" in refusal(tmp_path / "other.safetensors")


HEADERS = {
    "no JSON": (b"{nothing", "its header cannot be read"),
    "no object": (b"[1, 2]", "its header is no JSON object"),
    "deep": (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "its header is nested too deeply"),
    "an entry twice": (b'{"__metadata__":{},"__metadata__":{}}', "the entry '__metadata__' occurs twice"),
    "NaN": (b'{"__metadata__":{"clusterkit":NaN}}', "NaN is no JSON"),
    "a number of many digits": (b'{"a":' + b"9" * 5000 + b"}", "its header cannot be read"),
    "no text": (b'{"__metadata__":{"clusterkit":3}}', "no model that clusterkit saved"),
    "no UTF-8": (b'{"\xff":1}', "its header cannot be read"),
    "a description that is none": (b'{"__metadata__":{"clusterkit":"[]"}}', "is no JSON object"),
    "a deep description": (
        json.dumps({"__metadata__": {"clusterkit": '{"a":' * 20_000 + "1" + "}" * 20_000}}).encode(),
        "its description of the model is nested too deeply",
    ),
}


@pytest.mark.parametrize(("header", "message"), HEADERS.values(), ids=HEADERS)
def test_a_header(header, message, tmp_path):
    path = tmp_path / "m.clusterkit"
    path.write_bytes(framed(header))
    assert message in refusal(path)


def set_first(header, **changes):
    next(iter(header.values())).update(changes)


TENSORS = {
    "huge": (lambda h: set_first(h, shape=[2**40, 2**20]), "does not fit into the file"),
    "overflowing": (lambda h: set_first(h, shape=[2**62, 2**62]), "does not fit into the file"),
    "empty and huge": (
        lambda h: set_first(h, shape=[2**40, 0], data_offsets=[0, 0]),
        "does not fit into the file",
    ),
    "negative": (lambda h: set_first(h, shape=[-1]), "a shape or a place that is none"),
    "a fraction": (lambda h: set_first(h, shape=[1.5]), "a shape or a place that is none"),
    "true": (lambda h: set_first(h, shape=[True]), "a shape or a place that is none"),
    "another type": (lambda h: set_first(h, dtype="F8_E4M3"), "has the type 'F8_E4M3'"),
    "a list as type": (lambda h: set_first(h, dtype=[]), "which no saved model has"),
    "beyond the end": (lambda h: set_first(h, data_offsets=[2**40, 2**40 + 8]), "does not fit into the file"),
    "another entry": (lambda h: set_first(h, more=1), "describes tensor"),
    "forty dimensions": (lambda h: set_first(h, shape=[1] * 40), "a shape or a place that is none"),
}


@pytest.mark.parametrize(("change", "message"), TENSORS.values(), ids=TENSORS)
def test_a_tensor(change, message, models):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert message in refusal(changed(models["kmeans"], lambda header, tree: change(header)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def test_tensors_must_not_overlap(models, tmp_path):
    header, tree, data = parts(models["kmeans"].read_bytes())
    names = sorted(header, key=lambda name: header[name]["data_offsets"])
    same = [name for name in names[1:] if header[name]["data_offsets"][1] > header[name]["data_offsets"][0]]
    begin, end = header[same[0]]["data_offsets"]
    header[same[0]]["data_offsets"] = [begin - 8, end - 8]
    path = tmp_path / "m.clusterkit"
    path.write_bytes(joined(header, tree, data))
    assert "overlap, or leave a gap" in refusal(path)


def node_of(tree, name):
    """The first entry of a class."""
    number = [entry[1] for entry in tree["classes"]].index(name)
    return next(node for node in tree["nodes"] if node.get("class") == number)


DESCRIPTIONS = {
    "no nodes": (lambda t: t.pop("nodes"), "lacks the nodes"),
    "no root": (lambda t: t.pop("root"), "lacks the nodes, the classes or the root"),
    "a root that is none": (lambda t: t.update(root={"node": 10**9}), "the root is wrong"),
    "a root of a list": (lambda t: t.update(root=[]), "stands for no value"),
    "the root is a number": (lambda t: t.update(root=3), "holds no estimator"),
    "a circle": (lambda t: t["nodes"][0].update({"tuple": [{"node": 0}]}) or t["nodes"][0].pop("x", 0), "is wrong"),
    "a reference forwards": (lambda t: t["nodes"].insert(0, {"list": [{"node": 5}]}), "which is none before it"),
    "a reference that is true": (lambda t: t["nodes"].insert(0, {"list": [{"node": True}]}), "is none before it"),
    "a node that is none": (lambda t: t["nodes"].insert(0, 7), "is no JSON object"),
    "a node of no kind": (lambda t: t["nodes"].insert(0, {"lambda": "x"}), "stands for no object"),
    "a number too large": (lambda t: t["nodes"].insert(0, {"list": [{"float": "1e999"}]}), "stands for no value"),
    "a key twice": (lambda t: t["nodes"].insert(0, {"dict": [["a", 1], ["a", 2]]}), "has a key twice"),
    "a key that is a list": (
        lambda t: t["nodes"].__setitem__(slice(0, 0), [{"list": []}, {"dict": [[{"node": 0}, 1]]}]),
        "unhashable",
    ),
    "a format to come": (lambda t: t.update(format=2), "saved by a newer clusterkit"),
    "a format that is none": (lambda t: t.update(format="x"), "it has the format 'x'"),
    "a class by its place": (
        lambda t: t["classes"].append(["savable", "os:system", 1, "os"]),
        "no savable named 'os:system'",
    ),
    "a class that nobody has": (
        lambda t: t["classes"].append(["savable", "Missing", 1, "clusterkit-missing"]),
        "The file says that it is from 'clusterkit-missing'",
    ),
    "a recipe as class": (lambda t: t["classes"].append(["recipe", "emmc", 1, "x"]), "no kind of savable class"),
    "a command as class": (lambda t: t["classes"].append(["command", "fit", 1, "x"]), "no kind of savable class"),
    "a class that is none": (lambda t: t["classes"].append("Pipeline"), "names no class"),
    "a schema to come": (lambda t: t["classes"][0].__setitem__(2, 99), "it has schema 99 of the class"),
    "a schema of 0": (lambda t: t["classes"][0].__setitem__(2, 0), "names no class"),
    "an unknown field": (lambda t: node_of(t, "Decoder")["fields"].update(more=1), "Decoder does not know more"),
    "a missing field": (lambda t: node_of(t, "Decoder")["fields"].pop("k"), "Decoder lacks k"),
    "a field of another type": (lambda t: node_of(t, "Decoder")["fields"].update(k="2"), "k is of type str"),
    **{
        f"{name} of {value!r}": (lambda t, n=name, v=value: node_of(t, "Pipeline")["fields"].update({n: v}), name)
        for name in ("n_clusters", "n_init", "max_iter", "random_state")
        for value in ("x", -1)
    },
    "a solver of 5,000 letters": (
        lambda t: node_of(t, "Pipeline")["fields"].update(solver="x" * 5000),
        "no solver named",
    ),
    "a solver that is a number": (lambda t: node_of(t, "Pipeline")["fields"].update(solver=3), "solver takes a name"),
    **{
        f"no {name}": (lambda t, n=name: node_of(t, "Pipeline")["fields"].pop(n), f"it lacks {name}")
        for name in sorted(Pipeline._always_fitted)
    },
    "predictor_ is None": (
        lambda t: node_of(t, "Pipeline")["fields"].update(predictor_=None),
        "predictor_ is None, and the stages can predict",
    ),
    "no labels": (lambda t: node_of(t, "Pipeline")["fields"].update(labels_=None), "labels_"),
    "another number of columns": (
        lambda t: node_of(t, "Pipeline")["fields"].update(n_features_in_=7),
        "the Pipeline in it is incomplete or inconsistent",
    ),
    "more names than columns": (
        lambda t: node_of(t, "Pipeline")["fields"].update(
            feature_names_in_=node_of(t, "Pipeline")["fields"]["labels_"]
        ),
        "feature_names_in_",
    ),
    "an attribute that is a method": (
        lambda t: node_of(t, "Pipeline")["fields"].update(predict=1),
        "has no attribute 'predict'",
    ),
    "a private attribute": (
        lambda t: node_of(t, "Pipeline")["fields"].update(__class__=1),
        "has no attribute '__class__'",
    ),
    "a lacking parameter": (lambda t: node_of(t, "Pipeline")["fields"].pop("solver"), "Pipeline lacks solver"),
    "not fitted": (
        lambda t: [
            node_of(t, "Pipeline")["fields"].pop(n) for n in list(node_of(t, "Pipeline")["fields"]) if n.endswith("_")
        ],
        "is not fitted",
    ),
    "a dtype of objects": (lambda t: t["nodes"].insert(0, {"dtype": "|O"}), "is no type of numbers"),
    "a dtype of fields": (lambda t: t["nodes"].insert(0, {"dtype": "i4,i4"}), "is no type of numbers"),
    "a tensor that is none": (lambda t: t["nodes"].insert(0, {"tensor": "none"}), "there is no tensor"),
    "texts of a huge shape": (
        lambda t: t["nodes"].insert(0, {"texts": ["a"], "shape": [2**40]}),
        "other entries than its shape says",
    ),
    "random numbers of a module": (
        lambda t: t["nodes"].insert(0, {"generator": "seed", "state": 1}),
        "there is no generator",
    ),
    "a random state that is none": (
        lambda t: t["nodes"].insert(0, {"generator": "PCG64", "state": {"float": "nan"}}),
        "is wrong",
    ),
    "no version": (lambda t: t.pop("clusterkit"), "does not say which version"),
}


@pytest.mark.parametrize(("change", "message"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_a_description(change, message, models):
    def apply(header, tree):
        change(tree)

    shown = refusal(changed(models["kmeans"], apply))
    assert message in shown
    assert len(shown) < 1000


def test_validators_refuse_what_they_refuse_in_python(models):
    def widen(header, tree):
        node_of(tree, "equilibrium")["fields"]["tol"] = {"float": "nan"}

    assert "Equilibrium" in refusal(changed(models["sgd-lmsvc"], widen))


def test_shapes_that_do_not_agree(models):
    def swap(header, tree):
        fields = node_of(tree, "KernelDomain")["fields"]
        fields["weights"] = node_of(tree, "Pipeline")["fields"]["history_"]

    assert "KernelDomain: " in refusal(changed(models["svc"], swap))


@pytest.mark.parametrize(
    ("record", "field", "value", "message"),
    [
        ("Scores", "are_memberships", True, "memberships in 1 of 2 clusters"),
        ("Decoder", "k", 10**9, "1000000000 clusters are predicted"),
        ("Pipeline", "_takes_sparse_rows", True, "the rows of the fit are not so"),
    ],
)
def test_fields_that_disagree_are_refused(record, field, value, message, models):
    def call(header, tree):
        node_of(tree, record)["fields"][field] = value

    assert message in refusal(changed(models["kmeans" if record == "Pipeline" else "emmc"], call))


NUMBERS = st.one_of(
    st.integers(-3, 10), st.sampled_from([2**63 - 1, -(2**63)]), st.floats(width=32), st.booleans(), st.none()
)


@given(data=st.data())
@settings(deadline=None)
def test_a_forged_file_is_refused_or_gives_labels(models, tmp_path_factory, data):
    """The checksum agrees: what is left are the checks of the classes and of the whole, and no loop reads too far."""
    name = data.draw(st.sampled_from(sorted(models)))
    header, tree, content = parts(models[name].read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        what = data.draw(st.sampled_from(["field", "bytes", "swap", "shape"]))
        objects = [node for node in tree["nodes"] if "class" in node and node["fields"]]
        if what == "bytes" and content:
            place = data.draw(st.integers(0, len(content) - 1))
            content = content[:place] + data.draw(st.binary(min_size=1, max_size=8)) + content[place:]
            content = content[: len(parts(models[name].read_bytes())[2])]
        elif what == "shape":
            entry = header[data.draw(st.sampled_from(sorted(header)))]
            size = int(np.prod(entry["shape"], dtype=int))
            entry["shape"] = data.draw(st.sampled_from([[size], [1, size], [size, 1], [1, 1, size]]))
        else:
            fields = data.draw(st.sampled_from(objects))["fields"]
            field = data.draw(st.sampled_from(sorted(fields)))
            if what == "swap":
                others = data.draw(st.sampled_from(objects))["fields"]
                fields[field] = others[data.draw(st.sampled_from(sorted(others)))]
            else:
                value = data.draw(NUMBERS)
                finite = not isinstance(value, float) or np.isfinite(value)
                fields[field] = value if finite else {"float": repr(value)}
    path = tmp_path_factory.getbasetemp() / "forged.clusterkit"
    path.write_bytes(joined(header, tree, content))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except InvalidModelFile:
            return
        if not hasattr(model, "predict"):
            return
        assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("name", ["mixture", "single-linkage", "spectral"])
@pytest.mark.parametrize("turn", [lambda shape: shape[::-1], lambda shape: [int(np.prod(shape)), 1]])
def test_a_model_whose_arrays_are_of_another_shape_is_refused_or_predicts(name, turn, tmp_path):
    path = tmp_path / "m.clusterkit"
    recipe(name, n_clusters=2, random_state=0).fit(X).save(path)
    for tensor in sorted(parts(path.read_bytes())[0]):

        def reshape(header, tree, tensor=tensor):
            header[tensor]["shape"] = turn(header[tensor]["shape"])

        try:
            model = load(changed(path, reshape))
        except InvalidModelFile:
            continue
        assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("removed", ["labels_", "members_", "classes_", "support_", "candidates_"])
def test_other_estimators_are_whole_too(removed, tmp_path):
    model, name = {
        "labels_": (ConsensusClustering(random_state=0), "ConsensusClustering"),
        "members_": (ConsensusClustering(random_state=0), "ConsensusClustering"),
        "classes_": (MinMaxModularSVC(random_state=0), "MinMaxModularSVC"),
        "support_": (MinMaxModularSVC(random_state=0), "MinMaxModularSVC"),
        "candidates_": (Auto(n_clusters=1, random_state=0), "Auto"),
    }[removed]
    path = tmp_path / "m.clusterkit"
    model.fit(X, X[:, 0] > np.median(X[:, 0])).save(path)
    load(path)
    assert removed in refusal(changed(path, lambda header, tree: node_of(tree, name)["fields"].pop(removed)))
