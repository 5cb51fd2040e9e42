"""A device with its clock, its memory and its measured rates, and what is printed about it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from clusterkit.samples.devices import Device

__all__ = ["NOT_MEASURED", "Bench", "Rates", "Report", "model_of", "rates"]

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
