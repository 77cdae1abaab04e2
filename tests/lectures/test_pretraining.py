"""The values that the lecture's prose quotes are those that its own cells compute, or that are stored."""

from statistics import mean

import pytest
import torch

from lectures import stored
from nlmcore.attention import prefix_mask
from nlmcore.pretrained import minilm


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 7
    assert 60 <= sum(minutes) <= 75


def test_what_is_hidden(ran: dict) -> None:
    assert ran["per_thousand"] == pytest.approx(120, abs=5)
    assert ran["several"] == pytest.approx(1 / 0.15, rel=0.03)
    assert float(ran["left"].float().mean()) == pytest.approx(0.015, abs=0.002)


def test_hidden_letters(ran: dict, prose: str) -> None:
    right = {name: f"{share:.0f} %" for name, share in ran["right"].items()}
    assert len(ran["tried"]) == 300
    assert (
        f"The masked model finds {right['masked']} and the causal one, from the left, {right['causal']}. **The causal"
        f" model that tries all letters finds {right['causal, every letter tried']}.**"
    ) in prose


def test_lora_is_the_librarys(ran: dict) -> None:
    W, A, B = torch.randn(4, 6), torch.randn(2, 6), torch.randn(4, 2)
    assert torch.allclose(ran["low_rank"](W, A, B, 2), W + B @ A)
    assert torch.allclose(ran["layer"].weight, ran["low_rank"](ran["W"], ran["part"].A, ran["part"].B, 2))


def minus(number: float) -> str:
    return f"{number:.1f}".replace("-", "−")


def test_transfer(ran: dict, prose: str) -> None:
    rows, gain = ran["rows"], ran["gain"]
    assert all(len(of) == 5 for by in rows.values() for of in by.values())
    assert ran["transfer"]["unlabelled"] == 94_522
    scratch, longer, both = ran["scratch"], ran["longer"], ran["both"]

    def told(row: str, base: str, count: str) -> str:
        mean, half = gain(row, base, count)
        return f"{minus(mean)} ({minus(mean - half)} to {minus(mean + half)})"

    def point(row: str, base: str, count: str) -> str:
        return minus(gain(row, base, count)[0])

    first = told("masked", scratch, "50").replace(" (", " points with 50 labels (95 % interval ")
    assert (
        f"Masked pretraining adds {first}, {told('masked', scratch, '500').replace(' (', ' with 500 (')}"
        f" and {told('masked', scratch, '5000').replace(' (', ' with 5,000 (')}."
    ) in prose
    causal = [point("causal", "causal, not pretrained", count) for count in ("50", "500", "5000")]
    assert f"Causal pretraining adds {causal[0]}, {causal[1]} and {causal[2]} to its own baseline" in prose
    few = [told("masked", longer, count) for count in ("50", "500")]
    assert f"the pretrained model is {few[0]} and {few[1]} points ahead" in prose
    rival = told(longer, "masked", "5000")
    assert f"it is {rival.replace(' (', ' points *ahead* (')}" in prose
    assert gain(longer, "masked", "5000")[0] > gain(longer, "masked", "5000")[1]
    last = told(both, longer, "5000")
    assert f"with 5,000 labels the difference is {last.replace(' (', ' points (')}" in prose
    assert gain(both, longer, "5000")[0] < gain(both, longer, "5000")[1], "contains 0"
    assert f"With 500 it still brings {told(both, longer, '500')}" in prose
    table = [told(ran["table"], scratch, count) for count in ("50", "500", "5000")]
    assert f"brings {table[0]}, {table[1]} and {table[2].replace(' (', ' points (')}: no interval" in prose
    ahead = [gain("masked", "causal", count) for count in ("50", "500", "5000")]
    assert f"is {', '.join(minus(m) for m, _ in ahead[:2])} and {minus(ahead[2][0])} points ahead, and every" in prose
    for m, half in (*ahead, *(gain(ran["table"], scratch, count) for count in ("50", "500", "5000"))):
        assert abs(m) < half
    harmed = [mean(rows[name]["500"]) for name in ("masked", both)]
    assert f"({harmed[0]:.1f} becomes {harmed[1]:.1f} %, lower with every seed)" in prose
    assert all(a > b for a, b in zip(rows["masked"]["500"], rows[both]["500"], strict=True))
    assert 55 < mean(rows[scratch]["50"]) < 65


