"""Constrained decoding: a model that can write only what matches a regular expression.

    P'(w | text) ∝ P(w | text)     for tokens w whose bytes lead the automaton from the text's state q to a live state
    P'(<eos> | text) = 0           unless q accepts: the text is a match

The automaton (`nlmcore.decoding.expressions`) walks over the bytes of tokens, so that a token may hold several symbols
of the expression, or a part of a character. A text that reached <eos> matches the expression; a text that
`max_new_tokens` cut off is the start of a match.

Source: Willard & Louf (2023), "Efficient guided generation for large language models", section 3.

Departs from the paper: its sets are found beforehand, for every state.

**Classifier-free guidance**: follow the prompt more than the model does by itself.

    ln P'(w | text, c) = ln P(w | text) + γ (ln P(w | text, c) − ln P(w | text)) + constant

c is the prompt. γ = 0 ignores it, γ = 1 is the model itself. A **negative prompt** c̄ takes the place of no prompt:
both conditions on the right then begin with c̄ instead of nothing.

Source: Sanchez et al. (2023), "Stay on topic with classifier-free guidance", equations 7 and 8; Ho & Salimans (2021).
Departs from the paper: a token that is impossible with or without the prompt stays impossible.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Count, checked
from nlmcore.decoding.expressions import DEAD, START, Automaton, accepts
from nlmcore.language_model import LanguageModel, State


@dataclass(frozen=True, eq=False)
class ConstrainedState:
    """The state of the model inside, the automaton's state in every row, and how many tokens were read."""

    model: State
    automaton: Int[Tensor, " batch"]
    position: int


class Constrained(nn.Module):
    """A language model, so that every algorithm of `nlmcore.decoding` takes it.

        sample(Constrained(model, tokenizer, r"[A-Z]\\w*", after=prompt.shape[1]), prompt, 20, eos=tokenizer.eos)

    after: how many tokens come before the match, those of the prompt. tokenizer: any that writes tokens side by side
    (characters, byte pairs). Of its special tokens only `eos` is possible, after a match (or after a token that was
    not allowed). Raises ValueError for other tokenizers and patterns, and in a state where no token can continue.
    """

    @checked
    def __init__(self, model: LanguageModel, tokenizer: Any, pattern: str, after: Count) -> None:
        super().__init__()
        texts = list(tokenizer.vocabulary)
        *_, a, b = range(len(texts))  # any two will do: the last ones
        if tokenizer.decode([a, b]) != tokenizer.decode([a]) + tokenizer.decode([b]):
            raise ValueError(
                f"tokenizer must write its tokens side by side, but {tokenizer!r} puts spaces between them"
            )
        self.model, self.vocab_size, self.eos, self.after = model, model.vocab_size, tokenizer.eos, after
        self._automaton, self._allowed = Automaton(pattern), dict[int, Tensor]()
        self._bytes = [text.encode() if isinstance(text, str) else text for text in texts]
        for i in tokenizer.special_ids.values():
            self._bytes[i] = b""  # a special token writes nothing
        # By first byte: most states allow few of those, and the tokens behind all others need not be tried.
        self._starting: defaultdict[bytes, list[int]] = defaultdict(list)
        for token, text in enumerate(self._bytes):
            self._starting[text[:1]].append(token)

    def allowed(self, state: int) -> Bool[Tensor, " vocab"]:
        """Which tokens may follow in a state of the automaton."""
        if state not in self._allowed:
            read, here = self._automaton.read, self._automaton.states[state]
            starting = (tokens for byte, tokens in self._starting.items() if byte and read(state, byte))
            found = [token for tokens in starting for token in tokens if read(state, self._bytes[token])]
            found += [self.eos] if state == DEAD or accepts(here) else []
            if not found:
                raise ValueError(f"tokenizer must have tokens for all of the pattern, but none continues with {here}")
            self._allowed[state] = torch.zeros(self.vocab_size, dtype=torch.bool)
            self._allowed[state][found] = True
        return self._allowed[state]

    def forward(
        self, tokens: Int[Tensor, "batch time"], state: ConstrainedState | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], ConstrainedState]:
        """The model's logits; -inf for tokens that are not allowed."""
        state = state or ConstrainedState(None, torch.full((len(tokens),), START), 0)
        logits, inner = self.model(tokens, state.model)
        rows, free = state.automaton.tolist(), self.after - state.position  # the first tokens, which may be any
        possible = torch.ones(logits.shape, dtype=torch.bool)
        for t, column in enumerate(tokens.T.tolist()):
            if t >= free:
                texts = [self._bytes[token] for token in column]  # none of a special token: it ends the match
                rows = [self._automaton.read(q, text) if text else DEAD for q, text in zip(rows, texts, strict=True)]
            # Logits at t choose the token t + 1, so they are limited from one position earlier than what is read.
            if t >= free - 1:
                possible[:, t] = torch.stack([self.allowed(q) for q in rows])
        logits = logits.masked_fill(~possible.to(logits.device), -torch.inf)
        return logits, ConstrainedState(inner, torch.tensor(rows), state.position + tokens.shape[1])


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
