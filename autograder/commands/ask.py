"""`ask` and `hand-in`: a student asks the course's desk for a hidden check, or hands in. Standard library only."""

import hashlib
import json
import os
import secrets
import sys
import urllib.error
import urllib.request
from datetime import datetime
from typing import Any

from autograder.commands import shared
from autograder.commands.shared import Environment, Given, command, flag, option
from autograder.files import WORK, write_json, write_whole

KNOWN = f"{WORK}/.desk.json"  # what was given last: the address, and the token
HANDED_IN = f"{WORK}/handed-in"  # the notebooks as they were sent, with their receipts
LONG, SOON = 900, 60  # seconds to wait for a check that others are before, and for a receipt
DESK = (
    option("--desk", metavar="ADDRESS", help="the desk's address (default: the last one, or NLM_DESK)"),
    option("--token", help="yours (default: the last one, NLM_DESK_TOKEN, or on a JupyterHub that of your server)"),
    flag("--json", "the answer for a program"),
)


@command(
    "ask",
    "Ask the course's desk whether an answer holds on hidden inputs: a few times a day, as your instructor has set.\n"
    "Save the notebook first. Exit code 0: it holds; 1: not yet, or nobody answered.",
    "ask work/attention/attention.ipynb attention.attend --desk https://desk.example.org --token 1f2e…",
    shared.path("notebook", metavar="NOTEBOOK"),
    option("question", metavar="QUESTION", help="such as attention.attend"),
    *DESK,
)
def ask(place: Environment, given: Given) -> int:
    desk, token, missing = _desk(place, given)
    if missing:
        return shared.failed(missing, 2)
    answer = sent(f"{desk}/check", token, given.notebook.name, given.notebook.read_bytes(), given.question)
    _remember(place, given, answer)
    code = 0 if answer.get("holds") else 1
    if given.json:
        return shared.as_json(answer, code)
    if "error" in answer:
        return shared.failed(answer["error"])
    first, *rest = answer["said"]
    found = (f"    {'holds  ' if each['holds'] else 'not yet'}  {each['name']}" for each in answer["properties"])
    print(first, *found, *rest, sep="\n")
    return code


@command(
    "hand-in",
    "Hand in a notebook at the course's desk, as often as you like; the last one counts. You get a receipt: what,\n"
    "when, and its digest. Save the notebook first. Notebook and receipt are kept in work/handed-in/.",
    "hand-in work/attention/attention.ipynb --desk https://desk.example.org --token 1f2e…",
    "hand-in work/gates/gates.ipynb       desk and token as the last time",
    "hand-in                              the receipts so far",
    shared.path("notebook", metavar="NOTEBOOK", nargs="?", help="without one: the receipts so far"),
    *DESK,
)
def hand_in(place: Environment, given: Given) -> int:
    kept = place.root / HANDED_IN
    desk, token, missing = _desk(place, given)
    if missing:
        return shared.failed(missing, 2)
    if given.notebook is None:
        answer = sent(f"{desk}/receipts", token, seconds=SOON)
        if "error" in answer:
            told = "".join(path.read_text(encoding="utf-8") for path in sorted(kept.glob("*.txt"))).splitlines()
            answer |= {"said": [f"Kept in {kept}:", *told] if told else [f"There is no receipt in {kept}."]}
    else:
        content = given.notebook.read_bytes()
        copy = kept / f"{given.notebook.stem}-{hashlib.sha256(content).hexdigest()[:8]}.ipynb"
        write_whole(copy, content)
        saved = datetime.fromtimestamp(given.notebook.stat().st_mtime).astimezone()
        answer = sent(f"{desk}/hand-in", token, given.notebook.name, content, seconds=SOON)
        if "error" in answer and answer.get("answered"):
            if not copy.with_suffix(".txt").exists():  # it was handed in before
                copy.unlink()
            answer |= {"said": []}
        elif "error" in answer:
            again = "run the same command again later, or hand in the copy as your instructor says"
            answer |= {"said": [f"NOT HANDED IN, as there is no receipt. Your notebook is kept in {copy}: {again}."]}
        else:
            answer["said"].append(f"It is the notebook as it was saved on {saved:%A, %H:%M:%S}.")
            write_whole(copy.with_suffix(".txt"), "\n".join(answer["said"]) + "\n")
            answer["said"].append(f"The receipt is kept in {copy.with_suffix('.txt')}.")
    _remember(place, given, answer)
    code = int("error" in answer)
    if given.json:
        return shared.as_json(answer, code)
    if "error" in answer:
        print(answer["error"], file=sys.stderr)
    shared.lines("{}", answer["said"])
    return code


def _desk(place: Environment, given: Given) -> tuple[str, str, str]:
    """Its address, the token, and what is missing, in words."""
    known = _known(place)
    desk = given.desk or os.environ.get("NLM_DESK") or known.get("desk", "")
    token = given.token or os.environ.get("NLM_DESK_TOKEN") or known.get("token", "")
    token = token or os.environ.get("JUPYTERHUB_API_TOKEN", "")
    there = given.notebook is None or given.notebook.is_file()
    missing = [] if there else [f"there is no notebook {given.notebook}"]
    missing += [] if desk.startswith(("http://", "https://")) else ["say where the desk is: --desk https://…"]
    missing += [] if token else ["say your token: --token"]
    return desk.rstrip("/"), token, shared.sentence("; ".join(missing)) if missing else ""


def _known(place: Environment) -> dict[str, str]:
    try:
        return dict(json.loads((place.root / KNOWN).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _remember(place: Environment, given: Given, answer: dict[str, Any]) -> None:
    said = {name: getattr(given, name) for name in ("desk", "token") if getattr(given, name)}
    if said and "error" not in answer:
        write_json(place.root / KNOWN, _known(place) | said)
        (place.root / KNOWN).chmod(0o600)


def sent(
    address: str, token: str, name: str = "", notebook: bytes | None = None, question: str = "", seconds: int = LONG
) -> dict[str, Any]:
    """What the desk answers, or why there is no answer, as `error`."""
    mark = secrets.token_hex(16)
    body = f'--{mark}\r\nContent-Disposition: form-data; name="question"\r\n\r\n{question}\r\n'.encode()
    if notebook is not None:
        name = name.replace('"', "%22")
        body += f'--{mark}\r\nContent-Disposition: form-data; name="notebook"; filename="{name}"\r\n'.encode()
        body += b"Content-Type: application/json\r\n\r\n" + notebook + b"\r\n"
    body += f"--{mark}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={mark}", "Authorization": f"token {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=seconds) as reply:
            return dict(json.load(reply))
    except urllib.error.HTTPError as error:
        try:
            return {**json.load(error), "answered": error.code < 500}
        except ValueError:
            return {"error": f"The desk answered {error.code} {error.reason}."}
    except (urllib.error.URLError, OSError, ValueError) as error:
        return {"error": f"The desk at {address} does not answer: {getattr(error, 'reason', error)}."}
