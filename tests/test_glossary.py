"""Words: every lecture lists those it introduces, none before it is explained, and the glossary has them all."""

from pathlib import Path

import pytest

from autograder.launcher import glossary

ROOT = Path(__file__).resolve().parents[1]
LECTURES = glossary.lectures(ROOT)

MAY_COME_EARLIER: dict[str, dict[str, str]] = {
    "11_attention": {
        "attention": "named in a result of others before section 2 explains it",
        "value": "section 3 mixes values in the everyday sense, before they get a space of their own",
        "mask": "announced with a pointer to its section",
    },
}
"""lecture -> {word: why it may be used before it stands in bold}. Everyday words, and pointers to a later section."""


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_lists_its_words_and_explains_them_first(lecture: Path) -> None:
    assert glossary.words_of(lecture), f"{lecture.name} has no cell that begins {glossary.HEADING!r}"
    exempt = MAY_COME_EARLIER.get(lecture.stem, {})
    faults = glossary.faults(lecture, frozenset(exempt))
    assert not faults, "\n".join([lecture.name, *faults])
    for word in exempt:
        assert glossary.faults(lecture, frozenset(exempt) - {word}), f"{word!r} needs its exemption no more"


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
    found = glossary.faults(lecture)
    assert (not found) if fault is None else (fault in found[0])
    assert fault is None or "before" not in fault or not glossary.faults(lecture, frozenset({"beam"}))


@pytest.mark.parametrize("item", ["- *beam*: of wood", "* **beam**: of wood", "- **beam** of wood", "- **key**: a"])
def test_a_line_that_is_no_item_is_refused(course: Path, item: str) -> None:
    (course / "lectures" / "02_beams.py").write_text(text("# Beams", f"{LIST}\n- **key**: b\n{item}"))
    with pytest.raises(ValueError, match=r"02_beams.py.*(not of the form|twice)"):
        glossary.gather(course)
