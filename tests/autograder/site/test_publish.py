"""Pages from texts and notebooks: links, mathematics, code, search. Lectures are not executed here."""

import html
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.feedback.mathematics import mathml
from autograder.launcher import say, verbs
from autograder.site import catalogue, kept, publish, reference, tried
from autograder.site.formulas import formulas
from autograder.site.prose import Pages, Writer
from autograder.site.sheet import LIVE, Sheet
from autograder.texts import glossary
from tests.autograder.site.conftest import BUILT, ROOT, cell

MADE = {"lectures/12_attention.ipynb": "lectures/12_attention.html", "README.md": "install.html"}


def writer(page: str = "lectures/06_x.html") -> Writer:
    return Writer(Pages(dict(MADE)), "lectures/06_x.py", page)


def test_links_lead_to_pages_and_what_is_no_page_keeps_its_words() -> None:
    made = writer().markdown(
        "[a](12_attention.ipynb#now-you) [b](../README.md) [c](../nlmcore/gru.py) [d](https://example.org) [e](#here)"
    )
    assert 'href="12_attention.html#now-you"' in made
    assert 'href="../install.html"' in made
    assert re.search(r"<a data-course=[^>]*>c</a>", made)
    assert 'href="https://example.org"' in made
    assert 'href="#here"' in made
    one = writer()
    assert 'src="figures/x.svg"' in one.markdown('<img src="figures/x.svg" alt="x">')
    assert one.pages.copied == {"lectures/figures/x.svg"}


def test_mathematics_is_set_in_markdown_and_in_its_html() -> None:
    assert writer().markdown("so $x_1$ and\n\n$$y$$\n").count("<math") == 2
    assert "<math" in writer().markdown("<details><summary>A</summary>It is $x$.</details>")
    assert "<math" not in writer().markdown("`$HOME and $PATH`")
    assert "<msub>" not in writer().markdown("<details><pre>$a_1$</pre></details>")


def test_headings_have_anchors_of_their_own() -> None:
    one = writer()
    made = one.markdown("# What is *it*?\n\n## Again\n\n## Again\n")
    assert [heading.anchor for heading in one.headings] == ["what-is-it", "again", "again-1"]
    assert '<h2 id="again-1">' in made


def test_a_sheet_shows_what_a_reader_sees() -> None:
    picture = "data:image/svg+xml;base64,PHN2ZyB3aWR0aD0iOTAuMHB0IiBoZWlnaHQ9IjQ1cHQiPjwvc3ZnPg=="
    printed = [{"output_type": "stream", "name": "stdout", "text": one} for one in ("1 <", " 2\n")]
    sheet = Sheet(writer(), {"w": '<div class="nlm-live" data-states="3"></div>'}, "06_x/")
    made = sheet.body(
        [
            cell("markdown", "*ask the room*", slideshow={"slide_type": "notes"}),
            cell("markdown", "Five.", slideshow={"slide_type": "fragment"}),
            cell("markdown", "| a |\n| - |\n| b |", slideshow={"slide_type": "slide"}),
            cell("code", "secret = 1", jupyter={"source_hidden": True}),
            cell("code", "x < 1") | {"outputs": printed},
            cell("code", "show()", {"text/html": f'<img src="{picture}">'}),
            cell("code", "playground(yours=mine)", {"text/html": "its HTML", LIVE: {"model_id": "w"}}),
        ]
    )
    assert '<template class="notes"><p><em>ask the room</em></p>' in made
    assert sheet.slides
    assert '<div class="cell" data-slide="fragment" data-text="5"><p>Five.</p>' in made
    assert '<div class="cell" data-slide="slide"><table>' in made
    assert made.count("A page cannot run your change") == 1
    assert '<a href="../install.html">Install the course</a>' in made
    assert re.search(r"<details class='fold'>.*secret", made)
    assert "1 &lt; 2" in made
    assert 'data-states="06_x/3"' in made
    assert "its HTML" not in made
    ((name, content),) = sheet.files.items()
    assert content.startswith(b"<svg")
    assert f'width="120" height="60" loading="lazy" src="06_x/{name}"' in made


def test_search_finds_words_formulas_and_what_pictures_say() -> None:
    picture, notes = '<svg aria-label="two"><text>t</text></svg>', '<template class="notes"><p>ask</p></template>'
    body = f'<p>x</p>{notes}<h1 id="a">A <em>b</em></h1><p>one</p>{notes}{picture}<h2 id="c">C</h2><p>$</p>'
    sections = [("T", "A b", "p.html#a", "one two"), ("T", "C", "p.html#c", "$")]
    assert publish.sections_of("T", "p.html", body) == sections
    assert publish.plain(f"<p>so {mathml(r'P(w_t) = c^{j+1}')}.</p>") == "so P(w_t) = c^(j+1)."


def test_every_link_of_every_page_leads_somewhere(unexecuted: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in unexecuted.rglob("*.html")}
    assignments = sum(len(list(folder.glob("*.ipynb"))) for folder in BUILT)
    translated = sum(len(catalogue.languages(ROOT, path.stem)) for path in glossary.lectures(ROOT))
    package = 1 + len(reference.addresses(ROOT))
    assert len(pages) == len(glossary.lectures(ROOT)) + translated + assignments + len(publish.LISTS) + package + 2
    anchors = {path: set(re.findall(r' id="([^"]+)"', page)) for path, page in pages.items()}
    for path, page in pages.items():
        for to in re.findall(r'<(?:a|link|img|script)\b[^>]*? (?:href|src)="([^"]*)"', page):
            if re.match("https?:|data:", to):
                continue
            name, _, anchor = to.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.is_file(), f"{path.name}: {to}"
            assert not anchor or anchor in anchors[target], f"{path.name}: {to}"


