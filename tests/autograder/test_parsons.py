"""The lines of a solution to sort: which orders are right, what is said of others, and for whom it opens."""

import pytest

from autograder import check as checking
from autograder.parsons import STEP, Puzzle, parsons
from autograder.question.find import find
from autograder.question.hints import in_disorder, lines_of

ASKED = "attention.attend"


def solved(puzzle: Puzzle, lines: list[str]) -> str:
    for line in lines:
        puzzle.depth = (len(line) - len(line.lstrip())) // len(STEP)
        used = {index for index, _ in puzzle.placed}
        puzzle.place(next(i for i, each in enumerate(puzzle.lines) if each == line.strip() and i not in used))
    return puzzle.verdict()


def test_our_order_is_right_and_another_order_that_works_too():
    right = lines_of(find(ASKED))
    assert solved(Puzzle(find(ASKED)), right).startswith("That is right")
    puzzle = Puzzle(find(ASKED))
    puzzle.right = right[::-1]  # as if ours were another one
    assert solved(puzzle, right).startswith("That is right")


def test_a_wrong_order_is_told_how_far_it_is_ours():
    right = lines_of(find(ASKED))
    assert "Up to line" in solved(Puzzle(find(ASKED)), [*right[:-2], right[-1], right[-2]])
    assert "another line" in solved(Puzzle(find(ASKED)), [right[-1], *right[:-1]])


def test_a_line_that_opens_a_block_indents_the_next_and_every_press_can_be_taken_back():
    puzzle = Puzzle(find(ASKED))
    opens = next(i for i, line in enumerate(puzzle.lines) if line.endswith(":"))
    puzzle.place(opens)
    assert puzzle.depth == 1
    puzzle.indent(-5)
    assert puzzle.depth == 0
    puzzle.take_back()
    puzzle.take_back()
    assert (puzzle.placed, puzzle.depth) == ([], 0)


def test_it_opens_after_a_check_that_has_failed(monkeypatch):
    monkeypatch.setattr(checking, "_failed", {})
    with pytest.raises(ValueError, match="try it first"):
        parsons(ASKED)
    with pytest.raises(checking.CheckFailed) as told:
        checking.check(ASKED, lambda *given: 0)
    assert f'parsons("{ASKED}")' in str(told.value.report)
    *lines, _, program, said = parsons(ASKED).children
    assert sorted(each.description for each in lines) == sorted(line.strip() for line in lines_of(find(ASKED)))
    lines[0].click()
    assert lines[0].disabled
    assert lines[0].description.split("(")[0] in program.value
    assert "status" in said.value


def test_where_there_are_no_solutions_nothing_is_offered(monkeypatch):
    monkeypatch.setitem(find(ASKED).reference.__dict__, "source", "")
    assert in_disorder(find(ASKED)) == ()
    with pytest.raises(ValueError, match="no lines to sort"):
        parsons(ASKED)
