"""What is done with an entry: these functions call the student's and return plain tensors for `autograder.race.rules`.

The text of this file is also a cell that the sandbox runs below the student's own, so it imports nothing of ours. What
it returns is believed by nobody: an entry is trained, measured and audited in three processes that share only its file.
"""

import io

import torch


def to_file(model):
    """A model, a dictionary of tensors, numbers, text, bytes and lists, as the bytes of a file."""
    if not isinstance(model, dict) or not isinstance(model.get("pieces"), (list, tuple)):
        raise TypeError("train must return a dictionary, and its entry 'pieces' the bytes of every token")
    file = io.BytesIO()
    torch.save(model, file)
    _opened(file.getvalue())
    return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)


def from_file(file):
    return _opened(file.numpy().tobytes())


def measured(encode, log_probabilities, model, texts):
    """For all texts in one row: ids, how many each has, log P of each; and the bytes of all pieces, and their sizes."""
    ids = [_ids(encode(model, text)) for text in texts]
    claims = [_rows(log_probabilities, model, i).gather(1, i[:, None])[:, 0] for i in ids]
    pieces = [bytes(piece) for piece in model["pieces"]]
    every = torch.tensor([*b"".join(pieces)], dtype=torch.uint8)
    return torch.cat(ids), _sizes(ids), torch.cat(claims), every, _sizes(pieces)


def audited(log_probabilities, model, ids, sizes, cuts, foreign):
    """The distributions (text, vocabulary) of each text's token number `cut`, where all tokens from there on are
    foreign; and the same for the first text once more."""
    found = []
    for one, cut in zip([*ids.split(sizes.tolist()), ids[: sizes[0]]], [*cuts.tolist(), int(cuts[0])], strict=True):
        mixed = torch.cat((one[:cut], foreign[: len(one) - cut]))
        found.append(_rows(log_probabilities, model, mixed)[cut])
    return torch.stack(found)


def _opened(content):
    return torch.load(io.BytesIO(content), weights_only=True)


def _ids(given):
    ids = torch.as_tensor(given, dtype=torch.long)
    if ids.ndim != 1 or len(ids) == 0:
        raise ValueError("encode must return a list of ids")
    return ids


def _rows(log_probabilities, model, ids):
    with torch.no_grad():
        rows = torch.as_tensor(log_probabilities(model, ids.clone()))
    if rows.shape != (len(ids), len(model["pieces"])):
        expected = (len(ids), len(model["pieces"]))
        raise ValueError(
            f"log_probabilities must return a row per id and a column per piece, {expected}, not {tuple(rows.shape)}"
        )
    return rows.float()


def _sizes(parts):
    return torch.tensor([len(part) for part in parts])
