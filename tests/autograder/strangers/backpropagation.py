"""Backpropagation, solved by people who had read the notebook and not the checks: right in odd ways, and wrong."""

import math
from dataclasses import dataclass

import numpy as np
import torch

# ---------------------------------------------------------------------------------------------- right, in odd ways


@dataclass
class Neuron:
    """An object that keeps its slope between two methods."""

    slope: float = 0.0

    def forward(self, w, x, b):
        value = 0.5 * (1 + math.tanh((sum(p * q for p, q in zip(w.tolist(), x.tolist(), strict=True)) + float(b)) / 2))
        self.slope = value - value**2
        return value

    def __call__(self, w, x, b):
        value = self.forward(w, x, b)
        return value, [self.slope * q for q in x.tolist()], [self.slope * p for p in w.tolist()], self.slope


def neuron_by_differences(w, x, b):
    """No formula of a slope at all: central differences in float64."""

    def value(w, x, b):
        return 1 / (1 + np.exp(-(w @ x + b)))

    w, x, b, e = w.numpy().astype(float), x.numpy().astype(float), float(b), 1e-6
    steps = e * np.eye(len(w))
    d_w = [(value(w + s, x, b) - value(w - s, x, b)) / (2 * e) for s in steps]
    d_x = [(value(w, x + s, b) - value(w, x - s, b)) / (2 * e) for s in steps]
    return value(w, x, b), np.array(d_w), np.array(d_x), (value(w, x, b + e) - value(w, x, b - e)) / (2 * e)


def loss_with_logsumexp(logits, targets):
    log_p = logits - logits.logsumexp(dim=1, keepdim=True)
    hot = torch.nn.functional.one_hot(targets, logits.shape[1])
    return -(log_p * hot).sum() / len(hot), (log_p.exp() - hot) / len(hot)


def loss_row_by_row(logits, targets):
    """Lists of Python numbers; e^difference never overflows because the target is not the base."""
    loss, rows = 0.0, []
    for row, t in zip(logits.tolist(), targets.tolist(), strict=True):
        top = max(row)
        total = sum(e := [math.exp(z - top) for z in row])
        loss += math.log(total) + top - row[t]
        rows.append([(e[c] / total - (c == t)) / len(logits) for c in range(len(row))])
    return loss / len(logits), rows


def linear_by_einsum(x, W, d_z):
    return np.einsum("no,io->ni", d_z, W), np.einsum("ni,no->io", x, d_z), np.einsum("no->o", d_z)


def linear_with_a_column_of_ones(x, W, d_z):
    """The bias is one more row of W, whose input is always 1."""
    longer = torch.cat([x, torch.ones_like(x[:, :1])], dim=1).double()
    d_W = longer.T @ d_z.double()
    return (W.double() @ d_z.double().T).T, d_W[:-1], d_W[-1]


def tanh_on_a_copy(h, d_h):
    d_z = h.clone()
    d_z.mul_(d_z).neg_().add_(1).mul_(d_h)
    return d_z


def tanh_as_two_factors(h, d_h):
    """1 - h² = (1 - h)(1 + h)."""
    return np.asarray(d_h) * (1 - h.numpy()) * (1 + h.numpy())


def tanh_by_way_of_z(h, d_h):
    """Back to z and forward again; at its limit a unit gets d_h / ∞, which is 0."""
    return d_h / torch.cosh(torch.atanh(h)) ** 2


def mlp_example_by_example(x, targets, W1, b1, W2, b2):
    """One example after the other, in NumPy and float64, their gradients averaged at the end."""
    x, W1, b1, W2, b2 = (a.numpy().astype(float) for a in (x, W1, b1, W2, b2))
    sums = [0.0, np.zeros_like(W1), np.zeros_like(b1), np.zeros_like(W2), np.zeros_like(b2)]
    for row, t in zip(x, targets.tolist(), strict=True):
        h = np.tanh(row @ W1 + b1)
        z = h @ W2 + b2
        log_p = z - z.max() - np.log(np.exp(z - z.max()).sum())
        d_z = np.exp(log_p)
        d_z[t] -= 1
        d_sum = (W2 @ d_z) * (1 - h * h)
        for i, part in enumerate((-log_p[t], np.outer(row, d_sum), d_sum, np.outer(h, d_z), d_z)):
            sums[i] = sums[i] + part
    return [part / len(x) for part in sums]


