"""What a benchmark prints about where it ran, and how much memory a step took."""

import importlib.metadata
import os
import platform
from pathlib import Path


def describe() -> str:
    """Versions and cores in one line."""
    import threadpoolctl

    names = ("numpy", "scipy", "scikit-learn", "numba", "clusterkit-toolkit")
    versions = ", ".join(f"{name} {_version(name)}" for name in names)
    blas = {f"{pool['internal_api']} {pool['num_threads']} threads" for pool in threadpoolctl.threadpool_info()}
    return f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores; {', '.join(sorted(blas))}"


def _version(name: str) -> str:
    """That of a distribution; a folder on the path alone has none."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "without a version"


def reset_peak() -> int:
    """Forget the peak resident memory; the bytes in use now. Linux only."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> int:
    """Highest resident memory since `reset_peak`, in bytes."""
    return _status("VmHWM")


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {key} in /proc/self/status")
