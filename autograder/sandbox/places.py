"""What a notebook can see of this machine: Python, the installed packages, `nlmcore`, and its own folder.

It cannot see the course's checkout, the solutions, the gradebook, the home folder, or other submissions. The file
system inside is built from scratch, and each part of it is named here.
"""

import glob
import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import autograder
import lectures
import nlmcore
from autograder import temporary
from autograder.question import alone

BOX_USER = 64999  # who the notebook is, inside; where the grader is root, also outside
_LECTURES = Path(str(lectures.__file__)).resolve().parent
OURS = {
    "nlmcore": str(Path(str(nlmcore.__file__)).resolve().parent),
    "lectures/__init__.py": str(_LECTURES / "__init__.py"),
    "lectures/again.py": str(_LECTURES / "again.py"),
    "lectures/predictions.py": str(_LECTURES / "predictions.py"),
    "lectures/show": str(_LECTURES / "show"),
}
"""Our packages that a notebook may import, besides the student's side of the grader, and where they are. A job leaves
out the modules of `nlmcore` that it closes; the rest of `lectures` is built on all of it."""
_INSTALLED = (sys.prefix, sys.base_prefix, nlmcore.__file__, autograder.__file__)
SCRATCH = "/scratch" if any(str(path).startswith("/tmp/") for path in _INSTALLED) else "/tmp"
"""The notebook's own folder. A folder at /tmp would hide an environment that is under /tmp itself."""
WARM = "/warm"  # where the warm parent's libraries keep what they must write; a notebook sees it empty
_HOME = "/box"
_PACKAGES = ("site-packages", "dist-packages")
_SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/share/fonts", "/usr/share/zoneinfo")
_LINKS = ("/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/fonts", "/etc/localtime")


class Staging:
    """A folder with the student's side of the box, as a package `autograder` that contains nothing else. It is under
    …/lib/python, which `autograder.question.outcome` takes for library code, not the student's."""

    def __init__(self) -> None:
        self.root = temporary.folder("sandbox")
        self.root.chmod(0o755)
        self.at = str(self.root)
        ours = self.root / "lib" / "python" / "autograder"
        source = Path(autograder.__file__).parent
        for name, origin in (
            ("__init__.py", None),
            ("question/__init__.py", None),
            ("question/outcome.py", source / "question" / "outcome.py"),
            ("question/closed.py", source / "question" / "closed.py"),
            ("question/statements.py", source / "question" / "statements.py"),
            ("check.py", source / "sandbox" / "inside" / "stub_check.py"),
            ("mine.py", source / "sandbox" / "inside" / "stub_mine.py"),
            ("race/__init__.py", None),
            ("race/home.py", source / "sandbox" / "inside" / "stub_race.py"),
            ("sandbox/__init__.py", None),
            *((f"sandbox/inside/{path.name}", path) for path in sorted((source / "sandbox" / "inside").glob("*.py"))),
        ):
            target = ours / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"" if origin is None else origin.read_bytes())
        for path in (self.root, *self.root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)

    @property
    def library(self) -> str:
        return f"{self.at}/lib/python"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


def environment(warm: str = WARM) -> dict[str, str]:
    """The complete environment, with nothing of the grader's own."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": warm,
        "TMPDIR": warm,
        "IPYTHONDIR": warm,
        "MPLCONFIGDIR": warm,
        "USER": "student",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
        "TORCHDYNAMO_DISABLE": "1",  # a compiler is another process: `torch.compile` gives the function itself
        "TORCHINDUCTOR_CACHE_DIR": SCRATCH if warm == WARM else warm,  # it is made all the same
        "OMP_NUM_THREADS": "1",
        "OMP_THREAD_LIMIT": "4",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def python() -> list[str]:
    """Python without start-up files: no site, no user's packages, no .pth, not the working folder."""
    return [_executable(), "-S", "-s", "-P", "-B"]


def start(staging: Staging, settings: str, descriptor: int) -> list[str]:
    program = (
        "import json, socket, sys\n"
        "settings = json.loads(sys.argv[1])\n"
        "sys.modules.update(dict.fromkeys(settings['alone']))\n"  # whatever imports one of them does without
        f"sys.path.insert(0, {staging.library!r})\n"
        f"sys.path.extend({alone.site_folders()!r})\n"
        "from autograder.sandbox.inside import zygote\n"
        "zygote.main(settings, socket.socket(fileno=int(sys.argv[2])))\n"
    )
    return [*python(), "-c", program, settings, str(descriptor)]


def readable(staging: Staging, numpy: bool = False) -> list[str]:
    """numpy: for a notebook without PyTorch, of the installed packages those few that are there."""
    if numpy:
        return [*_system(), *_python_folders(), staging.at, *alone.entries()]
    ours = list(OURS.values()) if staging.at != _HOME else []
    # Landlock knows a folder by itself, whatever its names: /lib is /usr/lib.
    return [*dict.fromkeys(map(os.path.realpath, (*_system(), *_python_folders(), staging.at, *ours)))]


def hidden(numpy: bool = False, packages: Sequence[str] = ()) -> list[str]:
    """What lies in the folders above and is not for a notebook: the grader's own package, if it is installed with the
    others. If `packages` are named, also every other package that these do not need, and whatever lies beside
    libraries; without PyTorch, all folders of packages."""
    if numpy:
        return _every_site()
    folders = _package_folders()
    found = [path for folder in folders if os.path.isdir(path := os.path.join(folder, "autograder"))]
    if packages:
        kept = alone.entries(tuple(packages))
        found += [path for folder in folders for path in _within(folder) if os.path.realpath(path) not in kept]
        for folder in ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", os.path.join(sys.base_prefix, "lib")):
            found += [path for path in _within(os.path.realpath(folder)) if not _library(path)]
    ours = [os.path.realpath(path) for path in OURS.values()]
    return [path for path in dict.fromkeys(found) if path not in ours]


