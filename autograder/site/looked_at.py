"""python3 -m autograder notebooks: the lectures with all their outputs, to look at without running anything.

Every picture becomes an output that is a picture, widgets as they stand at their start: what shows notebooks on the web
runs no scripts and drops drawings inside HTML. `--branch` puts the files on a branch, where the hosting shows them.
"""

import argparse
import base64
import html
import re
import subprocess
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.launcher import requirements, say
from autograder.launcher.environment import Environment
from autograder.site.kept import chosen, executed
from autograder.site.sheet import LIVE

ON_COLAB = """\
# On Colab, this installs the course, once per session, in a minute or two. Elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install -q {packages}
    %pip install -q --no-deps {carriers}"""
NO_COLAB = {"torch", "jupyterlab", "nbgrader", "jupytext", "ipykernel", "nbclient"}
"""What Colab has in its own version, and what only a JupyterLab of one's own needs."""
BESIDE = ("lectures/figures/*.svg", "lectures/figures/*.png", "lectures/*.md", "exercises/*.md", "exercises/*/*.ipynb")
_PART = re.compile(
    r"(?P<folded><details.*?</details>)|(?P<drawing><svg\b.*?</svg>)"
    r'|<img\b[^>]*?src="data:image/(?P<kind>svg\+xml|png);base64,(?P<content>[^"]+)"[^>]*>',
    re.S,
)
_PARTS = ("folded", "drawing", "kind", "content")
_DRAWN = re.compile(r"<svg\b.*?</svg>|<img\b[^>]*>", re.S)
_SAID = re.compile(r'\b(?:aria-label|alt)="([^"]*)"')
_LAYOUT = re.compile(r"</?(?:div|section)\b[^>]*>|<template.*?</template>|<style.*?</style>", re.S)


def still(cells: Iterable[Any], widgets: Mapping[str, str]) -> None:
    """Make the outputs of these cells such that they can be seen anywhere: words, pictures and folded answers in their
    order, an answer's pictures in words."""

    def seen(output: Any) -> list[Any]:
        data = output.get("data", {})
        if LIVE in data:
            return pieces(widgets.get(data[LIVE]["model_id"], ""))
        return pieces(data["text/html"]) if "text/html" in data else [output]

    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = [made for output in cell["outputs"] for made in seen(output)]


def pieces(markup: str) -> list[Any]:
    made, at = [], 0
    for found in [*_PART.finditer(markup), None]:
        words = _LAYOUT.sub("", markup[at : found.start() if found else None])
        at = found.end() if found else 0
        folded, drawing, kind, content = (found.group(name) if found else "" for name in _PARTS)
        if folded:  # a picture below it would give the answer away
            words += _DRAWN.sub(lambda each: f"<p><em>{''.join(_SAID.findall(each[0])[:1])}</em></p>", folded)
        if re.sub(r"<[^>]*>|\s", "", words):
            made.append(_shown("text/html", words))
        if kind == "svg+xml":
            drawing = base64.b64decode(content).decode()
        if drawing:
            made.append(_shown("image/svg+xml", drawing))
        elif kind:
            made.append(_shown("image/png", content))
    return made


def _shown(kind: str, content: str) -> Any:
    said = _SAID.search(content)
    plain = html.unescape(said[1]) if said else ""
    return {"output_type": "display_data", "metadata": {}, "data": {kind: content, "text/plain": plain}}


def first_cell(root: Path, address: str) -> Any:
    """The cell that makes a lecture run on Colab. address: of the course's git repository."""
    import nbformat

    wanted = requirements.read(root)
    lines = {
        "packages": [line for line in wanted.base if requirements.named(line) not in NO_COLAB],
        "carriers": [*wanted.no_deps, f"git+{address}"],
    }
    quoted = {name: " ".join(f'"{each}"' for each in there) for name, there in lines.items()}
    return nbformat.v4.new_code_cell(ON_COLAB.format(**quoted), id="on-colab")


def to_look_at(root: Path, lectures: Iterable[Path], colab: str) -> dict[str, bytes]:
    """Every file, by its path."""
    import nbformat

    files = {path.relative_to(root).as_posix(): path.read_bytes() for each in BESIDE for path in root.glob(each)}
    page = files["lectures/README.md"].decode()
    files["lectures/README.md"] = re.sub(r"(\d\d_\w+)\.py\)", r"\1.ipynb)", page).encode()
    for lecture in lectures:
        told, seconds = executed(lecture, root)
        notebook = told["notebook"]
        still(notebook["cells"], told["html"])
        if colab:
            notebook["cells"].insert(0, first_cell(root, colab))
        text = nbformat.writes(nbformat.from_dict(notebook))
        files[f"lectures/{lecture.stem}.ipynb"] = text.encode()
        say.line(f"{lecture.stem}: {len(text) / 1e3:.0f} KB" + (f", executed in {seconds:.0f} s" if seconds else ""))
    return files


def commit(root: Path, branch: str, files: Mapping[str, bytes]) -> None:
    """Make these files, and no others, the newest state of a branch; the working tree stays as it is."""

    def git(*line: str, given: bytes = b"") -> str:
        done = subprocess.run(["git", *line], cwd=root, input=given, capture_output=True)
        if done.returncode:
            raise say.SetupError(f"git {line[0]}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode().strip()

    where = f"refs/heads/{branch}"
    if git("rev-parse", "--symbolic-full-name", "HEAD") == where:
        raise say.SetupError(f"{branch} is the branch of this working tree; name another.")
    told = f"The lectures with their outputs, of {git('rev-parse', '--short', 'HEAD')}\n"
    parent = f"from {where}^0\n" if git("for-each-ref", where) else ""
    head = f"commit {where}\ncommitter {git('var', 'GIT_COMMITTER_IDENT')}\ndata {len(told)}\n{told}{parent}deleteall"
    parts = (f"M 100644 inline {name}\ndata {len(content)}\n".encode() + content for name, content in files.items())
    git("fast-import", "--quiet", given=b"\n".join([head.encode(), *parts]))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python3 -m autograder notebooks", description=__doc__.partition("\n")[0])
    made.add_argument("--only", action="append", metavar="LECTURE", help="its number or its topic; by default all")
    made.add_argument("--out", type=Path, help="the zip (by default release/notebooks.zip)")
    made.add_argument("--branch", help="also put the files on this branch")
    made.add_argument("--colab", default="", metavar="URL", help="begin each with a cell that installs the course")
    return made


def write(place: Environment, rest: list[str]) -> int:
    """Write the archive."""
    options = parser().parse_args(rest)
    files = to_look_at(place.root, chosen(place.root, options.only), options.colab)
    out: Path = options.out or place.root / "release" / "notebooks.zip"
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    say.line(f"{out}: {out.stat().st_size / 1e6:.1f} MB")
    if options.branch:
        commit(place.root, options.branch, files)
        say.line(f"On the branch {options.branch}. To show it: git push origin {options.branch}")
    return 0


write.parser = parser  # type: ignore[attr-defined]
