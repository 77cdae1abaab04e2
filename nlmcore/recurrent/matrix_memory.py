"""A memory that is one matrix: a recurrence instead of attention, one step at a time or a chunk at a time.

    S_t = a_t (I − b_t k_tᵀ k_t) S_{t−1} + w_t k_tᵀ v_t,   y_t = q_t S_t        q, k, v are rows; S is (d_key, d_value)

    rule          a_t                b_t    w_t
    linear        1                  0      1            Katharopoulos et al. (2020), section 3.4
    gated writes  1                  0      σ(x W^b)     the control of the delta rule: the same, but nothing is erased
    retention     1 − 2^{−5−head}    0      1            Sun et al. (2023), sections 2.1 and 2.2
    selective     exp(−Δ_t A)        0      Δ_t          Dao & Gu (2024), section 5: Mamba-2; Δ = softplus(x W^Δ)
    delta         1                  w_t    σ(x W^b)     Schlag, Irie & Schmidhuber (2021), section 4.2
    gated delta   exp(−Δ_t A)        w_t    σ(x W^b)     Yang, Kautz & Hatamizadeh (2025), section 3

`update` is one step, `step_by_step` the recurrence, `chunked` the same values faster. Within a chunk, u_i is what is
written with k_i, D_ij the decay from position j to i, and S the matrix before the chunk:

    u_i = w_i v_i − b_i (D_i0 k_i S + Σ_{j<i} D_ij (k_i · k_j) u_j)   Yang et al. (2024), section 3
    y_i = D_i0 q_i S + Σ_{j≤i} D_ij (q_i · k_j) u_j                      attention without a softmax

Symbols: our S is the transpose of theirs; their α and β are a and b; Mamba-2 calls k, q, v here B, C, x.

Departs from the papers: a_t is one number per head (a vector in Yang et al. 2024, "Gated linear attention"); no feature
map, denominator or rotation, instead unit queries and keys and an RMSNorm of each head (as DeltaNet has them) in all
rules.
"""

from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention.multi_head import check_text
from nlmcore.checks import Size, checked
from nlmcore.fast import Linear
from nlmcore.language_model import check_state

Rule = Literal["linear", "gated writes", "retention", "selective", "delta", "gated delta"]
Keys = Float[Tensor, "batch head time d_key"]
Values = Float[Tensor, "batch head time d_value"]
Gate = Float[Tensor, "batch head time"] | None
Matrix = Float[Tensor, "batch head d_key d_value"]


def update(S: Tensor, k: Tensor, v: Tensor, a: Any = 1.0, b: Any = 0.0, w: Any = 1.0) -> Tensor:
    """S_t from S_{t−1} (…, d_key, d_value), k (…, d_key) and v (…, d_value); a, b, w: numbers, or (…, 1) each."""
    S = torch.as_tensor(a).unsqueeze(-1) * S
    held = (k.unsqueeze(-2) @ S).squeeze(-2)  # k S, what is stored under this key: (…, d_value)
    return S + k.unsqueeze(-1) * (w * v - b * held).unsqueeze(-2)  # kᵀ u, (…, d_key, d_value)


@checked
def step_by_step(
    q: Keys, k: Keys, v: Values, a: Gate = None, b: Gate = None, w: Gate = None, S: Matrix | None = None
) -> tuple[Values, Matrix]:
    """y_t for all t, and the last S. Without a and w: 1; without b: 0, nothing is erased; without S: zeros."""
    S = v.new_zeros(*k.shape[:2], k.shape[3], v.shape[3]) if S is None else S
    gates = [
        [default] * k.shape[2] if g is None else g.unsqueeze(-1).unbind(2)
        for g, default in ((a, 1.0), (b, 0.0), (w, 1.0))
    ]
    outputs = []
    for q_t, k_t, v_t, *now in zip(q.unbind(2), k.unbind(2), v.unbind(2), *gates, strict=True):
        S = update(S, k_t, v_t, *now)
        outputs.append((q_t.unsqueeze(-2) @ S).squeeze(-2))  # y_t = q_t S_t: position t itself is already written
    return torch.stack(outputs, 2), S


