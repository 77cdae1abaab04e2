"""Which build of PyTorch to install, and how: a CPU build unless the user asks otherwise.

On Linux the plain index hands out the CUDA build: with what it drags in, about 3 GB. The CPU build of the same
version is about 200 MB and is all that the course needs. So pip is started, and stopped if it is about to fetch a
CUDA build; then `uv`, which knows where PyTorch keeps its CPU builds, is asked instead. Where pip is set up to find
a CPU build (a mirror, a folder of wheels, macOS, Windows) it simply goes through.
"""

import re
import sys
from pathlib import Path

from autograder.course import say
from autograder.course.health import installed
from autograder.course.requirements import Wanted

BUILDS = ("cpu", "cuda", "default")
_WHEEL = re.compile(
    r"(?:Downloading|Using cached|Processing)\s+\S*?(torch-[^\s/]+\.whl)(?:\s+\((\d+(?:\.\d+)?) ([kMG]B)\))?"
)
_MEGABYTES = {"kB": 1e-3, "MB": 1.0, "GB": 1e3}
CUDA_SIZE = 350
"""MB: the CPU builds for Linux have been 170 to 250 MB, the CUDA builds from 500 MB up."""


def is_cuda_download(output: str, platform: str = sys.platform) -> bool:
    """Whether pip's output says that it is fetching a CUDA build of torch (only Linux's plain index has that)."""
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
    """Which build is installed: `cpu`, `cuda`, or empty where there is none."""
    torch = installed(site).get("torch")
    if torch is None:
        return ""
    if "+" in torch.version:
        return "cpu" if "+cpu" in torch.version else "cuda"
    metadata = (torch.folder / "METADATA").read_text(encoding="utf-8", errors="replace")
    needs_cuda = re.search(r"^Requires-Dist: (nvidia|cuda)-", metadata, flags=re.MULTILINE)
    return "cuda" if needs_cuda and platform.startswith("linux") else "cpu"


def install(python: Path, site: Path, wanted: Wanted, build: str, steps: say.Steps, env: dict[str, str]) -> None:
    """Install torch, and nothing else, into the environment of `python`."""
    pip = [str(python), "-m", "pip", "install", "--no-deps", "--progress-bar", "off"]
    if "torch" in installed(site):
        pip.append("--force-reinstall")
    exact = f"torch=={wanted.torch}"
    in_range = str(next(r for r in wanted.base if r.name == "torch"))

    if build == "cpu":
        what = f"PyTorch {wanted.torch}, CPU build (about 200 MB)"
        if steps.run(what, [*pip, exact], env=env, stop_at=is_cuda_download, may_fail=True):
            return
        if is_cuda_download(steps.last_output()):
            if _with_uv(what, python, exact, "cpu", steps, env):
                return
            say.line("       PyTorch's own store of CPU builds cannot be reached from here, so this goes on with the")
            say.line("       CUDA build that the package index offers. It runs without a GPU as well, but takes about")
            say.line(
                "       3 GB. To stop, press Ctrl-C; to use a CPU wheel that you have, see README.md, Troubleshooting."
            )
    elif build == "cuda" and not sys.platform.startswith("linux"):
        if _with_uv(f"PyTorch {wanted.torch}, CUDA build (about 3 GB)", python, exact, "auto", steps, env):
            return
        message = "The CUDA build could not be installed. TORCH=cpu installs the CPU build."
        raise say.SetupError(f"{message}\n{steps.last_output()}")
    else:
        size = "CUDA build (about 3 GB)" if build == "cuda" else "the package index's own build"
        if steps.run(f"PyTorch {wanted.torch}, {size}", [*pip, exact], env=env, may_fail=True):
            return
    if "No matching distribution" in steps.last_output():  # not for this Python or machine: the newest in the range
        steps.run(f"PyTorch ({in_range})", [*pip, in_range], env=env)
    else:
        steps.run(f"PyTorch {wanted.torch}", [*pip, exact], env=env)


def _with_uv(what: str, python: Path, exact: str, backend: str, steps: say.Steps, env: dict[str, str]) -> bool:
    """Ask uv, which knows PyTorch's own indexes; --no-deps: all else still comes by way of pip's settings."""
    pip = [str(python), "-m", "pip", "install", "--progress-bar", "off", "uv"]
    uv = [str(python), "-m", "uv", "pip", "install", "--python", str(python), "--no-deps"]
    uv += ["--reinstall-package", "torch", f"--torch-backend={backend}", exact]
    return steps.run(what, pip, uv, env={"UV_HTTP_TIMEOUT": "60", **env}, may_fail=True)
