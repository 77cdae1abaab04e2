"""A notebook that was handed in, opened in JupyterLab with Jupytext, writes nothing elsewhere and does nothing."""

import asyncio
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager, LargeFileManager
from jupytext.async_contentsmanager import build_async_jupytext_contents_manager_class
from jupytext.sync_contentsmanager import build_sync_jupytext_contents_manager_class
from nbformat.v4 import new_code_cell, new_notebook

from autograder.feedback.handed_in import plainly

pytestmark = pytest.mark.filterwarnings("ignore")
MANAGERS = [
    build_async_jupytext_contents_manager_class(AsyncLargeFileManager),
    build_sync_jupytext_contents_manager_class(LargeFileManager),
    AsyncLargeFileManager,
]
PLACE = "submitted/ada/attention/nbgrader_config.ipynb"


def hostile() -> Any:
    shown = {"output_type": "display_data", "data": {"text/html": "<script>", "text/plain": "x"}, "metadata": {}}
    notebook = new_notebook(cells=[new_code_cell("evil = 1", outputs=[nbformat.from_dict(shown)])])
    notebook.metadata.update(jupytext={"formats": "submitted/ada/attention//ipynb,///py:percent"}, widgets={"x": 1})
    return notebook


async def done(result: Any) -> Any:
    return await result if asyncio.iscoroutine(result) else result


@pytest.fixture(params=MANAGERS, ids=["async", "sync", "without Jupytext"])
def contents(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = request.param()
    made.root_dir = str(tmp_path)
    (tmp_path / PLACE).parent.mkdir(parents=True)
    (tmp_path / "lectures").mkdir()
    nbformat.write(hostile(), tmp_path / PLACE)
    plainly(made, ["submitted"])
    plainly(made, ["submitted"])  # Formgrader reads its settings again and again
    return made


def test_opened_and_saved_it_writes_no_other_file(contents: Any, tmp_path: Path) -> None:
    async def use() -> Any:
        model = await done(contents.get(PLACE, content=True))
        await done(contents.save({"type": "notebook", "content": hostile(), "format": "json"}, PLACE))
        await done(contents.save({"type": "notebook", "content": hostile(), "format": "json"}, f"/{PLACE}"))
        await done(contents.copy(PLACE, "lectures"))
        return model

    model = asyncio.run(use())
    assert model["writable"] is False
    assert set(model["content"]["metadata"]) == {"kernelspec"}
    assert [set(output["data"]) for output in model["content"]["cells"][0]["outputs"]] == [{"text/plain"}]
    assert list(tmp_path.rglob("*.py")) == []
    assert "jupytext" not in nbformat.read(tmp_path / "lectures/nbgrader_config.ipynb", as_version=4).metadata


def test_a_pair_of_the_course_stays_a_pair_and_folders_are_listed(contents: Any, tmp_path: Path) -> None:
    own = hostile()
    own.metadata["jupytext"] = {"formats": "ipynb,py:percent"}

    async def use() -> Any:
        await done(contents.save({"type": "notebook", "content": own, "format": "json"}, "lectures/a.ipynb"))
        return await done(contents.get("submitted/ada/attention", content=True))

    listed = asyncio.run(use())
    assert [entry["path"] for entry in listed["content"]] == [PLACE]
    assert (tmp_path / "lectures/a.py").exists() == hasattr(contents, "paired_notebooks")
