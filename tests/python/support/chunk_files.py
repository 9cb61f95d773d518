"""Chunk files with other contents and a right checksum (docs/reference/run-folder.md, Chunk files)."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path


def cbor_head(major: int, n: int) -> bytes:
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if n < 24:
            return bytes([major << 5 | n])
        if n < 1 << 8 * size:
            return bytes([major << 5 | info]) + n.to_bytes(size, "big")
    raise ValueError(n)


def cbor(x) -> bytes:
    """What nlohmann's reader takes; an own text, so that a forged chunk has a right form."""
    if isinstance(x, bool) or x is None:
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[x]
    if isinstance(x, int):
        return cbor_head(0, x) if x >= 0 else cbor_head(1, -1 - x)
    if isinstance(x, float):
        return b"\xfb" + struct.pack(">d", x)
    if isinstance(x, bytes):
        return cbor_head(2, len(x)) + x
    if isinstance(x, str):
        return cbor_head(3, len(x.encode())) + x.encode()
    if isinstance(x, list):
        return cbor_head(4, len(x)) + b"".join(map(cbor, x))
    return cbor_head(5, len(x)) + b"".join(cbor(k) + cbor(v) for k, v in x.items())


def uncbor(b: bytes, at: int = 0):
    major, info = b[at] >> 5, b[at] & 31
    at += 1
    if major == 7:
        if info < 24:
            return {20: False, 21: True, 22: None}[info], at
        size = {25: 2, 26: 4, 27: 8}[info]
        return float(struct.unpack({2: ">e", 4: ">f", 8: ">d"}[size], b[at : at + size])[0]), at + size
    n, size = (info, 0) if info < 24 else (0, 1 << (info - 24))
    if size:
        n, at = int.from_bytes(b[at : at + size], "big"), at + size
    if major in (0, 1):
        return (n if major == 0 else -1 - n), at
    if major in (2, 3):
        return (b[at : at + n] if major == 2 else b[at : at + n].decode()), at + n
    items = []
    for _ in range(n * (major - 3)):
        item, at = uncbor(b, at)
        items.append(item)
    return (items if major == 4 else dict(zip(items[::2], items[1::2]))), at


def write_chunk(file: Path, body: bytes) -> None:
    file.write_bytes(body + zlib.crc32(body).to_bytes(4, "little"))


def forge(file: Path, change) -> None:
    """Rewrites a chunk with a right checksum."""
    document, _ = uncbor(file.read_bytes()[:-4])
    changed = change(document)
    write_chunk(file, cbor(changed if isinstance(changed, dict | list) else document))