def mlp_as_generator(x, targets, W1, b1, W2, b2):
    def parts():
        h = (x @ W1 + b1).tanh()
        log_p = (h @ W2 + b2).log_softmax(1)
        yield -log_p[range(len(x)), targets].mean()
        d_z = log_p.exp() / len(x)
        d_z[range(len(x)), targets] -= 1 / len(x)
        d_1 = d_z @ W2.T * (1 - h**2)
        yield from (x.T @ d_1, d_1.sum(0), h.T @ d_z, d_z.sum(0))

    return tuple(parts())


def tied_entry_by_entry(x, W, d_y):
    """∂y[n, i]/∂W[a, b], index by index."""
    h, wide, units = torch.tanh(x @ W), W.shape[0], W.shape[1]
    d_h = d_y @ W
    return [
        [
            sum(float(d_y[n, a] * h[n, b] + d_h[n, b] * (1 - h[n, b] ** 2) * x[n, a]) for n in range(len(x)))
            for b in range(units)
        ]
        for a in range(wide)
    ]


def tied_as_one_product(x, W, d_y):
    """Both uses side by side: [d_yᵀ xᵀ] times [h; slope]."""
    h = torch.tanh(x @ W)
    return torch.cat([d_y, x]).T @ torch.cat([h, (d_y @ W) * (1 - h.square())])


RIGHT = [
    ("neuron", Neuron()),
    ("neuron", neuron_by_differences),
    ("softmax_loss", loss_with_logsumexp),
    ("softmax_loss", loss_row_by_row),
    ("linear_backward", linear_by_einsum),
    ("linear_backward", linear_with_a_column_of_ones),
    ("tanh_backward", tanh_on_a_copy),
    ("tanh_backward", tanh_as_two_factors),
    ("tanh_backward", tanh_by_way_of_z),
    ("mlp_gradients", mlp_example_by_example),
    ("mlp_gradients", mlp_as_generator),
    ("tied_gradient", tied_entry_by_entry),
    ("tied_gradient", tied_as_one_product),
]

# ---------------------------------------------------------------------------------------------- wrong


def neuron_slope_at_the_value(w, x, b):
    """σ' taken at f, as if f were z."""
    f = torch.sigmoid(w @ x + b)
    s = torch.sigmoid(f) * (1 - torch.sigmoid(f))
    return f, s * x, s * w, s


def neuron_bias_as_a_factor(w, x, b):
    """The bias treated like a weight: its gradient is the slope times b."""
    f = torch.sigmoid(w @ x + b)
    return f, (1 - f) * f * x, (1 - f) * f * w, (1 - f) * f * b


def neuron_half_a_slope(w, x, b):
    f = torch.sigmoid(w @ x + b)
    return f, (1 - f) * x, (1 - f) * w, 1 - f


def neuron_entry_by_entry(w, x, b):
    """w * x instead of w · x: right for a single input."""
    f = torch.sigmoid(w * x + b)
    s = f * (1 - f)
    return f.mean(), s * x, s * w, s.mean()


def neuron_rounded(w, x, b):
    """Copied from the worked example, two digits and all."""
    f = round(float(torch.sigmoid(w @ x + b)), 2)
    s = round((1 - f) * f, 2)
    return f, s * x, s * w, s


def loss_log_of_softmax(logits, targets):
    """Softmax is shifted, and yet ln 0 comes when the target is far behind."""
    p = torch.softmax(logits, dim=1)
    rows = torch.arange(len(p))
    loss = -torch.log(p[rows, targets]).mean()
    p[rows, targets] -= 1
    return loss, p / len(p)


def loss_with_epsilon(logits, targets):
    """The folk remedy: never ln 0, and never more than 18."""
    p = torch.softmax(logits, dim=1)
    hot = torch.nn.functional.one_hot(targets, logits.shape[1])
    return -torch.log(p[hot.bool()] + 1e-8).mean(), (p - hot) / len(p)


def loss_shifted_by_the_batch(logits, targets):
    """One maximum for all rows: a row far below the others becomes 0 / 0."""
    e = torch.exp(logits - logits.max())
    p = e / e.sum(1, keepdim=True)
    hot = torch.nn.functional.one_hot(targets, logits.shape[1])
    return -torch.log(p[hot.bool()]).mean(), (p - hot) / len(p)


def loss_sum_without_keepdim(logits, targets):
    """The sums of the rows divide the columns: right for one example, an error unless square."""
    e = torch.exp(logits - logits.max(1, keepdim=True).values)
    p = e / e.sum(1)
    hot = torch.nn.functional.one_hot(targets, logits.shape[1])
    return -torch.log(p[hot.bool()]).mean(), (p - hot) / len(p)


