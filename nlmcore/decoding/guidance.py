"""Classifier-free guidance for text: follow the prompt more than the model does by itself.

    ln P'(w | text, c) = ln P(w | text) + γ (ln P(w | text, c) − ln P(w | text)) + constant

c is the prompt. γ = 0 ignores it, γ = 1 is the model itself, γ > 1 prefers what the prompt makes more probable.
A **negative prompt** c̄ takes the place of no prompt: both conditions on the right then begin with c̄ instead of nothing.

Source: Sanchez et al. (2023), "Stay on topic with classifier-free guidance", equations 7 and 8; Ho & Salimans (2021).
Departs from the paper: a token that is impossible with or without the prompt stays impossible.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import checked
from nlmcore.language_model import LanguageModel, State


class Guided(nn.Module):
    """A language model; its state is (with the prompt, without it, what the second reads instead of the next token).

    prompt, state = Guided(model, 1.5).begin(tokens)
    sample(guided, prompt, 50, state=state)
    """

    @checked
    def __init__(self, model: LanguageModel, gamma: float | int) -> None:
        super().__init__()
        self.model, self.vocab_size, self.gamma = model, model.vocab_size, gamma

    @torch.no_grad()
    def begin(
        self, prompt: Int[Tensor, "batch time"], negative: Int[Tensor, "batch other"] | None = None
    ) -> tuple[Int[Tensor, "batch 1"], State]:
        """(the prompt's last token, the state before it): the text without the prompt begins with that token, or with
        the whole of `negative`, whose last token is then read in its place."""
        if negative is not None and not negative.shape[1]:
            negative = None
        states = [None if x is None or x.shape[1] < 2 else self.model(x[:, :-1])[1] for x in (prompt, negative)]
        return prompt[:, -1:], (*states, None if negative is None else negative[:, -1:])

    def forward(
        self, tokens: Int[Tensor, "batch time"], state: State = None
    ) -> tuple[Float[Tensor, "batch time vocab"], State]:
        """Logits as in the equation. Without a state both texts are the same, and so is the model."""
        before, before_plain, instead = state or (None, None, None)
        # The first token after `begin` is the prompt's last; the other text reads the negative prompt's last instead.
        tokens_plain = tokens if instead is None or not tokens.shape[1] else torch.cat([instead, tokens[:, 1:]], dim=1)
        both = [self.model(tokens, before), self.model(tokens_plain, before_plain)]
        prompted, plain = (logits.log_softmax(dim=-1) for logits, _ in both)
        # −∞ + γ · ∞ and −∞ − −∞ are NaN: the equation says nothing about these tokens.
        impossible = (prompted == -torch.inf) | (plain == -torch.inf)
        guided = plain + self.gamma * (prompted - plain)  # equation 7, for every token of the vocabulary
        return guided.masked_fill(impossible, -torch.inf), (
            both[0][1],
            both[1][1],
            None if tokens.shape[1] else instead,
        )
