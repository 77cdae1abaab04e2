"""All formulas of the course, and the font in which the pages set them.

    python -m autograder.site.formulas STIXTwoMath-Regular.ttf

cuts the font down to the characters that occur (`pages/math.woff`). A browser takes the height of an index from a table
that few fonts have: without it w₁ reads like the product of w and 1. The whole font is in several packages, for example
in ziamath.
"""

import html
import re
import sys
import unicodedata
from pathlib import Path

from autograder.feedback.mathematics import mathml
from autograder.pages import FOLDER
from autograder.site.prose import BARE

FONT = FOLDER / "math.woff"
ALWAYS = {*map(chr, range(0x20, 0x7F)), *"äöüßαβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"}
"""Letters of which the next formula may be made."""
_BLOCK, _INLINE = re.compile(r"\$\$(.+?)\$\$", re.S), re.compile(r"(?<!\\)\$([^$]{1,400}?)\$")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def formulas(root: Path) -> set[str]:
    """The LaTeX of lectures, assignments, translations and lists: in their Markdown, and in strings of their code."""
    found: set[str] = set()
    texts = ("lectures/*.md", "exercises/*.md", "autograder/pages/*.md")
    for pattern in ("lectures/**/*.py", "lectures/**/*.po", "solutions/*/*.py", *texts):
        for path in root.glob(pattern):
            for part in re.split(r"\n(?=# %%)", path.read_text(encoding="utf-8")):
                if part.startswith("# %% [markdown]") or path.suffix == ".md":
                    part = re.sub("^# ?", "", part, flags=re.M)
                elif path.suffix == ".po":
                    part = re.sub(r"\\(.)", lambda escaped: escaped[1].replace("n", "\n"), part.replace('"\n"', ""))
                else:
                    found.update(latex.replace("\\\\", "\\") for latex in BARE.findall(part) if "\n" not in latex)
                    continue
                found.update(_BLOCK.findall(part))
                found.update(map(html.unescape, _INLINE.findall(_CODE.sub("", _BLOCK.sub("", part)))))
    return found


def characters(made: str) -> set[str]:
    """What a font must have for the MathML `made`. A variable of one letter is set in italics; a root has no letter."""
    letters = set(html.unescape(re.sub("<[^>]*>", "", made)))
    letters |= {"√"} if re.search("<msqrt|<mroot", made) else set()
    return letters | {italic(name) for name in re.findall(r"<mi>(.)</mi>", made)}


def italic(letter: str) -> str:
    """The mathematical italic of a letter, by which browsers replace a variable's name."""
    for first, start in (("A", 0x1D434), ("a", 0x1D44E), ("Α", 0x1D6E2), ("α", 0x1D6FC)):
        made = chr(start + max(0, ord(letter) - ord(first)))
        if letter != "h" and unicodedata.normalize("NFKC", made) == letter:
            return made
    return "ℎ" if letter == "h" else letter


def main(whole: str) -> None:
    from fontTools import subset

    wanted = ALWAYS.union(*(characters(mathml(latex)) for latex in formulas(FOLDER.parents[1])))
    options = subset.Options(flavor="woff", layout_features=["ssty"], hinting=False)
    options.name_IDs = [0, 1, 2, 13, 14]  # with its copyright and its licence
    font = subset.load_font(whole, options)
    made = subset.Subsetter(options)
    made.populate(unicodes=map(ord, wanted | set(map(italic, ALWAYS))))
    made.subset(font)
    subset.save_font(font, str(FONT), options)
    print(f"{FONT.name}: {len(wanted)} characters, {FONT.stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
