"""Closed names: everything that would do a question's work. One declaration, `closed=` of a question, says what they
are; the page's sentence (`autograder.exercise.questions`), the check at home and the sandbox are all derived from it.

    room or package   "nlmcore.attention", "tokenizers"      is not in the sandbox; at home it is noticed when it runs
    PyTorch's own     "torch.softmax", "torch.nn.LSTM"       its kernels refuse while the function is called
    "torch.autograd"  whatever differentiates                reverse mode, forward mode, operators of derivatives

PyTorch cannot be removed from a question that passes tensors. So this module listens while a function is called, in the
same way at home and in the sandbox, and both come to the same verdict. It listens where all paths meet: at the
dispatcher's kernels, at the counter of recorded operations, at the code that is entered. It runs in the student's own
process, so it is best effort, not a lock. Modules other than PyTorch are absent, which is a lock.

This is part of the student's side as well, so it imports nothing of ours.
"""

import contextlib
import functools
import importlib
import importlib.util
import re
import sys
import sysconfig
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

DIFFERENTIATION = "torch.autograd"
_PYTORCH_NEEDS = ("torch", "numpy", "sympy", "mpmath")  # cannot be absent: they are listened to
DIFFERENTIATORS = ("autograd", "jax", "tensorflow")
LIBRARIES = frozenset(
    {
        *DIFFERENTIATORS,
        *("gensim", "nltk", "sacrebleu", "scipy", "sentencepiece", "sklearn", "statsmodels", "tiktoken", "tokenizers"),
        "transformers",
    }
)
"""Packages that answer questions but are not in every environment; a question may close them anyway."""
_SOFTMAX = ("softmax", "special_softmax", "_softmax", "_safe_softmax", "_masked_softmax", "_sparse_softmax")
_ATTENTION = (
    "scaled_dot_product_attention",
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_fused_attention_overrideable",
    "_safe_softmax",  # of no other function of PyTorch's
)
_OPERATORS: dict[str, tuple[str, ...]] = {
    "softmax": _SOFTMAX,
    "log_softmax": ("log_softmax", "special_log_softmax", "_log_softmax", "_sparse_log_softmax"),
    "scaled_dot_product_attention": _ATTENTION,
    "MultiheadAttention": ("_native_multi_head_attention", "_transformer_encoder_layer_fwd"),
    "layer_norm": ("layer_norm", "native_layer_norm"),
    "rms_norm": ("rms_norm", "_fused_rms_norm"),
    "bilinear": ("bilinear", "_trilinear"),
    "conv1d": ("conv1d", "conv2d", "conv3d", "convolution", "_convolution", "mkldnn_convolution"),
    "max_pool1d": ("max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices"),
    "adaptive_max_pool1d": ("adaptive_max_pool1d", "adaptive_max_pool2d"),
    "cross_entropy": ("cross_entropy_loss",),
    "nll_loss": ("nll_loss", "nll_loss_nd", "nll_loss_forward", "nll_loss2d", "nll_loss2d_forward"),
    "RNN": ("rnn_tanh", "rnn_relu"),
    "RNNCell": ("rnn_tanh_cell", "rnn_relu_cell"),
    "GRU": ("gru", "quantized_gru"),
    "GRUCell": ("gru_cell", "quantized_gru_cell"),
    "LSTM": ("lstm", "quantized_lstm", "mkldnn_rnn_layer"),
    "LSTMCell": ("lstm_cell", "quantized_lstm_cell"),
}
"""The operators of a closed name, by its last part, if they are not simply the operator of that name."""
_ELSEWHERE = re.compile(
    "pool|upsample|cudnn|miopen|mps|_pad|grid|quantize|margin|nested|[23]d|dist_|hard|shrink|relu|elu_|mish|glu|ctc|huber|"
    "smooth|scatter|segment|_norm|dropout|fold|diagonal|select|slice|flash|efficient|overrideable|sparse|embedding_bag"
)
"""Derivatives that no question is about, and closing each operator takes time."""
_DIFFERENTIATES = re.compile(
    r"grad|.*backward.*|[vj][vj]p|[hv][hv]p|jac(rev|fwd|obian)|hessian|linearize|make_dual|diff|conv\w+_(input|weight)"
)
_DIFFERENTIATORS = (
    *("torch.autograd", "torch._functorch", "torch._tensor", "torch._decomp", "torch.nn.grad"),
    *("sympy", "mpmath"),
)
_THREADS = ("start_new_thread", "start_joinable_thread")
_EVASIONS = frozenset({"setprofile", "getprofile", "_dispatch_library", "run_backward", *_THREADS})
"""C functions that bypass the listener or lead to the autograd engine."""


class ClosedName(ImportError):  # noqa: N818  (said to students, not an Error to them)
    """Used while it is closed."""


