"""Hypotheses of a search as a table, best first."""

from collections.abc import Sequence

from lectures.show.svg import svg, text


def ranking_svg(
    texts: Sequence[str],
    lengths: Sequence[int],
    log_probs: Sequence[float | int],
    scores: Sequence[float | int],
    *,
    title: str = "",
    rows: int = 8,
) -> str:
    """The `rows` best by score, each with its length, ln P and score; the best one stands on orange.

    Equal scores stay in the order given. Raises ValueError if there is not one of each per text.
    """
    if not len(texts) == len(lengths) == len(log_probs) == len(scores) or not texts:
        raise ValueError(
            f"ranking_svg needs a length, ln P and a score per text, got {len(texts)} texts, {len(lengths)} lengths,"
            f" {len(log_probs)} ln P and {len(scores)} scores"
        )
    order = sorted(range(len(texts)), key=lambda i: -scores[i])[:rows]
    columns = (46.0, 130.0, 226.0, 250.0)
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    top = 54.0
    for x, words, anchor in zip(
        columns, ("tokens", "ln P", "score", "text"), ("end", "end", "end", "start"), strict=True
    ):
        body.append(text(x + 14 * (anchor == "end"), top - 8, words, 15, anchor, 'font-style="italic"'))
    for place, i in enumerate(order):
        y = top + 31 * place
        if not place:
            body.append(f'<rect x="0" y="{y}" width="860" height="30" fill="#fbe3d4"/>')
        cells = (str(lengths[i]), _signed(log_probs[i], 2), _signed(scores[i], 3))
        body += [text(x + 14, y + 21, cell, 16, "end") for x, cell in zip(columns, cells, strict=False)]
        body.append(text(columns[3], y + 21, texts[i], 16, more='font-weight="bold"' if not place else ""))
    says = "; ".join(f"{texts[i]!r}, {lengths[i]} tokens, score {scores[i]:.3f}" for i in order)
    return svg(860, top + 31 * len(order) + 6, "".join(body), f"{title}. Best first: {says}.")


def _signed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")
