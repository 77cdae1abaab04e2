"""python3 -m autograder site: the whole course as a folder of static pages, for a browser and nothing else.

A lecture is executed once and kept (`build/site`), so that a second build takes seconds. The folder works from a file
server, in any sub-path, and opened from a disk.
"""

import argparse
import html
import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nbformat

from autograder import pages as templates
from autograder.feedback.mathematics import in_a_line
from autograder.files import write_whole
from autograder.launcher import say, verbs
from autograder.launcher.environment import Environment
from autograder.site import card, catalogue, conformance, kept, llm, presented, reference, tried, words
from autograder.site.catalogue import Translations
from autograder.site.kept import executed
from autograder.site.packed import script
from autograder.site.prose import Heading, Pages, Writer, relative, slug
from autograder.site.sheet import Sheet
from autograder.site.translated import Translation
from autograder.texts import glossary

LISTS = {
    "lectures/README.md": "index.html",
    "lectures/GLOSSARY.md": "lectures/glossary.html",
    "lectures/SYMBOLS.md": "lectures/symbols.html",
    "lectures/decks.md": "lectures/decks.html",
    "lectures/results/README.md": "lectures/results.html",
    "exercises/README.md": "exercises/index.html",
    "README.md": "install.html",
    "autograder/pages/accessibility.md": "accessibility.html",
    "autograder/pages/conformance.md": "conformance.html",
    "autograder/pages/try.md": "try.html",
    "autograder/pages/beat.md": tried.GAME,
}
MENU = {
    "Lectures": "index.html",
    "Assignments": "exercises/index.html",
    "Try the models": tried.PAGE,
    llm.NAME: llm.PAGE,
    "Glossary": "lectures/glossary.html",
    "Search": "search.html",
}
MORE = {
    "Install": "install.html",
    "Code": reference.PAGE,
    "Results": "lectures/results.html",
    "Symbols": "lectures/symbols.html",
    "Other courses": "lectures/decks.html",
}
_PHOTOGRAPH = b'class="nlm-photo"'
_NOT_INVERTED = (
    b"<style>@media (prefers-color-scheme:dark){.nlm-photo{filter:invert(1) hue-rotate(180deg)}}</style></svg>"
)
"""In the dark the site's style inverts a picture but reaches nothing inside its file, which knows the page's scheme."""

FILES = ["icon.svg", "math.woff", "math-OFL.txt", "site.js", "models.js", "try.js", "front.js", "beat.js"]
LIVING = ("living.js", "living.css")
"""A drawn model with its stored answers, on the pages that have one; in notebooks it is the same file."""
EMPTY: Mapping[str, Any] = {"html": {}, "scripts": {}}
"""What a notebook has that was not executed."""


