"""Closed names: what would do an exercise's work is taken away before the student's code runs.

    module      "nlmcore.attention"                    cannot be imported, nor any room that is built on it
    function    "torch.nn.functional.softmax"          replaced by a trap wherever a loaded module names it
    method      "torch.Tensor.softmax"                 replaced by a trap, on the class
    class       "torch.nn.LSTM"                        cannot be made or called

A name that is closed for the whole notebook is gone: the original is dropped. One that is closed for a single
question is kept behind the trap, which lets everybody through but the question's own calls.

Traps stand at Python's doors, and a determined student finds one that has none: a private operation, the original in
the trap's own closure. So while a question is asked, PyTorch's own kernels are closed too (`kernels_closed`).
"""

import contextlib
import ctypes
import gc
import importlib
import importlib.abc
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

touched: list[str] = []  # closed names that were used, each once, since the list was last emptied
_armed: set[str] = set()
_MISSING = object()
_SOFTMAX = ("_softmax", "_safe_softmax", "_masked_softmax", "_sparse_softmax")
_KERNELS = {
    "softmax": _SOFTMAX,
    "Softmax": _SOFTMAX,
    "log_softmax": ("_log_softmax", "_sparse_log_softmax"),
    "scaled_dot_product_attention": (
        "_safe_softmax",  # of no other function of PyTorch's
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_fused_attention_overrideable",
    ),
    "MultiheadAttention": ("_native_multi_head_attention", "_transformer_encoder_layer_fwd"),
    "bilinear": ("_trilinear",),
}
"""By the last part of a closed name: the kernels that only it, or what does its work, ends in."""
_OPERATIONS = ("torch._C._VariableFunctions", "torch._C._nn", "torch._VF", "torch._C._special", "torch._C._linalg")


class ClosedName(ImportError):  # noqa: N818  (said to students, not an Error to them)
    """Used while it is closed."""


Place = tuple[Any, str]  # an owner and the attribute by which it has something


class Plan:
    """Where each closed name is to be found. Made once in the warm parent, used in every child."""

    def __init__(self, names: Sequence[str]) -> None:
        self.modules: tuple[str, ...] = ()
        self.places: dict[str, list[Place]] = {}
        for name in names:
            found = _resolve(name)
            if isinstance(found, types.ModuleType) or found is _MISSING:
                self.modules += (name,)
            elif isinstance(found, type):
                self.places[name] = [(found, part) for part in ("__init__", "forward") if hasattr(found, part)]
            else:
                self.places[name] = list(_aliases(name, found))


def apply(everywhere: Plan, somewhere: Plan) -> None:
    """Close names for good, and others until `armed` says so."""
    if somewhere.modules:
        raise ValueError(f"a module is closed for a whole notebook or not at all: {', '.join(somewhere.modules)}")
    if everywhere.modules:
        sys.meta_path.insert(0, _Guard(everywhere.modules))
        for name in [n for n in sys.modules if _within(n, everywhere.modules)]:
            del sys.modules[name]
    for name, places in everywhere.places.items():
        for owner, attribute in places:
            _put(owner, attribute, _trap(name, None))
    if everywhere.places:
        _forget_scripts(set(everywhere.places))
    for name, places in somewhere.places.items():
        if name not in everywhere.places:
            originals = [getattr(owner, attribute) for owner, attribute in places]
            for (owner, attribute), original in zip(places, originals, strict=True):
                _put(owner, attribute, _trap(name, original))


def _forget_scripts(names: set[str]) -> None:
    """TorchScript's table of operations holds the originals too."""
    operations = getattr(sys.modules.get("torch.jit._builtins"), "_builtin_ops", None)
    if isinstance(operations, list):
        short = {name.rpartition(".")[2] for name in names}
        operations[:] = [row for row in operations if getattr(row[0], "__name__", None) not in short]


def arm(names: Sequence[str]) -> None:
    """From here on these are closed too; `arm(())` opens them again."""
    _armed.clear()
    _armed.update(names)


