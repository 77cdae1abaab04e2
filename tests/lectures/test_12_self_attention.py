"""The numbers that the prose of lecture 12 quotes are those that its own cells compute."""

import math

import pytest
import torch

from lectures import stored
from nlmcore.inspect import capture
from nlmcore.positions import rotary, sinusoidal


def minilm_weights(ran: dict, text: str) -> tuple[list[str], torch.Tensor]:
    with torch.no_grad(), capture(ran["encoder"]) as tape:
        ran["encoder"](torch.tensor([ran["wordpieces"].encode(text)]))
    return ran["wordpieces"].pieces(text), torch.cat(list(tape.values()))


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 9
    assert 40 <= sum(minutes) <= 75


def test_the_heads_of_the_first_picture(ran: dict, prose: str) -> None:
    words, weights = minilm_weights(ran, "The young doctor quickly closed the heavy door.")
    n = len(words)
    assert weights[0, 2, torch.arange(1, n), torch.arange(n - 1)].min() > 0.99
    assert 'Layer 0, head 2: "the word before", always with weight 1.00' in prose
    assert words[int(weights[3, 1, words.index("closed")].argmax())] == "door"
    with torch.no_grad(), capture(ran["writer"]) as tape:
        ran["writer"](torch.tensor([ran["bytepairs"].encode("The cat sat.")]))
    assert not torch.cat(list(tape.values())).triu(1).any(), "no arrow ever points to the right"


def test_what_heads_know_of_grammar(ran: dict, prose: str) -> None:
    table = ran["table"]
    verb, adjective, determiner = (
        table[f"{a} → {b}"] for a, b in (("verb", "object"), ("adjective", "noun"), ("determiner", "noun"))
    )
    assert verb["head"] == "3.1"
    assert verb["chosen on"] == verb["tested on"] == 1.0
    assert verb["edges"] == 8
    assert f"where the best fixed distance is right in {verb['rival']:.0%}"[:-1] in prose
    assert f"falls from {adjective['chosen on'] * 100:.0f} % to {adjective['tested on'] * 100:.0f} %" in prose
    assert f'"always the next word" gets {adjective["rival"] * 100:.0f} %' in prose
    assert adjective["distance"] == 1
    assert f"{determiner['chosen on'] * 100:.0f} %, drops to {determiner['tested on'] * 100:.0f} %" in prose


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
    assert "14 and 12, softmax 0.88 and 0.12" in prose


def test_the_wrong_width_makes_weights_even(ran: dict, prose: str) -> None:
    attention, entering = ran["attention"], ran["entering"][0]
    with torch.no_grad():
        q, k = (part(entering).unflatten(-1, (12, 32)).transpose(1, 2) for part in (attention.query, attention.key))
        mean = {d: torch.softmax(q @ k.mT / math.sqrt(d), -1).amax(-1).mean().item() for d in (32, 384)}
    assert f"is {mean[32]:.2f} if all is right" in prose
    assert f"Too even: {mean[384]:.2f}, not far from the $1/15 = {1 / 15:.2f}$" in prose
    assert entering.shape[1] == 15


def test_one_pass_gives_all_predictions(ran: dict, prose: str) -> None:
    right, p = torch.softmax(ran["logits"][0], -1), ran["ids"][0]
    following = right[range(len(p) - 1), p[1:]]
    assert f"One pass, {len(following)} predictions" in prose
    assert f"A mean of {-following.log().mean():.2f} hides both" in prose
    assert f"*to* is nearly sure ({following[2]:.2f})" in prose
    assert f"*tickets* had a probability of {following[5]:.4f}" in prose
    assert following.argmax() == 2, "surest after 'tried'"
    assert following[5] < 0.01, "tickets came as a surprise"
    assert torch.allclose(ran["logits"][:, :8], ran["beginning"], atol=1e-3)


