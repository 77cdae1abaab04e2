"""Widgets: probabilities from counts, perplexity, Shannon's guessing game, models that suggest and write."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import ipywidgets

from lectures.show import Canvas, Live, bar_list_svg, choice, field, live, marked_words_html, menu, said, slider
from lectures.show.charts import Bounds, draw_intervals
from lectures.show.svg import DARK_ORANGE, GREY, INK, ORANGE, visible
from lectures.show.words import text_lines

__all__ = [
    "Passage",
    "Player",
    "Written",
    "count_playground",
    "guessing_game",
    "length_playground",
    "next_words",
    "perplexity_playground",
    "writer",
]

# --- counting ------------------------------------------------------------------------------------

SentenceProbability = Callable[[list[str], float], float]
"""(words, probability of <eos>) -> probability of exactly this sentence."""

Estimate = Callable[[Mapping[str, int], Sequence[str], float], Mapping[str, float]]
"""(counts of the next word, vocabulary, pseudocount k) -> probability of every word of the vocabulary."""

Perplexity = Callable[[list[float]], float]
"""(probability that the model gave to each word of the text) -> perplexity."""


def length_playground(
    probability: SentenceProbability,
    words: Sequence[str],
    *,
    longest: int = 6,
    yours: SentenceProbability | None = None,
) -> Live:
    """The total probability of all sentences of each length, when <eos> has probability p at every step."""
    sentences = [[list(s) for s in itertools.product(words, repeat=n)] for n in range(longest + 1)]

    def draw(probability: SentenceProbability, p: float) -> str:
        sums = [sum(probability(sentence, p) for sentence in of_length) for of_length in sentences]
        counts = [f"{len(of):,} sentence{'' if len(of) == 1 else 's'}" for of in sentences]
        return bar_list_svg(
            sums,
            [f"{n} word{'' if n == 1 else 's'}" for n in range(longest + 1)],
            reach=1.0,
            says=[f"{total:.3f} · {count}" for total, count in zip(sums, counts, strict=True)],
            title=f"total probability of each length, P(<eos>) = {p:.2f}",
            note=f"all sentences of up to {longest} words together: {sum(sums):.3f}",
        )

    return live(
        draw, probability, yours=yours, p=slider(0.0, 0.0, 0.9, 0.05, "probability of <eos> at every step", "460px")
    )


def count_playground(
    counts: Mapping[str, Mapping[str, int]],
    vocabulary: Sequence[str],
    estimate: Estimate,
    *,
    yours: Estimate | None = None,
) -> Live:
    """The counts after each context, and the probabilities that an estimate computes from them with pseudocount k.

    counts: context -> {next word: count}. Words never seen after the context have a count of 0.
    """

    def draw(estimate: Estimate, context: str, k: float) -> str:
        seen = counts[context]
        given = estimate(seen, vocabulary, k)
        values = [float(given[word]) for word in vocabulary]
        told = [f"seen {seen.get(word, 0)} of {sum(seen.values())}" for word in vocabulary]
        return bar_list_svg(
            values,
            list(vocabulary),
            reach=1.0,
            highlight=[i for i, word in enumerate(vocabulary) if not seen.get(word)],
            says=[f"{value:.3f} · {words}" for value, words in zip(values, told, strict=True)],
            title=f"P(next word | {context}), k = {k:g}",
            note=f"sum {sum(values):.2f}; orange: never seen after “{context}”",
        )

    return live(
        draw,
        estimate,
        yours=yours,
        rows=[["context"], ["k"]],
        context=choice(counts, "after"),
        k=slider(0.0, 0.0, 3.0, 0.1, "pseudocount k", "420px"),
    )


def perplexity_playground(
    perplexity: Perplexity,
    words: Sequence[str],
    probabilities: Sequence[float],
    surprise: Callable[[float], float],
    *,
    yours: Perplexity | None = None,
) -> Live:
    """One slider per word for its probability under the model; shows each surprise in bits, their mean, the perplexity.

    surprise: probability -> bits. `perplexity` (or yours) computes the perplexity from the probabilities.
    """

    def draw(perplexity: Perplexity, **given: float) -> str:
        p = [float(value) for value in given.values()]
        bits = [surprise(value) for value in p]
        found = perplexity(p)
        note = f"mean {sum(bits) / len(bits):.2f} bits per word\n"
        note += f"perplexity {found:.2f}: like {found:.1f} equally likely words"
        return bar_list_svg(
            bits,
            list(words),
            reach=8.0,
            says=[f"{b:.2f} bits · P = {value:.3f}" for b, value in zip(bits, p, strict=True)],
            title="surprise of each word, −log₂ P(word | previous words)",
            note=note,
            width=480,
        )

    sliders: dict[str, Any] = {}
    for i, (word, p) in enumerate(zip(words, probabilities, strict=True)):
        sliders[f"p{i}"] = slider(float(p), 0.005, 1.0, 0.005, f"P({word} | …)", "330px")
        sliders[f"p{i}"].readout_format = ".3f"
    return live(draw, perplexity, yours=yours, **sliders)


# --- Shannon's guessing game ---------------------------------------------------------------------

GIVE_UP = "?"
"""Reveals the character; it counts as found with the last possible guess."""

ScoreBounds = Callable[[Sequence[int]], tuple[float, float]]
"""numbers of guesses -> (lower, upper) bound in bits per character."""

_NAMES = {" ": "space", ".": "other"}


class Passage(NamedTuple):
    """A text to guess: its first `given` characters are shown."""

    text: str
    given: int


class Player(NamedTuple):
    """A model's game on one passage, character by character."""

    guesses: Sequence[int]
    """The number of guesses for each character, from 1 to the number of keys."""
    bits: Sequence[float]
    """−log2 of the probability of the correct key."""


