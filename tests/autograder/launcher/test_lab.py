"""JupyterLab's command line and settings; and a real server that shows what they come to."""

import contextlib
import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.launcher import environment, lab
from autograder.launcher.environment import Environment
from autograder.texts import exercises, notebooks
from tests.lab import PATIENCE, expect, running_chromium

ROOT = Path(__file__).resolve().parents[3]
NBGRADER = re.compile("Validate|Nbgrader|Create Assignment|Assignment List")


@pytest.fixture
def place(tmp_path: Path) -> Environment:
    prefix = tmp_path / ".venv"
    return Environment(tmp_path, prefix, prefix / "bin" / "python", prefix / "site")


def lectures(place: Environment, *names: str) -> None:
    (place.root / "lectures").mkdir()
    for name in names:
        (place.root / "lectures" / name).write_text("# %%\n1\n")


def test_the_lecture_with_the_lowest_number_is_opened(place: Environment) -> None:
    assert lab.lecture_called(place.root) is None
    lectures(place, "11_attention.py", "2_vectors.py", "helper.py", "100_more.py")
    assert lab.lecture_called(place.root) == place.root / "lectures" / "2_vectors.ipynb"
    assert "--LabApp.default_url=/welcome/lectures/2_vectors.ipynb" in lab.command(place, [], {})


@pytest.mark.parametrize(
    ("name", "found"),
    [("2", "02_vectors"), ("11", "11_attention"), ("Atten", "11_attention"), ("3", None), ("x", None)],
)
def test_a_lecture_is_found_by_number_or_name(place: Environment, name: str, found: str | None) -> None:
    lectures(place, "02_vectors.py", "11_attention.py", "helper.py")
    lecture = lab.lecture_called(place.root, name)
    assert (lecture and lecture.stem) == found
    if lecture is not None:
        line = lab.command(place, ["--port", "9999"], {}, present=lecture)
        assert f"--LabApp.default_url=/present/lectures/{found}.ipynb" in line
        assert line[-2:] == ["--port", "9999"]


def test_what_the_user_asks_for_comes_last(place: Environment) -> None:
    line = lab.command(place, ["--no-browser", "--port", "9999"], {})
    assert line[1:3] == ["-m", "jupyterlab"]
    assert line[-3:] == ["--no-browser", "--port", "9999"]


@pytest.mark.parametrize(("value", "option"), [("none", "--no-browser"), ("firefox", "--browser=firefox"), ("", None)])
def test_the_browser_can_be_named(place: Environment, value: str, option: str | None) -> None:
    line = lab.command(place, [], {"NLM_BROWSER": value})
    assert [word for word in line if word.startswith(("--browser", "--no-browser"))] == ([option] if option else [])


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no root there")
def test_root_is_allowed_and_others_do_not_ask_for_it(place: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--allow-root" in lab.command(place, [], {})
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--allow-root" not in lab.command(place, [], {})


def test_the_environments_own_kernel_and_settings_come_first(place: Environment) -> None:
    given = {"JUPYTER_PATH": "/theirs", "PYTHONPATH": "/elsewhere", "PATH": "/usr/bin"}
    result = lab.variables(place, given)
    settings = str(place.root / "autograder" / "present")
    assert result["JUPYTER_PATH"].split(os.pathsep) == [str(place.prefix / "share" / "jupyter"), settings, "/theirs"]
    assert result["JUPYTER_CONFIG_PATH"] == settings
    assert lab.variables(place, given, reading=True)["JUPYTER_CONFIG_PATH"].split(os.pathsep)[1:] == [settings]
    assert result["PATH"].split(os.pathsep)[0] == str(place.python.parent)
    assert "PYTHONPATH" not in result
    assert given["PYTHONPATH"] == "/elsewhere"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """JupyterLab as `make lab` starts it, on a course of one lecture, for a user with a false kernel at home."""
    root, home = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("home")
    (root / "lectures").mkdir()
    link = "[one](../exercises/one/one.ipynb)"
    (root / "lectures" / "01_first.py").write_text(f"# %% [markdown]\n# # First\n#\n# {link}\n\n# %%\n1 + 1\n")
    (root / "exercises" / "one").mkdir(parents=True)
    empty = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "exercises" / "one" / "one.ipynb").write_text(json.dumps(empty))
    exercises.hand_out(root)
    (root / "lectures" / "figures").mkdir()
    (root / "autograder").symlink_to(ROOT / "autograder")
    (root / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    notebooks.build(root)
    false = home / ".local" / "share" / "jupyter" / "kernels" / "python3"
    false.mkdir(parents=True)
    spec = {"argv": ["/nowhere/python", "-f", "{connection_file}"], "display_name": "False", "language": "python"}
    (false / "kernel.json").write_text(json.dumps(spec))

    here = environment.locate(ROOT, here=True)
    place = Environment(root, here.prefix, here.python, here.site)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    asked = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=abc"]
    line = lab.command(place, asked, {})
    environ = lab.variables(place, {**os.environ, "HOME": str(home)}, reading=True)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "XDG_DATA_HOME", "JUPYTER_TOKEN"):
        environ.pop(name, None)
    log = home / "lab.log"
    with log.open("wb") as out:
        process = subprocess.Popen(line, cwd=root, env=environ, stdout=out, stderr=subprocess.STDOUT)
    try:
        base, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 90 * PATIENCE
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{base}/api?token=abc", timeout=5):
                break
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield base, "abc", root
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def ask(server: tuple[str, str, Path], path: str, method: str = "GET", body: object = None) -> dict:
    base, token, _ = server
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60 * PATIENCE) as answer:
        return json.load(answer)


