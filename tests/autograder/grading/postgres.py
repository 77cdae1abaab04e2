"""A PostgreSQL server of our own, for as long as a module's tests run."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def program(name: str) -> str | None:
    there = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(there[-1]) if there else shutil.which(name)


def running() -> Iterator[Path]:
    """A server of our own on a socket in a folder; it refuses root, so then it runs as `postgres` or `nobody`."""
    pytest.importorskip("psycopg2", reason="psycopg2-binary is not installed (the extra `cluster`)")
    if program("initdb") is None:
        pytest.skip("there is no PostgreSQL server here: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="nlm-pg-"))  # not pytest's: that is closed to other users
    user = getpass.getuser()
    become: list[str] = []
    if os.getuid() == 0:
        user = "postgres" if subprocess.run(["id", "postgres"], capture_output=True).returncode == 0 else "nobody"
        become = ["setpriv", f"--reuid={user}", f"--regid={'postgres' if user == 'postgres' else 'nogroup'}"]
        become += ["--clear-groups"]
        shutil.chown(folder, user)
    data = folder / "data"
    calls = {"check": True, "capture_output": True, "cwd": folder}
    subprocess.run([*become, program("initdb"), "-D", data, "-A", "trust", "-U", "grader"], **calls)
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    start = [*become, program("pg_ctl"), "-D", data, "-w", "-l", folder / "log", "-o", options, "start"]
    subprocess.run(start, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield folder
    finally:
        subprocess.run([*become, program("pg_ctl"), "-D", data, "-m", "immediate", "stop"], **calls)
        shutil.rmtree(folder)


def database(server: Path, name: str) -> str:
    import psycopg2

    connection = psycopg2.connect(host=str(server), user="grader", dbname="postgres")
    connection.autocommit = True
    connection.cursor().execute(f"CREATE DATABASE {name}")
    connection.close()
    return f"postgresql://grader@/{name}?host={server}"
