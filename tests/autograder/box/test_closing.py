"""Closed names: gone for a whole notebook or for one question, by every road that leads to them."""

# ruff: noqa: E501  (a table: one case to a line)

import pytest
import torch

from autograder.box import Box, BoxFault, BoxResult, Cell, Interview, Job, Limits
from autograder.exercise.outcome import Fault
from tests.autograder.box.conftest import cells, is_whole, shown

X = torch.randn(3, 4)
CLOSED = (
    "nlmcore.attention",
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.softmax",
    "torch.softmax",
    "torch.Tensor.softmax",
    "torch.nn.LSTM",
    "torch.nn.MultiheadAttention",
)
ROADS = {
    "by its name": ("import torch\ndef f(x): return torch.softmax(x, -1)", "torch.softmax"),
    "functional": ("import torch.nn.functional as F\ndef f(x): return F.softmax(x, -1)", "torch.nn.functional.softmax"),
    "taken early": ("from torch.nn.functional import softmax as s\ndef f(x): return s(x, -1)", "torch.nn.functional.softmax"),
    "the method": ("def f(x): return x.softmax(-1)", "torch.Tensor.softmax"),
    "the method, unbound": ("import torch\ndef f(x): return torch._C.TensorBase.softmax(x, -1)", "torch.Tensor.softmax"),
    "operations": ("import torch\ndef f(x): return torch.ops.aten.softmax(x, -1)", "torch.softmax"),
    "inside PyTorch": ("import torch\ndef f(x): return torch._C._VariableFunctions.softmax(x, -1)", "softmax"),
    "_VF": ("import torch\ndef f(x): return torch._VF.softmax(x, -1)", "softmax"),
    "getattr": ("import torch\ndef f(x): return getattr(torch, 'soft' + 'max')(x, -1)", "torch.softmax"),
    "an older class": ("import torch\ndef f(x): return torch.FloatTensor.softmax(x, -1)", "torch.Tensor.softmax"),
    "its wrapped self": ("import torch\ndef f(x): return torch.softmax.__wrapped__(x, -1)", "no attribute"),
    "sdpa": ("import torch\ndef f(x): return torch.nn.functional.scaled_dot_product_attention(x, x, x)", "scaled_dot_product_attention"),
    "sdpa in _C": ("import torch\ndef f(x): return torch._C._nn.scaled_dot_product_attention(x, x, x)", "scaled_dot_product_attention"),
    "sdpa in ops": ("import torch\ndef f(x): return torch.ops.aten.scaled_dot_product_attention(x, x, x)", "scaled_dot_product_attention"),
    "a layer": ("from torch import nn\ndef f(x): return nn.LSTM(4, 4)(x)[0]", "torch.nn.LSTM"),
    "a layer's other name": ("from torch.nn.modules.rnn import LSTM\ndef f(x): return LSTM(4, 4)(x)[0]", "torch.nn.LSTM"),
    "a layer's child": ("from torch import nn\nclass A(nn.LSTM): pass\ndef f(x): return A(4, 4)(x)[0]", "torch.nn.LSTM"),
    "a layer's forward": ("from torch import nn\ndef f(x): return nn.LSTM.forward(object(), x)", "torch.nn.LSTM"),
    "imported inside": ("def f(x):\n    from nlmcore.attention import attend\n    return attend(x, x)", "nlmcore.attention"),
    "imported by text": ("def f(x):\n    import importlib\n    return importlib.import_module('nlmcore.attention').attend(x, x)", "nlmcore.attention"),
    "as an attribute": ("import nlmcore\ndef f(x): return nlmcore.attention.attend(x, x)", "nlmcore.attention"),
    "a submodule": ("def f(x):\n    import nlmcore.attention.scores\n    return x", "nlmcore.attention"),
}  # fmt: skip


