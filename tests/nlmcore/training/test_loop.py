import itertools
import math
import os
import random
import signal
from collections import namedtuple
from functools import partial

import pytest
import torch

from nlmcore.training import (
    History,
    cosine_schedule,
    evaluate,
    fit,
    load_checkpoint,
    save_checkpoint,
    scheduled_sampling_loss,
    teacher_forcing_loss,
)
from nlmcore.transfer import LoRA
from tests.nlmcore.training.models import TinyGRU, TinySeq2Seq, text

BATCHES = list(text(20, 9).split(5))
HELD_OUT = list(text(8, 9, seed=1).split(3))
quiet_fit = partial(fit, progress=False)


def weights(model) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_same_weights(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), name


def test_it_is_the_plain_loop() -> None:
    model, mirror = TinyGRU(dropout=0.0), TinyGRU(dropout=0.0)
    history = quiet_fit(
        model, BATCHES, steps=7, learning_rate=0.02, clip_norm=0.3, schedule=partial(cosine_schedule, total=9)
    )
    optimizer = torch.optim.AdamW(mirror.parameters(), lr=0.02, weight_decay=0.0)
    for step in range(1, 8):
        optimizer.param_groups[0]["lr"] = 0.02 * cosine_schedule(step, 9)
        loss = teacher_forcing_loss(mirror, BATCHES[(step - 1) % 4])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(mirror.parameters(), 0.3)
        optimizer.step()
        assert history.losses[step - 1] == pytest.approx(loss.item(), abs=1e-5)
        assert history.gradient_norms[step - 1] == pytest.approx(norm.item(), rel=1e-3)
        assert history.learning_rates[step - 1] == pytest.approx(0.02 * cosine_schedule(step, 9))
    for one, other in zip(model.parameters(), mirror.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-5)
    assert history.stopped == "steps"
    assert history.steps == 7


def test_it_learns_and_early_stopping_keeps_the_best_weights() -> None:
    model = TinyGRU(d=16, dropout=0.0)
    before = evaluate(model, HELD_OUT)
    seen: list[float] = []

    def stop_early(record) -> None:
        seen.extend([] if record.validation is None else [record.validation])
        if len(seen) > 4 and min(seen[-4:]) > min(seen):
            raise KeyboardInterrupt

    options = {"validation": HELD_OUT, "evaluate_every": 5, "on_step": stop_early}
    history = quiet_fit(model, BATCHES[:1], epochs=400, learning_rate=0.03, **options)
    assert history.stopped == "interrupted"
    assert history.steps < 400
    best = min(history.validation, key=history.validation.__getitem__)
    assert history.best_step == best
    assert best == history.steps - 4 * 5
    assert evaluate(model, HELD_OUT) == pytest.approx(history.validation[best], abs=1e-6)
    assert history.validation[best] < before


def test_validation_after_every_epoch_and_at_the_end() -> None:
    options = {"validation": HELD_OUT, "learning_rate": 0.01}
    assert list(quiet_fit(TinyGRU(), BATCHES, epochs=2, **options).validation) == [4, 8]
    assert list(quiet_fit(TinyGRU(), BATCHES, steps=6, **options).validation) == [4, 6]
    assert list(quiet_fit(TinyGRU(), BATCHES, epochs=2, evaluate_every=3, **options).validation) == [3, 6, 8]
    assert quiet_fit(TinyGRU(), BATCHES, epochs=2).stopped == "epochs"


def test_validation_may_be_any_number_to_be_made_small() -> None:
    numbers = iter([3.0, 1.0, 2.0])
    model = TinyGRU()
    kept = []
    history = quiet_fit(
        model,
        BATCHES,
        steps=3,
        validation=lambda m: next(numbers),
        evaluate_every=1,
        on_step=lambda record: kept.append(weights(model)),
    )
    assert history.validation == {1: 3.0, 2: 1.0, 3: 2.0}
    assert_same_weights(weights(model), kept[1])


def test_evaluation_is_per_predicted_token() -> None:
    model = TinyGRU().eval()
    whole = teacher_forcing_loss(model, torch.cat(HELD_OUT)).item()
    assert evaluate(model, HELD_OUT) == pytest.approx(whole, abs=1e-5)  # the last batch is smaller
    assert evaluate(model.train(), HELD_OUT) == pytest.approx(whole, abs=1e-5)
    assert model.training


