"""`ask NOTEBOOK QUESTION`: a student asks the course's desk for a hidden check. Standard library only."""

import json
import os
import secrets
import sys
import urllib.error
import urllib.request
from typing import Any

from autograder.commands import shared
from autograder.commands.shared import Given, option
from autograder.launcher.environment import Environment


@shared.command(
    "ask",
    "Ask the course's desk whether an answer holds on hidden inputs: a few times a day, as your instructor has set.\n"
    "Save the notebook first. Exit code 0: it holds; 1: not yet, or nobody answered.",
    "ask work/attention/attention.ipynb attention.attend --desk https://desk.example.org --token 1f2e…",
    options=[
        shared.path("notebook", metavar="NOTEBOOK"),
        option("question", metavar="QUESTION", help="such as attention.attend"),
        option("--desk", metavar="ADDRESS", help="the desk's address (default: NLM_DESK in the environment)"),
        option("--token", help="yours (default: NLM_DESK_TOKEN, on a JupyterHub that of your server)"),
        option("--json", action="store_true", help="the answer for a program"),
    ],
    on_a_course=False,
)
def ask(place: Environment, given: Given) -> int:
    path, desk = given.notebook, given.desk or os.environ.get("NLM_DESK", "")
    token = given.token or os.environ.get("NLM_DESK_TOKEN") or os.environ.get("JUPYTERHUB_API_TOKEN") or ""
    missing = [] if path.is_file() else [f"there is no notebook {path}"]
    missing += [] if desk.startswith(("http://", "https://")) else ["say where the desk is: --desk https://…"]
    missing += [] if token else ["say your token: --token"]
    if missing:
        print("; ".join(missing).capitalize() + ".", file=sys.stderr)
        return 2
    answer = _sent(f"{desk.rstrip('/')}/check", path.read_bytes(), given.question, token)
    if given.json:
        shared.as_json(answer)
    elif "error" in answer:
        print(answer["error"], file=sys.stderr)
    else:
        first, *rest = answer["said"]
        print(first)
        for each in answer["properties"]:
            print(f"    {'holds  ' if each['holds'] else 'not yet'}  {each['name']}")
        print("\n".join(rest))
    return 0 if answer.get("holds") else 1


def _sent(address: str, notebook: bytes, question: str, token: str) -> dict[str, Any]:
    mark = secrets.token_hex(16)
    head = f'--{mark}\r\nContent-Disposition: form-data; name="question"\r\n\r\n{question}\r\n'
    head += f'--{mark}\r\nContent-Disposition: form-data; name="notebook"; filename="n.ipynb"\r\n'
    body = f"{head}Content-Type: application/json\r\n\r\n".encode() + notebook + f"\r\n--{mark}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={mark}", "Authorization": f"token {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=900) as reply:
            return dict(json.load(reply))
    except urllib.error.HTTPError as error:
        try:
            return dict(json.load(error))
        except ValueError:
            return {"error": f"The desk answered {error.code} {error.reason}."}
    except (urllib.error.URLError, OSError, ValueError) as error:
        return {"error": f"The desk at {address} does not answer: {getattr(error, 'reason', error)}."}
