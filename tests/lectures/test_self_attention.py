"""The numbers that the lecture's prose quotes are those that its own cells compute."""

import math

import pytest
import torch

from lectures import stored
from nlmcore.inspect import capture


def minilm_weights(ran: dict, text: str) -> tuple[list[str], torch.Tensor]:
    with torch.no_grad(), capture(ran["encoder"]) as tape:
        ran["encoder"](torch.tensor([ran["wordpieces"].encode(text)]))
    return ran["wordpieces"].pieces(text), torch.cat(list(tape.values()))


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 7
    assert 60 <= sum(minutes) <= 75


def test_the_heads_of_the_first_picture(ran: dict, prose: str) -> None:
    words, weights = minilm_weights(ran, "The young doctor quickly closed the heavy door.")
    n = len(words)
    assert weights[0, 2, torch.arange(1, n), torch.arange(n - 1)].min() > 0.99
    assert 'Layer 0, head 2: "the previous word", always with weight 1.00' in prose
    assert words[int(weights[3, 1, words.index("closed")].argmax())] == "door"
    with torch.no_grad(), capture(ran["writer"]) as tape:
        ran["writer"](torch.tensor([ran["bytepairs"].encode("The cat sat.")]))
    assert not torch.cat(list(tape.values())).triu(1).any(), "no arrow ever points to the right"


def test_what_heads_know_of_grammar(ran: dict, prose: str) -> None:
    rows = ran["table"]
    verb, adjective, determiner, subject = (
        rows[label] for label in ("verb → object", "adjective → noun", "determiner → noun", "subject → verb")
    )
    assert verb["best"] == ["3.1"]
    assert verb["chosen on"] == verb["tested on"] == 1.0
    assert verb["edges"] == 8
    assert f"a fixed distance finds {verb['fixed distance'] * 100:.0f} %" in prose
    assert verb["last word"] == 0, "a phrase follows every object"
    assert verb["next noun"] == 5 / 8, "the next noun, five"
    assert f"{determiner['chosen on'] * 100:.0f} %, drops to {determiner['tested on'] * 100:.0f} %" in prose
    assert f'"the next noun" gets {determiner["next noun"] * 100:.0f} %, more than any' in prose
    assert max(determiner["tested on"], determiner["opening tested"]) < determiner["next noun"]
    assert f"{adjective['tested on'] * 100:.0f} %, against {adjective['next noun'] * 100:.0f} %" in prose
    assert abs(adjective["tested on"] - adjective["next noun"]) * adjective["edges"] < 1.01, "one edge"
    opening = [row["opening tested"] for row in rows.values()]
    assert f"find {min(opening) * 100:.0f} to {max(opening) * 100:.0f} %" in prose
    beats = [
        round((row["opening tested"] - max(row[rule] for rule in ran["RULES"])) * row["edges"]) for row in rows.values()
    ]
    assert beats[0] == 2, "adjectives: by two"
    assert beats[3] == 3, "objects: by three edges"
    assert max(beats[1:3]) <= 1
    assert (adjective["opening tested"], adjective["edges"]) == (1, 15), "right in all fifteen"
    assert subject["last word"] == 0


def test_heads_that_tie_are_averaged(ran: dict) -> None:
    found = ran["found"]
    for label, row in ran["table"].items():
        chosen, tested = (torch.stack([edge[0] for edge in found[label, half]]).float().mean(0) for half in (0, 1))
        tied = [12 * int(layer) + int(head) for layer, head in (name.split(".") for name in row["best"])]
        assert tied == (chosen == chosen.max()).nonzero().flatten().tolist()
        assert row["tested on"] == pytest.approx(tested[tied].mean().item())


def test_the_parsed_sentences_are_trees(ran: dict) -> None:
    lines = ran["PARSED"].split("\n")[1:-1]
    assert len(lines) == 16
    for line in lines:
        words, edges = ran["parsed"](line)
        assert len(edges) == len(words) - 1, "one root, and one edge from every other word"
        up = {word: head for word, head, _ in edges}
        for word in range(len(words)):
            seen = set()
            while word in up:
                assert word not in seen, f"a circle in {line}"
                seen.add(word)
                word = up[word]


def test_a_layer_by_hand(ran: dict, prose: str) -> None:
    share = math.exp(2) / (math.exp(2) + 2)
    assert f"$e^2 / (e^2 + 2) = {share:.2f}$, and {(1 - share) / 2:.2f} each" in prose
    one, two = ran["heads"]
    assert one[1, 2].item() == pytest.approx(share)
    assert two[1, 3].item() == pytest.approx(share)
    soft = torch.softmax(torch.tensor([112.0, 96.0]) / math.sqrt(64), dim=0)
    assert [round(w, 2) for w in soft.tolist()] == [0.88, 0.12]
    assert "14 and 12, and softmax turns these into 0.88 and 0.12" in prose


