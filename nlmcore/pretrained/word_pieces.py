"""The tokenizer of BERT and its kin, with a published model's own vocabulary and ids.

    text  ->  lower case, accents taken off, white space and control characters cleaned
          ->  words and marks, Chinese characters one by one
          ->  the longest piece of the vocabulary that the word begins with, then of the rest, written "##ing";
              a word of which some part is no piece is [UNK] as a whole
          ->  [CLS] … [SEP]

Source: Devlin et al. (2019), "BERT", section 3; Wu et al. (2016), "Google's neural machine translation system",
section 4.1. The library `tokenizers` does it, as the model's own tokenizer.json says.

Departs from the paper: nothing. What was taken off is gone: `decode` gives the text back in lower case.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import SupportsIndex, final

from nlmcore.pretrained.byte_pairs import check_unicode
from nlmcore.tokens.tokenizer import checked_ids


@final
class WordPieceTokenizer:
    """Text to ids ([PAD] 0, [UNK] 100, [CLS] 101, [SEP] 102, [MASK] 103 in BERT's vocabulary), and about back."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer  # loaded only when a pretrained model is asked for

        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special tokens included."""
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str, allow_special: bool = False) -> list[int]:
        """[CLS], the pieces of the text, [SEP]. With `allow_special`, "[MASK]" written out becomes that token's id.

        Raises TypeError for what is no str, ValueError for one that is no Unicode text (half of a surrogate pair).
        """
        return self._read(text, allow_special).ids

    def decode(self, ids: Iterable[SupportsIndex], skip_special: bool = True) -> str:
        """The text of some ids (a list, or a one-dimensional tensor), lower-cased. Special tokens are skipped, or
        written out."""
        return self._tokenizer.decode(checked_ids(ids, self.vocab_size), skip_special_tokens=skip_special)

    def pieces(self, text: str, allow_special: bool = False) -> list[str]:
        """The tokens as strings, one per id of `encode(text)`: for labels of pictures."""
        return self._read(text, allow_special).tokens

    def _read(self, text: str, allow_special: bool):
        check_unicode(text)
        self._tokenizer.encode_special_tokens = not allow_special
        return self._tokenizer.encode(text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(vocab_size={self.vocab_size})"
