"""Models as a card describes them: the name of a builder, and JSON for what it takes.

    build("TransformerLM", {"vocab_size": 82, "d_model": 128, …, "positions": "none", "attention_positions": "rotary"})

Sizes are numbers. A part of a Transformer, which is a callable in `TransformerConfig`, is a name here, and `PARTS` is
the whole list of them: a card can name nothing else, so a file from elsewhere runs no code but ours.

Importing this costs nothing; a builder's module is loaded when it is asked for.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn


def build(name: str, config: dict[str, Any]) -> nn.Module:
    """An untrained model. ValueError for a builder or a part that is not in the lists."""
    if name not in BUILDERS:
        raise ValueError(f"model must be one of {', '.join(BUILDERS)}, got {name!r}")
    return BUILDERS[name](**config)


def feed_forward_lm(**config: Any) -> nn.Module:
    from nlmcore.feedforward import FeedForwardLM

    return FeedForwardLM(**config)


def text_cnn(**config: Any) -> nn.Module:
    from nlmcore.convolutional import TextCNN

    return TextCNN(**config)


def recurrent_lm(**config: Any) -> nn.Module:
    from nlmcore.recurrent import RecurrentLM

    return RecurrentLM(**config)


def sequence_tagger(**config: Any) -> nn.Module:
    from nlmcore.recurrent import SequenceTagger

    return SequenceTagger(**config)


def sequence_classifier(**config: Any) -> nn.Module:
    from nlmcore.recurrent import SequenceClassifier

    return SequenceClassifier(**config)


def seq2seq(**config: Any) -> nn.Module:
    from nlmcore.seq2seq import Seq2Seq

    return Seq2Seq(**config)


def neural_editor(**config: Any) -> nn.Module:
    from nlmcore.seq2seq import NeuralEditor

    return NeuralEditor(**config)


def transformer_lm(**config: Any) -> nn.Module:
    """A TransformerLM of the fields of its configuration, parts by name."""
    from nlmcore.transformer import TransformerConfig, TransformerLM

    return TransformerLM(TransformerConfig(**with_parts(config)))


def encoder_decoder(source_vocab_size: int, target_vocab_size: int, **config: Any) -> nn.Module:
    """An EncoderDecoder whose two halves differ in their vocabulary alone."""
    from nlmcore.transformer import EncoderDecoder, TransformerConfig

    sizes = with_parts(config)
    return EncoderDecoder(
        TransformerConfig(vocab_size=target_vocab_size, **sizes),
        TransformerConfig(vocab_size=source_vocab_size, **sizes),
    )


def word_vectors(**config: Any) -> nn.Module:
    from nlmcore.word2vec import WordVectors

    return WordVectors(**config)


BUILDERS: dict[str, Callable[..., nn.Module]] = {
    "FeedForwardLM": feed_forward_lm,
    "TextCNN": text_cnn,
    "RecurrentLM": recurrent_lm,
    "SequenceTagger": sequence_tagger,
    "SequenceClassifier": sequence_classifier,
    "Seq2Seq": seq2seq,
    "NeuralEditor": neural_editor,
    "TransformerLM": transformer_lm,
    "EncoderDecoder": encoder_decoder,
    "WordVectors": word_vectors,
}
"""What a card may name as its model: each gives an instance of the class of that name."""


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
