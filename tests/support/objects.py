"""A real S3 server (moto's) on the loopback, whose answers a test may spoil."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from moto.server import DomainDispatcherApplication, create_backend_app
from pyarrow.fs import FileSystem
from werkzeug.serving import WSGIRequestHandler, make_server

SECRET = "tell%2Fnobody"
"""The secret key of every URI, as it is written there."""


class Silent(WSGIRequestHandler):
    def log(self, *_: object) -> None:
        pass


class Objects:
    """The server, and what is in it."""

    def __init__(self) -> None:
        self.before: dict[str, Callable[[], int | None]] = {}
        """What to do before the GETs of an object are answered; a status is the answer."""
        self.writing: Callable[[str, str], int | str | None] = lambda method, path: None
        """Before each request is answered: a status is the answer instead, "cut" cuts the answer of a GET in the middle."""
        self.requests: list[tuple[str, str]] = []
        """Method and path of each request."""
        self._answer = DomainDispatcherApplication(create_backend_app)
        self.server = make_server("127.0.0.1", 0, self._app, threaded=True, request_handler=Silent)

    def uri(self, path: str) -> str:
        options = f"scheme=http&endpoint_override=127.0.0.1:{self.server.port}&region=us-east-1&allow_bucket_creation=true"
        return f"s3://somebody:{SECRET}@evidence/{quote(path)}?{options}"

    def put(self, path: str, content: bytes) -> str:
        files, place = FileSystem.from_uri(self.uri(path))
        files.create_dir("evidence")
        with files.open_output_stream(place, compression=None) as out:  # else it is packed once more by its name
            out.write(content)
        return self.uri(path)

    def spread(self, root: str, files: dict[str, bytes]) -> str:
        for name, content in files.items():
            self.put(f"{root}/{name}", content)
        return self.uri(root)

    def delete(self, path: str) -> None:
        files, place = FileSystem.from_uri(self.uri(path))
        files.delete_file(place)

    def _app(self, environ: dict[str, Any], respond: Any) -> Iterable[bytes]:
        self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        spoil = self.before.get(environ["PATH_INFO"].removeprefix("/evidence/"))
        instead = self.writing(environ["REQUEST_METHOD"], environ["PATH_INFO"])
        if isinstance(instead, int):
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            respond(f"{instead} No", [("Content-Length", "0")])
            return []
        if instead == "cut":
            whole = b"".join(self._answer(environ, respond))
            return [whole[: len(whole) // 2]]
        if spoil is not None and environ["REQUEST_METHOD"] == "GET" and (status := spoil()) is not None:
            respond(f"{status} No", [("Content-Length", "0")])
            return []
        return self._answer(environ, respond)


@contextmanager
def serving() -> Iterator[Objects]:
    objects = Objects()
    thread = threading.Thread(target=objects.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield objects
    finally:
        objects.server.shutdown()
        thread.join()
