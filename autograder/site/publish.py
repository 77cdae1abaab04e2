"""python3 -m autograder site: the whole course as a folder of static pages, for a browser and nothing else.

A lecture is executed once and kept (`build/site`), so that a second build takes seconds. The folder works from a file
server, in any sub-path, and opened from a disk.
"""

import argparse
import html
import itertools
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nbformat
from nbclient.exceptions import CellExecutionError

from autograder import pages as templates
from autograder.feedback.mathematics import in_a_line
from autograder.files import write_whole
from autograder.launcher import say, verbs
from autograder.launcher.environment import Environment
from autograder.site import card, catalogue, llm, presented, reference, tried, words
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
CONTENTS = """\
# How does a program learn to write?

<p class="lead">In {count} lectures you build language models, from counting words to the Transformers behind today’s
assistants, and look inside each of them. You should know vectors, matrices, derivatives and some Python. To read and
try things out, a browser is enough.</p>

<p class="start"><a href="{first}">Start with the first lecture: {title}</a></p>

<section class="front" aria-label="A model writes"><p class="note">A Transformer of this course writes here, in your
browser. You need JavaScript to see it.</p></section>

A lecture takes {least} to {most} minutes. Its pictures have controls to move, and it asks you to predict results before
you see them. Your predictions stay in this browser. To run and change the code, and to work on the
[assignments](../exercises/README.md), [install the course](../README.md) on your own computer. You can also
[beat the model](../autograder/pages/beat.md) at guessing the next letter, or type text for
[the course's own small models](../autograder/pages/try.md){real}. Text and code are free, under the Apache License 2.0.

"""
CARD = """\
<li><a href="{to}"><img alt="" loading="lazy" src="{figure}"><b>{number}. {title}</b>
<span>{about}.</span> <small>{minutes} minutes</small></a></li>
"""
ASSIGNMENTS = """\
# Assignments

There are {count}, and a capstone. In most of them you write functions, derive a formula, find a bug in somebody else's
code and run an experiment; a check below each question says what is right and what is not. Here you can read them. To
work on one, [install the course](../README.md) and open its notebook in JupyterLab.

<div class="contents">

{listed}
</div>

Each lecture also ends with a part of code to change (*Now you*) and with questions and their answers (*Check
yourself*).
"""
REAL_MODEL = " or for SmolLM2, [a real model](../autograder/site/llm.py) of 135 million parameters"
SEARCH = """<h1>Search</h1>
<p>Finds words and symbols in all lectures, lists and assignments.</p>
<noscript><p>The search needs JavaScript.</p></noscript>
<form id="search" role="search" action="search.html"><label for="words">Words</label>
<input type="text" id="words" name="q" autocomplete="off"> <button>Search</button></form>
<p id="count" role="status"></p><ol id="found"></ol>"""

_PHOTOGRAPH = b'class="nlm-photo"'
_PHOTOGRAPHS = (
    b"<style>@media (prefers-color-scheme:dark){.nlm-photo{filter:invert(1) hue-rotate(180deg)}}</style></svg>"
)
"""In the dark the site's style inverts a picture but reaches nothing inside its file, which knows the page's scheme."""

FILES = (
    *("icon.svg", "math.woff", "math-OFL.txt"),
    *("site.js", "models.js", "try.js", "front.js", "beat.js"),
)
LIVING = ("living.js", "living.css")
"""A drawn model with its stored answers, on the pages that have one; in notebooks it is the same file."""
LOST = "There is no such page"
NOT_FOUND = f"""<h1>{LOST}</h1>
<p>It may have moved. Go to the <a href="index.html">list of lectures</a>, or <a href="search.html">search</a>.</p>"""


