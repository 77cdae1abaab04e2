"""Figure: the word that decides stands 46 tokens back. Who still sees it?

    When she tried to print her tickets, she found that the printer was out of toner. … she finally printed her ___

A language model of today (SmolLM2, a Transformer) beside the course's LSTM over words. Of each: the probabilities of
the next word; what becomes of them when "tickets" is another word, the rest unchanged; and the gradient of −ln P(next
word) at every word read (Pascanu, Mikolov & Bengio 2013 for recurrent networks). Of the Transformer also the attention
from the last token back to "tickets", by layer and head.

Attention that is high need not matter (Jain & Wallace 2019). So the heads that look back most are ablated at the last
token (their output is set to zero, after Michel, Levy & Neubig 2019). There are two controls, each of 20 random sets of as
many others: from anywhere in the model, and only from the layers in which the heads are that look back most.

The LSTM learned from Shakespeare: "tickets", "printer" and "toner" are one word to it, <unk>. So it is also asked with
a sentence of the same shape whose words it all knows. It is small, and read less than a millionth of SmolLM2's two
trillion tokens: this compares two models of this course, not two architectures at equal terms.
"""

import copy
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from nlmcore.diagnostics import language_model_gradient_norms
from nlmcore.inspect import capture
from lectures.trained import checkpoint
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.run import Run, load_smollm2, recipe

SENTENCE = (
    "When she tried to print her {}, she found that the printer was out of toner. She went to the stationery store to"
    " buy more toner. It was very overpriced. After installing the toner into the printer, she finally printed her"
)
WORDS = ("tickets", "letters", "photos", "recipes")

KNOWN_SENTENCE = (
    "When she tried to write her {}, she found that the house was out of paper. She went to the town to buy more paper."
    " It was very dear. After she brought the paper into the house, she at last did write her"
)
KNOWN_WORDS = ("letters", "books", "prayers", "speeches")

Head = tuple[int, int]
"""(layer, head), counted from 0."""


@torch.no_grad()
def next_token(model: Any, ids: Sequence[int]) -> Tensor:
    """P(next | ids), (vocab)."""
    return model(torch.tensor([list(ids)]))[0][0, -1].softmax(-1)


def most_probable(probabilities: Tensor, tokenizer: Any, count: int = 10) -> dict[str, float]:
    """The most probable tokens, as text."""
    values, ids = probabilities.topk(count)
    return {tokenizer.decode([i]): round(v, 4) for v, i in zip(values.tolist(), ids.tolist(), strict=True)}


def answers(model: Any, tokenizer: Any, sentence: str, words: Sequence[str]) -> list[list[float]]:
    """P(next token is the first of `column`'s), where `row` stands in the sentence."""
    firsts = [first_token(tokenizer, sentence, word) for word in words]
    rows = [next_token(model, tokenizer.encode(sentence.format(word))) for word in words]
    return [[float(f"{float(row[first]):.3g}") for first in firsts] for row in rows]


def first_token(tokenizer: Any, sentence: str, word: str) -> int:
    """The token with which `word` begins after the sentence."""
    whole = sentence.format(word)
    return tokenizer.encode(f"{whole} {word}")[len(tokenizer.encode(whole))]


def places_of(tokenizer: Any, sentence: str, word: str) -> list[int]:
    """Where the word's tokens are, in the sentence with the word in its gap."""
    before = len(tokenizer.encode(sentence[: sentence.index("{}")].rstrip()))
    after = len(tokenizer.encode(sentence[: sentence.index("{}")] + word))
    return list(range(before, after))


@torch.no_grad()
def attention_of_last(model: nn.Module, ids: Sequence[int]) -> Tensor:
    """What the last token reads, (layer, head, token)."""
    with capture(model) as tape:
        model(torch.tensor([list(ids)]))
    return torch.stack([tape[name][0, :, -1] for name in tape])


def attention_back(model: nn.Module, ids: Sequence[int], places: Sequence[int]) -> Tensor:
    """How much the last token's attention goes to `places`, (layer, head)."""
    return attention_of_last(model, ids)[..., list(places)].sum(-1)


@contextmanager
def ablated(model: Any, heads: Sequence[Head]) -> Iterator[None]:
    """Meanwhile these heads give zeros at the last token."""

    def without(mine: list[int], d_head: int):
        def hook(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
            x = inputs[0].clone()  # (batch, time, head · d_head), the heads side by side
            for head in mine:
                x[:, -1, head * d_head : (head + 1) * d_head] = 0
            return (x,)

        return hook

    handles = []
    for i, layer in enumerate(model.layers):
        if mine := [head for at, head in heads if at == i]:
            hook = without(mine, layer.attention.d_head)
            handles.append(layer.attention.output.register_forward_pre_hook(hook))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def input_gradients(model: Any, ids: Sequence[int], target: int) -> Tensor:
    """‖∂ −ln P(target | ids) / ∂e_t‖ for every token read, (time); e_t is the token's embedding."""
    seen: list[Tensor] = []

    def leaf(_: nn.Module, inputs: tuple[Tensor], output: Tensor) -> Tensor:
        seen.append(output.detach().requires_grad_())
        return seen[-1]

    handle = model.embedding.register_forward_hook(leaf)
    try:
        with torch.enable_grad():
            loss = F.cross_entropy(model(torch.tensor([list(ids)]))[0][:, -1], torch.tensor([target]))
            (gradient,) = torch.autograd.grad(loss, seen[0])
    finally:
        handle.remove()
    return gradient[0].norm(dim=-1)


def significant(numbers: Tensor, digits: int = 3) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in numbers.tolist()]


