"""An entry of byte unigrams is worth what byte unigrams are worth, whatever it does.

Each process of the race is a fresh namespace here; what only the sandbox can hold is in `test_boxed`.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.race import asking, rules
from autograder.race.parts import FUNCTIONS
from tests.autograder.race.entries import SMALL, functions

UNIGRAMS = """
import torch

def train(texts, seconds, seed):
    counts = torch.bincount(torch.tensor([*"".join(texts).encode()]), minlength=128) + 1.0
    return {"pieces": [bytes([b]) for b in range(128)], "log_p": (counts / counts.sum()).log(), "seed": seed}

def encode(model, text):
    return list(text.encode())

def honest(model, ids):
    return model["log_p"].expand(len(ids), -1)

log_probabilities = honest

def write(model, prompt, length, seed):
    return "e" * length

def sees(model, ids, where):
    rows = honest(model, ids).clone()
    rows[where] = -30.0
    rows[where, ids[where]] = 0.0
    return rows.log_softmax(-1)
"""
HELD = [text[:140] for text in SMALL.held]
COUNTS = Counter("".join(SMALL.train).encode())
READ = "".join(HELD).encode()
BITS = -sum(math.log2((COUNTS[b] + 1) / (sum(COUNTS.values()) + 128)) for b in READ) / len(READ)

Change = Callable[[tuple[Tensor, ...]], tuple[Any, ...]]


def raced(*sources: str, secret: bytes = b"secret", change: dict[str, Change] | None = None) -> rules.Run:
    """change: what a process returns instead, where its code is the student's."""

    def ask(what: str, file: Tensor | None, *calls: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        space = functions(UNIGRAMS, *sources) if what != "pieces" else {}
        asked = asking.Asked({name: space[name] for name in FUNCTIONS if name in space})  # type: ignore[no-untyped-call]
        try:
            if file is not None:
                asked.open(file)  # type: ignore[no-untyped-call]
            found = [getattr(asked, what)(*call) for call in calls]
        except Exception as error:
            raise rules.Failed(rules.fault_behind(type(error).__name__, str(error)), str(error)) from error
        changed = (change or {}).get(what, lambda given: given)
        return [changed(one if isinstance(one, tuple) else (one,)) for one in found]

    try:
        return rules.judged(ask, SMALL.train, HELD, 30.0, 0, secret)
    except Exception as error:  # as `boxed.run`, which lets nothing through
        return rules.Run("unreadable", repr(error))


def test_byte_unigrams_are_worth_what_they_are_worth() -> None:
    found = raced()
    assert (found.fault, found.words) == ("", "")
    assert found.bits == pytest.approx(BITS, abs=1e-5)


LEARNS = """
seen = torch.zeros(128)
def log_probabilities(model, ids):
    counts = model["log_p"].exp() * 300 + seen
    {when}seen.add_(torch.bincount(ids, minlength=128))
    return (counts / counts.sum()).log().expand(len(ids), -1)
"""
HIDES = """
def train(texts, seconds, seed, plain=train):
    model = plain(texts, seconds, seed)
    model["pieces"] += {more}
    model["log_p"] = torch.cat((model["log_p"], torch.full((len(model["pieces"]) - 128,), -9.0))).log_softmax(0)
    return model
"""
SEES = "def log_probabilities(model, ids):\n    return sees(model, ids, {where})\n"
CHEATS = {
    # The pieces are made when the text is known.
    "pieces after the text": HIDES.format(more="[b'?'] * 60")
    + """
number = 127
def encode(model, text):
    global number
    number += 1
    model["pieces"][number] = text.encode()
    return [number]
""",
    "pieces that can be written to": HIDES.format(more="[bytearray(b'?')] * 9")
    + """
def encode(model, text):
    model["pieces"][-1][:] = text.encode()
    return [len(model["pieces"]) - 1]
""",
    "a list that grows": "def encode(model, text):\n    model['pieces'].append(text.encode())\n    return [128]\n",
    "another text's ids": "def encode(model, text):\n    return [101] * len(text.encode())\n",
    "two names for each byte": """
def train(texts, seconds, seed, plain=train):
    model = plain(texts, seconds, seed)
    pairs = torch.zeros(2, 2)
    return {**model, "pieces": model["pieces"] * 2, "log_p": model["log_p"]}
def encode(model, text):
    ids = list(text.encode())
    return [i + 128 * (after % 2) for i, after in zip(ids, [*ids[1:], 0])]
def log_probabilities(model, ids):
    known = torch.cat((torch.tensor([0]), ids[:-1] // 128))[:, None]
    p = model["log_p"].exp() * (torch.arange(128) % 2 == known)
    return (p / p.sum(1, keepdim=True) / 2).repeat(1, 2).clamp_min(1e-30).log()
""",
    # The future is looked at, and not where an audit is expected.
    "everywhere but at places that follow from the seed": """
def log_probabilities(model, ids):
    draw = torch.Generator().manual_seed(model["seed"] ^ 0x5EED)
    where = torch.ones(len(ids)).bool()
    where[(len(ids) * (0.2 + 0.8 * torch.rand(32, generator=draw))).long()] = False
    return sees(model, ids, where)
""",
    "the first fifth": SEES.format(where="torch.arange(len(ids) // 5)"),
    "the last fifth": SEES.format(where="torch.arange(len(ids) * 4 // 5, len(ids))"),
    "a tenth of all tokens": SEES.format(where="torch.arange(0, len(ids), 10)"),
    "the dear bytes": SEES.format(where="honest(model, ids).gather(1, ids[:, None])[:, 0] < -4.5"),
    "one text": SEES.format(where="torch.arange(len(ids))[: len(ids) * (ids[0] == 73)]"),
    # What was seen is remembered.
    "learned while measured": LEARNS.format(when=""),
    "learned from every other text": LEARNS.format(when="if int(ids[-1]) % 2: "),
    "learned from the text itself": LEARNS.format(when="").replace(
        "    counts =", "    seen.add_(torch.bincount(ids, minlength=128))\n    counts ="
    ),
    "remembers the questions of the audit": """
seen = []
def log_probabilities(model, ids):
    seen.append(ids)
    rows, best = honest(model, ids).clone(), 0
    for before in seen:
        same = int((before[: len(ids)] == ids[: len(before)]).cumprod(0).sum())
        if best < same < len(ids):
            best = same
            rows[same] = torch.full((128,), -20.0).scatter(0, before[same], 0.0)
    return rows.log_softmax(-1)
""",
    "answers better when asked again": """
asked = {}
def log_probabilities(model, ids):
    key = tuple(ids.tolist())
    asked[key] = asked.get(key, 0) + 1
    return sees(model, ids, torch.arange(len(ids))) if asked[key] > 1 else honest(model, ids)
""",
    # Sums that are a little too large.
    "a little more": "def log_probabilities(model, ids):\n    return honest(model, ids) + 0.0009\n",
    "much more": "def log_probabilities(model, ids):\n    return honest(model, ids) + 1.0\n",
    "more for what comes": """
def log_probabilities(model, ids):
    rows = honest(model, ids).clone()
    rows[range(len(ids)), ids] += 0.05
    return rows
""",
    # What is no answer.
    "no ids": "def encode(model, text):\n    return []\n",
    "ids with a fraction": "def encode(model, text):\n    return [i + 0.4 for i in text.encode()]\n",
    "ids in two rows": "def encode(model, text):\n    return [list(text.encode())]\n",
    "ids that are none": "def encode(model, text):\n    return None\n",
    "ids below 0": "def encode(model, text):\n    return [i - 128 for i in text.encode()]\n",
    "truths": "def encode(model, text):\n    return torch.tensor([*text.encode()]) > 0\n",
    "rows for one token": "def log_probabilities(model, ids):\n    return honest(model, ids)[:1]\n",
    "rows of nothing": "def log_probabilities(model, ids):\n    return honest(model, ids) * float('nan')\n",
    "rows of text": "def log_probabilities(model, ids):\n    return [['0'] * 128] * len(ids)\n",
    "no pieces": "def train(texts, seconds, seed):\n    return {'pieces': []}\n",
    "pieces of numbers": "def train(texts, seconds, seed):\n    return {'pieces': list(range(128))}\n",
    "a piece without bytes": "def train(texts, seconds, seed):\n    return {'pieces': [b'', b'a']}\n",
    "no dictionary": "def train(texts, seconds, seed):\n    return [1]\n",
    "too many pieces": "def train(texts, seconds, seed):\n    return {'pieces': [b'a'] * 70_000}\n",
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_no_cheat_gains(cheat: str) -> None:
    gains_nothing(raced(CHEATS[cheat]))


def gains_nothing(found: rules.Run) -> None:
    assert found.fault in rules.SENTENCES if found.bits is None else found.bits > BITS - 2e-4, found
    assert "Error(" not in found.words, "a check of ours failed instead of refusing"


def at(stage: str, place: int, change: Callable[[Tensor], Any]) -> dict[str, Change]:
    return {stage: lambda given: tuple(change(one) if n == place else one for n, one in enumerate(given))}


OUTPUTS = {"train": 1, "encode": 2, "measure": 1, "audit": 1}
ODD: dict[str, Callable[[Tensor], Any]] = {
    "another dtype": lambda t: t.to(torch.float64 if not t.is_floating_point() else torch.int64),
    "an axis more": lambda t: t[None],
    "no axis": lambda t: t.flatten()[0],
    "one too few": lambda t: t[:-1],
    "one too many": lambda t: torch.cat((t, t[-1:])),
    "nothing": lambda t: t[:0],
    "not a number": lambda t: t * float("nan"),
    "infinite": lambda t: t * float("inf"),
    "the largest": lambda t: torch.full_like(t, torch.iinfo(t.dtype).max if not t.is_floating_point() else 3e38),
    "negative": lambda t: -t - 1 if t.dtype == torch.int64 else t - 500,
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(("stage", "place"), [(stage, n) for stage, many in OUTPUTS.items() for n in range(many)])
def test_whatever_a_process_returns_gains_nothing_and_stops_nothing(stage: str, place: int, odd: str) -> None:
    gains_nothing(raced(change=at(stage, place, ODD[odd])))


@pytest.mark.parametrize("more", [0.0099, 2e-4])
def test_claims_that_are_a_little_too_high_have_no_result(more: float) -> None:
    assert raced(change=at("measure", 0, lambda claims: claims + more)).fault == "sees-the-future"
    assert raced(change=at("measure", 0, lambda claims: claims - more)).bits > BITS  # type: ignore[operator]


@pytest.mark.parametrize("ids", ["[128 + i for i in text.encode()] + plain", "plain + [128] * 5000", "[128, *plain]"])
def test_a_text_has_no_tokens_without_bytes(ids: str) -> None:
    source = f"def encode(model, text):\n    plain = list(text.encode())\n    return {ids}\n"
    silent = at("pieces", 1, lambda sizes: torch.cat((sizes, torch.zeros(128).long())))
    assert raced(source, change=silent).fault == "loses-bytes"


def tokens(*lengths: int) -> rules.Text:
    """Texts whose tokens have one byte, or three."""
    sizes = torch.tensor([1, 3])
    ids = [torch.arange(n) % 2 for n in lengths]
    held = ["".join(("a", "bbb")[i] for i in one.tolist()) for one in ids]
    every = torch.tensor([*b"abbb"], dtype=torch.uint8)
    return rules.Text(held, every, sizes, torch.cat(ids), torch.tensor(lengths))


def test_places_are_drawn_by_bytes_from_the_beginning_to_the_end() -> None:
    text = tokens(50, 30)
    asked = [rules.places(text, str(n).encode(), 1)[0] for n in range(800)]
    assert set(asked) > {(0, 0), (0, 1), (0, 49), (1, 1), (1, 29)}
    assert 0.7 < sum(cut % 2 for _, cut in asked) / len(asked) < 0.8, "three of four bytes"
    assert 0.55 < sum(n == 0 for n, _ in asked) / len(asked) < 0.7, "100 of 160 bytes"


def test_no_question_of_the_audit_tells_the_answer_of_a_later_one() -> None:
    text = tokens(200, 300, 100)
    asked = rules.places(text, b"code")
    once = asked[: -rules.TWICE]
    assert len(set(once)) == len(once) > rules.TWICE
    assert asked[-rules.TWICE :] == once[: rules.TWICE]
    for number in range(3):
        cuts = [cut for n, cut in once if n == number]
        assert cuts == sorted(cuts)
    assert [n for n, _ in once] != sorted(n for n, _ in once)
    for number, cut in asked:
        past = text.past(number, cut)
        assert len(past) == 300
        assert torch.equal(past[:cut], text.ids[number][:cut])
        assert torch.equal(past, past[: max(cut, 1)].repeat(300)[:300]), "nothing but the past"


def test_places_change_with_the_secret_the_file_and_every_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[tuple[int, int]]] = []
    places = rules.places

    def noted(*given: Any) -> list[tuple[int, int]]:
        asked.append(places(*given))
        return asked[-1]

    monkeypatch.setattr(rules, "places", noted)
    more = "def train(t, s, seed, plain=train):\n    return plain(t, s, seed) | {'a': 1}\n"
    raced(secret=b"one")
    raced(secret=b"one")
    raced(secret=b"two")
    raced(more, secret=b"one")
    raced(secret=b"one", change=at("measure", 0, lambda claims: claims.index_fill(1, torch.tensor([7]), -9.0)))
    assert asked[0] == asked[1]
    assert all(asked[0] != other for other in asked[2:])
