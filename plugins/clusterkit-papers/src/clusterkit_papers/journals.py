"""A journal of the jobs of a table that are done, so that a long table goes on where it was interrupted."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from clusterkit.errors import InvalidData

__all__ = ["Journal"]


class Journal:
    """The rows of the finished jobs of one command, kept in a file with a line for each job.

    Parameters
    ----------
    path : Path
        The file. If it exists, its jobs count as done.
    command : str
        The command line whose jobs these are; its rows must not be mixed with those of another one.

    Attributes
    ----------
    rows : dict of str to list of dict
        The rows of the finished jobs by `Job.key`.
    interrupted : bool
        Whether Ctrl-C ended the command.

    Raises
    ------
    InvalidData
        If the file belongs to another command.
    """

    def __init__(self, path: Path, command: str) -> None:
        self.path, self.rows, self.interrupted = path, dict[str, list[dict[str, Any]]](), False
        self._cpu, self._wall, self._earlier = time.process_time(), time.perf_counter(), [0.0, 0.0]
        if path.exists():
            head, *lines = path.read_text(encoding="utf-8").splitlines()
            if json.loads(head) != {"command": command}:
                raise InvalidData(f"{path.name} has the jobs of another command, {json.loads(head)}: delete it first")
            for line in lines:
                entry = json.loads(line)
                self.rows[entry["job"]] = entry["rows"]
                self._earlier = [entry["cpu_seconds"], entry["wall_seconds"]]
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"command": command}) + "\n", encoding="utf-8")

    @property
    def seconds(self) -> tuple[float, float]:
        """CPU and wall seconds of the command so far, those before an interrupt included."""
        cpu, wall = self._earlier
        return cpu + time.process_time() - self._cpu, wall + time.perf_counter() - self._wall

    def add(self, job: str, rows: list[dict[str, object]]) -> None:
        """Keep the rows of a finished job."""
        self.rows[job] = rows
        cpu, wall = self.seconds
        entry = {"job": job, "cpu_seconds": cpu, "wall_seconds": wall, "rows": rows}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def close(self) -> None:
        """Delete the file: the command is done."""
        self.path.unlink()
