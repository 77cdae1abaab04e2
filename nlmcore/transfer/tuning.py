"""Tuning a language model on conversations: first on good answers, then on which of two answers people prefer.

    supervised      − 1/|y| Σ_t ln π(y_t | x, y_<t)                                    only the answers' tokens count
    preferences     − ln σ(β [(ln π − ln π_ref)(y⁺ | x) − (ln π − ln π_ref)(y⁻ | x)])

x is a conversation, y an answer; y⁺ was preferred to y⁻. π is the model, π_ref the model before tuning, and ln π(y | x)
the sum over the tokens of y. β says how far π may leave π_ref.

Source: Ouyang et al. (2022), section 3.5, for the first; Rafailov et al. (2023), "Direct preference optimization",
equation 7. Departs from the papers: nothing. π_ref may be the same model with its adapter off (`LoRA.off`),
and its log-probabilities are computed once, since it never changes.

**The frozen prefix.** If only the last k of n layers are tuned, the first n − k compute the same for a text every time.
`Tail.read` does so once, and the tail is trained on their output. The loss computes logits only at tokens of answers.

    adapter = LoRA(model, where=lambda name: name.startswith("layers.29."))
    tail = Tail(model, 1)
    batches = [tail.read(pad([conversation(tokenizer, said)])) for said in …]
    fit(adapter, batches, loss=lambda _, batch: supervised_loss(tail, batch), …)
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from nlmcore.checks import Positive, Size, checked
from nlmcore.language_model import State


class Answers(NamedTuple):
    """Padded conversations, as `nlmcore.training.fit` takes them."""

    tokens: Any
    """What the model reads (batch, time), or the output of the layers before a `Tail` (batch, time, d_model)."""
    targets: Int[Tensor, "batch time"]
    mask: Bool[Tensor, "batch time"]
    """True where the target belongs to an answer."""


class Preferences(NamedTuple):
    """Pairs of answers, row by row."""

    chosen: Answers
    rejected: Answers
    reference: Float[Tensor, " batch"]
    """ln π_ref(y⁺ | x) − ln π_ref(y⁻ | x)."""


def conversation(tokenizer: Any, messages: Sequence[Mapping[str, str]]) -> tuple[list[int], list[bool]]:
    """The ids of a conversation, and which of them the assistant wrote: its answers, with the token that ends each.

    Raises as `chat` does, and ValueError if an answer begins with space, which merges with the line break before it.
    """
    ids = tokenizer.chat(messages, reply=False)
    mask = [False] * len(ids)
    for i, message in enumerate(messages):
        if message["role"] == "assistant":
            asked, answered = tokenizer.chat(messages[:i]), tokenizer.chat(messages[: i + 1], reply=False)
            if ids[: len(asked)] != asked:
                raise ValueError(f"an answer must not begin with space, got {message['content']!r:.60}")
            end = len(answered) - len(tokenizer.encode("\n"))
            mask[len(asked) : end] = [True] * (end - len(asked))
    return ids, mask


def pad(conversations: Sequence[tuple[Sequence[int], Sequence[bool]]]) -> Answers:
    """One batch of pairs as `conversation` gives them; every token but the first is a target."""
    ids, mask = (pad_sequence([*map(torch.tensor, rows)], True) for rows in zip(*conversations, strict=True))
    return Answers(ids[:, :-1], ids[:, 1:], mask[:, 1:])


def log_probs(model: Any, answers: Answers) -> Float[Tensor, " batch"]:
    """Σ_t ln π(y_t | x, y_<t) over each row's answers; model: a language model with hidden vectors, or a `Tail`."""
    hidden = model.hidden_states(answers.tokens)[0][answers.mask]
    each = -F.cross_entropy(model.output(hidden[None])[0], answers.targets[answers.mask], reduction="none")
    row = answers.mask.nonzero()[:, 0]
    return each.new_zeros(len(answers.mask)).index_add(0, row, each)


def supervised_loss(model: Any, answers: Answers) -> Float[Tensor, ""]:
    """The mean over all tokens of answers, in nats."""
    return -log_probs(model, answers).sum() / answers.mask.sum()


@torch.no_grad()
def preferences(reference: Any, chosen: Answers, rejected: Answers) -> Preferences:
    """The pairs with what the reference says of them."""
    return Preferences(chosen, rejected, log_probs(reference, chosen) - log_probs(reference, rejected))


@checked
def preference_loss(model: Any, pairs: Preferences, beta: Positive = 0.1) -> Float[Tensor, ""]:
    """The mean over the pairs, in nats; ln 2 where π = π_ref."""
    margin = log_probs(model, pairs.chosen) - log_probs(model, pairs.rejected) - pairs.reference
    return -F.logsigmoid(beta * margin).mean()


class Tail(nn.Module):
    """The last `n_layers` layers of a Transformer language model with its output: the model's own, not copies.

    Raises ValueError if the model does not have more layers than that.
    """

    @checked
    def __init__(self, model: Any, n_layers: Size) -> None:
        super().__init__()
        if n_layers >= len(model.layers):
            raise ValueError(f"n_layers must be less than the model's {len(model.layers)}, got {n_layers}")
        self.layers, self.final_norm, self.output = model.layers[-n_layers:], model.final_norm, model.output
        self._embed, self._first = model.embed, [model.layers[:-n_layers]]  # in a list: not a part of this module

    @torch.no_grad()
    def read(self, answers: Answers) -> Answers:
        """The batch with the output of the layers before the tail: compute it once, train on it often."""
        return answers._replace(tokens=self._first[0](self._embed(answers.tokens))[0])

    def hidden_states(
        self, x: Float[Tensor, "batch time d_model"], state: State = None
    ) -> tuple[Float[Tensor, "batch time d_model"], State]:
        """As the model's, from the output of the layers before the tail."""
        x, state = self.layers(x, state)
        return self.final_norm(x), state
