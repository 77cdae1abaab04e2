"""Edit: rewrite a retrieved prototype instead of writing from nothing.
Guu, Hashimoto, Oren & Liang (2018), "Generating sentences by editing prototypes".

    P(x) = Σ_{x'} P(x') ∫ P(x | x', z) p(z) dz               a prototype x', an edit z, and the edited x
    f(x', x) = [Σ_{w ∈ x∖x'} e(w) ; Σ_{w ∈ x'∖x} e(w)]       what was inserted; what was deleted
    q(z | x', x):  z = r u,  u around f/‖f‖,  r in [‖f‖, ‖f‖ + ε] with ‖f‖ cut at 10 − ε
    p(z):          z = r u,  u uniform on the sphere,  r uniform in [0, 10]

P(x | x', z) is a `Seq2Seq` with attention to x' that also reads z at every step. Training maximises
E_q ln P(x | x', z); at test time z is drawn from p, or made from words to insert and delete, or zero.

Symbols: e is `edits`, z is the state's `constant`, ε is `noise`, the paper's norm limit 10 is `longest`.

Departs from the paper: u is a von Mises-Fisher draw there, here f/‖f‖ plus Gaussian noise, normalised
(`concentration` is the inverse variance per coordinate, with much the same meaning); the encoder-decoder is the
course's, one layer, where theirs has three; sets of words are those of whole texts, stop words included.
"""

import dataclasses
import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.language_model import check_tokens
from nlmcore.recurrent.checks import check_floats
from nlmcore.recurrent.masks import check_padding_mask
from nlmcore.seq2seq.attention import SCORES
from nlmcore.seq2seq.decoders import AttentionDecoder
from nlmcore.seq2seq.model import Seq2Seq, check_source
from nlmcore.seq2seq.state import Seq2SeqState


def edited_words(
    prototype: Tensor, target: Tensor, vocab_size: int, prototype_mask: Tensor, target_mask: Tensor
) -> tuple[Float[Tensor, "batch vocab"], Float[Tensor, "batch vocab"]]:
    """Which words were inserted and which deleted, as rows of zeros and ones over the vocabulary.

    Raises TypeError or ValueError for ids that are no (batch, time) of the vocabulary, masks that are not booleans
    of their shapes, or a target of another batch.
    """
    for name, tokens, mask in (("prototype", prototype, prototype_mask), ("target", target, target_mask)):
        check_tokens(tokens, vocab_size, name)
        check_padding_mask(mask, tuple(tokens.shape), f"{name}_mask")
    if len(prototype) != len(target):
        raise ValueError(f"target must have one text per prototype, {len(prototype)}, got {len(target)}")
    old = _word_set(prototype, prototype_mask, vocab_size)
    new = _word_set(target, target_mask, vocab_size)
    return (new & ~old).float(), (old & ~new).float()


def _word_set(tokens: Tensor, mask: Tensor, vocab_size: int) -> Tensor:
    """(batch, vocab), True for words that occur at real positions."""
    counts = torch.zeros(len(tokens), vocab_size, device=tokens.device)
    return counts.scatter_add(1, tokens.long(), mask.float()) > 0


