"""Animated WebP from single pictures: the container alone, since Qt writes WebP pictures but no animations.

Covers putting frames together (RFC 9649, section 2.7). Compressing a picture is Qt's; nothing here knows Qt.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ANIMATION, ALPHA = 0x02, 0x10  # flags of VP8X
PICTURE = (b"ALPH", b"VP8 ", b"VP8L")


@dataclass(frozen=True, slots=True)
class Frame:
    """A still WebP that's laid over what was shown before, at (x, y), both even, for so many milliseconds."""

    still: bytes
    x: int
    y: int
    width: int
    height: int
    milliseconds: int


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name, content) of each chunk of a WebP file. Raises ValueError where it isn't one."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise ValueError("not a WebP file")
    at = 12
    while at + 8 <= len(data):
        size = struct.unpack_from("<I", data, at + 4)[0]
        yield data[at : at + 4], data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2


def animated(frames: Iterable[Frame], width: int, height: int) -> bytes:
    """The file. Frames are neither blended nor disposed of: each simply covers its rectangle. It's repeated for ever."""
    body = [_chunk(b"VP8X", bytes([ANIMATION, 0, 0, 0]) + _three(width - 1) + _three(height - 1))]
    body.append(_chunk(b"ANIM", b"\xff\xff\xff\xff" + struct.pack("<H", 0)))
    for frame in frames:
        if frame.x % 2 or frame.y % 2:
            raise ValueError("a frame's place is in steps of two pixels")
        place = _three(frame.x // 2) + _three(frame.y // 2) + _three(frame.width - 1) + _three(frame.height - 1)
        head = place + _three(min(frame.milliseconds, 0xFFFFFF)) + bytes([0x02])  # don't blend; leave it standing
        picture = b"".join(_chunk(name, content) for name, content in chunks(frame.still) if name in PICTURE)
        body.append(_chunk(b"ANMF", head + picture))
    inside = b"WEBP" + b"".join(body)
    return b"RIFF" + struct.pack("<I", len(inside)) + inside


def _three(n: int) -> bytes:
    return struct.pack("<I", n)[:3]


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)
