"""A course and its packages, for tests of the environment."""

from pathlib import Path

from autograder.launcher.requirements import Wanted

WANTED = Wanted(
    name="thecourse",
    python=">=3.11",
    base=["torch>=2,<3", "numpy>=1.5"],
    extras={"tests": ["pytest>=8"]},
    no_deps=["weights==1.0"],
    torch="2.5",
    build=["setuptools>=77"],
)


def add(site: Path, name: str, version: str, course: Path | None = None) -> Path:
    """A wheel as pip leaves it: one module, METADATA and RECORD. course: the checkout that it is installed from."""
    info, content = site / f"{name}-{version}.dist-info", "x = 1\n"
    (site / name).mkdir(parents=True, exist_ok=True)
    info.mkdir()
    (site / name / "__init__.py").write_text(content)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    rows = [f"{name}/__init__.py,sha256=0,{len(content)}", f"../../../bin/{name},sha256=0,77"]
    rows += [f"{name}/__pycache__/a.pyc,,", f"{info.name}/RECORD,,"]
    (info / "RECORD").write_text("\n".join(rows) + "\n")
    if course is not None:
        (info / "direct_url.json").write_text(f'{{"dir_info": {{"editable": true}}, "url": "{course.as_uri()}"}}')
    return info
