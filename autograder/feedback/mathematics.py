"""LaTeX -> MathML, which every modern browser renders by itself: mathematics without a network and without a script.

The conversion is latex2mathml's. Its result is not trusted (it passes the text of \\text{…} through as markup, and
knows \\href and \\style): it is parsed again and only the elements named here are kept. Formulas that cannot be
converted are shown as source.
"""

import functools
import html
import re
from itertools import zip_longest
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
_ROWS = set(["math", "mrow", "mtd", "msqrt", "mstyle", "mpadded", "mphantom", "menclose", "merror"])
"""Elements with any number of children, side by side."""
_PARTS = {name: 2 for name in ["mfrac", "mroot", "msub", "msup", "munder", "mover"]} | {"msubsup": 3, "munderover": 3}
"""How many children the others have. With any other number a browser shows them in a row: x squared as x 2."""
_SPACED = set("=≈≠≤≥<>∈→←∝∣≪≫")
_BOLD = {
    ord(a) + i: bold + i
    for a, bold, n in (("A", 0x1D400, 26), ("a", 0x1D41A, 26), ("0", 0x1D7CE, 10))
    for i in range(n)
}
"""Browsers know no bold letters but those that are characters of their own."""


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
        made = _kept(tree)
    except Exception:  # a converter of free text may fail in any way, and none of them may cost a student the page
        return plain
    words = html.escape(" ".join(latex.split()))
    return made.replace("<math", f'<math alttext="{words}"', 1) if made.startswith("<math") else plain


def in_a_line(made: str) -> str:
    """MathML as plain text: w_t, x^2, a/b."""
    return " ".join(_line(ElementTree.fromstring(made)).split())


def _line(element: ElementTree.Element) -> str:
    name, parts = _name(element), [_line(child) for child in element]
    if name in ("msub", "msup", "msubsup", "munder", "mover", "munderover", "mfrac") and len(parts) == _PARTS[name]:
        parts = [part if len(part) < 2 or part.isalnum() else f"({part})" for part in parts]
        if name == "mfrac":
            return "/".join(parts)
        if name == "mover":
            return parts[0]
        signs = ["^"] if name == "msup" else ["_", "^"]
        return parts[0] + "".join(sign + part for sign, part in zip(signs, parts[1:], strict=False))
    if name == "msqrt":
        return f"√({''.join(parts)})"
    if name == "mspace":
        return " "
    text = element.text or ""
    return f" {text} " if name == "mo" and text in _SPACED else text + "".join(parts)


def _kept(element: ElementTree.Element) -> str:
    name, children = _name(element), list(element)
    if name not in _TAGS:
        return html.escape("".join(element.itertext()))
    if len(children) != _PARTS.get(name, len(children)):
        raise ValueError(f"<{name}> with {len(children)} parts")
    text = element.text or ""
    inside = html.escape(text.translate(_BOLD) if element.get("mathvariant") == "bold" else text)
    if name == "mo" and text in ("|", "‖") and not element.attrib:
        element.set("stretchy", "false")  # \\lVert: else a norm is as high as its line, and its index hangs below
    if name == "mover" and children[1].text in ("¯", "~"):
        element.set("accent", "true")  # else the bar of a mean is as small as an index
    for child, following in zip_longest(children, children[1:]):
        inside += _kept(child)
        if name in _ROWS and _is_function(child) and following is not None and _name(following) != "mo":
            inside += '<mspace width="0.17em"></mspace>'
        inside += html.escape(child.tail or "")
    attributes = "".join(
        f' {key}="{value}"' for key, value in element.attrib.items() if key in _ATTRIBUTES and _VALUE.fullmatch(value)
    )
    return f"<{name}{attributes}>{inside}</{name}>"


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _is_function(element: ElementTree.Element) -> bool:
    """A function's name, as in exp x, also with an index or a power: log₂ x, tanh² x."""
    if _name(element) in ("msub", "msup", "msubsup") and len(element):
        return _is_function(element[0])
    return _name(element) == "mi" and not element.attrib and re.fullmatch("[a-z]{2,}", element.text or "") is not None
