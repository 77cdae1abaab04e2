"""A private JupyterLab and a real Chromium, for tests that look at notebooks as people do."""

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from autograder.launcher.upkeep import chromium

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = max(1.0, float(os.environ.get("NLM_TIME_FACTOR", "1")))
"""Every wait is this many times as long; waiting longer costs nothing where all goes well."""
SLOWER = float(os.environ.get("NLM_SLOWER", "1"))
"""How many times slower a page computes: with 6, a test that reads a page before it has answered fails."""
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
"""The metadata of a notebook that opens without asking for a kernel."""
LOOK_MS = 100
"""Between two looks at a notebook that runs: to look at every frame would cost the kernel half of its processor."""
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# What the visible notebook is doing. The kernel's name is part of it: the indicator says idle with no kernel too.
_STATE = """() => {
    const nb = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
    if (!nb || document.querySelector('.jp-Dialog')) return null;
    // A cell whose source is hidden shows no number.
    const code = [...nb.querySelectorAll('.jp-CodeCell')].filter(c => !c.querySelector('.jp-InputPlaceholder'));
    const prompt = c => c.querySelector('.jp-InputPrompt')?.textContent ?? '';
    return { kernel: nb.querySelector('.jp-KernelName')?.innerText,
             status: nb.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status,
             cells: code.length, waiting: code.filter(c => /\\*/.test(prompt(c))).length,
             done: code.filter(c => /\\d/.test(prompt(c))).length,
             error: [...nb.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"]')]
                    .map(e => e.innerText).join('\\n') };
}"""


def find_chromium() -> str:
    """The browser's path. Skips the test where there is none, and fails it under CI, which installs one."""
    if path := chromium():
        return path
    advice = (
        "no Chromium found. Debian and Ubuntu: apt-get install chromium fonts-dejavu-core; macOS: brew install"
        " --cask chromium; or set CHROMIUM to the path of a Chromium or Chrome"
    )
    if os.environ.get("CI"):
        pytest.fail(advice)
    pytest.skip(advice)


@contextmanager
def running_chromium(*flags: str) -> Iterator[Any]:
    """A Chromium, whose pages wait with the suite's patience and have a processor that is NLM_SLOWER times slower."""
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*CHROMIUM_FLAGS, *flags])
        context_of = browser.new_context

        def new_context(**options: Any) -> Any:
            context = context_of(**options)
            context.set_default_timeout(30_000 * PATIENCE)
            page_of = context.new_page

            def new_page() -> Any:
                page = page_of()
                if SLOWER > 1:
                    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
                return page

            context.new_page = new_page
            return context

        browser.new_context = new_context
        browser.new_page = lambda **options: new_context(**options).new_page()
        yield browser
        browser.close()