def of_transformer(run: Run) -> dict[str, Any]:
    """Everything about SmolLM2."""
    model, tokenizer = load_smollm2()
    ids = tokenizer.encode(SENTENCE.format("tickets"))
    places = places_of(tokenizer, SENTENCE, "tickets")
    target = first_token(tokenizer, SENTENCE, "tickets")
    probabilities = next_token(model, ids)

    back = attention_back(model, ids, places)
    heads = back.shape[1]
    order = back.flatten().argsort(descending=True).tolist()
    ranked = [divmod(i, heads) for i in order]
    counts = run.size([1, 2, 5, 10, 20], [1])
    draw, draw_near = random.Random(run.seed_of("heads")), random.Random(run.seed_of("heads of the same layers"))
    layers = sorted({at for at, _ in ranked[: counts[-1]]})

    def without(heads: Sequence[Head]) -> float:
        with ablated(model, heads):
            return round(float(next_token(model, ids)[target]), 4)

    ablation = {}
    for count in counts:
        near = [head for head in ranked[count:] if layers[0] <= head[0] <= layers[-1]]
        others = [without(draw.sample(ranked[count:], count)) for _ in range(run.size(20, 2))]
        ablation[str(count)] = {
            "strongest": without(ranked[:count]),
            "random_mean": round(sum(others) / len(others), 4),
            "random": sorted(others),
            "random_near": sorted(without(draw_near.sample(near, count)) for _ in others),
        }
    return {
        "model": "SmolLM2-135M-Instruct",
        "pieces": [tokenizer.decode([i]) for i in ids],
        "tickets_at": places,
        "distance": len(ids) - 1 - places[-1],
        "next": most_probable(probabilities, tokenizer),
        "words": WORDS,
        "answers": answers(model, tokenizer, SENTENCE, WORDS),
        "known_words": KNOWN_WORDS,
        "known_answers": answers(model, tokenizer, KNOWN_SENTENCE, KNOWN_WORDS),
        "attention_back": [[round(weight, 4) for weight in row] for row in back.tolist()],
        "uniform": round(len(places) / len(ids), 4),
        "mean_over_heads": round(float(back.mean()), 4),
        "strongest": [
            {"layer": at, "head": head, "weight": round(float(back[at, head]), 4)} for at, head in ranked[:10]
        ],
        "strongest_reads": [round(weight, 4) for weight in attention_of_last(model, ids)[ranked[0]].tolist()],
        "ablated": ablation,
        "near": [layers[0], layers[-1]],
        "gradient": significant(input_gradients(model, ids, target)),
    }


def of_lstm() -> dict[str, Any]:
    """Everything about the course's LSTM over words."""
    model, tokenizer, _ = checkpoint("word_lstm")
    ids = tokenizer.encode(SENTENCE.format("tickets"))
    pieces = tokenizer.pieces(SENTENCE.format("tickets"))
    places = places_of(tokenizer, SENTENCE, "tickets")
    probabilities = next_token(model, ids)
    known = tokenizer.encode(KNOWN_SENTENCE.format("letters"))
    target = first_token(tokenizer, KNOWN_SENTENCE, "letters")
    precise = copy.deepcopy(model).double()  # far back, single precision rounds to nothing
    norms = language_model_gradient_norms(precise, torch.tensor([[*known, target]])).state[0]
    return {
        "model": "word_lstm",
        "pieces": pieces,
        "distance": len(ids) - 1 - places[-1],
        "unknown": sum(i == tokenizer.unk for i in ids),
        "next": most_probable(probabilities, tokenizer),
        "unknown_probability": round(float(probabilities[tokenizer.unk]), 4),
        "known_pieces": tokenizer.pieces(KNOWN_SENTENCE.format("letters")),
        "letters_at": places_of(tokenizer, KNOWN_SENTENCE, "letters"),
        "known_next": most_probable(next_token(model, known), tokenizer),
        "known_words": KNOWN_WORDS,
        "known_answers": answers(model, tokenizer, KNOWN_SENTENCE, KNOWN_WORDS),
        "gradient": significant(input_gradients(precise, known, target)),
        "state_gradient": significant(norms),
    }


@recipe(1)
def cook(run: Run) -> None:
    transformer, lstm = of_transformer(run), of_lstm()
    run.save_result(
        "looking_back",
        {
            "question": "The word that decides stands far back: who still sees it?",
            "sentence": SENTENCE,
            "known_sentence": KNOWN_SENTENCE,
            "smollm2": transformer,
            "lstm": lstm,
            "answers_are": "row: the word in the gap; column: the probability that this word, its first token, is next",
            "attention_back_is": "(layer, head): the weight from the last token to the tokens of 'tickets'",
            "strongest_reads_is": "the weights of the head that looks back most, one per token read",
            "ablated_is": "P(' tickets') when so many heads give zeros at the last token: those that look back most,"
            " or as many others, drawn at random 20 times; random_near: drawn from the layers `near`, those of the twenty"
            " that look back most",
            "gradient_is": "norm of the gradient of -ln P(next word) at each token's embedding, in reading order;"
            " next word: ' tickets' for SmolLM2, 'letters' in the known sentence for the LSTM. state_gradient: at the"
            " LSTM's state after each token but the last",
        },
    )
