"""Characters as tokens: the smallest vocabulary, the longest sequences."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, final

from nlmcore.checks import Size, door
from nlmcore.tokens.tokenizer import SPECIAL, UNK, Tokenizer, check_min_count, check_texts, split_special


@final
class CharTokenizer(Tokenizer):
    """One id per character (Unicode code point) seen when fitted; any other character is `<unk>`.

    Covers the strings over its characters: for them `decode(encode(x)) == x`.
    """

    def __init__(self, characters: Iterable[str]):
        characters = list(characters)
        if not all(isinstance(c, str) and len(c) == 1 for c in characters) or len(set(characters)) != len(characters):
            raise ValueError(f"characters must be different single characters, got {characters!r:.60}")
        if not characters:
            raise ValueError("characters must hold at least one character, got none")
        self._vocabulary = (*SPECIAL, *characters)
        self._ids = {c: i for i, c in enumerate(self._vocabulary)}

    @classmethod
    @door
    def fit(cls, texts: str | Iterable[str], min_count: Size = 1) -> "CharTokenizer":
        """The characters that occur at least `min_count` times, sorted by code point."""
        counts: Counter[str] = Counter()
        for text in check_texts(texts):
            counts.update(text)
        check_min_count(min_count, counts)
        return cls(sorted(c for c, count in counts.items() if count >= min_count))

    @property
    def vocabulary(self) -> Sequence[str]:
        return self._vocabulary

    def _encode(self, text: str, allow_special: bool) -> list[int]:
        if not allow_special:
            return [self._ids.get(c, UNK) for c in text]
        ids = []
        for n, part in enumerate(split_special(text, self.special)):
            ids += [self._ids[part]] if n % 2 else [self._ids.get(c, UNK) for c in part]
        return ids

    def _decode(self, ids: list[int]) -> str:
        return "".join([self._vocabulary[i] for i in ids])

    def _fields(self) -> dict[str, Any]:
        return {"characters": list(self._vocabulary[len(SPECIAL) :])}

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> "CharTokenizer":
        return cls(fields["characters"])
