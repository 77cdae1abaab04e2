"""A page in another language, from a small catalogue and a made-up notebook; and the catalogues that we have."""

import base64
import html
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from matplotlib.figure import Figure

from autograder.site import catalogue, publish, translate
from autograder.site.catalogue import Translations
from autograder.site.drawn import Gathered
from autograder.site.outlines import redrawn
from autograder.site.packed import taken
from autograder.site.prose import Pages, Writer
from autograder.site.sheet import Sheet
from autograder.site.strings import Strings, strings
from autograder.site.translated import STALE, UNTRANSLATED, Translation
from autograder.texts import figures, glossary, text
from lectures.show import live, menu, predict, slider

ROOT = Path(__file__).resolve().parents[3]
CODE = '''
def draw(n, word):
    """Not a message."""
    words = ["uno", "dos"]
    says = "; ".join(f"{w} reads {n} tokens" for w in words)
    words = f"<text>width &amp; height, d = {n}</text><text>{word}</text>"
    return f'<svg role="img" aria-label="All readers. {says}.">{words}</svg>'
live(draw, n=slider(1, 0, 3, 1, "number of tokens"), word=menu(["uno", "none at all"], "word"))
predict("Is it *less* than 5?", choices=["yes, much less", "no, <more>"], answer="no, <more>", why="Because 7 > 5.")
'''
WORDS = {
    "Reading": "Lesen",
    "It took **3** steps, see $x_3$.": "Nach **3** Schritten, siehe $x_3$.",
    "A hint": "Ein Hinweis",
    "All readers. {0}.": "Alle Leser. {0}.",
    "{0} reads {1} tokens": "{1} Tokens liest {0}",
    "width & height, d = {0}": "Breite & Höhe, d = {0}",
    "number of tokens": "Anzahl der Tokens",
    "none at all": "gar keins",
    "word": "Wort",
    "uno": "uno",
    "dos": "dos",
    "Is it *less* than 5?": "Ist es *weniger* als 5?",
    "yes, much less": "ja, viel weniger",
    "no, <more>": "nein, <mehr>",
    "Because 7 > 5.": "Weil 7 > 5.",
}
OURS = {
    "<b>Predict.</b> {0}": "<b>Sag es vorher.</b> {0}",
    "The answer: <b>{0}</b>. {1}": "Die Antwort: <b>{0}</b>. {1}",
    STALE: "Hat sich geändert.",
    UNTRANSLATED: "Noch nicht übersetzt.",
}


def stored(path: Path, words: dict[str, str], context: str | None = None) -> Translations:
    made = Catalog(locale="de")
    for english, german in words.items():
        made.add(english, german, context=context)
    Translations(path, "de").write(made)
    return Translations(path, "de")


def german(folder: Path, words: dict[str, str] = WORDS, code: str = CODE) -> Translation:
    of_lecture = stored(folder / "de" / "x.po", words, "Reading · 1")
    return Translation(of_lecture, stored(folder / "de" / "site.po", OURS), code, ROOT)


def cell(source: str, kind: str = "markdown", **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "metadata": {}, "outputs": [], **more}


def unexecuted(cells: Any) -> dict[str, Any]:
    return {"notebook": {"cells": cells}, "html": {}, "scripts": {}}


def page(translation: Translation, *cells: dict[str, Any]) -> str:
    writer = Writer(Pages({}), "lectures/x.py", "lectures/x.html")
    return Sheet(writer, {}, "", translation=translation).body(cells)


def test_the_strings_of_code_are_its_constants_and_what_its_f_strings_say_around_values() -> None:
    assert list(strings('"""no"""\nf"{a}{b} of {c:.2f}"\nprint("x", key=\'y\')')) == ["\0 of \0", "x", "y"]


def test_markdown_is_translated_block_by_block_and_links_to_headings_still_work(tmp_path: Path) -> None:
    words = {**WORDS, "one": "eins", "two & a half": "zwei & ein halb"}
    told = (
        "## Reading\n\nIt took\n**3** steps, see $x_3$.\n\n- one\n- two & a half\n\n<details><summary>A hint</summary>"
    )
    made = page(german(tmp_path, words), cell(told))
    assert '<h2 id="reading">Lesen</h2>' in made
    assert "<p>Nach <strong>3</strong> Schritten, siehe <span" in made
    assert "<li>eins</li>\n<li>zwei &amp; ein halb</li>" in made
    assert "<summary>Ein Hinweis</summary>" in made
    assert 'lang="en"' not in made


