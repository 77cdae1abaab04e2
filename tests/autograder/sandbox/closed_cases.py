"""Uses of what is absent, and right answers that only look like it: each defines `f(x)`, and says what comes of it."""

# ruff: noqa: E501  (a table: one case to a line)

from collections.abc import Iterator
from dataclasses import dataclass

ROOM = "nlmcore.attention"


@dataclass(frozen=True)
class Use:
    name: str
    source: str
    numpy: bool  # whether it answers a question without PyTorch
    refused: bool


ROOMS = {
    "imported above": "from nlmcore.attention import causal_mask\ndef f(x): return causal_mask(3)",
    "imported inside": "def f(x):\n    from nlmcore.attention import causal_mask\n    return causal_mask(3)",
    "by text": "import importlib\ndef f(x): return importlib.import_module('nlmcore.attention').causal_mask(3)",
    "as an attribute": "import nlmcore\ndef f(x): return nlmcore.attention.causal_mask(3)",
    "out of a closure": "from nlmcore.attention import causal_mask\ndef make(g): return lambda x: g(3)\nf = make(causal_mask)  # def f",
    "a star": "from nlmcore.attention import *\nfrom nlmcore.attention.scores import attend\ndef f(x): return attend(x, x)",
    "a module of it": "import nlmcore.attention.scores as s\ndef f(x): return s.attend(x, x)",
    "a method": "from nlmcore import attention\ndef f(x): return attention.MultiHeadAttention.forward(None, x)",
    "a class of its class": "from nlmcore.attention import MultiHeadAttention as M\ndef f(x):\n    class A(M): pass\n    return x",
    "in a class": "class A:\n    def __call__(self, x):\n        import nlmcore.attention as a\n        return a.causal_mask(3)\nf = A()  # def f",
}
OPEN = {
    "by hand": "import torch\ndef f(x): return (x - x.amax(-1, keepdim=True)).exp() + torch.softmax(x, -1)",
    "a room that is imported and not used": "from nlmcore.attention import attend\ndef f(x): return x",
    "a thread pool": "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor(2) as pool: return list(pool.map(lambda row: row, x))",
    "a profiler": "import cProfile\ndef f(x):\n    with cProfile.Profile(): return x + 1",
    "a clock": "import threading, time\ndef tick():\n    while True: time.sleep(0.01)\nthreading.Thread(target=tick, daemon=True).start()\ndef f(x): return x.tanh()",
}
WITHOUT_PYTORCH = {
    "PyTorch": "import torch\ndef f(x): return torch.tanh(torch.from_numpy(x)).numpy()",
    "PyTorch under another name": "from torch import from_numpy as made, tanh\ndef f(x): return tanh(made(x)).numpy()",
    "PyTorch inside": "def f(x):\n    import torch.nn.functional as F\n    return F.softmax(x, -1)",
    "PyTorch by text": "def f(x): return __import__('torch').from_numpy(x)",
    "a module of PyTorch's": "def f(x):\n    from torch.func import jacrev\n    return jacrev(lambda y: y)(x)",
    "the course's own": "def f(x):\n    from nlmcore import autodiff\n    return autodiff.Value(1.0)",
    "symbols": "def f(x):\n    import sympy\n    return float(sympy.diff(sympy.Symbol('s')))",
}
NUMPY = {
    "arrays": "import torch\nimport numpy as np\ndef f(x: torch.Tensor) -> 'torch.Tensor | None': return np.tanh(x)",
    "a list": "def f(x): return [[2 * v for v in row] for row in x.tolist()]",
    "a line that needs PyTorch above": "import torch, numpy as np\ntorch.set_printoptions(precision=3)\nfrom nlmcore.attention import attend\ndef f(x): return np.exp(x)",
    "a cell that raises": "import numpy as np\n1 / 0\ndef f(x): return np.cumsum(x)",
    "a thread pool of arrays": "import numpy as np\nfrom concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor(2) as pool: return np.array(list(pool.map(np.tanh, x)))",
    "PyTorch where there is one": "import torch\ndef f(x):\n    try: return torch.from_numpy(x)\n    except ImportError: return x",
    "arrays or tensors": "import torch\nimport numpy as np\ndef f(x):\n    if isinstance(x, torch.Tensor): x = x.numpy()\n    return np.exp(x)",
    "a progress bar": "from tqdm.auto import tqdm\ndef f(x):\n    for _ in tqdm(range(3)): x = x + 1\n    return x",
}  # fmt: skip


def _uses() -> Iterator[Use]:
    for rows, numpy, refused in (
        (ROOMS, False, True),
        (OPEN, False, False),
        (WITHOUT_PYTORCH, True, True),
        (NUMPY, True, False),
    ):
        for name, source in rows.items():
            yield Use(name, source, numpy, refused)


USES = tuple(_uses())