def test_records_are_handed_out_step_by_step() -> None:
    records = []
    history = quiet_fit(TinyGRU(), BATCHES, steps=6, validation=HELD_OUT, evaluate_every=4, on_step=records.append)
    assert [r.step for r in records] == [1, 2, 3, 4, 5, 6]
    assert [r.epoch for r in records] == [0, 0, 0, 0, 1, 1]
    assert [r.loss for r in records] == history.losses
    assert [r.validation is not None for r in records] == [False, False, False, True, False, True]
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(records))


Pair = namedtuple("Pair", "tokens mask source source_mask")


def test_batches_of_every_kind() -> None:
    model, tokens, mask = TinySeq2Seq(dropout=0.0), BATCHES[0], torch.ones_like(BATCHES[0]).bool()
    expected = teacher_forcing_loss(model, tokens).item()
    for batch in (
        tokens,
        (tokens[:, :-1], tokens[:, 1:]),
        [tokens[:, :-1], tokens[:, 1:], mask[:, 1:]],
        {"tokens": tokens, "mask": mask},
    ):
        assert quiet_fit(TinySeq2Seq(dropout=0.0), [batch], steps=1).losses[0] == pytest.approx(expected, abs=1e-5)
    source = text(5, 4, seed=3)
    pair = Pair(tokens, mask, source, torch.ones_like(source).bool())
    expected = teacher_forcing_loss(model, tokens, source=source).item()
    assert quiet_fit(TinySeq2Seq(dropout=0.0), [pair], steps=1).losses[0] == pytest.approx(expected, abs=1e-5)
    for bad in (3, {"text": tokens}, (tokens,), Pair):
        with pytest.raises(TypeError, match="batch"):
            quiet_fit(TinyGRU(), [bad], steps=1)


def test_carried_state_is_truncated_backpropagation() -> None:
    stream = text(3, 21)
    pieces = [(stream[:, i : i + 5], stream[:, i + 1 : i + 6]) for i in range(0, 20, 5)]
    got = quiet_fit(TinyGRU(dropout=0.0), pieces, epochs=1, learning_rate=1e-9, carry_state=True)
    whole = teacher_forcing_loss(TinyGRU(dropout=0.0), stream).item()
    assert sum(got.losses) / 4 == pytest.approx(whole, abs=1e-5)
    forgetful = quiet_fit(TinyGRU(dropout=0.0), pieces, epochs=1, learning_rate=1e-9)
    assert abs(sum(forgetful.losses) / 4 - whole) > 1e-4
    twice = quiet_fit(TinyGRU(dropout=0.0), pieces, epochs=2, learning_rate=1e-9, carry_state=True)
    assert twice.losses[4] == pytest.approx(got.losses[0], abs=1e-5)  # an epoch begins with nothing read


def test_the_models_mode_is_put_back() -> None:
    model = TinyGRU().eval()
    model.dropout.train()
    quiet_fit(model, BATCHES, steps=1)
    assert not model.training
    assert model.dropout.training
    assert not model.gru.training


def test_there_is_a_progress_bar(capsys) -> None:
    fit(TinyGRU(), BATCHES, steps=3)
    assert "3/3" in capsys.readouterr().err
    fit(TinyGRU(), BATCHES, steps=3, progress=False)
    assert capsys.readouterr().err == ""


def test_a_loss_that_is_not_finite_stops_before_the_update(tmp_path) -> None:
    model, before = TinyGRU(), weights(TinyGRU())

    def loss(model, batch):
        return teacher_forcing_loss(model, batch) * math.nan

    with pytest.raises(FloatingPointError, match="step 1"):
        quiet_fit(model, BATCHES, steps=3, loss=loss)
    assert_same_weights(weights(model), before)
    with pytest.raises(FloatingPointError, match="norm"):
        quiet_fit(model, BATCHES, steps=3, loss=lambda m, b: (teacher_forcing_loss(m, b) * 0 + 1).log().sqrt())


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "steps"),
        ({"steps": 0}, "steps"),
        ({"steps": 1, "clip_norm": 0}, "clip_norm"),
        ({"steps": 1, "checkpoint": 5}, "checkpoint"),
        ({"steps": 1, "validation": 3}, "validation"),
        ({"steps": 1, "evaluate_every": 2}, "validation"),
        ({"steps": 1, "resume": True}, "checkpoint"),
        ({"steps": 1, "checkpoint_every": 5}, "checkpoint"),
        ({"steps": 1, "loss": lambda m, b: 3.0}, "loss"),
        ({"steps": 1, "schedule": lambda step: math.nan}, "schedule"),
        ({"steps": 1, "schedule": lambda step: -1.0}, "schedule"),
    ],
)
def test_bad_arguments_are_named_and_no_step_is_made(options: dict, name: str) -> None:
    model = TinyGRU()
    before = weights(model)
    with pytest.raises((ValueError, TypeError), match=name):
        quiet_fit(model, BATCHES, **options)
    assert_same_weights(weights(model), before)


