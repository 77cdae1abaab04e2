"""Text to ids and back: characters, words, and byte pairs, behind one interface.

`tokenizer` says what all three share (special tokens first, the round trip, JSON), `characters` and `words`
keep a vocabulary of what they saw, `bytepairs` builds its own by the merges that `merges` learns.
"""

from nlmcore.tokens.bytepairs import BPETokenizer, TrainingStep, trace_training
from nlmcore.tokens.characters import CharTokenizer
from nlmcore.tokens.merges import Merge
from nlmcore.tokens.tokenizer import SPECIAL, Tokenizer
from nlmcore.tokens.words import WordTokenizer
