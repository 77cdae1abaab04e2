"""Pictures that nothing describes, in HTML, in the cells of a notebook and in its live widgets."""

import re
from html.parser import HTMLParser


class Pictures(HTMLParser):
    """Pictures in HTML that nothing describes: `<img>` without alt, `<svg>` and `<canvas>` without a label.

    A picture inside an element with role="img" and a label belongs to it and needs no words of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.nameless: list[str] = []
        self.inside: list[str] = []
        """Open elements, from the described picture inwards."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = {name: (value or "").strip() for name, value in attrs}
        label = have.get("alt") if tag == "img" else have.get("aria-label") or have.get("aria-labelledby")
        is_picture = tag in ("img", "svg", "canvas") or have.get("role") == "img"
        described = is_picture and (label or have.get("aria-hidden") == "true")
        if self.inside or described:
            self.inside.append(tag)
        elif is_picture:
            self.nameless.append(self.get_starttag_text() or tag)
        if self.inside and self.inside[-1] in ("img", "br", "input", "hr"):
            self.inside.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            del self.inside[len(self.inside) - 1 - self.inside[::-1].index(tag) :]


def nameless_in_html(html: str) -> list[str]:
    parser = Pictures()
    parser.feed(html)
    return parser.nameless


def nameless_pictures(cell) -> list[str]:
    """Pictures of a cell, in its outputs or its text, that a blind reader is told nothing about."""
    found = []
    if cell.cell_type == "markdown":
        found += [f"![]({target})" for target in re.findall(r"!\[\s*\]\(([^)]*)\)", cell.source)]
        return found + nameless_in_html(cell.source)
    for output in cell.get("outputs", []):
        data, about = output.get("data", {}), output.get("metadata", {})
        if "text/html" in data:
            found += nameless_in_html(data["text/html"])
            continue  # the browser shows this one, whatever else is offered
        for kind in [kind for kind in data if kind.startswith("image/")]:
            described = about.get("alt") or about.get(kind, {}).get("alt")
            if not described and (kind != "image/svg+xml" or nameless_in_html(data[kind])):
                found.append(kind)
    return found


def nameless_widgets(notebook) -> list[str]:
    """Pictures without words that live widgets show: their content is in the notebook's widget state."""
    found = []
    saved = notebook.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    for model in saved.values():
        if model["model_name"] in ("HTMLModel", "HTMLMathModel"):
            found += nameless_in_html(model["state"].get("value") or "")
        elif model["model_name"] == "ImageModel":
            found.append("an Image widget has no alternative text; show the picture in an HTML widget")
    return found