class Site:
    """The pages of one build."""

    def __init__(self, root: Path, out: Path, made: dict[str, str], address: str = "") -> None:
        """`address` is where the site will be: previews of a link need whole addresses."""
        self.root, self.out, self.pages, self.address = root, out, Pages(made), address
        if (out / llm.PAGE).is_file():
            self.pages.made[llm.SOURCE] = llm.PAGE
        self.index: list[tuple[str, str, str, str]] = []
        self.tried = tried.scripts(root, root / "build" / "site")

    def words(self, language: str) -> Translations:
        return Translations(self.root / catalogue.WHERE / language / "site.po", language)

    def has(self, page: str) -> bool:
        return page != llm.PAGE or llm.SOURCE in self.pages.made

    def page(
        self,
        to: str,
        body: str,
        headings: Sequence[Heading] = (),
        before: Any = None,
        after: Any = None,
        language: str = "en",
        spoken: Mapping[str, str] = MappingProxyType({}),
        scripts: Sequence[str] = (),
        policy: str = "",
        slides: bool = False,
    ) -> None:
        """Write one page. The first heading is its title; `spoken` are its addresses by language; `scripts` and
        `policy` are what it needs besides."""
        say = self.words(language).say
        root = "../" * to.count("/")
        title = next((heading.words for heading in headings if heading.level == 1), "Search")
        sections = [heading for heading in headings if heading.level == 2]
        values = {
            "title": f"{title} · {say(words.COURSE)}" if to != "index.html" else words.COURSE,
            "description": description(body) or title,
            "address": self.address,
            "language": language,
            "spoken": [
                (other, catalogue.name(other), relative(address, to))
                for other, address in spoken.items()
                if other != language
            ],
            "say": say,
            "script_words": json.dumps({text: say(text) for text in words.of_script()}, ensure_ascii=False),
            "root": root,
            "slides": slides,
            "page": to,
            "number": int(found[1]) if (found := re.search(r"lectures/(\d+)_", to)) else None,
            "here": relative(to, to),
            "menus": [
                [(say(name), relative(target, to)) for name, target in menu.items() if self.has(target)]
                for menu in (MENU, MORE)
            ],
            "headings": sections if len(sections) > 2 else [],
            "body": templates.Markup(body),
            "before": before and (before[0], relative(before[1], to)),
            "after": after and (after[0], relative(after[1], to)),
            "foot": templates.Markup(say(words.FOOT).format(root=root)),
            "scripts": scripts,
            "policy": templates.Markup(f" {policy}" if policy else ""),
        }
        write_whole(self.out / to, templates.render("site.html", **values))
        if language == "en":  # the search is in English
            self.index += sections_of(title, to, body)

    def text(self, source: str, to: str) -> None:
        """A page from a file in Markdown; of two, the part that is of use here."""
        writer = Writer(self.pages, source, to)
        text = (self.root / source).read_text(encoding="utf-8")
        if to == "index.html":
            text = contents(self.root, text, self.has(llm.PAGE)) + self.translated()
        if to == "exercises/index.html":
            text = assignments(text)
        if to == "install.html":
            parts = (("You need Python", "**As an instructor.**"), ("### Without make", "## Licence"))
            kept = (text[text.index(start) : text.index(end)] for start, end in parts)
            text = "# Install the course\n\n" + "".join(kept).replace("\n### ", "\n## ")
        if to in (tried.PAGE, tried.GAME):
            text = tried.sized(text, self.tried)
        body = writer.markdown(text)
        scripts = ("models.js", "front.js") if to == "index.html" else ()
        if to == "lectures/glossary.html":
            taken: set[str] = set()
            body = re.sub(
                "<td>(?=<strong>(.*?)</strong>)", lambda word: f'<td id="{slug(plain(word[1]), taken)}">', body
            )
        self.page(to, body, writer.headings, scripts=scripts)

    def package(self) -> None:
        """The pages of nlmcore."""
        writer = Writer(self.pages, reference.PAGE, reference.PAGE)
        self.page(reference.PAGE, writer.markdown(reference.contents(self.root)), writer.headings)
        for to, path in reference.addresses(self.root).items():
            writer = Writer(self.pages, to, to)
            self.page(to, reference.body(path, self.root, writer), writer.headings)

    def translated(self) -> str:
        """Links to the lectures in other languages, in Markdown."""
        found = []
        for source in self.pages.made:
            if source.startswith(catalogue.WHERE):
                path = self.root / source
                language, title = path.parent.name, _title(self.root / "lectures" / f"{path.stem}.py")
                words = Translations(path, language).say(title)
                link = f"[{words}]({source.removeprefix('lectures/')})"
                found.append(f'<span lang="{language}">{catalogue.name(language)}: {link}</span>')
        return f"\nIn other languages: {'; '.join(found)}.\n" if found else ""

    def notebook(
        self,
        source: str,
        to: str,
        cells: Any,
        told: Any = None,
        before: Any = None,
        after: Any = None,
        language: str = "en",
        spoken: Mapping[str, str] = MappingProxyType({}),
    ) -> int:
        """A page from a notebook, with its widgets' states and its pictures in a folder of the same name; its bytes,
        with all that a reader gets before a widget is touched."""
        beside = Path(to).with_suffix("")
        writer = Writer(self.pages, source, to)
        scripts = told["scripts"] if told else {}
        sheet = Sheet(writer, told["html"] if told else {}, f"{beside.name}/", scripts=scripts)
        if language != "en":
            sheet.translate(translation(self.root, self.root / source, language))
        body = tried.linked(sheet.body(cells), Path(source).stem, "../" * to.count("/"))
        drawn = LIVING[:1] if "nlm-living" in body else ()
        self.page(to, body, writer.headings, before, after, language, spoken, drawn, slides=sheet.slides)
        shutil.rmtree(self.out / beside, ignore_errors=True)
        for number, content in {**scripts, **sheet.translated}.items():
            write_whole(self.out / beside / f"{number}.js", content)
        for name, content in sheet.files.items():
            write_whole(self.out / beside / name, content)
        return (self.out / to).stat().st_size + sum(map(len, sheet.files.values()))

    def add_model(self, wanted: bool) -> None:
        """The page on which a language model runs. Where it cannot be made, a line says why."""
        body = None
        if wanted:
            try:
                body = llm.build(self.root, self.out)
            except say.SetupError as error:
                say.line(f"  ! The site has no page '{llm.NAME}': {error}.")
        if body is None:
            llm.remove(self.out)
            self.pages.made.pop(llm.SOURCE, None)
            return
        self.pages.made[llm.SOURCE] = llm.PAGE
        self.page(llm.PAGE, body, llm.headings(body), scripts=[f"{llm.FOLDER}/page.js"], policy=llm.POLICY)

    def finish(self) -> None:
        """What all pages share: style, script, search, and the pictures that they link."""
        self.page("search.html", SEARCH)
        self.page("404.html", NOT_FOUND, [Heading(1, "", LOST)])
        write_whole(self.out / card.NAME, card.drawn(words.COURSE, "From counting words to Transformers"))
        write_whole(self.out / "search-index.js", script(self.index))
        for name, content in self.tried.items():
            write_whole(self.out / "try" / f"{name}.js", content)
        for name in FILES:
            shutil.copy(templates.FOLDER / name, self.out / name)
        for shared, own in (
            ("tokens.css", "site.css"),
            ("deck.css", "present.css"),
        ):  # one file: the first paint waits for it
            styles = (presented.SHARED / shared, templates.FOLDER / own)
            write_whole(self.out / own, "\n".join(style.read_text(encoding="utf-8") for style in styles))
        shutil.copytree(presented.SHARED / "fonts", self.out / "fonts", dirs_exist_ok=True)
        for name in LIVING:
            shutil.copy(self.root / "lectures" / "widgets" / name, self.out / name)
        write_whole(self.out / "present.js", presented.script())
        for name in sorted(self.pages.copied):
            drawn = (self.root / name).read_bytes()
            write_whole(self.out / name, drawn.replace(b"</svg>", _PHOTOGRAPHS) if _PHOTOGRAPH in drawn else drawn)


