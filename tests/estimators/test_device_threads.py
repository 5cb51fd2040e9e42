"""Several fits at once, and in threads of one process: a device and its copies are shared, and answers are not."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.samples import array_libraries, devices
from clusterkit.samples.array_libraries import to_device_of, to_host
from clusterkit.samples.devices import Device, on_host
from clusterkit.testing.compare import DEVICE, put

xp = pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

MODELS = (
    ("kmeans", {"n_init": 2}),
    ("emmc-multi", {"featuremap__n_hidden": 30}),  # balances on the host
    ("fuzzy-cmeans", {"n_init": 1, "solver__max_iter": 5}),
)


def blobs(seed):
    return make_blobs(400, 4, centers=4, cluster_std=2.0, random_state=seed)[0]


def fitted(number, put_there=None):
    name, changes = MODELS[number % len(MODELS)]
    X = blobs(number)
    model = recipe(name, n_clusters=4, random_state=number, **changes).fit(X if put_there is None else put_there(X))
    return to_host(model.labels_), np.asarray(to_host(model.history_)), model.n_iter_


def same(one, other):
    assert np.array_equal(one[0], other[0])
    assert one[1].tobytes() == other[1].tobytes()
    assert one[2] == other[2]


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_two_threads_fit_as_one(number, monkeypatch):
    monkeypatch.setenv(devices.VARIABLE, str(DEVICE))
    pair = (number, number + 1)
    serial = [fitted(each) for each in pair]
    barrier = threading.Barrier(2)

    def at_once(each):
        barrier.wait()
        return fitted(each)

    for _ in range(2):
        with ThreadPoolExecutor(2) as pool:
            for one, other in zip(pool.map(at_once, pair), serial, strict=True):
                same(one, other)


def test_two_threads_fit_arrays_of_two_devices(monkeypatch):
    monkeypatch.setattr(devices, "dispatches", lambda: True)
    places = [Device("array_api_strict", name).put for name in ("device1", "device2")]
    serial = [fitted(0, place) for place in places]
    with ThreadPoolExecutor(2) as pool:
        for one, other in zip(pool.map(fitted, (0, 0), places), serial, strict=True):
            same(one, other)


def test_what_is_on_the_host_is_so_in_its_thread_alone(monkeypatch):
    monkeypatch.setenv(devices.VARIABLE, str(DEVICE))
    with on_host():
        assert devices.current() is None
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(devices.current).result() == DEVICE
    assert devices.current() == DEVICE


def test_the_choice_is_that_of_the_process():
    with clusterkit.config(device=str(DEVICE)), ThreadPoolExecutor(1) as pool:
        assert pool.submit(devices.current).result() == DEVICE


def test_copies_are_kept_and_dropped_by_several_threads():
    """Owners come and go while copies are made: each gets its own, and no more are kept than allowed."""
    block = put(np.zeros((2, 3)))

    def work(seed):
        for number in range(400):
            array = np.full(3, float(seed * 1000 + number))
            assert to_host(to_device_of(array, block)).tolist() == array.tolist()
            again = to_device_of(array, block)
            del array
            assert to_host(again)[0] == seed * 1000 + number

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(array_libraries._copies) <= array_libraries.REMEMBERED


def test_the_end_of_an_owner_drops_its_own_copy_only():
    block, first = put(np.zeros((2, 3))), np.arange(3.0)
    to_device_of(first, block)
    (key,) = [key for key in array_libraries._copies if key[0] == id(first)]
    dead = array_libraries._copies[key][0]
    # another array has got the number of the first one, and a copy under it, before the first one's end is told
    second = np.arange(3.0) + 5.0
    alive = array_libraries.ref(second)
    array_libraries._copies[key] = alive, "of the second"
    array_libraries._forget(key, dead)
    assert array_libraries._copies[key] == (alive, "of the second")
    array_libraries._forget(key, alive)
    assert key not in array_libraries._copies


def test_an_owner_that_goes_while_room_is_made_is_no_error(monkeypatch):
    class Vanishing(dict):
        """A dict whose entries go when one looks for the oldest."""

        def __iter__(self):
            keys = super().__iter__()
            self.clear()
            return keys

    monkeypatch.setattr(array_libraries, "_copies", Vanishing({(number, "", ""): (None, None) for number in range(64)}))
    block, array = put(np.zeros((2, 3))), np.arange(3.0)
    assert to_host(to_device_of(array, block)).tolist() == [0.0, 1.0, 2.0]
    assert len(array_libraries._copies) == 1
