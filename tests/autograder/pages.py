"""What a browser would do with a page, found by a parser: what it would fetch, what it would run, how it is built."""

import re
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "br", "img", "hr", "link", "input"}
ACTIVE = {"script", "iframe", "object", "embed", "link", "form", "base", "audio", "video", "template", "use", "image"}
FETCHING = {"src", "srcset", "poster", "background", "data", "action", "xlink:href", "srcdoc"}


class Page(HTMLParser):
    """A parsed page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.unclosed: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.unclosed.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag):
        if self.unclosed and self.unclosed[-1] == tag:
            self.unclosed.pop()
        else:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def dangers(text: str) -> list[str]:
    """Everything in a page that could run or fetch something."""
    found = []
    for tag, attributes in Page(text).tags:
        if tag in ACTIVE:
            found.append(f"<{tag}>")
        for key, value in attributes.items():
            bare = re.sub(r"[\s\x00-\x1f]", "", value).lower()
            if key.startswith("on") or bare.startswith(("javascript:", "vbscript:")):
                found.append(f"{key}={value}")
            embedded = re.match(r"data:image/(png|jpeg|svg\+xml);base64,", value)
            if key in FETCHING and not embedded:
                found.append(f"{key}={value}")
            if key == "style" and "url(" in bare:
                found.append(f"{key}={value}")
            if key == "href" and not bare.startswith(("#", "http://", "https://", "mailto:")):
                found.append(f"{key}={value}")
    styles = re.findall(r"<style>(.*?)</style>", text, re.S)
    return found + [style for style in styles if "url(" in style or "@import" in style]


def unfit(text: str) -> list[str]:
    """What a screen reader or a phone would stumble over."""
    page, found = Page(text), []
    names = [tag for tag, _ in page.tags]
    first = dict(page.tags[::-1])
    found += [f"no <{tag}>" for tag in ("header", "main", "footer", "title", "h1") if tag not in names]
    if first.get("html", {}).get("lang") != "en":
        found.append("no lang")
    if not any(a.get("name") == "viewport" and "width=device-width" in a.get("content", "") for _, a in page.tags):
        found.append("no viewport")
    levels = [int(tag[1]) for tag in names if re.fullmatch(r"h[1-6]", tag)]
    found += [f"h{b} after h{a}" for a, b in pairwise(levels) if b > a + 1]
    if levels.count(1) != 1 or levels[:1] != [1]:
        found.append("not one h1, and first")
    for tag, attributes in page.tags:
        if tag == "img" and not attributes.get("alt"):
            found.append("img without alt")
        if tag == "svg" and not (attributes.get("aria-label") or attributes.get("aria-hidden")):
            found.append("svg without words")
        if tag == "th" and "scope" not in attributes:
            found.append("th without scope")
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    found += [f"id {name} twice" for name in set(ids) if ids.count(name) > 1]
    links = [a["href"][1:] for tag, a in page.tags if tag == "a" and a.get("href", "").startswith("#")]
    found += [f"link to nothing: {name}" for name in links if name not in ids]
    return found + [f"left open: {tag}" for tag in page.unclosed] + [f"closed wrongly: {tag}" for tag in page.wrong]
