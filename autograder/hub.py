"""A JupyterHub for the course on one machine: every student with an account, and the exchange between them.

Students run FOLDER/course: a copy of the course without solutions, which belongs to the administrator. The
exchange is open to all, as nbgrader wants it. This checkout, with solutions, submissions and marks, is only for its
owner, whose server has Formgrader.
"""

import json
import pwd
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from string import Template

from autograder import temporary
from autograder.engine.course import Course
from autograder.engine.records import write_whole
from autograder.intake import exchange
from autograder.launcher import notebooks, requirements
from autograder.release.student_zip import TOP, write_zip

CONFIG, NEXT = "jupyterhub_config.py", "NEXT.md"
PANELS = ("create-assignment", "formgrader", "course-list")  # of nbgrader, for instructors

_CONFIG = '''\
"""JupyterHub for this course, written by `python -m autograder hub`.

The hub runs as root and reads this file as a program: let only root write it, as NEXT.md says.
"""

import os
import shlex
import shutil

c = get_config()  # noqa: F821

STUDENTS = $students  # what students run: no solutions, and theirs to read only
COURSE = $course  # solutions, submissions and marks: for its owner alone
PYTHON = $python  # the course's own environment
OWNER = $owner  # the account whose server has the course, and Formgrader in it
GRADERS = $graders  # who may start and open that server as well
SETTINGS = $settings  # students' nbgrader and JupyterLab
STATE = $state  # the hub's own files

os.makedirs(STATE, mode=0o700, exist_ok=True)
c.JupyterHub.bind_url = "http://127.0.0.1:$port"  # for this machine only: a web server with TLS stands in front of it
c.JupyterHub.hub_port = $hub_port
c.JupyterHub.cookie_secret_file = f"{STATE}/cookie_secret"
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:$api_port"
c.ConfigurableHTTPProxy.pid_file = f"{STATE}/proxy.pid"
# JupyterHub's own proxy, of npm, if it is installed; else one in Python, which passes on ten requests at a time. An
# answer may take an hour: Formgrader's button answers when a submission is graded.
proxy = shutil.which("configurable-http-proxy", path="/usr/local/bin:/usr/bin")
c.ConfigurableHTTPProxy.command = [proxy or f"{STUDENTS}/.venv/bin/configurable-http-proxy", "--proxy-timeout=3600000"]

# Who has an account and a password on this machine may log in; a name in nbgrader is the account's.
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.default_url = "/lab"
c.Spawner.http_timeout = c.Spawner.start_timeout = 180


def variables(copy, python, *settings):
    """What a server's environment must say, so that it runs this copy of the course."""
    return {
        "PATH": f"{python}/bin:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": copy,
        "JUPYTER_CONFIG_PATH": ":".join([*settings, f"{copy}/autograder/jupyter"]),
        "JUPYTER_PATH": f"{python}/share/jupyter:{copy}/autograder/jupyter",
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


def server(python, *steps):
    """The line that starts a server, in its user's own account, after some steps."""
    last = f'exec {shlex.quote(python)}/bin/jupyterhub-singleuser "$$@"'
    return ["/bin/sh", "-c", " && ".join([*steps, last]), "server"]


# A student's server: the lectures are copied at its first start, and what is there is never overwritten.
c.Spawner.notebook_dir = "~/course"
c.Spawner.environment = variables(STUDENTS, f"{STUDENTS}/.venv", SETTINGS)
c.Spawner.cmd = server(
    f"{STUDENTS}/.venv",
    "umask 077",
    'mkdir -p "$$HOME/course/lectures"',
    'chmod 700 "$$HOME/course"',
    f"for text in {shlex.quote(STUDENTS)}/lectures/*.ipynb"
    '; do mine="$$HOME/course/lectures/$$(basename "$$text")"; [ -e "$$mine" ] || cp "$$text" "$$mine"; done',
    'cd "$$HOME/course"',
)


def the_course_for_its_owner(spawner):
    if spawner.user.name == OWNER:
        spawner.notebook_dir = COURSE
        spawner.environment = variables(COURSE, PYTHON)
        spawner.cmd = server(PYTHON, "umask 077", f"cd {shlex.quote(COURSE)}")


c.Spawner.pre_spawn_hook = the_course_for_its_owner
if GRADERS:
    allowed = [f"{scope}!user={OWNER}" for scope in ("access:servers", "servers", "read:users:name")]
    c.JupyterHub.load_roles = [{"name": "graders", "scopes": allowed, "users": GRADERS}]
'''

