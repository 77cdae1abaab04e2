"""What the recipes of pictures and chorales are made of."""

import math
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
import torch
from torch import Tensor

from lectures.recipes import captions, chorales, image_data, scenes
from lectures.trained import build
from nlmcore.corpora import load, packaged
from tests.lectures.runs import a_run


def test_a_shift_moves_every_image_by_at_most_a_pixel():
    images = torch.rand(50, 8, 8)
    moved = image_data.shifted(images, torch.Generator().manual_seed(0))
    seen = set()
    for image, new in zip(images, moved, strict=True):
        padded = torch.nn.functional.pad(image, (1, 1, 1, 1))
        found = [(r, c) for r in range(3) for c in range(3) if torch.equal(padded[r : r + 8, c : c + 8], new)]
        assert len(found) == 1
        seen.add(found[0])
    assert len(seen) == 9


def test_smaller_sets_lie_in_larger_ones_and_the_networks_are_of_one_size():
    assert set(image_data.subset(100, 3).tolist()) < set(image_data.subset(300, 3).tolist())
    sizes = [sum(p.numel() for p in image_data.encoder(kind).parameters()) for kind in (image_data.CNN, image_data.VIT)]
    assert max(sizes) / min(sizes) < 1.12


def test_the_nearest_neighbour_of_an_image_is_itself(monkeypatch):
    images, labels = image_data.digits()["train"]
    monkeypatch.setattr(image_data, "digits", lambda: {"train": (images, labels), "test": (images, labels)})
    assert image_data.nearest(len(images), 0) == 1.0


def test_a_scene_is_its_caption():
    for one in scenes.scenes(40, 1, held_out=False):
        first, second = one.caption.split(" left of ")
        assert [first.split()[1], second.split()[1]] == list(one.names)
        assert [first.split()[0], second.split()[0]] == ["an" if n[0] in "aeiou" else "a" for n in one.names]
        ink = torch.zeros_like(one.image, dtype=torch.bool)
        for half, (top, left, bottom, right) in enumerate(one.boxes):
            assert 0 <= top < bottom <= scenes.ROWS
            assert half * 16 <= left < right <= half * 16 + 16
            ink[top:bottom, left:right] = True
        assert not one.image[~ink].any(), "nothing is drawn outside of the boxes"
        assert float(one.image.max()) <= 1


def test_scattered_symbols_may_be_in_one_half():
    pictures = scenes.scenes(60, 1, False, scenes.SCATTERED)
    for one in pictures:
        (_, left, _, end), (_, other_left, _, other_end) = one.boxes
        assert 0 <= left < end <= other_left < other_end <= scenes.SCATTERED.columns
        assert one.image.shape == (scenes.ROWS, scenes.SCATTERED.columns)
        assert one.caption == f"{scenes.article(one.names[0])} left of {scenes.article(one.names[1])}"
    half = scenes.SCATTERED.columns // 2
    assert any(one.boxes[1][3] <= half for one in pictures)
    assert any(one.boxes[0][1] >= half for one in pictures)


def test_nothing_that_never_looks_scores_more_than_without_looking():
    pictures = scenes.scenes(30, 1, False, scenes.SCATTERED)
    boxes = captions.touched(pictures)
    assert boxes.shape == (30, 2, 4 * 12)
    for which, best in enumerate(captions.without_looking(boxes)):
        fixed = torch.softmax(3 * torch.randn(200, 48), -1)
        assert float((boxes[:, which].mean(0) * fixed).sum(-1).max()) <= float(best) <= 1


def test_no_pair_is_in_both_parts():
    seen, new = ({frozenset(one.names) for one in scenes.scenes(400, 2, held_out)} for held_out in (False, True))
    assert not seen & new
    assert {name for pair in new for name in pair} <= {name for pair in seen for name in pair}
    assert len(new) == len(scenes.HELD_OUT)


def test_a_box_touches_locations():
    touched = scenes.in_box((3, 4, 5, 9), 4).unflatten(0, (4, 8))
    assert touched.nonzero().tolist() == [[0, 1], [0, 2], [1, 1], [1, 2]]