class Game(NamedTuple):
    """The state of the game after the keys typed so far."""

    found: list[int]
    """The number of guesses for every character found."""
    wrong: list[str]
    """The wrong guesses for the next character so far."""


def replay(typed: str, targets: Sequence[int], keys: str, key_of: Callable[[str], int]) -> Game:
    """The game from everything typed so far; a repeated guess does not count again."""
    found: list[int] = []
    wrong: list[str] = []
    for sign in typed:
        if len(found) == len(targets):
            break
        key = None if sign == GIVE_UP else keys[key_of(sign)]
        if key is None or key == keys[targets[len(found)]]:
            found.append(len(keys) if key is None else len(wrong) + 1)
            wrong = []
        elif key not in wrong:
            wrong.append(key)
    return Game(found, wrong)


def guessing_game(
    passages: Mapping[str, Passage],
    players: Callable[[str], Mapping[str, Player]],
    bounds: ScoreBounds,
    keys: str,
    key_of: Callable[[str], int],
    *,
    demo: str = "",
    yours: ScoreBounds | None = None,
) -> Live:
    """The room guesses a passage key by key, in the field or with the buttons. Backspace undoes a key.

    passages: name -> text. players: text -> name -> a model's game on it, from the first character. bounds: numbers of
    guesses -> Shannon's two bounds. keys, key_of: the possible answers, and the index of a character among
    them. demo: the initial input, so that a page without a kernel shows a game.
    """
    games = {name: players(passage.text) for name, passage in passages.items()}

    def draw(bounds: ScoreBounds, passage: str, typed: str) -> str:
        text, given = passages[passage]
        targets = [key_of(c) for c in text[given:]]
        game = replay(typed, targets, keys, key_of)
        n = len(game.found)
        rows: dict[str, Bounds] = {}
        if n:
            low, high = map(float, bounds(game.found))
            rows["the room"] = (low, high, None, game.found.count(1) / n)
            for name, player in games[passage].items():
                numbers = list(player.guesses[given : given + n])
                low, high = map(float, bounds(numbers))
                rows[name] = (low, high, sum(player.bits[given : given + n]) / n, numbers.count(1) / n)
        return guessing_svg(text[: given + n], given, game.found, game.wrong, rows, done=n == len(targets))

    hint = "letters, space, . for any other character, ? reveals it, backspace undoes"
    typed = field("type here", hint, demo, "min(720px, 96%)", every_key=True)
    passage = choice(passages, "passage")
    passage.observe(lambda _: setattr(typed, "value", ""), names="value")
    game = live(draw, bounds, yours=yours, rows=[["passage"], ["typed"]], passage=passage, typed=typed)
    controls, picture = game.children
    game.children = (controls, _keyboard(keys, typed), picture)
    return game


