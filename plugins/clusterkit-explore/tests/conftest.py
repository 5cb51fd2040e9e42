from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("bottle")
pytest.importorskip("waitress")

from clusterkit_explore.server import Server
from clusterkit_explore.session import Files, Method, Session

from clusterkit.tables import Preparation, read_table

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"
COLUMN = "<script>document.title='broken'</script>"


class Hostile(NamedTuple):
    """Texts that do harm where they are taken for HTML."""

    cell: str
    column: str


@pytest.fixture(scope="session")
def hostile() -> Hostile:
    return Hostile(HOSTILE, COLUMN)


@pytest.fixture(scope="session")
def table_file(tmp_path_factory) -> Path:
    """Three blobs of twenty rows each, with a hostile name of a column and a hostile cell."""
    path = tmp_path_factory.mktemp("tables") / "points.csv"
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 20, axis=0)
    points = centres + rng.normal(size=(60, 2))
    kinds = np.array(["plain", HOSTILE])[rng.integers(0, 2, 60)]
    lines = [
        f'{x:.3f},{y:.3f},"{kind.replace(chr(34), chr(34) * 2)}"\n' for (x, y), kind in zip(points, kinds, strict=True)
    ]
    path.write_text(f"{COLUMN},b,kind\n" + "".join(lines), encoding="utf-8")
    return path


class Client:
    """Sends requests to a server as a program does."""

    def __init__(self, server: Server, session: Session, folder: Path) -> None:
        self.server, self.session, self.folder = server, session, folder
        parts = urlsplit(server.address)
        self.place, self.path = parts.netloc, parts.path

    def raw(self, method: str, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.place, timeout=30)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            # a response of http.client has no field for its body, which is gone when the connection is
            response.content = response.read()  # type: ignore[attr-defined]
            return response
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        return json.loads(self.raw("GET", self.path + path).content)  # type: ignore[attr-defined]

    def post(self, path: str, **words: Any) -> Any:
        body = json.dumps(words).encode()
        response = self.raw("POST", self.path + path, body, Content_Type="application/json")
        return {"status": response.status, **json.loads(response.content)}  # type: ignore[attr-defined]

    def wait(self, ready: Callable[[dict[str, Any]], bool] = lambda state: not state["fitting"]) -> dict[str, Any]:
        for _ in range(2400):
            if ready(state := self.get("state")):
                return state
            time.sleep(0.05)
        raise TimeoutError(f"the state is {state}")

    def fit(self) -> dict[str, Any]:
        """Fit with what was said; the answer."""
        assert self.post("fit")["status"] == 200
        state = self.wait()
        assert state["error"] == ""
        return self.get("answer")

    def rows_of(self, number: int) -> set[int]:
        """Rows, from 1, of a cluster."""
        return {row for row, _, _, cluster in self.get("answer")["map"] if cluster == number}


def start(
    folder: Path, path: Path, recipe: str, n_clusters: Any, takes_number: bool
) -> tuple[Client, Callable[[], None]]:
    """A server with its first fit, and what ends it."""
    method = Method(recipe, n_clusters, takes_number, (), 0, [])
    files = Files(str(folder / "labels.csv"), str(folder / "model.clusterkit"))
    session = Session(read_table(path), Preparation(), method, files, str(path))
    server = Server(session)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()

    def end() -> None:
        server.close()
        thread.join(10)

    return Client(server, session, folder), end


@pytest.fixture
def served(tmp_path, table_file) -> Iterator[Callable[..., Client]]:
    """Start servers, with the first answer there and its report being written."""
    with ExitStack() as stack:

        def begin(recipe: str = "kmeans", n_clusters: Any = 3, takes_number: bool = True, wait: bool = True) -> Client:
            client, end = start(tmp_path, table_file, recipe, n_clusters, takes_number)
            stack.callback(end)
            client.fit() if wait else client.post("fit")
            return client

        yield begin


@pytest.fixture(scope="module")
def shared(tmp_path_factory, table_file) -> Iterator[Client]:
    """A server with a report, to which nothing is said."""
    client, end = start(tmp_path_factory.mktemp("shared"), table_file, "kmeans", 3, True)
    client.fit()
    client.wait(lambda state: state["report"])
    yield client
    end()
