"""What is done with an entry in one process: these methods call the student's functions and return plain tensors.

The text of this file also runs in the sandbox, below the student's own code, so it imports nothing of ours. What it
returns is believed by nobody: `autograder.race.rules` compares what several processes said that share only a file.
"""

import io

import torch


class Asked:
    """entry: the student's functions by their names."""

    def __init__(self, entry):
        self.entry, self.asked = entry, 0

    def train(self, texts, seconds, seed):
        """The file of the trained model: a dictionary of tensors, numbers, text, bytes and lists."""
        torch.manual_seed(seed)
        model = self.entry["train"](texts, seconds, seed)
        if not isinstance(model, dict):
            raise TypeError("train must return a dictionary")
        self.model, file = model, io.BytesIO()
        self.pieces()
        torch.save(model, file)
        stored = torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)
        self.open(stored)
        return stored

    def open(self, file):
        self.model = torch.load(io.BytesIO(file.numpy().tobytes()), weights_only=True)
        return torch.tensor(0)

    def pieces(self):
        """The bytes of all pieces, and how many each has."""
        pieces = self.model.get("pieces")
        if not isinstance(pieces, (list, tuple)) or not all(isinstance(p, (bytes, bytearray)) and p for p in pieces):
            raise TypeError(
                "train must return a dictionary with 'pieces', a list with the bytes of each token, at least one each"
            )
        return torch.tensor([*b"".join(pieces)], dtype=torch.uint8), torch.tensor([len(piece) for piece in pieces])

    def encode(self, texts):
        """All ids in one row, and how many each text has."""
        ids = [torch.as_tensor(self.entry["encode"](self.model, text)) for text in texts]
        if not all(one.ndim == 1 and len(one) and not one.is_floating_point() for one in ids):
            raise ValueError("encode must return a list of ids, which are integers")
        return torch.cat(ids).long(), torch.tensor([len(one) for one in ids])

    def measure(self, rows):
        """log P of each id of (text, time) ids."""
        return torch.stack([self._log_p(row).log_softmax(1).gather(1, row[:, None])[:, 0] for row in rows])

    def audit(self, row, cut):
        """The whole distribution of one token of a text."""
        self.asked += 1
        torch.default_generator.manual_seed(self.asked)  # quicker than that of `torch`
        return self._log_p(row)[cut]

    def write(self, prompt, length, seed):
        return torch.tensor([*self.entry["write"](self.model, prompt, length, seed).encode()], dtype=torch.uint8)

    def _log_p(self, ids):
        with torch.no_grad():
            rows = torch.as_tensor(self.entry["log_probabilities"](self.model, ids.clone()))
        expected = (len(ids), len(self.model["pieces"]))
        if rows.shape != expected:
            raise ValueError(
                f"log_probabilities must return a row for each id, a column for each piece: {expected}, "
                f"not {tuple(rows.shape)}"
            )
        return rows.float()