def loss_over_the_batch(logits, targets):
    """dim=0."""
    log_p = torch.log_softmax(logits, dim=0)
    hot = torch.nn.functional.one_hot(targets, logits.shape[1])
    return -log_p[hot.bool()].mean(), (log_p.exp() - hot) / len(hot)


def loss_mean_over_all_entries(logits, targets):
    """.mean() of a table that is nearly all zeros divides by batch times classes."""
    log_p = torch.log_softmax(logits, dim=1)
    hot = torch.nn.functional.one_hot(targets, logits.shape[1])
    return -(hot * log_p).mean(), (log_p.exp() - hot) / len(hot)


def loss_whole_rows_less_one(logits, targets):
    """p[targets] picks rows, not entries."""
    log_p = torch.log_softmax(logits, dim=1)
    p = log_p.exp()
    loss = -log_p[range(len(p)), targets].mean()
    p[targets.clamp(max=len(p) - 1)] -= 1
    return loss, p / len(p)


def loss_in_bits(logits, targets):
    log_p = torch.log_softmax(logits, dim=1)
    hot = torch.nn.functional.one_hot(targets, logits.shape[1])
    return -log_p[hot.bool()].mean() / math.log(2), (log_p.exp() - hot) / len(hot)


def linear_bias_over_outputs(x, W, d_z):
    """Summed over the wrong axis: right shape on square batches only."""
    return d_z @ W.T, x.T @ d_z, d_z.sum(1)


def linear_bias_of_everything(x, W, d_z):
    return d_z @ W.T, x.T @ d_z, torch.full_like(d_z[0], float(d_z.sum()))


def linear_reshaped(x, W, d_z):
    """reshape where a transposition is meant: the shapes fit, the numbers are elsewhere."""
    return d_z @ W.reshape(W.shape[1], W.shape[0]), x.reshape(x.shape[1], x.shape[0]) @ d_z, d_z.sum(0)


def linear_first_example(x, W, d_z):
    """An outer product, of the first example only."""
    return d_z @ W.T, torch.outer(x[0], d_z[0]), d_z.sum(0)


def linear_bias_per_example(x, W, d_z):
    """The bias's gradient not summed at all."""
    return d_z @ W.T, x.T @ d_z, d_z


def tanh_not_squared(h, d_h):
    return d_h * (1 - h)


def tanh_once_more(h, d_h):
    return d_h * (1 - torch.tanh(h) ** 2)


def tanh_exchanged(h, d_h):
    return h * (1 - d_h**2)


def tanh_in_place(h, d_h):
    """Right numbers, written over what the caller still needs."""
    return d_h.mul_(1 - h**2)


def _forward(x, targets, W1, b1, W2, b2):
    h = torch.tanh(x @ W1 + b1)
    log_p = torch.log_softmax(h @ W2 + b2, dim=1)
    loss = -log_p[range(len(x)), targets].mean()
    d_z = log_p.exp()
    d_z[range(len(x)), targets] -= 1
    return h, loss, d_z


def mlp_gradient_of_the_sum(x, targets, W1, b1, W2, b2):
    """The loss is a mean, the gradients are those of the sum."""
    h, loss, d_z = _forward(x, targets, W1, b1, W2, b2)
    d_1 = d_z @ W2.T * (1 - h**2)
    return loss, x.T @ d_1, d_1.sum(0), h.T @ d_z, d_z.sum(0)


def mlp_divided_twice(x, targets, W1, b1, W2, b2):
    """The mean once in d_z, and once more in the biases."""
    h, loss, d_z = _forward(x, targets, W1, b1, W2, b2)
    d_z = d_z / len(x)
    d_1 = d_z @ W2.T * (1 - h**2)
    return loss, x.T @ d_1, d_1.mean(0), h.T @ d_z, d_z.mean(0)


def mlp_slope_of_the_product(x, targets, W1, b1, W2, b2):
    """The slope taken of d_h, not at h."""
    h, loss, d_z = _forward(x, targets, W1, b1, W2, b2)
    d_z = d_z / len(x)
    d_1 = 1 - (d_z @ W2.T) ** 2
    return loss, x.T @ d_1, d_1.sum(0), h.T @ d_z, d_z.sum(0)


def mlp_after_a_step(x, targets, W1, b1, W2, b2):
    """The upper layer takes its step before the lower layer has looked through it."""
    h, loss, d_z = _forward(x, targets, W1, b1, W2, b2)
    d_z = d_z / len(x)
    d_W2 = h.T @ d_z
    d_1 = d_z @ (W2 - 0.1 * d_W2).T * (1 - h**2)
    return loss, x.T @ d_1, d_1.sum(0), d_W2, d_z.sum(0)