def refusal(name: str) -> ClosedName:
    return ClosedName(f"{name} is closed in this exercise: it is what you are asked to write yourself.")


@functools.cache
def is_absent(name: str) -> bool:
    """Whether a closed name is a package that is left out of the sandbox; otherwise it is listened to. Raises
    ValueError if it cannot be imported."""
    top = name.partition(".")[0]
    if top in _PYTORCH_NEEDS:
        _resolved(name)
        return False
    if name in LIBRARIES:
        return True
    with contextlib.suppress(ImportError, ValueError):
        if importlib.util.find_spec(name) is not None:
            return True
    raise ValueError(f"closed name {name!r} is no module; outside PyTorch, modules are closed as a whole")


@functools.cache
def _resolved(name: str) -> Any:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:cut]))
            for part in parts[cut:]:
                value = getattr(value, part)
            return value
        except ImportError:
            continue
        except AttributeError:
            break
    raise ValueError(f"closed name {name!r} is nothing that can be imported")


class Listener:
    """What was noticed in one block: `used` are the closed names, each once, in the order of their declaration."""

    def __init__(self, closed: Sequence[str], scope: object) -> None:
        self.closed = tuple(closed)
        self.differentiation = DIFFERENTIATION in self.closed
        self._scope = scope  # the globals of the student's function
        self.used: tuple[str, ...] = ()
        self._modules: list[str] = []
        self._codes: dict[int, tuple[types.CodeType, str | None]] = {}
        self._names: dict[str, str] = {}  # the name of a library's function, and the closed name that it does
        for name in self.closed:
            short = name.rpartition(".")[2]
            if name == DIFFERENTIATION or is_absent(name) or isinstance(_resolved(name), types.ModuleType):
                if name != DIFFERENTIATION:
                    self._modules.append(name)
                continue
            for function in (short, f"{short}.forward", *_OPERATORS.get(short, ())):
                self._names.setdefault(function, name)
            found = _resolved(name)
            for value in (vars(found).get("forward"), found) if isinstance(found, type) else (found,):
                code = getattr(value, "__code__", None)
                if code is not None and code.co_name in ("forward", short):  # not that of a wrapper of many functions
                    self._codes[id(code)] = code, name

    def note(self, name: str | None) -> None:
        if name in self.closed and name not in self.used:
            self.used = (*self.used, name)

    def evaded(self) -> None:
        """The code bypassed the listener: counts as using the first name that is listened to."""
        names = [name for name in self.closed if not is_absent(name)]
        self.note(DIFFERENTIATION if self.differentiation else next(iter(names), None))

    def profile(self) -> Callable[[types.FrameType, str, Any], None]:
        """The profile function: it notices code that is entered and C functions that are called."""
        codes, extensions = self._codes, [name for name in self._modules if not name.startswith("nlmcore.")]
        evasions = _EVASIONS if self.differentiation else _EVASIONS - {"run_backward"}

        def hear(frame: types.FrameType, event: str, argument: Any) -> None:
            if event == "call":
                code = frame.f_code
                known = codes.get(id(code))
                if known is None:
                    known = codes[id(code)] = code, self._meaning(frame)
                if known[1] is not None:
                    self.note(known[1])
            elif event == "c_call":
                called = getattr(argument, "__name__", "")
                if called in evasions and _evades(frame, called):
                    self.evaded()
                    raise refusal(DIFFERENTIATION if called == "run_backward" else called)
                if extensions:
                    self.note(self._module(str(type(getattr(argument, "__self__", None)).__module__)))

        return hear

    def _module(self, home: str) -> str | None:
        return next((name for name in self._modules if f"{home}.".startswith(f"{name}.")), None)

    def _meaning(self, frame: types.FrameType) -> str | None:
        home = str(frame.f_globals.get("__name__", ""))
        if (module := self._module(home)) is not None:
            return module
        function, known = frame.f_code.co_name, self._names.get(frame.f_code.co_qualname)
        known = known or self._names.get(function)
        if known is not None and _is_installed(frame.f_code.co_filename):
            return known
        if self.differentiation and _DIFFERENTIATES.fullmatch(function) and home.startswith(_DIFFERENTIATORS):
            return DIFFERENTIATION
        return None

    def other_threads(self) -> bool:
        """Whether code of the notebook runs in other threads, where nothing listens."""
        mine = threading.get_ident()
        for thread, top in sys._current_frames().items():
            frame: types.FrameType | None = top if thread != mine else None
            while frame is not None:
                if frame.f_globals is self._scope or frame.f_code.co_filename.startswith(("<string", "<ipython")):
                    return True
                frame = frame.f_back
        return False

    @contextlib.contextmanager
    def attentive(self) -> Iterator[None]:
        """A block in which code that is entered is noticed as well. Only for the call itself, because it makes Python
        slower."""
        if not self.closed:
            yield
            return
        before, hear = sys.getprofile(), self.profile()
        if self.differentiation and self.other_threads():
            self.evaded()
        sys.setprofile(hear)
        try:
            yield
        finally:
            still = sys.getprofile()
            sys.setprofile(before)
            if still is not hear and not self.used:
                self.evaded()


