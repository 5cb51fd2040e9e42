"""Fits of rows that stay in files: peak memory, labels beside those of the fit in memory, speed of a pass.

    python tests/benchmarks/large_files.py parquet    # 10,737,418 x 100 in Parquet, with a limit of memory
    python tests/benchmarks/large_files.py pass       # a pass from a file in the page cache against one from memory
    python tests/benchmarks/large_files.py npy        # 100,000,000 x 20 in .npy, whole fits against their bare passes

`parquet` runs `clusterkit fit` three times under ``RLIMIT_DATA`` of 1.2 GiB: EMMC with `transport`, EMMC without a
balancer, and k-means. Their labels are compared with those of fits in memory in processes without a limit, which need
the bytes of the file and a few hundred MiB. `npy` divides the time of a fit by that of the passes it cannot do without:
how many of each kind it makes, times what one takes in the same run. `pass` and `npy` count seconds of the processor as
well, which say more on a busy machine. Without an answer to the options ``--hidden`` and
``--iterations``, the parts take what says the table `SIZES`. Try everything first with few rows: ``--rows 300000``.

Files are made in a temporary folder, or in ``--folder``, where they stay and are taken again. Linux only.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe

import clusterkit
from clusterkit import recipe
from clusterkit.contracts import Codec, Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.pass_solver import Adder, RowFunction, Summing, adder_of
from clusterkit.contracts.seeds import Seeds
from clusterkit.fitting.fit import BoundComposition, bind
from clusterkit.fitting.samples import EngineSamples, engine_for
from clusterkit.samples.coding import Coded
from clusterkit.samples.rows import Rows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.sums import Sums
from clusterkit.samples.survey import extremes
from clusterkit.samples.transform import IdentityMap
from clusterkit.tables.reading.opening import spooled

PIECE = 2**18
"""Rows that are made at once, and the rows of a row group: a few hundred thousand are usual in Parquet."""
LIMIT = int(1.2 * 2**30)
"""Bytes of data segments that a limited process may have."""
EVERY = 0.05
"""Seconds between two looks at the memory of a process."""
SIZES: dict[str, tuple[int, int, int, int]] = {
    "parquet": (10_737_418, 100, 5, 1000),
    "pass": (2_000_000, 100, 5, 100),
    "npy": (100_000_000, 20, 10, 100),
}
"""Rows, columns, most iterations, and features of EMMC of each part."""

IN_MEMORY = """
import json, sys, time
import numpy as np
import clusterkit
from clusterkit import recipe

path, name, settings, output = sys.argv[1:]
rows = clusterkit.open(path)
X = np.empty((rows.n, rows.d), dtype=rows.dtype)
for start in range(0, rows.n, 2**18):
    X[start : start + 2**18] = rows.read(slice(start, min(rows.n, start + 2**18)))
begin = time.perf_counter()
model = recipe(name, random_state=0, **json.loads(settings)).fit(X)
print(time.perf_counter() - begin, model.n_iter_)
np.save(output, model.labels_)
"""
"""A fit of the same rows in memory: it prints its seconds and iterations."""

FROM_FILE = """
import json, sys, time
import clusterkit
from clusterkit import recipe

