"""Laws of gated cells: the new state follows from the gates that the student returned, right or wrong."""

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels


@travels
def mixes(case: Case, got: Outcomes, gate: int, candidate: int) -> str | None:
    """Output 0 is the old state `known[0]` and the output `candidate`, mixed by the output `gate`."""
    new, g, r = (got[0].outputs[index].double() for index in (0, gate, candidate))
    if complaint := _no_gate(g):
        return complaint
    wanted = g * case.known[0].double() + (1 - g) * r
    return None if close(new, wanted) else "the new state does not follow from the gate and candidate you returned"


def remembers(case: Case, got: Outcomes) -> str | None:
    """c = f ⊙ c_before + i ⊙ g, with the returned gates; `known[0]` is the memory before."""
    c, (i, f, g, _) = got[0].outputs[1].double(), got[0].outputs[2].double().unbind(0)
    if complaint := _no_gate(i) or _no_gate(f):
        return complaint
    wanted = f * case.known[0].double() + i * g
    return None if close(c, wanted) else "the new memory does not follow from the gates that you returned"


def shows(case: Case, got: Outcomes) -> str | None:
    """h = o ⊙ tanh(c), with the returned c and o."""
    h, c, o = got[0].outputs[0].double(), got[0].outputs[1].double(), got[0].outputs[2].double()[3]
    if complaint := _no_gate(o):
        return complaint
    if _constant(c):
        return "the memory is the same everywhere"
    return None if close(h, o * c.tanh()) else "h does not follow from the memory and the output gate that you returned"


def _no_gate(g: Tensor) -> str | None:
    if not bool(((g > 0) & (g < 1)).all()):
        return "a gate is outside 0 to 1"
    return "a gate is the same everywhere" if _constant(g) else None


def _constant(numbers: Tensor) -> bool:
    """Constant, or with differences so small that a product with them is lost in the tolerance."""
    return bool((numbers - numbers.mean()).abs().max() < 0.05)