_NEXT = """\
# A hub for the course

Once, on Linux, as the machine's administrator:

```bash
sudo chown -R root:root $folder/course $folder/jupyter && sudo chown root:root $folder
cd $folder/course && sudo python3 -m autograder setup
sudo .venv/bin/python -m pip install $packages
sudo install -D -m 600 $folder/$config /etc/jupyterhub/$config
sudo .venv/bin/jupyterhub --config /etc/jupyterhub/$config
```

Then open http://127.0.0.1:$port on this machine. When it works:

- **Accounts.** Everybody who has an account on this machine can log in with its password; `sudo adduser ada` makes one.
  The account's name is the student's id in the gradebook.
- **A service.** Let systemd start the last line at boot (`ExecStart=$folder/course/.venv/bin/jupyterhub --config
  /etc/jupyterhub/$config`).
- **TLS.** The hub listens to this machine only. Put nginx, Caddy or Apache with a certificate in front of it, with
  websockets passed on and the headers `Host` and `X-Forwarded-Proto` set.
- **Many students.** `sudo npm install -g configurable-http-proxy` installs JupyterHub's own proxy (it needs Node.js),
  which the hub takes at its next start. The one in Python passes on only ten requests at a time.
- **Limits.** Nothing here limits the memory or the processor that a student's server takes: systemd's slices do
  (`systemctl set-property user.slice …`), or `systemdspawner` in place of the hub's own spawner.

## The course

$owner logs in and has this checkout, $course, with Formgrader (*Nbgrader → Formgrader*)$graders.
$owner's terminal there has `python -m autograder grade`, `mark`, `report` and all the rest.

1. Release: Formgrader's button, or `nbgrader release_assignment NAME`.
2. Students open *Nbgrader → Assignment List*: *Fetch*, work, *Submit*.
3. Collect: the button, or `nbgrader collect NAME`. Then `python -m autograder grade NAME`, `mark NAME` and
   `feedback NAME`.
4. Hand out: `nbgrader release_feedback NAME`. Students press *Fetch Feedback*.

After a change to lectures or exercises, renew the students' copy. What they have in their homes stays.

```bash
sudo chown -R $owner $folder/course $folder/jupyter && sudo chown $owner $folder
python -m autograder hub $folder
sudo chown -R root:root $folder/course $folder/jupyter && sudo chown root:root $folder
```
"""


def set_up(
    course: Course, folder: Path, *, graders: Sequence[str] = (), port: int = 8000
) -> tuple[Path, list[str], list[str]]:
    """Write everything that the hub needs into `folder`. Returns the page of next steps, what else was done, and the
    remaining obstacles, in words. Raises ValueError or OSError."""
    folder, root = folder.resolve(), course.root
    if folder.is_relative_to(root) or root.is_relative_to(folder):
        raise ValueError(f"the hub's folder must lie outside the course, which students may not read: {folder}")
    owner = pwd.getpwuid(root.stat().st_uid).pw_name
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    theirs = _students_copy(root, folder)
    settings = folder / "jupyter"
    _settings(settings)
    _, trouble = exchange.set_up(course, folder / "exchange", settings / "nbgrader_config.py")
    done = []
    if owner == "root":
        trouble.append(
            f"{root} belongs to root, whose server JupyterLab does not start: give it to an account, chown -R"
        )
    if root.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        root.chmod(0o700)
        done.append(f"{root} can now be read by {owner} alone (chmod 700): the solutions and the marks are in it.")
    values = {"students": theirs, "course": root, "settings": settings, "state": folder / "state", "owner": owner}
    values["python"] = sys.prefix
    config = Template(_CONFIG).substitute(
        {name: repr(str(value)) for name, value in values.items()},
        graders=repr(list(graders)),
        port=port,
        api_port=port + 1,
        hub_port=port + 81,
    )
    write_whole(folder / CONFIG, config)
    packages = " ".join(f"'{each}'" for each in requirements.read(root).extras["hub"])
    also = f"; {', '.join(graders)} can open it as well, at /user/{owner}/" if graders else ""
    page = Template(_NEXT).substitute(
        folder=folder, config=CONFIG, port=port, packages=packages, owner=owner, course=root, graders=also
    )
    write_whole(folder / NEXT, page)
    return folder / NEXT, done, trouble


def _students_copy(root: Path, folder: Path) -> Path:
    """What `release` gives to students, unpacked and built where they can read it but not change it."""
    target = folder / "course"
    with tempfile.TemporaryDirectory(prefix="hub-", dir=temporary.home()) as place:
        made = Path(place) / TOP
        with zipfile.ZipFile(write_zip(root, Path(place), ())) as archive:
            archive.extractall(place)
        notebooks.build(made)
        for path in [made, *made.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        shutil.copytree(made, target, dirs_exist_ok=True)
    return target


def _settings(folder: Path) -> None:
    """Students' JupyterLab: nbgrader's list of assignments, and none of its panels for instructors."""
    server = {f"nbgrader.server_extensions.{name}": False for name in ("formgrader", "course_list")}
    panels = {f"@jupyter/nbgrader:{name}": name in PANELS for name in (*PANELS, "assignment-list", "menu")}
    for name, facts in {
        "jupyter_server_config.json": {"ServerApp": {"jpserver_extensions": server}},
        "labconfig/page_config.json": {"disabledExtensions": panels},
    }.items():
        write_whole(folder / name, json.dumps(facts, indent=1) + "\n")
        (folder / name).chmod(0o644)
    for path in (folder, folder / "labconfig"):
        path.chmod(0o755)
