"""A piano roll draws each stretch of one pitch once, and a player holds a sound that can be read back."""

import base64
import io
import re
import wave

import numpy as np
import pytest

from lectures.show import note_name, piano_roll_svg, player_html
from tests.pictures import nameless_in_html

VOICES = np.array([[72, 72, 74, 0], [67, 67, 67, 67]])


def test_notes_have_names() -> None:
    assert [note_name(pitch) for pitch in (60, 69, 61, 36, 0)] == ["C4", "A4", "C♯4", "C2", "silence"]


def test_a_stretch_of_one_pitch_is_one_bar() -> None:
    drawn = piano_roll_svg(VOICES, title="two voices", given=2)
    told = re.findall(r"<title>(.*?)</title>", drawn)
    assert told == ["soprano: C5, 2 sixteenths", "soprano: D5, 1 sixteenths", "alto: G4, 4 sixteenths"]
    bars = [
        dict(re.findall(r'(x|y|width|height)="([\d.]+)"', rect)) for rect in re.findall(r"<rect ([^>]*)><title>", drawn)
    ]
    wide, high = ([float(bar[side]) for bar in bars] for side in ("width", "y"))
    assert wide[0] + 2 == pytest.approx(2 * (wide[1] + 2), abs=0.3)
    assert wide[2] + 2 == pytest.approx(4 * (wide[1] + 2), abs=0.5)
    assert high[1] < high[0] < high[2], "a higher pitch is drawn higher"
    assert "soprano C5 to D5; alto G4 to G4. The first chord: C5, G4. The first 2 sixteenths are given" in drawn
    assert not nameless_in_html(drawn)


def sound(player: str) -> tuple[int, np.ndarray]:
    found = re.search(r"base64,([^\"]+)", player)
    assert found
    with wave.open(io.BytesIO(base64.b64decode(found[1]))) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 1)
        return file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), np.uint8) - 128.0


def test_what_is_played_has_its_length_and_its_pitch() -> None:
    rate, samples = sound(player_html([[69] * 16], seconds_per_step=0.125))
    assert len(samples) == 2 * rate
    loudest = np.abs(np.fft.rfft(samples)).argmax() * rate / len(samples)
    assert loudest == pytest.approx(440, abs=2)


def test_silence_is_silent_and_a_player_is_small() -> None:
    assert not sound(player_html([[0, 0]]))[1].any()
    player = player_html(np.tile([[72], [67], [64], [48]], 64), says="play it")
    assert len(player) < 200_000
    assert 'aria-label="play it"' in player


def test_what_is_refused() -> None:
    for voices in ([60, 62], [[]], [[-1]], [[128]]):
        with pytest.raises(ValueError, match="voices must be MIDI pitches"):
            piano_roll_svg(voices)
