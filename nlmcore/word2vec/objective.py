"""The objective of word2vec, as a loss that autograd could follow and as the gradient written by hand.

Skip-gram: a word a should give its neighbour b a high score v_a · u_b, and k words n sampled from the noise
distribution P_n low ones (Mikolov et al. 2013b, equation 4):

    loss(a, b) = −log σ(v_a · u_b) − k E_{n ~ P_n} log σ(−v_a · u_n)

CBOW: the mean h of the neighbours' vectors should do the same for the word a in their middle (Mikolov et al. 2013a):

    h = mean of v_b over the window,     loss(a) = −log σ(h · u_a) − k E_{n ~ P_n} log σ(−h · u_n)

The text comes in blocks of consecutive words, so all scores between a block and its surroundings are one matrix
product, in which `window` marks the pairs. A block shares K noise words, each of which counts k / K: the same
expectation.

Symbols: v input vectors (rows of `input`), u output vectors (rows of `output`), k n_negatives, K shared noise words.
Shapes: n blocks of c words each, in spans of s = c + 2 · window words.

    skip-gram   centre = v of the block's words,  context = u of the span's words,  negatives = u of the shared words
    CBOW        centre = u of the block's words,  context = v of the span's words,  negatives = u of the shared words

The hand-written gradient uses d/dx [−log σ(x)] = σ(x) − 1 and d/dx [−log σ(−x)] = σ(x).

Sources: Mikolov, Chen, Corrado & Dean 2013a (arXiv 1301.3781); Mikolov, Sutskever, Chen, Corrado & Dean 2013b
(arXiv 1310.4546). Departs from the papers: noise words are shared in a block, and one that happens to be the neighbour
itself is kept. In CBOW the original program and gensim do not divide the gradient of a neighbour's vector by the number
of neighbours, as the mean demands (İrsoy, Benton & Stratos 2021). Both are here; `CBOW` does not divide by default:
neighbours then learn several times as fast, which usual learning rates are made for.
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid


def skipgram_loss(centre: Tensor, context: Tensor, negatives: Tensor, window: Tensor, n_negatives: int) -> Tensor:
    """centre (n, c, d), context (n, s, d), negatives (n, K, d), window (n, c, s) 1 for a pair -> the sum over pairs."""
    pairs = window.sum(2, keepdim=True)  # (n, c, 1): each of a word's pairs has its own k negatives
    attraction = logsigmoid(centre @ context.mT) * window
    repulsion = logsigmoid(-centre @ negatives.mT) * pairs * (n_negatives / negatives.shape[1])
    return -attraction.sum() - repulsion.sum()


def skipgram_gradient(
    centre: Tensor, context: Tensor, negatives: Tensor, window: Tensor, n_negatives: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient of `skipgram_loss` with respect to centre, context and negatives."""
    k = window.sum(2, keepdim=True).mul_(n_negatives / negatives.shape[1])  # what each noise word counts for a word
    g = torch.bmm(centre, context.mT).sigmoid_().sub_(1.0).mul_(window)  # (n, c, s): σ − 1 for every pair
    q = torch.bmm(centre, negatives.mT).sigmoid_().mul_(k)  # (n, c, K): σ for every noise word
    return torch.bmm(g, context).baddbmm_(q, negatives), torch.bmm(g.mT, centre), torch.bmm(q.mT, centre)


def cbow_loss(centre: Tensor, context: Tensor, negatives: Tensor, window: Tensor, n_negatives: int) -> Tensor:
    """The same shapes; a word without neighbours has no loss."""
    pairs = window.sum(2, keepdim=True)
    h = (window @ context) / pairs.clamp(min=1)  # (n, c, d): the mean of the neighbours
    has_context = (pairs > 0).to(h.dtype)
    attraction = logsigmoid((h * centre).sum(2, keepdim=True)) * has_context
    repulsion = logsigmoid(-h @ negatives.mT) * has_context * (n_negatives / negatives.shape[1])
    return -attraction.sum() - repulsion.sum()


def cbow_gradient(
    centre: Tensor, context: Tensor, negatives: Tensor, window: Tensor, n_negatives: int, corrected: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient of `cbow_loss` with respect to centre, context and negatives.

    corrected=False: the original program's, in which every neighbour gets the whole gradient of the mean h.
    """
    pairs = window.sum(2, keepdim=True)
    n_neighbours, has_context = pairs.clamp(min=1), pairs.clamp(max=1)
    h = torch.bmm(window, context).div_(n_neighbours)
    g = (h * centre).sum(2, keepdim=True).sigmoid_().sub_(1.0).mul_(has_context)  # (n, c, 1)
    q = torch.bmm(h, negatives.mT).sigmoid_().mul_(has_context * (n_negatives / negatives.shape[1]))  # (n, c, K)
    along_h = (g * centre).baddbmm_(q, negatives)
    if corrected:
        along_h.div_(n_neighbours)
    return h * g, torch.bmm(window.mT, along_h), torch.bmm(q.mT, h)
