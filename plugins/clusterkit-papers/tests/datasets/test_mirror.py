"""A data folder behind a web server on this machine."""

from __future__ import annotations

import functools
import gzip
import hashlib
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from clusterkit_papers.datasets import DatasetCorrupt, DatasetNotFound, MirrorError, load, names


class Recorder(SimpleHTTPRequestHandler):
    def log_request(self, code="-", size="-"):
        self.server.requested.append(self.path)

    def log_message(self, *args):
        """Keep the test output clean."""


@pytest.fixture
def server(folder, tmp_path, monkeypatch):
    """Serve the folder; the list of paths requested is in ``requested``."""
    handler = functools.partial(Recorder, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.requested = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("CLUSTERKIT_DATA_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("CLUSTERKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CLUSTERKIT_DATA_TRUST", "1")
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def files_requested(server):
    return [path for path in server.requested if path != "/manifest.csv"]


def test_fetched_once_then_from_the_cache(server, folder):
    here, fetched = load("letter", data_home=folder), load("letter")
    np.testing.assert_array_equal(fetched.data, here.data)
    np.testing.assert_array_equal(fetched.target, here.target)
    assert fetched.description == here.description
    load("letter-ab")
    assert files_requested(server) == ["/letter.csv.gz"]


def test_sparse_file_is_found_by_its_ending(server):
    assert load("tdt2").data.shape == (10, 40_000)
    load("tdt2")
    assert files_requested(server) == ["/tdt2.csv.gz", "/tdt2.npz"]


def test_names_and_order_of_sources(server, folder):
    assert names()["letter"] == names()["letter-ab"] == ("mirror",)
    assert names(data_home=folder)["letter"] == ("folder", "mirror")
    server.requested.clear()
    load("digits-1-7")
    load("letter", data_home=folder)
    assert server.requested == []


def test_corrected_file_is_fetched_again(server, folder, add_file):
    load("letter")
    add_file("letter.csv.gz", gzip.compress(b"x0,label\n1,A\n"))
    assert load("letter").data.shape == (1, 1)


def test_corrupt_file(server, folder):
    content = (folder / "letter.csv.gz").read_bytes()
    (folder / "letter.csv.gz").write_bytes(content + b"x")
    with pytest.raises(DatasetCorrupt, match=r"letter\.csv\.gz does not match its manifest.*expected .* got "):
        load("letter")


def test_set_the_mirror_lacks(server):
    with pytest.raises(DatasetNotFound, match=r"http://127\.0\.0\.1:\d+ lacks it"):
        load("usps")


def test_listed_file_is_missing(server, folder):
    (folder / "letter.csv.gz").unlink()
    with pytest.raises(MirrorError, match=r"has neither letter\.csv\.gz nor letter\.npz"):
        load("letter")


def test_cache_serves_without_a_connection(server, tmp_path, monkeypatch):
    load("letter")
    load("tdt2")
    server.shutdown()
    server.server_close()
    assert load("letter").data.shape == (4, 2)
    assert load("tdt2").data.shape == (10, 40_000)
    with pytest.raises(MirrorError, match="cannot be fetched"):
        load("gaps")
    monkeypatch.setenv("CLUSTERKIT_CACHE", str(tmp_path / "empty"))
    with pytest.raises(MirrorError, match=r"manifest\.csv cannot be fetched"):
        load("letter")


def test_address_without_manifest(server, folder):
    (folder / "manifest.csv").unlink()
    with pytest.raises(MirrorError, match=r"manifest\.csv cannot be fetched: 404"):
        load("letter")


def test_page_that_is_no_manifest_does_not_replace_a_good_one(server, folder):
    load("letter")
    (folder / "manifest.csv").write_text("<html>gone</html>")
    with pytest.raises(ValueError, match="has no column name"):
        load("letter")
    server.shutdown()
    server.server_close()
    assert load("letter").data.shape == (4, 2)


def test_only_web_addresses(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_DATA_URL", "/some/folder")
    with pytest.raises(ValueError, match="must start with http"):
        load("letter")


class TestTrust:
    """Who can change the files can change the checksums: something else must vouch for the manifest."""

    def test_nobody_vouches_for_it(self, server, monkeypatch):
        monkeypatch.delenv("CLUSTERKIT_DATA_TRUST")
        with pytest.raises(MirrorError, match="is read by plain http, which anybody on the way can change, with"):
            load("letter")
        monkeypatch.setenv("CLUSTERKIT_DATA_URL", "https://127.0.0.1:1/data")
        with pytest.raises(MirrorError, match=r"1/data is read without a checksum from another place\. Set CLUS"):
            load("letter")
        assert server.requested == []

    def test_a_checksum_from_another_place(self, server, folder, monkeypatch):
        monkeypatch.delenv("CLUSTERKIT_DATA_TRUST")
        manifest = folder / "manifest.csv"
        monkeypatch.setenv("CLUSTERKIT_DATA_SHA256", hashlib.sha256(manifest.read_bytes()).hexdigest())
        assert len(load("letter").data) == 4
        manifest.write_text(manifest.read_text().replace("free", "mine"))
        with pytest.raises(DatasetCorrupt, match=r"manifest\.csv does not match CLUSTERKIT_DATA_SHA256: expected"):
            load("letter")
