"""Tiny plugin distributions as real wheels, built by hand and installed without a network."""

import base64
import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

STAGE = '''
from typing import ClassVar, final

import attrs
import numpy as np
{imports}
from clusterkit.contracts import Partitioner


@final
@attrs.frozen
class {cls}(Partitioner):
    """Every k-th sample, from part {shift} on."""

    name: ClassVar[str] = "{name}"
    sees: ClassVar[str] = "input"
    varies: ClassVar[bool] = False

    def start(self, samples, task, rng):
        return (np.arange(samples.n) + {shift}) % task.k
'''

PLUGIN = """
import clusterkit

API_VERSION = {version}


@clusterkit.hookimpl
def {hook}():
    return {answer!r}
"""


def stage(name: str, cls: str = "Stage", *, shift: int = 0, imports: str = "") -> str:
    """Source of a module with a partitioner."""
    return STAGE.format(name=name, cls=cls, shift=shift, imports=imports)


def plugin(answer: object, *, version: object = 3, hook: str = "clusterkit_partitioners") -> str:
    """Source of a plugin module."""
    return PLUGIN.format(answer=answer, version=version, hook=hook)


def build(folder: Path, distribution: str, modules: Mapping[str, str], *, version: str = "1.0") -> Path:
    """A wheel whose package (the distribution's name with underscores) has the given modules.

    Its entry point in the group ``clusterkit`` is named as the distribution without "dummy-" and names the module
    ``plugin``.
    """
    package, entry = distribution.replace("-", "_"), distribution.removeprefix("dummy-")
    info = f"{package}-{version}.dist-info"
    files = {f"{package}/__init__.py": "", **{f"{package}/{name}.py": text for name, text in modules.items()}}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = f"[clusterkit]\n{entry} = {package}.plugin\n"
    record = "".join(f"{name},sha256={_digest(text)},{len(text.encode())}\n" for name, text in files.items())
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    path = folder / f"{package}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


def install(wheels: Iterable[Path], target: Path) -> Path:
    """Install into a folder: by uv, or by unpacking, which is what installing a pure wheel amounts to."""
    wheels = list(wheels)
    uv = shutil.which("uv")
    if uv:
        options = ["--offline", "--no-cache", "--no-deps", "--python", sys.executable, "--target", str(target)]
        done = subprocess.run([uv, "pip", "install", *options, *map(str, wheels)], capture_output=True, text=True)
        if done.returncode == 0:
            return target
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    return target


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
