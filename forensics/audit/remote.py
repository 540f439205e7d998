"""The tables of an audit, or a case, in an S3 bucket: files that are needed are copied to a local directory, and what a run made is
committed back by one conditional put of the manifest.

Here: the copies, the commit, and who else committed in the meantime. Not here: evidence on object stores (parsers.containers.storage), or
what an audit's directory contains (archive, audited). pyarrow lists, reads and writes objects, but has no conditional put: the manifest is
put with a request that is signed here (AWS Signature Version 4), as are the other requests that change an object.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote, unquote, urlsplit

from forensics.audit.audited import CHECKED, MANIFEST, OWN, RUNNING
from forensics.case.read import Unreadable
from forensics.case.write import CaseRefused
from forensics.output.files import PART
from parsers.cached import cached_property
from parsers.containers.storage import silent_endpoint, without_secrets

TRIES = 4
"""How often an object is read or put if the store fails or cuts an answer."""
PAUSE_S = 0.2
"""Before the second try; twice as long before each further one."""
TIMEOUT_S = 60
AT_ONCE = 8
"""Objects that are copied at the same time."""
CHUNK = 16 << 20
_DENIED = re.compile(r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH")
_TRIED = re.compile("NETWORK_CONNECTION")
"""pyarrow's client has tried for about 6 s itself."""
_REFUSED = "the store refuses access; check the keys, and that these may list, read, write and delete objects there"
LOCAL = (f"{OWN}/staged/", f"{OWN}/lock", RUNNING, CHECKED)
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
        self._directory = Path()

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

    def pull(self, directory: Path) -> bool:
        """Makes the directory a copy that has only the manifest. Returns whether there is one. Raises Unreadable."""
        self._directory = directory
        manifest = self._read_manifest()
        if manifest is not None:
            _place(directory / self.manifest).write_bytes(manifest)
        return manifest is not None

    def bring(self, names: Iterable[str]) -> None:
        """Copies those of these files that are there and not yet in the copy. Raises Unreadable."""
        lacking = [name for name in dict.fromkeys(names) if not (self._directory / name).exists()]
        self._at_once(lambda name: self._try(lambda: self._read(name)), lacking)

    def bring_all(self) -> None:
        """Copies everything. Raises Unreadable."""
        self.bring(name for name in self.sizes if not name.startswith(LOCAL))

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """The size of each object, when this was first asked for. Raises Unreadable."""
        from pyarrow.fs import FileSelector

        files, base = self._there
        infos = self._try(lambda: files.get_file_info(FileSelector(base, recursive=True, allow_not_found=True)))
        return {info.path[len(base) + 1 :]: info.size for info in infos if info.type.name == "File"}

    def push(self, names: Collection[str]) -> None:
        """Commits these files: those of the copy are written, all others in the store are deleted. Raises Refused if another run committed
        since `pull`, or the store fails: then its tables are as they were."""
        directory = self._directory
        here = [name for name in sorted(names) if name != self.manifest and (directory / name).is_file()]
        changed = [name for name in here if self.sizes.get(name) != (directory / name).stat().st_size]
        self._at_once(lambda name: self._try(lambda: self._write(name)), changed)
        self._put((directory / self.manifest).read_bytes())
        gone = [name for name in self.sizes.keys() - set(names) if not name.startswith(LOCAL)]
        self._at_once(lambda name: self._try(lambda: self._done("DELETE", name)), gone)

    # objects

    def _at_once(self, do: Callable[[str], object], names: Sequence[str]) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(do, names):
                pass

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

    def _read(self, name: str) -> None:
        files, base = self._there
        place = _place(self._directory / name)
        part = place.with_name(f"{PART}{place.name}")
        try:
            with files.open_input_file(f"{base}/{name}") as source, part.open("wb") as out:
                while data := source.read(CHUNK):
                    out.write(data)
                if out.tell() < source.size():
                    raise EOFError("the store cut its answer")
            part.rename(place)
        except FileNotFoundError:
            part.unlink(missing_ok=True)

    def _write(self, name: str) -> None:
        files, base = self._there
        path = self._directory / name
        if path.stat().st_size <= CHUNK:
            self._done("PUT", name, path.read_bytes())
            return
        with path.open("rb") as content, files.open_output_stream(f"{base}/{name}", compression=None) as out:
            while data := content.read(CHUNK):
                out.write(data)

    def _done(self, method: str, name: str, content: bytes = b"") -> None:
        """Sends one request. pyarrow needs three to write or delete an object. Raises OSError."""
        status, why = self._answer(method, name, content, {})
        if status == 404 and method == "PUT":
            raise FileNotFoundError("there is no such bucket; create it, or check the URI")
        if status == 403:
            raise PermissionError(f"{_REFUSED} ({why})")
        if not 200 <= status < 300 and status != 404:
            raise OSError(f"the store refused to {'write' if method == 'PUT' else 'delete'} {name} ({why})")

    def _try(self, do: Callable[[], Done]) -> Done:
        for pause in _pauses():
            try:
                return do()
            except Exception as error:  # a store's client raises its own errors
                lasting = isinstance(error, FileNotFoundError | PermissionError) or _DENIED.search(str(error))
                if lasting or pause is None or _TRIED.search(str(error)):
                    raise Unreadable(f"{self.shown}: {self._words(error)}") from None
                time.sleep(pause)
        raise AssertionError

    def _words(self, error: Exception) -> str:
        if (silent := silent_endpoint(self.uri, error)) is not None:
            return silent
        words = without_secrets(" ".join(str(error).split()))[:300]
        denied = _DENIED.search(words)
        return f"{_REFUSED} ({denied[0]})" if denied is not None else words

    # the commit

    def _put(self, content: bytes) -> None:
        condition = {"If-Match": self._etag} if self._etag is not None else {"If-None-Match": "*"}
        for pause in _pauses():
            why = ""
            try:
                status, why = self._answer("PUT", self.manifest, content, condition)
            except (OSError, HTTPException) as error:
                status, why = 0, self._words(error)
            if 200 <= status < 300:
                return
            if status in (409, 412):
                if self._read_manifest() == content:  # an earlier try succeeded, and its answer was lost
                    return
                raise CaseRefused(f"{self.shown}: another run was committed there in the meantime; run this one again")
            if 0 < status < 500 or pause is None:
                raise CaseRefused(f"{self.shown}: the store did not accept the manifest ({why or status}); its tables are as they were")
            time.sleep(pause)

    def _answer(self, method: str, name: str, content: bytes, condition: Mapping[str, str]) -> tuple[int, str]:
        """Status and reason of the answer to a signed request for an object. Raises OSError or HTTPException."""
        parts = urlsplit(self.uri)
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        bucket = parts.netloc.rpartition("@")[2]
        key = quote("/".join(step for step in (unquote(parts.path).strip("/"), name) if step), safe="/~")
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
        canonical = "\n".join([method, path, "", *(f"{name}:{signed[name]}" for name in sorted(signed)), "", names, digest])
        text = "\n".join(["AWS4-HMAC-SHA256", signed["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
        own = f"AWS4{secret}".encode()
        for step in scope.split("/"):
            own = hmac.digest(own, step.encode(), "sha256")
        signature = hmac.digest(own, text.encode(), "sha256").hex()
        headers = signed | dict(condition)
        headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={access}/{scope}, SignedHeaders={names}, Signature={signature}"
        connect = HTTPConnection if options.get("scheme") == "http" else HTTPSConnection
        connection = connect(host, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, content, headers)
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
            raise CaseRefused(
                f"{self.shown}: the keys for the commit are not known; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, for "
                "temporary keys)"
            )
        return access, secret, os.environ.get("AWS_SESSION_TOKEN")

    def check(self) -> None:
        """Raises Refused if the keys for the commit are not known, and Unreadable if these may not write, or there is no such bucket: a run
        must not find that out at its end."""
        self._credentials()
        for method in ("PUT", "DELETE"):
            self._try(lambda method=method: self._done(method, RUNNING))  # type: ignore[misc]


def _pauses() -> Iterator[float | None]:
    """What to wait after each failed try; None after the last."""
    yield from (PAUSE_S * 2**n for n in range(TRIES - 1))
    yield None


def _place(path: Path) -> Path:
    """The path, in a directory that exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
