"""What the site itself says, apart from any lecture: the messages of `site.po`."""

import functools
import io
import re

from babel.messages.extract import extract_javascript

from autograder.pages import FOLDER
from autograder.site import presented

COURSE = "Neural language models"
FOOT = '<a href="{root}accessibility.html">Accessibility</a>. These pages ask no other computer for anything.'


@functools.cache
def of_script() -> tuple[str, ...]:
    """What the scripts say: the texts in their calls of `say`."""
    scripts = [(FOLDER / name).read_text(encoding="utf-8") for name in ("site.js", "models.js", "try.js")]
    script = "\n".join([*scripts, presented.script()])
    file = io.BytesIO(script.encode())
    found = extract_javascript(file, {"say": None}, [], {"encoding": "utf-8", "parse_template_string": True})
    return tuple(dict.fromkeys(text if isinstance(text, str) else text[0] for _, _, text, _ in found))


def of_template() -> list[str]:
    return re.findall(r'\bsay\("([^"]+)"\)', (FOLDER / "site.html").read_text(encoding="utf-8"))