def test_no_page_asks_another_host_for_anything(unexecuted: Path) -> None:
    for path in unexecuted.rglob("*.html"):
        asked = re.findall(r'<(?:link|img|script|source|iframe|audio)\b[^>]*? (?:href|src)="([^"]*)"', path.read_text())
        assert not [to for to in asked if re.match("[a-z]+:|//", to) and not to.startswith("data:")], path


def test_a_link_to_any_page_has_a_preview(unexecuted: Path) -> None:
    told = {}
    for path in unexecuted.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        told[path], image = (
            html.unescape(re.search(f'<meta {name}" content="([^"]*)">', page)[1])  # type: ignore[index]
            for name in ('name="description', 'property="og:image')
        )
        assert 10 < len(told[path]) <= 202, path.name
        assert (path.parent / image).read_bytes().startswith(b"\x89PNG"), path.name
        assert re.search('<meta property="og:title" content="[^"]+">', page), path.name
    assert len(set(told.values())) > 0.9 * len(told)


def test_whole_addresses_where_the_site_knows_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "scripts", lambda root: {})
    site = publish.Site(ROOT, tmp_path, {}, "https://example.org/course/")
    site.finish()
    page = (tmp_path / "404.html").read_text(encoding="utf-8")
    assert '<base href="https://example.org/course/">' in page  # it is shown at any depth
    assert 'content="https://example.org/course/card.png"' in page


def test_each_assignment_is_linked_where_a_student_looks_for_it(unexecuted: Path) -> None:
    page = (unexecuted / "exercises" / "index.html").read_text(encoding="utf-8")
    for folder in BUILT:
        assert f'<a href="{folder.name}/{folder.name}.html">' in page
    rows = re.findall(r"^1\. \[.*\]\((\w+)/", publish.assignments((ROOT / "exercises/README.md").read_text()), re.M)
    assert sorted(rows) == sorted(path.stem for path in ROOT.glob("solutions/*/*.py") if path.stem == path.parent.name)
    assert "make build" not in page


def test_the_glossary_can_be_linked_word_by_word(unexecuted: Path) -> None:
    page = (unexecuted / "lectures" / "glossary.html").read_text(encoding="utf-8")
    assert '<td id="attention-sink"><strong>attention sink' in page
    anchors = re.findall(' id="([^"]+)"', page)
    assert len(anchors) == len(set(anchors)) > 300


def test_the_front_page_says_where_to_start_and_how_long_it_takes(unexecuted: Path) -> None:
    page = (unexecuted / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<p class="start"><a href="lectures/01_[^"]+">Start with the first lecture: What is', page)
    assert len(re.findall(r"<small>[1-9]\d minutes</small>", page)) == len(glossary.lectures(ROOT))


def test_all_mathematics_is_mathml(unexecuted: Path) -> None:
    for path in (unexecuted / "lectures").glob("*.html"):
        page = path.read_text(encoding="utf-8")
        words = re.sub(r"<pre.*?</pre>|<code.*?</code>|<math.*?</math>", "", page, flags=re.S)
        assert not re.findall(r"\$[^$<>\n]*\\[a-z]+[^$<>\n]*\$", words), path.name


def test_no_page_has_a_formula_that_the_font_was_not_made_for(unexecuted: Path) -> None:
    def key(latex: str) -> str:
        plain = re.sub(r"\\text\{[^{}]*\}", "", latex)  # a translation has its own words there
        return " ".join(plain.split()).replace("\\|", "|")  # in tables

    known = set(map(key, formulas(ROOT)))
    for path in unexecuted.rglob("*.html"):
        shown = re.findall('<math alttext="([^"]*)"', path.read_text(encoding="utf-8"))
        assert not {key(html.unescape(latex)) for latex in shown} - known, path.name


def test_a_lecture_is_called_by_its_number_or_its_whole_topic() -> None:
    def found(name: str) -> list[str]:
        return [path.stem for path in glossary.lectures(ROOT) if kept.called(path, name)]

    assert found("attention") == found("12") == found("12_attention") == ["12_attention"]
    assert found("self_attention") == ["13_self_attention"]
    assert not found("transformer")


def test_a_lecture_that_is_not_there_is_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        publish.publish(SimpleNamespace(root=ROOT), ["--only", "no such lecture", "--out", str(tmp_path)])  # type: ignore[arg-type]
    assert "no such lecture" in capsys.readouterr().err


def test_assignments_are_built_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "solutions" / "circles").mkdir(parents=True)
    (tmp_path / "solutions" / "circles" / "circles.py").write_text("# %%\nv1\n")
    place, answers = SimpleNamespace(root=tmp_path), [1, 0]

    def inside(place: object, name: str, rest: object) -> int:
        assert name == "build"
        (tmp_path / "exercises" / "circles").mkdir(parents=True, exist_ok=True)
        (tmp_path / "exercises" / "circles" / "circles.ipynb").touch()
        return answers.pop(0)

    monkeypatch.setattr(verbs, "inside", inside)
    with pytest.raises(say.SetupError):
        publish._assignments(place)  # type: ignore[arg-type]
    assert publish._assignments(place) == [tmp_path / "exercises" / "circles"]  # type: ignore[arg-type]
