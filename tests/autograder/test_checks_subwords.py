"""What the exercises of "subwords" promise beyond what every assignment must (`test_checks.py`)."""

from nlmcore.tokens import BPETokenizer
from solutions.subwords.checks import EXERCISES


def test_the_references_learn_what_the_librarys_tokenizer_learns():
    """The questions have another form than `nlmcore.tokens`; their merges are the same."""
    text = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
    tokenizer = BPETokenizer.train([text.replace(" ", "\n")], 256 + 4 + 8)  # bytes, special tokens, merges
    letters = sorted({letter for letter in text if letter != " "})
    number = {letter: i for i, letter in enumerate(letters)}
    words = sorted(set(text.split()))
    counts = [text.split().count(word) for word in words]
    spelled = [letter.encode() for letter in letters]
    found = []
    learned = EXERCISES["subwords.learn_merges"].reference
    for a, b in learned([[number[c] for c in word] for word in words], counts, len(letters), 8):
        found.append((spelled[a], spelled[b]))
        spelled.append(spelled[a] + spelled[b])
    assert found == tokenizer.merges[: len(found)]
    assert len(found) == 8