def test_what_is_not_translated_is_english_and_its_cell_says_so(tmp_path: Path) -> None:
    translation = german(tmp_path)
    made = page(translation, cell("## Reading"), cell("It took long.\n\n<details><summary>Open it"), cell("A hint"))
    assert "Hat sich geändert." in page(translation, cell("## Reading\n\nIt took less."))
    assert '<p lang="en">It took long.</p>' in made
    assert '<summary lang="en">Open it' in made
    assert made.count('class="note') == 1
    assert made.index("Lesen") < made.index("Noch nicht übersetzt.") < made.index("It took long.")
    missing = [key for key, found in translation.asked.items() if not found]
    assert missing[:2] == [("Reading · 2", "It took long."), ("Reading · 2", "Open it")]


def test_a_number_that_has_changed_is_put_into_the_translation(tmp_path: Path) -> None:
    made = page(german(tmp_path), cell("## Reading\n\nIt took **1,004** steps, see $x_3$."))
    assert "<p>Nach <strong>1\u202f004</strong> Schritten" in made
    assert 'lang="en"' not in made
    unclear = catalogue.renumbered("2 von 1, 2", "1: 2 of 2", "1: 3 of 4")
    assert unclear is None, "which of the two is which?"


def test_a_message_that_was_reworded_is_a_proposal_that_no_page_shows(tmp_path: Path) -> None:
    now = "It only took **3** steps, see $x_3$."
    before = german(tmp_path).lecture
    renewed = before.renewed([("Reading · 1", now), ("Moved · 1", "A hint"), ("Reading · 1", "New")])
    before.write(renewed)
    message = renewed.get(now, "Reading · 1")
    assert message is not None
    assert message.fuzzy
    assert list(message.previous_id) == ["It took **3** steps, see $x_3$."]
    again = Translations(before.path, "de")
    assert again.find("Reading · 1", now) is None
    assert again.find("Moved · 1", "A hint") == "Ein Hinweis"
    assert again.find("Reading · 1", "New") is None


@pytest.fixture
def drawn(tmp_path: Path) -> tuple[str, str, Translation]:
    """The widget and the prediction of CODE in German: HTML, and the widget's states."""
    made: dict[str, Any] = {"live": live, "menu": menu, "slider": slider, "predict": predict}
    *body, widget, asked = CODE.strip().split("\n")
    exec("\n".join(body), made)
    gathered, translation = Gathered(), german(tmp_path)
    page = "".join(gathered.html_of(eval(line, made)) for line in (widget, asked))
    translation.at("Reading · 1")
    return translation.markup(page), translation.states(gathered.scripts["0"]), translation


def test_a_widget_speaks_and_its_values_stay(drawn: tuple[str, str, Translation]) -> None:
    shown, states, translation = drawn
    assert not [key for key, found in translation.asked.items() if not found]
    assert 'aria-label="Alle Leser. 1 Tokens liest uno; 1 Tokens liest dos."' in shown
    assert "<text>Breite &amp; Höhe, d = 1</text><text>uno</text>" in shown
    told = [json.loads(html.unescape(found)) for found in re.findall('data-told="([^"]*)"', shown)]
    assert [control["label"] for control in told[0]["controls"]] == ["Anzahl der Tokens", "Wort"]
    assert told[0]["controls"][1]["options"] == ["uno", "gar keins"]
    every = json.loads(taken(states))
    pictures = ["".join(every["table"][piece] for piece in row) for row in every["pictures"]]
    assert len(pictures) == 8
    assert any("3 Tokens liest dos" in one and "<text>gar keins</text>" in one for one in pictures)
    assert ["uno", "gar keins"] in every["options"]


def test_a_prediction_is_judged_by_its_translated_options(drawn: tuple[str, str, Translation]) -> None:
    shown = drawn[0]
    assert "<b>Sag es vorher.</b> Ist es <em>weniger</em> als 5?" in shown
    assert "<li>ja, viel weniger</li><li>nein, &lt;mehr&gt;</li>" in shown
    assert "Die Antwort: <b>nein, &lt;mehr&gt;</b>. Weil 7 &gt; 5." in shown
    told = json.loads(html.unescape(re.findall('data-told="([^"]*)"', shown)[1]))
    assert told["right"] == "nein, <mehr>"


def test_a_string_of_the_code_without_a_translation_is_marked_as_english(tmp_path: Path) -> None:
    translation = german(tmp_path, {"none at all": "gar keins"})
    assert translation.markup("<p>width &amp; height, d = 4</p><b>none at all</b>").startswith('<p lang="en">width')
    assert translation.asked["", "width & height, d = {0}"] is False


