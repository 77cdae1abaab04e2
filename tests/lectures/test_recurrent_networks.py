"""The numbers that the lecture\'s prose quotes are those that its own cells compute, or that are stored."""

import math

import pytest
import torch

from lectures import stored


def subjects(ran: dict, factor: float, sentence: str = "the dogs near the house") -> list[float]:
    h, seen = torch.zeros(2), []
    for word in sentence.split():
        h = ran["step"](ran["embedding"][word], h, ran["U"] * factor, ran["W"])
        seen.append(h[0].item())
    return seen


def test_the_subject_is_held(ran: dict, prose: str) -> None:
    assert f'"house" pulls the unit down to {subjects(ran, 1.0)[-1]:.2f}' in prose
    assert subjects(ran, 1.0, "the dogs near the house by the")[-1] > 0.9, "it would have climbed back"
    says_are = [factor / 10 for factor in range(16) if subjects(ran, factor / 10)[-1] > 0]
    assert f"for any factor from {says_are[0]} upwards" in prose
    assert says_are == [factor / 10 for factor in range(8, 16)]
    assert 2.2 * 0.4 < 1 < 2.2 * 0.5
    assert "up to a factor of 0.4" in prose


def test_the_state_is_all_that_is_remembered(ran: dict, prose: str) -> None:
    assert ran["largest_difference"](ran["carried"]) < 1e-5
    assert f"some probability is off by {ran['largest_difference'](ran['forgotten']):.2f} (of 1)" in prose


def test_losses_of_one_sentence(ran: dict) -> None:
    assert ran["per_step"].mean().item() == pytest.approx(ran["library"].item(), rel=1e-5)
    assert ran["not_shifted"] > 2 * ran["library"], "'Why is the loss so high'"
    assert ran["diluted"] < 0.6 * ran["right"], "the mean over padding is too small"


def test_a_prediction_stands_above_what_answers_it(cells: list) -> None:
    """The loss of targets that are not shifted is printed after the question about it."""
    sources = [cell.source for cell in cells]
    question = next(
        i for i, source in enumerate(sources) if "the targets are *not* shifted" in " ".join(source.split())
    )
    assert [i for i, source in enumerate(sources) if "not_shifted = " in source or "not_shifted:" in source] == [
        question + 1
    ]


def test_the_gradient_is_that_of_the_mean_loss(prose: str) -> None:
    """L is a mean over T predictions, and so is its gradient: autograd's dL/dU has the factor."""
    assert r"L = \frac1T \sum_{t=1}^{T} L_t" in prose
    assert r"\frac{dL}{dU} = \frac1T \sum_{t=1}^{T} \frac{\partial L_t}" in prose


def test_the_live_training(ran: dict, prose: str) -> None:
    losses = ran["history"].losses
    size = ran["own_chars"].vocab_size
    assert f"{size} different characters" in prose
    assert rf"$\ln {size} = {math.log(size):.2f}$" in prose
    assert losses[0] == pytest.approx(math.log(size), abs=0.03)
    assert sum(losses[-20:]) / 20 == pytest.approx(2.05, abs=0.05)
    assert "about 2.05 on average" in prose
    parameters = sum(p.numel() for p in ran["rnn"].parameters())
    assert f"{parameters:,} parameters and had 300 updates" in prose
    assert f"{ran['card']['parameters']:,} parameters, and was trained on forty times as much text" in prose
    steps = ran["card"]["training"]
    assert round(steps["steps"] * steps["batch"] * steps["time"] / (300 * 32 * 32), -1) == 40
    assert len(ran["stream"]) > 300, "'not quite one pass'"


def test_backpropagation_by_hand(ran: dict, prose: str) -> None:
    assert ran["u_leaf"].grad.item() == pytest.approx(ran["by_hand"], abs=1e-6)
    assert f"$dL/du = {ran['by_hand']:.4f}$" in prose
    _, parts = ran["through_time"](0.5, 1.0, [1.0, 0.0, 0.0], [1.0] * 3)
    assert sum(map(sum, parts)) == pytest.approx(ran["by_hand"], abs=1e-12)
    assert [row[0] for row in parts] == [0.0] * 3, "the first time adds nothing"


