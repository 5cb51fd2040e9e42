"""All figures of a device, in at most ten minutes: EMMC, k-means, kernel sums and memory, beside the CPU.

    python tests/benchmarks/device.py                     # the first GPU of torch or CuPy; else "not measured"
    python tests/benchmarks/device.py --device cupy:cuda:0 --only svdd kmeans
    python tests/benchmarks/device.py --device array_api_strict:device1 --small     # what the test runs

It needs array-api-compat and torch or CuPy, and no data set. Each figure is printed with its goal, the floor that the
device's own measured rates set, and the share of that floor that was reached. The floor is the largest of three times:
the floating-point operations at the rate of a large matrix product of the same type, the bytes that must pass through
the memory of the device, and the bytes that must come from the host. An exponential counts as one operation.

The CPU computes the same with the same seed on as many rows as it can in the time. It makes passes too: in memory it
adds in another order, from which a few rows differ as well. Labels are compared: the share of rows that differ, and how
far the worst of them is from a border, relative to the spread of its costs. Labels are given, so that the iterations
are timed alone; what a start and a balance take, of which the host does a part, is printed beside. The clock is read
only when the device has done everything that was asked for. A section that might end after ``--seconds``, by the
seconds reckoned for it, is printed as not measured. The exit status is 1 if labels, values or memory miss their goals,
and 0 whatever the times are.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import attrs
import numpy as np
from machine import describe
from sklearn import config_context

from clusterkit import Pipeline, config
from clusterkit.contracts import Partitioner
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.errors import InvalidParameter
from clusterkit.numerics.threads import available
from clusterkit.samples import device_engine
from clusterkit.samples.array_libraries import to_host
from clusterkit.samples.devices import Device
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.rows import SlicedRows

NOT_MEASURED = "not measured"


@attrs.define
class Report:
    """What is printed, line by line, and kept for the test."""

    rates_count: bool = True
    """Whether there is a peak at all: simulated devices have none."""
    lines: list[str] = attrs.field(factory=list)
    figures: dict[str, float] = attrs.field(factory=dict)
    wrong: bool = False

    def say(self, line: str) -> None:
        """Print a line at once."""
        self.lines.append(line)
        print(line, flush=True)

    def exact(self, name: str, value: float, goal: float) -> str:
        """Keep a figure that a busy machine cannot change, and say whether its goal is met."""
        self.figures[name] = value
        self.wrong = self.wrong or not value <= goal
        return f"goal <= {goal:g} {'met' if value <= goal else 'MISSED'}"

    def missing(self, name: str, why: str) -> None:
        """A section without figures."""
        self.say(f"{name}: {NOT_MEASURED} ({why})")

    def timed(self, name: str, seconds: float, floor: float | None, goal: float | None = None) -> None:
        """A time with its goal and its share of the floor."""
        self.figures[name] = seconds
        words = [f"  {name}: {1000 * seconds:.1f} ms"]
        if goal is not None:
            words.append(f"goal <= {1000 * goal:.0f} ms {'met' if seconds <= goal else 'MISSED'}")
        if floor is not None and self.rates_count:
            words.append(f"floor {1000 * floor:.1f} ms, {100 * floor / seconds:.0f} % of the device's peak")
        self.say("; ".join(words))


@attrs.frozen
class Rates:
    """What was measured: operations a second by type, and bytes a second through the memory and from the host."""

    flops: dict[str, float]
    copied: float
    sent: float

    def floor(self, *, flops: dict[str, float], moved: float = 0.0, sent: float = 0.0) -> float:
        """The least time for so many operations by type, bytes through the memory, and bytes from the host."""
        work = sum(count / self.flops[name] for name, count in flops.items())
        return max(work, moved / self.copied, sent / self.sent)


@attrs.frozen
class Bench:
    """A device with its clock and its memory."""

    device: Device
    report: Report

    def put(self, array: np.ndarray) -> Any:
        """A copy on the device."""
        return self.device.put(array)

    def wait(self) -> None:
        """Until everything asked for is computed."""
        if self.device.library == "torch" and self.device.name.startswith("cuda"):
            import torch

            torch.cuda.synchronize(self.device.handle)  # of this device, which need not be the current one
        elif self.device.library == "cupy":
            handle: Any = self.device.handle
            handle.synchronize()

    def median(self, call: Callable[[], Any], repeats: int = 5) -> float:
        """Seconds of a call, after one that loads what it needs."""
        call()
        times = []
        for _ in range(repeats):
            self.wait()
            begin = time.perf_counter()
            call()
            self.wait()
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    def once(self, call: Callable[[], Any]) -> tuple[Any, float]:
        """What a call returns, and its seconds."""
        self.wait()
        begin = time.perf_counter()
        value = call()
        self.wait()
        return value, time.perf_counter() - begin

    def peak(self, call: Callable[[], Any]) -> tuple[int, int] | None:
        """The most bytes of the device that a call has beside those there before, and that its library keeps for it.

        None where nobody counts. What is kept beyond the first number goes back as soon as memory is short.
        """
        there: Any = self.device.handle
        self.wait()
        if self.device.library == "torch" and self.device.name.startswith("cuda"):
            import torch

            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(there)
            before, reserved_before = torch.cuda.memory_allocated(there), torch.cuda.memory_reserved(there)
            call()
            self.wait()
            most, reserved = torch.cuda.max_memory_allocated(there), torch.cuda.max_memory_reserved(there)
            return int(most - before), int(reserved - reserved_before)
        if self.device.library == "cupy":
            import cupy

            with there:  # a pool for each device
                pool = cupy.get_default_memory_pool()
                pool.free_all_blocks()
                before = pool.used_bytes()
                call()
                self.wait()
                most = int(pool.total_bytes() - before)  # blocks are kept, so that the total is the peak
            return most, most
        return None


def rates(bench: Bench, small: bool) -> Rates:
    """Measured rates of large products, of a copy within the device, and of one from the host."""
    xp, rng = bench.device.xp, np.random.default_rng(0)
    side = 128 if small else 8192
    flops = {}
    for name in ("float32", "float64"):
        A = bench.put(rng.standard_normal((side, side)).astype(name))
        flops[name] = 2.0 * side**3 / bench.median(lambda A=A: xp.matmul(A, A))
    size = 2**20 if small else 2**30
    host = np.ones(size // 4, dtype=np.float32)
    there = bench.put(host)
    copied = 2.0 * size / bench.median(lambda: there + 1.0)
    sent = size / bench.median(lambda: bench.put(host))
    bench.report.say(
        f"measured rates: {flops['float32'] / 1e12:.2f} TFLOP/s float32, {flops['float64'] / 1e12:.2f} float64, "
        f"{copied / 1e9:.0f} GB/s in its memory, {sent / 1e9:.1f} GB/s from the host"
    )
    return Rates(flops, copied, sent)


def model_of(device: Device) -> str:
    """The name of the hardware, where the library tells."""
    if device.library == "torch" and device.name.startswith("cuda"):
        import torch

        name, precision = torch.cuda.get_device_name(device.handle), torch.get_float32_matmul_precision()
        return f" ({name}, CUDA {torch.version.cuda}, products of float32 at precision {precision!r})"
    if device.library == "cupy":
        import cupy

        handle: Any = device.handle
        name = cupy.cuda.runtime.getDeviceProperties(handle.id)["name"].decode()
        return f" ({name}, CUDA {cupy.cuda.runtime.runtimeGetVersion()})"
    return ""


FULL: dict[str, dict[str, Any]] = {
    "emmc": {"n": 10_000_000, "d": 100, "L": 1000, "k": 10, "iterations": 20, "cpu_n": 1_000_000, "spread": 0.5},
    "kmeans": {"n": 10_000_000, "d": 50, "k": 100, "iterations": 20, "cpu_n": 1_000_000},
    "svdd": {"n": 1_000_000, "s": 2000, "d": 20},
    "memory": {"n": 2_000_000, "d": 100, "L": 1000, "k": 10, "iterations": 2, "many": 10_000},
}
SMALL: dict[str, dict[str, Any]] = {
    "emmc": {"n": 3000, "d": 5, "L": 40, "k": 3, "iterations": 4, "cpu_n": 2000, "spread": 4.0},
    "kmeans": {"n": 3000, "d": 4, "k": 5, "iterations": 4, "cpu_n": 3000},
    "svdd": {"n": 500, "s": 40, "d": 3},
    "memory": {"n": 2000, "d": 5, "L": 40, "k": 3, "iterations": 2, "many": 60},
}
RECKONED = {"svdd": 60.0, "kmeans": 100.0, "emmc": 240.0, "memory": 60.0}
"""Seconds that a section may take: with the rates of a slow host, for no device was at hand. Together nine minutes."""
GOALS = {"emmc": 4.0, "kmeans": 0.020, "svdd": 0.050, "transport": 4.0, "start": 1.0}
"""Seconds: 20 iterations of rows that stay on the device after the first pass; an iteration of data there, by the
array API; all values; a balance and a start by k-means of the rows of EMMC, beside."""
MEMORY_GOAL = 2048.0
"""MiB of the device beside the data that lie there."""
LABELS_GOAL, BORDER_GOAL, SUMS_GOAL = 1e-4, 1e-3, 1e-12
"""Share of rows whose labels may differ from the CPU's; how far such a row may be from a border, relative to the spread
of its costs, after iterations that passed on the rounding of float32; and difference of kernel sums."""


@attrs.frozen(eq=False)
class Given(Partitioner):
    """A start from labels that are there already."""

    name: ClassVar[str] = "given"
    reads: ClassVar[str] = "passes"

    labels: np.ndarray

    def start(self, samples: Any, task: Any, rng: Any) -> np.ndarray:
        """The labels."""
        return self.labels


def blobs(n: int, d: int, k: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping blobs (n, d) in float32, and labels of which nine in ten are those of the blobs."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    X = rng.standard_normal((n, d), dtype=np.float32)
    means = (spread * rng.standard_normal((k, d))).astype(np.float32)
    for first in range(0, n, 2**18):
        rows = slice(first, first + 2**18)
        X[rows] += means[truth[rows]]
    labels = np.where(rng.random(n) < 0.9, truth, rng.integers(k, size=n))
    return X, labels


def emmc(labels: np.ndarray, k: int, L: int, iterations: int) -> Pipeline:
    """EMMC with one output a cluster, without a balance, from given labels."""
    return Pipeline(
        n_clusters=k, featuremap={"name": "elm", "n_hidden": L}, solver="ridge", labeler="argmax", balancer=None,
        init=Given(labels), max_iter=iterations, random_state=0,
    )  # fmt: skip


def kmeans(labels: np.ndarray, k: int, iterations: int) -> Pipeline:
    """k-means from given labels."""
    return Pipeline(
        n_clusters=k, featuremap="identity", solver={"name": "centroids", "tol": 0.0}, labeler="argmax", balancer=None,
        init=Given(labels), max_iter=iterations, random_state=0,
    )  # fmt: skip


@contextmanager
def on(bench: Bench) -> Iterator[None]:
    """Fits on the device, and arrays of its library let through."""
    with config(device=str(bench.device)), config_context(array_api_dispatch=True):
        yield


@contextmanager
def arrays() -> Iterator[None]:
    """Arrays of any library let through: everything follows X."""
    with config_context(array_api_dispatch=True):
        yield


def compared(report: Report, name: str, X: np.ndarray, cpu: Pipeline, there: np.ndarray) -> None:
    """The share of rows with other labels, and how far these are from a border by the costs of the CPU's model."""
    differ = np.flatnonzero(cpu.labels_ != there)
    share = len(differ) / len(there)
    worst = 0.0
    if len(differ):
        decoder = cpu.predictor_
        costs = np.sort(decoder.codec.costs(decoder.extend(X[differ]), decoder.k), axis=1)
        worst = float(((costs[:, 1] - costs[:, 0]) / np.ptp(costs, axis=1)).max())
    goal = report.exact(f"{name} labels", share, LABELS_GOAL)
    report.say(f"  labels unlike the CPU's: {len(differ)} of {len(there)} rows, {share:.1e}; {goal}")
    empty = cpu.n_clusters - len(np.unique(cpu.labels_))
    goal = report.exact(f"{name} empty", float(empty), 0.0)
    report.say(f"  clusters without a row, where labels would be equal for nothing: {empty}; {goal}")
    goal = report.exact(f"{name} border", worst, BORDER_GOAL)
    report.say(f"  the worst of them is {worst:.1e} of its spread of costs from a border; {goal}")