def test_a_held_out_loss_that_is_no_number_is_never_the_best() -> None:
    with pytest.raises(FloatingPointError, match=r"validation gave nan after step 2.*a lower learning_rate may help"):
        quiet_fit(TinyGRU(), BATCHES, steps=4, validation=lambda m: math.nan, evaluate_every=2)


def test_a_folder_is_no_checkpoint(tmp_path) -> None:
    with pytest.raises(IsADirectoryError, match="checkpoint"):
        quiet_fit(TinyGRU(), BATCHES, steps=1, checkpoint=tmp_path)


def test_batches_that_are_not_there_are_named() -> None:
    with pytest.raises(ValueError, match="at least one batch"):
        quiet_fit(TinyGRU(), [], steps=1)
    with pytest.raises(TypeError, match="batches"):
        quiet_fit(TinyGRU(), 3, steps=1)
    with pytest.raises(ValueError, match="gone over once"):
        quiet_fit(TinyGRU(), iter(BATCHES), steps=9)
    assert quiet_fit(TinyGRU(), iter(BATCHES), epochs=1).steps == 4
    with pytest.raises((TypeError, ValueError), match="parameters"):
        quiet_fit(torch.nn.Identity(), BATCHES, steps=1)


def shuffled(epoch: int):
    """Another order in every epoch, words dropped at random from every batch: draws all the way."""
    order = torch.randperm(len(BATCHES))
    for i in order.tolist():
        noisy = BATCHES[i].clone()
        noisy[torch.rand(noisy.shape) < 0.1] = random.randrange(11)
        yield noisy


def stream_pieces(epoch: int):
    stream = text(3, 36, seed=9)
    yield from ((stream[:, i : i + 5], stream[:, i + 1 : i + 6]) for i in range(0, 35, 5))


def noisy_loss(model, batch):
    return scheduled_sampling_loss(model, batch, 0.5)


SETTINGS = {
    "dropout, shuffling and noise": {"batches": shuffled},
    "carried state": {"batches": stream_pieces, "carry_state": True},
    "a schedule and sgd with momentum": {
        "batches": shuffled,
        "schedule": partial(cosine_schedule, total=30, warmup=5),
        "sgd": True,
    },
    "validation": {"batches": shuffled, "validation": HELD_OUT, "evaluate_every": 2},
    "validation after every epoch": {"batches": BATCHES, "validation": HELD_OUT},
    "a loss that draws": {"batches": BATCHES, "loss": noisy_loss},
    "several batches for an update": {"batches": stream_pieces, "carry_state": True, "accumulate": 3},
}


