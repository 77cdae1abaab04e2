"""Everything that students write, in a real browser: nothing of it runs, and nothing is fetched from outside.

`payloads.txt` has what is tried. It stands in sources, outputs, names and metadata of a graded notebook, and is opened
in feedback, in the overview, in Formgrader and in JupyterLab, with the pages' policies switched off, so that the first
lock is seen alone; and each payload is given to the policies alone.
"""

import base64
import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell
from nbgrader.api import Gradebook
from traitlets.config import Config, PyFileConfigLoader

from autograder.feedback import formgrader, write_feedback
from autograder.grading.course import Course
from autograder.instructor import write_overview
from autograder.preflight.read import read_notebook
from tests.autograder.courses import CONFIG
from tests.autograder.pages import Page, dangers
from tests.autograder.small_course import small_course
from tests.lab import PATIENCE, running_chromium, running_lab

PAYLOADS = Path(__file__).with_name("payloads.txt")

pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader's and nbconvert's
NAME = "<img src=x onerror=alert(9001)>"


def payloads() -> list[str]:
    lines = PAYLOADS.read_text(encoding="utf-8").split("\n")
    return [
        _filled(line, number) for number, line in enumerate(lines, 1) if line and not line.startswith(("# ", "## "))
    ]


def _filled(line: str, number: int) -> str:
    page = f'<svg xmlns="http://www.w3.org/2000/svg" id="x"><script>alert({number})</script></svg>'
    line = line.replace("\\n", "\n").replace("B64", base64.b64encode(page.encode()).decode())
    return line.replace("RUN", f"alert({number})").replace("URL", f"https://evil.example/{number}")


