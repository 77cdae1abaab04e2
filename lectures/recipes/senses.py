"""Figure: do a model's vectors of one word differ by its meaning? MiniLM, SmolLM2 and two rivals, eight words.

All sentences were written for this course and are all here. Every word has two senses, and for each sense there are
three sentences with the clue before the word and three with the clue after it:

    After the flood there was mud on the bank.         before
    The bank was covered with mud after the flood.     after

For each sentence we compare the vector of the word with its vectors in the word's other sentences. The guess is the
sense with the larger mean cosine; sentences that share a clue word with this one are left out, or shared words would
do. The vectors are centred on their mean over the word's sentences, because all vectors of a model share a large part
(Ethayarajh 2019). Chance is 50 %: a static vector is the same in every sentence. Three conditions show what a vector
knows:

    whole     the model reads the sentence
    cut       it reads the sentence up to the word
    twice     it reads the sentence twice; the vector is that of the second time (Springer et al. 2024)

Rival: the mean static vector of the other words (`neighbours`), MiniLM's own table. It tells senses apart if single
words of the sentence do, without any layer.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from lectures.prompting import wilson_interval
from nlmcore.inspect import outputs
from nlmcore.pretrained import minilm
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes.run import Run, load_smollm2, recipe

SENTENCES = """
bank: river
< After the flood there was mud on the bank.
< The ducks left the water and slept on the bank.
< We swam across the river to the other bank.
> The bank was covered with mud after the flood.
> On the bank the ducks slept beside the water.
> From the bank she threw her fishing line into the river.
bank: money
< She wanted a loan and went to the bank.
< He keeps all his savings at the bank.
< The thieves took a million in cash from the bank.
> The bank gave her a loan for the house.
> At the bank he opened an account for his savings.
> The bank was robbed and the cash is gone.
play: theatre
< The actors were proud of the play.
< Shakespeare was thirty when he wrote the play.
< The audience applauded and the critics praised the play.
> The play was praised by the critics and the audience.
> Her play was performed on a small stage in London.
> In the play two actors are on stage all the time.
play: sport or fun
< The children ran into the garden to play.
< The referee blew his whistle to stop the play.
< With a ball and a few friends you can play.
> They play in the garden with a red ball.
> The play was stopped when the referee blew his whistle.
> We play football with the children every Sunday.
bat: animal
< At night in the cave we saw a bat.
< It hung upside down from the roof like a bat.
< Neither a bird nor a mouse, it was a bat.
> The bat flew out of the cave at night.
> A bat hung upside down from the roof.
> The bat ate insects and slept in a hollow tree.
bat: sport
< He hit the ball hard with his bat.
< The cricket player dropped his gloves and his bat.
< For the baseball team they bought a new bat.
> The bat hit the ball over the fence.
> His bat broke when he hit the ball.
> A new bat was bought for the baseball team.
spring: season
< After a long winter we waited for the spring.
< The first flowers opened early in the spring.
< Summer is hot but I prefer the spring.
> In spring the first flowers open and birds sing.
> The spring was warm after a long winter.
> This spring the farmers planted their wheat in April.
spring: coil
< The old mattress had a broken metal spring.
< The watch stopped because of a rusty spring.
< Pull the lever and it stretches the spring.
> The spring in the old mattress was broken.
> A spring of steel pushes the lever back.
> The spring was rusty and the watch stopped.
match: fire
< To start the fire he struck a match.
< She lit the candle with her last match.
< There was smoke because somebody had dropped a match.
> The match burned his fingers before the candle was lit.
> A match was all he had to start the fire.
> With one match she lit the stove and the candle.
match: game
< Our team scored twice and won the match.
< The tennis players were tired after the match.
< Ten thousand fans in the stadium watched the match.
> The match was won by the visiting team.
> A match of tennis can last five hours.
> The match filled the stadium with cheering fans.
seal: animal
< On the ice beside the sea lay a seal.
< The polar bear was hunting a young seal.
< At the zoo we threw a fish to the seal.
> The seal lay on the ice beside the sea.
> A seal swam under the ice and caught a fish.
> The seal was hunted by a polar bear.
seal: closure
< The king signed the letter and added his seal.
< The envelope was closed with a wax seal.
< The contract carried a signature and an official seal.
> The seal on the envelope was made of red wax.
> His seal was pressed on the letter of the king.
> The seal made the contract official.
letter: alphabet
< In the word dog the middle one is the letter.
< The child learned to write every single letter.
< She misspelled the word by a single letter.
> The letter is a vowel of the alphabet.
> One letter of the word was misspelled.
> Every letter of the alphabet hung on the classroom wall.
letter: mail
< The postman came and brought a letter.
< He bought a stamp for the long letter.
< From prison he sent his wife a letter.
> The letter was brought by the postman.
> A letter from his wife reached him in prison.
> The letter needs a stamp before you post it.
star: sky
< Through the telescope we saw a distant star.
< The sun is only an ordinary star.
< In the night sky there was one bright star.
> The star was seen through a telescope.
> A star shone above us in the night sky.
> The star is larger and hotter than the sun.
star: celebrity
< After her first film she became a star.
< Reporters and fans were waiting for the star.
< The singer sold millions of records and was a star.
> The star signed autographs for her fans.
> A star of many films was at the premiere.
> The star left Hollywood after her last film.
"""


EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an the this that it its he she his her him we you they their i all one in on of at to for from by with up under"
        " over into through beside and or but nor was is were be are had has have can may as like before after when while"
        " because only just his more than every most",
    )
)


class Sentence(NamedTuple):
    text: str
    word: str
    sense: str
    clue: str
    """before or after the word"""


def sentences() -> list[Sentence]:
    found, word, sense = [], "", ""
    for line in SENTENCES.strip().splitlines():
        if line[0] in "<>":
            found.append(Sentence(line[2:], word, sense, "before" if line[0] == "<" else "after"))
        else:
            word, _, sense = line.partition(": ")
    return found


def cut(text: str, word: str) -> str:
    """The sentence up to the word."""
    return text[: _found(text, word) + len(word)]


def _found(text: str, word: str, last: bool = False) -> int:
    at = (text.lower().rfind if last else text.lower().find)(word)
    if at < 0:
        raise ValueError(f"the word {word!r} must occur in {text!r}")
    return at


def token_at(tokenizer: Any, text: str, word: str, last: bool = False) -> tuple[list[int], int]:
    """(ids, the position of the word's last token): the text up to the word's end has one token fewer after it."""
    start = _found(text, word, last)
    head = tokenizer.encode(text[: start + len(word)])
    at = len(head) - 1
    ids = tokenizer.encode(text)
    return ids, at - 1 if ids[-1] == head[-1] and _closes(tokenizer) else at


def _closes(tokenizer: Any) -> bool:
    """Does the tokenizer end every text with a token of its own, as BERT's [SEP]?"""
    one, two = tokenizer.encode("a"), tokenizer.encode("a a")
    return len(one) > 1 and one[-1] == two[-1] and len(one) == 3


@torch.no_grad()
def states(model: Any, tokenizer: Any, texts: Sequence[tuple[str, str]], last: bool = False) -> Tensor:
    """(text, layer, d_model): the state of the word in each (text, word), after each layer."""
    found = []
    for text, word in texts:
        ids, at = token_at(tokenizer, text, word, last)
        tokens = torch.tensor([ids])
        with ExitStack() as stack:
            seen = [stack.enter_context(outputs(model, f"layers.{i}")) for i in range(len(model.layers))]
            model(tokens)
        found.append(torch.stack([one[-1][0, at] for one in seen]))
    return torch.stack(found)


def clue_words(one: Sentence) -> set[str]:
    """The words that may tell the sense: not the word itself, and not those of `EMPTY`."""
    return {w.strip(".").lower() for w in one.text.split()} - EMPTY - {one.word}


def guesses(vectors: Tensor, of: Sequence[Sentence], centred: bool = True) -> list[bool]:
    """For each vector (text, d_model) of one word: is its mean cosine larger with the others of its own sense?

    Sentences that share a clue word with this one are left out. In both senses those with the clue before the word
    count half, as do those with the clue after it.
    """
    near = F.normalize(vectors - vectors.mean(0) if centred else vectors, dim=-1)
    near = near @ near.T
    right = []
    for i, one in enumerate(of):
        means: dict[str, list[float]] = {}
        for sense, clue in {(other.sense, other.clue): None for other in of}:
            others = [
                j
                for j, other in enumerate(of)
                if j != i and (other.sense, other.clue) == (sense, clue) and not clue_words(one) & clue_words(other)
            ]
            if others:
                means.setdefault(sense, []).append(float(near[i, others].mean()))
        right.append(max(means, key=lambda sense: sum(means[sense]) / len(means[sense])) == one.sense)
    return right


def similarities(vectors: Tensor, senses: Sequence[str]) -> tuple[float, float]:
    """(within a sense, between senses): mean cosines of the vectors of one word, not centred."""
    unit = F.normalize(vectors, dim=-1)
    near, own = unit @ unit.T, torch.tensor([[a == b for b in senses] for a in senses])
    within = own & ~torch.eye(len(senses), dtype=torch.bool)
    return float(near[within].mean()), float(near[~own].mean())


def by_word(found: list[Sentence], vectors: Tensor) -> Iterator[tuple[Tensor, list[Sentence]]]:
    """(vectors, sentences) of one word after the other."""
    for word in dict.fromkeys(one.word for one in found):
        rows = [i for i, one in enumerate(found) if one.word == word]
        yield vectors[rows], [found[i] for i in rows]


def all_guesses(found: list[Sentence], vectors: Tensor, centred: bool = True) -> list[bool]:
    """`guesses` word by word, in the order of the sentences."""
    return [right for part, of in by_word(found, vectors) for right in guesses(part, of, centred)]


def mean_similarities(found: list[Sentence], vectors: Tensor) -> list[float]:
    """`similarities`, averaged over the words."""
    pairs = [similarities(part, [one.sense for one in of]) for part, of in by_word(found, vectors)]
    return [sum(side) / len(pairs) for side in zip(*pairs, strict=True)]


def share(right: Sequence[bool]) -> dict[str, Any]:
    low, high = wilson_interval(sum(right), len(right))
    return {
        "right": sum(right),
        "asked": len(right),
        "share": round(sum(right) / len(right), 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def neighbours(found: list[Sentence], clues: bool = False) -> Tensor:
    """(text, d_model): the mean static vector of the sentence's other tokens; clues: of its `clue_words`."""
    encoder, tokenizer = minilm()
    means = []
    for one in found:
        ids, at = token_at(tokenizer, one.text, one.word)
        others = [i for k, i in enumerate(ids) if k != at]
        if clues:
            others = [i for word in sorted(clue_words(one)) for i in tokenizer.encode(word)[1:-1]]
        means.append(encoder.embedding.weight[others].mean(0))
    return torch.stack(means).detach()


@recipe(3)
def cook(run: Run) -> None:
    every = sentences()[: run.size(None, 12)]
    models: dict[str, Any] = {"MiniLM": minilm(), "SmolLM2": load_smollm2()}
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    near: dict[str, list[list[float]]] = {}
    of_clue = {clue: [i for i, one in enumerate(every) if one.clue == clue] for clue in ("before", "after")}
    for name, (model, tokenizer) in models.items():
        read = {
            "whole": [(one.text, one.word) for one in every],
            "cut": [(cut(one.text, one.word), one.word) for one in every],
            "twice": [(f"{one.text} {one.text}", one.word) for one in every],
        }
        for way, texts in read.items():
            vectors = states(model, tokenizer, texts, last=way == "twice")
            layers = [all_guesses(every, vectors[:, layer]) for layer in range(vectors.shape[1])]
            for clue, at in of_clue.items():
                rows.setdefault(name, {})[f"{way}, clue {clue}"] = [share([right[i] for i in at]) for right in layers]
            if way == "whole":
                near[name] = [
                    [round(value, 3) for value in mean_similarities(every, vectors[:, layer])]
                    for layer in range(vectors.shape[1])
                ]
        run.say(f"{name}: " + str({way: [round(100 * of["share"]) for of in by] for way, by in rows[name].items()}))
    right = all_guesses(every, neighbours(every))
    rival = {f"clue {clue}": share([right[i] for i in at]) for clue, at in of_clue.items()}
    run.save_result(
        "senses",
        {
            "question": "Do a model's vectors of one word differ by its meaning, and what must it have read for that?",
            "how": f"{len(every)} sentences, {len({one.word for one in every})} words of two senses; percentage of"
            " sentences whose word vector is nearer to the other vectors of its own sense, after each layer,"
            " with Wilson's 95 % interval; chance is 50 %",
            "rows": rows,
            "neighbours": rival,
            "cosines": near,
            "cosines_are": "mean cosine within a sense and between senses after each layer, whole sentences",
            "what_it_shows": "; ".join(
                f"{name}, {way}: {max(of['share'] for of in by):.0%} at best"
                for name, ways in rows.items()
                for way, by in ways.items()
            ),
        },
    )
