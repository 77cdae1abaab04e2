"""Pages as templates (Jinja2): Python computes the content, the templates here have the layout.

`page.html` and `page.css` are the head, style and landmarks of every page: one file, no script, nothing fetched.
`parts.html` has tables and pictures (SVG, as a library's charts would need a script). Everything is escaped except text
that Python marks as safe (`markupsafe.Markup`), and only `feedback.clean` and the templates do that.
"""

import functools
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

FOLDER = Path(__file__).resolve().parent


def number(value: float) -> str:
    """Two decimals at most: "4", "4.5", "4.33"."""
    return f"{round(value, 2):g}"


def counted(value: int, thing: str) -> str:
    """ "1 student", "2 students"."""
    return f"{value} {thing}{'' if value == 1 else 's'}"


def points(value: float) -> str:
    """ "1 point", "2.5 points"."""
    return f"{number(value)} point{'' if value == 1 else 's'}"


def duration(seconds: float) -> str:
    """In everyday words: 20 minutes, 5 hours, 2.5 days."""
    for size, unit in ((86400, "days"), (3600, "hours")):
        if seconds >= 2 * size:
            return f"{round(seconds / size, 1):g} {unit}"
    minutes = max(1, round(seconds / 60))
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"counted": counted, "duration": duration, "number": number, "points": points}
    return made


def render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(values)


def part(name: str, *values: Any) -> Markup:
    """One macro of `parts.html`, filled in."""
    return Markup(getattr(_environment().get_template("parts.html").module, name)(*values))
