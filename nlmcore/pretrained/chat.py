"""The form in which a model was taught conversations: who speaks, and what was said.

    <|im_start|>ROLE⏎CONTENT<|im_end|>⏎   for every message, then   <|im_start|>assistant⏎

Source: the template that SmolLM2's file carries (Jinja, `tokenizer.chat_template`), known as ChatML (OpenAI 2023).
A template is a program; we read the one sentence in it that differs between models and refuse any other program.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

Turn = Mapping[str, str]

ROLES = ("system", "user", "assistant")

TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    "SYSTEM<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'"
    " + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def system_message(template: str) -> str:
    """What a ChatML template tells the model about itself. Raises ValueError for another template."""
    before, after = map(re.escape, TEMPLATE.split("SYSTEM"))
    match = re.fullmatch(f"{before}([^'\\\\]*?){after}", template.strip())
    if match is None:
        raise ValueError(f"template must be the one of ChatML, got {template[:80]!r}")
    return match[1]


def turns_of(messages: Sequence[Turn], system: str) -> Iterator[tuple[str, str]]:
    """(role, content) of each message, `system` first if no message says otherwise.

    Raises TypeError or ValueError if messages are not a non-empty list of roles and contents.
    """
    if isinstance(messages, str | Mapping) or not all(isinstance(message, Mapping) for message in messages):
        raise TypeError(f'messages must be a list of {{"role": …, "content": …}}, got {messages!r:.60}')
    if not messages:
        raise ValueError("messages must hold at least one message, got none")
    if messages[0].get("role") != "system":
        yield "system", system
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role not in ROLES:
            raise ValueError(f"a message's role must be one of {', '.join(ROLES)}, got {role!r}")
        if not isinstance(content, str):
            raise TypeError(f"a message's content must be a str, got {content!r:.60}")
        yield role, content
