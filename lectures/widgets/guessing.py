"""Shannon's guessing game in front of a room: type a letter, see whether it is the next one, compare with models."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import ipywidgets

from lectures.show import guessing_svg
from lectures.show.live import Live

GIVE_UP = "?"
"""Shows the character; it counts as found with the last guess of all."""


class Passage(NamedTuple):
    """A text to guess: its first `given` characters are shown."""

    text: str
    given: int


class Player(NamedTuple):
    """A model's game on one passage, character by character."""

    guesses: Sequence[int]
    """How many it took, 1 to the number of keys."""
    bits: Sequence[float]
    """−log2 of the probability of the right key."""


Bounds = Callable[[Sequence[int]], tuple[float, float]]
"""numbers of guesses -> (lower, upper) bound in bits per character."""


class Game(NamedTuple):
    """Where the game stands after the keys typed so far."""

    found: list[int]
    """For every character found, how many guesses it took."""
    wrong: list[str]
    """What was tried in vain for the character that is next."""


def replay(typed: str, targets: Sequence[int], keys: str, key_of: Callable[[str], int]) -> Game:
    """The game from all that was typed: a key that was tried before does not count again."""
    found: list[int] = []
    wrong: list[str] = []
    for sign in typed:
        if len(found) == len(targets):
            break
        if sign == GIVE_UP:
            found.append(len(keys))
            wrong = []
            continue
        key = keys[key_of(sign)]
        if key == keys[targets[len(found)]]:
            found.append(len(wrong) + 1)
            wrong = []
        elif key not in wrong:
            wrong.append(key)
    return Game(found, wrong)


def guessing_game(
    passages: Mapping[str, Passage],
    players: Callable[[str], Mapping[str, Player]],
    bounds: Bounds,
    keys: str,
    key_of: Callable[[str], int],
    *,
    demo: str = "",
    yours: Bounds | None = None,
) -> Live:
    """The room guesses a passage key by key: typed into the field, or with the buttons. Backspace takes back.

    passages: name -> text. players: text -> name -> a model's game on it, from the first character on. bounds: from
    numbers of guesses to Shannon's two bounds. keys, key_of: the answers there are, and the place of a character among
    them. demo: what is typed at the beginning, so that a page without a kernel shows a game.
    """
    games = {name: players(passage.text) for name, passage in passages.items()}

    def draw(bounds: Bounds, passage: str, typed: str) -> str:
        text, given = passages[passage]
        targets = [key_of(c) for c in text[given:]]
        game = replay(typed, targets, keys, key_of)
        n = len(game.found)
        rows: dict[str, tuple[float, float, float | None, float]] = {}
        if n:
            low, high = map(float, bounds(game.found))
            rows["the room"] = (low, high, None, game.found.count(1) / n)
            for name, player in games[passage].items():
                numbers = list(player.guesses[given : given + n])
                low, high = map(float, bounds(numbers))
                rows[name] = (low, high, sum(player.bits[given : given + n]) / n, numbers.count(1) / n)
        return guessing_svg(
            text[: given + n], given, game.found, game.wrong, rows, done=n == len(targets), most=len(keys)
        )

    choose = ipywidgets.ToggleButtons(options=list(passages), description="passage", style={"button_width": "auto"})
    field = ipywidgets.Text(
        value=demo,
        description="type here",
        continuous_update=True,
        placeholder="letters, space, . for any other sign, ? shows it, backspace takes back",
        layout=ipywidgets.Layout(width="min(720px, 96%)"),
    )
    reference: Any = partial(draw, bounds)
    game = Live(
        reference,
        {"passage": choose, "typed": field},
        [["passage"], ["typed"]],
        None if yours is None else partial(draw, yours),
    )
    game.children = (*game.children[:2], _keyboard(keys, field), game.children[-1])
    choose.observe(lambda _: setattr(field, "value", ""), names="value")
    return game


def _keyboard(keys: str, field: ipywidgets.Text) -> ipywidgets.HBox:
    """A button per key, and those that end, take back and begin again."""
    small, wide = ipywidgets.Layout(width="36px"), ipywidgets.Layout(width="auto")

    def button(label: str, change: Callable[[str], str], layout: ipywidgets.Layout, says: str) -> ipywidgets.Button:
        made = ipywidgets.Button(description=label, tooltip=says, layout=layout)
        made.on_click(lambda _: setattr(field, "value", change(field.value)))
        return made

    def adding(key: str) -> Callable[[str], str]:
        return lambda typed: typed + key

    names = {" ": "space", ".": "other sign"}
    row = [
        button(names.get(key, key), adding(key), wide if key in names else small, f"guess {names.get(key, key)}")
        for key in keys
    ]
    row += [
        button("show it", adding(GIVE_UP), wide, "show the character; it counts as found last"),
        button("take back", lambda typed: typed[:-1], wide, "take the last key back"),
        button("new game", lambda typed: "", wide, "begin again"),
    ]
    return ipywidgets.HBox(row, layout=ipywidgets.Layout(flex_flow="row wrap", width="min(860px, 98%)"))
