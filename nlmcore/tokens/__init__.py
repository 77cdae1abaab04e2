"""Text to ids and back: characters, words, and byte pairs, behind one interface.

`tokenizer` says what all three share (special tokens first, the round trip, JSON), `vocabularies` keeps what was
seen, characters or words, and `bytepairs` builds its own by merges.
"""

from nlmcore.tokens.bytepairs import BPETokenizer, Merge, TrainingStep, trace_training
from nlmcore.tokens.tokenizer import SPECIAL, Tokenizer, decode_stream
from nlmcore.tokens.vocabularies import CharTokenizer, WordTokenizer

__all__ = [
    "SPECIAL",
    "BPETokenizer",
    "CharTokenizer",
    "Merge",
    "Tokenizer",
    "TrainingStep",
    "WordTokenizer",
    "decode_stream",
    "trace_training",
]
