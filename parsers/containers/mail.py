"""Mails and boxes of mails: their texts and attachments as members.

Here: the parts of a mail. Not here: what an attachment contains (walk).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from io import BytesIO
from itertools import pairwise
from typing import IO

from parsers.containers.names import clean
from parsers.containers.streams import Entry
from parsers.schemas import Member

_HEADERS = re.compile(rb"(?:From [^\r\n]+\r?\n)?(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){3}")
_OF_MAIL = re.compile(rb"(?mi)^(?:subject|from|to|date|mime-version|message-id|content-type):")
_LEAST = 3
_NEXT = re.compile(rb"(?m)^From \S+ +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d ")
MAX_MAILS = 256 << 20
"""Bytes of a file of mails: it is decoded in memory."""


def is_mail(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a mail, or a box of mails."""
    found = _HEADERS.match(head)
    return found is not None and len({name.lower() for name in _OF_MAIL.findall(found[0])}) >= _LEAST


def mail_entries(stream: IO[bytes]) -> Iterator[Entry]:
    """The text and the attachments of each mail. Raises OSError if the file is too large."""
    data = stream.read(MAX_MAILS + 1)
    if len(data) > MAX_MAILS:
        raise OSError(f"larger than {MAX_MAILS >> 20} MiB; save the attachments as files")
    begins = [found.start() for found in _NEXT.finditer(data)] or [0]
    for number, (begin, end) in enumerate(pairwise([*begins, len(data)]), 1):
        mail = message_from_bytes(data[begin:end], policy=policy.default)
        folder = f"mail {number}/" if len(begins) > 1 else ""
        assert isinstance(mail, EmailMessage)
        body = mail.get_body(("plain", "html"))
        for place, part in enumerate((*([body] if body is not None else []), *mail.iter_attachments()), 1):
            inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" else None
            content = bytes(inner) if isinstance(inner, EmailMessage) else part.get_payload(decode=True)
            name = clean(part.get_filename() or "") or f"part-{place}.{'eml' if inner else part.get_content_subtype()}"
            if isinstance(content, bytes):
                yield Member(folder + name, len(content), None), BytesIO(content).read, None
