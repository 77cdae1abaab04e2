"""The picture at the top of the lecture `sequence_to_sequence`: a number in English, one vector, the number in German."""

from lectures.widgets.sequence_to_sequence import translation_svg
import torch

from nlmcore.decoding import Generation, greedy
from lectures.trained import checkpoint
from lectures.recipes.pairs import english, german
from lectures.recipes.pairs import BOS, EOS, as_source


def one_vector(number: int = 465_721) -> str:
    translator, (source, target), _ = checkpoint("numbers_thought_vector")
    words = english(number)
    with torch.no_grad():
        state = translator.encode(torch.tensor([as_source(source.encode(words))]))
    written = greedy(translator, torch.tensor([[BOS]]), 40, eos=EOS, state=state)
    assert isinstance(written, Generation)  # no trace was asked for
    tokens = [token for token in written.tokens[0].tolist() if token != EOS]
    return translation_svg(
        words.split(),
        [("128 values", state.recurrent[0, 0].numpy())],
        target.decode(tokens).split(),
        reference=german(number).split(),
        title=f"{number:,}",
    )


PICTURES = {"one_vector": one_vector}
