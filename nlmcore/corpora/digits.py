"""1,797 handwritten digits, 8 × 8: pictures small enough for a Vision Transformer in a lecture."""

import csv
import gzip

import torch

from nlmcore.corpora.corpus import Corpus, Document
from nlmcore.corpora.packages import data_file

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def load() -> Corpus:
    """Each document is an image, labelled "0" to "9"; its text is the digit's name in English.

    The file is read by itself, so neither scikit-learn nor SciPy is imported.
    """
    with gzip.open(data_file("scikit-learn", "sklearn/datasets/data/digits.csv.gz"), "rt", encoding="ascii") as file:
        rows = [list(map(float, row)) for row in csv.reader(file)]
    images = torch.tensor(rows)[:, :64].reshape(-1, 8, 8) / 16  # brightness 0 to 16
    digits = [int(row[64]) for row in rows]
    documents = [
        Document(text=WORDS[digit], label=str(digit), image=image) for digit, image in zip(digits, images, strict=True)
    ]
    return Corpus(
        name="digits",
        about="handwritten digits, 8 by 8 points, brightness from 0 to 1",
        licence="CC BY 4.0 (E. Alpaydin and C. Kaynak, 1998, UCI Machine Learning Repository); BSD (scikit-learn)",
        source="scikit-learn on PyPI, file sklearn/datasets/data/digits.csv.gz",
        split_rule="in the order of the file, which goes from writer to writer: the first 1,197 are train, then 300"
        " valid, then 300 test",
        splits={
            "train": tuple(documents[:-600]),
            "valid": tuple(documents[-600:-300]),
            "test": tuple(documents[-300:]),
        },
    )