def test_senses(ran: dict, prose: str) -> None:
    rows, middle = stored("senses")["rows"], ran["middle"]
    assert middle == 14

    def share(model: str, way: str, clue: str, layer: int) -> str:
        of = rows[model][f"{way}, clue {clue}"][layer]
        assert of["asked"] == 48
        return f"{100 * of['share']:.0f} %"

    mini, smol = (
        [share(model, "whole", clue, layer) for clue in ("before", "after")]
        for model, layer in (("MiniLM", -1), ("SmolLM2", middle))
    )
    assert f"tells the sense in {mini[0]} of the sentences whose clue comes first and in {mini[1]} of those" in prose
    assert f"**SmolLM2** (layer {middle + 1}) tells it in {smol[0]} and in {smol[1]}, which is guessing" in prose
    cut = [share("MiniLM", "cut", clue, -1) for clue in ("after", "before")]
    assert f"MiniLM falls to {cut[0]}; with the clue before the word it keeps {cut[1]}" in prose
    assert f"take the second *bank*: {share('SmolLM2', 'twice', 'after', middle)}" in prose
    rival = stored("senses")["neighbours"]
    near = [f"{100 * rival[f'clue {clue}']['share']:.0f} %" for clue in ("before", "after")]
    assert f"*static* vectors of the other words: {near[0]} and {near[1]}" in prose
    for clue in ("before", "after"):
        assert rival[f"clue {clue}"]["high"] > rows["MiniLM"][f"whole, clue {clue}"][-1]["low"], "intervals overlap"
    early = [share("SmolLM2", "whole", "before", layer) for layer in (0, 4)]
    assert f"even with the clue before ({early[0]}); after layer 5 it is {early[1]}" in prose
    within, between = stored("senses")["cosines"]["MiniLM"][-1]
    assert f"{within:.2f} within a sense and {between:.2f} between senses" in prose
    whole, cut_off = (rows["SmolLM2"][f"{way}, clue after"] for way in ("whole", "cut"))
    assert whole == cut_off, "a causal model's state does not depend on what follows"


def test_four_ways(ran: dict, prose: str) -> None:
    ways = stored("four_ways")
    rows = {name: of["right"] for name, of in ways["rows"].items()}
    assert all(len(of) == 5 for name, of in rows.items() if name != "prompting, no examples")
    assert (ways["examples"], ways["shots"], ways["tests"]) == (64, 8, 120)
    tuned, lora = (f"{mean(rows[f'{way}, 64 examples']):.0f} %" for way in ("fine-tuning", "LoRA"))
    assert f"**Fine-tuning** is right in {tuned} and **LoRA** in {lora} of the sentences; the seeds overlap" in prose
    assert max(rows["LoRA, 64 examples"]) > min(rows["fine-tuning, 64 examples"])
    trained = {way: ways["rows"][f"{way}, 64 examples"]["trained"] for way in ("LoRA", "fine-tuning", "probing")}
    assert f"LoRA trains {trained['LoRA']:,} of {trained['fine-tuning'] / 1e6:.1f} million parameters" in prose
    assert trained["fine-tuning"] == sum(p.numel() for p in minilm()[0].parameters()) + trained["probing"]
    bayes = mean(rows["naive Bayes, 64 examples"])
    assert (
        f"**Probing** finds {mean(rows['probing, 64 examples']):.0f} %, less than naive Bayes ({bayes:.0f} %)" in prose
    )
    asked = ways["rows"]["prompting, no examples"]["questions"]
    assert f"SmolLM2 answers “question” in {asked[0]:.0f} % of the cases" in prose
    shown = rows["prompting, 8 examples"]
    assert (
        f"With 8 examples it is right in {mean(shown):.0f} %, and one seed of five reaches {max(shown):.0f} %" in prose
    )


def test_a_students_mask(ran: dict) -> None:
    mine = ran["my_mask"](6, 3)
    assert not torch.equal(mine, prefix_mask(torch.tensor([3]), 6)[0])
    assert torch.equal(mine | (torch.arange(6) < 3), prefix_mask(torch.tensor([3]), 6)[0])
