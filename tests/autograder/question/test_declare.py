"""A mistake is an edit of the master's solution; one that does not apply is named, and so is a text of another form."""

import pytest

from autograder.question.declare import _misconceptions, question
from autograder.question.edits import Master
from autograder.question.listing import EditError

MASTER = '''# %% [markdown]
# ## 2. Doubling [[small.double, 15 minutes, easy]]

# %%
import math

LIMIT = 3
scores = [1 / 0]  # not run: nothing needs it

def half(x):
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION


def double(x, times=1):
    """Twice."""

    ### BEGIN SOLUTION
    def twice(y):
        return y + y

    scores = [x]
    for _ in range(times):
        scores.append(twice(scores[-1]))
    return min(half(scores[-1]) * 2, math.pow(10, LIMIT))
    ### END SOLUTION
'''


@pytest.fixture
def master(tmp_path):
    path = tmp_path / "small.py"
    path.write_text(MASTER)
    return Master(path)


def made(master, text):
    return {m.id: m for m in _misconceptions(text, master, "small.double")}


def test_the_reference_is_the_masters_solution(master):
    assert master.functions == ["half", "double"]
    assert (master.title("double"), master.signature("double")) == ("Doubling", "double(x, times=1)")
    assert master.arguments("double") == ("x", "times")
    double = master.make("double")
    assert (double(3), double(3, 2), double(3, 9)) == (6, 12, 1000)
    assert double.__doc__ == "Twice."


def test_every_kind_of_edit(master):
    mistakes = made(
        master,
        """
once: It is said
in two lines - and a third part.
- y + y → y + 1

everywhere: All of them.
* scores → found

in-front: More often.
^ times = times + 1
^ x = x + 1
- half(scores[-1]) * 2
+ scores[-1]

whole: Another solution.
looks like: deleted
+ if x:
+
+     return x * 3
or
+ return x * 4

one-after-the-other: Both edits, and nothing is left of the second text.
- half(scores[-1]) * 2 → scores[-1]
- , math.pow(10, LIMIT) →
- min →

two-lines-for-one: They replace it.
- return y + y
+ y = y + 1
+     return y + y

after-another: More often, and each time by one more.
after: in-front
- y + y → y + 1
or
after: after-another
- y + 1 → y + 2

deleted: Nothing is left of it.
- for _ in range(times):
-     scores.append(twice(scores[-1]))
+
""",
    )
    assert mistakes["once"].sentence == "It is said in two lines - and a third part."
    assert mistakes["once"].implementation(3) == 4
    assert mistakes["everywhere"].implementation(3) == 6
    assert mistakes["in-front"].implementation(3) == 16
    assert [way(3) for way in (mistakes["whole"].implementation, *mistakes["whole"].also)] == [9, 12]
    assert mistakes["whole"].looks_like == ("deleted",)
    assert mistakes["one-after-the-other"].implementation(3) == 6
    assert mistakes["two-lines-for-one"].implementation(3) == 8
    another = mistakes["after-another"]
    assert [way(3) for way in (another.implementation, *another.also)] == [6, 8]
    assert mistakes["deleted"].implementation(3) == 3
    assert "return y + 1" in mistakes["once"].implementation.source


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gone: A b.\n- z + z\n+ z", r"small.double, mistake 'gone': the text 'z \+ z' should occur exactly once"),
        ("twice: A b.\n- scores[-1]\n+ x", "mistake 'twice': .* exactly once in the solution and occurs 2 times"),
        ("none: A b.\n* zz → x", "mistake 'none': .* at least once in the solution and occurs 0 times"),
        ("broken: A b.\n- y + y → y +", "mistake 'broken': invalid syntax"),
        ("lost: A b.\nafter: gone\n- y + y → y", "mistake 'lost': there is no mistake 'gone' whose edits"),
        ("one: A b.\nafter: two\n\ntwo: A b.\nafter: one", "mistake 'one': maximum recursion depth"),
        ("no-edit: A sentence alone.", "mistake 'no-edit': there is no edit"),
        ("odd: A b.\n- y + y\n? y", "a mistake begins with “id: sentence”, and this one does not: '\\? y'"),
        ("No id at all\n- y + y", "small.double: a mistake begins with “id: sentence”"),
    ],
)
def test_what_does_not_apply_is_named(master, text, words):
    with pytest.raises(EditError, match=words):
        made(master, text)


def test_a_function_without_a_solution_is_named(tmp_path):
    path = tmp_path / "small.py"
    path.write_text(
        "def f(x):\n    return x\n\n\ndef g(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n"
    )
    with pytest.raises(EditError, match="the function f has no region ### BEGIN SOLUTION"):
        Master(path).make("f")
    with pytest.raises(EditError, match="defines no function 'h'; there are f, g"):
        Master(path).make("h")


def test_the_heading_says_how_long_and_how_hard(master):
    assert master.estimate("double") == (15, "easy", True)
    with pytest.raises(EditError, match="the heading of half should end in"):
        master.estimate("half")
    master.path.write_text(MASTER.replace("easy]]", "esay]]"))
    with pytest.raises(EditError, match="the heading of double should end in"):
        Master(master.path).estimate("double")


def test_without_pytorch_nothing_can_be_closed():
    with pytest.raises(ValueError, match="with numpy=True there is nothing to close"):
        question("gates.leaky", returns=("states", "left"), properties=[], mistakes="", closed=["nlmcore"], numpy=True)
