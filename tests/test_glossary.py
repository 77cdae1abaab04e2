"""Words: every lecture lists those it introduces, none before it is explained, and the glossary has them all."""

import re
from pathlib import Path

import pytest

from autograder.texts import glossary

ROOT = Path(__file__).resolve().parents[1]
LECTURES = glossary.lectures(ROOT)

OPENS = re.compile(r"\*\*After this lecture you can\*\*|\| minutes \|")
POINTED_TO = "announced with a pointer to its section"
MAY_COME_EARLIER: dict[str, dict[str, str]] = {
    "tokens_and_vectors": {"skip-gram": POINTED_TO},
    "decoding": {"top-k": POINTED_TO, "top-p": POINTED_TO},
    "attention": {
        "attention": "named in a result of others before section 2 explains it",
        "value": "section 3 mixes values in the everyday sense, before they get a space of their own",
        "mask": POINTED_TO,
    },
}
"""topic -> {word: why it may be used before it stands in bold}. Everyday words, and pointers to a later section."""


def plain(text: str) -> str:
    """The prose of Markdown, each paragraph on a line: no headings, code, mathematics, HTML and addresses."""
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`|<[^>]*>|\]\([^)]*\)", " ", text, flags=re.S)
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))


def faults(lecture: Path, may_come_earlier: frozenset[str] = frozenset()) -> list[str]:
    """Words of a lecture's list that its text does not set in bold, or that it uses before it does.

    The first cell, the one that says what one can do after the lecture, and its plan may name what is explained later.
    """
    cells = glossary.markdown_cells(lecture.read_text(encoding="utf-8"))
    before = next((i for i, cell in enumerate(cells) if cell.startswith(glossary.HEADING)), len(cells))
    first = next((i for i, cell in enumerate(cells) if i and not OPENS.search(cell)), 0)
    opening, body = plain("\n\n".join(cells[:first])), plain("\n\n".join(cells[first:before]))
    found = []
    for word in glossary.words_of(lecture):
        term = re.sub(r"\s*\([^)]*\)$", "", word.term)
        whole = re.compile(rf"\b{re.escape(term)}(?:s|es)?\b", re.IGNORECASE)

        def bold(text: str, whole: re.Pattern[str] = whole) -> int | None:
            return next(
                (m.start() for m in re.finditer(r"\*\*((?:[^*]|(?<!\*)\*(?!\*))+)\*\*", text) if whole.search(m[1])),
                None,
            )

        place, used = bold(body), whole.search(body)
        if bold(opening) is not None:
            continue
        if place is None:
            found.append(f"**{term}** is in the list, but nowhere in the text in bold, with its meaning")
        elif used is not None and used.start() < place and word.key not in may_come_earlier:
            around = body[max(0, used.start() - 60) : used.end() + 40].replace("\n", " ")
            found.append(f"{term!r} is used before it is explained: … {around} …")
    return found


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_lists_its_words_and_explains_them_first(lecture: Path) -> None:
    assert glossary.words_of(lecture), f"{lecture.name} has no cell that begins {glossary.HEADING!r}"
    exempt = MAY_COME_EARLIER.get(lecture.stem.partition("_")[2], {})
    found = faults(lecture, frozenset(exempt))
    assert not found, "\n".join([lecture.name, *found])
    for word in exempt:
        assert faults(lecture, frozenset(exempt) - {word}), f"{word!r} needs its exemption no more"


def test_no_word_means_two_things() -> None:
    _, conflicts = glossary.gather(ROOT)
    assert not conflicts, "\n".join(conflicts)


def test_the_glossary_is_as_the_lectures_have_it() -> None:
    written = (ROOT / glossary.WHERE).read_text(encoding="utf-8")
    assert written == glossary.page(glossary.gather(ROOT)[0]), f"{glossary.WHERE} is old: {glossary.RENEW}"


def text(*cells: str) -> str:
    return "\n\n".join("# %% [markdown]\n" + "\n".join(f"# {line}".rstrip() for line in c.split("\n")) for c in cells)


LIST = "### Words of this lecture\n\n- **beam**: what is kept.\n- **key (of a piano)**: what\n  is pressed; $p(a|b)$."


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "lectures").mkdir()
    (tmp_path / "lectures" / "02_beams.py").write_text(text("# Beams", "A **beam** has *keys*, **keys**.", LIST))
    return tmp_path


def test_lists_become_a_table(course: Path) -> None:
    words, conflicts = glossary.gather(course)
    assert [(w.term, w.meaning, w.number) for w in words] == [
        ("beam", "what is kept.", 2),
        ("key (of a piano)", "what is pressed; $p(a|b)$.", 2),
    ]
    assert not conflicts
    assert glossary.renew(course)
    assert not glossary.renew(course)
    table = (course / glossary.WHERE).read_text()
    assert "| **beam** | what is kept. | [2](02_beams.py) |" in table
    assert r"$p(a\mid b)$" in table, "a bare bar would end the cell"


def test_a_later_lecture_repeats_a_word_as_it_was(course: Path) -> None:
    later = course / "lectures" / "10_more.py"
    later.write_text(text("# More", "### Words of this lecture\n\n- **Beam**: what is kept."))
    assert [word.number for word in glossary.gather(course)[0]] == [2, 2]
    assert not glossary.gather(course)[1]
    later.write_text(text("# More", "### Words of this lecture\n\n- **Beam**: of wood."))
    assert "10_more.py: of wood." in glossary.gather(course)[1][0]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("A **beam** is kept by its **keys**.", None),
        ("Beams, said early. A **beam** with a **key**.", "'beam' is used before"),
        ("`beam`, $beam$ and\n\n## Beam\n\n**Beams** and **the key**", None),
        ("A beam with a **key**.", "nowhere in the text in bold"),
        ("A moonbeam. The **beam**, the monkey, the **key**.", None),
    ],
)
def test_words_come_after_their_meaning(course: Path, body: str, fault: str | None) -> None:
    lecture = course / "lectures" / "02_beams.py"
    lecture.write_text(text("# Beams\n\nOn beams and keys.", body, LIST, "A beam, later."))
    found = faults(lecture)
    assert (not found) if fault is None else (fault in found[0])
    assert fault is None or "before" not in fault or not faults(lecture, frozenset({"beam"}))


@pytest.mark.parametrize("item", ["- *beam*: of wood", "* **beam**: of wood", "- **beam** of wood", "- **key**: a"])
def test_a_line_that_is_no_item_is_refused(course: Path, item: str) -> None:
    (course / "lectures" / "02_beams.py").write_text(text("# Beams", f"{LIST}\n- **key**: b\n{item}"))
    with pytest.raises(ValueError, match=r"02_beams.py.*(not of the form|twice)"):
        glossary.gather(course)