def translation(root: Path, lecture: Path, language: str) -> Translation:
    """The translation of a lecture, with the words of the site itself."""
    folder = root / catalogue.WHERE / language
    of_lecture, of_site = (Translations(folder / f"{stem}.po", language) for stem in (lecture.stem, "site"))
    return Translation(of_lecture, of_site, lecture.read_text(encoding="utf-8"), root)


def contents(root: Path, table: str, real: bool) -> str:
    """The front page in Markdown: the course, a model that writes, where to start, the lectures as cards."""
    row = re.compile(r"^\| \d+ \| \[(.+?)\]\((.+?)\): (.+) \|$", re.M)
    rows = row.findall(table)
    minutes = {to: _minutes(root / "lectures" / to) for _, to, _ in rows}
    title, first, _ = rows[0]
    told = CONTENTS.format(
        count=len(rows),
        first=first,
        title=title,
        least=min(minutes.values()),
        most=max(minutes.values()),
        real=REAL_MODEL if real else "",
    )
    numbers = itertools.count(1)
    _, *parts = re.split(r"^## (Part .+)$", table, flags=re.M) if "\n## Part " in table else ("", "Lectures", table)
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        cards = (
            CARD.format(
                to=to,
                figure=_figure(root / "lectures" / to),
                number=next(numbers),
                title=html.escape(title),
                about=html.escape(about[0].upper() + about[1:]),
                minutes=minutes[to],
            )
            for title, to, about in row.findall(part)
        )
        told += f'## {name}\n\n<ol class="cards">\n{"".join(cards)}</ol>\n\n'
    return told


def assignments(table: str) -> str:
    """The page of the assignments in Markdown, from the rows of their table: | `name` | lectures | content | time |."""
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \| (.+?) \|$", table, re.M)
    listed = []
    for name, lectures, about, time in rows:
        title, many = (
            name.replace("_", " ").replace("ngram", "n-gram").capitalize(),
            "lectures" if ", " in lectures else "lecture",
        )
        where = "after all lectures" if lectures == "all" else f"{many} {lectures.replace(', ', ' and ')}"
        listed.append(
            f"1. [{title}]({name}/{name}.ipynb)<br>{about[0].upper()}{about[1:]}. <small>{time}; {where}</small>\n"
        )
    return ASSIGNMENTS.format(count=len(rows) - 1, listed="".join(listed))