def hostile_cells(payload: str, number: int) -> list[nbformat.NotebookNode]:
    kinds = "text/html text/markdown text/latex image/svg+xml application/javascript text/plain image/png"
    outputs = [new_output("display_data", {one: payload}, metadata={one: {"alt": payload}}) for one in kinds.split()]
    outputs.append(new_output("stream", name="stdout", text=payload))
    outputs.append(new_output("error", ename=payload, evalue=payload, traceback=[payload]))
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "m", "version_major": 2}}
    outputs.append(new_output("display_data", widget))
    line = payload.replace("\n", " ")
    about = {"tags": [line.replace(",", " ")], "name": line, "format": payload, "title": payload}
    about["raw_mimetype"] = "text/html"
    svg = {"image/svg+xml": base64.b64encode(payload.encode()).decode(), "text/html": payload}
    return [
        new_markdown_cell(payload, metadata=about, attachments={"x": svg, payload: svg}),
        new_code_cell(payload, metadata=about, outputs=outputs),
        new_raw_cell(payload, metadata=about),
    ]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A small course, one of whose graded notebooks holds every payload, wherever one can stand."""
    root = tmp_path_factory.mktemp("hostile")
    small_course(root)
    (root / "nbgrader_config.py").write_text(CONFIG + "get_config().CourseDirectory.course_id = 'small'\n")
    path = root / "autograded/ada/attention/attention.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for number, payload in enumerate(payloads()):
        notebook.cells[3:3] = hostile_cells(payload, number)
    widget = {"model_name": "HTMLModel", "model_module": "@jupyter-widgets/controls", "state": {"value": NAME}}
    notebook.metadata.update(
        title=NAME,
        language_info={"name": NAME, "pygments_lexer": NAME},
        kernelspec={"name": "python3", "display_name": NAME, "language": NAME},
        widgets={"application/vnd.jupyter.widget-state+json": {"state": {"m": widget}}},
    )
    nbformat.write(notebook, path)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "small") as book:
        book.update_or_create_student("ada", first_name=NAME, last_name=NAME, email=NAME)
        (root / "submitted" / NAME / "attention").mkdir(parents=True)
        book.update_or_create_student(NAME, first_name=NAME, last_name=NAME, email=NAME)
    return Course.load(root)


def exporter(course: Course, **settings: object) -> HTMLExporter:
    """What Formgrader makes its page of a submission with."""
    from nbgrader.server_extensions.formgrader.handlers import template_path

    stock = Config({"HTMLExporter": {"template_name": "formgrade", "extra_template_basedirs": [template_path]}})
    stock.merge(Config(PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()))
    stock.merge(Config({"HTMLExporter": settings}))
    return HTMLExporter(config=stock)


def submission(course: Course, made: HTMLExporter) -> str:
    names = {"assignment_id": NAME, "notebook_id": NAME, "student": NAME, "first_name": NAME, "last_name": NAME}
    about = {"submission_id": "x", "index": 0, "total": 1, "base_url": "", "notebook_path": NAME}
    path = course.autograded("ada", "attention") / "attention.ipynb"
    page, _ = made.from_filename(str(path), resources=names | about)
    return str(page)


def test_formgraders_page_of_a_submission_holds_nothing_that_acts(hostile: Course) -> None:
    page = submission(hostile, exporter(hostile))
    student = page[page.index('id="notebook-container"') :]
    assert dangers(student) == []
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts
    assert all(f'nonce="{formgrader.NONCE}"' in script for script in scripts)
    assert "cdnjs" not in page
    assert "<math" in student
    ids = {attributes["id"] for _, attributes in Page(student).tags if "id" in attributes}
    left = {name for name in ids if not name.startswith("cell-id=cell-")}
    boxes = {f"{name}{kind}" for name in ("written", "check_dot_score") for kind in ("", "_extra_credit")}
    assert left == boxes | {"dot_score-comment", "written-comment", "notebook", "notebook-container", "statusmessage"}


def test_a_graded_notebook_keeps_pictures_and_text_and_nothing_that_jupyterlab_would_run(hostile: Course) -> None:
    notebook, _ = read_notebook(hostile.autograded("ada", "attention") / "attention.ipynb")
    assert notebook.metadata == {}
    for cell in notebook.cells:
        assert cell.get("outputs", []) == []
        assert set(cell.metadata) <= {"nbgrader", "tags"}
        for kinds in cell.get("attachments", {}).values():
            assert set(kinds) <= {"image/svg+xml", "image/png"}


# --- in a browser ---------------------------------------------------------------------------------------------

POKE = """() => {
  // What a hand does by accident: open, point at, focus, and follow what leads to no other site.
  const inside = [...document.querySelectorAll('iframe')].map(e => e.contentDocument?.body).filter(Boolean);
  for (const body of [document.body, ...inside]) {
    for (const e of body.querySelectorAll('details')) e.open = true;
    for (const e of body.querySelectorAll('*')) {
      for (const kind of ['mouseover', 'pointerover', 'mouseenter', 'focus', 'toggle', 'begin', 'load', 'error'])
        e.dispatchEvent(new Event(kind));
      const to = e.getAttribute('href') ?? e.getAttribute('xlink:href') ?? '';
      const theirs = e.closest('.rendered_html, .output, .jp-RenderedMarkdown, .jp-OutputArea, main');
      if ((theirs || body != document.body) && !/^((https?:)?[/\\\\]{2}|mailto:|#|$)/.test(to))
        e.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
    }
  }
}"""
LINKS = """() => [...document.querySelectorAll('.rendered_html a[href], .output a[href], blockquote a[href]')]
  .filter(a => a.target != '_blank' || !/noopener/.test(a.rel) || !/^(https?|mailto):/.test(a.href))
  .map(a => a.outerHTML)"""


@contextmanager
def looking(browser: Any, home: str, without_policies: bool) -> Iterator[tuple[Any, list[str]]]:
    """(a page, what happened in it that should not: scripts that ran, requests to elsewhere)."""
    context = browser.new_context(bypass_csp=without_policies)
    happened: list[str] = []

    def asked(route: Any) -> None:
        if route.request.url.startswith((home, "data:", "blob:")):
            route.continue_()
        else:
            happened.append(f"fetched {route.request.url[:100]}")
            route.abort()

    context.route("**/*", asked)
    page = context.new_page()
    page.on("dialog", lambda dialog: (happened.append(f"ran {dialog.message}"), dialog.dismiss()))
    try:
        yield page, happened
    finally:
        context.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with running_chromium() as running:
        yield running


@pytest.mark.browser
def test_nothing_acts_in_feedback_and_overview(hostile: Course, browser: Any) -> None:
    pages = [*write_feedback(hostile, "attention", ["ada"]), write_overview(hostile, "attention")]
    with looking(browser, "file:", without_policies=True) as (page, happened):
        for path in pages:
            page.goto(path.as_uri())
            page.evaluate(POKE)
            page.wait_for_timeout(200)
            assert page.evaluate(LINKS) == []
    assert happened == []


@pytest.mark.browser
def test_the_policy_alone_stops_every_payload_and_without_it_they_act(browser: Any) -> None:
    """Each payload in a frame of its own, which has the page's policy."""
    from playwright.sync_api import Route

    tried = [one for one in payloads() if "http-equiv=refresh" not in one]  # which no policy forbids
    frames = [f'<iframe srcdoc="{html.escape(one)}"></iframe>' for one in tried]
    for policy, body in ((formgrader.policy(), "".join(frames)), ("", frames[0])):
        with looking(browser, "http://page.example/", without_policies=False) as (page, happened):
            headers = {"Content-Security-Policy": policy, "Content-Type": "text/html"}
            page.route("http://page.example/*", partial(Route.fulfill, headers=headers, body=body))
            page.goto("http://page.example/1")
            page.evaluate(POKE)
        assert bool(happened) == (not policy), happened


@pytest.fixture(scope="module")
def served(hostile: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Course, str, str, str]]:
    """(the course, its JupyterLab's address and token, the address of ada's submission in Formgrader)."""
    private = tmp_path_factory.mktemp("private")
    settings = private / "settings/@jupyterlab/notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    folder = hostile.autograded("ada", "attention")
    seen, _ = read_notebook(folder / "attention.ipynb")
    seen.cells = [cell for cell in seen.cells if cell.cell_type == "markdown"]
    nbformat.write(seen, folder / "seen.ipynb")
    (folder / "page.html").write_text("<script>alert(9002)</script><img src=https://evil.example/9002>")
    (folder / "nbgrader_config.py").write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()\n")
    with Gradebook(f"sqlite:///{hostile.root / 'gradebook.db'}", "small") as book:
        number = book.find_submission_notebook("attention", "attention", "ada").id
    with running_lab(hostile.root, private) as (url, token):
        yield hostile, url, token, f"{url}/formgrader/submissions/{number}/"


@pytest.mark.everything
@pytest.mark.browser
def test_nothing_acts_in_formgrader(served: tuple[Course, str, str, str], browser: Any) -> None:
    course, url, token, ada = served
    name = quote(NAME, safe="")
    lists = ["gradebook", "gradebook/attention", "gradebook/attention/attention", "manage_assignments"]
    lists += ["manage_submissions/attention", "manage_students", f"manage_students/{name}", f"gradebook/{name}"]
    lists += [f"manage_students/{name}/attention", f"manage_submissions/{name}", f"gradebook/attention/{name}"]
    with looking(browser, url, without_policies=True) as (page, happened):
        page.goto(f"{url}/lab/api/settings?token={token}")
        for place in (ada, *(f"{url}/formgrader/{name}" for name in lists)):
            page.goto(place, wait_until="networkidle")
            page.evaluate(POKE)
            assert page.evaluate(LINKS) == []
        page.route("**/autograde", lambda route: route.abort())
        page.goto(f"{url}/formgrader/manage_submissions/attention", wait_until="networkidle")
        page.locator("tr", has_text="<img").filter(has_text="needs auto").first.locator(".autograde a").first.click()
        page.locator(".modal-body", has_text=NAME).wait_for()
        page.goto(f"{url}/formgrader/api/students")
        assert happened == []
    with looking(browser, url, without_policies=False) as (page, happened):
        page.goto(f"{url}/lab/api/settings?token={token}")
        page.goto(f"{ada}page.html")
        page.goto(f"{url}/files/autograded/ada/attention/page.html")
        page.goto(f"{url}/nbconvert/html/autograded/ada/attention/attention.ipynb")
        exported = page.request.get(f"{url}/nbconvert/html/autograded/ada/attention/attention.ipynb").text()
        found = dangers(exported.partition("<main>")[2])
        assert [one for one in found if not one.startswith("src=data:image/png")] == []
        assert "cdnjs.cloudflare.com/ajax/libs/mathjax" not in exported
        assert page.goto(f"{url}/formgrader?path={course.autograded('ada', 'attention')}").status == 403
        assert not (course.autograded("ada", "attention") / "ran").exists()
        assert happened == []


@pytest.mark.everything
@pytest.mark.browser
def test_marks_are_given_by_hand_as_before(served: tuple[Course, str, str, str], browser: Any) -> None:
    course, url, token, ada = served
    errors: list[str] = []
    with looking(browser, url, without_policies=False) as (page, happened):
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"{url}/lab/api/settings?token={token}")
        page.goto(f"{url}/formgrader/gradebook/attention/attention", wait_until="networkidle")
        page.locator("#toggle_names").click()
        page.goto(ada, wait_until="networkidle")
        # Formgrader fetches the mark and the comment, and writes them over what was typed before they came.
        page.wait_for_function("() => ['#written', '#written-comment'].every(e => document.querySelector(e)?.value)")
        page.locator("#written").fill("3.5")
        with page.expect_response(lambda answer: "/api/grade/" in answer.url):
            page.keyboard.press("Tab")
        page.locator("#written-comment").fill("Clear. $x^2$")
        with page.expect_response(lambda answer: "/api/comment/" in answer.url):
            page.keyboard.press("Escape")
        with page.expect_response(lambda answer: "/flag" in answer.url):
            page.keyboard.press("Control+Shift+F")
        page.locator("span.glyphicon-eye-open").first.click()
        page.locator(".help").click()
        page.locator(".modal-title").wait_for()
    assert (errors, happened) == ([], [])
    with course.gradebook() as book:
        grade = book.find_grade("written", "attention", "attention", "ada")
        assert (grade.manual_score, grade.needs_manual_grade) == (3.5, False)
        assert book.find_comment("written", "attention", "attention", "ada").manual_comment == "Clear. $x^2$"
        assert book.find_submission_notebook("attention", "attention", "ada").flagged


@pytest.mark.everything
@pytest.mark.browser
def test_nothing_acts_in_jupyterlab_and_formulas_are_set_without_a_network(
    served: tuple[Course, str, str, str], browser: Any
) -> None:
    _, url, token, _ = served
    with looking(browser, url, without_policies=False) as (page, happened):
        page.goto(f"{url}/lab/tree/autograded/ada/attention/seen.ipynb?reset&token={token}")
        page.locator(".jp-RenderedMarkdown mjx-container").last.wait_for(timeout=60_000 * PATIENCE)
        page.evaluate(POKE)
        page.wait_for_timeout(500)
    assert happened == []