def mlp_weights_before_biases(x, targets, W1, b1, W2, b2):
    """All there, in another order."""
    h, loss, d_z = _forward(x, targets, W1, b1, W2, b2)
    d_z = d_z / len(x)
    d_1 = d_z @ W2.T * (1 - h**2)
    return loss, x.T @ d_1, h.T @ d_z, d_1.sum(0), d_z.sum(0)


def mlp_without_lower_bias(x, targets, W1, b1, W2, b2):
    """b1 forgotten on the way forward."""
    h, loss, d_z = _forward(x, targets, W1, torch.zeros_like(b1), W2, b2)
    d_z = d_z / len(x)
    d_1 = d_z @ W2.T * (1 - h**2)
    return loss, x.T @ d_1, d_1.sum(0), h.T @ d_z, d_z.sum(0)


def tied_averaged(x, W, d_y):
    """Used twice, so half of each."""
    h = torch.tanh(x @ W)
    return (d_y.T @ h + x.T @ ((d_y @ W) * (1 - h**2))) / 2


def tied_upper_twice(x, W, d_y):
    h = torch.tanh(x @ W)
    return 2 * d_y.T @ h


def tied_without_tanh_above(x, W, d_y):
    """The upper use multiplied with what stands before the tanh."""
    h = torch.tanh(x @ W)
    return d_y.T @ (x @ W) + x.T @ ((d_y @ W) * (1 - h**2))


def tied_upper_through_the_slope(x, W, d_y):
    """The slope on both roads."""
    h = torch.tanh(x @ W)
    return d_y.T @ (h * (1 - h**2)) + x.T @ ((d_y @ W) * (1 - h**2))


def tied_lower_by_the_transpose(x, W, d_y):
    """d_y Wᵀ to h, which only fits where W is square."""
    h = torch.tanh(x @ W)
    return d_y.T @ h + x.T @ ((d_y @ W.T) * (1 - h**2))


WRONG = [
    ("neuron", neuron_slope_at_the_value, "sigmoid-twice"),
    ("neuron", neuron_bias_as_a_factor, "bias-as-a-factor"),
    ("neuron", neuron_half_a_slope, "half-the-slope"),
    ("neuron", neuron_entry_by_entry, None),
    ("neuron", neuron_rounded, None),
    ("softmax_loss", loss_log_of_softmax, "log-of-zero"),
    ("softmax_loss", loss_with_epsilon, "log-of-zero"),
    ("softmax_loss", loss_shifted_by_the_batch, "shifted-by-the-largest-of-all"),
    ("softmax_loss", loss_sum_without_keepdim, "keepdim-forgotten"),
    ("softmax_loss", loss_over_the_batch, "softmax-over-the-batch"),
    ("softmax_loss", loss_mean_over_all_entries, "divided-by-all-entries"),
    ("softmax_loss", loss_whole_rows_less_one, None),
    ("softmax_loss", loss_in_bits, None),
    ("linear_backward", linear_bias_over_outputs, "bias-over-the-outputs"),
    ("linear_backward", linear_bias_of_everything, None),
    ("linear_backward", linear_reshaped, "w-not-transposed"),
    ("linear_backward", linear_first_example, None),
    ("linear_backward", linear_bias_per_example, "bias-not-summed"),
    ("tanh_backward", tanh_not_squared, "not-squared"),
    ("tanh_backward", tanh_once_more, "tanh-twice"),
    ("tanh_backward", tanh_exchanged, None),
    ("tanh_backward", tanh_in_place, "in-place"),
    ("mlp_gradients", mlp_gradient_of_the_sum, "batch-forgotten"),
    ("mlp_gradients", mlp_divided_twice, None),
    ("mlp_gradients", mlp_slope_of_the_product, None),
    ("mlp_gradients", mlp_after_a_step, None),
    ("mlp_gradients", mlp_weights_before_biases, "in-another-order"),
    ("mlp_gradients", mlp_without_lower_bias, None),
    ("tied_gradient", tied_averaged, "averaged"),
    ("tied_gradient", tied_upper_twice, None),
    ("tied_gradient", tied_without_tanh_above, None),
    ("tied_gradient", tied_upper_through_the_slope, None),
    ("tied_gradient", tied_lower_by_the_transpose, "back-by-the-transpose"),
]