def start(name: str, *, steps: int, **more):
    """A run from scratch in a fresh world."""
    setting = dict(SETTINGS[name])
    torch.manual_seed(99 if more.get("resume") else 3)
    random.seed(99 if more.get("resume") else 3)
    model = TinySeq2Seq()
    torch.manual_seed(98 if more.get("resume") else 4)
    if setting.pop("sgd", False):
        setting["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    if more.get("resume"):  # a new process would have other weights
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(1.0)
    return model, quiet_fit(model, steps=steps, learning_rate=0.02, **setting, **more)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_resumed_run_is_the_uninterrupted_one_to_the_bit(unchecked: None, name: str, tmp_path) -> None:
    whole_model, whole = start(name, steps=20)
    for stop in (1, 4, 7, 8, random.Random(name).randrange(9, 20)):
        path = tmp_path / f"{stop}.safetensors"

        def kill(record, stop=stop) -> None:
            if record.step == stop + 1:
                raise RuntimeError("killed")

        with pytest.raises(RuntimeError, match="killed"):
            start(name, steps=20, checkpoint=path, checkpoint_every=stop, on_step=kill)
        model, resumed = start(name, steps=20, checkpoint=path, resume=True)
        assert resumed.losses == whole.losses, stop
        assert resumed.gradient_norms == whole.gradient_norms
        assert resumed.learning_rates == whole.learning_rates
        assert resumed.validation == whole.validation
        assert resumed.best_step == whole.best_step
        assert resumed.stopped == whole.stopped
        assert_same_weights(weights(model), weights(whole_model))


def test_resuming_twice_and_a_run_that_was_over(tmp_path) -> None:
    path = tmp_path / "run"
    name = "dropout, shuffling and noise"
    whole = start(name, steps=12)[1]
    for steps in (3, 8, 12, 12):
        resumed = start(name, steps=steps, checkpoint=path, resume=steps != 3)[1]
    assert resumed.losses == whole.losses


def test_ctrl_c_saves_and_stops_cleanly(tmp_path) -> None:
    path = tmp_path / "run"
    name = "dropout, shuffling and noise"
    before = signal.getsignal(signal.SIGINT)

    def press(record) -> None:
        if record.step == 5:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = start(name, steps=20, checkpoint=path, on_step=press)[1]
    assert stopped.stopped == "interrupted"
    assert stopped.steps == 5
    assert signal.getsignal(signal.SIGINT) is before
    assert start(name, steps=20, checkpoint=path, resume=True)[1].losses == start(name, steps=20)[1].losses


def test_a_second_ctrl_c_interrupts_at_once() -> None:
    def press_twice(model, batch):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the second one should have been raised")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        quiet_fit(TinyGRU(), BATCHES, steps=2, loss=press_twice)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_checkpoint_of_something_else_is_refused_and_nothing_is_loaded(tmp_path) -> None:
    path = tmp_path / "run"
    options = {"checkpoint": path, "resume": True}
    quiet_fit(TinyGRU(), BATCHES, steps=6, checkpoint=path, schedule=partial(cosine_schedule, total=9))
    good = path.read_bytes()
    schedule = partial(cosine_schedule, total=9)

    def refused(match: str, model=None, batches=BATCHES, **more) -> None:
        model = model or TinyGRU()
        before = weights(model)
        with pytest.raises((ValueError, TypeError), match=match):
            quiet_fit(model, batches, **({"steps": 9, "schedule": schedule} | options | more))
        assert_same_weights(weights(model), before)

    refused("model must be", model=TinyGRU(d=5))
    refused("schedule must be", schedule=partial(cosine_schedule, total=12))
    refused("optimizer must be", weight_decay=0.1)
    refused("optimizer must be", learning_rate=0.5)
    model = TinyGRU()
    refused("optimizer must be", model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1e-3))
    refused("batches must be", batches=[batch.flip(0) for batch in BATCHES])
    refused("batches ended", batches=BATCHES[:1])
    path.write_bytes(good[:-20])
    refused("cut short")
    save_checkpoint(path, {"w": torch.ones(1)})
    refused("not of a training run")
    path.write_bytes(good)
    assert quiet_fit(TinyGRU(), BATCHES, steps=9, schedule=schedule, **options).steps == 9


def test_no_file_to_resume_from_is_a_first_run(tmp_path) -> None:
    history = quiet_fit(TinyGRU(), BATCHES, steps=2, checkpoint=tmp_path / "new" / "run", resume=True)
    assert history.steps == 2
    assert len(load_checkpoint(tmp_path / "new" / "run")["history"]["losses"]) == 2


def test_pytorch_alone_reads_the_weights(tmp_path) -> None:
    model = TinyGRU()
    quiet_fit(model, BATCHES, steps=2, checkpoint=tmp_path / "run")
    assert torch.equal(
        torch.load(tmp_path / "run", weights_only=True)["model"]["embedding.weight"], model.embedding.weight
    )


def test_batches_do_not_disturb_the_models_random_numbers() -> None:
    def draws_a_lot(epoch: int):
        for batch in BATCHES:
            torch.rand(1000)
            random.random()
            yield batch

    torch.manual_seed(0)
    plain = quiet_fit(TinyGRU(), BATCHES, steps=6).losses
    torch.manual_seed(0)
    model = TinyGRU()
    assert quiet_fit(model, draws_a_lot, steps=6).losses == plain


