"""What the site itself says, apart from any lecture: the messages of `site.po`."""

import functools
import re

from babel.messages.extract import extract_javascript

from autograder.pages import FOLDER

COURSE = "Neural language models"
FOOT = '<a href="{root}accessibility.html">Accessibility</a>. These pages ask no other computer for anything.'


@functools.cache
def of_script() -> tuple[str, ...]:
    """What the scripts say: the texts in their calls of `say`."""
    found: dict[str, None] = {}
    for script in ("site.js", "try.js"):
        with (FOLDER / script).open("rb") as file:
            said = extract_javascript(file, {"say": None}, [], {"encoding": "utf-8", "parse_template_string": True})
            found |= dict.fromkeys(text if isinstance(text, str) else text[0] for _, _, text, _ in said)
    return tuple(found)


def of_template() -> list[str]:
    return re.findall(r'\bsay\("([^"]+)"\)', (FOLDER / "site.html").read_text(encoding="utf-8"))
