"""Which build of PyTorch to install, and how: a CPU build unless the user asks otherwise.

On Linux the plain index serves the CUDA build, which with its requirements is about 3 GB. The CPU build of the same
version is about 200 MB and is all that the course needs. So pip is started, and stopped if it is about to download a
CUDA build; then `uv`, which knows where PyTorch keeps its CPU builds, does it instead. If pip is set up to find a CPU
build (a mirror, a folder of wheels, macOS, Windows), it simply succeeds. (uv alone would not see such a build, and `pip
install --dry-run --report` downloads half a gigabyte to answer where an index serves no metadata.)
"""

import re
import sys
from pathlib import Path

from autograder.launcher import say
from autograder.launcher.health import installed
from autograder.launcher.requirements import Wanted
from autograder.launcher.steps import Steps

BUILDS = ("cpu", "cuda", "default")
_WHEEL = re.compile(
    r"(?:Downloading|Using cached|Processing)\s+\S*?(torch-[^\s/]+\.whl)(?:\s+\((\d+(?:\.\d+)?) ([kMG]B)\))?"
)
_MEGABYTES = {"kB": 1e-3, "MB": 1.0, "GB": 1e3}
CUDA = "CUDA build (about 3 GB)"
CUDA_SIZE = 350  # MB: the CPU builds for Linux have been 170 to 250 MB, the CUDA builds from 500 MB up


def is_cuda_download(output: str, platform: str = sys.platform) -> bool:
    """Whether pip's output says that it is downloading a CUDA build of torch (only Linux's plain index has that)."""
    if not platform.startswith("linux"):
        return False
    for name, size, unit in _WHEEL.findall(output):
        if re.search(r"(\+|%2B)cu\d", name):
            return True
        if re.search(r"(\+|%2B)cpu", name):
            return False
        if size:
            return float(size) * _MEGABYTES[unit] >= CUDA_SIZE
    return False


def kind(site: Path, platform: str = sys.platform) -> str:
    """Which build is installed: `cpu`, `cuda`, or empty if there is none."""
    torch = installed(site).get("torch")
    if torch is None:
        return ""
    if "+" in torch.version:
        return "cpu" if "+cpu" in torch.version else "cuda"
    metadata = (torch.folder / "METADATA").read_text(encoding="utf-8", errors="replace")
    needs_cuda = re.search(r"^Requires-Dist: (nvidia|cuda)-", metadata, flags=re.MULTILINE)
    return "cuda" if needs_cuda and platform.startswith("linux") else "cpu"


def heading(wanted: Wanted, build: str) -> str:
    sizes = {"cpu": "CPU build (about 200 MB)", "cuda": CUDA, "default": "the package index's own build"}
    return f"PyTorch {wanted.torch}, {sizes[build]}"


def install(python: Path, site: Path, wanted: Wanted, build: str, steps: Steps) -> None:
    """Install torch, and nothing else, into the environment of `python`."""
    pip = [str(python), "-m", "pip", "install", "--no-deps", "--progress-bar", "off"]
    if "torch" in installed(site):
        pip.append("--force-reinstall")
    exact = f"torch=={wanted.torch}"
    if build == "cuda" and not sys.platform.startswith("linux"):
        if not _with_uv(python, exact, "auto", steps):
            message = "The CUDA build could not be installed. TORCH=cpu installs the CPU build."
            raise say.SetupError(f"{message}\n{steps.last_output()}")
        return
    if steps.call(*pip, exact, may_fail=True, stop_at=is_cuda_download if build == "cpu" else None):
        return
    if build != "cpu" or not is_cuda_download(steps.last_output()):
        # Where the tested version has no build for this Python or this machine: the newest of the range.
        if "No matching distribution" not in steps.last_output() or say.unreachable(steps.last_output()):
            raise say.SetupError(steps.failure())
        steps.call(*pip, str(next(r for r in wanted.base if r.name == "torch")))
    elif not _with_uv(python, exact, "cpu", steps):
        steps.instead("not to be had from here", NO_CPU_BUILD, f"PyTorch {wanted.torch}, {CUDA}")
        steps.call(*pip, exact)


NO_CPU_BUILD = """\
PyTorch's own store of CPU builds cannot be reached from here, so this goes on with the CUDA
build that the package index offers. It runs without a GPU as well, but takes about 3 GB.
To stop, press Ctrl-C; to use a CPU wheel that you have: README.md, Troubleshooting."""


def _with_uv(python: Path, exact: str, backend: str, steps: Steps) -> bool:
    """Ask uv, which knows PyTorch's own indexes; --no-deps, because everything else still comes through pip's
    settings."""
    uv = [str(python), "-m", "uv", "pip", "install", "--python", str(python), "--no-deps"]
    uv += ["--reinstall-package", "torch", f"--torch-backend={backend}", exact]
    got_uv = steps.call(str(python), "-m", "pip", "install", "--progress-bar", "off", "uv", may_fail=True)
    return got_uv and steps.call(*uv, may_fail=True)
