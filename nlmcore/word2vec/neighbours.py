"""Questions to a table of word vectors: what is near, and what is to c as b is to a?

    nearest(w)          argmax over w' of cos(e(w'), e(w))
    analogy(a, b, c)    argmax over w  of cos(e(w), e(c) − e(a) + e(b))         a : b = c : w

Source: Mikolov, Yih & Zweig 2013, equations 1 and 2 (e are vectors of length 1; the words of the question are no
answers). When analogies hold: Ethayarajh, Duvenaud & Hirst 2019.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from nlmcore.word2vec.checks import check_question


def nearest(vectors: Tensor, word: int, k: int | None = None) -> list[tuple[int, float]]:
    """The k words whose vectors have the largest cosine with that of `word`, best first; ids and cosines.

    vectors: (vocab, d_model), finite. k: None for 10, or all there are beside `word` if they are fewer.
    """
    k = check_question(vectors, {"word": word}, k, usual=10)
    unit = normalize(vectors, dim=1)
    return _best(unit @ unit[word], [word], k)


def analogy(vectors: Tensor, a: int, b: int, c: int, k: int = 1) -> list[tuple[int, float]]:
    """The k words that are to c as b is to a, best first; ids and cosines. a, b and c are left out.

    vectors: (vocab, d_model), finite.
    """
    check_question(vectors, {"a": a, "b": b, "c": c}, k)
    unit = normalize(vectors, dim=1)
    target = normalize(unit[c] - unit[a] + unit[b], dim=0)
    return _best(unit @ target, [a, b, c], k)


def _best(cosines: Float[Tensor, " vocab"], excluded: list[int], k: int) -> list[tuple[int, float]]:
    cosines = cosines.clone()
    cosines[excluded] = -torch.inf
    values, ids = cosines.topk(k)
    return list(zip(ids.tolist(), values.tolist(), strict=True))