def test_scores_of_attention_are_masses(unchecked):
    torch.manual_seed(0)
    model = build("Captioner", captions.config("patches")).eval()
    pictures = scenes.scenes(3, 5, held_out=True)
    found = captions.scored(model, pictures)
    weights, log_p, words = captions.reading(model, pictures)
    mass, elsewhere = [], []
    for i, one in enumerate(pictures):
        for which, name in enumerate(one.names):
            at = captions.noun_at(one, which)
            assert captions.TOKENIZER.decode([int(words[i, at])]) == name
            touched = scenes.in_box(one.boxes[which], captions.STEP)
            mass.append(float(weights[i, at][touched].sum()))
            before = (i - 1) % len(pictures)
            at_theirs = captions.noun_at(pictures[before], which)
            elsewhere.append(float(weights[before, at_theirs][touched].sum()))
    assert found["in_box"] == pytest.approx(sum(mass) / len(mass), abs=1e-4)
    assert found["another_picture"] == pytest.approx(sum(elsewhere) / len(elsewhere), abs=1e-4)
    assert float(weights.sum(-1).min()) == pytest.approx(1, abs=1e-5)
    blank = captions.erased(pictures[0], 0)
    assert blank.image.sum() < pictures[0].image.sum()
    assert not torch.equal(captions.reading(model, [blank])[1], log_p[:1])


def test_the_penalty_is_added():
    torch.manual_seed(0)
    model = build("Captioner", captions.config("patches"))
    batch = next(captions.Pictures(4, 0)(0))
    plain, more = (captions.caption_loss(model, batch, penalty).item() for penalty in (0.0, 2.0))
    assert more > plain
    assert model.decoder.attention.recorder is None


def test_an_unknown_image_encoder_is_refused():
    with pytest.raises(ValueError, match="encoder must be one of ConvEncoder, VisionTransformer, got 'Linear'"):
        build("Captioner", {"encoder": {"class": "Linear"}, "vocab_size": 5})


TEXT = "".join(f"C>;{chr(43 + k % 3)}" for k in range(40))


def test_windows_begin_with_a_soprano_and_keep_their_intervals():
    rows, _ = next(chorales.Windows([TEXT], 8, 16, 0)(0))
    assert rows.shape == (8, 17)
    pitches = chorales.pitches(rows[0][:16])
    assert (pitches[0] - pitches[1]).tolist() == [5] * 4
    shifts = {int(chorales.pitches(row[:16])[0, 0]) - 67 for row in rows}
    assert len(shifts) > 1
    assert max(map(abs, shifts)) <= chorales.SHIFT


def test_losses_are_split_by_voice_and_by_change():
    windows = chorales.held_out([TEXT], 16)
    nats = torch.zeros(len(windows), 16)
    for t in range(16):
        nats[:, t] = float((t + 1) % 4)  # each voice its number
    found = chorales.split_losses(nats, windows)
    assert found["by_voice"] == [0.0, 1.0, 2.0, 3.0]
    assert found["changed"] == 3.0, "only the bass moves in this text"
    assert found["held"] == 0.9, "of thirteen pitches with a predecessor four sopranos (0), three altos (1), tenors (2)"
    assert math.isclose(found["all"], 1.5)


def test_a_voice_label_is_its_position_modulo_four():
    positions = chorales.VoiceLabels(chorales.NoPositions, 16, 6)
    x = torch.zeros(1, 8, 6)
    labels = positions(x)
    assert torch.equal(labels[:, :4], labels[:, 4:])
    assert torch.equal(positions(x[:, :3], first=5), labels[:, 1:4])


class Copycat:
    """Sings the soprano's pitch."""

    vocab_size = chorales.TOKENIZER.vocab_size

    def __call__(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return 50.0 * torch.nn.functional.one_hot(tokens, self.vocab_size), tokens


def test_harmonising_keeps_the_melody():
    melody = torch.tensor([chorales.TOKENIZER.encode("CDE")])
    sung = chorales.harmonise(Copycat(), melody)
    assert chorales.TOKENIZER.decode(sung[0].tolist()) == "CCCCDDDDEEEE"
    assert chorales.pitches(sung[0])[:, 1].tolist() == [68] * 4


def test_without_the_package_the_pieces_are_the_models_own(monkeypatch):
    def missing(package):
        raise PackageNotFoundError(package)

    pieces, told = chorales.unseen_pieces(Copycat())
    assert (len(pieces), told) == (len(load("chorales").test), "")
    monkeypatch.setattr(packaged, "distribution", missing)
    monkeypatch.setattr(chorales, "load", lambda name: packaged.data_file("music21>=10.5,<11", name))
    pieces, told = chorales.unseen_pieces(Copycat())
    assert "pip install --no-deps 'music21>=10.5,<11'" in told
    assert {len(tokens) for tokens in pieces.values()} == {chorales.TIME}


def test_a_quick_run_has_every_row(tmp_path, unchecked):
    run = a_run(tmp_path)
    text = chorales.transposed("C>;+" * 100, 1)
    rows = chorales.compare(run, {split: [text] for split in ("train", "valid", "test")})
    assert rows.keys() == chorales.ROWS.keys()
    assert all(np.isfinite([*of["all"], *of["held"], *of["by_voice"][0]]).all() for of in rows.values())