class NeuralEditor(nn.Module):
    """`state = editor.encode(prototype, mask, edit)`, then `logits, state = editor(tokens, state)`.

    One vocabulary for prototype and result. Embeddings of edits are the target's own.
    """

    def __init__(
        self,
        vocab_size: int,
        cell: str = "gru",
        d_embedding: int = 64,
        d_hidden: int = 128,
        n_layers: int = 1,
        score: str = "additive",
        bidirectional: bool = True,
        dropout: float | int = 0.0,
        concentration: float | int = 100.0,
        noise: float | int = 0.1,
        longest: float | int = 10.0,
    ) -> None:
        super().__init__()
        if not 0 < concentration < math.inf or not 0 <= noise < longest < math.inf:
            raise ValueError(
                "concentration must be above 0 and 0 <= noise < longest, all finite,"
                f" got concentration={concentration}, noise={noise}, longest={longest}"
            )
        self.vocab_size, self.d_embedding = vocab_size, d_embedding
        self.concentration, self.noise, self.longest = concentration, noise, longest
        self.seq2seq = Seq2Seq(
            vocab_size, vocab_size, cell, d_embedding, d_hidden, n_layers,
            score=score, bidirectional=bidirectional, dropout=dropout,
        )  # fmt: skip
        self.seq2seq.decoder = AttentionDecoder(
            cell, d_embedding, d_hidden, n_layers, dropout, True, SCORES[score](d_hidden), 2 * d_embedding
        )
        self.seq2seq.encoder.embedding = self.seq2seq.embedding  # prototype and result are the same language

    @property
    def edits(self) -> nn.Embedding:
        """e: what the words of an edit are summed in; the embedding of the text itself."""
        return self.seq2seq.embedding

    def encode(
        self, prototype: Tensor, prototype_mask: Tensor | None = None, edit: Tensor | None = None
    ) -> Seq2SeqState:
        """Read prototypes (batch, source). edit z (batch, 2 · d_embedding): from `edit_vector` or `sample_edit`.

        None is an edit of zeros: no words asked for, none asked away.
        """
        state = self.seq2seq.encode(prototype, prototype_mask)
        shape = (len(prototype), 2 * self.d_embedding)
        if edit is None:
            edit = self.edits.weight.new_zeros(shape)
        check_floats("edit", edit, self.edits.weight)
        if edit.shape != shape:
            raise ValueError(f"edit must be (batch, 2 · d_embedding) = {shape}, got {tuple(edit.shape)}")
        return dataclasses.replace(state, constant=edit)

    def forward(
        self, tokens: Tensor, state: Seq2SeqState | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], Seq2SeqState]:
        """tokens (batch, time) of the edited text, `<bos>` first; state from `encode`."""
        return self.seq2seq(tokens, state)

    def edit_vector(
        self,
        prototype: Tensor,
        target: Tensor,
        prototype_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
    ) -> Float[Tensor, "batch edit"]:
        """f(x', x): the sum of the inserted words' embeddings, then that of the deleted ones'; no noise.

        Raises TypeError or ValueError for texts or masks that cannot be read, or another number of targets.
        """
        prototype_mask = check_source(prototype, prototype_mask, self.vocab_size, "prototype")
        target_mask = check_source(target, target_mask, self.vocab_size, "target")
        inserted, deleted = edited_words(prototype, target, self.vocab_size, prototype_mask, target_mask)
        return torch.cat([inserted @ self.edits.weight, deleted @ self.edits.weight], dim=-1)

    def words_to_edit(self, insert: Tensor, delete: Tensor) -> Float[Tensor, "batch edit"]:
        """The edit that inserts and deletes given words: ids (batch, any), each possibly with no column."""
        for name, words in (("insert", insert), ("delete", delete)):
            if words.ndim != 2 or len(words) != len(insert):
                raise ValueError(f"{name} must be ids (batch = {len(insert)}, any), got shape {tuple(words.shape)}")
            if words.shape[1]:
                check_tokens(words, self.vocab_size, name)
        return torch.cat([self.edits(insert.long()).sum(1), self.edits(delete.long()).sum(1)], dim=-1)

    def perturb(self, f: Tensor, generator: torch.Generator | None = None) -> Float[Tensor, "batch edit"]:
        """z ~ q: the edit f with noise on its direction and on its length, so that nearby edits mean nearby things."""
        check_floats("f", f, self.edits.weight)
        if f.ndim != 2 or f.shape[1] != 2 * self.d_embedding:
            raise ValueError(f"f must be (batch, 2 · d_embedding = {2 * self.d_embedding}), got {tuple(f.shape)}")
        length = f.norm(dim=-1, keepdim=True)
        direction = f / length.clamp(min=1e-8)
        direction = direction + torch.randn(f.shape, generator=generator).to(f) / self.concentration**0.5
        direction = direction / direction.norm(dim=-1, keepdim=True).clamp(min=1e-8)
        stretched = torch.rand(length.shape, generator=generator).to(f) * self.noise
        return direction * (length.clamp(max=self.longest - self.noise) + stretched)

    def sample_edit(self, batch: int, generator: torch.Generator | None = None) -> Float[Tensor, "batch edit"]:
        """z ~ p: any direction, any length up to `longest`."""
        check_sizes(batch=batch)
        direction = torch.randn(batch, 2 * self.d_embedding, generator=generator)
        length = torch.rand(batch, 1, generator=generator) * self.longest
        return (direction / direction.norm(dim=-1, keepdim=True) * length).to(self.edits.weight)
