"""Final marks sent to a learning management system by LTI 1.3: 1EdTech's Assignment and Grade Services 2.

    token      proves its identity with the tool's private key, and gets a token for an hour
    members    who is in the course there (Names and Role Provisioning Services 2), page by page
    line item  the column of the assignment: the one with its name as `resourceId`, otherwise a new one
    scores     one request per student: points, their maximum, and that they are final

The addresses come from a launch of the tool. JupyterHub's LTI13Authenticator has them in `auth_state`.
"""

import base64
import hashlib
import json
import re
import secrets
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from autograder.instructor.lms import final
from autograder.instructor.rows import Row
from autograder.intake.naming import Names

AGS, NRPS = "https://purl.imsglobal.org/spec/lti-ags/scope", "https://purl.imsglobal.org/spec/lti-nrps/scope"
SCOPES = (f"{AGS}/lineitem", f"{AGS}/score", f"{NRPS}/contextmembership.readonly")
CLAIMS = {
    "lineitems": ("https://purl.imsglobal.org/spec/lti-ags/claim/endpoint", "lineitems"),
    "memberships": ("https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice", "context_memberships_url"),
}
"""Where a launch's claims contain the required values."""
NEEDED = ("client_id", "token_url", "key", *CLAIMS)
SECONDS = 30


class Refused(Exception):  # noqa: N818 - said to the instructor
    """The system's answer instead of the requested one."""


@dataclass(frozen=True)
class Settings:
    client_id: str
    token_url: str
    key: Path  # the tool's private key
    lineitems: str
    memberships: str
    audience: str = ""  # of the proof, where it is not the token's address

    @classmethod
    def read(cls, path: Path) -> "Settings":
        """Raises ValueError, which says what is missing; OSError."""
        if not path.exists():
            raise ValueError(f"there is no {path}; it needs {', '.join(NEEDED)}: see autograder/guide/returning.md")
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            facts = {**{name: facts.get(claim, {}).get(key) for name, (claim, key) in CLAIMS.items()}, **facts}
        except (ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"{path} is no JSON object with LTI's settings ({error})") from None
        if missing := [name for name in NEEDED if not isinstance(facts.get(name), str) or not facts[name]]:
            raise ValueError(f"{path} says nothing of {', '.join(missing)}; it needs {', '.join(NEEDED)}")
        for name in ("token_url", *CLAIMS):
            parts = urllib.parse.urlsplit(facts[name])
            if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1"):
                raise ValueError(f"{path}: {name} must begin with https://, got {facts[name]!r}")
        given = {name: facts[name] for name in NEEDED}
        return cls(**given | {"key": path.parent / facts["key"]}, audience=str(facts.get("audience") or ""))


# --- the tool's key -----------------------------------------------------------------------------------------


def _openssl(*words: str, given: bytes = b"") -> bytes:
    if shutil.which("openssl") is None:
        raise ValueError("the program openssl is not installed, which signs for LTI")
    done = subprocess.run(["openssl", *words], input=given, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"openssl: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}")
    return done.stdout


def jwk(key: Path) -> dict[str, str]:
    """The public half of a key, for systems that require a JWK; its `kid` is derived from it (RFC 7638)."""
    if not key.exists():
        raise ValueError(f"there is no key {key}. To make it: openssl genrsa -out {key} 2048")
    modulus = _openssl("rsa", "-in", str(key), "-noout", "-modulus").decode().strip().partition("=")[2]
    made = {"e": "AQAB", "kty": "RSA", "n": _coded(bytes.fromhex(modulus))}
    kid = _coded(hashlib.sha256(json.dumps(made, separators=(",", ":")).encode()).digest())
    return {**made, "alg": "RS256", "use": "sig", "kid": kid}


def _coded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _signed(claims: Mapping[str, Any], key: Path) -> str:
    head = {"alg": "RS256", "typ": "JWT", "kid": jwk(key)["kid"]}
    text = ".".join(_coded(json.dumps(part).encode()) for part in (head, claims))
    return f"{text}.{_coded(_openssl('dgst', '-sha256', '-sign', str(key), given=text.encode()))}"


# --- requests -----------------------------------------------------------------------------------------------