def expect(what: Any) -> Any:
    """Playwright's `expect`, which waits until what it asserts is so."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=20_000 * PATIENCE)
    return sync_api.expect(what)


def at_rest(page: Any, finder: str, arg: Any = None) -> list[str]:
    """What this function of the page still finds when the page has had the time to come to rest."""
    with suppress(Exception):
        page.wait_for_function(f"arg => !({finder})(arg).length", arg=arg, timeout=5_000 * PATIENCE)
    found: list[str] = page.evaluate(finder, arg)
    return found


@contextmanager
def running_lab(work: Path, private: Path, base: str = "") -> Iterator[tuple[str, str]]:
    """JupyterLab on loopback over the folder `work`, below `base`; its settings, port and token are its own.
    (url, token)."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    settings = private / "config" / "labconfig"
    settings.mkdir(parents=True)
    quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (settings / "default_setting_overrides.json").write_text(json.dumps(quiet))
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "mpl",
        "NLM_PREDICTIONS": "predictions.json",
        "HOME": "",
    }
    environment = os.environ | {name: str(private / folder) for name, folder in folders.items()}
    # The course's presenter view, and nothing that lies in somebody's home.
    environment |= {"OMP_NUM_THREADS": "1", "JUPYTER_PATH": str(ROOT / "autograder" / "present")}
    environment.pop("JUPYTER_TOKEN", None)
    startup = private / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "early.py").write_text("__import__('nlmcore')\n")  # while the page is loaded; it leaves no name
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={work}"),
        *("--LabApp.extension_manager=readonly", "--LabApp.news_url=None", "--LabApp.expose_app_in_browser=True"),
        f"--ServerApp.base_url={base}/",
    ]
    log_path = private / "lab.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=work, stdout=log, stderr=subprocess.STDOUT)
        url = f"http://127.0.0.1:{port}{base}"
        try:
            deadline = time.monotonic() + 120 * PATIENCE
            while True:
                try:
                    with urllib.request.urlopen(f"{url}/api?token={token}", timeout=2):
                        break
                except OSError:
                    ended = process.poll() is not None
                    if ended or time.monotonic() > deadline:
                        pytest.fail(f"JupyterLab did not start:\n{log_path.read_text()[-3000:]}")
                    time.sleep(0.1)
            yield url, token
        finally:
            process.terminate()  # the server shuts its kernels down
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def run_all_cells(page, timeout: float = 120_000 * PATIENCE) -> None:
    """Wait for the kernel, run every cell, wait for the end; fail on anything written to stderr."""
    page.wait_for_function(
        f"() => {{ const s = ({_STATE})(); return s && s.cells && s.status === 'idle' && s.kernel"
        " && s.kernel !== 'No Kernel' }",
        timeout=timeout,
        polling=LOOK_MS,
    )
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(
        f"() => {{ const s = ({_STATE})(); return s && (s.error || (!s.waiting && s.status === 'idle'"
        " && s.done === s.cells)) }",
        timeout=timeout,
        polling=LOOK_MS,
    )
    error = page.evaluate(_STATE)["error"]
    assert not error, error


class Desk:
    """A JupyterLab and a Chromium for the notebooks of many tests, one after the other.

    The page stays: JupyterLab is loaded and compiled once. A test that fails leaves none behind.
    """

    def __init__(self, context, url: str, token: str, work: Path) -> None:
        self.context, self.url, self.token = context, url, token
        self.work = work
        """The folder that JupyterLab shows."""
        self.heard: list[str] = []
        """Since the present notebook was opened: what was raised in the page, and what kernels wrote to stderr or
        raised, in cells and in what widgets call."""
        self._page = None
        self._sessions: dict[str, str] = {}

    def start_kernel(self, name: str) -> None:
        """The kernel of a notebook that will be opened: it starts while something else is looked at."""
        if name not in self._sessions:
            wanted = {"path": name, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
            answer = self.context.request.post(self.address("api/sessions"), data=wanted)
            self._sessions[name] = answer.json()["id"]

    @contextmanager
    def notebook(self, name: str, viewport: dict[str, int]) -> Iterator:
        """The page with this notebook of the folder, its kernel started; nothing of the previous one is left."""
        self.start_kernel(name)
        session = self.address(f"api/sessions/{self._sessions.pop(name)}")
        self.heard.clear()
        page = self._page
        try:
            if page is None:
                page = self._page = self.context.new_page()
                page.on("pageerror", lambda error: self.heard.append(str(error)))
                page.on("websocket", lambda socket: socket.on("framereceived", self._frame))
                page.set_viewport_size(viewport)
                page.goto(self.address(f"lab/tree/{name}", "reset&"))
            else:
                page.set_viewport_size(viewport)
                page.evaluate("async path => { await jupyterapp.commands.execute('docmanager:open', { path }); }", name)
            page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000 * PATIENCE)
            yield page
            # Without a question whether to save; nobody waits for the kernel's end.
            page.evaluate(
                """address => { for (const one of [...jupyterapp.shell.widgets('main')]) one.dispose();
                                fetch(address, { method: 'DELETE' }); }""",
                session,
            )
        except BaseException:
            self._page = None
            with suppress(Exception):
                page.close()
                self.context.request.delete(session)
            raise

    def address(self, what: str, options: str = "") -> str:
        """Of something on the server; `options` end in "&"."""
        return f"{self.url}/{what}?{options}token={self.token}"

    def _frame(self, payload: str | bytes) -> None:
        data = payload.encode() if isinstance(payload, str) else payload
        # "No such comm" is a frontend's question after a widget that the kernel has let go: nobody sees it.
        if re.search(rb'"name": ?"stderr"|"msg_type": ?"error"', data) and b"No such comm" not in data:
            self.heard.append(data[-3000:].decode(errors="replace"))


