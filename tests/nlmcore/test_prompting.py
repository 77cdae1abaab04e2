"""Learning from a context: options scored as by reading each text whole, prompts as they should look, honest shares."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nlmcore.ngram import NGramLM
from nlmcore.prompting import (
    Example,
    Task,
    Template,
    accuracy,
    by_choosing,
    by_writing,
    choose,
    complete,
    few_shot_prompt,
    score_options,
    stream_text,
    wilson_interval,
)
from nlmcore.recurrent import RecurrentLM
from nlmcore.seq2seq import Seq2Seq
from nlmcore.tokens import BPETokenizer, CharTokenizer, WordTokenizer
from nlmcore.transformer import TransformerConfig, TransformerLM

TEXT = "The capital of France is Paris. The capital of Italy is Rome.\nQ: walk walking A: Paris, Rome, a new york -> x"
CAPITALS = [Example("France", "Paris"), Example("Italy", "Rome"), Example("Peru", "Lima"), Example("Cuba", "Havana")]
TOKENIZERS = {
    "characters": lambda: CharTokenizer.fit([TEXT]),
    "words": lambda: WordTokenizer.fit([TEXT]),
    "byte pairs": lambda: BPETokenizer.train([TEXT] * 3, 300),
}


def lstm(vocab_size: int):
    return RecurrentLM(vocab_size, "lstm", d_hidden=9, dropout=0.4)


def transformer(vocab_size: int):
    return TransformerLM(TransformerConfig(vocab_size=vocab_size, d_model=6, n_heads=2, n_layers=1, max_length=99))


def trigrams(vocab_size: int):
    ids = torch.randint(vocab_size, (400,), generator=torch.Generator().manual_seed(2))
    return NGramLM(3, vocab_size, "kneser_ney").fit(ids)


def built(build, tokenizer):
    torch.manual_seed(1)
    model = build(tokenizer.vocab_size)
    if isinstance(model, torch.nn.Module):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(3.0)
    return model


@torch.no_grad()
def naive(model, ids: list[int], begin: int, state=None) -> list[float]:
    """ln P of every id from `begin` on, by reading the whole text in one go."""
    if isinstance(model, torch.nn.Module):
        model.eval()
    log_probs = model(torch.tensor([ids]), state)[0][0].log_softmax(-1)
    return [float(log_probs[i - 1, ids[i]]) for i in range(begin, len(ids))]


# --- options ---


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("build", [lstm, transformer, trigrams])
@pytest.mark.parametrize("prompt", ["The capital of France is", "The capital of France is ", "Q: walk\nA:", "a"])
def test_an_option_scores_what_its_text_does(tokenizer: str, build, prompt: str) -> None:
    cut = TOKENIZERS[tokenizer]()
    model = built(build, cut)
    options = ["Paris", "Rome", "a new york", "x"]
    found = score_options(model, cut, prompt, options)
    gap = "" if prompt.endswith(" ") else " "
    prefix = len(cut.encode(prompt.rstrip(" ")))
    for option, scored in zip(options, found, strict=True):
        ids = cut.encode(prompt + gap + option)
        if tokenizer == "words" or not prompt.endswith(" "):
            assert ids[prefix:] == scored.tokens
        begin = len(ids) - len(scored.tokens)
        assert begin >= 1
        assert ids[begin:] == scored.tokens
        assert scored.log_probs == pytest.approx(naive(model, ids, begin), abs=1e-4)
        assert scored.score == pytest.approx(sum(naive(model, ids, begin)), abs=1e-4)
        assert scored.log_prob == pytest.approx(scored.score)
    assert choose(model, cut, prompt, options) == max(found, key=lambda o: o.score).text
    if isinstance(model, torch.nn.Module):
        model.train()
        again = score_options(model, cut, prompt, options)
        assert model.training
        assert [o.score for o in again] == pytest.approx([o.score for o in found], abs=1e-4)


def test_the_space_belongs_to_the_options_word() -> None:
    """ "is" + " Paris", however the prompt and the option are typed."""
    cut = TOKENIZERS["byte pairs"]()
    model = built(lstm, cut)
    assert cut.pieces("is Paris.")[1].startswith(" ")
    scores = [
        [round(o.score, 4) for o in score_options(model, cut, prompt, options)]
        for prompt, options in (
            ("The capital is", ["Paris", "Rome"]),
            ("The capital is ", ["Paris", "Rome"]),
            ("The capital is", [" Paris", " Rome"]),
        )
    ]
    assert scores[0] == scores[2]
    assert scores[1] == scores[0]
    glued = score_options(model, cut, "The capital is", ["Paris", "Rome"], separator="")
    assert [round(o.score, 4) for o in glued] != scores[0]


def test_an_option_that_melts_into_the_prompt_is_compared_from_the_same_beginning() -> None:
    cut = BPETokenizer.train(["walking talking walks talks walked"] * 5, 300)
    prompt = "talks walk"
    whole = [cut.encode(prompt + end) for end in ("ing", "s", "ed")]
    assert any(ids[: len(cut.encode(prompt))] != cut.encode(prompt) for ids in whole)  # or this tests nothing
    model = built(lstm, cut)
    found = score_options(model, cut, prompt, ["ing", "s", "ed"], separator="")
    for ids, scored in zip(whole, found, strict=True):
        assert ids[len(ids) - len(scored.tokens) :] == scored.tokens
        assert scored.log_probs == pytest.approx(naive(model, ids, len(ids) - len(scored.tokens)), abs=1e-4)
    assert len({len(ids) - len(scored.tokens) for ids, scored in zip(whole, found, strict=True)}) == 1


def test_normalisations_are_what_they_say() -> None:
    cut = TOKENIZERS["byte pairs"]()
    model = built(transformer, cut)
    options, prompt = ["Paris", "Rome", "a new york"], "The capital of France is"
    scores = {
        rule: [o.score for o in score_options(model, cut, prompt, options, normalise=rule, neutral="A:")]
        for rule in ("none", "tokens", "characters", "unconditional")
    }
    begin, alone_at = len(cut.encode(prompt)), len(cut.encode("A:"))
    lengths: set[int] = set()
    for i, option in enumerate(options):
        log_probs = naive(model, cut.encode(f"{prompt} {option}"), begin)
        alone = naive(model, cut.encode(f"A: {option}"), alone_at)
        lengths.add(len(log_probs))
        assert scores["none"][i] == pytest.approx(sum(log_probs), abs=1e-4)
        assert scores["tokens"][i] == pytest.approx(sum(log_probs) / len(log_probs), abs=1e-4)
        assert scores["characters"][i] == pytest.approx(sum(log_probs) / len(option), abs=1e-4)
        assert scores["unconditional"][i] == pytest.approx(sum(log_probs) - sum(alone), abs=1e-4)
    assert len(lengths) > 1  # or dividing by it changes no choice


def test_spaces_around_an_option_are_not_counted() -> None:
    """ " Rome" beside "Paris" is the option "Rome", not one that is a character longer."""
    cut = TOKENIZERS["byte pairs"]()
    model = built(lstm, cut)
    typed, bare = (
        [o.score for o in score_options(model, cut, "The capital is", options, normalise="characters")]
        for options in (["Paris", " Rome"], ["Paris", "Rome"])
    )
    assert typed == pytest.approx(bare, abs=1e-6)


def test_the_beginning_of_an_option_is_never_less_probable() -> None:
    cut = TOKENIZERS["words"]()
    for build in (lstm, transformer, trigrams):
        short, long = score_options(built(build, cut), cut, "The capital is", ["Rome", "Rome is"])
        assert long.tokens[: len(short.tokens)] == short.tokens
        assert short.score >= long.score


@torch.no_grad()
def test_all_options_of_one_token_are_a_distribution() -> None:
    cut = TOKENIZERS["characters"]()
    model = built(lstm, cut)
    letters = [c for c in map(cut.decode, ([i] for i in range(4, cut.vocab_size))) if c.strip()]
    found = score_options(model, cut, "Q", letters, separator="")
    others = naive(model, [*cut.encode("Q"), 0], 1)
    assert len(letters) > 20
    assert sum(math.exp(o.score) for o in found) + math.exp(others[0]) < 1
    read = model(torch.tensor([cut.encode("Q")]))[0][0, -1].softmax(-1)
    kept = torch.tensor([cut.encode(c)[0] for c in letters])
    assert sum(math.exp(o.score) for o in found) == pytest.approx(float(read[kept].sum()), abs=1e-5)


def test_the_prompt_is_read_once_and_the_options_together() -> None:
    cut = TOKENIZERS["characters"]()
    model = built(trigrams, cut)
    read: list[tuple[int, ...]] = []

    class Watched:
        vocab_size = cut.vocab_size

        def __call__(self, tokens: Tensor, state=None):
            read.append(tuple(tokens.shape))
            return model(tokens, state)

    score_options(Watched(), cut, "The capital is", ["Paris", "Rome", "new york"])
    assert read == [(1, 14), (3, 8)]


def test_a_source_that_was_read_before_counts() -> None:
    cut = TOKENIZERS["words"]()
    torch.manual_seed(4)
    model = Seq2Seq(7, cut.vocab_size, "gru", 6, 8).eval()
    found = []
    for source in ([[1, 5, 3]], [[6, 2, 4]]):
        state = model.encode(torch.tensor(source))
        scored = score_options(model, cut, "", ["Paris", "Rome is"], bos=cut.bos, state=state)
        ids = [cut.bos, *cut.encode("Rome is")]
        assert scored[1].log_probs == pytest.approx(naive(model, ids, 1, state), abs=1e-5)
        found.append(scored[1].score)
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"options": []}, ValueError, "options must be different strings"),
        ({"options": ["a", "a"]}, ValueError, "options must be different strings"),
        ({"options": ["a", " "]}, ValueError, "none empty"),
        ({"options": "ab"}, TypeError, "options must be a list"),
        ({"options": ["a", 3]}, TypeError, r"options\[1\] must be a string"),
        ({"normalise": "length"}, ValueError, "normalise must be one of none, tokens"),
        ({"prompt": ""}, ValueError, "prompt must leave a token"),
        ({"prompt": 3}, TypeError, "prompt must be a string"),
        ({"model": None}, TypeError, "model must be a language model"),
        ({"tokenizer": None}, TypeError, "tokenizer must have encode"),
    ],
)
def test_what_cannot_be_scored_is_refused(plain_errors, changed: dict, error, message: str) -> None:
    cut = TOKENIZERS["characters"]()
    arguments = {"model": built(lstm, cut), "tokenizer": cut, "prompt": "Q", "options": ["a", "x"]} | changed
    with pytest.raises(error, match=message):
        score_options(**arguments)


# --- prompts ---


def test_a_prompt_is_its_examples_and_an_open_question() -> None:
    assert few_shot_prompt(CAPITALS[:2], "Peru") == "France -> Paris\nItaly -> Rome\nPeru ->"
    template = Template("Q: {input}\nA: {output}", "\n\n", "Name the capital.")
    assert few_shot_prompt([("Italy", "Rome")], "Peru", template) == (
        "Name the capital.\n\nQ: Italy\nA: Rome\n\nQ: Peru\nA:"
    )
    assert few_shot_prompt([], "Peru", template) == "Name the capital.\n\nQ: Peru\nA:"
    assert template.separator == " "
    assert Template("{input}={output}").separator == ""
    assert few_shot_prompt([], "x", Template("{input}:\n{output}")) == "x:\n"  # a line's end stays


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text(min_size=1))
def test_what_is_asked_and_answered_is_one_line_of_the_prompt(examples: list[tuple[str, str]], query: str) -> None:
    """Braces and all: the question with its answer joined on is what it would be as an example."""
    template = Template("Q: {input} A: {output}", "\n--\n")
    whole = few_shot_prompt([*examples, (query, "!")], "?", template)
    assert whole.startswith(few_shot_prompt(examples, query, template) + template.separator + "!" + template.between)


@pytest.mark.parametrize("form", ["{input}", "{output} {input}", "{input} {input} {output}", "{} {output}", "no"])
def test_a_form_without_question_and_answer_is_refused(form: str) -> None:
    with pytest.raises(ValueError, match="form must have"):
        Template(form)


def test_examples_that_are_no_pairs_are_refused(plain_errors) -> None:
    with pytest.raises(TypeError, match=r"examples\[1\] must be a pair"):
        few_shot_prompt([("a", "b"), "cd"], "e")
    with pytest.raises(TypeError, match=r"output of examples\[0\]"):
        few_shot_prompt([("a", 3)], "e")
    with pytest.raises(ValueError, match="between"):
        Template(between="")


# --- writing, and measuring: a model that knows the capitals, and one that copies what it was shown ---


class Reciter:
    """Goes on with a line "France -> " as it was told, letter by letter; where it knows nothing, it writes "?"."""

    def __init__(self, tokenizer: CharTokenizer, known: dict[str, str], from_context: bool = False) -> None:
        self.tokenizer, self.known, self.from_context = tokenizer, known, from_context
        self.vocab_size = tokenizer.vocab_size

    def __call__(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        before = tokens[:, :0] if state is None else state
        text = torch.cat([before, tokens], dim=1)
        logits = torch.zeros(*tokens.shape, self.vocab_size)
        for row, ids in enumerate(text.tolist()):
            for t in range(tokens.shape[1]):
                said = self.tokenizer.decode(ids[: before.shape[1] + t + 1])
                logits[row, t, self.tokenizer.encode(self._next(said))[0]] = 9.0
        return logits, text

    def _next(self, said: str) -> str:
        *shown, line = said.split("\n")
        question, arrow, answer = line.partition(" ->")
        known = dict(one.split(" -> ") for one in shown if " -> " in one) if self.from_context else self.known
        wanted = f" {known.get(question, '?')}\n"
        return wanted[len(answer)] if arrow and len(answer) < len(wanted) else "?"


LETTERS = CharTokenizer.fit(["".join(f"{e.input} -> {e.output}\n?" for e in CAPITALS)])
KNOWS = Reciter(LETTERS, {"France": "Paris", "Italy": "Rome", "Peru": "Lima", "Cuba": "Paris"})


def test_it_writes_until_the_stop_string() -> None:
    done = complete(KNOWS, LETTERS, "Italy ->", stop=["\n", "zzz"])
    assert (done.text, done.stopped) == (" Rome", "stop")
    assert LETTERS.decode(done.tokens) == " Rome\n"
    assert done.log_probs == pytest.approx([9 - math.log(math.e**9 + LETTERS.vocab_size - 1)] * 6, abs=1e-4)
    assert complete(KNOWS, LETTERS, "Italy ->", stop="om").text == " R"
    assert complete(KNOWS, LETTERS, "Italy ->", stop=("m", "om")).text == " R"  # the first in the text, not in the list
    assert complete(KNOWS, LETTERS, "Italy ->", 3) == complete(KNOWS, LETTERS, "Italy ->", 3, stop=())
    assert complete(KNOWS, LETTERS, "Italy ->", 3).stopped == "length"
    assert complete(KNOWS, LETTERS, "Italy ->", 3).text == " Ro"
    ended = complete(KNOWS, LETTERS, "Italy ->", eos=LETTERS.encode("m")[0])
    assert (ended.text, ended.stopped, LETTERS.decode(ended.tokens)) == (" Ro", "eos", " Rom")


def test_a_stop_string_inside_a_token_is_found() -> None:
    cut = BPETokenizer.train(["ab;cd ab;cd ab;cd"] * 9, 270)
    torch.manual_seed(0)
    model = built(lstm, cut)
    free = complete(model, cut, "ab", 30, stop=())
    for i in range(1, len(free.text) - 1):
        end = free.text[i : i + 2]
        assert complete(model, cut, "ab", 30, stop=(end,)).text == free.text[: free.text.index(end)]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("build", [lstm, transformer, trigrams])
def test_the_pieces_of_a_stream_are_the_whole_text(tokenizer: str, build) -> None:
    cut = TOKENIZERS[tokenizer]()
    model = built(build, cut)
    for seed in range(2):
        drawn = {"temperature": 1.0, "stop": ()}
        free = complete(model, cut, "The capital", 15, generator=torch.Generator().manual_seed(seed), **drawn)
        middle = free.text[len(free.text) // 2 :][:3]
        for changed in (
            {},
            {"stop": (middle, "zzz")} if middle else {},
            {"eos": free.tokens[-1]},
            {"max_new_tokens": 0},
        ):
            given = {"max_new_tokens": 15} | drawn | changed
            whole = complete(model, cut, "The capital", generator=torch.Generator().manual_seed(seed), **given)
            pieces = [*stream_text(model, cut, "The capital", generator=torch.Generator().manual_seed(seed), **given)]
            assert "".join(pieces) == whole.text
            assert all(pieces)


def test_what_may_still_change_is_held_back() -> None:
    """Half of a character, and the beginning of a stop string, are not shown before they are whole."""
    cut = BPETokenizer.train(["abc"], 4 + 256)

    class Says:
        """Goes on with one text, byte by byte."""

        vocab_size = cut.vocab_size

        def __init__(self, text: str) -> None:
            self.ids = cut.encode(text)

        def __call__(self, tokens: Tensor, state: int | None = None) -> tuple[Tensor, Tensor]:
            at = torch.zeros(1, dtype=torch.long) if state is None else state
            logits = torch.zeros(*tokens.shape, self.vocab_size)
            for t in range(tokens.shape[1]):
                logits[0, t, self.ids[min(int(at), len(self.ids) - 1)]] = 9.0
            return logits, at + 1

    said = Says("é👍a#b##c")
    assert len(said.ids) == 12
    assert [*stream_text(said, cut, "?", 12, stop=())] == ["é", "👍", *"a#b##c"]
    assert [*stream_text(said, cut, "?", 12, stop=("##",))] == ["é", "👍", "a", "#b"]
    assert [*stream_text(said, cut, "?", 8, stop=("##",))] == ["é", "👍", "a", "#"]  # what was held back comes last
    assert [*stream_text(said, cut, "?", 4, stop=())] == ["é", "\ufffd"]


def test_a_prompt_may_be_ids() -> None:
    assert complete(KNOWS, LETTERS, LETTERS.encode("Italy ->")) == complete(KNOWS, LETTERS, "Italy ->")
    ids = torch.tensor(LETTERS.encode("Italy ->"))
    assert "".join(stream_text(KNOWS, LETTERS, ids)) == " Rome"


def test_writing_may_end_with_the_text() -> None:
    ends = LETTERS.encode("m")[0]
    found = accuracy(KNOWS, LETTERS, Task("capitals", [("Italy", "Ro"), ("Peru", "Li")]), 1, answer=by_writing(9, ends))
    assert found.right == 2


def test_writing_may_be_drawn() -> None:
    draw = partial(complete, built(lstm, LETTERS), LETTERS, "Italy", 12, stop=(), temperature=1.0)
    first, second = (draw(generator=torch.Generator().manual_seed(seed)).text for seed in (1, 2))
    assert first == draw(generator=torch.Generator().manual_seed(1)).text
    assert first != second


@pytest.mark.parametrize("wrong", [{"prompt": ""}, {"stop": ("a", "")}])
def test_what_cannot_be_completed_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match="must"):
        complete(**{"model": KNOWS, "tokenizer": LETTERS, "prompt": "Italy ->"} | wrong)


TASK = Task("capitals", CAPITALS, n_options=3)


@pytest.mark.parametrize("answer", [by_choosing(), by_choosing("tokens"), by_writing()])
def test_who_knows_three_of_four_is_right_three_times_of_four(answer) -> None:
    everything = Task("capitals", CAPITALS)
    for shots in (0, 2, 3):
        found = accuracy(KNOWS, LETTERS, everything, shots, answer=answer)
        assert (found.right, found.asked, found.share) == (3, 4, 0.75)
        assert found.low < 0.75 < found.high
        assert [question for question, wanted, given in found.answers if wanted != given] == ["Cuba"]


def test_who_reads_only_the_context_cannot_know_what_was_not_shown() -> None:
    """A question's own answer is never among its examples."""
    copies = Reciter(LETTERS, {}, from_context=True)
    assert accuracy(copies, LETTERS, TASK, 3, answer=by_writing()).right == 0
    seen = []

    def answer(model, tokenizer, prompt, template, options):
        seen.append((prompt, options))
        return "?"

    for shots in (0, 1, 3):
        accuracy(copies, LETTERS, TASK, shots, answer=answer)
    nothing, one, three = seen[:4], seen[4:8], seen[8:]
    for (p0, options), (p1, same), (p3, _) in zip(nothing, one, three, strict=True):
        assert p1.endswith("\n" + p0)
        assert p3.startswith(p1.splitlines()[0] + "\n")  # more examples: the same first
        assert len(p3.splitlines()) == 4
        assert options == same
        assert len(set(options)) == 3
        country = p0.removesuffix(" ->")
        assert dict(CAPITALS)[country] in options
        assert f"{country} -> " not in p3