class Site:
    """The pages of one build."""

    def __init__(self, root: Path, out: Path, made: dict[str, str], address: str = "") -> None:
        """`address` is where the site will be: previews of a link need whole addresses."""
        self.root, self.out, self.pages, self.address = root, out, Pages(made), address
        if (out / llm.PAGE).is_file():
            self.pages.made[llm.SOURCE] = llm.PAGE
        self.index: list[tuple[str, str, str, str]] = []
        self.tried = tried.scripts(root)

    def page(
        self,
        to: str,
        body: str,
        headings: Sequence[Heading] = (),
        language: str = "en",
        *,
        spoken: Mapping[str, str] = MappingProxyType({}),
        before: tuple[str, str] | None = None,
        after: tuple[str, str] | None = None,
        scripts: Sequence[str] = (),
        policy: str = "",
        slides: bool = False,
    ) -> None:
        """Write one page; the first heading is its title. spoken: its addresses by language; before, after: title and
        page of its neighbours; scripts, policy: what it needs besides; slides: whether it is presented."""
        say = Translations(self.root / catalogue.WHERE / language / "site.po", language).say
        root = "../" * to.count("/")
        title = next((heading.words for heading in headings if heading.level == 1), "Search")
        sections = [heading for heading in headings if heading.level == 2]
        number = re.search(r"lectures/(\d+)_", to)
        others = [(other, there) for other, there in spoken.items() if other != language]
        menu = [(name, there) for name, there in MENU.items() if there != llm.PAGE or llm.SOURCE in self.pages.made]
        values = {
            "title": f"{title} · {say(words.COURSE)}" if to != "index.html" else words.COURSE,
            "description": description(body) or title,
            "address": self.address,
            "language": language,
            "spoken": [(other, catalogue.name(other), relative(there, to)) for other, there in others],
            "say": say,
            "script_words": json.dumps({text: say(text) for text in words.of_script()}, ensure_ascii=False),
            "root": root,
            "page": to,
            "number": number and int(number[1]),
            "here": relative(to, to),
            "menu": [(say(name), relative(there, to)) for name, there in menu],
            "further": [(say(name), relative(there, to)) for name, there in MORE.items()],
            "headings": sections if len(sections) > 2 else [],
            "body": templates.Markup(body),
            "before": before and (before[0], relative(before[1], to)),
            "after": after and (after[0], relative(after[1], to)),
            "scripts": scripts,
            "slides": slides,
            "foot": templates.Markup(say(words.FOOT).format(root=root)),
            "policy": templates.Markup(policy and f" {policy}"),
        }
        write_whole(self.out / to, templates.render("site.html", **values))
        if language == "en":  # the search is in English
            self.index += sections_of(title, to, body)

    def text(self, source: str, to: str) -> None:
        """A page from a file in Markdown; of two, the part that is of use here."""
        writer = Writer(self.pages, source, to)
        text = (self.root / source).read_text(encoding="utf-8")
        if to == "index.html":
            text = contents(self.root, text, llm.SOURCE in self.pages.made) + self.translated()
        elif to == "exercises/index.html":
            text = assignments(text)
        elif to == "install.html":
            parts = (("You need Python", "**As an instructor.**"), ("### Without make", "## Licence"))
            kept = (text[text.index(start) : text.index(end)] for start, end in parts)
            text = "# Install the course\n\n" + "".join(kept).replace("\n### ", "\n## ")
        elif to == "conformance.html":
            text = conformance.told(self.root, text, conformance.recorded(self.root))
        elif to in (tried.PAGE, tried.GAME):
            text = tried.sized(text, self.tried)
        body = writer.markdown(text)
        if to == "lectures/glossary.html":
            row, taken = re.compile("<td>(?=<strong>(.*?)</strong>)"), set[str]()
            body = row.sub(lambda word: f'<td id="{slug(plain(word[1]), taken)}">', body)
        self.page(to, body, writer.headings, scripts=("models.js", "front.js") if to == "index.html" else ())

    def package(self) -> None:
        """The pages of nlmcore."""
        for to, path in {reference.PAGE: None, **reference.addresses(self.root)}.items():
            writer = Writer(self.pages, to, to)
            body = reference.body(path, self.root, writer) if path else writer.markdown(reference.contents(self.root))
            self.page(to, body, writer.headings)

    def translated(self) -> str:
        """Links to the lectures in other languages, in Markdown."""
        found = []
        for source in self.pages.made:
            if source.startswith(catalogue.WHERE):
                path = self.root / source
                language, title = path.parent.name, _head(r"# # (.+)", self.root / "lectures" / f"{path.stem}.py")
                link = f"[{Translations(path, language).say(title)}]({source.removeprefix('lectures/')})"
                found.append(f'<span lang="{language}">{catalogue.name(language)}: {link}</span>')
        return f"\nIn other languages: {'; '.join(found)}.\n" if found else ""

    def notebook(
        self, source: str, to: str, cells: Any, told: Mapping[str, Any] = EMPTY, language: str = "en", **more: Any
    ) -> int:
        """A page from a notebook, with its widgets' states and its pictures in a folder of the same name; its bytes,
        with all that a reader gets before a widget is touched. `more` as of `page`."""
        beside = Path(to).with_suffix("")
        writer = Writer(self.pages, source, to)
        other = None if language == "en" else translation(self.root, self.root / source, language)
        sheet = Sheet(writer, told["html"], f"{beside.name}/", told["scripts"], other)
        body = tried.linked(sheet.body(cells), Path(source).stem, "../" * to.count("/"))
        living = LIVING[:1] if "nlm-living" in body else ()
        self.page(to, body, writer.headings, language, scripts=living, slides=sheet.slides, **more)
        shutil.rmtree(self.out / beside, ignore_errors=True)
        states = {f"{number}.js": content for number, content in {**told["scripts"], **sheet.translated}.items()}
        for name, content in {**states, **sheet.files}.items():
            write_whole(self.out / beside / name, content)
        return (self.out / to).stat().st_size + sum(map(len, sheet.files.values()))

    def add_model(self, wanted: bool) -> None:
        """The page on which a language model runs. Where it cannot be made, a line says why."""
        self.pages.made.pop(llm.SOURCE, None)
        try:
            body = llm.build(self.root, self.out) if wanted else None
        except say.SetupError as error:
            say.line(f"  ! The site has no page '{llm.NAME}': {error}.")
            body = None
        if body is None:
            (self.out / llm.PAGE).unlink(missing_ok=True)
            shutil.rmtree(self.out / llm.FOLDER, ignore_errors=True)
        else:
            self.pages.made[llm.SOURCE] = llm.PAGE
            found = re.findall(r'<h([12]) id="([^"]+)">(.*?)</h', body)
            headings = [Heading(int(level), anchor, words) for level, anchor, words in found]
            self.page(llm.PAGE, body, headings, policy=llm.POLICY, scripts=[f"{llm.FOLDER}/page.js"])

    def finish(self) -> None:
        """What all pages share: style, script, search, and the pictures that they link."""
        self.page("search.html", templates.render("search.html"))
        self.page("404.html", templates.render("404.html"), [Heading(1, "", "There is no such page")])
        write_whole(self.out / card.NAME, card.drawn(words.COURSE, "From counting words to Transformers"))
        write_whole(self.out / "search-index.js", script(self.index))
        for name, content in self.tried.items():
            write_whole(self.out / "try" / f"{name}.js", content)
        for folder, names in ((templates.FOLDER, FILES), (self.root / "lectures" / "widgets", LIVING)):
            for name in names:
                shutil.copy(folder / name, self.out / name)
        for shared, own in (("tokens.css", "site.css"), ("deck.css", "present.css")):  # one file: the first paint waits
            styles = (presented.SHARED / shared, templates.FOLDER / own)
            write_whole(self.out / own, "\n".join(style.read_text(encoding="utf-8") for style in styles))
        shutil.copytree(presented.SHARED / "fonts", self.out / "fonts", dirs_exist_ok=True)
        write_whole(self.out / "present.js", presented.script())
        for name in sorted(self.pages.copied):
            drawn = (self.root / name).read_bytes()
            write_whole(self.out / name, drawn.replace(b"</svg>", _NOT_INVERTED) if _PHOTOGRAPH in drawn else drawn)


