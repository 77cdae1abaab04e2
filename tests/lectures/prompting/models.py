"""Models and tokenizers to prompt, a naive score, and a model that knows the capitals or copies what it was shown."""

import torch
from torch import Tensor

from lectures.prompting import Example
from nlmcore.ngram import NGramLM
from nlmcore.recurrent import RecurrentLM
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
