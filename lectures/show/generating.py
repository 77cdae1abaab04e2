"""What a generator pays for each word, what it reads at each step, and how two of its texts part."""

import html
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, label_width, svg, text

TRUE, OWN, PALE = "#0072B2", "#D55E00", "#EFEFEF"
_COLOURS = ("#0072B2", "#B34700", "#00664A", "#8F3F71")
_DASHES = ("", "10 5", "3 4", "12 4 3 4")


def losses_svg(words: Sequence[str], nats: ArrayLike, *, chosen: int | None = None, note: str = "") -> str:
    """A bar of −ln P above every word; their sum and mean in the title. One bar may be chosen.

    Raises ValueError if there is not one finite number of at least 0 per word, or no word.
    """
    losses = np.asarray(nats, dtype=float)
    if losses.shape != (len(words),) or not len(words) or not np.isfinite(losses).all() or (losses < 0).any():
        raise ValueError(f"losses_svg needs one loss of at least 0 per word, got {losses.shape} for {len(words)} words")
    wide, tall, left, top = max(44.0, min(72.0, 900.0 / len(words))), 170.0, 10.0, 40.0
    reach = max(10.0, float(losses.max()))
    base = top + tall + 22
    total = f"sum {losses.sum():.2f} nats over {len(words)} predictions, mean {losses.mean():.2f}"
    body = [text(left, 20, total, 17, more='font-weight="bold"')]
    for i, (word, loss) in enumerate(zip(words, losses, strict=True)):
        x, high = left + wide * i, tall * float(loss) / reach
        colour = OWN if i == chosen else TRUE
        body.append(
            f'<rect x="{x + 4:.1f}" y="{base - high:.1f}" width="{wide - 8:.1f}" height="{high:.1f}" fill="{colour}"/>'
        )
        body.append(text(x + wide / 2, base - high - 6, f"{loss:.1f}", 15, "middle"))
        weight = 'font-weight="bold" ' if i == chosen else ""
        turn = f'{weight}transform="rotate(38 {x + wide / 2 - 6:.1f} {base + 20:.1f})"'
        body.append(text(x + wide / 2 - 6, base + 20, word, 16, "start", turn))
    right = left + wide * len(words)
    body.append(f'<line x1="{left}" x2="{right:.1f}" y1="{base}" y2="{base}" stroke="{FAINT}"/>')
    under = base + 34 + 0.62 * label_width(words, 16)
    if note:
        body.append(text(left, under + 8, note, 16))
        under += 20
    width = max(right + 0.8 * label_width(words, 16), 620.0, len(note) * 8.8)
    pairs = ", ".join(f"{word} {loss:.1f}" for word, loss in zip(words, losses, strict=True))
    return svg(width, under, "".join(body), f"Loss of each word in nats: {pairs}; {total}. {note}".strip())