BENEATH = {
    "a private operation": "import torch\ndef f(x): return torch._softmax(x, -1, False)",
    "its packet": "import torch\ndef f(x): return torch.ops.aten._softmax.default(x, -1, False)",
    "another private one": "import torch\ndef f(x): return torch._safe_softmax(x, -1)",
    "one with a mask": "import torch\ndef f(x): return torch._masked_softmax(x, x > 9, -1)",
    "an overload by its name": "import torch\ndef f(x): return torch._C._get_operation_overload('aten::softmax', 'int')[0](x, -1)",
    "TorchScript's": "import torch\ndef f(x): return torch._C._jit_get_operation('aten::softmax')[0](x, -1)",
    "out of the trap": "import torch\nS = [c.cell_contents for c in torch.softmax.__closure__ if callable(c.cell_contents)][0]\ndef f(x): return S(x, -1)",
    "the trap disarmed": "import sys, torch\nclass Never(set):\n    def update(self, *a): pass\n"
    "for m in list(sys.modules.values()):\n    if hasattr(m, '_armed'): m._armed = Never()\ndef f(x): return torch.softmax(x, -1)",
    "attention from its parts": "import torch\ndef f(x): return torch._scaled_dot_product_attention_math(x, x, x)[0]",
}  # fmt: skip
"""Roads to the same kernels that no trap stands at."""


def put(box: Box, source: str, closed: tuple[str, ...] = (), scoped: tuple[str, ...] = ()) -> BoxResult:
    ask = Interview(function="f", arguments=("x",), returns=("y",), calls=((X,),), closed=scoped)
    job = Job(name="closed", cells=(*cells(source), Cell(id="test", source="", interviews=(ask,))), closed=closed)
    result = box.run(job)
    assert result.ended == "finished", result.words
    return result


def fault(result: BoxResult) -> Fault:
    found = result.cells[-1].outcomes[0][0].fault
    assert found is not None, "the closed name could be used"
    return found


@pytest.mark.parametrize("road", ROADS)
def test_every_road_to_a_closed_name_is_closed(box: Box, road: str) -> None:
    source, name = ROADS[road]
    result = put(box, source, closed=CLOSED)
    assert name in fault(result).words
    if name == "no attribute":
        return
    assert fault(result).kind == "ClosedName", fault(result)
    assert any(name in used for used in result.cells[-1].closed)


@pytest.mark.parametrize(
    "road", [r for r in ROADS if "nlmcore" not in ROADS[r][0] and "__wrapped__" not in ROADS[r][0]]
)
def test_for_one_question_alone(box: Box, road: str) -> None:
    """Open in every cell, and in questions that do not close it, also through what was taken before."""
    source, name = ROADS[road]
    scoped = tuple(n for n in CLOSED if not n.startswith("nlmcore"))
    result = put(box, source, scoped=scoped)
    assert fault(result).kind == "ClosedName"
    assert name in fault(result).words
    free = Interview(function="f", arguments=("x",), returns=("y",), calls=((X,),))
    shut = Interview(function="f", arguments=("x",), returns=("y",), calls=((X,),), closed=scoped)
    asked = (free, shut, free)
    job = Job(
        name="scoped",
        cells=(
            *cells(source, "import torch\ntorch.softmax(torch.ones(1), -1)"),
            Cell(id="test", source="", interviews=asked),
        ),
    )
    result = box.run(job)
    kinds = [row[0].fault.kind if row[0].fault else "" for row in result.cells[-1].outcomes]
    assert kinds[1] == "ClosedName"
    assert kinds[0] == kinds[2] != "ClosedName"
    assert result.cells[1].closed == ()


@pytest.mark.parametrize("road", BENEATH)
def test_a_question_hears_the_kernels_of_what_it_closes(box: Box, road: str) -> None:
    scoped = tuple(n for n in CLOSED if not n.startswith("nlmcore"))
    result = put(box, BENEATH[road], scoped=scoped)
    assert fault(result).kind == "ClosedName"
    assert set(result.cells[-1].closed) & set(scoped)


def test_a_question_hears_nothing_in_what_it_leaves_open(box: Box) -> None:
    source = (
        "import torch\ndef f(x): return (x - torch.logsumexp(x, -1, keepdim=True)).exp() + torch.log_softmax(x, -1)"
    )
    result = put(box, source, scoped=("torch.softmax", "torch.nn.functional.scaled_dot_product_attention"))
    torch.testing.assert_close(
        result.cells[-1].outcomes[0][0].outputs[0], torch.softmax(X, -1) + torch.log_softmax(X, -1)
    )
    assert result.cells[-1].closed == ()
    softmax = "import torch\ndef f(x): return torch.softmax(x, -1)"
    assert put(box, softmax, scoped=("torch.nn.functional.scaled_dot_product_attention",)).cells[-1].closed == ()


