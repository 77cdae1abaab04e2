"""Students' notebooks in JupyterLab: read-only, and without anything that would act when they are opened or saved.

A notebook's metadata, or a `jupytext.json` next to it, may name text files that Jupytext writes whenever the notebook
is saved: any file of the course, including its settings. And a notebook's outputs run once somebody trusts it.

`plainly` is for notebooks opened in a tab, `without_scripts` for pages that Jupyter shows: files, exported notebooks.
"""

import inspect
import posixpath
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from traitlets.config import Config

_KEPT = {"text/plain", "image/png", "image/jpeg"}
_KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def plainly(contents: Any, folders: Sequence[str]) -> None:
    """Let a Jupyter contents manager read and write everything below these folders (paths from its root) without
    Jupytext: notebooks are read-only, with their cells' text and pictures. Call it once for each manager."""
    if hasattr(contents, "handed_in"):
        return
    base = getattr(contents, "super", contents)  # what Jupytext's manager is derived from
    ordinary, plain, ordinary_save, plain_save = contents.get, base.get, contents.save, base.save

    def theirs(path: str) -> bool:
        inside = posixpath.normpath("/" + path.lstrip("/"))
        return any(f"{inside}/".startswith(f"/{folder}/") for folder in folders)

    contents.handed_in = theirs

    def get(path: str, *rest: Any, **more: Any) -> Any:
        return _for_reading(plain(path, *rest, **more)) if theirs(path) else ordinary(path, *rest, **more)

    async def get_later(path: str, *rest: Any, **more: Any) -> Any:
        return _for_reading(await plain(path, *rest, **more)) if theirs(path) else await ordinary(path, *rest, **more)

    def save(model: Any, path: str = "") -> Any:
        return (plain_save if theirs(path) else ordinary_save)(model, path)

    async def save_later(model: Any, path: str = "") -> Any:
        return await save(model, path)

    later = inspect.iscoroutinefunction(ordinary)
    contents.get, contents.save = (get_later, save_later) if later else (get, save)


def _for_reading(model: dict[str, Any]) -> dict[str, Any]:
    if model.get("type") == "notebook":
        model["writable"] = False
        if model.get("content"):
            model["content"]["metadata"] = {"kernelspec": dict(_KERNEL)}
            for cell in model["content"]["cells"]:
                for output in cell.get("outputs", []):
                    if "data" in output:
                        output["data"] = {kind: data for kind, data in output["data"].items() if kind in _KEPT}
    return model


def without_scripts(handler: Any, before: int, policy: str, settings: dict[str, Any]) -> None:
    """Give a class of Jupyter's handlers this policy and these settings of nbconvert for submissions. before: the
    number of parts of an address before the path."""
    usual = handler.content_security_policy

    def theirs(self: Any) -> bool:
        path = unquote(self.request.path)[len(self.base_url) :].split("/", before)[before:]
        return bool(path) and getattr(self.contents_manager, "handed_in", lambda path: False)(path[0])

    def config(self: Any) -> Any:
        own = Config(self.settings["config"])
        if theirs(self):
            own.merge(Config(settings))
        return own

    handler.content_security_policy = property(lambda self: policy if theirs(self) else usual.fget(self))
    handler.config = property(config)