def opened(address: str) -> str:
    """Where a browser that knows nothing of the server arrives."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(address, timeout=60 * PATIENCE) as answer:
        return answer.url


@pytest.mark.slow
def test_the_addresses_that_are_printed_lead_to_the_first_lecture(server: tuple[str, str, Path]) -> None:
    base, token, root = server
    here = Environment(root, root, root, root)
    for first, view, present in (("welcome", "lab", None), ("present", "doc", lab.lecture_called(root))):
        (page,) = (word.partition("default_url=")[2] for word in lab.command(here, [], {}, present) if "_url" in word)
        # As JupyterLab prints it.
        assert opened(f"{base}{page}?token={token}") == f"{base}/{view}/tree/lectures/01_first.ipynb?{first}"
        assert "/login?" in opened(f"{base}{page}")
    assert opened(f"{base}/?token={token}").startswith(f"{base}/lab/tree/lectures/01_first.ipynb?welcome")


@pytest.mark.slow
def test_no_news_are_fetched_and_no_updates_looked_for(server: tuple[str, str, Path]) -> None:
    answer = ask(server, "/lab/api/settings/@jupyterlab/apputils-extension:notification")
    defaults = {name: about["default"] for name, about in answer["schema"]["properties"].items() if "default" in about}
    assert defaults["fetchNews"] == "false"
    assert defaults["checkForUpdates"] is False


@pytest.mark.slow
def test_the_file_browser_shows_what_is_read_and_nothing_else(server: tuple[str, str, Path]) -> None:
    listed = {entry["name"] for entry in ask(server, "/api/contents/lectures")["content"]}
    assert listed == {"01_first.ipynb"}
    assert {entry["name"] for entry in ask(server, "/api/contents/")["content"]} == {"lectures", "work"}


def test_an_instructor_is_offered_formgrader_and_a_reader_is_not() -> None:
    files = (ROOT / folder / "labconfig" / "page_config.json" for folder in (lab.SETTINGS, lab.READING))
    disabled = [json.loads(file.read_text("utf-8"))["disabledExtensions"] for file in files]
    assert ["@jupyter/nbgrader:formgrader" in names for names in disabled] == [False, True]


@pytest.mark.slow
def test_the_kernel_is_the_environments_own(server: tuple[str, str, Path]) -> None:
    specs = ask(server, "/api/kernelspecs")
    assert specs["default"] == "python3"
    assert specs["kernelspecs"]["python3"]["spec"]["display_name"] != "False"


@pytest.mark.slow
def test_saving_in_the_lab_writes_the_text_and_nothing_but_the_change(server: tuple[str, str, Path]) -> None:
    root = server[2]
    path = "/api/contents/lectures/01_first.ipynb"
    source = root / "lectures" / "01_first.py"
    before = source.read_text()
    notebook = ask(server, path)["content"]
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"  # no question which kernel to take
    notebook["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "2"}]
    notebook["cells"][1]["execution_count"] = 1
    notebook["metadata"]["language_info"] = {"name": "python", "version": "3.99"}
    ask(server, path, "PUT", {"type": "notebook", "format": "json", "content": notebook})
    assert source.read_text() == before
    notebook["cells"][1]["source"] = "1 + 2"
    ask(server, path, "PUT", {"type": "notebook", "format": "json", "content": notebook})
    assert source.read_text() == before.replace("1 + 1", "1 + 2")
    assert notebooks.build(root) == (0, [])
    assert notebooks.sync(root) == ([], [])
    assert ask(server, path)["content"]["cells"][1]["outputs"]


@pytest.mark.browser
@pytest.mark.slow
def test_a_double_click_on_a_lecture_opens_a_notebook_with_its_kernel(
    server: tuple[str, str, Path], artefacts: Path
) -> None:
    base, token, _ = server
    with running_chromium() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(f"{base}/lab?reset&token={token}")
        listing = page.locator(".jp-DirListing-content")
        listing.get_by_text("lectures", exact=True).dblclick(timeout=60_000 * PATIENCE)
        expect(listing.get_by_text("01_first.ipynb")).to_be_visible(timeout=30_000 * PATIENCE)
        expect(listing.get_by_text("01_first.py", exact=True)).to_have_count(0)
        listing.get_by_text("01_first.ipynb").dblclick()
        expect(page.locator(".jp-NotebookPanel .jp-Cell").first).to_be_visible(timeout=60_000 * PATIENCE)
        expect(page.locator(".jp-KernelName")).to_have_text("Python 3 (ipykernel)", timeout=60_000 * PATIENCE)
        # A server that is ended while a kernel starts waits for it for ever.
        expect(page.locator("[data-status=idle]").first).to_be_visible(timeout=60_000 * PATIENCE)
        page.screenshot(path=artefacts / "lab_double_click.png")
        menus = page.locator(".lm-MenuBar, .jp-NotebookPanel-toolbar, .jp-SideBar")
        expect(menus.get_by_text(NBGRADER)).to_have_count(0)
        expect(page.locator(".jp-mod-dirty")).to_have_count(0)  # nobody has changed anything
        expect(page.locator(".jp-Dialog")).to_have_count(0)  # neither "Select Kernel" nor a question about news
        expect(page.locator(".Toastify__toast")).to_have_count(0)
        page.get_by_role("link", name="one", exact=True).click()
        expect(page.locator("#jp-main-dock-panel .lm-TabBar-tab[title*='work/one/one.ipynb']")).to_have_count(1)
        expect(page.locator(".jp-KernelName")).to_have_count(2, timeout=60_000 * PATIENCE)
        expect(page.locator("[data-status=idle]")).to_have_count(2, timeout=60_000 * PATIENCE)