path, name, settings = sys.argv[1:]
wall, processor = time.perf_counter(), time.process_time()
model = recipe(name, random_state=0, **json.loads(settings)).fit(clusterkit.open(path))
print(time.perf_counter() - wall, time.process_time() - processor, model.n_iter_)
"""
"""A fit of rows that stay in their file: it prints its seconds, those of the processor, and its iterations."""


def pieces(rows: int, d: int) -> Iterator[np.ndarray]:
    """Rows of ten overlapping Gaussians whose shares are as 1 to 10, piece by piece."""
    rng = np.random.default_rng(0)
    shares = np.arange(1.0, 11.0) / 55.0
    means = rng.normal(scale=2.5 / np.sqrt(d), size=(10, d)).astype(np.float32)
    for start in range(0, rows, PIECE):
        size = min(PIECE, rows - start)
        yield means[rng.choice(10, size, p=shares)] + rng.standard_normal((size, d), dtype=np.float32)


def parquet_file(path: Path, rows: int, d: int) -> Path:
    """The rows as Parquet, with a row group for each piece; one that is there already is taken."""
    import pyarrow as pa
    from pyarrow import parquet

    if path.is_file() and parquet.read_metadata(path).num_rows == rows:
        return path
    schema = pa.schema([(f"x{j}", pa.float32()) for j in range(d)])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for piece in pieces(rows, d):
            columns = [pa.array(np.ascontiguousarray(column)) for column in piece.T]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=PIECE)
    return path


def npy_file(path: Path, rows: int, d: int) -> Path:
    """The rows as .npy; one of this shape that is there already is taken."""
    if path.is_file() and np.load(path, mmap_mode="r").shape == (rows, d):
        return path
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, d)}
        np.lib.format.write_array_header_1_0(file, header)
        for piece in pieces(rows, d):
            file.write(memoryview(piece))
    return path


@contextmanager
def folder_of(options: argparse.Namespace) -> Iterator[Path]:
    """The folder of the files."""
    if options.folder is not None:
        yield Path(options.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def anonymous(pid: int) -> int:
    """Resident anonymous bytes of a process and of its children; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = [text for path in Path(f"/proc/{pid}/task").glob("*/children") for text in path.read_text().split()]
    except OSError:
        return 0
    resident = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon:")]
    return sum(resident) + sum(anonymous(int(child)) for child in children)


def watched(command: list[str], limit: int | None = None, **environment: str) -> tuple[float, int, str]:
    """Seconds of a process, the peak of its anonymous memory in bytes, and what it printed."""
    limited = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    begin, highest = time.perf_counter(), 0
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, text=True, preexec_fn=limited, env={**os.environ, **environment}
        )
        while process.poll() is None:
            highest = max(highest, anonymous(process.pid))
            time.sleep(EVERY)
        seconds = time.perf_counter() - begin
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command[:6])} ended with {process.returncode}: {errors.read()[-2000:]}")
        output.seek(0)
        return seconds, highest, output.read()


def parquet(options: argparse.Namespace) -> None:
    """`clusterkit fit` under a limit, and how many labels differ from those of the fit in memory."""
    import json

    from pyarrow import parquet as files

    emmc = {"featuremap__n_hidden": options.hidden, "max_iter": options.iterations}
    fits: dict[str, tuple[str, dict[str, object]]] = {
        "transport": ("emmc-multi", {**emmc, "balancer": "transport"}),
        "none": ("emmc-multi", {**emmc, "balancer": None}),
        "kmeans": ("kmeans", {"max_iter": options.iterations}),
    }
    with folder_of(options) as folder:
        path = parquet_file(folder / "x.parquet", options.rows, options.columns)
        print(f"{options.rows:,} x {options.columns}, {path.stat().st_size / 2**30:.2f} GiB of Parquet", flush=True)
        for title in options.only or fits:
            name, settings = fits[title]
            written = folder / "l.parquet"
            chosen = [f"--set={key.replace('__', '.')}={value}" for key, value in settings.items()]
            command = [sys.executable, "-m", "clusterkit", "fit", str(path), "--recipe", name, "-k", "10", "--seed=0"]
            # smaller files would be read at once
            seconds, highest, _ = watched([*command, *chosen, "-o", str(written)], LIMIT, CLUSTERKIT_UNPACKED_CAP="16M")
            print(
                f"{name} {settings}: {seconds:.0f} s, peak of resident anonymous memory {highest / 2**20:.0f} MiB "
                "(asked: at most 600)",
                flush=True,
            )
            labels = files.read_table(written).column(0).to_numpy()
            script, stored = [sys.executable, "-c", IN_MEMORY], folder / "labels.npy"
            arguments = [str(path), name, json.dumps({**settings, "n_clusters": 10}), str(stored)]
            _, _, printed = watched([*script, *arguments])
            differ = np.count_nonzero(labels != np.load(stored))
            fit_seconds, iterations = printed.split()
            print(
                f"  in memory {float(fit_seconds):.0f} s, {iterations} iterations; {differ} of {len(labels):,} labels "
                f"differ (asked: 0); sizes {np.bincount(labels).tolist()}",
                flush=True,
            )