def test_the_wrong_width_makes_weights_even(ran: dict, prose: str) -> None:
    attention, entering = ran["attention"], ran["entering"][0]
    with torch.no_grad():
        q, k = (part(entering).unflatten(-1, (12, 32)).transpose(1, 2) for part in (attention.query, attention.key))
        mean = {d: torch.softmax(q @ k.mT / math.sqrt(d), -1).amax(-1).mean().item() for d in (32, 384)}
    assert {d: ran["sharpness"][d] for d in mean} == pytest.approx(mean)
    assert f"Too even: {mean[384]:.2f}, not far from the $1/15 = {1 / 15:.2f}$" in prose
    assert entering.shape[1] == 15


def test_one_pass_gives_all_predictions(ran: dict, prose: str) -> None:
    right, p = torch.softmax(ran["logits"][0], -1), ran["ids"][0]
    following = right[range(len(p) - 1), p[1:]]
    assert f"One pass gives {len(following)} predictions. The first eight" in prose
    assert f"The mean loss of {-following.log().mean():.2f} hides both" in prose
    assert f"*to* is nearly certain ({following[2]:.2f})" in prose
    assert f"*tickets* had a probability of {following[5]:.4f}" in prose
    assert following.argmax() == 2, "most confident after 'tried'"
    assert following[5] < 0.01, "tickets came as a surprise"
    assert torch.allclose(ran["logits"][:, :8], ran["beginning"], atol=1e-3)


def test_the_leak(ran: dict, prose: str) -> None:
    assert f"With the mask the loss is {ran['with_mask'][-1]:.2f}, which is chance level" in prose
    assert f"Without it the loss is {ran['without'][-1]:.2f}, because" in prose
    assert f"$\\ln(10)/16 = {math.log(10) / 16:.3f}$" in prose
    asked = sum(ran["honest"]["without"]) / 15
    assert "More than 7, three times the cost of guessing" in prose
    assert 7 < asked < 8
    assert sum(ran["honest"]["with the mask"]) / 15 == pytest.approx(math.log(10), abs=0.02)
    careful, leaky = ran["moved"]
    assert not careful.tril(-1).any(), "earlier outputs stay"
    assert all(leaky[t].argmax() == t - 1 for t in range(1, 16)), "the position that copies changes most"


def test_masks_with_nothing_to_read(ran: dict) -> None:
    assert ran["textbook"][0, 0, :2].isnan().all()
    assert ran["masked_softmax"](ran["scores"], ran["both"])[0, 0].sum(-1).tolist() == pytest.approx([0, 0, 1, 1])


def test_the_sink(ran: dict, prose: str) -> None:
    on_first, n = ran["on_first"], ran["n"]
    fair = (1 / torch.arange(2, n + 1)).mean()
    assert f"{on_first.mean():.2f} of all weight, where a uniform share would be {fair:.2f}" in prose
    assert f"{int((on_first.mean(-1) > 0.5).sum())} of 270" in prose
    assert f"a quarter ({ran['ratio'].median():.2f}) of the usual length" in prose
    assert divmod(ran["best"], 9) == (16, 0)
    assert f"Layer 16, head 0 reads the previous token, with a weight of {ran['before'].max():.2f} on average" in prose
    with torch.no_grad(), capture(ran["writer"]) as tape:
        ran["writer"](torch.tensor([ran["bytepairs"].encode("one two three four one two three")]))
    weight = tape["layers.8.attention"][0, 2, -1, 3]
    assert f'reads "four" from the final "three", with a weight of {weight:.2f}' in prose


def test_ablation_has_its_control(prose: str) -> None:
    facts = stored("looking_back")["smollm2"]
    assert facts["distance"] == 46
    top, ablated = facts["strongest"][0], facts["ablated"]
    assert (top["layer"], top["head"]) == (25, 1)
    most, lowest = (
        {n: at(row) for n, row in ablated.items()} for at in (lambda r: r["strongest"], lambda r: min(r["random"]))
    )
    assert f"from {facts['next'][' tickets']:.2f} to {most['1']:.2f}" in prose
    assert f"the lowest leaves {lowest['1']:.2f}" in prose
    assert f"leave {most['5']:.2f}, but one of the 20 random draws leaves {lowest['5']:.2f}" in prose
    assert sum(p < most["5"] for p in ablated["5"]["random"]) == 1
    assert f"({most['10']:.2f} against {lowest['10']:.2f})" in prose
    assert f"{most['20']:.2f}, where the lowest of 20 random draws leaves {lowest['20']:.2f}" in prose
    assert f"the highest of these draws is {max(ablated['20']['random']):.2f}" in prose
    assert all(len(row["random"]) == 20 for row in ablated.values())


def test_the_students_mask_is_right(ran: dict) -> None:
    assert all(torch.equal(ran["my_mask"](n), ran["causal_mask"](n)) for n in (1, 2, 7))
