"""What prompting refuses: every error names the argument, what was given and what is allowed."""

import pickle

import pytest
import torch

from lectures.prompting import (
    Example,
    Task,
    Template,
    accuracy,
    choose,
    complete,
    few_shot_prompt,
    score_options,
    stream_text,
)
from lectures.prompting import wilson_interval as wilson
from nlmcore.recurrent import RecurrentLM
from nlmcore.tokens import CharTokenizer

PAIRS = [("hot", "cold"), ("up", "down"), ("in", "out")]
LETTERS = CharTokenizer.fit(["abcdefghijklmnopqrstuvwxyz ->\n:"])
MODEL = RecurrentLM(LETTERS.vocab_size, "gru", d_hidden=5)
TASK = Task("opposites", PAIRS)


def write(**given):
    return complete(**{"model": MODEL, "tokenizer": LETTERS, "prompt": "hot ->", "max_new_tokens": 2} | given)


def score(**given):
    return score_options(**{"model": MODEL, "tokenizer": LETTERS, "prompt": "a", "options": ["b", "cd"]} | given)


def measure(**given):
    return accuracy(**{"model": MODEL, "tokenizer": LETTERS, "task": TASK, "shots": 1} | given)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: write(stop=None), TypeError, r"stop must be a list of strings, \(\) for none, got NoneType"),
        (lambda: write(stop=3), TypeError, "stop must be a list of strings.* got int 3"),
        (lambda: write(stop=["a", None]), TypeError, r"stop\[1\] must be a string, got NoneType"),
        (lambda: write(bos="x"), TypeError, "bos must be a token id or None, got str 'x'"),
        (lambda: write(bos=True), TypeError, "bos must be a token id or None, got bool True"),
        (
            lambda: write(bos=10**6),
            ValueError,
            r"bos must be an id in \[0, \d+\), the vocabulary, or None, got 1000000",
        ),
        (lambda: write(bos=-1), ValueError, r"bos must be an id in .* got -1"),
        (lambda: write(prompt=3), TypeError, "prompt must be a string, or ids, got int 3"),
        (lambda: write(prompt=b"hot"), TypeError, "prompt must be a string, or ids, got bytes b'hot'"),
        (lambda: write(prompt=["hot"]), TypeError, r"prompt must be a string, or ids, got list \['hot'\]"),
        (lambda: write(prompt=[True]), TypeError, "prompt must be a string, or ids, got list"),
        (lambda: write(prompt=[10**6]), ValueError, r"prompt must hold ids in \[0, \d+\), the vocabulary, got 1000000"),
        (lambda: write(prompt=[]), ValueError, "prompt must not be empty"),
        (lambda: stream_text(MODEL, LETTERS, ""), ValueError, "prompt must not be empty"),
        (lambda: stream_text(MODEL, LETTERS, "a", stop=("",)), ValueError, "stop must hold no empty string"),
        (lambda: write(stop=("a", "")), ValueError, "stop must hold no empty string"),
        (lambda: write(generator=3), TypeError, "generator must be a torch.Generator, got int 3"),
        (lambda: write(generator=3, temperature=1), TypeError, "generator must be a torch.Generator, got int 3"),
        (lambda: write(max_new_tokens="2"), TypeError, "max_new_tokens must be an integer, got str '2'"),
        (lambda: write(temperature="1"), TypeError, "temperature must .*'1'"),
        (lambda: write(eos="x"), TypeError, "eos must be a token id or None, got str 'x'"),
        (lambda: score(separator=None), TypeError, "separator must be a string, got NoneType"),
        (lambda: score(baseline_prompt=None), TypeError, "baseline_prompt must be a string, got NoneType"),
        (lambda: score(normalise=["none"]), TypeError, "normalise must be a string, got list"),
        (lambda: score(bos="x"), TypeError, "bos must be a token id or None, got str 'x'"),
        (lambda: score(bos=10**6), ValueError, "bos must be an id in .* got 1000000"),
        (
            lambda: score(normalise="unconditional", baseline_prompt=""),
            ValueError,
            "baseline_prompt must leave a token",
        ),
        (lambda: score(options=[]), ValueError, "options must be different strings"),
        (lambda: score(options=["a", "a"]), ValueError, "options must be different strings"),
        (lambda: score(options=["a", " "]), ValueError, "options must be .* none empty"),
        (lambda: score(options="ab"), TypeError, "options must be a list"),
        (lambda: score(options=["a", 3]), TypeError, r"options\[1\] must be a string"),
        (lambda: score(normalise="length"), ValueError, "normalise must be one of none, tokens"),
        (lambda: score(prompt=""), ValueError, "prompt must leave a token"),
        (lambda: score(prompt=3), TypeError, "prompt must be a string"),
        (lambda: score(model=None), TypeError, "model must be a language model"),
        (lambda: score(tokenizer=None), TypeError, "tokenizer must have encode"),
        (lambda: Example(None, "x"), TypeError, "input must be a string, got NoneType"),
        (lambda: Example("x", 3), TypeError, "output must be a string, got int 3"),
        (lambda: few_shot_prompt(None, "q"), TypeError, r"examples must be pairs \(input, output\), got NoneType"),
        (lambda: few_shot_prompt("ab", "q"), TypeError, "examples must be pairs .* got str 'ab'"),
        (lambda: few_shot_prompt([("a", "b"), "cd"], "e"), TypeError, r"examples\[1\] must be a pair"),
        (lambda: few_shot_prompt([("a", 3)], "e"), TypeError, r"output of examples\[0\]"),
        (lambda: Template(between=""), ValueError, "between"),
        (lambda: few_shot_prompt(PAIRS, "q", "x"), TypeError, "template must be a Template, got str 'x'"),
        (lambda: few_shot_prompt(PAIRS, ""), ValueError, "query must be a question .* got ''"),
        (lambda: few_shot_prompt(PAIRS, None), TypeError, "query must be a string, got NoneType"),
        (lambda: Task("t", None), TypeError, "examples must be pairs .* got NoneType"),
        (lambda: Task("t", [("a", "b"), ("c",)]), TypeError, r"examples\[1\] must be a pair"),
        (lambda: Task("t", [("a", None)]), TypeError, r"output of examples\[0\] must be a string"),
        (lambda: Task("t", [("a", "b"), ("", "c")]), ValueError, r"input of examples\[1\] must be a question"),
        (lambda: Task(3, PAIRS), TypeError, "name must be a string, got int 3"),
        (lambda: Task("t", PAIRS, "x"), TypeError, "template must be a Template, got str 'x'"),
        (lambda: Task("t", PAIRS, options=None), TypeError, "options must be a list of strings, got NoneType"),
        (lambda: Task("t", PAIRS, options=["cold", 3]), TypeError, r"options\[1\] must be a string"),
        (lambda: Task("t", PAIRS, n_options="2"), TypeError, "n_options must be an integer, got str '2'"),
        (lambda: Task("t", PAIRS, n_options=2.0), TypeError, "n_options must be an integer, got float 2.0"),
        (lambda: Task("t", PAIRS, n_options=4), ValueError, r"n_options of t must lie in \[2, 3\].* got 4"),
        (lambda: measure(task=None), TypeError, "task must be a Task, got NoneType"),
        (lambda: measure(shots="1"), TypeError, "shots must be an integer, got str '1'"),
        (lambda: measure(shots=1.5), TypeError, "shots must be an integer, got float 1.5"),
        (lambda: measure(shots=True), TypeError, "shots must be an integer, got bool True"),
        (lambda: measure(questions="2"), TypeError, "questions must be an integer, got str '2'"),
        (lambda: measure(seed=None), TypeError, "seed must be an integer, got NoneType"),
        (lambda: measure(answer="x"), TypeError, r"answer must be something to call, .* got str 'x'; by_choosing"),
        (lambda: measure(answer=lambda *_: None), TypeError, "what answer returns must be a string, got NoneType"),
        (lambda: wilson("1", 2), TypeError, "right must be an integer, got str '1'"),
        (lambda: wilson(1, 2.0), TypeError, "asked must be an integer, got float 2.0"),
        (lambda: wilson(-1, 2), ValueError, "right must be at least 0, got -1"),
        (lambda: wilson(0, 0), ValueError, "asked must be at least 1, got 0"),
        (lambda: wilson(3, 2), ValueError, r"right must lie in \[0, 2\].* got 3"),
        (lambda: wilson(1, 2, -1), ValueError, "z must be at least 0, got -1"),
        (lambda: wilson(1, 2, float("nan")), ValueError, "z must be at least 0 and finite, got nan"),
        (lambda: wilson(1, 2, "1"), TypeError, "z must be a number, got str '1'"),
    ],
)
def test_what_prompting_refuses(plain_errors, call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        call()


def test_pairs_are_examples_everywhere() -> None:
    examples = [Example(*pair) for pair in PAIRS]
    assert Task("opposites", examples) == TASK
    assert TASK.examples == examples
    assert all(isinstance(example, Example) for example in TASK.examples)
    assert few_shot_prompt(PAIRS, "q") == few_shot_prompt(iter(examples), "q")
    assert measure() == measure(task=Task("opposites", examples))


def test_an_example_is_still_a_named_pair() -> None:
    example = Example("hot", "cold")
    assert example == ("hot", "cold") == (example.input, example.output)
    assert repr(example) == "Example(input='hot', output='cold')"
    assert type(pickle.loads(pickle.dumps(example))) is Example
    with pytest.raises(AttributeError):
        example.input = "cool"  # type: ignore[misc]


def test_an_id_of_any_library_may_begin() -> None:
    assert write(bos=torch.tensor(1)).tokens == write(bos=1).tokens
    scored = [choose(MODEL, LETTERS, "", ["b", "cd"], bos=bos) for bos in (torch.tensor(1), 1)]
    assert scored[0] == scored[1]