def schedules_svg(
    steps: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    step: float | int,
    chosen: str,
    width: float | int = 560,
    height: float | int = 300,
) -> str:
    """The share of true words read against the training step, one line per schedule; a dot at `step` on the chosen one.

    Raises ValueError if a line and steps differ in length, for a step outside, or a name that is not there.
    """
    across = np.asarray(steps, dtype=float)
    shares = {name: np.asarray(line, dtype=float) for name, line in lines.items()}
    if chosen not in shares or any(line.shape != across.shape for line in shares.values()):
        raise ValueError(
            f"lines must have one share per step, {across.shape}, and one of them is chosen: got {chosen!r},"
            f" lines { {name: line.shape for name, line in shares.items()} }"
        )
    last = float(across[-1])
    if not across[0] <= step <= last:
        raise ValueError(f"step must lie in [{across[0]:g}, {last:g}], got {step}")
    left, top, base = 54.0, 24.0 + 24 * len(shares), float(height) - 46
    wide = float(width) - left - 16

    def at(i: float | int, share: float | int) -> tuple[float, float]:
        return left + wide * i / last, base - (base - top) * share

    body = []
    for level in (0.0, 0.5, 1.0):
        _, y = at(0, level)
        body.append(f'<line x1="{left}" x2="{left + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        body.append(text(left - 8, y + 5, f"{level:g}", 15, "end"))
    body.append(text(left, base + 22, "0", 15, "middle"))
    body.append(text(left + wide, base + 22, f"{last:,.0f}", 15, "end"))
    body.append(text(left + wide / 2, base + 38, "training step i", 16, "middle"))
    for k, (name, line) in enumerate(shares.items()):
        colour, here = _COLOURS[k % 4], name == chosen
        places = (at(float(i), float(share)) for i, share in zip(across, line, strict=True))
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        style = f'stroke="{colour}" stroke-width="{4 if here else 2}" stroke-dasharray="{_DASHES[k % 4]}"'
        body.append(f'<polyline points="{points}" fill="none" {style}/>')
        y = 16.0 + 24 * k
        body.append(f'<line x1="{left}" x2="{left + 42}" y1="{y - 5}" y2="{y - 5}" {style}/>')
        body.append(text(left + 50, y, name, 16, more='font-weight="bold"' if here else ""))
    now = float(np.interp(step, across, shares[chosen]))
    x, y = at(step, now)
    body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="#000"/>')
    says = f"Share of true words against the training step; {chosen}, step {step:g}: {now:.2f}."
    return svg(width, height, "".join(body), says)


def inputs_svg(
    true: Sequence[str], own: Sequence[str], is_true: Sequence[bool], targets: Sequence[str], *, title: str = ""
) -> str:
    """Which word each step reads: the true one (blue) or the one that the model drew itself (orange); what it pays for.

    own: what the model drew for each place; the first place has none ("").
    Raises ValueError if the four differ in length.
    """
    n = len(true)
    if not n == len(own) == len(is_true) == len(targets) or not n:
        raise ValueError(
            f"inputs_svg needs four rows of one length, got {[len(r) for r in (true, own, is_true, targets)]}"
        )
    wide = [max(label_width([a, b, c], 16), 54.0) for a, b, c in zip(true, own, targets, strict=True)]
    names = ["pays for", "true word", "own word"]
    left, top, tall = label_width(names, 16) + 8, 34.0 if title else 6.0, 36.0
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    for row, name in enumerate(names):
        body.append(text(left - 10, top + row * (tall + 12) + 24, name, 16, "end"))
    x = left
    for i in range(n):
        cells = (
            (targets[i], "#ffffff", "#1a1a1a"),
            (true[i], TRUE if is_true[i] else PALE, "#ffffff" if is_true[i] else "#6a6a6a"),
            (own[i], PALE if is_true[i] else OWN, "#6a6a6a" if is_true[i] else "#000000"),
        )
        for row, (word, fill, ink) in enumerate(cells):
            y = top + row * (tall + 12)
            if word or row < 2:
                edge = "#999999" if row == 0 else fill
                body.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide[i] - 6:.1f}" height="{tall}" rx="5" fill="{fill}"'
                    f' stroke="{edge}"/>'
                )
                body.append(text(x + wide[i] / 2 - 3, y + 24, word, 16, "middle", f'style="fill:{ink}"'))
        x += wide[i]
    read = " ".join(a if flag else f"[{b}]" for a, b, flag in zip(true, own, is_true, strict=True))
    share = sum(is_true) / n
    return svg(
        x + 4, top + 3 * (tall + 12), "".join(body), f"Read, own words in brackets: {read}; {share:.0%} are true."
    )


def parted_svg(first: str, second: str, *, changed: int, names: Sequence[str], per_line: int = 56) -> str:
    """Two texts letter by letter, one above the other; equal letters are pale, others blue and orange.

    changed: the place of the letter that was changed by hand, framed. Raises ValueError if lengths differ.
    """
    if len(first) != len(second) or len(names) != 2:
        raise ValueError(f"parted_svg needs two texts of one length and two names, got {len(first)} and {len(second)}")
    wide, tall, left = 15.0, 28.0, label_width(names, 16) + 6
    mono = "font-family:'DejaVu Sans Mono',monospace"
    body = []
    shown = {"\n": "\N{DOWNWARDS ARROW WITH TIP LEFTWARDS}", " ": ""}
    for start in range(0, len(first), per_line):
        y = (start // per_line) * (2 * tall + 16)
        for row, (line, name) in enumerate(zip((first, second), names, strict=True)):
            body.append(text(left - 10, y + row * tall + 20, name, 16, "end"))
            for i in range(start, min(start + per_line, len(line))):
                x, other = left + wide * (i - start), first[i] != second[i]
                fill = ((TRUE, OWN)[row] if other else PALE) if i >= changed or other else "#ffffff"
                ink = "#ffffff" if other and row == 0 else "#000000"
                frame = 'stroke="#000" stroke-width="2.5"' if i == changed else ""
                down = y + row * tall
                body.append(
                    f'<rect x="{x:.0f}" y="{down:.0f}" width="{wide}" height="{tall - 2}" fill="{fill}" {frame}/>'
                    f'<text x="{x + wide / 2:.1f}" y="{down + 19:.0f}" font-size="17" text-anchor="middle"'
                    f' fill="{ink}" style="{mono}">{html.escape(shown.get(line[i], line[i]))}</text>'
                )
    rows = -(-len(first) // per_line)
    after = [a == b for a, b in zip(first[changed + 1 :], second[changed + 1 :], strict=True)]
    share = sum(after) / max(len(after), 1)
    note = f"letters after the change that are equal, place by place: {sum(after)} of {len(after)}"
    y = rows * (2 * tall + 16)
    body.append(text(0, y + 18, note, 16))
    says = (
        f"Two texts that differ in letter {changed + 1}. {note}, {share:.0%}. {names[0]}: {first} {names[1]}: {second}"
    )
    return svg(left + wide * per_line + 6, y + 30, "".join(body), says)
