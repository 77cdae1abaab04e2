"""What every model of the library refuses when it is built, said once; and how a part is named in words."""

from functools import partial


def called(value: object) -> str:
    """A part by its name, and what `partial` has fixed of it, as it would be written; a size as it is."""
    if isinstance(value, partial):
        fixed = [*map(called, value.args), *(f"{name}={called(given)}" for name, given in value.keywords.items())]
        return f"partial({', '.join([called(value.func), *fixed])})"
    return str(getattr(value, "__name__", None) or repr(value))


def check_sizes(**sizes: object) -> None:
    """Refuse sizes below 1: ValueError, or TypeError for what is no whole number."""
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"{name} must be a whole number, got {type(size).__name__} {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_switches(**switches: object) -> None:
    """Refuse what is neither True nor False with TypeError: "no" would count as True."""
    for name, switch in switches.items():
        if not isinstance(switch, bool):
            raise TypeError(f"{name} must be True or False, got {type(switch).__name__} {switch!r}")


def check_dropout(dropout: object) -> None:
    """Refuse a dropout outside [0, 1) with ValueError, and what is no number with TypeError."""
    if not isinstance(dropout, float | int) or isinstance(dropout, bool):
        raise TypeError(f"dropout must be a number in [0, 1), got {type(dropout).__name__} {dropout!r}")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
