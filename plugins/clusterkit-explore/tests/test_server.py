"""The server and its session, driven as a program does."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import urllib.request

import numpy as np
import pytest
from click.testing import CliRunner

import clusterkit
from clusterkit.cli import app

Server = pytest.importorskip("clusterkit_explore.server").Server


@pytest.fixture
def client(served):
    return served()


def labels_in(path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=0, dtype=int)


@pytest.mark.parametrize("path", ["", "state", "answer", "report", "links.csv", "page.js", "row/1", "why", "nothing"])
def test_nothing_is_served_without_the_token(shared, path):
    for start in ("/", "/x/", f"/{'A' * 32}/", shared.path[:-2] + "/"):
        assert shared.raw("GET", start + path).status == 403
    assert shared.raw("GET", shared.path + path).status == (404 if path == "nothing" else 200)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost"},
        {"Host": "evil.example:{port}"},
        {"Host": "localhost:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_hosts_and_origins_are_refused(shared, headers):
    port = shared.place.partition(":")[2]
    headers = {name: value.format(port=port) for name, value in headers.items()}
    assert shared.raw("GET", shared.path + "state", **headers).status == 403
    body = b'{"kind": "number", "number": 2}'
    assert shared.raw("POST", shared.path + "say", body, Content_Type="application/json", **headers).status == 403
    assert shared.get("state")["statements"] == []
    ours = {"Origin": f"http://{shared.place}", "Sec_Fetch_Site": "same-origin"}
    assert shared.raw("GET", shared.path + "state", **ours).status == 200


def test_every_answer_has_the_headers_that_bind_the_browser(shared):
    for path in ("", "page.js", "state", "report", "nothing"):
        headers = shared.raw("GET", shared.path + path).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe-eval" not in policy
        assert ("unsafe-inline" in policy) == (path == "report")
        assert ("script-src" in policy) == (path != "report")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers
        assert "Server" not in headers
    assert "Content-Security-Policy" in shared.raw("GET", "/").headers


def test_only_json_of_a_known_form_is_taken(shared):
    say = shared.path + "say"
    assert shared.raw("POST", say, b'{"kind": "number", "number": 2}', Content_Type="text/plain").status == 415
    for body in (
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'"x"',
        b"{}",
        b'{"kind": ["join"]}',
        b'{"kind": "number", "number": true}',
    ):
        assert shared.raw("POST", say, body, Content_Type="application/json").status == 400
    assert shared.raw("POST", say, b" " * 200_000, Content_Type="application/json").status == 413
    assert shared.raw("GET", say).status == 405
    for words, why in [
        ({"kind": "join", "clusters": [0]}, "at least two"),
        ({"kind": "join", "clusters": [0, 9]}, "no cluster 9"),
        ({"kind": "join", "clusters": [0, -1]}, "no cluster -1"),
        ({"kind": "join", "clusters": "01"}, "list of whole numbers"),
        ({"kind": "split", "clusters": [0, 1]}, "select one"),
        ({"kind": "name", "clusters": [0], "name": " "}, "a name is a text"),
        ({"kind": "name", "clusters": [0], "name": "a\nb"}, "on one line"),
        ({"kind": "name", "clusters": [0], "name": "a" * 81}, "at most 80"),
        ({"kind": "together", "rows": [1]}, "select 2 to 50 rows, or rows and one cluster, not 1 and 0"),
        ({"kind": "together", "rows": [0, 1]}, "no row 0; rows are counted 1..60"),
        ({"kind": "apart", "rows": [1, 61]}, "no row 61"),
        ({"kind": "leave_out", "columns": ["c"]}, "columns of the table"),
        ({"kind": "number", "number": 61}, "from 1 to 60"),
    ]:
        answer = shared.post("say", answer=1, **words)
        assert answer["status"] == 400
        assert why in answer["error"]
    assert shared.get("state")["statements"] == []
    assert shared.raw("GET", shared.path + "row/61").status == 400


def test_join_makes_one_cluster_and_undo_two(client):
    before = {number: client.rows_of(number) for number in range(3)}
    assert [len(rows) for rows in before.values()] == [20, 20, 20]
    client.post("say", kind="join", clusters=[0, 1], answer=1)
    joined = client.fit()
    assert joined["answer"] == 2
    assert len(joined["clusters"]) == 2
    assert client.rows_of(2) == before[2]
    assert client.post("undo", id=1)["links"] == 0
    assert client.post("undo", id=1)["status"] == 409
    clusters = client.fit()["clusters"]
    assert {frozenset(client.rows_of(each["number"])) for each in clusters} == set(map(frozenset, before.values()))


def test_split_makes_two_clusters_and_leaves_the_others(client):
    before = {number: client.rows_of(number) for number in range(3)}
    client.post("say", kind="number", number=3)
    state = client.post("say", kind="split", clusters=[1], answer=1)
    assert state["next"] == "4"
    numbers = [each["number"] for each in client.fit()["clusters"]]
    state = client.get("state")
    assert [each["fitted"] for each in state["statements"]] == [True, True]
    assert not state["stale"]
    assert client.post("undo", id=1)["stale"]
    assert len(numbers) == 4
    assert (client.rows_of(0), client.rows_of(2)) == (before[0], before[2])


def test_a_cluster_that_was_joined_with_another_is_joined_with_a_third(client):
    client.post("say", kind="number", number=4)
    first = [each["number"] for each in client.fit()["clusters"]]
    client.post("say", kind="join", clusters=first[:2], answer=2)
    second = [each["number"] for each in client.fit()["clusters"]]
    assert len(second) == 3
    client.post("say", kind="join", clusters=second[:2], answer=3)
    assert len(client.fit()["clusters"]) == 2


def test_rows_that_belong_together_or_not(client):
    one, other = sorted(min(client.rows_of(number)) for number in (0, 1))
    client.post("say", kind="together", rows=[one, other])
    client.fit()
    assert len({each["cluster"] for each in (client.get(f"row/{one}"), client.get(f"row/{other}"))}) == 1
    client.post("say", kind="apart", rows=[other, one])
    client.post("fit")
    state = client.wait()
    assert f"rows {one} and {other} together; {one} and {other} apart" in state["error"]
    assert state["answer"] == 2  # the present answer stays
    client.post("undo", id=1)
    client.fit()
    assert len({each["cluster"] for each in (client.get(f"row/{one}"), client.get(f"row/{other}"))}) == 2


def test_rows_that_belong_to_a_cluster_or_not(client):
    row = min(client.rows_of(0))
    assert client.post("say", kind="together", rows=[row], clusters=[0, 1], answer=1)["status"] == 400
    state = client.post("say", kind="together", rows=[row], clusters=[1], answer=1)
    assert state["statements"][0]["text"] == f"row {row} belongs to cluster 1"
    client.fit()
    assert client.get(f"row/{row}")["cluster"] == 1
    client.post("undo", id=1)
    client.post("say", kind="apart", rows=[row], clusters=[0], answer=2)
    client.fit()
    assert client.get(f"row/{row}")["cluster"] != 0


def test_columns_and_numbers(client, hostile):
    client.post("say", kind="leave_out", columns=["kind"])
    state = client.post("say", kind="number", number=2)
    assert "--drop kind" in state["command"]
    assert client.post("say", kind="leave_out", columns=["kind"])["status"] == 409
    answer = client.fit()
    assert len(answer["clusters"]) == 2
    assert {each["name"]: bool(each["why"]) for each in answer["columns"]} == {
        hostile.column: False,
        "b": False,
        "kind": True,
    }
    for name in (hostile.column, "b"):
        client.post("say", kind="leave_out", columns=[name])
    client.post("fit")
    assert "no column is left" in client.wait()["error"]


def test_a_method_that_finds_the_number_takes_none(served):
    client = served("hdbscan", None, takes_number=False)
    assert "finds the number" in client.post("say", kind="number", number=2)["error"]
    numbers = [each["number"] for each in client.get("answer")["clusters"]]
    state = client.post("say", kind="join", clusters=numbers[:2], answer=1)
    assert "-k" not in state["command"]
    assert len(client.fit()["clusters"]) == len(numbers) - 1


def test_words_about_earlier_clusters_are_refused(client):
    client.post("say", kind="number", number=2)
    client.fit()
    answer = client.post("say", kind="join", clusters=[0, 1], answer=1)
    assert answer["status"] == 409
    assert "have changed" in answer["error"]


def test_a_fit_is_stopped_at_once(client):
    before = client.get("answer")
    assert client.post("fit")["running"]
    process = client.session._process
    assert client.post("fit")["status"] == 409
    state = client.post("stop")
    assert not state["running"]
    assert not process.is_alive()
    assert client.get("answer") == before
    assert len(client.fit()["clusters"]) == 3


@pytest.fixture
def written():
    """Files that this process opens to write, but for code that Python compiles."""
    paths, watching = [], [True]

    def watch(event, facts) -> None:
        if (
            watching
            and event == "open"
            and not isinstance(facts[0], int)
            and (facts[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        ):
            paths.append(str(facts[0]))

    sys.addaudithook(watch)
    yield lambda: {path for path in paths if "__pycache__" not in path}
    watching.clear()


def test_the_two_files_and_no_other(client, hostile, table_file, written):
    before = table_file.read_bytes()
    client.post("say", kind="join", clusters=[0, 1], answer=1)
    client.fit()
    client.post("say", kind="name", clusters=[2], name=hostile.cell, answer=2)
    assert list(client.folder.iterdir()) == []
    assert written() == set()
    assert "labels in" in client.post("save")["saved"]
    assert sorted(path.name for path in client.folder.iterdir()) == ["labels.csv", "model.clusterkit"]
    assert table_file.read_bytes() == before
    assert written()
    assert all(path.startswith(str(client.folder)) for path in written())
    labels = labels_in(client.folder / "labels.csv")
    model = clusterkit.load(client.folder / "model.clusterkit")
    np.testing.assert_array_equal(labels, model.labels_)
    lines = (client.folder / "labels.csv").read_text(encoding="utf-8").splitlines()
    named = {row for row, line in enumerate(lines) if "onerror" in line}
    assert named == client.rows_of(2)
    assert model.names_[int(labels[min(named) - 1])] == hostile.cell


def test_names_are_no_formulas(client):
    client.post("say", kind="name", clusters=[0], name="=1+1", answer=1)
    client.post("save")
    assert {line.partition(",")[2] for line in (client.folder / "labels.csv").read_text().splitlines()} >= {"'=1+1"}


def test_the_command_gives_the_same_without_the_page(client, tmp_path, monkeypatch):
    client.post("say", kind="split", clusters=[1], answer=1)
    client.post("say", kind="leave_out", columns=["kind"])
    client.fit()
    client.post("save")
    labels = labels_in(client.folder / "labels.csv")
    (tmp_path / "apart").mkdir()
    monkeypatch.chdir(tmp_path / "apart")
    links = client.raw("GET", client.path + "links.csv")
    assert "attachment" in links.headers["Content-Disposition"]
    (tmp_path / "apart" / "links.csv").write_bytes(links.content)
    words = shlex.split(client.get("state")["command"])
    answer = CliRunner().invoke(app, words[1:])
    assert answer.exit_code == 0, answer.output
    np.testing.assert_array_equal(labels_in(client.folder / "labels.csv"), labels)


def test_rows_are_explained_in_the_numbers_of_the_page(client):
    client.post("say", kind="join", clusters=[0, 1], answer=1)
    client.fit()
    client.wait(lambda state: state["explained"])
    why, rows = client.get("why"), client.get("answer")["rows"]
    assert why.keys() == {str(row["row"]) for row in rows}
    numbers = {each["number"] for each in client.get("answer")["clusters"]}
    for row in rows:
        named = [int(number) for number in re.findall(r"cluster (\d+)", why[str(row["row"])])]
        assert named[0] == row["cluster"]
        assert set(named) == numbers  # those of the model are 0 and 1
    assert numbers != {0, 1}


def test_what_the_table_says_is_escaped_in_the_report(shared, hostile):
    page = shared.raw("GET", shared.path + "report").content.decode()
    assert hostile.cell not in page
    assert hostile.column not in page
    assert "&lt;script&gt;document" in page
    for name in ("", "page.js", "page.css"):
        assert b"onerror" not in shared.raw("GET", shared.path + name).content


def test_command(table_file, tmp_path, monkeypatch):
    states = []

    serve = Server.run

    def run(server: Server) -> None:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        with urllib.request.urlopen(server.address + "state", timeout=30) as response:
            states.append(json.load(response))

    monkeypatch.setattr(Server, "run", run)
    words = ["explore", table_file, "-r", "kmeans", "-k", 2, "--drop", "kind", "--out-labels", tmp_path / "l.csv"]
    answer = CliRunner().invoke(app, list(map(str, words)))
    assert answer.exit_code == 0, answer.output
    assert "open http://127.0.0.1:" in answer.stdout
    assert states[0]["command"].startswith(f"clusterkit fit {table_file} -r kmeans --drop kind -k 2 -o ")


@pytest.mark.deep
def test_ctrl_c_ends_the_command_and_its_fit(table_file):
    words = [sys.executable, "-m", "clusterkit", "explore", str(table_file)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, start_new_session=True, **streams) as process:
        address = process.stdout.readline().split()[-1]
        state = {"progress": "fitting"}
        while state["progress"] == "fitting":
            with urllib.request.urlopen(address + "state", timeout=30) as response:
                state = json.load(response)
        assert state["running"]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert process.wait(30) == 0
        assert process.stderr.read() == ""  # and its end, so that the process of the fit has ended too


def test_refusals_of_the_command(table_file, tmp_path):
    def error_of(*more: object) -> str:
        answer = CliRunner().invoke(app, ["explore", str(table_file), *map(str, more)])
        assert answer.exit_code == 2, answer.output
        return answer.stderr

    assert "needs a file of its own" in error_of("--out-labels", table_file)
    assert "clusters and their names can be .csv" in error_of("--out-labels", tmp_path / "l.xlsx")
    assert "a model can be" in error_of("--out-model", tmp_path / "m.csv")
    assert "needs a number of clusters" in error_of("-r", "kmeans")
    assert "finds the number of clusters itself" in error_of("-r", "hdbscan", "-k", 3)
    assert "no such file" in CliRunner().invoke(app, ["explore", str(tmp_path / "none.csv")]).stderr
