"""A machine with accounts of our own: the system's lists of accounts are covered in a namespace that only we see.

Nothing outside is changed. A Python that lies in a folder which other accounts cannot enter is shown to them there. It
needs root.
"""

import http.cookiejar
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import requests

PASSWORD = "correct horse battery staple"
NEEDED = ("unshare", "nsenter", "setpriv", "openssl", "mount")


def why_not() -> str:
    """Why there can be no such machine here; "" if there can."""
    if sys.platform != "linux" or os.getuid() != 0:
        return "accounts of our own need root on Linux"
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        return "this container forbids mount namespaces"
    return ""


def shown(aside: Path, *more: Path) -> list[str]:
    """Commands after which everybody can enter the folders of this Python, and more: what is closed around them is
    covered."""
    closed: dict[Path, list[Path]] = {}
    for place in {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), *more}:
        shut = [folder for folder in place.parents if not folder.stat().st_mode & 0o001]
        if shut:
            closed.setdefault(shut[-1], []).append(place)
    steps = []
    for number, (folder, places) in enumerate(closed.items()):
        here = {place: aside / f"{number}-{n}" for n, place in enumerate(places)}
        steps += [f"mkdir -p {kept} && mount --rbind {place} {kept}" for place, kept in here.items()]
        steps.append(f"mount -t tmpfs -o mode=755 none {folder}")
        steps += [f"mkdir -p {place} && mount --rbind {kept} {place}" for place, kept in here.items()]
    return steps


class Machine:
    """Accounts with homes below `folder`, numbered from 64000 on, all with PASSWORD."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.number = folder, {name: 64000 + n for n, name in enumerate(names)}
        sealed = subprocess.run(["openssl", "passwd", "-6", PASSWORD], check=True, capture_output=True, text=True)
        added = {
            "passwd": "".join(f"{n}:x:{u}:{u}::{self.home(n)}:/bin/sh\n" for n, u in self.number.items()),
            "group": "".join(f"{name}:x:{user}:\n" for name, user in self.number.items()),
            "shadow": "".join(f"{name}:{sealed.stdout.strip()}:19000:0:99999:7:::\n" for name in names),
        }
        covers = []
        for name, lines in added.items():
            cover = folder / name
            cover.write_text(Path("/etc", name).read_text() + lines)
            cover.chmod(0o600 if name == "shadow" else 0o644)
            covers.append(f"mount --bind {cover} /etc/{name}")
        for name, user in self.number.items():
            self.home(name).mkdir(parents=True)
            os.chown(self.home(name), user, user)
        steps = ["mount --make-rprivate /", *covers, *shown(folder / "aside"), "echo ready", "exec sleep infinity"]
        line = " && ".join(steps)
        self.holder = subprocess.Popen(["unshare", "-m", "sh", "-c", line], stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout is not None
        assert self.holder.stdout.readline() == "ready\n", "the accounts could not be made"

    def home(self, name: str) -> Path:
        return self.folder / "homes" / name

    def give(self, path: Path, name: str) -> None:
        subprocess.run(["chown", "-R", f"{self.number[name]}:{self.number[name]}", path], check=True)

    def line(self, name: str, words: Sequence[object]) -> list[str]:
        become = []
        if name != "root":
            user = self.number[name]
            become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
        return ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", "--", *become, *map(str, words)]

    def run(self, name: str, *words: object, cwd: Path | None = None, **variables: str) -> tuple[int, str]:
        """(exit code, what it said) of a command in somebody's account."""
        home = self.home(name)
        clean = {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **variables}
        line = ["env", "-C", str(cwd or home), *map(str, words)]
        done = subprocess.run(self.line(name, line), env=clean, capture_output=True, text=True, timeout=900)
        return done.returncode, done.stdout + done.stderr

    def end(self) -> None:
        self.holder.kill()
        self.holder.communicate()


class Visitor:
    """Somebody in front of a browser, logged in to the hub."""

    def __init__(self, address: str, name: str, password: str = PASSWORD) -> None:
        self.address, self.name, self.session = address, name, requests.Session()
        self.session.cookies.set_policy(http.cookiejar.DefaultCookiePolicy())
        self.session.get(f"{address}/hub/login", timeout=60)
        form = {"username": name, "password": password, "_xsrf": self.xsrf("/hub/")}
        self.answer = self.session.post(f"{address}/hub/login", data=form, timeout=60, allow_redirects=False)

    def xsrf(self, path: str) -> str:
        found = [c.value for c in self.session.cookies if c.name == "_xsrf" and path.startswith(c.path)]
        return found[-1] or "" if found else ""

    def start(self, whose: str, patience: float = 240) -> None:
        """Open a server in the browser, which starts it; press the hub's "Relaunch" if it has failed.

        It can: the hub picks a free port seconds before the server takes it, and a busy machine may use it meanwhile.
        """
        until = time.monotonic() + patience
        failed = True
        while time.monotonic() < until:
            if failed:
                self.session.get(f"{self.address}/hub/spawn/{whose}", timeout=300)
            answer = self.session.get(f"{self.address}/user/{whose}/lab", timeout=300)
            if answer.ok and "/oauth2/authorize" in answer.url:  # somebody else's server: the hub asks once
                form = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.text)
                answer = self.session.post(answer.url, data=form, headers={"Referer": answer.url}, timeout=300)
            if answer.ok and urllib.parse.urlparse(answer.url).path.startswith(f"/user/{whose}/lab"):
                return
            failed = answer.status_code == 500
            time.sleep(1)
        said = f"{answer.status_code} {answer.url}\n{answer.text[-3000:]}"
        raise AssertionError(f"{whose}'s server did not start: {said}")

    def ask(self, method: str, path: str, whose: str = "", **given: Any) -> requests.Response:
        base = f"/user/{whose or self.name}/"
        headers = {"X-XSRFToken": self.xsrf(base), "Referer": f"{self.address}{base}lab"}
        about = {"headers": headers, "timeout": 600, "allow_redirects": False}
        return self.session.request(method, f"{self.address}{base}{path}", **about, **given)  # type: ignore[arg-type]

    def told(self, method: str, path: str, **given: Any) -> Any:
        answer = self.ask(method, path, **given)
        assert answer.ok, f"{self.name}: {method} {path}: {answer.status_code} {answer.text[:2000]}"
        said = json.loads(answer.text)
        assert said.get("success", True) if isinstance(said, dict) else True, said
        return said