@contextmanager
def running_desk(work: Path, private: Path) -> Iterator[Desk]:
    """JupyterLab over the folder `work`, and a Chromium."""
    with running_chromium() as browser, running_lab(work, private) as (url, token):
        yield Desk(browser.new_context(), url, token, work)


def save(page) -> None:
    """Save the visible notebook, as Ctrl-S does, and wait until it is on disk."""
    with page.expect_response(lambda r: "/api/contents/" in r.url and r.request.method == "PUT") as answer:
        page.keyboard.press("Control+s")
    assert answer.value.ok, answer.value.status


SETTLED = """() => new Promise(done => {
  // The notebook has come to rest: for three frames it is as high, as far scrolled and has as many elements as before,
  // and the presenter, if it is on, has run what it runs by itself.
  const panel = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer');
  const look = () => [panel.scrollHeight, panel.scrollTop, panel.getElementsByTagName('*').length].join();
  const runs = () => Number(document.querySelector('#nlm-place')?.dataset.running ?? 0);
  let before = look(), same = 0, left = 60;
  const tick = () => {
    const now = look();
    same = now === before ? same + 1 : 0;
    before = now;
    if (runs()) return requestAnimationFrame(tick);
    return same >= 3 || !left-- ? done() : requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})"""


TOO_WIDE = """() => {
  // What is seen now and sticks out to the right of its place, or has to be scrolled sideways.
  const notebook = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook');
  const edge = notebook.getBoundingClientRect().right + 1, found = [];
  const say = e => (e.className?.baseVal ?? e.className) + ': ' + (e.innerText ?? e.getAttribute('aria-label') ?? '')
    .trim().slice(0, 90);
  for (const place of notebook.querySelectorAll('.jp-RenderedHTMLCommon, .jp-OutputArea-output, .nlm-live')) {
    const where = place.getBoundingClientRect();
    if (!place.getClientRects().length || where.bottom < 0 || where.top > innerHeight) continue;  // seen another time
    if (place.scrollWidth > place.clientWidth + 1 || where.right > edge) found.push(say(place));
    for (const e of place.querySelectorAll('*')) {
      if (e.ownerSVGElement) continue;  // what is drawn in a picture has no box of its own
      if (e.closest('mjx-container, svg svg, .widget-readout, .noUi-target, mjx-assistive-mml')) continue;
      const style = getComputedStyle(e), scrolls = ['auto', 'scroll'].includes(style.overflowX);
      if (scrolls && e.clientWidth && e.scrollWidth > e.clientWidth + 1) found.push(say(e));
    }
  }
  return [...new Set(found)];
}"""


LETTERS = """() => {
  // Letters of a drawing that are too small to be read, whether or not they are in view.
  const panel = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer'), found = [];
  const name = e => (e.getAttribute('aria-label') ?? e.textContent).trim().slice(0, 60);
  for (const words of panel.querySelectorAll('svg[aria-label] text')) {
    const { a, b, c, d } = words.getScreenCTM() ?? { a: 0, b: 0, c: 0, d: 0 };
    const size = parseFloat(getComputedStyle(words).fontSize) * Math.sqrt(Math.abs(a * d - b * c));
    if (size > 0 && size < 8.7) found.push(`letters of ${size.toFixed(1)} px: ${name(words.ownerSVGElement)}`);
  }
  return [...new Set(found)];
}"""