def test_open_names_are_untouched(box: Box) -> None:
    result = put(
        box, "import torch\ndef f(x): return torch.log_softmax(x, -1) + torch.nn.functional.relu(x)", closed=CLOSED
    )
    torch.testing.assert_close(result.cells[-1].outcomes[0][0].outputs[0], torch.log_softmax(X, -1) + X.relu())
    assert result.cells[-1].closed == ()


def test_the_source_of_a_closed_room_cannot_be_read(box: Box) -> None:
    source = """
import nlmcore, os
root = nlmcore.__path__[0]
found = []
for where, _, files in os.walk(root):
    found += [os.path.join(where, f) for f in files if 'attention' in where.removeprefix(root).split(os.sep)[1:2]]
print(found, os.path.exists(os.path.join(root, 'recurrent', '__init__.py')))
open(os.path.join(root, 'attention', '__init__.py'))
"""
    result = box.run(Job(name="source", cells=cells(source), closed=CLOSED))
    assert shown(result).startswith("[] True\n")
    assert "Error" in shown(result)


def test_the_reference_is_not_in_memory(box: Box) -> None:
    source = "import gc, types, lectures.show\n"
    source += "print([f.__module__ for f in gc.get_objects() if isinstance(f, types.FunctionType)"
    source += (
        " and str(f.__module__).startswith(('nlmcore.attention', 'autograder.checks', 'autograder.exercise.verdict'))])"
    )
    assert shown(box.run(Job(name="memory", cells=cells(source), closed=CLOSED))) == "[]\n"


def test_what_is_closed_for_good_is_gone_from_memory_too(box: Box) -> None:
    source = """
import gc, torch
gc.unfreeze()
names, traps = ('softmax', 'scaled_dot_product_attention'), 'autograder.box.inside.closing'
kinds = (type(torch.relu), type(torch.Tensor.relu))
print({str(x) for o in gc.get_objects() if type(o) in (dict, tuple) for x in (o.values() if type(o) is dict else o)
       if type(x) in kinds and x.__name__ in names})
"""
    result = box.run(Job(name="memory", cells=cells(source), closed=CLOSED), Limits(cell_wall=30))
    assert shown(result) == "set()\n", shown(result)


def test_rooms_built_on_a_closed_one_say_so_and_nobody_is_blamed(box: Box) -> None:
    result = box.run(Job(name="built on", cells=cells("import nlmcore.transformer"), closed=CLOSED))
    assert "is built on nlmcore.attention, which is closed while this notebook is graded" in shown(result)
    assert result.cells[0].closed == ()
    other = box.run(
        Job(name="others", cells=cells("import nlmcore.recurrent, nlmcore.ngram\nprint('open')"), closed=CLOSED)
    )
    assert shown(other) == "open\n"


def test_use_in_a_cell_is_told_there(box: Box) -> None:
    result = box.run(Job(name="cell", cells=cells("from nlmcore.attention import attend", "1"), closed=CLOSED))
    assert [cell.closed for cell in result.cells] == [("nlmcore.attention",), ()]
    assert "ClosedName: nlmcore.attention is closed in this exercise" in shown(result)


@pytest.mark.parametrize("name", ["torch.nn.functional.nothing", "nlmcore.nothing", "no_such_module.f"])
def test_a_closed_name_that_is_none_is_the_graders_fault(box: Box, name: str) -> None:
    with pytest.raises(BoxFault, match="closed name"):
        box.run(Job(name="none", cells=cells("1"), closed=(name,)))
    is_whole(box)


def test_a_module_is_closed_for_the_notebook_or_not_at_all(box: Box) -> None:
    with pytest.raises(BoxFault, match="whole notebook or not at all"):
        put(box, "def f(x): return x", scoped=("nlmcore.attention",))
    is_whole(box)