class Iteration:
    """What an iteration cannot do without on a block: the scores of the last function, and the sums of its labels."""

    def __init__(self, codec: Codec, k: int, function: RowFunction, adder: Adder) -> None:
        self.codec, self.k, self.function, self.adder = codec, k, function, adder

    def __call__(self, rows: slice, H: np.ndarray) -> Any:
        """Sums of a block of features."""
        scores = self.function.on(H)
        labels = self.codec.decode(scores, self.k)
        return self.adder.part(H, Coded(labels[None], self.codec.coding, self.k, self.codec.codebook(self.k)), scores)


class Started:
    """The labels of a start in the place of scores: sums of the first iteration."""

    def __init__(self, codec: Codec, k: int, adder: Adder) -> None:
        self.codec, self.k, self.adder = codec, k, adder

    def __call__(self, rows: slice, H: np.ndarray) -> Any:
        """Sums for random labels."""
        labels = np.random.default_rng(rows.start).integers(self.k, size=len(H))
        return self.adder.part(H, Coded(labels[None], self.codec.coding, self.k, self.codec.codebook(self.k)), None)


def iteration_of(bound: BoundComposition) -> Iteration:
    """The part of an iteration after a first one from random labels."""
    c, iterations = bound.composition, bound.prepared.iterations
    assert isinstance(c.labeler, Codec)
    assert isinstance(iterations, Summing)
    step: Any = iterations
    while hasattr(step, "finish"):  # a solver may ask for one more pass over the same labels
        step = step.finish(bound.space.reduce(Started(c.labeler, bound.task.k, adder_of(step))), None)
    return Iteration(c.labeler, bound.task.k, step.extend, adder_of(iterations))