def _package_folders() -> list[str]:
    """Every folder with installed packages that a notebook could reach."""
    paths = sysconfig.get_paths()
    beside = (os.path.join(paths[which], name) for which in ("stdlib", "platstdlib") for name in _PACKAGES)
    found = dict.fromkeys(map(os.path.realpath, (*alone.site_folders(), paths["purelib"], *beside)))
    return [folder for folder in found if os.path.isdir(folder)]


def _within(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []


def _library(path: str) -> bool:
    """Whether it is a compiled library, a folder of such, or on the way to Python's own modules."""
    needed = (os.path.realpath(sysconfig.get_paths()["stdlib"]), *_package_folders())
    on_the_way = any(f"{one}/".startswith(f"{path}/") for one in needed)
    return on_the_way or not os.path.isdir(path) or os.path.islink(path) or "-linux-" in Path(path).name


def _copies() -> list[str]:
    """Our packages if they are installed with the others, where a second copy of closed modules would be found."""
    tops = {name.partition("/")[0] for name in OURS}
    return [path for folder in _package_folders() for top in tops if os.path.isdir(path := os.path.join(folder, top))]


def link_ours(staging: Staging) -> None:
    """Without a separate file system: links to our packages next to the student's side."""
    for name, path in OURS.items():
        link = Path(staging.library) / name
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(path)


def _every_site() -> list[str]:
    """All folders in which packages may be installed, also for another Python."""
    roots = {*_SYSTEM, os.path.join(sys.base_prefix, "lib"), os.path.join(sys.base_exec_prefix, "lib")}
    found = [path for root in roots for path in glob.glob(f"{glob.escape(root)}/python3*/*-packages")]
    return sorted({os.path.realpath(path) for path in (*found, *alone.site_folders()) if os.path.isdir(path)})


def bubblewrap(staging: Staging, numpy: bool = False, packages: Sequence[str] = ()) -> list[str]:
    """`bwrap` and its options; the command to run follows them. `numpy`: without PyTorch and all but a few packages.

    If we are root, the notebook becomes BOX_USER without a user namespace, because a namespace of root's would leave it
    root's rights on root's files.
    """
    ours = {} if numpy else OURS
    for name, path in ours.items():
        target = staging.root / "lib" / "python" / name
        (target if os.path.isdir(path) else target.parent).mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.touch()
    staging.at = _HOME
    command = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", str(BOX_USER), "--gid", str(BOX_USER)]
    command += ["--new-session", "--hostname", "box", "--clearenv"]
    for name, value in environment().items():
        command += ["--setenv", name, value]
    made: set[str] = set()
    bound: list[str] = []
    for path in _LINKS:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
    for path in [*(p for p in _system() if not os.path.islink(p)), *_python_folders()]:
        command += [*_parents(path, made, bound), "--ro-bind", path, path]
        bound.append(path)
    if numpy:
        gone, folders, kept = [], _every_site(), alone.entries()
    else:
        gone, folders = [*hidden(packages=packages), *_copies()], _package_folders() if packages else []
        kept = tuple(path for folder in folders for path in _within(folder) if path not in gone)
    for folder in folders:
        command += ["--perms", "0755", "--tmpfs", folder]
        command += [word for path in kept if os.path.dirname(path) == folder for word in ("--ro-bind", path, path)]
        command += ["--remount-ro", folder]
    for path in gone:
        if os.path.dirname(path) not in folders:
            command += ["--perms", "0755", "--tmpfs", path, "--remount-ro", path]
    command += ["--ro-bind", str(staging.root), _HOME]
    for name, path in ours.items():
        command += ["--ro-bind", path, f"{staging.library}/{name}"]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    command += ["--perms", "0755", "--dir", SCRATCH, "--perms", "0777", "--size", str(32 << 20), "--tmpfs", WARM]
    return [*command, "--chdir", SCRATCH, "--remount-ro", "/", "--"]


def _parents(path: str, made: set[str], bound: list[str]) -> list[str]:
    """Folders above a bind, open to everybody; those that bubblewrap makes are accessible only to root."""
    found: list[str] = []
    for parent in map(str, reversed(Path(path).parents)):
        if parent != "/" and parent not in made and not any(f"{parent}/".startswith(f"{b}/") for b in bound):
            made.add(parent)
            found += ["--perms", "0755", "--dir", parent]
    return found


def _system() -> list[str]:
    return [path for path in (*_SYSTEM, *_LINKS, *_SETTINGS) if os.path.exists(path)]


def _executable() -> str:
    return os.path.realpath(sys.executable)


def _python_folders() -> list[str]:
    paths: dict[str, Any] = sysconfig.get_paths()
    wanted = [
        _executable(),
        os.path.join(sys.base_prefix, "lib"),
        os.path.join(sys.base_exec_prefix, "lib"),
        paths["stdlib"],
        paths["platstdlib"],
        *alone.site_folders(),
    ]
    found: list[str] = []
    for path in map(os.path.realpath, wanted):
        under = any(path == known or path.startswith(f"{known}/") for known in (*found, *_SYSTEM))
        if os.path.exists(path) and not under:
            found.append(path)
    return found
