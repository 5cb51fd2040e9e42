"""The session over HTTP, on the loopback of this machine, for nobody without the token.

Another page in the same browser can send requests here, and a name can be made to lead here. Both are refused: the
address has the token, the header Host is that of the address, and Origin, where there is one, too.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any

import bottle
import waitress

from clusterkit_explore.session import Session
from clusterkit_explore.statements import Refused

__all__ = ["HOST", "Server"]

HOST = "127.0.0.1"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: its own script and style, and the report in a frame."""

POLICY_OF_REPORT = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""The report has its style inside, and no script can run in it."""

HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)

TYPES = {"page.html": "text/html", "page.js": "text/javascript", "page.css": "text/css"}

MOST_BYTES = 100_000
"""Largest request; a sentence about rows and clusters is much shorter."""

Environ = dict[str, Any]


class Server:
    """Serves one session; `address` is where, with the token.

    Parameters
    ----------
    session : Session
    port : int, default 0
        0 takes a free one.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        self._session, self._token = session, secrets.token_urlsafe(24)
        self._bottle = bottle.Bottle(catchall=True)
        self._routes()
        self._server: Any = waitress.create_server(
            self._guarded, host=HOST, port=port, threads=8, ident=None, max_request_body_size=MOST_BYTES
        )
        self._place = f"{HOST}:{self._server.effective_port}"

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{self._place}/{self._token}/"

    def run(self) -> None:
        """Serve until Ctrl-C or `close`."""
        self._server.run()

    def close(self) -> None:
        """Stop serving, from any thread, and the fit that runs."""
        self._session.stop()
        self._server.trigger.pull_trigger(self._server.close)

    def _guarded(self, environ: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        """The application of WSGI: refuses what is foreign, and adds the headers to every answer."""

        def begin(status: str, headers: list[tuple[str, str]], *more: object) -> object:
            policy = POLICY_OF_REPORT if environ["PATH_INFO"] == "/report" else POLICY
            return start(status, [*headers, *HEADERS, ("Content-Security-Policy", policy)], *more)

        token, _, rest = environ["PATH_INFO"].removeprefix("/").partition("/")
        origin, site = environ.get("HTTP_ORIGIN"), environ.get("HTTP_SEC_FETCH_SITE")
        ours = (
            hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())
            and environ.get("HTTP_HOST") == self._place
            and origin in (None, f"http://{self._place}")
            and site in (None, "none", "same-origin")
        )
        if not ours:
            begin("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"Refused: take the address that clusterkit explore printed, with its token.\n"]
        environ["PATH_INFO"] = f"/{rest}"
        answer: Iterable[bytes] = self._bottle(environ, begin)
        return answer

    def _routes(self) -> None:
        session, route = self._session, self._bottle.route

        def static(name: str) -> Callable[[], str]:
            def send() -> str:
                bottle.response.content_type = f"{TYPES[name]}; charset=utf-8"
                return files("clusterkit_explore").joinpath("static", name).read_text(encoding="utf-8")

            return send

        def link_file() -> str:
            bottle.response.content_type = "text/csv; charset=utf-8"
            bottle.response.set_header("Content-Disposition", 'attachment; filename="links.csv"')
            return session.links_table()

        route("/", callback=static("page.html"))
        route("/page.js", callback=static("page.js"))
        route("/page.css", callback=static("page.css"))
        route("/report", callback=_answering(session.report))
        route("/why", callback=_answering(session.why))
        route("/links.csv", callback=link_file)
        route("/state", callback=_answering(session.state))
        route("/answer", callback=_answering(session.answer))
        route("/row/<number:int>", callback=_answering(lambda number: session.rows([number])[0]))
        deeds: Mapping[str, Callable[[Mapping[str, object]], None]] = {
            "say": session.say,
            "undo": lambda words: session.undo(words.get("id")),
            "fit": lambda _: session.fit(),
            "stop": lambda _: session.stop(),
            "save": lambda _: session.save(),
        }
        for name, deed in deeds.items():
            route(f"/{name}", method="POST", callback=_answering(_doing(deed, session)))


def _doing(deed: Callable[[Mapping[str, object]], None], session: Session) -> Callable[[], Mapping[str, object]]:
    """What a request does, of which the answer is the state after it."""

    def do() -> Mapping[str, object]:
        if bottle.request.content_type != "application/json":
            raise Refused("send JSON", 415)
        try:
            words = json.loads(bottle.request.body.read(MOST_BYTES))
        except (ValueError, RecursionError):
            raise Refused("this is no JSON") from None
        if not isinstance(words, dict):
            raise Refused("send an object of JSON")
        deed(words)
        return session.state()

    return do


def _answering(function: Callable[..., object]) -> Callable[..., object]:
    """A route whose refusals are texts with their status."""

    def send(**names: object) -> object:
        try:
            return function(**names)
        except Refused as error:
            status, why = error.status, str(error)
        except OSError as error:
            status, why = 500, f"{error.filename}: {error.strerror}"
        return bottle.HTTPResponse(json.dumps({"error": why}), status, {"Content-Type": "application/json"})

    return send
