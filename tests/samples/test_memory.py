"""The memory cap: the least of what the system, the control group and the address space allow."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clusterkit.samples import memory
from clusterkit.samples.memory import _of_control_group, cap

GIB = 2**30


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)


@pytest.mark.parametrize(
    ("physical", "group", "left", "expected"),
    [
        (8 * GIB, None, None, 4 * GIB),
        (8 * GIB, 2 * GIB, None, GIB),
        (8 * GIB, 2 * GIB, GIB, GIB // 2),
        (8 * GIB, 64 * GIB, 64 * GIB, 4 * GIB),
        (None, None, None, memory.FALLBACK),
        (None, 2 * GIB, None, GIB),
        (8 * GIB, None, 0, 1),
    ],
)
def test_half_of_the_least(monkeypatch, physical, group, left, expected):
    monkeypatch.setattr(memory, "_physical", lambda: physical)
    monkeypatch.setattr(memory, "_of_control_group", lambda: group)
    monkeypatch.setattr(memory, "_address_space_left", lambda: left)
    assert cap() == expected


class TestControlGroups:
    @pytest.fixture
    def limit(self, tmp_path):
        def look(membership, **files):
            for name, text in files.items():
                path = (
                    tmp_path
                    / "fs"
                    / name.replace("__", "/").replace("_max", "memory.max").replace("_limit", "memory.limit_in_bytes")
                )
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            (tmp_path / "cgroup").write_text(membership)
            return _of_control_group(tmp_path / "cgroup", tmp_path / "fs")

        return look

    def test_version_2(self, limit):
        assert limit("0::/job/step\n", job__step___max=f"{3 * GIB}\n") == 3 * GIB

    def test_a_group_above_may_allow_less(self, limit):
        assert limit("0::/job/step\n", job__step___max="max\n", job___max=f"{GIB}\n") == GIB

    def test_version_2_in_a_container(self, limit):
        assert limit("0::/\n", _max=f"{GIB}\n") == GIB
        assert limit("0::/../../somewhere\n", _max=f"{GIB}\n") == GIB

    def test_version_1(self, limit):
        text = "3:cpu,cpuacct:/job\n2:memory:/job\n1:name=systemd:/job\n"
        assert limit(text, memory__job___limit=f"{GIB}\n", memory___limit=f"{2**63 - 4096}\n") == GIB

    def test_version_1_mounted_elsewhere(self, limit):
        assert limit("2:memory:/docker/abc\n", memory___limit=f"{GIB}\n") == GIB

    def test_no_limit(self, limit, tmp_path):
        assert limit("0::/job\n", job___max="max\n") is None
        assert _of_control_group(tmp_path / "nothing", tmp_path) is None
        assert limit("nonsense\n\n:::\n") is None


def test_a_limit_of_the_address_space_is_respected():
    pytest.importorskip("resource")
    script = """
import resource
from clusterkit.samples.memory import cap
before = cap()
mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + 200 * 2**20, resource.RLIM_INFINITY))
print(before > 100 * 2**20, 0 < cap() <= 100 * 2**20)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.split() == ["True", "True"], done.stderr
