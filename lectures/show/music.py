"""Music: a piano roll of several voices, and a player that a browser can play without a network."""

import base64
import html
import io
import wave
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.plot import Axis, Plot
from lectures.show.svg import COLOURS, PALE, Canvas, Pixels

__all__ = ["note_name", "piano_roll_svg", "player_html"]

VOICES = ("soprano", "alto", "tenor", "bass")
RATE = 8000
_NAMES = ("C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B")
_OVERTONES = (1.0, 0.5, 0.25, 0.12)


def note_name(pitch: int) -> str:
    """A MIDI pitch in words: 60 is C4, middle C; 0 is silence."""
    return f"{_NAMES[pitch % 12]}{pitch // 12 - 1}" if pitch else "silence"


def _checked(voices: ArrayLike) -> np.ndarray:
    pitches = np.asarray(voices)
    if pitches.ndim != 2 or not pitches.size or pitches.min() < 0 or pitches.max() > 127:
        raise ValueError(f"voices must be MIDI pitches (voice, time), 0 for silence, got shape {pitches.shape}")
    return pitches.astype(int)


def _notes(line: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(first, after the last, pitch) of every stretch of one pitch."""
    borders = [0, *(np.flatnonzero(np.diff(line)) + 1).tolist(), len(line)]
    for first, end in pairwise(borders):
        if line[first]:
            yield first, end, int(line[first])


def piano_roll_svg(
    voices: ArrayLike, *, title: str = "", given: int = 0, sounding: Sequence[bool] = (), width: Pixels = 900
) -> str:
    """voices: MIDI pitches (voice, time), one per sixteenth; 0 is silence. Each stretch of one pitch is a bar.

    given: so many sixteenths at the beginning have a grey ground. sounding: voices that are not are drawn pale.
    """
    pitches = _checked(voices)
    heard = [True] * len(pitches) if not len(sounding) else list(sounding)
    low, high = int(pitches[pitches > 0].min(initial=127)) - 2, int(pitches.max()) + 2
    canvas = Canvas(title, size=16)
    beats = {beat: str(beat // 4 + 1) for beat in range(0, pitches.shape[1], 8)}
    octaves = {pitch: note_name(pitch) for pitch in range(low, high + 1) if pitch % 12 in (0, 7)}
    x, y = Axis(0, pitches.shape[1], "quarter", beats), Axis(low, high, ticks=octaves)
    plot = Plot(canvas, x, y, across=width, down=360)
    if given:
        canvas.rect(plot.left, plot.top, plot.across(given) - plot.left, plot.bottom - plot.top, PALE, opacity=0.7)
    step = plot.down(0) - plot.down(1)
    for voice, line in enumerate(pitches):
        colour = COLOURS[voice % len(COLOURS)]
        with canvas.pale(not heard[voice], 0.18):
            for i, (first, end, pitch) in enumerate(_notes(line)):
                at, wide = plot.across(first), plot.across(end) - plot.across(first)
                words = f"{VOICES[voice % 4]}: {note_name(pitch)}, {end - first} sixteenths"
                canvas.rect(at + 1, plot.down(pitch) - step / 2, wide - 2, step, colour, radius=2, says=words)
                if not i:
                    canvas.text(at + 3, plot.down(pitch) - step / 2 - 3, VOICES[voice % 4][0].upper(), 15, bold=True)
    told = [
        f"{VOICES[voice % 4]} {note_name(int(line[line > 0].min()))} to {note_name(int(line.max()))}"
        for voice, line in enumerate(pitches)
        if line.any()
    ]
    chord = ", ".join(note_name(int(pitch)) for pitch in pitches[:, 0])
    return canvas.svg(
        f"{title}. A piano roll of {pitches.shape[1]} sixteenths: {'; '.join(told)}. The first chord: {chord}."
        + (f" The first {given} sixteenths are given." if given else "")
    )


def player_html(voices: ArrayLike, *, says: str = "play", seconds_per_step: float = 0.14) -> str:
    """An <audio> element that plays MIDI pitches (voice, time), 0 for silence: 8,000 samples a second, 8 bits.

    Each note is a sum of four overtones that dies away. Its sound is in the element itself.
    """
    pitches = _checked(voices)
    samples = round(seconds_per_step * RATE)
    time = np.arange(pitches.shape[1] * samples)
    sound = np.zeros(len(time))
    for line in pitches:
        for first, end, pitch in _notes(line):
            since = time[: (end - first) * samples] / RATE
            turns = 2 * np.pi * 440 * 2 ** ((pitch - 69) / 12) * since
            loud = np.minimum(1, since / 0.01) * np.exp(-1.8 * since) * np.minimum(1, (since[-1] - since) / 0.02)
            tone = sum(share * np.sin((k + 1) * turns) for k, share in enumerate(_OVERTONES))
            sound[first * samples : end * samples] += loud * tone
    sound /= max(1e-9, np.abs(sound).max())
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 1, RATE, 0, "NONE", ""))
        out.writeframes((128 + 120 * sound).astype(np.uint8).tobytes())
    address = base64.b64encode(file.getvalue()).decode()
    return (
        f'<audio controls aria-label="{html.escape(says)}" title="{html.escape(says)}" style="display:block;max-width:100%"'
        f' src="data:audio/wav;base64,{address}"></audio>'
    )