def _minutes(lecture: Path) -> int:
    """What the table at the head of a lecture promises."""
    row = re.search(r"^# \| minutes \|(.*)$", lecture.read_text(encoding="utf-8"), re.M)
    return sum(map(int, re.findall(r"\d+", row[1]))) if row else 0


def _figure(lecture: Path) -> str:
    """The drawing with which a lecture opens."""
    return re.search(r"figures/\w+\.svg", lecture.read_text(encoding="utf-8"))[0]  # type: ignore[index]


def sections_of(title: str, to: str, body: str) -> list[tuple[str, str, str, str]]:
    """(page, heading, address, text) of each section, for the search."""
    parts = re.split(r'<h[1-3] id="([^"]*)">(.*?)</h[1-3]>', body, flags=re.S)[1:]
    return [
        (title, plain(heading), f"{to}#{anchor}", plain(text))
        for anchor, heading, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def description(body: str) -> str:
    """The first sentences of a page, for a search engine and for the preview of a link."""
    told = next(
        (
            words
            for found in re.findall(r'<p(?: class="lead")?>(.*?)</p>', body, re.S)
            if len(words := plain(found)) > 40
        ),
        "",
    )
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
    made.add_argument(
        "--only",
        action="append",
        metavar="LECTURE",
        help="its number or topic; the others stay",
    )
    made.add_argument("--without-llm", action="store_true", help="no page on which a language model runs, 140 MB")
    made.add_argument(
        "--address", default="", metavar="URL", help="where the site will be, for the previews of its links"
    )
    made.add_argument("--out", type=Path, help="the folder (by default site/)")
    return made


def publish(place: Environment, rest: list[str]) -> int:
    """Build the site."""
    options = parser().parse_args(rest)
    root = place.root
    out = options.out or root / "site"
    lectures = glossary.lectures(root)
    try:
        chosen = chosen_of(lectures, options.only)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    folders = [] if options.only else _assignments(place)
    site = Site(
        root,
        out,
        _addresses(root, out, lectures, chosen, folders),
        options.address and f"{options.address.rstrip('/')}/",
    )
    if not options.only:
        site.add_model(wanted=not options.without_llm)
    titled = [(_title(path), f"lectures/{path.stem}.html") for path in lectures]
    for path in chosen:
        try:
            told, seconds = executed(path, root, root / "build" / "site")
        except CellExecutionError as error:
            print(f"{path.name} does not run:\n{error}", file=sys.stderr)
            return 1
        at = lectures.index(path)
        before, after = (
            titled[i] if 0 <= i < len(titled) and titled[i][1] in site.pages.made.values() else None
            for i in (at - 1, at + 1)
        )
        source = path.relative_to(root).as_posix()
        to = titled[at][1]
        spoken = {"en": to, **{other: f"{other}/{to}" for other in catalogue.languages(root, path.stem)}}
        size = 0
        for language, address in spoken.items():
            of = site.notebook(source, address, told["notebook"]["cells"], told, before, after, language, spoken)
            size = max(size, of)
        _say(path.stem, told["report"], size, seconds)
    for folder in folders:
        for path in sorted(folder.glob("*.ipynb")):
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


def called(lecture: Path, name: str) -> bool:
    """Whether `name` is the lecture's number or its topic: "attention" is not self_attention."""
    number, _, topic = lecture.stem.partition("_")
    return int(number) == int(name) if name.isdigit() else name.casefold() in (topic, lecture.stem)


def chosen_of(lectures: Sequence[Path], names: Sequence[str] | None) -> list[Path]:
    """Those that are called so, or all. Raises LookupError if none is."""
    chosen = [path for path in lectures if not names or any(called(path, name) for name in names)]
    if not chosen:
        topics = ", ".join(path.stem.partition("_")[2] for path in lectures)
        raise LookupError(f"No lecture is called {' or '.join(names or ())}. There are: {topics}.")
    return chosen


def _title(lecture: Path) -> str:
    return re.search(r"^# # (.+)$", lecture.read_text(encoding="utf-8"), re.M)[1]  # type: ignore[index]


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
    print(
        f"{name}: {size / 1e3:.0f} KB before a widget is touched"
        + (f", executed in {seconds:.0f} s" if seconds else "")
    )
    for row in report:
        tier = "all settings" if row["moved"] == row["of"] else f"{row['moved']} of {row['of']} controls at a time"
        fewer = ", fewer values" if row["coarse"] else ""
        say.line(
            f"  {row['states']:5} states {row['bytes'] / 1e3:7.0f} KB  {tier}{fewer}: {'; '.join(row['controls'])}"
        )