@contextlib.contextmanager
def listening(closed: Sequence[str], function: Callable[..., Any], absent: bool = False) -> Iterator[Listener]:
    """A block in which PyTorch refuses closed operators, and recorded operations are noticed; other closed names that
    `function` uses are noticed if the listener is `attentive`. `absent`: closed packages are missing anyway."""
    names = listened_to(closed) if absent else tuple(closed)
    listener = Listener(names, _globals(function))
    kernels = _kernels(names)
    by_hand = DIFFERENTIATION in names  # kept here, where the listener's own attributes do not reach
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    with contextlib.ExitStack() as undo:
        for key, operators in kernels.items():
            library = torch.library.Library("aten", "IMPL", key)
            undo.callback(library._destroy)
            for operator, name in operators.items():
                library.impl(operator, _refusing(listener, name))
        if by_hand:
            undo.enter_context(torch.no_grad())
        recorded = torch._C._autograd._get_sequence_nr()
        try:
            yield listener
        finally:
            found = set(listener.used)
            if by_hand and torch._C._autograd._get_sequence_nr() != recorded:
                found.add(DIFFERENTIATION)  # operations were recorded, though nothing asked for gradients here
            for key, operators in kernels.items():
                found.update(name for operator, name in operators.items() if not has(f"aten::{operator}", key))
            listener.used = tuple(name for name in names if name in found)


def listened_to(closed: Sequence[str]) -> tuple[str, ...]:
    """The closed names that belong to PyTorch. Their operators are cached."""
    names = tuple(name for name in closed if not is_absent(name))
    _kernels(names)
    return names


def _refusing(listener: Listener, name: str) -> Callable[..., Any]:
    def closed(*arguments: Any, **options: Any) -> Any:
        listener.note(name)
        raise refusal(name)

    return closed


@functools.lru_cache(maxsize=64)
def _kernels(closed: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Where in the dispatcher the operators of closed names must refuse: key -> operator -> closed name.

    Every kernel is reached through `BackendSelect`, whatever the tensor and the path, from Python and from within
    PyTorch. An operator that is only a composition of others is not, and its own kernel is replaced by one that
    refuses.
    """
    found: dict[str, dict[str, str]] = {"BackendSelect": {}, "CPU": {}}
    for name in closed:
        for full in _operators(name):
            has = functools.partial(torch._C._dispatch_has_kernel_for_dispatch_key, f"aten::{full}")
            composed = has("CompositeImplicitAutograd") and not has("CPU")
            found["CPU" if composed else "BackendSelect"].setdefault(full, name)
    return {key: operators for key, operators in found.items() if operators}


def _operators(name: str) -> list[str]:
    """The operators of a closed name, with their overloads."""
    every = _by_operator()
    if name == DIFFERENTIATION:
        wanted = [o for o in every if o == "_make_dual" or ("backward" in o and not _ELSEWHERE.search(o))]
        return [full for operator in wanted for full in every[operator]]
    if is_absent(name) or isinstance(_resolved(name), types.ModuleType):
        return []
    short = name.rpartition(".")[2]
    return [full for operator in _OPERATORS.get(short, (short,)) for full in every.get(operator, ())]


@functools.cache
def _by_operator() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::"):
            full = name.removeprefix("aten::")
            found.setdefault(full.partition(".")[0], []).append(full)
    return found


def _globals(function: object) -> object:
    """The globals of the student's function, or of the class of an object that is called like one."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return getattr(function, "__globals__", None)
    return getattr(vars(type(function)).get("__call__"), "__globals__", None)


def _evades(frame: types.FrameType, function: str) -> bool:
    """Whether the notebook calls this function, rather than a library for its own purposes."""
    caller: types.FrameType | None = frame
    while caller is not None:
        home = str(caller.f_globals.get("__name__", ""))
        if caller.f_globals is globals() or home.startswith("tqdm"):
            return False
        if function not in (*_THREADS, "run_backward") and home != "torch.library":
            return not _is_installed(caller.f_code.co_filename)
        caller = caller.f_back
    return True


@functools.cache
def _roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    here = (str(getattr(torch, "__file__", "")).rpartition("torch")[0],)
    return tuple({paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")} | set(here))


def _is_installed(filename: str) -> bool:
    return filename.startswith(_roots())
