"""What a widget shows when its controls are moved, and what a picture says."""

import xml.dom.minidom as xml
from typing import Any

from tests.pictures import nameless_in_html


def seen(widget: Any, **moved: Any) -> str:
    """The picture after these controls have moved to these values, one by one; nothing in it is without words."""
    for name, value in moved.items():
        widget.controls[name].value = value
    assert not nameless_in_html(widget.picture.value)
    return widget.picture.value


def spoken(drawing: str) -> str:
    return xml.parseString(drawing).documentElement.getAttribute("aria-label")
