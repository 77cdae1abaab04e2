"""The Python language reference as the interpreter itself carries it: a second domain, close to code."""

import importlib
import platform

from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, split_by_hash


def load() -> Corpus:
    """About 80 topics, half a million characters; they differ a little from one Python version to the next."""
    topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    documents = [Document(text=text.strip() + "\n", title=title) for title, text in sorted(topics.items())]
    return Corpus(
        name="python_reference",
        about="the Python language reference: prose and grammar about code",
        licence="Python Software Foundation License, version 2",
        source=f"the standard library's pydoc_data.topics, Python {platform.python_version()}",
        split_rule=BY_HASH.format(key="the topic"),
        splits=split_by_hash(documents, lambda document: document.title),
    )
