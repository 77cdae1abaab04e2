"""Words in the pieces that a tokenizer cuts them into, as boxes that follow each other like text."""

import html
from collections.abc import Sequence

from lectures.show.svg import FONT, blue


def pieces_html(
    words: Sequence[Sequence[str]], *, alt: str, framed: Sequence[str] = (), title: str = "", note: str = ""
) -> str:
    """One group of boxes per word, one box per piece; those in `framed` have an orange frame. A space is shown as ␣.

    Raises ValueError if there is no word, or a word without a piece.
    """
    if not words or not all(words):
        raise ValueError("pieces_html needs at least one word, and at least one piece per word")
    groups = []
    for word in words:
        boxes = []
        for i, piece in enumerate(word):
            frame = "outline:3px solid #D55E00;" if piece in framed else ""
            shown = html.escape(
                piece.replace(" ", "\N{OPEN BOX}").replace("\n", "\N{DOWNWARDS ARROW WITH TIP LEFTWARDS}")
            )
            style = f"background:{blue(0.12 + 0.16 * (i % 2))};{frame}padding:2px 4px;margin:0 1px;border-radius:3px"
            boxes.append(f'<span style="{style}">{shown}</span>')
        groups.append(f'<span style="white-space:nowrap;margin-right:9px">{"".join(boxes)}</span>')
    head = f'<p style="font-size:17px;margin:4px 0"><b>{html.escape(title)}</b></p>' if title else ""
    lines = "".join(f'<p style="font-size:17px;margin:4px 0">{html.escape(line)}</p>' for line in note.splitlines())
    outer = f"background:#fff;color:#1a1a1a;max-width:860px;{FONT}"
    return (
        f'<div role="img" aria-label="{html.escape(alt)}" style="{outer}">{head}'
        f"<p style=\"font-size:20px;line-height:2.0;margin:4px 0;font-family:'DejaVu Sans Mono',monospace\">"
        f"{' '.join(groups)}</p>{lines}</div>"
    )
