"""What a prediction unlocks: printed text, pictures and widgets, computed beforehand and kept from the reader."""

import contextlib
import html
import io
from typing import Any

import ipywidgets

__all__ = ["held_back"]


def held_back() -> "contextlib.redirect_stdout[io.StringIO]":
    """`with held_back() as table:` keeps what is printed, for `predict(…, reveals=table)`."""
    return contextlib.redirect_stdout(io.StringIO())


def parts_of(reveals: Any) -> list[Any]:
    """What is revealed, as widgets and pieces of HTML, one below the other."""
    if reveals is None:
        return []
    if isinstance(reveals, ipywidgets.Widget):
        return [reveals]
    if isinstance(reveals, (list, tuple)):
        return [part for one in reveals for part in parts_of(one)]
    if isinstance(reveals, io.StringIO):
        printed = reveals.getvalue().rstrip("\n")
        return [f'<pre class="nlm-printed">{html.escape(printed, quote=False)}</pre>'] if printed else []
    if callable(reveals):
        with held_back() as said:
            returned = reveals()
        return parts_of(said) + parts_of(returned)
    if isinstance(reveals, str):
        return [reveals]
    if hasattr(reveals, "_repr_mimebundle_"):
        return [reveals._repr_mimebundle_()["text/html"]]
    if hasattr(reveals, "_repr_html_"):
        return [str(reveals._repr_html_())]
    raise ValueError(f"predict cannot reveal a {type(reveals).__name__}: give a widget, a picture, HTML or a function")


def static_html(part: Any) -> str:
    """A part as HTML, for a page without a kernel."""
    return part if isinstance(part, str) else getattr(getattr(part, "picture", None), "value", "")
