"""Small entries: bigrams of bytes, and what can be wrong with an entry."""

from autograder.race.split import Split

RIGHT = """
import math
import time
import torch

def train(texts, seconds, seed):
    pairs = torch.ones(256, 256)
    for text in texts:
        ids = torch.tensor([*text.encode()])
        pairs.index_put_((ids[:-1], ids[1:]), torch.tensor(1.0), accumulate=True)
    return {"pieces": [bytes([b]) for b in range(256)], "log_p": (pairs / pairs.sum(1, keepdim=True)).log()}

def encode(model, text):
    return list(text.encode())

def log_probabilities(model, ids):
    return model["log_p"][torch.cat((torch.tensor([10]), ids[:-1]))]

def write(model, prompt, length, seed):
    draw, last, new = torch.Generator().manual_seed(seed), prompt.encode()[-1], []
    for _ in range(length):
        last = int(torch.multinomial(model["log_p"][last].exp(), 1, generator=draw))
        new.append(last)
    return bytes(new).decode("utf-8", "replace")
"""
WRONG = {
    "sees-the-future": """
def log_probabilities(model, ids):
    rows = torch.full((len(ids), 256), -20.0)
    rows[range(len(ids)), ids] = 0.0
    return rows.log_softmax(-1)
""",
    "loses-bytes": """
def encode(model, text):
    return list(text.lower().encode())
""",
    "sum-not-one": """
def log_probabilities(model, ids):
    return model["log_p"][torch.cat((torch.tensor([10]), ids[:-1]))] / 2
""",
    "not-repeatable": """
def log_probabilities(model, ids):
    rows = model["log_p"][torch.cat((torch.tensor([10]), ids[:-1]))]
    return torch.nn.functional.dropout(rows, 0.02).log_softmax(-1)
""",
    "foreign-text": """
def train(texts, seconds, seed):
    from nlmcore.corpora import load
    return {"pieces": load("shakespeare").texts("test")}
""",
    "not-a-file": """
def train(texts, seconds, seed):
    return {"pieces": [bytes([b]) for b in range(256)], "network": torch.nn.Linear(2, 2)}
""",
    "worse-than-guessing": """
def log_probabilities(model, ids):
    return model["log_p"][torch.cat((torch.tensor([10]), ids[:-1]))].mul(-1).log_softmax(-1)
""",
    "raised": """
def train(texts, seconds, seed):
    return 1 / 0
""",
}
ABSENT = """
def train(texts, seconds, seed):
    import glob, importlib, os
    found = []
    for name in {names!r}:
        try:
            found.append(importlib.import_module(name).__name__)
        except (ImportError, OSError):
            pass
    for path in {paths!r}:
        try:
            found.append(str(os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)))
        except OSError:
            pass
    raise ValueError(str(found))
"""
KEEPS = """
import os
PLACES = [".", "/tmp", "/dev/shm", "/var/tmp", "/scratch", "/warm", os.environ["HOME"], os.path.dirname(torch.__file__)]
def encode(model, text):
    ids = list(text.encode())
    for place in PLACES:
        try:
            with open(f"{place}/seen", "ab") as file:
                file.write(text.encode() + bytes(1))
        except OSError:
            pass
    return ids
def log_probabilities(model, ids):
    for place in PLACES:
        try:
            raise ValueError("read " + open(f"{place}/seen").read()[:9])
        except OSError:
            pass
    return model["log_p"][torch.cat((torch.tensor([10]), ids[:-1]))]
"""
"""Leaves what it has seen for the next process."""
LATE = """
def train(texts, seconds, seed):
    while True:
        pass
"""
REMEMBERS = """
seen = {}
def encode(model, text):
    ids = list(text.encode())
    seen[tuple(ids[:40])] = ids
    return ids
def log_probabilities(model, ids):
    known = torch.tensor(seen.get(tuple(ids[:40].tolist()), ids.tolist()))[: len(ids)]
    rows = torch.full((len(ids), 256), -20.0)
    rows[range(len(known)), known] = 0.0
    return rows.log_softmax(-1)
"""
"""Looks the future up in what `encode` has seen: right in one process, and not in three."""

LINES = [
    "The quality of mercy is not strain'd,\n",
    "It droppeth as the gentle rain from heaven\n",
    "Upon the place beneath: it is twice blest;\n",
    "It blesseth him that gives and him that takes.\n",
    "'Tis mightiest in the mightiest: it becomes\n",
    "The throned monarch better than his crown.\n",
]
SMALL = Split(
    tuple("".join(LINES[i:]) * 20 for i in (0, 1)), tuple("".join(LINES[i:]) * 2 for i in range(4)), ("mercy",)
)


def functions(*sources: str) -> dict[str, object]:
    space: dict[str, object] = {}
    for source in sources:
        exec(source, space)
    return space
