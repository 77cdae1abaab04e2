"""python3 -m autograder notebooks: the lectures with all their outputs, to look at without running anything.

Every picture becomes an output that is a picture, widgets as they stand at their start: what shows notebooks on the web
runs no scripts and drops drawings inside HTML. `--branch` puts the files on a branch, where the hosting shows them.
"""

import argparse
import base64
import html
import os
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellExecutionError

from autograder.launcher import requirements, say
from autograder.launcher.environment import Environment
from autograder.site import publish
from autograder.site.kept import executed
from autograder.site.sheet import LIVE
from autograder.texts import glossary

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
_DRAWN = re.compile(r"<svg\b.*?</svg>|<img\b[^>]*>", re.S)
_SAID = re.compile(r'\b(?:aria-label|alt)="([^"]*)"')
_LAYOUT = re.compile(r"</?(?:div|section)\b[^>]*>|<template.*?</template>|<style.*?</style>", re.S)


def still(cells: Iterable[Any], widgets: Mapping[str, str]) -> None:
    """Make the outputs of these cells such that they can be seen anywhere."""
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = [made for output in cell["outputs"] for made in seen(output, widgets)]


def seen(output: Any, widgets: Mapping[str, str]) -> list[Any]:
    """One output as several: words, pictures and folded answers in their order; an answer's pictures in words."""
    data = output.get("data", {})
    if LIVE in data:
        return pieces(widgets.get(data[LIVE]["model_id"], ""))
    return pieces(data["text/html"]) if "text/html" in data else [output]


def pieces(markup: str) -> list[Any]:
    made, at = [], 0
    for found in [*_PART.finditer(markup), None]:
        words = _LAYOUT.sub("", markup[at : found.start() if found else None])
        if found and found["folded"]:  # a picture below it would give the answer away
            words += _DRAWN.sub(lambda each: f"<p><em>{''.join(_SAID.findall(each[0])[:1])}</em></p>", found["folded"])
        if re.sub(r"<[^>]*>|\s", "", words):
            made.append(_shown("text/html", words))
        if found and found["drawing"]:
            made.append(_shown("image/svg+xml", found["drawing"]))
        elif found and found["kind"]:
            content = found["content"]
            drawn = base64.b64decode(content).decode() if found["kind"] == "svg+xml" else content
            made.append(_shown(f"image/{found['kind']}", drawn))
        at = found.end() if found else 0
    return made


def _shown(kind: str, content: str) -> Any:
    said = _SAID.search(content)
    plain = html.unescape(said[1]) if said else ""
    return {"output_type": "display_data", "metadata": {}, "data": {kind: content, "text/plain": plain}}


def first_cell(root: Path, address: str) -> Any:
    """The cell that makes a lecture run on Colab. address: of the course's git repository."""
    wanted = requirements.read(root)
    packages = [line for line in wanted.base if requirements.named(line) not in NO_COLAB]
    carriers = [*wanted.no_deps, f"git+{address}"]
    lines = {name: " ".join(f'"{each}"' for each in there) for name, there in
             (("packages", packages), ("carriers", carriers))}  # fmt: skip
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "id": "on-colab", "metadata": {}}
    return {**cell, "outputs": [], "source": ON_COLAB.format(**lines)}


def to_look_at(root: Path, chosen: Iterable[Path], colab: str) -> dict[str, bytes]:
    """Every file, by its path. Raises CellExecutionError if a lecture does not run."""
    import nbformat

    files = {path.relative_to(root).as_posix(): path.read_bytes() for each in BESIDE for path in root.glob(each)}
    page = files["lectures/README.md"].decode()
    files["lectures/README.md"] = re.sub(r"(\d\d_\w+)\.py\)", r"\1.ipynb)", page).encode()
    for lecture in chosen:
        told, seconds = executed(lecture, root, root / "build" / "site")
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

    def git(*line: str, given: bytes = b"", **variables: str) -> str:
        env = {**os.environ, **variables}
        done = subprocess.run(["git", *line], cwd=root, input=given, capture_output=True, env=env)
        if done.returncode:
            raise say.SetupError(f"git {line[0]}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode().strip()

    where = f"refs/heads/{branch}"
    if git("rev-parse", "--symbolic-full-name", "HEAD") == where:
        raise say.SetupError(f"{branch} is the branch of this working tree; name another.")
    with tempfile.TemporaryDirectory() as folder:
        index = str(Path(folder) / "index")
        lines = (
            f"100644 {git('hash-object', '-w', '--stdin', given=content)}\t{name}" for name, content in files.items()
        )
        git("update-index", "--add", "--index-info", given="\n".join(lines).encode(), GIT_INDEX_FILE=index)
        tree = git("write-tree", GIT_INDEX_FILE=index)
    parents = [word for old in git("for-each-ref", "--format=%(objectname)", where).split() for word in ("-p", old)]
    source = git("rev-parse", "--short", "HEAD")
    git("update-ref", where, git("commit-tree", tree, *parents, "-m", f"The lectures with their outputs, of {source}"))


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
    try:
        chosen = publish.chosen_of(glossary.lectures(place.root), options.only)
    except LookupError as error:
        say.line(str(error))
        return 2
    try:
        files = to_look_at(place.root, chosen, options.colab)
    except CellExecutionError as error:
        say.line(f"A lecture does not run:\n{error}")
        return 1
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
