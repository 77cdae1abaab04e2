"""How fast are our recurrent layers beside torch.nn's? Prints ratios of speed: 1.00 is as fast, below is slower.

    python benchmarks/recurrent.py                  # a training step (forward and backward), one thread
    python benchmarks/recurrent.py --repeats 40 --sizes 32,64,256,256 --threads 2

`fused` and `step` are `Recurrent(..., fused=True / False)`; `cell loop` is the loop that one would write around
torch.nn's cell. Runs are interleaved, times are medians of the process clock, so a busy machine slows both alike.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from nlmcore.recurrent import Recurrent

PEERS = {"lstm": (nn.LSTM, nn.LSTMCell), "gru": (nn.GRU, nn.GRUCell), "rnn": (nn.RNN, nn.RNNCell)}


def cell_loop(cell: nn.Module, x: Tensor) -> Tensor:
    state, outputs = None, []
    for x_t in x.unbind(1):
        state = cell(x_t, state)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    return torch.stack(outputs, dim=1)


def ratios(cell: str, batch: int, length: int, input_size: int, d_hidden: int, repeats: int) -> dict[str, float]:
    """Speed over torch.nn's, for each way of computing the same layer."""
    layer, single = PEERS[cell]
    peer = layer(input_size, d_hidden, batch_first=True)
    fused, step = Recurrent.from_torch(peer), Recurrent.from_torch(peer, fused=False)
    loop = single(input_size, d_hidden)
    x = torch.randn(batch, length, input_size)
    ways: dict[str, tuple[nn.Module, Callable[[], Tensor]]] = {
        "torch.nn": (peer, lambda: peer(x)[0]),
        "fused": (fused, lambda: fused(x)[0]),
        "step": (step, lambda: step(x)[0]),
        "cell loop": (loop, lambda: cell_loop(loop, x)),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(repeats + 2):
        for name, (module, run) in ways.items():
            module.zero_grad()
            start = time.process_time()
            run().square().mean().backward()
            if repeat >= 2:  # the first two warm up
                times[name].append(time.process_time() - start)
    medians = {name: statistics.median(t) for name, t in times.items()}
    return {name: medians["torch.nn"] / medians[name] for name in ways if name != "torch.nn"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cells", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument(
        "--sizes",
        nargs="+",
        default=["16,64,128,128", "32,64,256,256", "32,35,200,200", "32,256,128,128", "64,64,128,256"],
        help="batch,length,input,hidden",
    )
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    print(f"{'cell':6}{'batch,length,input,hidden':28}{'fused':>8}{'step':>8}{'cell loop':>11}")
    for cell in arguments.cells:
        for sizes in arguments.sizes:
            batch, length, input_size, d_hidden = map(int, sizes.split(","))
            r = ratios(cell, batch, length, input_size, d_hidden, arguments.repeats)
            print(f"{cell:6}{sizes:28}{r['fused']:8.2f}{r['step']:8.2f}{r['cell loop']:11.2f}", flush=True)


if __name__ == "__main__":
    main()