NARROW = """() => {
  // In a narrow window: what moves the page or a whole text sideways.
  const panel = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer'), found = [];
  const name = e => (e.getAttribute('aria-label') ?? e.textContent).trim().slice(0, 60);
  for (const place of [panel, ...panel.querySelectorAll('.jp-RenderedMarkdown')]) {
    const wider = place.scrollWidth - place.clientWidth, edge = place.getBoundingClientRect().left + place.clientWidth;
    if (!place.clientWidth || wider <= 1) continue;
    const widest = [...place.querySelectorAll('*')].findLast(e => e.getBoundingClientRect().right > edge + 1) ?? place;
    found.push(`${wider} px to scroll sideways: ${widest.className?.baseVal ?? widest.className} ${name(widest)}`);
  }
  return [...new Set(found)];
}"""


CRAMPED = """() => {
  // In the presenter view at 1920 × 1080: what runs over the screen, is too small for the back row, or has no title.
  const found = [], folded = 'details:not([open])';
  const closed = e => e.closest(folded)  // what is not seen of it, also a summary inside something closed
    && !(e.closest('summary')?.parentElement === e.closest(folded) && !e.closest(folded).parentElement.closest(folded));
  const seen = e => e.getClientRects().length && !closed(e) && !e.closest('.nlm-strip');
  const notebook = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook');
  const words_of = e => e.innerText ?? e.getAttribute('aria-label') ?? '';
  const say = (what, e) => found.push(what + ': ' + words_of(e).trim().slice(0, 60));
  const titles = [...document.querySelectorAll('#nlm-title, .nlm-shown :is(h1, h2, h3)')];
  if (!titles.some(e => seen(e) && e.innerText.trim())) found.push('no title');
  for (const cell of notebook.querySelectorAll('.nlm-shown')) {
    const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node; (node = words.nextNode()); ) {
      const e = node.parentElement;
      if (!node.textContent.trim() || e.closest('svg, style, script, mjx-assistive-mml') || !seen(e)) continue;
      if (e.getBoundingClientRect().bottom > innerHeight) say('runs over the screen', e);
      if (e.closest('mjx-container, sub, sup')) continue;
      if (parseFloat(getComputedStyle(e).fontSize) < 27.9) say('too small', e);
    }
  }
  for (const picture of notebook.querySelectorAll('.nlm-shown :is(svg, img)'))
    if (seen(picture) && picture.getBoundingClientRect().bottom > innerHeight) say('runs over the screen', picture);
  return [...new Set(found)];
}"""


ASK_AGAIN = """async () => {
  // Run the cells of all predictions again, so that none has an answer.
  const { content } = jupyterapp.shell.currentWidget;
  for (const [index, cell] of content.widgets.entries()) {
    if (cell.model.type !== 'code' || !cell.node.querySelector('.nlm-predict')) continue;
    content.activeCellIndex = index;
    await jupyterapp.commands.execute('notebook:run-cell');
  }
}"""


UNANSWERED = """() => {
  // Mark the first question on the screen that has no answer; false if there is none.
  const seen = e => e.getClientRects().length > 0;
  document.querySelector('[data-pressed]')?.removeAttribute('data-pressed');
  const button = [...document.querySelectorAll('.nlm-shown .nlm-show-me')].find(seen);
  button?.closest('.nlm-predict').setAttribute('data-pressed', 'yes');
  return Boolean(button);
}"""


OUT_OF_VIEW = """() => {
  // Of the question that was marked: which of question, answer and picture is not wholly on the screen.
  const box = document.querySelector('[data-pressed]');
  // What is folded, in a row of a table for example, waits for whoever opens it.
  const revealed = [...box.lastElementChild.querySelectorAll('svg:not([aria-hidden]), img, pre, .nlm-table')].find(
    one => !one.closest('details:not([open])'));
  const parts = { question: box.firstElementChild, answer: box.querySelector('.nlm-told'), picture: revealed };
  return Object.entries(parts).filter(([, part]) => part).filter(([, part]) => {
    const { top, bottom, height } = part.getBoundingClientRect();
    return !height || top < 0 || bottom > innerHeight;
  }).map(([name]) => `after the press the ${name} is not in view: ${box.innerText.trim().slice(0, 60)}`);
}"""