def translation(root: Path, lecture: Path, language: str) -> Translation:
    """The translation of a lecture, with the words of the site itself."""
    folder = root / catalogue.WHERE / language
    of_lecture, of_site = (Translations(folder / f"{stem}.po", language) for stem in (lecture.stem, "site"))
    return Translation(of_lecture, of_site, lecture.read_text(encoding="utf-8"), root)


def contents(root: Path, table: str, real: bool) -> str:
    """The front page in Markdown, from the table of the lectures; `real`: whether there is a page with a real model."""

    def card(number: str, title: str, to: str, about: str) -> dict[str, Any]:
        lecture = root / "lectures" / to
        minutes = sum(map(int, re.findall(r"\d+", _head(r"# \| minutes \|(.*)", lecture))))
        figure = _head(r".*?(figures/\w+\.svg)", lecture)
        return {"number": number, "title": title, "to": to, "about": about, "minutes": minutes, "figure": figure}

    row = re.compile(r"^\| (\d+) \| \[(.+?)\]\((.+?)\): (.+) \|$", re.M)
    parts = re.findall(r"^## (Part .+)\n((?:(?!## Part ).*\n)*)", table, re.M)
    cards = {name: [card(*found) for found in row.findall(rows)] for name, rows in parts}
    return templates.render("front.html", parts=cards, real=real)


def assignments(table: str) -> str:
    """The page of the assignments in Markdown, from the rows of their table: | `name` | lectures | content | time |."""
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \| (.+?) \|$", table, re.M)
    return templates.render("assignments.html", rows=rows)


def _head(pattern: str, lecture: Path) -> str:
    """What the first line of a lecture that is so has in its brackets."""
    return re.search(f"^{pattern}", lecture.read_text(encoding="utf-8"), re.M)[1]  # type: ignore[index]


