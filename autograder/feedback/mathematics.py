"""LaTeX -> MathML, which every modern browser renders by itself: mathematics without a network and without a script.

The conversion is latex2mathml's. Its result is not trusted (it passes the text of \\text{…} through as markup, and
knows \\href and \\style): it is parsed again and only the elements named here are kept. Formulas that cannot be
converted are shown as source.
"""

import functools
import html
import re
from xml.etree import ElementTree

_NAMES = (
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts"
    " mprescripts none mtable mtr mtd mpadded mphantom menclose mstyle merror"
)
_TAGS = set(_NAMES.split())
_WHICH = (
    "display mathvariant stretchy fence separator form lspace rspace minsize maxsize movablelimits accent accentunder"
    " linethickness displaystyle scriptlevel columnalign rowalign columnspacing rowspacing columnlines rowlines width"
    " height depth notation symmetric largeop"
)
_ATTRIBUTES = set(_WHICH.split())
_VALUE = re.compile(r"[\w.%+ -]{1,60}")
_LONGEST = 4000
_WORDS = re.compile(r"\\text[a-z]*\{[^{}]*\}")
_NAMED = re.compile(r"(<mi>[a-z]{2,}</mi>)(?=<m(?!o))")
"""A function's name before what is no operator: exp x, ln P."""


@functools.lru_cache(maxsize=4096)
def mathml(latex: str, block: bool = False) -> str:
    """One `<math>` element, or the LaTeX itself in `<code>`. Whatever the input, the result can run nothing."""
    plain = f"<code>{html.escape(latex.strip())}</code>"
    if len(latex) > _LONGEST:
        return plain
    try:
        from latex2mathml.converter import convert

        source = _WORDS.sub(lambda found: html.escape(found[0], quote=False), latex)  # \\text{<eos>}
        tree = ElementTree.fromstring(convert(source, display="block" if block else "inline"))
        made = _NAMED.sub(r'\1<mspace width="0.17em"></mspace>', _kept(tree))
    except Exception:  # a converter of free text may fail in any way, and none of them may cost a student the page
        return plain
    words = html.escape(" ".join(latex.split()))
    return made.replace("<math", f'<math alttext="{words}"', 1) if made.startswith("<math") else plain


def _kept(element: ElementTree.Element) -> str:
    name = element.tag.rpartition("}")[2]
    inside = html.escape(element.text or "") + "".join(
        _kept(child) + html.escape(child.tail or "") for child in element
    )
    if name not in _TAGS:
        return html.escape("".join(element.itertext()))
    attributes = "".join(
        f' {key}="{value}"' for key, value in element.attrib.items() if key in _ATTRIBUTES and _VALUE.fullmatch(value)
    )
    return f"<{name}{attributes}>{inside}</{name}>"
