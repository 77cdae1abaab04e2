"""Closed names: everything that would do a question's work. One declaration, `closed=` and `numpy=` of a question, says
what they are; the page's sentence (`autograder.question.questions`), the check at home and the sandbox are all derived
from it.

    numpy=True                                        nothing but Python and NumPy is there (`alone`)
    closed=["nlmcore.attention", "tokenizers"]        these rooms and packages are not there

A function of PyTorch's cannot be closed, since PyTorch cannot be left out of a question on tensors. What is not there
is a lock in the sandbox, where its files are missing. At home it is replaced while the function runs, so that the check
comes to the same verdict; nobody is accused of anything that only imports it.

This is part of the student's side as well, so it imports nothing of ours.
"""

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

LIBRARIES = frozenset(("autograd", "jax", "tensorflow", "gensim", "nltk", "sacrebleu", "scipy", "sentencepiece"))
LIBRARIES |= {"sklearn", "statsmodels", "tiktoken", "tokenizers", "transformers"}
"""Packages that answer questions but are not in every environment; a question may close them anyway."""
_PYTORCH_NEEDS = ("torch", "numpy", "sympy", "mpmath")
"""These cannot be absent where PyTorch is."""
_REPLACED = frozenset({"torch", "functorch", "nlmcore", "lectures", "matplotlib", "sympy", "mpmath", *LIBRARIES})
"""Packages whose loaded modules are replaced at home. Others may be Jupyter's own, which goes on working meanwhile."""
ALONE = "this question runs without PyTorch: only Python and NumPy are there, and its arguments are NumPy arrays"

Refuse = Callable[[str], NoReturn]
"""Raises ClosedName for the use of a module."""
Absent = Callable[[str], bool]
"""Whether a module, by its full name, is absent."""


class ClosedName(ImportError):  # noqa: N818  (said to students, not an Error to them)
    """Used while it is closed."""


def refusal(name: str) -> ClosedName:
    return ClosedName(f"{name} is closed in this exercise: it is what you are asked to write yourself.")


@functools.cache
def check_closed(name: str) -> None:
    """Raises ValueError for a closed name that is no module, or one that PyTorch needs."""
    if name.partition(".")[0] in _PYTORCH_NEEDS:
        raise ValueError(
            f"closed name {name!r} cannot be left out where PyTorch is: ask the question in NumPy, with numpy=True, or"
            " ask for a result that this function does not return"
        )
    if name in LIBRARIES:
        return
    with contextlib.suppress(ImportError, ValueError):
        if importlib.util.find_spec(name) is not None:
            return
    raise ValueError(f"closed name {name!r} is no module; modules are closed as a whole")


# --- what is absent ---------------------------------------------------------------------------------------


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds absent modules: each can be imported and has every name, but none of them can be used. So a line that is
    never reached costs nothing."""

    def __init__(self, absent: Absent, refuse: Refuse) -> None:
        self._absent, self._refuse = absent, refuse
        self._made: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if self._absent(name) else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        self._made.append(spec.name)
        return Room(spec.name, self._refuse)

    def forget(self) -> None:
        """Nobody has asked for anything."""
        while self._made:
            sys.modules.pop(self._made.pop(), None)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class Room(types.ModuleType):
    def __init__(self, name: str, refuse: Refuse) -> None:
        super().__init__(name)
        self.__refuse = refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Part(self.__name__, self.__refuse)


class Part:
    """Something from an absent module. It may be named, also as the type of an argument, and not used."""

    __array_ufunc__ = None  # so that NumPy leaves an operation with it to the operators below

    def __init__(self, module: str, refuse: Refuse) -> None:
        self.__module, self.__refuse = module, refuse

    def __use(self, *arguments: Any, **options: Any) -> NoReturn:
        self.__refuse(self.__module)

    __call__ = __iter__ = __next__ = __getitem__ = __setitem__ = __contains__ = __mro_entries__ = __use
    __bool__ = __len__ = __int__ = __float__ = __index__ = __array__ = __enter__ = __exit__ = __use
    __add__ = __sub__ = __mul__ = __matmul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __neg__ = __use
    __radd__ = __rsub__ = __rmul__ = __rmatmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __use
    __lt__ = __le__ = __gt__ = __ge__ = __use

    def __instancecheck__(self, value: object) -> bool:
        return False  # of what is absent, nothing is there

    __subclasscheck__ = __instancecheck__

    def __or__(self, other: object) -> "Part":  # of types
        return self

    __ror__ = __or__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def without(function: Callable[..., Any], absent: Absent, refuse: Refuse) -> Callable[..., Any]:
    """The function, called where these modules are absent although this process has them: what the notebook and the
    function itself have of them is replaced while it runs, and imports find nothing. For the check at home, which shows
    what the sandbox, where they are missing, will say."""
    if home := absent_home(function, absent):  # wrapped by one of theirs
        return Part(home, refuse)
    scope, cells = scope_of(function), getattr(function, "__closure__", None) or ()
    loaded = list(sys.modules.items())
    here = {name: module for name, module in loaded if name.partition(".")[0] in _REPLACED and absent(name)}
    gone = {name: Room(name, refuse) for name in here}
    finder = Finder(absent, refuse)

    def called(*arguments: Any) -> Any:
        with contextlib.ExitStack() as undo:
            for name, room in gone.items():
                parent, _, last = name.rpartition(".")
                if parent in sys.modules and parent not in gone:
                    _swap(undo, vars(sys.modules[parent]), last, room)
            for name, value in list(scope.items()):
                if home := absent_home(value, absent):
                    _swap(undo, scope, name, _stand_in(value, home, refuse))
            for cell in cells:
                with contextlib.suppress(ValueError):  # an empty one
                    value = cell.cell_contents
                    if home := absent_home(value, absent):
                        undo.callback(setattr, cell, "cell_contents", value)
                        cell.cell_contents = _stand_in(value, home, refuse)
            undo.callback(sys.modules.update, here)
            undo.callback(finder.forget)
            undo.callback(sys.meta_path.remove, finder)
            sys.modules.update(gone)
            sys.meta_path.insert(0, finder)
            return function(*arguments)

    return called


def _swap(undo: contextlib.ExitStack, names: dict[str, Any], name: str, value: Any) -> None:
    if name in names:
        undo.callback(names.__setitem__, name, names[name])
        names[name] = value


def _stand_in(value: Any, home: str, refuse: Refuse) -> Any:
    return Room(home, refuse) if isinstance(value, types.ModuleType) else Part(home, refuse)


def absent_home(value: object, absent: Absent) -> str:
    """The module that a value comes from, or the decorator that has wrapped it, if that is absent; else ""."""
    homes = [_home(value)]
    if isinstance(value, types.FunctionType) and hasattr(value, "__wrapped__"):  # whose name the decorator's took over
        homes.append(str(value.__globals__.get("__name__")))
    return next(filter(absent, homes), "")


def _home(value: object) -> str:
    """The full name of the module that a value comes from: a module itself, what a module defines, or an object of such
    a class."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        owner = getattr(value, "__self__", None)
        module = value.__module__ or (owner if isinstance(owner, type) else type(owner)).__module__
    else:
        module = type(value).__module__
    return module if isinstance(module, str) else ""


def scope_of(function: object) -> dict[str, Any]:
    """The globals of the student's function, or of the class of an object that is called like one."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return getattr(function, "__globals__", {})
    return getattr(vars(type(function)).get("__call__"), "__globals__", {})