def test_the_leak(ran: dict, prose: str) -> None:
    assert f"With the mask: {ran['with_mask'][-1]:.2f}, chance" in prose
    assert f"Without: {ran['without'][-1]:.2f}." in prose
    assert f"$\\ln(10)/16 = {math.log(10) / 16:.3f}$" in prose
    asked = sum(ran["honest"]["without"]) / 15
    assert "More than 7, three times what guessing costs" in prose
    assert 7 < asked < 8
    assert sum(ran["honest"]["with the mask"]) / 15 == pytest.approx(math.log(10), abs=0.02)
    careful, leaky = ran["moved"]
    assert not careful.tril(-1).any(), "what comes before the changed digit stays"
    assert all(leaky[t].argmax() == t - 1 for t in range(1, 16)), "the place that copies changes most"


def test_masks_with_nothing_to_read(ran: dict) -> None:
    assert ran["textbook"][0, 0, :2].isnan().all()
    assert ran["masked_softmax"](ran["scores"], ran["both"])[0, 0].sum(-1).tolist() == pytest.approx([0, 0, 1, 1])


def test_a_bag_of_words(ran: dict, prose: str) -> None:
    def similarity(model) -> float:
        with torch.no_grad():
            a, b = (
                model(torch.tensor([ran["wordpieces"].encode(text)]))[0].mean(0)
                for text in ("The dog bites the man.", "The man bites the dog.")
            )
        return torch.cosine_similarity(a, b, dim=0).item()

    assert f"{similarity(ran['no_order']):.3f} without positions" in prose
    assert f"With them {similarity(ran['encoder']):.3f}" in prose


@pytest.mark.parametrize(
    ("masked", "places", "moves"), [(False, 0.0, False), (True, 0.0, True), (False, 1.0, True), (True, 1.0, True)]
)
def test_what_shuffling_changes(ran: dict, masked: bool, places: float, moves: bool) -> None:
    mask = ran["causal_mask"](4) if masked else None
    with torch.no_grad():
        plain, shuffled = ran["read"](range(4), mask, places), ran["read"]([2, 0, 3, 1], mask, places)
    back = shuffled[torch.tensor([2, 0, 3, 1]).argsort()]
    assert torch.allclose(plain, back, atol=1e-5) != moves
    assert torch.allclose(plain.mean(0), shuffled.mean(0), atol=1e-5) != moves


def test_a_causal_head_counts(ran: dict) -> None:
    assert ran["counted"][0, :, 0].tolist() == pytest.approx([1 / t for t in range(1, 9)])


def test_waves(ran: dict, prose: str) -> None:
    def slowest(base: int) -> float:
        return 2 * math.pi * base ** (62 / 64)

    assert f"the slowest pair needs {slowest(10_000):,.0f} positions" in prose
    assert f"comes round after {slowest(10):.0f} positions" in prose
    fast = sinusoidal(16, 8, base=16)[:, 0]
    assert torch.equal(fast, torch.sin(torch.arange(16.0))), "bit 0 beside sine 0"
    late = sinusoidal(51, 32)[1:]
    assert torch.equal(ran["late"], late)
    angle = 10_000 ** (15 / 32)
    assert torch.allclose(ran["slow"][:, 30], torch.sin(torch.arange(50) / angle).to(ran["slow"]))
    assert "but near $\\sqrt{10000} = 100$" in prose
    assert 50 < angle < 100


def test_learned_places(ran: dict, prose: str) -> None:
    learned = ran["alike"][0]
    one, three, six, twelve = (learned.diagonal(k).mean().item() for k in (1, 3, 6, 12))
    assert f"Alike, {one:.2f} on average" in prose
    assert f"3 places away {three:.2f}, 6 away {six:.2f}, 12 away {twelve:.2f}" in prose


def test_rotary_scores(ran: dict, prose: str) -> None:
    q, k = ran["query"], ran["key"]
    every = torch.stack([q, k]).view(1, 2, 1, 4).expand(1, 2, 16, 4)
    turned_q, turned_k = rotary(every, torch.arange(16), 36, layout="interleaved")[0]
    scores = turned_q @ turned_k.T
    assert f"Nothing: {scores[6, 4]:.3f} both times" in prose
    assert scores[7, 5].item() == pytest.approx(scores[6, 4].item(), abs=1e-5)
    assert abs(scores[4, 6] - scores[6, 4]) > 0.1, "before and after differ"
    differ = {
        name: (ran["reads"](0, **o) - ran["reads"](100, **o)).abs().max() for name, o in ran["options_of"].items()
    }
    assert [d > 0.1 for d in differ.values()] == [False, True, True]