def test_accumulated_batches_are_one_large_batch() -> None:
    """Of different sizes, the last update of an epoch with what is left: every prediction counts alike."""
    parts = [*text(5, 9).split(2), text(7, 4, seed=2), text(2, 6, seed=3)]
    masks = [torch.ones_like(part, dtype=torch.bool) for part in parts]
    for mask in masks[:2]:
        mask[:, 5:] = False
    batches = [{"tokens": part, "mask": mask} for part, mask in zip(parts, masks, strict=True)]

    def together(model, several):
        losses = [teacher_forcing_loss(model, batch["tokens"], mask=batch["mask"]) for batch in several]
        counts = [int(batch["mask"][:, 1:].sum()) for batch in several]
        return sum(loss * count for loss, count in zip(losses, counts, strict=True)) / sum(counts)

    model, mirror = TinyGRU(dropout=0.0), TinyGRU(dropout=0.0)
    history = quiet_fit(model, batches, epochs=2, accumulate=3)
    expected = quiet_fit(mirror, [batches[:3], batches[3:]], epochs=2, loss=together)
    assert history.steps == 4
    assert history.losses == pytest.approx(expected.losses)
    assert history.gradient_norms == pytest.approx(expected.gradient_norms, rel=1e-5)
    for name, weight in weights(mirror).items():
        torch.testing.assert_close(weights(model)[name], weight, atol=1e-6, rtol=1e-4)


def test_bfloat16_is_seen_by_model_and_held_out_loss_and_not_by_the_weights() -> None:
    seen = []
    model = TinyGRU()
    model.readout.register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
    history = quiet_fit(model, BATCHES, steps=2, precision="bfloat16", validation=HELD_OUT)
    assert set(seen) == {torch.bfloat16}
    assert len(seen) > 2
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert all(map(math.isfinite, [*history.losses, *history.validation.values()]))


def test_only_matrices_decay_if_asked() -> None:
    model, mirror = TinyGRU(), TinyGRU()
    zero = lambda model, batch: sum(parameter.sum() for parameter in model.parameters()) * 0.0  # noqa: E731
    quiet_fit(model, BATCHES, steps=1, loss=zero, learning_rate=0.1, weight_decay=0.5, decay="matrices")
    for name, before in weights(mirror).items():
        shrunk = name.startswith("gru.weight")
        torch.testing.assert_close(weights(model)[name], before * 0.95 if shrunk else before)


def adapted(seed: int = 0) -> tuple[TinyGRU, LoRA]:
    model = TinyGRU(d=64)
    adapter = LoRA(model, 1, where=lambda name: "gru" in name)
    torch.manual_seed(seed)
    for parameter in adapter.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return model, adapter


@pytest.mark.parametrize("which", [0, 1], ids=["model", "adapter"])
def test_a_checkpoint_of_an_adapted_model_holds_what_is_trained(which: int, tmp_path) -> None:
    """Given as the model or as its adapter; and it resumes to the bit, with the best weights."""
    path = tmp_path / "run"
    options = {"checkpoint": path, "validation": HELD_OUT, "evaluate_every": 2, "learning_rate": 0.03}
    whole, parts, again = adapted(), adapted(), adapted()
    torch.manual_seed(0)
    quiet_fit(whole[which], BATCHES, steps=6, **(options | {"checkpoint": None}))
    torch.manual_seed(0)
    quiet_fit(parts[which], BATCHES, steps=3, **options)
    saved = load_checkpoint(path)
    trained = sum(parameter.numel() for parameter in whole[1].parameters())
    assert sum(tensor.numel() for tensor in saved["model"].values()) == trained
    assert sum(tensor.numel() for tensor in saved["best"].values()) == trained
    assert path.stat().st_size < 4 * sum(p.numel() for p in whole[0].parameters())
    quiet_fit(again[which], BATCHES, steps=6, resume=True, **options)
    assert_same_weights(weights(whole[0]), weights(again[0]))


def test_other_frozen_weights_are_refused(tmp_path) -> None:
    options = {"steps": 2, "checkpoint": tmp_path / "run"}
    quiet_fit(adapted()[0], BATCHES, **options)
    other = adapted()[0]
    with torch.no_grad():
        other.embedding.weight[3, 4] += 1.0
    with pytest.raises(ValueError, match=r"frozen weights must be the one that .* was made with"):
        quiet_fit(other, BATCHES, resume=True, **options)


def test_a_history_is_one_line_and_a_picture(tmp_path) -> None:
    history = quiet_fit(TinyGRU(), BATCHES, steps=4, validation=HELD_OUT, evaluate_every=2)
    assert f"loss {history.losses[0]:.4g} to {history.losses[-1]:.4g}" in repr(history)
    assert repr(History()) == "History(no step yet)"
    picture = history.plot()
    assert "held out from" in picture.svg
    assert picture._repr_svg_() == picture.svg
    with pytest.raises(ValueError, match="at least one finite number"):
        History().plot()