class Platform:
    """The system, as far as the token gives access. Raises Refused."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.token = settings, ""
        now, name = int(time.time()), settings.client_id
        claims = {"iss": name, "sub": name, "aud": settings.audience or settings.token_url, "iat": now}
        proof = _signed({**claims, "exp": now + 300, "jti": secrets.token_urlsafe(16)}, settings.key)
        form = {"grant_type": "client_credentials", "scope": " ".join(SCOPES), "client_assertion": proof}
        form |= {"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}
        asked = urllib.parse.urlencode(form).encode()
        facts, _ = self._ask(settings.token_url, "application/x-www-form-urlencoded", asked)
        self.token = str(facts.get("access_token", ""))

    def members(self) -> Iterator[dict[str, Any]]:
        url = self.settings.memberships
        while url:
            facts, links = self._ask(url, "application/vnd.ims.lti-nrps.v2.membershipcontainer+json")
            yield from facts.get("members", [])
            following = re.search(r'<([^>]+)>\s*;[^,]*rel="?next"?', links)
            url = urllib.parse.urljoin(url, following[1]) if following else ""

    def line_item(self, assignment: str) -> str | None:
        """The address of the assignment's column; None if there is none yet."""
        items = self.settings.lineitems
        url = f"{items}{'&' if '?' in items else '?'}{urllib.parse.urlencode({'resource_id': assignment})}"
        facts, _ = self._ask(url, "application/vnd.ims.lis.v2.lineitemcontainer+json")
        return next((str(item["id"]) for item in facts if item.get("resourceId") == assignment), None)

    def new_line_item(self, assignment: str, title: str, of: float) -> str:
        asked = {"label": title, "scoreMaximum": of, "resourceId": assignment}
        kind = "application/vnd.ims.lis.v2.lineitem+json"
        facts, _ = self._ask(self.settings.lineitems, kind, json.dumps(asked).encode())
        return str(facts["id"])

    def publish(self, line_item: str, user: str, mark: float, of: float) -> None:
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        asked = {"userId": user, "scoreGiven": mark, "scoreMaximum": of, "timestamp": when}
        asked |= {"activityProgress": "Completed", "gradingProgress": "FullyGraded"}
        parts = urllib.parse.urlsplit(line_item)
        url = parts._replace(path=f"{parts.path}/scores").geturl()  # what is asked of it stays behind
        self._ask(url, "application/vnd.ims.lis.v1.score+json", json.dumps(asked).encode())

    def _ask(self, url: str, kind: str, content: bytes | None = None) -> tuple[Any, str]:
        """The response, and the address of the next page."""
        headers = {"Accept": "application/json" if "urlencoded" in kind else kind}
        headers |= {"Content-Type": kind} if content is not None else {}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        request = urllib.request.Request(url, data=content, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                text = answer.read()
                return json.loads(text) if text.strip() else {}, answer.headers.get("Link") or ""
        except urllib.error.HTTPError as error:
            said = " ".join(error.read(500).decode(errors="replace").split())
            raise Refused(f"{url} answered {error.code} {error.reason}: {said[:200]}") from None
        except (OSError, ValueError) as error:
            raise Refused(f"{url} cannot be asked ({error})") from None


# --- who gets what ------------------------------------------------------------------------------------------


class Sendable(NamedTuple):
    scores: dict[str, tuple[str, float]]  # by student: the system's own name for them, the mark
    unknown: list[str]  # students with a final mark whom the system does not know, or not for certain
    named: list[str]  # of these, who is there by a name that nobody else has, and by nothing else
    without: list[str]  # students without a final mark: nothing is sent for them


def sendable(rows: Sequence[Row], members: Iterator[dict[str, Any]], names: Names, by_name: bool = False) -> Sendable:
    """A member is matched to a student by address, number or the system's own name; with `by_name` otherwise by name,
    if the system gives no address and no number. Anybody may be called like another."""
    surely: dict[str, set[str]] = defaultdict(set)
    named: dict[str, set[str]] = defaultdict(set)
    for member in members:
        user = str(member.get("user_id", ""))
        if not user or str(member.get("status", "Active")) != "Active":
            continue
        numbers = [str(member.get(key) or "") for key in ("email", "lis_person_sourcedid", "user_id")]
        known = names.find("", numbers).ids
        ids = known or (() if any(numbers[:2]) else names.find(str(member.get("name") or "")).ids)
        if len(ids) == 1:
            (surely if known else named)[ids[0]].add(user)
    marks = {row.student: mark for row in rows if (mark := final(row)) is not None}
    users = {**named, **surely} if by_name else surely  # who is called like another gets nothing of theirs
    sure = {student: next(iter(users[student])) for student in marks if len(users.get(student, ())) == 1}
    unknown = sorted(marks.keys() - sure.keys())
    by_name_alone = [student for student in unknown if len(named.get(student, ())) == 1 and student not in surely]
    scores = {student: (user, marks[student]) for student, user in sure.items()}
    return Sendable(scores, unknown, by_name_alone, [row.student for row in rows if row.student not in marks])