def _keyboard(keys: str, typed: ipywidgets.Text) -> ipywidgets.HBox:
    """A button per key, and the buttons that reveal, undo and restart."""

    def button(label: str, says: str, change: Callable[[str], str], width: str = "auto") -> ipywidgets.Button:
        made = ipywidgets.Button(description=label, tooltip=says, layout=ipywidgets.Layout(width=width))
        made.on_click(lambda _: setattr(typed, "value", change(typed.value)))
        return made

    def adding(key: str) -> Callable[[str], str]:
        return lambda before: before + key

    row = []
    for key in keys:
        name = _NAMES.get(key, key)
        row.append(button(name, f"guess {name}", adding(key), "auto" if key in _NAMES else "36px"))
    row += [
        button("reveal", "reveal the character; it counts as the last possible guess", adding(GIVE_UP)),
        button("undo", "undo the last key", lambda before: before[:-1]),
        button("new game", "start again", lambda before: ""),
    ]
    return ipywidgets.HBox(row, layout=ipywidgets.Layout(flex_flow="row wrap", width="min(860px, 98%)"))


def guessing_svg(
    shown: str,
    given: int,
    guesses: Sequence[int],
    wrong: Sequence[str],
    rows: Mapping[str, Bounds],
    *,
    done: bool = False,
    per_line: int = 40,
) -> str:
    """The text found so far, with the number of guesses below each character and a gap for the next one; then the score.

    shown: the characters shown; the first `given` of them were not guessed. wrong: wrong guesses for the next.

    Raises ValueError if there is not one number per guessed character.
    """
    if len(guesses) != len(shown) - given:
        raise ValueError(
            f"guessing_svg needs one number of guesses per guessed character: got {len(guesses)} numbers for {len(shown) - given} characters"
        )
    canvas, wide = Canvas(), 19.0
    cells = [*shown] if done else [*shown, "_"]
    for row, (first, last) in enumerate(text_lines(cells, per_line)):
        for i in range(first, last):
            x, y = wide * (i - first), 24 + 52 * row
            if i == len(shown):
                canvas.rect(x, y - 19, wide, 27, stroke=ORANGE, wide=3)
                continue
            guessed = i >= given
            sign = visible(cells[i]) if guessed or cells[i] == "\n" else cells[i]
            canvas.text(x + wide / 2, y, sign, 20, "middle", mono=True, fill="#000000" if guessed else GREY)
            if guessed:
                hard = guesses[i - given] > 1
                ink = DARK_ORANGE if hard else "#333333"
                canvas.text(x + wide / 2, y + 19, str(guesses[i - given]), 15, "middle", fill=ink, bold=hard)
    tried = "not: " + " ".join(_NAMES.get(key, key) for key in wrong) if wrong else ""
    state = "the end of the passage" if done else tried or "which key is next?"
    bottom = canvas.bottom + 20
    canvas.text(0, bottom, state, 18, fill=DARK_ORANGE if tried else INK)
    if rows:
        draw_intervals(canvas, rows, bottom + 18)
    told = f"Guessing game: {len(guesses)} characters found, {list(guesses).count(1)} with the first guess; {state}. "
    return canvas.svg(told + " ".join(_spoken(name, row) for name, row in rows.items()), width=wide * per_line)


def _spoken(name: str, row: Bounds) -> str:
    low, high, bits, first = row
    words = []
    if low is not None and high is not None:
        words.append(f"between {low:.2f} and {high:.2f} bits per character from its guesses")
    words += [] if bits is None else [f"{bits:.2f} from its probabilities"]
    words += [] if first is None else [f"first guess right {first:.0%}"]
    return f"{name}: {', '.join(words)}."


# --- writing -------------------------------------------------------------------------------------

