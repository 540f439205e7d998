"""The tables of an audit, or a case, in an S3 bucket: copied to a local directory, and committed back by one conditional put of the manifest.

Here: the copies, the commit, and who else committed in the meantime. Not here: evidence on object stores (parsers.containers.storage), or
what an audit's directory contains (archive, audited). pyarrow lists, reads and writes objects, but has no conditional put: the manifest is
put with a request that is signed here (AWS Signature Version 4).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote, unquote, urlsplit

from forensics.audit.audited import MANIFEST, OWN
from forensics.case.read import Unreadable
from forensics.case.write import Refused
from parsers.cached import cached_property
from parsers.containers.storage import without_secrets

TRIES = 4
"""How often an object is read or put if the store fails or cuts an answer."""
PAUSE_S = 0.2
"""Before the second try; twice as long before each further one."""
TIMEOUT_S = 60
LOCAL = (f"{OWN}/staged/", f"{OWN}/lock", f"{OWN}/running")
"""What stays local."""
Done = TypeVar("Done")


@dataclass
class Remote:
    """The tables at a URI as for evidence: s3://[KEY:SECRET@]BUCKET/PREFIX[?region=…&endpoint_override=…&scheme=…]."""

    uri: str
    manifest: str = MANIFEST
    """The object that is put last."""

    def __post_init__(self) -> None:
        self._etag: str | None = None
        self._sizes: dict[str, int] = {}

    @property
    def shown(self) -> str:
        return without_secrets(self.uri)

    @cached_property
    def _there(self) -> tuple[Any, str]:
        from pyarrow.fs import FileSystem

        try:
            files, base = FileSystem.from_uri(self.uri)
        except Exception as error:  # of the URI, or of the store's client
            raise Unreadable(f"{self.shown}: {self._words(error)}") from None
        return files, base.rstrip("/")

    def pull(self, directory: Path, *, kept: bool) -> bool:
        """Copies the tables into a directory; `kept`: with what was read from the archive. Returns whether there is a manifest. Raises
        Unreadable."""
        manifest = self._read_manifest()
        self._sizes = self._listed()
        if manifest is None:
            return False
        for name, size in self._sizes.items():
            if name != self.manifest and not name.startswith(LOCAL) and (kept or not name.startswith(f"{OWN}/kept/")):
                _write(directory / name, self._try(lambda name=name, size=size: self._read(name, size)))  # type: ignore[misc]
        _write(directory / self.manifest, manifest)
        return True

    def push(self, directory: Path) -> None:
        """Commits the tables in the directory. Raises Refused if another run committed since `pull`, or the store fails: then its tables
        are as they were."""
        names = {str(path.relative_to(directory)): path for path in sorted(directory.rglob("*")) if path.is_file()}
        local = {name: path for name, path in names.items() if not name.startswith(LOCAL)}
        for name, path in local.items():
            if name != self.manifest and self._sizes.get(name) != path.stat().st_size:
                self._try(lambda name=name, path=path: self._write(name, path))  # type: ignore[misc]
        self._put((directory / self.manifest).read_bytes())
        files, base = self._there
        for name in self._sizes.keys() - local.keys():
            if not name.startswith(LOCAL):
                self._try(lambda name=name: files.delete_file(f"{base}/{name}"))  # type: ignore[misc]

    # objects

    def _listed(self) -> dict[str, int]:
        from pyarrow.fs import FileSelector

        files, base = self._there
        infos = self._try(lambda: files.get_file_info(FileSelector(base, recursive=True, allow_not_found=True)))
        return {info.path[len(base) + 1 :]: info.size for info in infos if info.type.name == "File"}

    def _read_manifest(self) -> bytes | None:
        def read() -> bytes | None:
            files, base = self._there
            try:
                with files.open_input_file(f"{base}/{self.manifest}") as source:
                    self._etag = source.metadata()["ETag"].decode()
                    content = bytes(source.read())
                    if len(content) < source.size():
                        raise EOFError("the store cut its answer")
                    return content
            except FileNotFoundError:
                return None

        return self._try(read)

    def _read(self, name: str, size: int) -> bytes:
        files, base = self._there
        with files.open_input_file(f"{base}/{name}") as source:
            content = bytes(source.read())
        if len(content) < size:
            raise EOFError("the store cut its answer")
        return content

    def _write(self, name: str, path: Path) -> None:
        files, base = self._there
        with files.open_output_stream(f"{base}/{name}", compression=None) as out:
            out.write(path.read_bytes())

    def _try(self, do: Callable[[], Done]) -> Done:
        for pause in _pauses():
            try:
                return do()
            except Exception as error:  # a store's client raises its own errors
                if isinstance(error, FileNotFoundError) or pause is None:
                    raise Unreadable(f"{self.shown}: {self._words(error)}") from None
                time.sleep(pause)
        raise AssertionError

    def _words(self, error: Exception) -> str:
        return without_secrets(" ".join(str(error).split()))[:300]

    # the commit

    def _put(self, content: bytes) -> None:
        for pause in _pauses():
            why = ""
            try:
                status, why = self._answer(content)
            except (OSError, HTTPException) as error:
                status, why = 0, self._words(error)
            if 200 <= status < 300:
                return
            if status in (409, 412):
                if self._read_manifest() == content:  # an earlier try succeeded, and its answer was lost
                    return
                raise Refused(f"{self.shown}: another run was committed there in the meantime; run this one again")
            if 0 < status < 500 or pause is None:
                raise Refused(f"{self.shown}: the store did not accept the manifest ({why or status}); its tables are as they were")
            time.sleep(pause)

    def _answer(self, content: bytes) -> tuple[int, str]:
        """Status and reason of the answer to a signed PUT of the manifest, on the condition that nobody else has put one. Raises OSError or
        HTTPException."""
        parts = urlsplit(self.uri)
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        bucket = parts.netloc.rpartition("@")[2]
        key = quote("/".join(step for step in (unquote(parts.path).strip("/"), self.manifest) if step), safe="/~")
        region = options.get("region") or str(self._there[0].region)
        endpoint = options.get("endpoint_override") or os.environ.get("AWS_ENDPOINT_URL", "").rpartition("://")[2]
        host, path = (endpoint, f"/{bucket}/{key}") if endpoint else (f"{bucket}.s3.{region}.amazonaws.com", f"/{key}")
        access, secret, token = self._credentials()
        at = datetime.now(timezone.utc)
        digest = hashlib.sha256(content).hexdigest()
        signed = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": at.strftime("%Y%m%dT%H%M%SZ")}
        signed |= {"x-amz-security-token": token} if token else {}
        scope = f"{at:%Y%m%d}/{region}/s3/aws4_request"
        names = ";".join(sorted(signed))
        canonical = "\n".join(["PUT", path, "", *(f"{name}:{signed[name]}" for name in sorted(signed)), "", names, digest])
        text = "\n".join(["AWS4-HMAC-SHA256", signed["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
        own = f"AWS4{secret}".encode()
        for step in scope.split("/"):
            own = hmac.digest(own, step.encode(), "sha256")
        signature = hmac.digest(own, text.encode(), "sha256").hex()
        headers = dict(signed)
        headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={access}/{scope}, SignedHeaders={names}, Signature={signature}"
        headers |= {"If-Match": self._etag} if self._etag is not None else {"If-None-Match": "*"}
        connect = HTTPConnection if options.get("scheme") == "http" else HTTPSConnection
        connection = connect(host, timeout=TIMEOUT_S)
        try:
            connection.request("PUT", path, content, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, f"{answer.status} {answer.reason}"
        finally:
            connection.close()

    def _credentials(self) -> tuple[str, str, str | None]:
        parts = urlsplit(self.uri)
        if parts.username and parts.password:
            return unquote(parts.username), unquote(parts.password), None
        access, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
        if not access or not secret:
            raise Refused(
                f"{self.shown}: the keys for the commit are not known; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, for "
                "temporary keys)"
            )
        return access, secret, os.environ.get("AWS_SESSION_TOKEN")

    def is_empty(self) -> bool:
        """Whether there is nothing below the URI. Raises Unreadable."""
        self._sizes = self._listed()
        return not self._sizes

    def check(self) -> None:
        """Raises Refused if the keys for the commit are not known."""
        self._credentials()


def _pauses() -> Iterator[float | None]:
    """What to wait after each failed try; None after the last."""
    yield from (PAUSE_S * 2**n for n in range(TRIES - 1))
    yield None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
