"""Models as a card describes them: the name of a builder, and JSON for what it takes.

    build("TransformerLM", {"vocab_size": 82, "d_model": 128, …, "positions": "none", "attention_positions": "rotary"})

Sizes are numbers. A part of a Transformer, which is a callable in `TransformerConfig`, is a name here, and `PARTS` is
the whole list of them: a card can name nothing else, so a file from elsewhere runs no code but ours.

Importing this costs nothing; a builder's module is loaded when it is asked for.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

BUILDERS = {
    "FeedForwardLM": "nlmcore.feedforward",
    "TextCNN": "nlmcore.convolutional",
    "RecurrentLM": "nlmcore.recurrent",
    "SequenceTagger": "nlmcore.recurrent",
    "SequenceClassifier": "nlmcore.recurrent",
    "Seq2Seq": "nlmcore.seq2seq",
    "NeuralEditor": "nlmcore.seq2seq",
    "TransformerLM": "nlmcore.transformer",
    "EncoderDecoder": "nlmcore.transformer",
    "WordVectors": "nlmcore.word2vec",
}
"""The classes that a card may name as its model, and where they are."""


def build(name: str, config: dict[str, Any]) -> nn.Module:
    """An untrained model. ValueError for a class or a part that is not in the lists.

    A TransformerLM is described by the fields of its configuration, parts by name; an EncoderDecoder as well, its two
    halves differing only in their vocabulary.
    """
    if name not in BUILDERS:
        raise ValueError(f"model must be one of {', '.join(BUILDERS)}, got {name!r}")
    module = importlib.import_module(BUILDERS[name])
    model = getattr(module, name)
    if name == "TransformerLM":
        return model(module.TransformerConfig(**with_parts(config)))
    if name == "EncoderDecoder":
        sizes = with_parts(config)
        source, target = sizes.pop("source_vocab_size"), sizes.pop("target_vocab_size")
        return model(*(module.TransformerConfig(vocab_size=size, **sizes) for size in (target, source)))
    return model(**config)


def parts() -> dict[str, dict[str, Callable]]:
    """Field of `TransformerConfig` -> name in a card -> what the field is given."""
    from torch.nn import functional as F

    from nlmcore.norms import RMSNorm
    from nlmcore.positions import ALiBi, LearnedPositions, NoPositions, RelativeBias, Rotary, SinusoidalPositions
    from nlmcore.transformer import FeedForward, GatedFeedForward

    return {
        "positions": {"learned": LearnedPositions, "sinusoidal": SinusoidalPositions, "none": NoPositions},
        "attention_positions": {"rotary": Rotary, "alibi": ALiBi, "t5": RelativeBias},
        "norm": {"layer": nn.LayerNorm, "rms": RMSNorm},
        "feed_forward": {
            "relu": partial(FeedForward, activation=F.relu),
            "gelu": FeedForward,
            "swiglu": GatedFeedForward,
        },
    }


def with_parts(config: dict[str, Any]) -> dict[str, Any]:
    """The same, names of parts replaced by the parts."""
    found = dict(config)
    for field, by_name in parts().items():
        if field in found:
            if found[field] not in by_name:
                raise ValueError(f"{field} must be one of {', '.join(by_name)}, got {found[field]!r}")
            found[field] = by_name[found[field]]
    return found