Suggest = Callable[[str], Sequence[tuple[str, float]]]
"""text typed so far -> (next word, probability), best first."""


def next_words(models: Mapping[str, Suggest], typed: str, *, longest: int = 200) -> Live:
    """Type; the models suggest the next word, or the rest of the current one, like the keyboard of a phone.

    Enter accepts the first suggestion.

    models: name -> function from the text to (word, probability) pairs. The last model is selected initially.
    """

    def draw(model: str, typed: str) -> str:
        if len(typed) > longest:
            raise ValueError(f"the text has {len(typed)} characters; at most {longest} are allowed, so delete some")
        found = list(models[model](typed))
        if not found:
            return said(f"{model} knows no word that starts like this")
        shown = typed.replace("\n", " ")[-60:]
        return bar_list_svg(
            [p for _, p in found],
            [_named(word) for word, _ in found],
            reach=max(0.25, max(p for _, p in found)),
            title=f"{model}: next word after “{shown}”",
            width=700,
        )

    model = choice(models, "model", value=list(models)[-1])
    line = field("type here", "", typed, "min(640px, 96%)", every_key=True)

    def accept(_widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("event") == "submit" and len(line.value) <= longest:
            before, space, _ = line.value.rpartition(" ")
            for word, _ in list(models[model.value](line.value))[:1]:
                line.value = f"{before}{space}{word} "

    line.on_msg(accept)
    return live(draw, rows=[["model"], ["typed"]], model=model, typed=line)


class Written(NamedTuple):
    """One word that a model wrote, and where it came from."""

    word: str
    seen: int
    """How many words, up to and with this one, occur in a row in the training text (at most N)."""
    likely: Sequence[tuple[str, float]]
    """The likeliest words at this position, with their probabilities, before the word was sampled."""


Write = Callable[[int, str, int], Sequence[Written]]
"""(order, smoothing, seed) -> the words of a text."""


def writer(write: Write, orders: Sequence[int], smoothings: Sequence[str], *, order: int, words: int = 24) -> Live:
    """A text that an n-gram model samples, word by word; the colour shows the length of the copied run.

    write: see `Write`; its `seen` is at most one more than the largest order.
    """
    texts = lru_cache(maxsize=256)(write)
    length = len(texts(order, smoothings[0], 0))
    top = max(orders) + 1
    runs = [f"run of {n}" if n < top else f"{n} or more" for n in range(1, top + 1)]

    def draw(order: int, smoothing: str, seed: int, shown: int) -> str:
        text = texts(order, smoothing, seed)[:shown]
        last, spelled = text[-1], [one.word for one in text]
        copied = sum(one.seen >= top for one in text)
        written = marked_words_html(
            spelled,
            [max(min(one.seen, top) - 1, 0) for one in text],
            runs,
            bold=len(text) - 1,
            alt=f"{order}-gram with {smoothing}, seed {seed}, writes: {' '.join(spelled)}",
        )
        chosen = [i for i, (word, _) in enumerate(last.likely) if word == last.word]
        bars = bar_list_svg(
            [p for _, p in last.likely],
            [_named(word) for word, _ in last.likely],
            reach=max(0.3, max(p for _, p in last.likely)),
            says=[f"{p:.3f}" if p >= 0.001 else f"{p:.5f}" for _, p in last.likely],
            highlight=chosen,
            title=f"word {len(text)} was sampled from" + ("" if chosen else " (it is not in the top five)"),
        )
        line = f"{copied} of {len(text)} words end a run of {top} or more words copied from the training text."
        return written + said(line) + bars

    return live(
        draw,
        rows=[["order", "smoothing"], ["seed", "shown"]],
        order=choice([(f"{n}-gram", n) for n in orders], "order n", value=order),
        smoothing=menu(smoothings, "smoothing", "300px"),
        seed=slider(0, 0, 9, 1, "seed"),
        shown=slider(min(words, length), 1, length, 1, "words"),
    )


def _named(word: str) -> str:
    """A word as a label; invisible characters are named."""
    return {"\n": "new line", " ": "space", "": "no space"}.get(word, word)
