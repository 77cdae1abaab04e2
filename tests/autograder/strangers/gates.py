"""Gates, solved by people who had read the notebook and not the checks: right in odd ways, and wrong."""

import math

import numpy as np
import torch

sigmoid = torch.sigmoid

# ---------------------------------------------------------------------------------------------- right, in odd ways


def _np(*tensors):
    return [np.asarray(t, dtype=float) for t in tensors]


def _squash(z):
    """σ by tanh, which never overflows."""
    return (1 + np.tanh(z / 2)) / 2


def leaky_by_differences(news, gates, h0):
    """h + (1 - g)(r - h), in lists of Python numbers."""
    state, share, states, left = h0.tolist(), [1.0] * len(h0), [], []
    for r, g in zip(news.tolist(), gates.tolist(), strict=True):
        state = [s + (1 - k) * (n - s) for s, n, k in zip(state, r, g, strict=True)]
        share = [a * k for a, k in zip(share, g, strict=True)]
        states.append(state)
        left.append(share)
    return states, left


def leaky_by_sums(news, gates, h0):
    """No state is kept: each h_t is h0 and all the news, each times its own product of gates."""
    news, gates, h0 = _np(news, gates, h0)
    left = np.cumprod(gates, axis=0)
    states = [
        left[t] * h0 + sum((1 - gates[s]) * news[s] * gates[s + 1 : t + 1].prod(0) for s in range(t + 1))
        for t in range(len(news))
    ]
    return np.array(states), left


def leaky_by_logarithms(news, gates, h0):
    """Sums of logarithms, minus infinity and all; the states from a generator."""

    def states(h):
        for r, g in zip(news.double(), gates.double(), strict=True):
            yield (h := torch.lerp(r, h, g))

    return list(map(torch.Tensor.tolist, states(h0.double()))), gates.log().cumsum(0).exp()


class Ugrnn:
    def __call__(self, x, h, W_R, U_R, b_R, W_G, U_G, b_G):
        x, h, W_R, U_R, b_R, W_G, U_G, b_G = _np(x, h, W_R, U_R, b_R, W_G, U_G, b_G)
        G, R = _squash(x @ W_G + h @ U_G + b_G), np.tanh(x @ W_R + h @ U_R + b_R)
        return R + G * (h - R), G, R