def test_the_comparing_picture(ran: dict) -> None:
    far = ran["distance"].tolist()
    t5, shaw = ran["t5"], ran["clipped"]
    near, beyond = (
        t5[:, [i for i, d in enumerate(far) if low <= abs(d) <= high]].abs().mean() for low, high in ((0, 20), (32, 48))
    )
    assert near > 2.5 * beyond, "large up to about 20 words, small beyond"
    assert shaw[:, far.index(-30)].tolist() == shaw[:, far.index(-40)].tolist()
    assert shaw[0, far.index(-30)] != shaw[0, far.index(30)]
    assert torch.equal(ran["penalty"], ran["penalty"].flip(-1))


def test_beyond_the_lengths_of_training(prose: str) -> None:
    lines = stored("numbers_transformer")["lines"]
    exact = {name: {at: round(100 * row["exact"]) for at, row in line.items()} for name, line in lines.items()}
    waves, buckets = (
        exact[f"Transformer, {kind}, trained on up to 12 words"] for kind in ("sinusoids", "relative positions")
    )
    assert f"translate {waves['12-14']} % of the numbers of 12 to 14" in prose
    assert waves["15-17"] == 0
    assert f"with buckets it is {buckets['12-14']} % and {buckets['15-17']} %" in prose
    recurrent = exact["recurrent, attention, trained on up to 20 words"]
    assert f"still had {recurrent['27-29']} % right at 27 to 29" in prose
    for name, line in exact.items():
        if name.startswith("Transformer"):
            assert max(line["24-26"], line["27-29"]) <= 2, "from 24 words on at most 2 % is right"


def test_the_sink(ran: dict, prose: str) -> None:
    on_first, n = ran["on_first"], ran["n"]
    fair = (1 / torch.arange(2, n + 1)).mean()
    assert f"{on_first.mean():.2f} of all weight, where a fair share would be {fair:.2f}" in prose
    assert f"{int((on_first.mean(-1) > 0.5).sum())} of 270" in prose
    assert f"a quarter ({ran['ratio'].median():.2f}) of the usual length" in prose
    assert divmod(ran["best"], 9) == (16, 0)
    assert f"Layer 16, head 0 reads the token before, with {ran['before'].max():.2f} on average" in prose
    with torch.no_grad(), capture(ran["writer"]) as tape:
        ran["writer"](torch.tensor([ran["bytepairs"].encode("one two three four one two three")]))
    weight = tape["layers.8.attention"][0, 2, -1, 3]
    assert f"which followed *last time*, with {weight:.2f}" in prose


def test_silencing(prose: str) -> None:
    facts = stored("looking_back")["smollm2"]
    assert facts["distance"] == 46
    top, silenced = facts["strongest"][0], facts["silenced"]
    assert (top["layer"], top["head"]) == (25, 1)
    assert f'gives "tickets" {top["weight"]:.2f} of its weight' in prose
    before, one, ten, twenty = facts["next"][" tickets"], *(silenced[n]["strongest"] for n in ("1", "10", "20"))
    assert (
        f"from {before:.2f} to {one:.2f}; the ten strongest to {ten:.2f}; the twenty strongest to {twenty:.2f}" in prose
    )
    assert f"leave {silenced['20']['random_mean']:.2f}" in prose


def test_the_students_functions_are_right(ran: dict) -> None:
    assert torch.allclose(ran["my_sinusoidal"](50, 64, 10_000), sinusoidal(50, 64), atol=1e-5)
    x = torch.randn(1, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    mine = ran["my_rotary"](x, torch.arange(5), 100)
    assert torch.allclose(mine, rotary(x, torch.arange(5), 100, layout="interleaved"), atol=1e-5)