def test_pairs_of_times(ran: dict, prose: str) -> None:
    def parts(u: float) -> list[list[float]]:
        return ran["through_time"](u, 1.0, [1.0] + [0.0] * 5, [1.0] * 6)[1]

    def near(u: float, cut: int) -> float:
        return sum(parts(u)[t][k] for t in range(6) for k in range(t + 1) if t - k < cut)

    far = {u / 10: near(u / 10, 9) - near(u / 10, 3) for u in range(-15, 31)}
    assert min(far, key=lambda u: far[u]) == 0.8
    assert "add most at a $u$ of about 0.8." in prose
    assert abs(far[2.0]) < 1e-3
    minus = "\N{MINUS SIGN}"
    whole, two, four = (f"{near(0.5, cut):.2f}".replace("-", minus) for cut in (9, 2, 4))
    assert f"The whole sum is {whole}. Without the pairs that are 2 or more steps apart it is {two}," in prose
    assert f"Without those that are 4 or more steps apart it is {four}." in prose


def test_what_truncation_loses(ran: dict, prose: str) -> None:
    ours, theirs = (dict(zip(ran["pieces"], line, strict=True)) for line in ran["errors"].values())
    assert f"the error is {ours[1]:.2f} with pieces of 1, {ours[5]:.2f} with 5, and {ours[20]:.2f} with 20" in prose
    assert f"the error is {theirs[20]:.2f} at 20 and {theirs[100]:.2f} at 100" in prose
    named = ran["named"]
    assert f"The first training ends at {named[7]:.0%}, the second at {named[3]:.0%},".replace("%", " %") in prose
    assert abs(named[3] - 1 / 3) < 0.08


def test_perplexities(prose: str) -> None:
    seen = {name: row["perplexity"] for name, row in stored("perplexity")["neural"].items()}
    first = f"{seen['RNN']:.1f} against {seen['feed-forward (4)']:.1f}"
    convolution = seen["convolutional (9)"]
    assert f"{first} for the window of 4 and {convolution} for the convolution over 9 words" in prose
    assert "no ranking of three kinds of network follows" in prose
    assert f"{seen['LSTM']:.1f} after one, {seen['LSTM, 3 passes']:.1f} after three" in prose


def test_marks_put_back(ran: dict, prose: str) -> None:
    rows = stored("restore")["rows"]
    before, both = rows["reads the words before"], rows["reads both ways"]
    by_mark = both["f1_by_mark"]
    assert (
        f"an F1 score of {by_mark['?']:.0f}; commas have {by_mark[',']:.0f}, exclamation marks {by_mark['!']:.0f}"
        in prose
    )
    assert f"The full stop has {by_mark['.']:.0f}" in prose
    assert f"{before['capitals_f1']} and {both['capitals_f1']}), because a name" in prose
    assert f"{before['marks_f1']} and {both['marks_f1']}), because whether" in prose
    assert f"the marks went from {before['marks_f1']} to {both['marks_f1']}" in prose
    marked = " ".join(ran["restore"](ran["sentences"][0])[1])
    assert "lend me your ears; I come to bury Caesar, not to praise him." in marked


def test_the_verdict(ran: dict, prose: str) -> None:
    rows = stored("genre")["rows"]
    kept, mixed = (rows[name]["160"] for name in list(rows)[-2:])
    bayes = rows["naive Bayes, a bag of words"]
    assert f"After 160 words it is right on {kept:.0f} % of the passages" in prose
    assert f"is right on {bayes['160']:.0f} %, and ahead at every length" in prose
    assert all(bayes[n] > row[n] for name, row in rows.items() for n in bayes if row is not bayes)
    assert f"the recurrent network is still right on {mixed:.0f} %" in prose
    plays = stored("genre")["right_after_160_words_by_play"]
    assert all(share > 90 for play, share in plays.items() if "comedy" in play)
    assert all(45 < share < 55 for play, share in plays.items() if "tragedy" in play)
    words, chances, _ = ran["verdict"](ran["openings"][1])
    assert words[5] == "i"
    assert f"the network is confident, and wrong: P(tragedy) = {chances[5]:.2f}" in prose
    assert max(chances[5:]) < 0.12, "'and it stays there'"


def test_noise_and_depth(ran: dict, prose: str) -> None:
    straight, both = ran["noise"]["left to right"], ran["noise"]["both directions"]
    assert rf"$\ln 20 = {math.log(20):.2f}$" in prose
    assert sum(straight) / 20 > 2.97
    assert sum(both[:-1]) / 19 < 0.02
    assert f"worse than guessing, with a loss of {both[-1]:.2f}" in prose
    plain, residual = ran["below"].values()
    assert f"norm is {', '.join(f'{n:.0f}' for n in plain)}, so it shrinks" in prose
    assert f"With them it is {', '.join(f'{n:.0f}' for n in residual)}." in prose


def test_the_price_of_a_window(prose: str) -> None:
    assert 2 * 128 * 128 == 128 * 128 + 128 * 128
    assert "Two. For the price of a window of two words" in prose
