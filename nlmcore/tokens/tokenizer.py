"""What every tokenizer here is: text to ids and back.

Text never turns into a special id unless `allow_special=True`: "<eos>" in a student's essay is five characters.

In those that we train, special tokens come first: ids 0, 1, 2 are `<pad>`, `<bos>`, `<eos>`; id 3 is `<unk>` where
something can be unknown. **The round trip.** `decode(encode(x)) == x` for every string that such a tokenizer covers.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import Any, ClassVar, SupportsIndex, TypeVar

from nlmcore.checks import described

PAD, BOS, EOS, UNK = range(4)
SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")

T = TypeVar("T", bound="TrainedTokenizer")


class Tokenizer(ABC):
    """Text to ids and back. A subclass says how text becomes ids and ids become text."""

    vocabulary: Sequence[Any]  # what each id stands for, special tokens included: strings, or bytes

    @property
    @abstractmethod
    def special_ids(self) -> Mapping[str, int]:
        """The special tokens and their ids."""

    @abstractmethod
    def _encode(self, text: str, allow_special: bool) -> list[int]: ...

    @abstractmethod
    def _decode(self, ids: list[int]) -> str: ...

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special tokens included."""
        return len(self.vocabulary)

    def encode(self, text: str, allow_special: bool = False) -> list[int]:
        """The ids of a text. With `allow_special`, "<eos>" written out in the text becomes the id of `<eos>`."""
        if not isinstance(text, str):  # by hand: `checked` takes longer than a word
            raise TypeError(f"text must be a string, got {described(text)}")
        return self._encode(text, allow_special)

    def decode(self, ids: Iterable[SupportsIndex], skip_special: bool = False) -> str:
        """The text of some ids (a list, or a one-dimensional tensor). Special tokens are written out, or skipped."""
        skipped = frozenset(self.special_ids.values()) if skip_special else frozenset()
        return self._decode([i for i in checked_ids(ids, self.vocab_size) if i not in skipped])

    def pieces(self, text: str | Iterable[SupportsIndex], allow_special: bool = False) -> list[str]:
        """What each id of `encode(text)`, or of some ids, stands for: for tables and for the labels of pictures."""
        ids = self.encode(text, allow_special) if isinstance(text, str) else checked_ids(text, self.vocab_size)
        return [self._piece(i) for i in ids]

    def _piece(self, i: int) -> str:
        return self._decode([i])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(vocab_size={self.vocab_size})"


class TrainedTokenizer(Tokenizer):
    """A tokenizer that learned its vocabulary from texts of ours, and can be written to JSON."""

    special: ClassVar[tuple[str, ...]] = SPECIAL  # the first entries of the vocabulary
    pad, bos, eos = PAD, BOS, EOS

    @abstractmethod
    def _fields(self) -> dict[str, Any]:
        """What the class is called with to make the tokenizer again; `_from_fields` calls it."""

    @classmethod
    def _from_fields(cls: type[T], fields: dict[str, Any]) -> T:
        return cls(**fields)

    @property
    def special_ids(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.special)}

    @property
    def unk(self) -> int | None:
        """The id of `<unk>`; None where nothing can be unknown."""
        return UNK if "<unk>" in self.special else None

    def to_json(self) -> str:
        """All that `from_json` needs, as text."""
        return json.dumps({"tokenizer": type(self).__name__, **self._fields()}, ensure_ascii=True)

    @classmethod
    def from_json(cls: type[T], text: str) -> T:
        """The tokenizer that wrote this text. Raises ValueError if none of this class did."""
        try:
            fields = json.loads(text)
            kind = fields.pop("tokenizer")
        except (TypeError, AttributeError, KeyError, json.JSONDecodeError) as error:
            raise ValueError(f"text must be what {cls.__name__}.to_json() wrote, got {text!r:.60}") from error
        if kind != cls.__name__:
            raise ValueError(f"text was written by {kind}.to_json(), so read it with {kind}, not {cls.__name__}")
        try:
            return cls._from_fields(fields)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"text is no complete {cls.__name__}: {error!r}") from error


def decode_stream(tokenizer: Tokenizer, ids: Iterable[SupportsIndex], skip_special: bool = False) -> Iterator[str]:
    """The text of ids that arrive one by one: after each id what it adds, "" while a character is incomplete.

    ids = (step.tokens.item() for step in stream(model, prompt, 50))
    for piece in decode_stream(tokenizer, ids): print(piece, end="", flush=True)
    """
    read: list[SupportsIndex] = []
    text = written = ""
    for i in ids:
        read.append(i)
        text = tokenizer.decode(read, skip_special)
        whole = text.rstrip("\N{REPLACEMENT CHARACTER}")  # the bytes of one character may lie in several tokens
        yield whole[len(written) :]
        written = max(written, whole, key=len)
    if len(text) > len(written):  # what is still incomplete at the end stays so
        yield text[len(written) :]


def checked_ids(ids: Iterable[SupportsIndex], vocab_size: int) -> list[int]:
    """The ids as integers. TypeError unless they are a sequence of integers, ValueError for an unknown id."""
    try:
        ids = list(ids)
        if bool in map(type, ids):
            raise TypeError("True and False are no ids")
        checked = [index(i) for i in ids]
    except TypeError as error:
        raise TypeError(f"ids must be a sequence of integers, got {type(ids).__name__} {ids!r:.60}") from error
    for i in checked:
        if not 0 <= i < vocab_size:
            raise ValueError(f"ids must lie in [0, {vocab_size}), the vocabulary, got {i}")
    return checked


def encode_around(special: Mapping[str, int], text: str, encode: Callable[[str], list[int]]) -> list[int]:
    """The ids of a text in which special tokens are written out; `encode` reads the plain text around them."""
    ids: list[int] = []
    for n, part in enumerate(re.split("(" + "|".join(map(re.escape, special)) + ")", text)):
        ids += [special[part]] if n % 2 else encode(part)
    return ids


def check_texts(texts: str | Iterable[str]) -> list[str]:
    """A list of strings. One string counts as one text. Raises TypeError for anything else, ValueError for none."""
    found = [texts] if isinstance(texts, str) else list(texts) if isinstance(texts, Iterable) else None
    if found is None or not all(isinstance(text, str) for text in found):
        raise TypeError(f"texts must be strings, got {type(texts).__name__} {texts!r:.60}")
    if not any(found):
        raise ValueError(f"texts must hold at least one character, got {len(found)} empty texts")
    return found