def test_a_text_is_the_string_that_begins_it_and_its_values_are_single_clauses() -> None:
    every = Strings(["Attention: \0.", "\0 looks most at \0, weight \0", "layer \0, head \0"])

    def said(text: str) -> tuple[str, list[str]]:
        found = every.match(text)
        return (found[0].message, found[1]) if found else ("", [])

    clause = "[SEP] looks most at ., weight 0.30"
    assert said(f"Attention: {clause}.") == ("Attention: {0}.", [clause])
    assert said(clause) == ("{0} looks most at {1}, weight {2}", ["[SEP]", ".", "0.30"])
    assert said(f". {clause[6:]}")[1] == [".", ".", "0.30"]
    assert said("layer 5, head 11")[1] == ["5", "11"]
    assert said(f"{clause}; {clause}") == ("", [])


def test_words_of_data_stay_as_they_are(tmp_path: Path) -> None:
    translation = german(tmp_path)
    assert translation.markup("<text>perro 0.25</text>") == "<text>perro 0.25</text>"
    assert not translation.asked


def test_the_words_of_a_figure_are_outlines_in_the_other_language() -> None:
    figure, file = Figure(), io.StringIO()
    axes = figure.subplots()
    axes.plot([0, 1], label="fraction")
    axes.set_xlabel("words")
    axes.legend()
    figure.savefig(file, format="svg")
    before, words = file.getvalue(), {"words": "Wörter", "fraction": "Anteil"}
    carried = base64.b64encode(before.encode()).decode()
    after = base64.b64decode(redrawn(carried, lambda text: words.get(text, text))).decode()
    old, new = (re.findall("<!-- (.*?) -->", drawing) for drawing in (before, after))
    assert new == [words.get(one, one) for one in old] != old
    assert after.count("<path d=") == before.count("<path d=") + 2
    assert redrawn(carried, lambda text: "शब्द") == carried, "a script that the font does not have"


def test_a_translation_must_have_the_formulas_the_code_and_the_numbers() -> None:
    assert not catalogue.faults("see $x_1$ and `a`, 1,000 of {0}", "{0} von 1\u202f000, siehe `a` und $x_1$")
    assert set(catalogue.faults("see $x_1$ and 2", "siehe $x_2$")) == {"$x_1$", "$x_2$", "1"}


def test_the_verb_says_what_is_missing_in_which_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place: Any = SimpleNamespace(root=tmp_path)
    (tmp_path / "lectures").mkdir()
    (tmp_path / "lectures" / "01_reading.py").write_text("# %% [markdown]\n# # Reading\n", encoding="utf-8")
    cells = [cell("# Reading"), cell("And more.")]
    monkeypatch.setattr(translate, "executed", lambda *_: (unexecuted(cells), 0.0))
    assert translate.translate(place, ["nobody speaks this"]) == 2
    assert translate.translate(place, ["de", "1"]) == 0
    assert "01_reading.po: 0 of 2 messages translated\n  Reading · 1: 1 missing, 0 stale" in capsys.readouterr().out
    path = tmp_path / catalogue.WHERE / "de" / "01_reading.po"
    done = path.read_text("utf-8").replace('"And more."\nmsgstr ""', '"And more."\nmsgstr "Und mehr."')
    path.write_text(done, "utf-8")
    cells[1]["source"] = "And much more."
    assert translate.translate(place, ["de"]) == 0
    assert "Reading · 2: 0 missing, 1 stale" in capsys.readouterr().out


# --- the catalogues that we have ---------------------------------------------------------------------

RENEW = "python3 -m autograder translate de 12, then translate what it says is missing or stale"
OURS_ON_DISK = sorted((ROOT / catalogue.WHERE).glob("*/*.po"))


@pytest.mark.parametrize("path", OURS_ON_DISK, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_catalogue_changes_no_formula_no_code_and_no_number(path: Path) -> None:
    for message in Translations(path, path.parent.name).catalogue:
        if message.id and message.string and not message.fuzzy:
            assert not catalogue.faults(str(message.id), str(message.string)), message.id


def test_the_site_speaks_german() -> None:
    words = Translations(ROOT / catalogue.WHERE / "de" / "site.po", "de")
    assert not [english for english in translate.of_site() if words.find("", english) is None], RENEW


def test_attention_is_complete_in_german() -> None:
    """Its text; what its code draws is compared with the executed lecture (test_site_in_browser)."""
    lecture = next(path for path in glossary.lectures(ROOT) if path.stem.partition("_")[2] == "attention")
    translation = publish.translation(ROOT, lecture, "de")
    cells = text.from_text(figures.words(lecture.read_text(encoding="utf-8")), ROOT).cells
    assert len(translate.asked(translation, unexecuted(cells))) > 200
    assert not [key for key, found in translation.asked.items() if not found], RENEW