def sections_of(title: str, to: str, body: str) -> list[tuple[str, str, str, str]]:
    """(page, heading, address, text) of each section, for the search."""
    parts = re.split(r'<h[1-3] id="([^"]*)">(.*?)</h[1-3]>', body, flags=re.S)[1:]
    return [
        (title, plain(heading), f"{to}#{anchor}", plain(text))
        for anchor, heading, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def description(body: str) -> str:
    """The first sentences of a page, for a search engine and for the preview of a link."""
    found = map(plain, re.findall(r'<p(?: class="lead")?>(.*?)</p>', body, re.S))
    told = next((words for words in found if len(words) > 40), "")
    return told if len(told) <= 200 else f"{told[:200].rpartition(' ')[0]} …"


def plain(markup: str) -> str:
    """The words of HTML that a reader sees; of a formula its letters, of a drawing what it says."""
    formula = r'(?:<span class="math[^"]*">)?(<math .*?</math>)(?:</span>)?'
    markup = re.sub(formula, lambda found: html.escape(in_a_line(found[1])), markup, flags=re.S)
    markup = re.sub(r'<svg[^>]*?aria-label="([^"]*)".*?</svg>', r" \1 ", markup, flags=re.S)
    silent = r'<pre class="code">.*?</pre>|<style.*?</style>|<summary>Code</summary>|<template.*?</template>'
    markup = re.sub(silent, " ", markup, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


# --- the verb ---------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python3 -m autograder site", description=__doc__.partition("\n")[0])
    made.add_argument("--only", action="append", metavar="LECTURE", help="its number or topic; the others stay")
    made.add_argument("--without-llm", action="store_true", help="no page on which a language model runs, 140 MB")
    where = "where the site will be, for the previews of its links"
    made.add_argument("--address", default="", metavar="URL", help=where)
    made.add_argument("--out", type=Path, help="the folder (by default site/)")
    return made


def publish(place: Environment, rest: list[str]) -> int:
    """Build the site."""
    options = parser().parse_args(rest)
    root, lectures = place.root, glossary.lectures(place.root)
    out = options.out or root / "site"
    chosen = kept.chosen(root, options.only)
    folders = [] if options.only else _assignments(place)
    made = _addresses(root, out, lectures, chosen, folders)
    site = Site(root, out, made, options.address and f"{options.address.rstrip('/')}/")
    if not options.only:
        site.add_model(wanted=not options.without_llm)
    titled = [(_head(r"# # (.+)", path), f"lectures/{path.stem}.html") for path in lectures]
    there = [page if page[1] in site.pages.made.values() else None for page in titled]
    for at, path in enumerate(lectures):
        if path not in chosen:
            continue
        told, seconds = executed(path, root)
        source, to = path.relative_to(root).as_posix(), titled[at][1]
        spoken = {"en": to, **{other: f"{other}/{to}" for other in catalogue.languages(root, path.stem)}}
        around = {"before": there[at - 1] if at else None, "after": [*there, None][at + 1], "spoken": spoken}
        cells = told["notebook"]["cells"]
        sizes = [site.notebook(source, page, cells, told, language, **around) for language, page in spoken.items()]
        _say(path.stem, told["report"], max(sizes), seconds)
    for path in (path for folder in folders for path in sorted(folder.glob("*.ipynb"))):
        source = path.relative_to(root).as_posix()
        site.notebook(source, site.pages.made[source], nbformat.read(path, as_version=4).cells)
    for source, to in LISTS.items():
        site.text(source, to)
    if not options.only or not (out / reference.PAGE).is_file():
        site.package()
    site.finish()
    whole = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    say.line(f"{out}: {whole / 1e6:.1f} MB. Open {out / 'index.html'}.")
    return 0


publish.parser = parser  # type: ignore[attr-defined]


def _assignments(place: Environment) -> list[Path]:
    """The folders of the assignments as students get them."""
    if verbs.build_if_stale(place):
        raise say.SetupError("The assignments were not built, so the site was not either.")
    return sorted({path.parent for path in (place.root / "exercises").glob("*/*.ipynb")})


def _addresses(
    root: Path, out: Path, lectures: Iterable[Path], chosen: Iterable[Path], assignments: Iterable[Path]
) -> dict[str, str]:
    """Which page each file of the course becomes, or became in an earlier build."""
    made = dict(LISTS) | {page: page for page in (reference.PAGE, *reference.addresses(root))}
    for path in lectures:
        to = f"lectures/{path.stem}.html"
        if path in chosen or (out / to).is_file():
            made |= {f"lectures/{path.stem}.py": to, f"lectures/{path.stem}.ipynb": to}
            for language in catalogue.languages(root, path.stem):
                made[f"{catalogue.WHERE}/{language}/{path.stem}.po"] = f"{language}/{to}"
    for path in sorted((root / "exercises").glob("*/*.ipynb")):
        to = f"exercises/{path.parent.name}/{path.stem}.html"
        if path.parent in assignments or (out / to).is_file():
            made[f"exercises/{path.parent.name}/{path.name}"] = to
    return made


def _say(name: str, report: Sequence[Any], size: int, seconds: float) -> None:
    """What each widget of a lecture got."""
    ran = f", executed in {seconds:.0f} s" if seconds else ""
    print(f"{name}: {size / 1e3:.0f} KB before a widget is touched{ran}")
    for row in report:
        tier = "all settings" if row["moved"] == row["of"] else f"{row['moved']} of {row['of']} controls at a time"
        fewer = ", fewer values" if row["coarse"] else ""
        states = f"{row['states']:5} states {row['bytes'] / 1e3:7.0f} KB"
        say.line(f"  {states}  {tier}{fewer}: {'; '.join(row['controls'])}")
