"""How fast does a small GPT train through `nlmcore.training.fit`? Ratios over two peers: above 1.00 is faster.

    pip install "transformers==5.23.0"                   # the second peer; without it the first alone is compared
    python benchmarks/transformer_training.py            # both sizes, one thread, the process clock
    python benchmarks/transformer_training.py --sizes 4,4,128,64,12 --repeats 60
    python benchmarks/transformer_training.py --threads 2       # two threads and the wall clock: on a quiet machine

Ours is a step of `fit` as a student runs it, everything included: checks, the batch, the history. The first peer is
nanoGPT's (Karpathy, github.com/karpathy/nanoGPT, model.py and train.py) written down below: its modules, its AdamW with
decay for matrices only, which is fused on a GPU only, its clipping, its loss looked at in every step as in its setting
for a CPU (log_interval=1). The second is Hugging Face's GPT2LMHeadModel in the same loop, with the exact GELU that all
three have here; "as it comes" is its own tanh GELU. All have the same weights at the start, and losses that agree.

`products` is the time of the matrix products of one step alone, forward and backward, without attention: how far even
a step without anything else could go by F.linear. Steps are interleaved; times are medians.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.training import fit
from nlmcore.transformer import TransformerConfig, TransformerLM

VOCAB = 65  # characters of tiny Shakespeare
REACH = {"nanoGPT": 1.05, "Hugging Face": 1.4}


class CausalSelfAttention(nn.Module):
    """nanoGPT's."""

    def __init__(self, n_embd: int, n_head: int) -> None:
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.resid_dropout = nn.Dropout(0.0)
        self.n_head, self.n_embd = n_head, n_embd

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class MLP(nn.Module):
    """nanoGPT's."""

    def __init__(self, n_embd: int) -> None:
        super().__init__()
        self.c_fc = nn.Linear(n_embd, 4 * n_embd)
        self.gelu = nn.GELU()
        self.c_proj = nn.Linear(4 * n_embd, n_embd)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class Block(nn.Module):
    """nanoGPT's."""

    def __init__(self, n_embd: int, n_head: int) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(n_embd), CausalSelfAttention(n_embd, n_head)
        self.ln_2, self.mlp = nn.LayerNorm(n_embd), MLP(n_embd)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    """nanoGPT's."""

    def __init__(self, n_layer: int, n_head: int, n_embd: int, block_size: int) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, n_embd), nn.Embedding(block_size, n_embd)
        self.drop = nn.Dropout(0.0)
        self.h = nn.ModuleList(Block(n_embd, n_head) for _ in range(n_layer))
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, VOCAB, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx: Tensor, targets: Tensor) -> Tensor:
        pos = torch.arange(0, idx.size(1), dtype=torch.long)
        x = self.drop(self.wte(idx) + self.wpe(pos))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


def copied(ours: TransformerLM, gpt: GPT) -> GPT:
    """The peer with our weights."""
    pairs: list[tuple[Any, Any]] = [(gpt.wte, ours.embedding), (gpt.wpe, ours.positions), (gpt.ln_f, ours.final_norm)]
    blocks: list[Any] = list(gpt.h)
    for theirs, block in zip(blocks, ours.layers, strict=True):
        pairs += [(theirs.ln_1, block.residual_attention.norm), (theirs.ln_2, block.residual_feed_forward.norm)]
        pairs += [(theirs.attn.c_attn, block.attention.projection), (theirs.attn.c_proj, block.attention.output)]
        pairs += [(theirs.mlp.c_fc, block.feed_forward.inner), (theirs.mlp.c_proj, block.feed_forward.outer)]
    for target, source in pairs:
        target.load_state_dict(source.state_dict())
    return gpt


def hugging_face(gpt: GPT, sizes: list[int], activation: str) -> Any:
    """GPT2LMHeadModel with the same weights; its Conv1D keeps matrices as (in, out)."""
    from transformers import GPT2Config, GPT2LMHeadModel

    n_layer, n_head, n_embd, block_size, _ = sizes
    none = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    config = GPT2Config(
        vocab_size=VOCAB,
        n_positions=block_size,
        n_embd=n_embd,
        n_layer=n_layer,
        n_head=n_head,
        activation_function=activation,
        bos_token_id=0,
        eos_token_id=0,
        **none,
    )
    model = GPT2LMHeadModel(config)
    weights = {
        name: weight.t() if name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")) else weight
        for name, weight in gpt.state_dict().items()
    }
    head = weights.pop("lm_head.weight")
    model.load_state_dict({f"transformer.{n}": w for n, w in weights.items()} | {"lm_head.weight": head})
    return model


