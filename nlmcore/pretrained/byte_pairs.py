"""Tokenizers of published models: GPT-2's byte-level byte pairs, with those models' own vocabularies and ids.

    text  ->  cut around special tokens, if they are allowed
          ->  cut into words by GPT-2's pattern; with `split_digits`, every digit is a word of its own first
          ->  the bytes of each word, merged pair by pair in the order in which the merges were learnt

Source: Radford et al. (2019, GPT-2), section 2.2. `nlmcore.tokens.BPETokenizer` is the same algorithm in Python, for
vocabularies that we train; here the library `tokenizers` does the merging.

Departs from the paper: nothing. Where a published vocabulary lacks a byte (SmolLM2's lacks 21, control characters and
parts of rare ones), that byte is left out, as the original does.

**Chat.** The form in which a model was taught conversations:

    <|im_start|>ROLE⏎CONTENT<|im_end|>⏎   for every message, then   <|im_start|>assistant⏎

Source: the template in SmolLM2's file (Jinja, `tokenizer.chat_template`), known as ChatML (OpenAI 2023). Only the
sentence in it that differs between models is read.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

from nlmcore.pretrained.weights import readers
from nlmcore.tokens.bytepairs import BYTE_ORDER
from nlmcore.tokens.tokenizer import Tokenizer, encode_around

ROLES = ("system", "user", "assistant")

TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    "SYSTEM<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'"
    " + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@final
class BytePairTokenizer(Tokenizer):
    r"""`vocabulary`: token -> id, bytes written in GPT-2's alphabet of 256 printable characters.

    `encode` raises ValueError for invalid Unicode (half of a surrogate pair). `decode` writes bytes that are not valid
    UTF-8 as U+FFFD, the replacement character; `pieces` writes the bytes of a character in several ids as \xf0\x9f.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Iterable[tuple[str, str]],
        *,
        special: Sequence[str],
        bos: int,
        eos: int,
        pad: int,
        split_digits: bool = False,
        system: str | None = None,
    ) -> None:
        with readers():
            import tokenizers
            from tokenizers import models, pre_tokenizers

        words = pre_tokenizers.ByteLevel(add_prefix_space=False)
        digits = pre_tokenizers.Digits(individual_digits=True)
        self._tokenizer = tokenizers.Tokenizer(models.BPE(dict(vocabulary), list(merges)))
        self._tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words] if split_digits else [words])
        self.special = {name: vocabulary[name] for name in sorted(special, key=len, reverse=True)}  # longest first
        self.bos, self.eos, self.pad, self.split_digits = bos, eos, pad, split_digits
        self.system = system  # what `chat` tells the model about itself if no message does; None: it cannot chat
        byte_of = dict(zip(sorted(pre_tokenizers.ByteLevel.alphabet()), BYTE_ORDER, strict=True))
        self.vocabulary = [b""] * (max(vocabulary.values()) + 1)  # special tokens included
        for token, i in vocabulary.items():
            self.vocabulary[i] = token.encode() if token in self.special else bytes([byte_of[c] for c in token])

    def to_json(self) -> str:
        """As the library `tokenizers` writes it, without the special tokens' roles."""
        return self._tokenizer.to_str()

    def arguments(self) -> dict[str, Any]:
        """What the class is called with to make the tokenizer again, as JSON can hold it."""
        model = json.loads(self.to_json())["model"]
        roles = {name: getattr(self, name) for name in ("bos", "eos", "pad", "split_digits", "system")}
        return {"vocabulary": model["vocab"], "merges": model["merges"], "special": [*self.special], **roles}

    @property
    def special_ids(self) -> Mapping[str, int]:
        return self.special

    def _encode(self, text: str, allow_special: bool) -> list[int]:
        check_unicode(text)
        if allow_special and self.special:
            return encode_around(self.special, text, self.encode)
        return self._tokenizer.encode(text).ids

    def _decode(self, ids: list[int]) -> str:
        return b"".join([self.vocabulary[i] for i in ids]).decode("utf-8", "replace")

    def _piece(self, i: int) -> str:
        return self.vocabulary[i].decode("utf-8", "backslashreplace")

    def chat(self, messages: Sequence[Mapping[str, str]], reply: bool = True) -> list[int]:
        """The ids of a conversation, up to where the model continues; text inside messages never produces special ids.

            tokenizer.chat([{"role": "user", "content": "Who was Hamlet?"}])

            <|im_start|>system⏎You are …<|im_end|>⏎<|im_start|>user⏎Who was Hamlet?<|im_end|>⏎<|im_start|>assistant⏎

        A role is "system", "user" or "assistant". Without a system message at the beginning the model's own is put
        there. reply: ask for an answer (False: only what was said). The answer ends with `eos`.

        Raises ValueError if the model was not trained to chat; TypeError or ValueError for malformed messages.
        """
        if self.system is None:
            raise ValueError("this model was not trained to chat; encode a text that it can continue")
        check_messages(messages)
        if messages[0]["role"] != "system":
            messages = [{"role": "system", "content": self.system}, *messages]
        start, end = self.special["<|im_start|>"], self.special["<|im_end|>"]
        ids: list[int] = []
        for message in messages:
            ids += [start, *self.encode(f"{message['role']}\n{message['content']}"), end, *self.encode("\n")]
        return [*ids, start, *self.encode("assistant\n")] if reply else ids


def check_unicode(text: str) -> None:
    """Raise ValueError for half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"text must be Unicode, got half of a surrogate pair at position {error.start}") from None


def system_message(template: str) -> str:
    """What a ChatML template tells the model about itself. Raises ValueError for another template."""
    before, after = map(re.escape, TEMPLATE.split("SYSTEM"))
    match = re.fullmatch(f"{before}([^'\\\\]*?){after}", template.strip())
    if match is None:
        raise ValueError(f"template must be the one of ChatML, got {template[:80]!r}")
    return match[1]


def check_messages(messages: Any) -> None:
    """Accept only a list of roles and contents: TypeError for a wrong type, ValueError for a wrong value."""
    if isinstance(messages, str | Mapping) or not all(isinstance(message, Mapping) for message in messages):
        raise TypeError(f'messages must be a list of {{"role": …, "content": …}}, got {messages!r:.60}')
    if not messages:
        raise ValueError("messages must hold at least one message, got none")
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role not in ROLES:
            raise ValueError(f"a message's role must be one of {', '.join(ROLES)}, got {role!r}")
        if not isinstance(content, str):
            raise TypeError(f"a message's content must be a str, got {content!r:.60}")
