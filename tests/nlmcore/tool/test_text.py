"""Strings in, strings out: the same text as tensors give, whole characters, a context that slides."""

from typing import Any

import pytest
import torch

import nlmcore
from nlmcore.decoding import greedy
from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.recurrent import RecurrentLM
from nlmcore.tokens import BPETokenizer, WordTokenizer
from nlmcore.tool import chat, complete, write_text
from nlmcore.transformer import TransformerConfig, TransformerLM


class Recites:
    """A model that knows one text by heart, and its end."""

    def __init__(self, tokenizer: Any, text: str) -> None:
        self.vocab_size, self.ids, self.asked = tokenizer.vocab_size, [*tokenizer.encode(text), tokenizer.eos], []

    def __call__(self, tokens: torch.Tensor, state: int | None = None) -> tuple[torch.Tensor, int]:
        self.asked.append(tokens.tolist())
        begin = 0 if state is None else state + 1
        logits = torch.zeros(1, tokens.shape[1], self.vocab_size)
        logits[:, -1, self.ids[begin]] = 9.0
        return logits, begin


BYTES = BPETokenizer([])
TEXT = "naïve 🙂 日本語\n"


def test_what_a_model_writes_is_whole_characters_and_ends() -> None:
    pieces = list(write_text(Recites(BYTES, TEXT), BYTES, "Say:", temperature=0))
    assert "".join(pieces) == TEXT
    assert "🙂" in pieces
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pieces)
    assert (
        nlmcore.complete(Recites(BYTES, TEXT), BYTES, "", 3, temperature=0) == "naï"[:2] + "\N{REPLACEMENT CHARACTER}"
    )


def test_it_is_the_text_of_the_tensors_and_slides() -> None:
    torch.manual_seed(0)
    tokenizer = WordTokenizer.fit("to be or not to be that is the question")
    config = TransformerConfig(vocab_size=tokenizer.vocab_size, d_model=8, n_heads=2, n_layers=1, max_length=6)
    model = TransformerLM(config).eval()
    prompt = torch.tensor([tokenizer.encode("to be or")])
    ids = greedy(model, prompt, 30, eos=tokenizer.eos, window="slide").tokens[0]
    assert complete(model, tokenizer, "to be or", 30, temperature=0) == tokenizer.decode(ids, skip_special=True)
    one, two = (complete(model, tokenizer, "to", 9, generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert one == two


def test_a_conversation_needs_a_model_that_was_trained_for_it() -> None:
    special = ["<|im_start|>", "<|im_end|>"]
    tokens = [*special, *"abcdefghijklmnopqrstuvwxyzBĊĠ."]
    talks = BytePairTokenizer(
        {token: i for i, token in enumerate(tokens)}, [], special=special, bos=0, eos=1, pad=1, system="Be kind."
    )
    model = Recites(talks, "so kind")
    assert nlmcore.chat(model, talks, "hello", temperature=0) == "so kind"
    said = [{"role": "user", "content": "hello"}]
    assert model.asked[0] == [talks.chat(said)]
    assert chat(Recites(talks, "so"), talks, said, temperature=0) == "so"
    with pytest.raises(TypeError, match=r"got BPETokenizer\(vocab_size=259\): its model was not trained to chat"):
        chat(Recites(BYTES, TEXT), BYTES, "hello")
    with pytest.raises(ValueError, match="tokenizer must be the model's, of at most 5 tokens, got one of 259"):
        complete(RecurrentLM(5, d_hidden=4), BYTES, "hello")
