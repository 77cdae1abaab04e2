"""Uses of closed names, and right answers that only look like it: each defines `f(x)`, and says what is heard of it."""

# ruff: noqa: E501  (a table: one case to a line)

from collections.abc import Iterator
from dataclasses import dataclass

SOFTMAX, SDPA, MHA, LSTM = (
    "torch.softmax",
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
    "torch.nn.LSTM",
)
CLIP, DIFFERENTIATION, ROOM = "torch.nn.utils.clip_grad", "torch.autograd", "nlmcore.attention"
OWN = "class Mine:\n    def softmax(self, x): return x.exp() / x.exp().sum(-1, keepdim=True)\n    def backward(self): return 1\n    def jacfwd(self): return 2\n"
LEAF = "    with torch.enable_grad():\n        a = x.clone().requires_grad_()\n"


@dataclass(frozen=True)
class Use:
    name: str
    source: str
    closed: tuple[str, ...]
    used: tuple[str, ...]


def _uses() -> Iterator[Use]:
    def of(closed: tuple[str, ...], rows: dict[str, str], used: tuple[str, ...]) -> Iterator[Use]:
        for name, source in rows.items():
            lines = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
            yield Use(name, lines + (source if "def f" in source else f"def f(x): return {source}"), closed, used)

    softmax = {
        "by its name": "torch.softmax(x, -1)",
        "functional": "F.softmax(x, -1)",
        "the method": "x.softmax(-1)",
        "special": "torch.special.softmax(x, -1)",
        "negated": "F.softmin(x, -1)",
        "with noise": "F.gumbel_softmax(x)",
        "a layer": "nn.Softmax(-1)(x)",
        "a global layer": "soft = nn.Softmax(-1)\ndef f(x): return soft(x)",
        "taken early": "from torch.nn.functional import softmax as s\ndef f(x): return s(x, -1)",
        "unbound": "torch._C.TensorBase.softmax(x, -1)",
        "an operator": "torch.ops.aten.softmax(x, -1)",
        "a private function": "torch._softmax(x, -1, False)",
        "its packet": "torch.ops.aten._softmax.default(x, -1, False)",
        "another private one": "torch._safe_softmax(x, -1)",
        "an overload by its name": "torch._C._get_operation_overload('aten::softmax', 'int')[0](x, -1)",
        "TorchScript's": "torch._C._jit_get_operation('aten::softmax')[0](x, -1)",
        "in C": "torch._C._VariableFunctions.softmax(x, -1)",
        "a reference of PyTorch's": "import torch._refs\ndef f(x): return torch._refs.softmax(x, -1)",
        "a distribution": "torch.distributions.Categorical(logits=x).probs",
        "in batches": "torch.vmap(lambda row: row.softmax(-1))(x)",
        "in inference mode": "def f(x):\n    with torch.inference_mode(): return torch.ones(3).softmax(-1)",
        "swallowed": "def f(x):\n    try: return x.softmax(-1)\n    except Exception: return x",
    }
    yield from of((SOFTMAX, SDPA), softmax, (SOFTMAX,))
    yield from of(
        (SOFTMAX,), {"a private attention": "torch._scaled_dot_product_attention_math(x, x, x)[0]"}, (SOFTMAX,)
    )
    attention = {
        "fused": "F.scaled_dot_product_attention(x, x, x)",
        "fused, in C": "torch._C._nn.scaled_dot_product_attention(x, x, x)",
        "fused, an operator": "torch.ops.aten.scaled_dot_product_attention(x, x, x)",
        "from its parts": "torch._scaled_dot_product_attention_math(x, x, x)[0]",
    }
    yield from of((SDPA,), attention, (SDPA,))
    yield from of((MHA,), {"a module": "nn.MultiheadAttention(4, 2)(x, x, x)[0]"}, (MHA,))
    yield from of(
        (LSTM,),
        {
            "a network": "nn.LSTM(4, 4)(x)[0]",
            "its function": "nn.LSTM.forward(nn.LSTM(4, 4), x)[0]",
            "in C, by name": "getattr(torch, 'ls' + 'tm')(x[None], (torch.zeros(1, 3, 4),) * 2, [torch.ones(16, 4)] * 2, False, 1, 0.0, False, False, False)[0]",
        },
        (LSTM,),
    )
    yield from of(
        (CLIP,),
        {
            "clipped": "def f(x):\n    p = nn.Parameter(x)\n    p.grad = x\n    return nn.utils.clip_grad_norm_([p], 1.0)"
        },
        (CLIP,),
    )
    derivatives = {
        "backward": f"def f(x):\n{LEAF}        a.tanh().sum().backward()\n    return a.grad",
        "grad": f"def f(x):\n{LEAF}        return torch.autograd.grad(a.tanh().sum(), a)[0]",
        "jacrev": "torch.func.jacrev(torch.tanh)(x)",
        "jacfwd": "torch.func.jacfwd(torch.tanh)(x)",
        "vjp": "torch.func.vjp(torch.tanh, x)[1](x)[0]",
        "jvp": "torch.func.jvp(torch.tanh, (x,), (x,))[1]",
        "linearize": "torch.func.linearize(torch.tanh, x)[1](x)",
        "hessian": "torch.func.hessian(lambda a: a.tanh().sum())(x)",
        "functional": "torch.autograd.functional.jacobian(torch.tanh, x)",
        "dual numbers": "import torch.autograd.forward_ad as fw\ndef f(x):\n    with fw.dual_level(): return fw.unpack_dual(fw.make_dual(x, x).tanh()).tangent",
        "a node by hand": f"def f(x):\n{LEAF}        return a.tanh().grad_fn(torch.ones_like(x))",
        "the engine": f"def f(x):\n{LEAF}        y = a.tanh().sum()\n        return torch.autograd.Variable._execution_engine.run_backward((y,), (torch.ones(()),), False, False, (a,), False, accumulate_grad=False)[0]",
        "a scripted function": f"unit = torch.jit.CompilationUnit('def g(a):\\n  return a.tanh().sum()\\n')\ndef f(x):\n{LEAF}        unit.g(a).backward()\n    return a.grad",
        "an operator of a derivative": "torch.ops.aten.tanh_backward(x, x)",
        "a reference of an operator": "from torch._decomp.decompositions import tanh_backward\ndef f(x): return tanh_backward(x, x)",
        "a gradient of a layer": "torch.nn.grad.conv1d_weight(x[None], (3, 3, 1), x[None])",
        "symbols": "import sympy\ndef f(x):\n    s = sympy.Symbol('s')\n    return float(sympy.diff(s**2, s).subs(s, 1)) * x",
        "a thread": "import threading\ndef f(x):\n    out = []\n    t = threading.Thread(target=lambda: out.append(torch.func.jacrev(torch.tanh)(x)))\n    t.start(); t.join()\n    return out[0]",
        "deaf": f"import sys\ndef f(x):\n    try: sys.setprofile(None)\n    except ImportError: pass\n{LEAF}        a.tanh().sum().backward()\n    return a.grad",
        "a listener talked out of it": f"import gc\ndef f(x):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Listener': o.closed, o.used, o.differentiation = (), (), False\n{LEAF}        a.tanh().sum().backward()\n    return a.grad",
        "a thread that waits": "import threading, queue\nask, answer = queue.Queue(), queue.Queue()\ndef work():\n    while True: answer.put(torch.func.jacrev(torch.tanh)(ask.get()))\nexec('import threading\\nthreading.Thread(target=work, daemon=True).start()')\ndef f(x): return x",
        "a kernel put back": "def f(x):\n    lib = torch.library.Library('aten', 'IMPL', 'BackendSelect')\n    return x",
    }  # fmt: skip
    yield from of((DIFFERENTIATION,), derivatives, (DIFFERENTIATION,))
    rooms = {
        "imported above": "from nlmcore.attention import causal_mask\ndef f(x): return causal_mask(3)",
        "imported inside": "def f(x):\n    from nlmcore.attention import causal_mask\n    return causal_mask(3)",
        "by text": "import importlib\ndef f(x): return importlib.import_module('nlmcore.attention').causal_mask(3)",
        "as an attribute": "import nlmcore\ndef f(x): return nlmcore.attention.causal_mask(3)",
        "out of a closure": "from nlmcore.attention import causal_mask\ndef make(g): return lambda x: g(3)\nf = make(causal_mask)  # def f",
        "in a class": "class A:\n    def __call__(self, x):\n        import nlmcore.attention as a\n        return a.causal_mask(3)\nf = A()  # def f",
    }
    yield from of((ROOM,), rooms, (ROOM,))
    everything = (SOFTMAX, SDPA, MHA, LSTM, CLIP, DIFFERENTIATION, ROOM)
    right = {
        "by hand": "(x - x.amax(-1, keepdim=True)).exp() / (x - x.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True)",
        "by its logarithm": "(x - torch.logsumexp(x, -1, keepdim=True)).exp() + torch.log_softmax(x, -1)",
        "a class of one's own": OWN + "def f(x): return Mine().softmax(x) * Mine().backward() + Mine().jacfwd()",
        "functions of these names": "def softmax(x): return x\ndef backward(x): return x\ndef clip_grad_norm_(x): return x\ndef f(x): return softmax(backward(clip_grad_norm_(x)))",
        "a room that is imported and not used": "from nlmcore.attention import attend\ndef f(x): return x",
        "layers that hold weights": "nn.Linear(4, 2)(x).tanh() + nn.GRUCell(4, 2)(x)",
        "mapped over a batch": "torch.vmap(torch.outer)(x, x)",
        "differences": "import numpy as np\ndef f(x): return torch.diff(x).abs() + torch.as_tensor(np.diff(x.numpy()))",
        "a progress bar": "from tqdm.auto import tqdm\ndef f(x):\n    for _ in tqdm(range(3)): x = x + 1\n    return x",
        "compared in a cell": "a = torch.ones(3, requires_grad=True)\na.softmax(-1).sum().backward()\nnn.LSTM(3, 3)(a[None])\ndef f(x): return x",
        "no gradients, said twice": "@torch.no_grad()\ndef f(x): return x.clone().detach().tanh()",
    }  # fmt: skip
    yield from of(everything, right, ())


USES = tuple(_uses())
SLOW = ("jacrev", "vjp", "linearize", "a reference of PyTorch's", "symbols")
"""What PyTorch and others load for these takes seconds."""
