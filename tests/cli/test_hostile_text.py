"""Odd bytes on the way in and out: names that steer a terminal, odd line ends, streams that are closed."""

import json
import os
import subprocess
import sys

import pytest

from clusterkit.cli import console

EVIL = "\x1b[31mred\x9b2J\u202eback\x00\x7f"
ESCAPED = r"\x1b[31mred\x9b2J\u202eback\x00\x7f"


class TestEscapes:
    def test_nothing_printed_steers(self, capsys):
        for text in (EVIL, "a\x85b", "a\udcffb", "a\u2066b", "a\nb", "a\rb", "a\tb"):
            console.text(text)
            console.heading(text)
            console.facts({text: text})
            console.table([text], [[text]], title=text)
            console.as_json({text: [text]})
            shown = capsys.readouterr().out
            steering = [letter for letter in shown if letter != "\n" and console._CONTROL.match(letter)]
            assert steering == []
            assert json.loads(shown[shown.index("{\n") :]) == {text: [text]}

    def test_a_name_cannot_forge_a_message(self, run, write):
        table = write("t.csv", '"a\nerror: forged",b\n1,2\n3,4\n')
        answer = run("fit", table, "-k", 2, "--columns", "c")
        assert [line[:7] for line in answer.stderr.splitlines()].count("error: ") == 1

    def test_names_of_plugins_and_of_files(self, run, monkeypatch):
        from clusterkit.contracts.providers import Plugin
        from clusterkit.contracts.registry import registry

        plugin = Plugin(EVIL, EVIL, EVIL, None, (("solver", EVIL),))
        monkeypatch.setattr(type(registry), "plugins", lambda self: [plugin])
        assert "\x1b" not in run("plugins").output
        assert run("plugins").stdout.count(ESCAPED) == 4

        assert "\x1b" not in run("fit", EVIL.replace("\x00", ""), "-k", 2).stderr


@pytest.mark.skipif(os.name != "posix", reason="streams of POSIX")
class TestClosedStreams:
    @staticmethod
    def shell(line, cwd):
        command = line.replace("clusterkit", f"{sys.executable} -m clusterkit")
        how = {"cwd": cwd, "env": {**os.environ, "CLUSTERKIT_PLUGINS": ""}, "timeout": 300}
        return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, **how)

    def test_each_has_its_line(self, table):
        for line, code, error in (
            ("clusterkit fit points.csv --drop id -r kmeans -k 3 -o l.csv >&- 2>&-", 0, ""),
            ("clusterkit fit - -r kmeans -k 3 <&-", 2, "error: standard input is closed\n"),
        ):
            done = self.shell(line, table.parent)
            assert (done.returncode, done.stderr) == (code, error)
            assert "Traceback" not in done.stdout
        assert (table.parent / "l.csv").read_text().startswith("label\n")