@checked
def chunked(
    q: Keys, k: Keys, v: Values, a: Gate = None, b: Gate = None, w: Gate = None, S: Matrix | None = None,
    chunk: Size = 32,
) -> tuple[Values, Matrix]:  # fmt: skip
    """What `step_by_step` gives, `chunk` positions at a time. a below 10⁻⁶ counts as 10⁻⁶."""
    S = v.new_zeros(*k.shape[:2], k.shape[3], v.shape[3]) if S is None else S
    v = v if w is None else v * w.unsqueeze(-1)
    log_a = v.new_zeros(1, 1, k.shape[2]) if a is None else a.clamp(min=1e-6).log()
    pieces = [x.split(chunk, 2) for x in (q, k, v, log_a, log_a if b is None else b.unsqueeze(-1))]
    outputs = []
    for q_c, k_c, u, log, b_c in zip(*pieces, strict=True):  # (batch, head, i, …) each
        fall = log.cumsum(-1)
        seen = torch.ones(u.shape[2], u.shape[2], dtype=torch.bool, device=v.device).tril()
        D = (fall.unsqueeze(-1) - fall.unsqueeze(-2)).masked_fill(~seen, -torch.inf).exp()  # (batch, head, i, j)
        D_0 = fall.exp().unsqueeze(-1)  # from the matrix before the chunk to i: (batch, head, i, 1)
        if b is not None:
            lower = (b_c * (k_c @ k_c.mT) * D).tril(-1)  # what u_i corrects of each earlier u_j
            u = torch.linalg.solve_triangular(lower, u - b_c * D_0 * (k_c @ S), upper=False, unitriangular=True)
        outputs.append(D_0 * (q_c @ S) + ((q_c @ k_c.mT) * D) @ u)
        S = D_0[:, :, -1:] * S + (k_c * D[:, :, -1].unsqueeze(-1)).mT @ u  # D of the last row: from j to the end
    return torch.cat(outputs, 2), S


class MatrixMemory(nn.Module):
    """In the place of causal self-attention: `y, state = memory(x, state)`; the state is S, however long the text.

    d_key: of each head; d_value is d_model / n_heads. Whatever the weights' dtype, S has at least float32.
    """

    @checked
    def __init__(self, d_model: Size, n_heads: Size, d_key: Size, rule: Rule) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got {d_model} and {n_heads}")
        self.d_model, self.n_heads, self.rule = d_model, n_heads, rule
        self.d_key, self.d_value = d_key, d_model // n_heads
        self.projection = Linear(d_model, n_heads * (2 * d_key + self.d_value), bias=False)  # W^Q, W^K, W^V
        self.output = Linear(d_model, d_model)
        self.norm = nn.RMSNorm(self.d_value)
        if rule in ("selective", "gated delta"):
            self.step = nn.Linear(d_model, n_heads)  # W^Δ
            self.log_rate = nn.Parameter(torch.full((n_heads,), -4.0))  # ln A; at Δ = ln 2 S halves in 55 steps
        if rule in ("gated writes", "delta", "gated delta"):
            self.strength = nn.Linear(d_model, n_heads)  # W^b

    def forward(
        self, x: Float[Tensor, "batch time d_model"], state: Matrix | None = None
    ) -> tuple[Float[Tensor, "batch time d_model"], Matrix]:
        """Continue from `state` (None: nothing is written). Raises TypeError or ValueError for another model's."""
        check_text("x", x, self.d_model)
        q, k, v = self.vectors(x)
        if state is not None:
            shape = (len(x), self.n_heads, self.d_key, self.d_value)
            (state,) = check_state(state, [shape], v.dtype, axes="(batch, head, d_key, d_value)")
        y, S = (step_by_step if x.shape[1] == 1 else chunked)(q, k, v, *self.gates(x), state)
        return self.output(self.norm(y.to(x.dtype)).transpose(1, 2).flatten(2)), S

    def vectors(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v, (batch, head, time, d_key or d_value); q and k have length 1."""
        split = self.projection(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        q, k, v = self._exact(split).split([self.d_key, self.d_key, self.d_value], -1)
        return F.normalize(q, dim=-1), F.normalize(k, dim=-1), v

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """a, b and w of the rule, (batch, head, time) or None."""
        a = b = w = None
        if self.rule == "retention":
            fall = 1 - 2.0 ** (-5 - torch.arange(self.n_heads, device=x.device))
            a = self._exact(fall)[:, None].expand(len(x), -1, x.shape[1])
        if self.rule in ("selective", "gated delta"):
            step = F.softplus(self._exact(self.step(x))).mT
            a, w = (-step * self._exact(self.log_rate).exp()[:, None]).exp(), step
        if self.rule in ("gated writes", "delta", "gated delta"):
            w = self._exact(self.strength(x)).sigmoid().mT
        if self.rule in ("delta", "gated delta"):
            b = w
        return a, b, w

    def _exact(self, x: Tensor) -> Tensor:
        return x.to(torch.promote_types(self.projection.weight.dtype, torch.float32))


def build_matrix_memory(c: Any, causal: bool, rule: Rule = "delta", d_key: Size = 16) -> nn.Module:
    """The part `attention` of a language model's TransformerConfig. Raises ValueError where it would not be causal."""
    if not causal:
        raise ValueError("a matrix memory reads from left to right: it belongs in a language model or a decoder")
    return MatrixMemory(c.d_model, c.n_heads, d_key, rule)
