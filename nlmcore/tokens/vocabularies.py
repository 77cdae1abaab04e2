"""Vocabularies built from a training text: characters, or words and punctuation; `<unk>` is for all else.

A vocabulary of words wants "king" to be one entry, whatever space is around it; the round trip wants every space back.
Both are had by a rule that says where one space is *expected* between two tokens: before a word, but not before a
comma, and not after an opening bracket. An expected space is not written at all. Where a text differs from the rule,
its white space is written as tokens: " ", "\\n", ...; and "" says "no space here".

    "Nay, answer me:\\nstand!"   Nay | , | answer | me | : | \\n | stand | !
    "a grave-digger"            a | grave | - | digger       (none is expected beside a hyphen)
    "he's here ,ho"             he's | here | " " | , | "" | ho

Departs from the literature: the Penn Treebank's tokenizer (Marcus et al. 1993), the usual one for language
models over words, drops the white space and cuts "don't" into "do n't"; here "don't" is one word, and nothing
is dropped.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, final

import regex

from nlmcore.checks import Size, checked, described
from nlmcore.tokens.tokenizer import SPECIAL, UNK, TrainedTokenizer, check_texts, encode_around

_LETTER = r"[\p{L}\p{M}\p{N}]"
_SPECIAL = "|".join(SPECIAL)
# White space, then a word, which may hold apostrophes, or a sign, which may be repeated ("--"), or the end.
_WORD = rf"{_LETTER}++(?:['’]{_LETTER}++)*+"
_SIGN = r"([^\s\p{L}\p{M}\p{N}])"
_PLAIN = regex.compile(rf"(\s*+)({_WORD}|{_SIGN}\3*+|\Z)")
_WITH_SPECIAL = regex.compile(rf"(\s*+)({_SPECIAL}|{_WORD}|{_SIGN}(?:(?!{_SPECIAL})\3)*+|\Z)")
_RARE_SPACE = regex.compile(r"[^\S \n]")
_ONE_TOKEN = regex.compile(rf"{_WORD}|{_SIGN}\1*+|{_RARE_SPACE.pattern}")

_SILENT = ("", " ", "\n")  # in every vocabulary, after the special tokens
_NO_SPACE_BEFORE = frozenset(",.;:!?)]}…’”%-–—/")
_NO_SPACE_AFTER = frozenset("([{“‘'\"#$£€@&_-–—/")


@final
class CharTokenizer(TrainedTokenizer):
    """One id per character (Unicode code point) seen when fitted; any other character is `<unk>`.

    Covers the strings over its characters: for them `decode(encode(x)) == x`.
    """

    def __init__(self, characters: Iterable[str]):
        characters = list(characters)
        if not all(isinstance(c, str) and len(c) == 1 for c in characters) or len(set(characters)) != len(characters):
            raise ValueError(f"characters must be different single characters, got {characters!r:.60}")
        if not characters:
            raise ValueError("characters must hold at least one character, got none")
        self.vocabulary = (*SPECIAL, *characters)
        self._ids = {c: i for i, c in enumerate(self.vocabulary)}

    @classmethod
    @checked
    def fit(cls, texts: str | Iterable[str], min_count: Size = 1) -> "CharTokenizer":
        """The characters that occur at least `min_count` times, sorted by code point."""
        counts: Counter[str] = Counter()
        for text in check_texts(texts):
            counts.update(text)
        return cls(sorted(_frequent(counts, min_count)))

    def _encode(self, text: str, allow_special: bool) -> list[int]:
        if allow_special:
            return encode_around(self.special_ids, text, self.encode)
        return [self._ids.get(c, UNK) for c in text]

    def _decode(self, ids: list[int]) -> str:
        return "".join([self.vocabulary[i] for i in ids])

    def _fields(self) -> dict[str, Any]:
        return {"characters": list(self.vocabulary[len(SPECIAL) :])}


@final
class WordTokenizer(TrainedTokenizer):
    """One id per word or punctuation mark; `<unk>` for any other.

    Ids: the special tokens, "" (no space here), " ", "\\n", then the words, most frequent first. Covers the
    strings whose words, marks and white space are in the vocabulary: for them `decode(encode(x)) == x`; with
    `lowercase`, only such strings as are in lower case. Without any words, as fitted on white space, it covers that.
    """

    def __init__(self, words: Iterable[str], lowercase: bool = False):
        words = list(words)
        self.vocabulary = (*SPECIAL, *_SILENT, *words)
        self._ids = {token: i for i, token in enumerate(self.vocabulary)}
        if not all(isinstance(word, str) for word in words) or len(self._ids) < len(self.vocabulary):
            raise ValueError(f"words must be different strings, none of {(*SPECIAL, *_SILENT)}, got {words!r:.60}")
        if (never := next((word for word in words if not _ONE_TOKEN.fullmatch(word)), None)) is not None:
            raise ValueError(f"words must be single words, marks or white space, got {never!r:.60}")
        # Per token, whether a space is expected before it and after it: asked for at every word of every text.
        silent = {token for token in self.vocabulary if token in SPECIAL[:UNK] or token.isspace() or not token}
        self._space_before = {t: t not in silent and t[0] not in _NO_SPACE_BEFORE for t in self.vocabulary}
        self._space_after = {t: t not in silent and t[-1] not in _NO_SPACE_AFTER for t in self.vocabulary}
        self.lowercase = lowercase

    @classmethod
    @checked
    def fit(
        cls, texts: str | Iterable[str], min_count: Size = 1, vocab_size: Size | None = None, lowercase: bool = False
    ) -> "WordTokenizer":
        """Keep the words that occur at least `min_count` times, and of these the most frequent ones.

        `vocab_size` is the most ids there may be, all told; equally frequent words are kept in alphabetical order.
        """
        fixed = len(SPECIAL) + len(_SILENT)
        if vocab_size is not None and vocab_size < fixed:
            raise ValueError(f"vocab_size must be at least {fixed}, got {vocab_size}")
        counts: Counter[str] = Counter()
        for text in check_texts(texts):
            text = text.lower() if lowercase else text
            counts.update([token for _, token, _ in _PLAIN.findall(text)])
            counts.update(_RARE_SPACE.findall(text))
        del counts[""]  # the end of each text
        words = sorted(_frequent(counts, min_count), key=lambda word: (-counts[word], word))
        return cls(words if vocab_size is None else words[: vocab_size - fixed], lowercase)

    def id(self, word: str) -> int:
        """The id of one word, mark or white space; that of `<unk>` if it is not in the vocabulary."""
        if not isinstance(word, str):
            raise TypeError(f"word must be a string, got {described(word)}")
        return self._ids.get(word, UNK)

    def _encode(self, text: str, allow_special: bool) -> list[int]:
        text = text.lower() if self.lowercase else text
        ids: list[int] = []
        id_of, space_before, space_after = self._ids, self._space_before, self._space_after
        before = "<bos>"
        for space, token, _ in (_WITH_SPECIAL if allow_special else _PLAIN).findall(text):
            shown = token if token in id_of else "<unk>"
            if space != (" " if space_after[before] and space_before[shown] else ""):
                ids += [id_of.get(c, UNK) for c in space or ("",)]
            if token:
                ids.append(id_of[shown])
            before = shown
        return ids

    def _decode(self, ids: list[int]) -> str:
        parts: list[str] = []
        before = "<bos>"
        for i in ids:
            token = self.vocabulary[i]
            parts += (" " if self._space_after[before] and self._space_before[token] else "", token)
            before = token
        return "".join(parts)

    def _fields(self) -> dict[str, Any]:
        return {"words": list(self.vocabulary[len(SPECIAL) + len(_SILENT) :]), "lowercase": self.lowercase}


def _frequent(counts: Counter[str], min_count: int) -> list[str]:
    most = max(counts.values(), default=min_count)
    if min_count > most:
        raise ValueError(f"min_count must be in [1, {most}], got {min_count}")
    return [token for token, count in counts.items() if count >= min_count]
