"""An image of bytes as a PNG, with the standard library alone: a picture inside an SVG needs no file beside it."""

import base64
import struct
import zlib

import numpy as np


def png_address(pixels: np.ndarray, level: int = 9) -> str:
    """Bytes (row, column), grey, or (row, column, 3), red, green and blue, as a data address that an <image> shows.

    The file is header, one compressed block, end (ISO/IEC 15948). `level` is zlib's: 1 is fast, 9 is small.
    """
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 else 0
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # 0: no filter
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), level)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()