def test_the_same_seed_asks_the_same() -> None:
    ask = partial(accuracy, KNOWS, LETTERS, TASK, 1, questions=2)
    assert ask(seed=1) == ask(seed=1)
    assert len({tuple(q for q, _, _ in ask(seed=seed).answers) for seed in range(9)}) > 1


def test_what_cannot_be_measured_is_refused() -> None:
    for wrong in ({"shots": 4}, {"shots": -1}, {"shots": 0, "questions": 5}, {"shots": 0, "questions": 0}):
        with pytest.raises(ValueError, match=r"must lie in"):
            accuracy(KNOWS, LETTERS, TASK, **wrong)
    with pytest.raises(ValueError, match="different questions"):
        Task("twice", [CAPITALS[0], CAPITALS[0]])
    with pytest.raises(ValueError, match="every answer"):
        Task("lacks", CAPITALS, options=["Paris"])
    with pytest.raises(ValueError, match="n_options"):
        Task("many", CAPITALS, n_options=5)
    assert TASK.chance == pytest.approx(1 / 3)
    assert Task("all", CAPITALS).chance == pytest.approx(1 / 4)


def test_wilsons_interval() -> None:
    """Both ends solve (p̂ − p)² = z² p(1 − p)/n, which is where the interval comes from."""
    for right, asked in [(3, 10), (0, 10), (10, 10), (57, 60), (1, 1)]:
        ends = wilson_interval(right, asked)
        for p in ends:
            assert (right / asked - p) ** 2 == pytest.approx(1.96**2 * p * (1 - p) / asked, abs=1e-9)
        assert 0 <= ends[0] <= right / asked <= ends[1] <= 1
    assert wilson_interval(0, 10)[1] > 0.2
    with pytest.raises(ValueError, match="right must lie"):
        wilson_interval(3, 2)
