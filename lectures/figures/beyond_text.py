"""The picture at the top of the lecture `beyond_text`: three things that are sequences of tokens."""

from lectures.show import Canvas
from lectures.show.music import VOICES, note_name
from lectures.show.svg import BLUE, COLOURS, ORANGE, png_address
from lectures.recipes.scenes import PAIRS, scene
from nlmcore.corpora import load
from nlmcore.vision import to_patches

import numpy as np

CELL = 52


def anything_as_tokens() -> str:
    """A digit in patches, two chords of a chorale, and a caption beside its picture."""
    canvas = Canvas()
    digit = load("digits").train[0].image
    canvas.text(0, 20, "a picture: patches, row by row", 17, bold=True)
    patches = to_patches(digit[None], 2)[0]
    for k in range(12):
        canvas.photograph(
            grey(patches[k].reshape(2, 2).numpy()),
            68 * k,
            34,
            CELL,
            CELL,
        )
        canvas.rect(68 * k, 34, CELL, CELL, stroke="#888")
    canvas.text(68 * 12, 66, "…", 20)
    canvas.text(0, 126, "music: four voices in turn", 17, bold=True)
    chords = (67, 62, 59, 43, 67, 62, 59, 43, 67, 62, 59, 55)
    for k, pitch in enumerate(chords):
        fill = COLOURS[k % 4]
        canvas.box(68 * k, 140, CELL, CELL, note_name(pitch), "#ffffff", fill, 4, size=18)
        canvas.text(68 * k + CELL / 2, 210, VOICES[k % 4][0].upper(), 15, "middle")
    canvas.text(68 * 12, 172, "…", 20)
    shown = scene(PAIRS[0], np.random.default_rng(3))
    canvas.text(0, 248, "a caption, with the picture as its source", 17, bold=True)
    canvas.photograph(grey(shown.image.numpy()), 0, 262, 160, 80)
    for k, word in enumerate(shown.caption.split()):
        canvas.box(
            184 + 108 * k,
            280,
            100,
            44,
            word,
            "#ffffff",
            ORANGE if word in shown.names else BLUE,
            3,
            size=18,
        )
    chord = ", ".join(map(note_name, chords[:4]))
    return canvas.svg(
        f"Three sequences of tokens: 12 patches of 2 × 2 pixels of a digit; the notes {chord} and so on, soprano, alto,"
        f" tenor and bass in turn; and the caption “{shown.caption}” beside its picture."
    )


def grey(pixels: np.ndarray) -> str:
    return png_address((255 * pixels).astype(np.uint8))


PICTURES = {"anything_as_tokens": anything_as_tokens}
