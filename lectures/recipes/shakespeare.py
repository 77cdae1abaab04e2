"""Shakespeare's works as the language models here read them: texts in the corpus's own split."""

from dataclasses import dataclass

from nlmcore.corpora import load


@dataclass(frozen=True)
class Plays:
    """Texts to train on, to watch, and to test on."""

    train: list[str]
    dev: list[str]
    test: list[str]
    split: str
    source: str
    """Where the texts come from, and their licence."""


def plays(limit: int | None = None) -> Plays:
    """The corpus; or two works of each part and their first `limit` characters (for smoke runs)."""
    corpus = load("shakespeare")
    works = None if limit is None else 2
    parts = {part: [text[:limit] for text in corpus.texts(part)[:works]] for part in ("train", "valid", "test")}
    return Plays(parts["train"], parts["valid"], parts["test"], corpus.split_rule, f"{corpus.source}; {corpus.licence}")