def starts_and_balances(bench: Bench, fit: Callable[..., Any], one: float, is_full: bool) -> None:
    """What a start and a balance take beside a fit of one iteration from given labels, which takes `one` seconds."""
    for name, changes, goal in (
        ("the start 'random'", {"init": "random"}, None),
        ("the start 'kmeans'", {"init": "kmeans"}, GOALS["start"]),
        ("a balance by 'transport'", {"balancer": "transport"}, GOALS["transport"]),
    ):
        _, seconds = bench.once(lambda changes=changes: fit(**changes))
        bench.report.timed(f"emmc, {name}, beside", max(0.0, seconds - one), None, goal if is_full else None)


def measure_emmc(
    bench: Bench, rate: Rates, n: int, d: int, L: int, k: int, iterations: int, cpu_n: int, spread: float
) -> None:
    """Iterations of EMMC from the memory of the host."""
    report = bench.report
    # clusters that overlap more become one without a balance, and then no label could differ
    X, labels = blobs(n, d, k, spread)
    report.say(f"EMMC, {n} x {d} float32 in the memory of the host, L = {L}, k = {k}, balancer None, labels given")
    with on(bench):
        emmc(labels[:cpu_n], k, L, 1).fit(X[:cpu_n])  # loads what is needed
        model, seconds = bench.once(lambda: emmc(labels, k, L, iterations).fit(X))
        _, one = bench.once(lambda: emmc(labels, k, L, 1).fit(X))
        is_full = n == FULL["emmc"]["n"]
        starts_and_balances(bench, lambda **changes: emmc(labels, k, L, 1).set_params(**changes).fit(X), one, is_full)
        if bench.device.library == "torch":
            with config(precision="tf32x3"):
                _, quick = bench.once(lambda: emmc(labels, k, L, iterations).fit(X))
            report.timed("emmc, all iterations by three TF32 products", quick, None)
        small = emmc(labels[:cpu_n], k, L, iterations).fit(X[:cpu_n])
        again = emmc(labels[:cpu_n], k, L, iterations).fit(X[:cpu_n])
    done = model.n_iter_
    iteration = (seconds - one) / max(1, done - 1)
    seconds = one + (iterations - 1) * iteration  # all iterations, also if the labels repeated before
    work = 2.0 * n * L * (d + 2 * k) + n * L
    stays = 4.0 * n * d <= device_engine.KEPT * (bench.device.free_bytes() or 0)  # then later passes send nothing
    floor = rate.floor(flops={"float32": work}, moved=4.0 * n * (d + 4 * L), sent=0.0 if stays else 4.0 * n * d)
    whole = floor * (iterations + 2) + rate.floor(flops={"float32": work + 2.0 * n * L * L}, sent=4.0 * n * d)
    report.timed("emmc", seconds, whole, GOALS["emmc"] if n == FULL["emmc"]["n"] else None)
    report.timed("emmc, an iteration", iteration, floor)
    report.say(f"  {done} of {iterations} iterations were made, and the others reckoned from these")
    goal = report.exact("emmc again", float((small.labels_ != again.labels_).sum()), 0.0)
    report.say(f"  rows whose labels another run of the same seed changes: {report.figures['emmc again']:.0f}; {goal}")
    with config(device="cpu"):
        begin = time.perf_counter()
        cpu = emmc(labels[:cpu_n], k, L, iterations).fit(SlicedRows(X[:cpu_n]))
        report.say(
            f"  the CPU, {available()} threads, {cpu_n} rows: {time.perf_counter() - begin:.2f} s for {cpu.n_iter_} "
            "iterations, the map included"
        )
    compared(report, "emmc", X, cpu, small.labels_)


