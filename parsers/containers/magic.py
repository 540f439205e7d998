"""Recognises a container by the first bytes of a stream.

Here: the forms that are read and those that are only named. Not here: the signatures of compressed streams (compression) and tar headers
(tar), or the kind of an unpacked file (parsers.sniff).
"""

from __future__ import annotations

import re

from parsers.containers.compression import SIGNATURES, compression
from parsers.containers.documents import may_be_document
from parsers.containers.mail import is_mail
from parsers.containers.tar import is_tar

_MAGIC = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PK\x07\x08PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7-Zip archive",
    b"Rar!\x1a\x07": "RAR archive",
    b"LZIP": "lzip file",
    b"\x04\x22\x4d\x18": "lz4 file",
    b"\x02\x21\x4c\x18": "lz4 file",
    b"\xff\x06\0\0sNaPpY": "snappy file",
    b"\x1f\x9d": "compress file",
    b"\x5d\0\0": "lzma file",
}
_DOCUMENTS = {
    b"%PDF-": "PDF",
    b"{\\rtf": "text with formats",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "Office file or a mail of Outlook",
    b"SQLite format 3\0": "SQLite database",
    b"LPKSHHRH": "file of the systemd journal",
    b"SEQ\x06": "Hadoop sequence file",
}
_OFFICE = re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]\.xml|_rels/|docProps/|xl/|word/|mimetypeapplication/vnd\.oasis)", re.DOTALL)
_TABLES = {b"ORC": "orc", b"ARROW1\0\0": "arrow", b"PAR1": "parquet", b"Obj\x01": "Avro file"}
_PRINTED = {
    "hexadecimal dump": re.compile(rb"0{7,8}:? (?: ?[0-9a-f]{2,4}){4,16} .*\n0{5,6}10:? "),
    "file in base64": re.compile(rb"(?:H4sI|UEsDB|KLUv/|/Td6WFo|QlpoO)[A-Za-z0-9+/]{40,}\r?(?:\n|\Z)"),
}
"""Bytes of a file that were printed; in base64 those of an archive."""
UNREAD = {form: "tar, zip, gz, bz2, xz and zst can" for form in _MAGIC.values() if " " in form} | {
    **dict.fromkeys(_DOCUMENTS.values(), "save its attachments as files, or its text as plain text"),
    "spreadsheet or text document": "save its sheets as CSV, with the columns of time, host and line, or its text as plain text",
    **dict.fromkeys(("Avro file", "SQLite database", "Hadoop sequence file"), "export its rows as JSON or CSV"),
    "hexadecimal dump": "hand over the file itself, or reverse it with xxd -r",
    "file in base64": "decode it with base64 -d",
    "file of the systemd journal": "export it with journalctl --file FILE -o json --all",
}
"""Forms that cannot be read here, and what can."""


_ARCHIVE_NAME = re.compile(r"\.(?:tar|zip|tgz|tbz2|txz|tar\.(?:gz|bz2|xz|zst))$", re.IGNORECASE)


def is_archive_name(name: str) -> bool:
    """Whether only archives have such a name."""
    return _ARCHIVE_NAME.search(name) is not None


def is_cut(content: bytes) -> bool:
    """Whether a file with this content is a container that ends within its signature."""
    return bool(content) and any(len(content) < len(magic) and magic.startswith(content) for magic in (*_MAGIC, *SIGNATURES))


def form_of(name: str, head: bytes) -> str:
    """A key of compression.DECOMPRESSORS or tables.TABLES, 'tar', 'zip', 'mail', one of UNREAD, 'document' or 'plain'."""
    if packed := compression(head):
        return packed
    if _OFFICE.match(head):
        return "spreadsheet or text document"
    for magic, form in (*_MAGIC.items(), *_DOCUMENTS.items()):
        if head.startswith(magic):
            return form
    for magic, form in _TABLES.items():
        if head.startswith(magic) and b"\0" in head:  # a text may begin with ORC
            return form
    if form := next((form for form, begins in _PRINTED.items() if begins.match(head)), ""):
        return form
    if is_tar(name, head):
        return "tar"
    return "mail" if is_mail(head) else "document" if may_be_document(name, head) else "plain"