def loop(model: nn.Module, loss: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], float]:
    """One step of nanoGPT's train.py on a CPU."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99))
    model.train()

    def step(x: Tensor, y: Tensor) -> float:
        for group in optimizer.param_groups:
            group["lr"] = 1e-3
        value = loss(x, y)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return value.item()

    return step


def products_alone(ours: TransformerLM, rows: int) -> Callable[[], None]:
    """Every linear map of one step: y = x Wᵀ, then both products of its backward pass, by the BLAS of F.linear."""
    shapes = [module.weight.shape for module in ours.modules() if isinstance(module, nn.Linear)]
    made = [(torch.randn(rows, i), torch.randn(o, i), torch.randn(rows, o)) for o, i in shapes]

    @torch.no_grad()
    def run() -> None:
        for x, weight, gradient in made:
            F.linear(x, weight)
            gradient @ weight
            gradient.t() @ x

    return run


def compare(sizes: list[int], repeats: int, clock: Callable[[], float]) -> tuple[dict[str, list[float]], dict]:
    """Seconds of every step of everybody, and their first and last losses."""
    n_layer, n_head, n_embd, block_size, batch = sizes
    ours = TransformerLM(
        TransformerConfig(vocab_size=VOCAB, d_model=n_embd, n_heads=n_head, n_layers=n_layer, max_length=block_size)
    )
    gpt = copied(ours, GPT(n_layer, n_head, n_embd, block_size))
    peers = {"nanoGPT": loop(gpt, gpt)}
    try:
        for name, activation in (("Hugging Face", "gelu"), ("as it comes", "gelu_new")):
            model = hugging_face(gpt, sizes, activation)

            def loss(x: Tensor, y: Tensor, model: Any = model) -> Tensor:
                return model(input_ids=x, labels=y, shift_labels=y).loss

            peers[name] = loop(model, loss)
    except ModuleNotFoundError:
        print("transformers is not there (pip install transformers==5.23.0): nanoGPT alone")
    data = torch.randint(VOCAB, (100_000,), generator=torch.Generator().manual_seed(0))
    starts = torch.randint(len(data) - block_size, (repeats, batch), generator=torch.Generator().manual_seed(1))
    windows = [torch.stack([data[s : s + block_size + 1] for s in row]) for row in starts.tolist()]
    batches = [(window[:, :-1].contiguous(), window[:, 1:].contiguous()) for window in windows]
    products = products_alone(ours, batch * block_size)
    seconds: dict[str, list[float]] = {name: [] for name in ("ours", *peers, "products")}
    losses: dict[str, list[float]] = {name: [] for name in ("ours", *peers)}
    began = clock()

    def others(record: Any) -> None:
        nonlocal began
        seconds["ours"].append(clock() - began)
        losses["ours"].append(record.loss)
        x, y = batches[record.step - 1]
        for name, step in peers.items():
            start = clock()
            losses[name].append(step(x, y))
            seconds[name].append(clock() - start)
        start = clock()
        products()
        seconds["products"].append(clock() - start)
        began = clock()

    fit(ours, batches, steps=repeats, learning_rate=1e-3, weight_decay=0.1, on_step=others, progress=False)
    return seconds, losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", nargs="+", default=["4,4,128,64,12", "6,6,192,256,4"], help="layers,heads,width,block,batch"
    )
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    clock = time.process_time if arguments.threads == 1 else time.perf_counter
    for sizes in arguments.sizes:
        torch.manual_seed(0)
        seconds, losses = compare([int(size) for size in sizes.split(",")], arguments.repeats, clock)
        warm = {name: times[3:] for name, times in seconds.items()}  # the first three warm up
        median = {name: statistics.median(times) for name, times in warm.items()}
        print(f"\nlayers,heads,width,block,batch = {sizes}: ours {1e3 * median['ours']:.1f} ms a step")
        print(
            f"{'':14}{'ratio':>7}{'reach':>7}{'quartiles':>14}   first loss, last loss (ours {losses['ours'][0]:.4f},"
            f" {losses['ours'][-1]:.4f})"
        )
        for name in [name for name in seconds if name != "ours"]:
            each = [b / a for a, b in zip(warm["ours"], warm[name], strict=True)]
            low, _, high = statistics.quantiles(each, n=4)
            reach = f"{REACH[name]:.2f}" if name in REACH else ""
            shown = f"   {losses[name][0]:.4f}, {losses[name][-1]:.4f}" if name in losses else ""
            print(f"{name:14}{median[name] / median['ours']:7.2f}{reach:>7}{low:8.2f}-{high:.2f}{shown}", flush=True)
            if (
                name in losses
                and name != "as it comes"
                and not math.isclose(losses[name][0], losses["ours"][0], rel_tol=1e-4)
            ):
                print(f"{name} does not compute what we compute")


if __name__ == "__main__":
    main()