def ugrnn_lerp(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    """Both sums in one product of wide matrices."""
    wide = torch.cat([x, h], 1) @ torch.cat([torch.cat([W_R, W_G], 1), torch.cat([U_R, U_G], 1)]) + torch.cat(
        [b_R, b_G]
    )
    R, G = wide[:, : len(b_R)].tanh(), wide[:, len(b_R) :].sigmoid()
    return [torch.lerp(R, h, G), G, R]


def gru_in_blocks(x, h, W, U, b, d):
    """All three blocks by einsum; the past of the candidate by itself."""
    fresh = torch.einsum("ni,kij->knj", x, W) + b.unsqueeze(1)
    past = torch.einsum("ni,kij->knj", h, U)
    r, z = sigmoid(fresh[:2] + past[:2])
    n = torch.tanh(fresh[2] + r * (past[2] + d))
    return torch.add(n, z * (h - n)), r, z, n


def gru_in_numpy(x, h, W, U, b, d):
    x, h, W, U, b, d = _np(x, h, W, U, b, d)
    r, z = (_squash(x @ W[i] + h @ U[i] + b[i]) for i in range(2))
    n = np.tanh(r * (h @ U[2]) + r * d + x @ W[2] + b[2])
    return [h * z + n - n * z, r, z, n]


def lstm_by_rows(x, h, c, W, U, b):
    """Text by text, block by block, with a list of functions."""
    squashes = (torch.sigmoid, torch.sigmoid, torch.tanh, torch.sigmoid)
    x, h, c, W, U, b = (a.double() for a in (x, h, c, W, U, b))
    gates = torch.stack(
        [
            torch.stack([squash(row @ W[k] + old @ U[k] + b[k]) for row, old in zip(x, h, strict=True)])
            for k, squash in enumerate(squashes)
        ]
    )
    new = gates[1] * c + gates[0] * gates[2]
    return gates[3] * new.tanh(), new, gates


def lstm_tanh_as_sigmoid(x, h, c, W, U, b):
    """tanh(z) = 2σ(2z) - 1, so that one σ serves all four."""
    sums = x @ W + h @ U + b[:, None]
    twice = torch.ones_like(sums)
    twice[2] = 2
    gates = sigmoid(sums * twice) * twice - (twice - 1)
    new = torch.addcmul(gates[1] * c, gates[0], gates[2])
    return torch.tanh(new) * gates[3], new, gates


def backward_in_numpy(gates, c_before, d_h, d_c):
    i, f, g, o = np.asarray(gates, dtype=float)
    c_before, d_h, d_c = _np(c_before, d_h, d_c)
    c = f * c_before + i * g
    d_new = d_c + d_h * o / np.cosh(np.clip(c, -300, 300)) ** 2
    d_o = d_h * np.tanh(c) * (o - o * o)
    return [d_new * g * (i - i * i), d_new * c_before * (f - f * f), d_new * i * (1 - g) * (1 + g), d_o, d_new * f]


def backward_stacked(gates, c_before, d_h, d_c):
    """All slopes at once, all arrivals at once."""
    shown = (gates[1] * c_before + gates[0] * gates[2]).tanh()
    d_new = d_c + d_h * gates[3] * (1 - shown**2)
    slopes = gates * (1 - gates)
    slopes[2] = 1 - gates[2] ** 2
    arrives = torch.stack([d_new * gates[2], d_new * c_before, d_new * gates[0], d_h * shown])
    return (*(arrives * slopes), d_new * gates[1])


def norms_by_svd(hs, U):
    """Every distance from the start, with diag and NumPy's singular values."""
    hs, U = _np(hs, U)
    norms = []
    for d in range(len(hs)):
        product = np.eye(len(U))
        for j in range(len(hs) - d, len(hs)):
            product = np.diag(1 - hs[j] ** 2) @ U.T @ product
        norms.append(np.linalg.svd(product)[1].max())
    return norms


def norms_of_the_transpose(hs, U):
    """The product transposed, from the left: U · diag, and a matrix and its transpose have one norm."""
    product, norms = torch.eye(len(U), dtype=torch.float64), [1.0]
    for h in hs.double().flip(0)[:-1]:
        product = (U.double() * (1 - h**2)) @ product
        norms.append(math.sqrt(max(0.0, float(torch.linalg.eigvalsh(product.T @ product)[-1]))))
    return torch.tensor(norms)


RIGHT = [
    ("leaky", leaky_by_differences),
    ("leaky", leaky_by_sums),
    ("leaky", leaky_by_logarithms),
    ("ugrnn_step", Ugrnn()),
    ("ugrnn_step", ugrnn_lerp),
    ("gru_step", gru_in_blocks),
    ("gru_step", gru_in_numpy),
    ("lstm_step", lstm_by_rows),
    ("lstm_step", lstm_tanh_as_sigmoid),
    ("lstm_backward", backward_in_numpy),
    ("lstm_backward", backward_stacked),
    ("jacobian_norms", norms_by_svd),
    ("jacobian_norms", norms_of_the_transpose),
]

# ---------------------------------------------------------------------------------------------- wrong


def _mix(news, gates, h0, step):
    h, states = h0, []
    for r, g in zip(news, gates, strict=True):
        h = step(h, r, g)
        states.append(h)
    return torch.stack(states)


def leaky_exchanged(news, gates, h0):
    return _mix(news, gates, h0, lambda h, r, g: (1 - g) * h + g * r), (1 - gates).cumprod(0)


def leaky_always_from_h0(news, gates, h0):
    """The state is not carried on: right for a single step."""
    return gates * h0 + (1 - gates) * news, gates.cumprod(0)


def leaky_no_leak(news, gates, h0):
    """New values added in full."""
    return _mix(news, gates, h0, lambda h, r, g: g * h + r), gates.cumprod(0)


def leaky_left_of_value(news, gates, h0):
    """What is left times h0: the amount, not the share."""
    return _mix(news, gates, h0, lambda h, r, g: g * h + (1 - g) * r), gates.cumprod(0) * h0


def leaky_left_over_units(news, gates, h0):
    """cumprod along the units."""
    return _mix(news, gates, h0, lambda h, r, g: g * h + (1 - g) * r), gates.cumprod(-1)


def leaky_left_one_late(news, gates, h0):
    """What was left before each step: begins with 1."""
    left = torch.cat([torch.ones_like(gates[:1]), gates.cumprod(0)[:-1]])
    return _mix(news, gates, h0, lambda h, r, g: g * h + (1 - g) * r), left


def leaky_left_by_logs(news, gates, h0):
    """A sum of logarithms, with a small number against ln 0, which shows where gates are 0."""
    left = torch.exp(torch.cumsum(torch.log(gates.clamp(min=1e-3)), 0))
    return _mix(news, gates, h0, lambda h, r, g: g * h + (1 - g) * r), left


def leaky_one_state_many_times(news, gates, h0):
    """Written in place: the list holds the last state over and over."""
    h, states = h0.clone(), []
    for r, g in zip(news, gates, strict=True):
        h.mul_(g).add_((1 - g) * r)
        states.append(h)
    return torch.stack(states), gates.cumprod(0)


def ugrnn_minus_bias(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    """As the lecture's slide has it."""
    G, R = sigmoid(x @ W_G + h @ U_G - b_G), torch.tanh(x @ W_R + h @ U_R - b_R)
    return G * h + (1 - G) * R, G, R


def ugrnn_gate_keeps_the_new(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    G, R = sigmoid(x @ W_G + h @ U_G + b_G), torch.tanh(x @ W_R + h @ U_R + b_R)
    return G * R + (1 - G) * h, G, R


def ugrnn_order_of_the_answer(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    """(new, R, G)."""
    G, R = sigmoid(x @ W_G + h @ U_G + b_G), torch.tanh(x @ W_R + h @ U_R + b_R)
    return G * h + (1 - G) * R, R, G


def ugrnn_candidate_squashed_by_sigma(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    G, R = sigmoid(x @ W_G + h @ U_G + b_G), sigmoid(x @ W_R + h @ U_R + b_R)
    return G * h + (1 - G) * R, G, R


def ugrnn_gate_blind_to_the_state(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    G, R = sigmoid(x @ W_G + b_G), torch.tanh(x @ W_R + h @ U_R + b_R)
    return G * h + (1 - G) * R, G, R


def ugrnn_columns(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    """U on the left of the state, as with column vectors."""
    G, R = sigmoid(x @ W_G + h @ U_G.T + b_G), torch.tanh(x @ W_R + h @ U_R.T + b_R)
    return G * h + (1 - G) * R, G, R


def _gru(x, h, W, U, b, d, order=(0, 1, 2), candidate=None, mix=None):
    r, z = (sigmoid(x @ W[k] + h @ U[k] + b[k]) for k in order[:2])
    k = order[2]
    n = torch.tanh(x @ W[k] + b[k] + r * (h @ U[k] + d)) if candidate is None else candidate(r, z)
    return (z * h + (1 - z) * n if mix is None else mix(z, n)), r, z, n


def gru_reset_before(x, h, W, U, b, d):
    return _gru(x, h, W, U, b, d, candidate=lambda r, z: torch.tanh(x @ W[2] + b[2] + (r * h) @ U[2] + d))


def gru_d_outside(x, h, W, U, b, d):
    return _gru(x, h, W, U, b, d, candidate=lambda r, z: torch.tanh(x @ W[2] + b[2] + r * (h @ U[2]) + d))


def gru_b_inside(x, h, W, U, b, d):
    """Both biases under the reset."""
    return _gru(x, h, W, U, b, d, candidate=lambda r, z: torch.tanh(x @ W[2] + r * (h @ U[2] + d + b[2])))


def gru_resets_everything(x, h, W, U, b, d):
    """The reset on the input as well."""
    return _gru(x, h, W, U, b, d, candidate=lambda r, z: torch.tanh(b[2] + r * (x @ W[2] + h @ U[2] + d)))


def gru_without_d(x, h, W, U, b, d):
    return _gru(x, h, W, U, b, torch.zeros_like(d))


def gru_z_first(x, h, W, U, b, d):
    """Blocks in the order z, r, n, as Keras has them."""
    return _gru(x, h, W, U, b, d, order=(1, 0, 2))


def gru_keeps_the_new(x, h, W, U, b, d):
    """The original paper's mixture, h' = (1 - z) h + z n."""
    return _gru(x, h, W, U, b, d, mix=lambda z, n: (1 - z) * h + z * n)


def gru_resets_by_z(x, h, W, U, b, d):
    return _gru(x, h, W, U, b, d, candidate=lambda r, z: torch.tanh(x @ W[2] + b[2] + z * (h @ U[2] + d)))


def gru_mixes_the_reset_state(x, h, W, U, b, d):
    _, r, z, n = _gru(x, h, W, U, b, d)
    return z * (r * h) + (1 - z) * n, r, z, n


def _lstm(x, h, c, W, U, b, order=(0, 1, 2, 3), squash=torch.tanh, show=torch.tanh, reads=None):
    reads = h if reads is None else reads
    sums = x @ W + reads @ U + b[:, None]
    i, f, g, o = (sums[k] for k in order)
    i, f, g, o = sigmoid(i), sigmoid(f), squash(g), sigmoid(o)
    new = f * c + i * g
    return o * show(new), new, torch.stack([i, f, g, o])


def lstm_order_ifog(x, h, c, W, U, b):
    """Blocks i, f, o, g; the answer still i, f, g, o."""
    return _lstm(x, h, c, W, U, b, order=(0, 1, 3, 2))


def lstm_order_ifog_answer(x, h, c, W, U, b):
    """The right gates, stacked as i, f, o, g."""
    shown, new, gates = _lstm(x, h, c, W, U, b)
    return shown, new, gates[[0, 1, 3, 2]]


def lstm_order_figo(x, h, c, W, U, b):
    """Blocks f, i, g, o."""
    return _lstm(x, h, c, W, U, b, order=(1, 0, 2, 3))


def lstm_order_fiog(x, h, c, W, U, b):
    """Blocks in the order in which many papers tell them: f, i, o, g."""
    return _lstm(x, h, c, W, U, b, order=(1, 0, 3, 2))


def lstm_order_igfo(x, h, c, W, U, b):
    """TensorFlow's old order i, g, f, o."""
    return _lstm(x, h, c, W, U, b, order=(0, 2, 1, 3))


def lstm_shows_all(x, h, c, W, U, b):
    """No tanh around the memory."""
    return _lstm(x, h, c, W, U, b, show=lambda new: new)


def lstm_writes_sigma(x, h, c, W, U, b):
    return _lstm(x, h, c, W, U, b, squash=torch.sigmoid)


def lstm_reads_the_memory(x, h, c, W, U, b):
    return _lstm(x, h, c, W, U, b, reads=c)


def lstm_shows_the_old(x, h, c, W, U, b):
    _, new, gates = _lstm(x, h, c, W, U, b)
    return gates[3] * torch.tanh(c), new, gates


def lstm_coupled(x, h, c, W, U, b):
    """f for 1 - i: one gate for both."""
    _, _, gates = _lstm(x, h, c, W, U, b)
    new = (1 - gates[0]) * c + gates[0] * gates[2]
    return gates[3] * torch.tanh(new), new, gates


def lstm_returns_memory_first(x, h, c, W, U, b):
    shown, new, gates = _lstm(x, h, c, W, U, b)
    return new, shown, gates


def lstm_sums_for_gates(x, h, c, W, U, b):
    """The sums before the squashing are handed out."""
    shown, new, _ = _lstm(x, h, c, W, U, b)
    return shown, new, x @ W + h @ U + b[:, None]


def _new(gates, c_before):
    return gates[1] * c_before + gates[0] * gates[2]


def _back(gates, c_before, d_h, d_c, shown=None, d_new=None):
    i, f, g, o = gates
    s = torch.tanh(_new(gates, c_before)) if shown is None else shown
    d = d_c + d_h * o * (1 - s**2) if d_new is None else d_new(o, s)
    return d * g * i * (1 - i), d * c_before * f * (1 - f), d * i * (1 - g**2), d_h * s * o * (1 - o), d * f


def backward_memory_not_squashed(gates, c_before, d_h, d_c):
    """1 - c² for 1 - tanh² c."""
    return _back(gates, c_before, d_h, d_c, shown=_new(gates, c_before))


def backward_handed_on_only(gates, c_before, d_h, d_c):
    return _back(gates, c_before, d_h, d_c, d_new=lambda o, s: d_c)


def backward_shown_only(gates, c_before, d_h, d_c):
    return _back(gates, c_before, d_h, d_c, d_new=lambda o, s: d_h * o * (1 - s**2))


def backward_without_output_gate(gates, c_before, d_h, d_c):
    return _back(gates, c_before, d_h, d_c, d_new=lambda o, s: d_c + d_h * (1 - s**2))


def backward_forget_by_new_memory(gates, c_before, d_h, d_c):
    """c where the memory before the step stands."""
    d_i, d_f, d_g, d_o, back = _back(gates, c_before, d_h, d_c)
    return d_i, d_f / c_before * _new(gates, c_before), d_g, d_o, back


def backward_shows_the_old(gates, c_before, d_h, d_c):
    """The memory before the step where the new one stands, which is not among the arguments."""
    return _back(gates, c_before, d_h, d_c, shown=torch.tanh(c_before))


def backward_no_slopes(gates, c_before, d_h, d_c):
    """To the gates, not to the sums before the squashing."""
    i, f, g, o = gates
    s = torch.tanh(_new(gates, c_before))
    d = d_c + d_h * o * (1 - s**2)
    return d * g, d * c_before, d * i, d_h * s, d * f


def backward_sigmoid_slope_for_g(gates, c_before, d_h, d_c):
    d_i, d_f, d_g, d_o, back = _back(gates, c_before, d_h, d_c)
    g = gates[2]
    return d_i, d_f, d_g / (1 - g**2) * g * (1 - g), d_o, back


def backward_output_without_tanh(gates, c_before, d_h, d_c):
    d_i, d_f, d_g, _, back = _back(gates, c_before, d_h, d_c)
    return d_i, d_f, d_g, d_h * _new(gates, c_before) * gates[3] * (1 - gates[3]), back


def backward_output_from_memory(gates, c_before, d_h, d_c):
    """The output gate, too, gets what arrives at the memory."""
    d_i, d_f, d_g, _, back = _back(gates, c_before, d_h, d_c)
    o, s = gates[3], torch.tanh(_new(gates, c_before))
    return d_i, d_f, d_g, (d_c + d_h * o * (1 - s**2)) * s * o * (1 - o), back


def backward_handed_on_through_the_slope(gates, c_before, d_h, d_c):
    """Both roads through the tanh."""
    return _back(gates, c_before, d_h, d_c, d_new=lambda o, s: (d_c + d_h * o) * (1 - s**2))


def backward_forgets_to_forget(gates, c_before, d_h, d_c):
    """The old memory gets all."""
    *rest, back = _back(gates, c_before, d_h, d_c)
    return (*rest, back / gates[1])


def _norms(hs, jacobian, step):
    product, norms = torch.eye(hs.shape[1], dtype=hs.dtype), [1.0]
    for h in hs.flip(0)[:-1]:
        product = step(product, jacobian(h))
        norms.append(float(torch.linalg.matrix_norm(product, ord=2)))
    return norms


def _right(product, J):
    return product @ J


def norms_multiplied(hs, U):
    """The product of the norms for the norm of the product."""
    product, norms = 1.0, [1.0]
    for h in hs.flip(0)[:-1]:
        product *= float(torch.linalg.matrix_norm((1 - h**2)[:, None] * U.T, ord=2))
        norms.append(product)
    return norms


def norms_frobenius(hs, U):
    """matrix_norm's default, divided so that the identity has 1."""
    product, norms = torch.eye(len(U), dtype=U.dtype), [1.0]
    for h in hs.flip(0)[:-1]:
        product = product @ ((1 - h**2)[:, None] * U.T)
        norms.append(float(torch.linalg.matrix_norm(product)) / math.sqrt(len(U)))
    return norms


def norms_from_the_left(hs, U):
    return _norms(hs, lambda h: (1 - h**2)[:, None] * U.T, lambda product, J: J @ product)


def norms_slopes_on_columns(hs, U):
    """Broadcast along the rows: right without [:, None] where nothing complains."""
    return _norms(hs, lambda h: (1 - h**2) * U.T, _right)


def norms_u_not_transposed(hs, U):
    return _norms(hs, lambda h: (1 - h**2)[:, None] * U, _right)


def norms_from_the_first(hs, U):
    """The states in the order of reading."""
    return _norms(hs.flip(0), lambda h: (1 - h**2)[:, None] * U.T, _right)


def norms_one_too_early(hs, U):
    """The Jacobian of the state before: J of h_{T-d}, not of h_{T-d+1}."""
    product, norms = torch.eye(len(U), dtype=U.dtype), [1.0]
    for h in hs[:-1].flip(0):
        product = product @ ((1 - h**2)[:, None] * U.T)
        norms.append(float(torch.linalg.matrix_norm(product, ord=2)))
    return norms


def norms_without_slopes(hs, U):
    return _norms(hs, lambda h: U.T, _right)


def norms_no_identity(hs, U):
    """Begins with J_T: one too far everywhere."""
    product, norms = torch.eye(len(U), dtype=U.dtype), []
    for h in hs.flip(0):
        product = product @ ((1 - h**2)[:, None] * U.T)
        norms.append(float(torch.linalg.matrix_norm(product, ord=2)))
    return norms


def norms_spectral_radius(hs, U):
    """The largest eigenvalue for the largest singular value."""
    product, norms = torch.eye(len(U), dtype=U.dtype), [1.0]
    for h in hs.flip(0)[:-1]:
        product = product @ ((1 - h**2)[:, None] * U.T)
        norms.append(float(torch.linalg.eigvals(product).abs().max()))
    return norms


WRONG = [
    ("leaky", leaky_exchanged, "gate-the-other-way-round"),
    ("leaky", leaky_always_from_h0, "state-not-carried"),
    ("leaky", leaky_no_leak, "written-in-full"),
    ("leaky", leaky_left_of_value, "left-times-the-start"),
    ("leaky", leaky_left_over_units, "over-the-units"),
    ("leaky", leaky_left_one_late, "left-before-the-step"),
    ("leaky", leaky_left_by_logs, None),
    ("leaky", leaky_one_state_many_times, "one-tensor-for-all-times"),
    ("ugrnn_step", ugrnn_minus_bias, "bias-subtracted"),
    ("ugrnn_step", ugrnn_gate_keeps_the_new, "gate-the-other-way-round"),
    ("ugrnn_step", ugrnn_order_of_the_answer, "gate-and-candidate-exchanged"),
    ("ugrnn_step", ugrnn_candidate_squashed_by_sigma, "sigmoid-candidate"),
    ("ugrnn_step", ugrnn_gate_blind_to_the_state, "gate-without-the-past"),
    ("ugrnn_step", ugrnn_columns, "u-transposed"),
    ("gru_step", gru_reset_before, "reset-before-the-product"),
    ("gru_step", gru_d_outside, "bias-outside-the-reset"),
    ("gru_step", gru_b_inside, "both-biases-inside"),
    ("gru_step", gru_resets_everything, "input-reset-too"),
    ("gru_step", gru_without_d, "d-forgotten"),
    ("gru_step", gru_z_first, "blocks-in-another-order"),
    ("gru_step", gru_keeps_the_new, "z-the-other-way-round"),
    ("gru_step", gru_resets_by_z, "reset-by-z"),
    ("gru_step", gru_mixes_the_reset_state, "road-reset"),
    ("lstm_step", lstm_order_ifog, "candidate-last"),
    ("lstm_step", lstm_order_ifog_answer, "gates-stacked-in-another-order"),
    ("lstm_step", lstm_order_figo, "forget-gate-first"),
    ("lstm_step", lstm_order_fiog, "forget-gate-first"),
    ("lstm_step", lstm_order_igfo, "blocks-in-another-order"),
    ("lstm_step", lstm_shows_all, "no-last-tanh"),
    ("lstm_step", lstm_writes_sigma, "sigmoid-candidate"),
    ("lstm_step", lstm_reads_the_memory, "memory-in-the-gates"),
    ("lstm_step", lstm_shows_the_old, "old-memory-shown"),
    ("lstm_step", lstm_coupled, "input-gate-coupled"),
    ("lstm_step", lstm_returns_memory_first, "h-and-c-exchanged"),
    ("lstm_step", lstm_sums_for_gates, "sums-for-gates"),
    ("lstm_backward", backward_memory_not_squashed, "slope-of-the-memory"),
    ("lstm_backward", backward_handed_on_only, "shown-road-forgotten"),
    ("lstm_backward", backward_shown_only, "memory-road-forgotten"),
    ("lstm_backward", backward_without_output_gate, "output-gate-forgotten"),
    ("lstm_backward", backward_forget_by_new_memory, "new-memory-for-the-old"),
    ("lstm_backward", backward_shows_the_old, "old-memory-for-the-new"),
    ("lstm_backward", backward_no_slopes, "slopes-of-the-gates"),
    ("lstm_backward", backward_sigmoid_slope_for_g, "sigmoid-slope-for-the-candidate"),
    ("lstm_backward", backward_output_without_tanh, "tanh-forgotten-at-the-output"),
    ("lstm_backward", backward_output_from_memory, "output-gate-from-the-memory"),
    ("lstm_backward", backward_handed_on_through_the_slope, "memory-road-through-the-tanh"),
    ("lstm_backward", backward_forgets_to_forget, "back-without-a-gate"),
    ("jacobian_norms", norms_multiplied, "norms-multiplied"),
    ("jacobian_norms", norms_frobenius, None),
    ("jacobian_norms", norms_from_the_left, "factors-in-the-other-order"),
    ("jacobian_norms", norms_slopes_on_columns, "slopes-on-the-columns"),
    ("jacobian_norms", norms_u_not_transposed, "u-not-transposed"),
    ("jacobian_norms", norms_from_the_first, "from-the-first-state"),
    ("jacobian_norms", norms_one_too_early, "slopes-of-the-state-before"),
    ("jacobian_norms", norms_without_slopes, "no-slopes"),
    ("jacobian_norms", norms_no_identity, "one-factor-too-many"),
    ("jacobian_norms", norms_spectral_radius, "eigenvalues"),
]