@contextlib.contextmanager
def kernels_closed(closed: Sequence[str]) -> Iterator[None]:
    """A block in which the kernels of these closed names are refused, by whatever road they are called.

    PyTorch's dispatcher comes by `BackendSelect` on its way to every kernel, of whatever kind of tensor, from Python
    and from within PyTorch: what is put there costs the other operations nothing.
    """
    ours = {kernel: name for name in reversed(closed) for kernel in _KERNELS.get(name.rpartition(".")[2], ())}
    if not ours:
        yield
        return
    library = torch.library.Library("aten", "IMPL", "BackendSelect")
    for kernel, name in ours.items():
        library.impl(kernel, _trap(name, None))
    try:
        yield
    finally:
        library._destroy()


def refuse(name: str) -> None:
    if name not in touched:
        touched.append(name)
    raise ClosedName(f"{name} is closed in this exercise: it is what you are asked to write yourself.")


def _trap(name: str, original: Any) -> Callable[..., Any]:
    def closed(*arguments: Any, **options: Any) -> Any:
        if original is None or name in _armed:
            refuse(name)
        return original(*arguments, **options)

    if original is not None:
        closed.__name__, closed.__doc__ = name.rpartition(".")[2], original.__doc__
    return closed


def _put(owner: Any, attribute: str, trap: Callable[..., Any]) -> None:
    try:
        setattr(owner, attribute, trap)
    except AttributeError:  # the one object of a class of C, whose operations are static methods
        _put_in_class(type(owner), attribute, staticmethod(trap))
    except TypeError:
        _put_in_class(owner, attribute, trap)


def _put_in_class(owner: type, attribute: str, trap: object) -> None:
    """A class of C does not let itself be changed; its dictionary does."""
    gc.get_referents(owner.__dict__)[0][attribute] = trap
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))


class _Guard(importlib.abc.MetaPathFinder):
    def __init__(self, closed: Sequence[str]) -> None:
        self._closed = tuple(closed)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if not _within(name, self._closed):
            return
        closed = next(c for c in self._closed if _within(name, (c,)))
        importer = _importer()
        if importer.partition(".")[0] == closed.partition(".")[0] and importer not in ("", "nlmcore"):
            raise ClosedName(f"{importer} is built on {closed}, which is closed while this notebook is graded.")
        refuse(closed)


def _importer() -> str:
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith("importlib") and "importlib" not in frame.f_code.co_filename:
            return name
        frame = frame.f_back
    return ""


def _within(name: str, modules: Sequence[str]) -> bool:
    return any(name == module or name.startswith(module + ".") for module in modules)


def _resolve(name: str) -> Any:
    """The object behind a full name; _MISSING for a module of ours, which is not loaded to be looked at."""
    if name.partition(".")[0] in ("nlmcore", "autograder"):
        if importlib.util.find_spec(name) is None:
            raise ValueError(f"closed name {name!r} is no module; of nlmcore, modules are closed as a whole")
        return _MISSING
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            value = getattr(value, part, _MISSING)
        if value is _MISSING:
            break
        return value
    raise ValueError(f"closed name {name!r} is nothing that can be imported")


def _aliases(name: str, value: Any) -> Iterator[Place]:
    """Every place that holds this very object, and PyTorch's other doors to the same operation."""
    short = name.rpartition(".")[2]
    if name.startswith("torch.Tensor."):
        for owner in (torch.Tensor, torch._C.TensorBase, *torch._tensor_classes):
            if vars(owner).get(short) is value:  # torch.FloatTensor and its kin have their own
                yield owner, short
        return
    for module in list(sys.modules.values()):
        if isinstance(module, types.ModuleType):
            for attribute, item in list(vars(module).items()):
                if item is value:
                    yield module, attribute
    if name.startswith("torch."):
        for home in _OPERATIONS:
            owner = _attribute(home)
            if owner is not None and getattr(owner, short, None) is not None and getattr(owner, short) is not value:
                yield owner, short
        if hasattr(torch.ops.aten, short):
            yield torch.ops.aten, short


def _attribute(path: str) -> Any:
    value: Any = torch
    for part in path.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def files_of(module: str) -> list[str]:
    """The files and folders that hold a module's source and its compiled form."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return []
    if spec.submodule_search_locations:
        return list(spec.submodule_search_locations)
    return [path for path in (spec.origin, spec.cached) if path is not None]
