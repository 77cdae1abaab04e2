"""Many drawn states as one small script: the pieces that they share are in it once.

Two states of a picture differ in a few tags. So every picture is the numbers of its tags in one table, and gzip, which
looks 32 KB back, stores a row of numbers like the one before as little more than the differences. A script and not a
file of data, since a page that was opened from a folder may not read files.
"""

import base64
import gzip
import json
import re
from collections.abc import Sequence
from typing import Any


def packed(tree: Any, options: Sequence[Any], pictures: Sequence[str]) -> str:
    """A script that hands `{tree, options, table, pictures}` to the page."""
    table: dict[str, int] = {}
    rows = [[table.setdefault(piece, len(table)) for piece in re.split("(?=<)", picture)] for picture in pictures]
    return script({"tree": tree, "options": options, "table": list(table), "pictures": rows})


def script(value: Any) -> str:
    """A script that hands a value to the page, as JSON."""
    return handing(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def handing(content: bytes, how: str = "", level: int = 9) -> str:
    """A script that hands bytes to the page by `nlm.take`: as `how`, a method of the browser's Response, or as JSON."""
    data = base64.b64encode(gzip.compress(content, level, mtime=0)).decode()
    return f'nlm.take("{data}", "{how}")' if how else f'nlm.take("{data}")'


def taken(script: str) -> bytes:
    """What a script hands to the page."""
    return gzip.decompress(base64.b64decode(script.split('"')[1]))