def both_of(call: Callable[[], object]) -> np.ndarray:
    """Seconds of a call, and those of the processor, which do not depend on what else the machine does."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return np.array([time.perf_counter() - wall, time.process_time() - processor])


def compositions(options: argparse.Namespace, k: int) -> dict[str, Composition]:
    """EMMC without a balancer, and k-means."""
    return {name: recipe(name, **settings).composition() for name, settings in settings_of(options, k).items()}


def settings_of(options: argparse.Namespace, k: int) -> dict[str, dict[str, Any]]:
    """Recipes and their parameters for the part `npy`."""
    return {
        "emmc-multi": {
            "n_clusters": k, "balancer": None, "init": "random", "max_iter": options.iterations,
            "featuremap__n_hidden": options.hidden,
        },
        "kmeans": {"n_clusters": k, "n_init": 1, "max_iter": options.iterations},
    }  # fmt: skip


def of_a_pass(options: argparse.Namespace) -> None:
    """Speed of the same pass from files in the page cache and from memory."""
    rows, d = options.rows, options.columns
    with folder_of(options) as folder:
        npy = npy_file(folder / "x.npy", rows, d)
        table = parquet_file(folder / "x.parquet", rows, d)
        sources = {
            "memory": clusterkit.open(np.load(npy)),
            ".npy": clusterkit.open(npy),
            "Parquet": clusterkit.open(table),
            "cache= of Parquet": clusterkit.open(table, cache=folder / "copy.npy"),
            "the temporary copy that `clusterkit fit` makes of Parquet": spooled(clusterkit.open(table), str(folder)),
        }
        gigabytes = rows * d * 4 / 1e9
        for name, composition in compositions(options, 10).items():
            bound = bind(composition, EngineSamples(sources["memory"], engine_for(sources["memory"])), Seeds(0))
            part, width = iteration_of(bound), bound.space.width
            taken: dict[str, list[np.ndarray]] = {title: [] for title in sources}
            for _ in range(options.repeats):
                for title, source in sources.items():
                    space = RowsSpace.of(source, engine_for(source), bound.space.mapping, bound.space.before)
                    taken[title].append(both_of(partial(space.reduce, part)))
            print(f"a pass of an iteration of {name}, {rows:,} x {d} float32, {width} features")
            least = {title: np.min(times, axis=0) for title, times in taken.items()}
            for title, (wall, processor) in least.items():
                shares = least["memory"] / least[title]
                print(
                    f"  from {title}: {wall:.2f} s, {processor:.2f} s of the processor, {gigabytes / wall:.2f} GB/s; "
                    f"{shares[0]:.2f} of the speed from memory, by seconds of the processor {shares[1]:.2f} (asked: at "
                    "least 0.7)"
                )


def bare(composition: Composition, rows: Rows, iterations: int) -> tuple[np.ndarray, str]:
    """Both seconds of the passes that a fit cannot do without, and how they come together."""
    engine = engine_for(rows)
    assert composition.init is not None
    survey = both_of(lambda: extremes(RowsSpace.of(rows, engine, IdentityMap(rows.d))))
    bounds: list[BoundComposition] = []
    prepared = both_of(lambda: bounds.append(bind(composition, EngineSamples(rows, engine), Seeds(0)))) - survey
    bound = bounds[0]
    start = both_of(lambda: composition.init.start(bound.space, Task(rows.n, bound.task.k), Seeds(0).stream("init")))
    part = iteration_of(bound)
    iteration = both_of(lambda: bound.space.reduce(part))

    def label(block: slice, X: np.ndarray) -> np.ndarray:
        return part.codec.decode(part.function.on(bound.space.reading(X)), part.k)

    labels = both_of(lambda: engine.labels(label, rows, bound.space.width))
    read = both_of(lambda: engine.reduce(lambda block, X: Sums.of(np.array(len(X))), rows, bound.space.width))
    whole = survey + prepared + start + (iterations + 1) * iteration + labels
    survey_s, prepared_s, start_s, iteration_s, labels_s, read_s = (
        f"{seconds[1]:.1f}" for seconds in (survey, prepared, start, iteration, labels, read)
    )
    return whole, (
        f"of the processor: survey {survey_s} + preparing {prepared_s} + start {start_s} + {iterations + 1} "
        f"iterations of {iteration_s} + labels {labels_s} s; reading alone {read_s} s"
    )


def npy(options: argparse.Namespace) -> None:
    """Whole fits of a large .npy against their bare passes."""
    import json

    rows, d = options.rows, options.columns
    with folder_of(options) as folder:
        path = npy_file(folder / "x.npy", rows, d)
        opened = clusterkit.open(path)
        for name, settings in settings_of(options, 20).items():
            if options.only and name not in options.only:
                continue
            command = [sys.executable, "-c", FROM_FILE, str(path), name, json.dumps(settings)]
            # labels then go to a file where they take more than an eighth of it
            _, highest, printed = watched(command, CLUSTERKIT_MEMORY_CAP="1G")
            wall, processor, iterations = (float(number) for number in printed.split())
            print(
                f"{name}, {rows:,} x {d} float32 ({path.stat().st_size / 1e9:.1f} GB), k = 20, {iterations:.0f} "
                f"iterations: {wall:.1f} s, {processor:.1f} s of the processor; peak of resident anonymous memory "
                f"{highest / 1e6:.0f} MB (asked: less than 1000)",
                flush=True,
            )
            needed, passes = bare(recipe(name, **settings).composition(), opened, int(iterations))
            ratios = np.array([wall, processor]) / needed
            print(
                f"  bare passes {needed[0]:.1f} s, {needed[1]:.1f} s {passes}\n"
                f"  ratio {ratios[0]:.2f}, of the processor {ratios[1]:.2f} (asked: at most 1.2)",
                flush=True,
            )


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"parquet": parquet, "pass": of_a_pass, "npy": npy}
    parser.add_argument("part", choices=parts)
    for name in ("rows", "columns", "iterations", "hidden"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder")
    parser.add_argument("--only", nargs="*", help="transport, none, kmeans of `parquet`; emmc-multi, kmeans of `npy`")
    options = parser.parse_args()
    for name, value in zip(("rows", "columns", "iterations", "hidden"), SIZES[options.part], strict=True):
        if getattr(options, name) is None:
            setattr(options, name, value)
    print(describe(), flush=True)
    parts[options.part](options)


if __name__ == "__main__":
    main()
