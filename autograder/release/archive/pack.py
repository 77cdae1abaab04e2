"""A zip with the same bytes for the same files: names in order, one date, one set of permissions."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

TOP = "neural-language-models"
"""The one folder that a student finds in the zip, and its name without the ending."""
DATE = (1980, 1, 1, 0, 0, 0)


def pack(files: Mapping[str, bytes], path: Path) -> None:
    """Write the zip at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    try:
        with zipfile.ZipFile(temporary, "w") as archive:
            for name in sorted(files):
                entry = zipfile.ZipInfo(f"{TOP}/{name}", DATE)
                entry.create_system = 3  # permissions are Unix's, wherever this runs
                entry.external_attr = 0o100644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, files[name], compresslevel=9)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
