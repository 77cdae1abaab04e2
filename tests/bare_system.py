"""Runs what the Dockerfile runs, in a bare Debian of its own: for machines that have no container engine.

    python -m tests.bare_system /some/folder        (as root; needs debootstrap and bubblewrap, and 5 GB)

The folder gets a Debian with nothing but its Python, then the course as git has it. In it each RUN of the Dockerfile
runs as it is written, with this machine's settings for pip. The last lines are `doctor`'s and the sizes. What is left
out is the image of Python that the Dockerfile begins with, the container engine itself, and the port.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITE, PYTHON = "bookworm", "3.11"
BARE = "ca-certificates,python3,python3-venv"


def recipe(text: str) -> tuple[list[str], dict[str, str]]:
    """The RUN lines of a Dockerfile, and what it sets for them."""
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    return re.findall(r"^RUN (.+)$", text, re.M), dict(re.findall(r"^ENV (\w+)=(\S+)$", text, re.M))


def inside(system: Path, *line: str, **settings: str) -> None:
    """Run a command in that system, as its root, with this machine's network and settings for pip."""
    files = {value for name, value in os.environ.items() if name.startswith("PIP_") and Path(value).exists()}
    files |= {name for name in ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs") if Path(name).exists()}
    shared = [word for name in sorted(files) for word in ("--ro-bind", name, name)]
    passed = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "HTTP", "NLM_TIME"))}
    passed |= {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8", **settings}
    variables = [word for name, value in passed.items() for word in ("--setenv", name, value)]
    box = ["bwrap", "--bind", str(system), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *shared]
    print(f"# {' '.join(line)}", flush=True)
    subprocess.run([*box, "--clearenv", *variables, "--chdir", "/course", *line], check=True)


def main(system: Path) -> None:
    bootstrap = ["debootstrap", "--variant=minbase", f"--include={BARE}", SUITE, str(system)]
    subprocess.run(bootstrap, check=True, stdout=subprocess.DEVNULL)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        (system / "course" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, system / "course" / name)
    lines, variables = recipe((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    for line in lines:
        inside(system, "sh", "-c", line, **variables)
    inside(system, "python3", "-m", "autograder", "doctor", **variables)
    inside(system, "du", "-sh", *variables.values(), "/course")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