def measure_kmeans(bench: Bench, rate: Rates, n: int, d: int, k: int, iterations: int, cpu_n: int) -> None:
    """An iteration of k-means on data that lie on the device."""
    report = bench.report
    X, labels = blobs(n, d, k, 0.5)
    there = bench.put(X)
    report.say(f"k-means, {n} x {d} float32 on the device, k = {k}, labels given")
    few, is_full = max(1, iterations // 4), n == FULL["kmeans"]["n"]
    with arrays():
        kmeans(labels, k, 1).fit(there)
        model, long = bench.once(lambda: kmeans(labels, k, iterations).fit(there))
        brief, short = bench.once(lambda: kmeans(labels, k, few).fit(there))
        small = to_host(kmeans(labels[:cpu_n], k, iterations).fit(there[:cpu_n, :]).labels_)
    iteration = (long - short) / max(1, model.n_iter_ - brief.n_iter_)
    floor = rate.floor(flops={"float32": 4.0 * n * d * k}, moved=4.0 * n * (d + 3 * k))
    report.timed("kmeans iteration", iteration, floor, GOALS["kmeans"] if is_full else None)
    report.say(f"  the whole fit: {long:.2f} s, {model.n_iter_} iterations")
    begin = time.perf_counter()
    cpu = kmeans(labels[:cpu_n], k, iterations).fit(SlicedRows(X[:cpu_n]))
    seconds = time.perf_counter() - begin
    report.say(f"  the CPU, {available()} threads, {cpu_n} rows: {seconds:.2f} s for {cpu.n_iter_} iterations")
    compared(report, "kmeans", X, cpu, small)


def measure_svdd(bench: Bench, rate: Rates, n: int, s: int, d: int) -> None:
    """Values of a kernel sum at rows on the device, in float64."""
    report, rng = bench.report, np.random.default_rng(0)
    domain = KernelDomain(rng.standard_normal((s, d)), rng.random(s) / s, Gaussian(0.5 / d), level=0.5)
    X = rng.standard_normal((n, d))
    there = bench.put(X)
    report.say(f"svdd, values at {n} x {d} float64 on the device, {s} support vectors")
    seconds = bench.median(lambda: domain.value(there))
    floor = rate.floor(flops={"float64": 2.0 * n * s * (d + 3)}, moved=8.0 * 4 * n * s)
    report.timed("svdd", seconds, floor, GOALS["svdd"] if n == FULL["svdd"]["n"] else None)
    domain.value(X[:10])
    begin = time.perf_counter()
    expected = domain.value(X)
    report.say(f"  the CPU, {available()} threads, the same rows: {1000 * (time.perf_counter() - begin):.1f} ms")
    error = float(np.abs(to_host(domain.value(there)) - expected).max() / np.abs(expected).max())
    goal = report.exact("svdd error", error, SUMS_GOAL)
    report.say(f"  largest difference from the CPU, relative to the largest value: {error:.1e}; {goal}")


def measure_memory(bench: Bench, rate: Rates, n: int, d: int, L: int, k: int, iterations: int, many: int) -> None:
    """Memory of the device that fits take beside the data: at n rows and a quarter of them, and with many clusters.

    Rows from the host do not stay there meanwhile, which would take `KEPT` of what is free.
    """
    report, share, device_engine.KEPT = bench.report, device_engine.KEPT, 0.0
    try:
        _measure_memory(bench, report, n, d, L, k, iterations, many)
    finally:
        device_engine.KEPT = share


def _measure_memory(bench: Bench, report: Report, n: int, d: int, L: int, k: int, iterations: int, many: int) -> None:

    def say(name: str, rows: int, size: tuple[int, int] | None) -> None:
        if size is None:
            report.missing(f"  memory, {name}, {rows} rows", f"{bench.device.library} does not count it")
            return
        goal = report.exact(f"memory {name} {rows}", size[0] / 2**20, MEMORY_GOAL)
        report.say(
            f"  memory, {name}, {rows} rows: {size[0] / 2**20:.0f} MiB beside the data; {goal}; "
            f"{size[1] / 2**20:.0f} MiB with what the library holds back for later"
        )

    for rows in (n // 4, n):
        X, labels = blobs(rows, d, k, 0.25)
        with on(bench):
            from_host = bench.peak(lambda X=X, labels=labels: emmc(labels, k, L, iterations).fit(X))
        there = bench.put(X)
        with arrays():
            lying = bench.peak(lambda there=there, labels=labels: kmeans(labels, k, iterations).fit(there))
        del there
        say("EMMC, rows from the host", rows, from_host)
        say("k-means, rows on the device", rows, lying)
    rows = 20 * many
    X, labels = blobs(rows, 10, many, 0.5)
    with on(bench):
        say(f"k-means of {many} clusters", rows, bench.peak(lambda: kmeans(labels, many, 1).fit(X)))


SECTIONS: dict[str, Callable[..., None]] = {
    "svdd": measure_svdd,
    "kmeans": measure_kmeans,
    "emmc": measure_emmc,
    "memory": measure_memory,
}


def chosen(name: str | None) -> tuple[Device | None, str]:
    """The device to measure, or None and why there is none."""
    try:
        return Device.named(name or "cuda"), "it is no device"
    except InvalidParameter as error:
        return None, str(error)


def measure(name: str | None, only: list[str], small: bool, seconds: float) -> Report:
    """Print all figures."""
    begin, report = time.perf_counter(), Report()
    report.say(describe())
    device, why = chosen(name)
    sizes = SMALL if small else FULL
    if device is None:
        report.say(f"no device: {why}")
        for section in only:
            report.missing(_in_words(section, sizes), "no device")
        return report
    versions = []
    for package in (device.library, "array-api-compat"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package.replace('_', '-'))}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} of unknown version")
    report.say(f"device {device}{model_of(device)}; {', '.join(versions)}")
    report.rates_count = device.library != "array_api_strict"
    bench = Bench(device, report)
    rate = rates(bench, small)
    for section in only:
        spent = time.perf_counter() - begin
        if not small and spent + RECKONED[section] > seconds:
            report.missing(_in_words(section, sizes), f"{spent:.0f} s of {seconds:.0f} are over")
            continue
        SECTIONS[section](bench, rate, **sizes[section])
        report.say(f"  this section: {time.perf_counter() - begin - spent:.0f} s")
    report.say(f"all in {time.perf_counter() - begin:.0f} s")
    return report


def _in_words(section: str, sizes: dict[str, dict[str, Any]]) -> str:
    """A section with its sizes."""
    return f"{section}, {', '.join(f'{name} = {size}' for name, size in sizes[section].items())}"


def main() -> None:
    """Print all figures, or that they were not measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="torch:cuda:0, cupy:cuda:0, ...; default: the first GPU that is there")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--small", action="store_true", help="sizes for a test of the script")
    parser.add_argument("--seconds", type=float, default=580.0, help="no section begins that might end later")
    options = parser.parse_args()
    if os.environ.get("SCIPY_ARRAY_API") != "1":  # scikit-learn wants it before scipy is imported
        os.environ["SCIPY_ARRAY_API"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    raise SystemExit(measure(options.device, options.only, options.small, options.seconds).wrong)


if __name__ == "__main__":
    main()
