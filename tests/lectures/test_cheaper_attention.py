"""The values that the lecture's prose quotes are those that its own cells compute, or that are stored."""

from statistics import mean

import pytest
import torch

from lectures import stored
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.sparse import build_longformer


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 8
    assert 60 <= sum(minutes) <= 75


def test_the_curve(ran: dict, prose: str) -> None:
    costs = ran["costs"]
    times = costs["seconds"]["explicit"]["4096"] / costs["seconds"]["fused"]["4096"]
    assert f"lower by a factor of {times:.1f} at 4,096 tokens" in prose
    assert f"needs {ran['written'] / 1e6:,.0f} MB of memory and the kernel {ran['fused'] / 1e6:.1f} MB" in prose
    assert ran["twice"] == pytest.approx(4, rel=0.15)
    for name in ("explicit", "fused"):
        assert costs["law"]["time"][name]["exponent"] == pytest.approx(2, abs=0.15)


def by_head(passages: list[list[int]]) -> list[float]:
    return [mean(of) for of in zip(*passages, strict=True)]


def test_ranks(ran: dict, prose: str) -> None:
    ranks = stored("attention_rank")
    smol, mini = (ranks["models"][name] for name in ("SmolLM2", "MiniLM"))
    assert (smol["heads"], mini["heads"]) == ([30, 9], [6, 12])
    assert all(len(by["real"]["sum"]) == 5 for by in (smol, mini))
    average = {key: round(value) for key, value in ran["average"].items()}
    mask = smol["mask"]["sum"][0][0]
    heads = {name: (by_head(of["real"]["sum"]), by_head(of["shuffled"]["sum"])) for name, of in ranks["models"].items()}
    assert (
        f"need {average['SmolLM2', 'real']} of 256 values on average,"
        f" their shuffled weights {average['SmolLM2', 'shuffled']}"
    ) in prose
    assert f"the causal mask alone, spread evenly, needs only {mask}" in prose
    assert f"and {sum(head > mask for head in heads['SmolLM2'][0])} of the 270 heads need more" in prose
    assert (
        f"need {average['MiniLM', 'real']} values and their shuffled weights {average['MiniLM', 'shuffled']}" in prose
    )
    lower = sum(real < shuffled for real, shuffled in zip(*heads["MiniLM"], strict=True))
    assert f"{lower} of the 72 heads need fewer" in prose
    assert f"{sum(head > 64 for head in heads['MiniLM'][0])} of the 72 need more than a quarter" in prose
    squares = [round(mean(by_head(mini[row]["squares"]))) for row in ("real", "shuffled")]
    assert f"measure the error, {squares[0]} suffice; shuffled {squares[1]}" in prose
    for by in (smol, mini):
        every = [value for passage in by["real"]["sum"] for value in passage]
        assert min(every) <= 10
        assert max(every) >= 200
    cosine = {rank: mean(of) for rank, of in ranks["cosine_at_rank"].items()}
    assert f"keep a cosine of {cosine['64']:.2f} with the true ones" in prose
    assert f"(rank 4: {cosine['4']:.2f}; evenly spread weights: {cosine['even']:.2f})" in prose


def test_linformer_is_the_librarys_and_leaks(ran: dict) -> None:
    torch.manual_seed(0)
    part, x = LinformerAttention(ran["sizes"], k=5), torch.randn(1, 32, 16)
    q, k, v = part.attention.projection(x)[0].split(16, dim=-1)
    ours = part.attention.output(ran["linformer"](q, k, v, part.E, part.F))
    assert torch.allclose(ours, part(x)[0], atol=1e-5)
    assert bool(ran["moved"].all())


def test_patterns(ran: dict, prose: str) -> None:
    for size in (2, 4, 8):
        part = build_longformer(ran["TransformerConfig"](**SIZES), False, window=2 * size)
        assert torch.equal(ran["longformer"](48, size), part.pattern(48))
    window, longformer = ran["window"], ran["longformer"]
    assert ran["alone"] == 12
    assert ran["with_global"] == 2
    assert ran["layers_to_reach"](window(48, 16)) == 3 < ran["layers_to_reach"](window(48, 15))
    assert f"which is {int(window(48, 16).sum()):,} of 2,304 pairs" in prose
    assert ran["layers_to_reach"](longformer(48, 1)) == 2
    assert f"a window of 1 suffices: {int(longformer(48, 1).sum())} pairs and two layers" in prose
    assert torch.equal(ran["bigbird"](48, 4)[0], torch.ones(48, dtype=torch.bool))


SIZES = {"vocab_size": 9, "d_model": 16, "n_heads": 1, "n_layers": 1, "max_length": 48}


def test_time_and_memory(ran: dict, prose: str) -> None:
    layer, longest = ran["layer"], ran["longest"]
    law = {name: f"$n^{{{of['exponent']:.2f}}}$" for name, of in layer["law"].items()}
    assert (
        f"like {law['full, fused']} for the full layer, {law['Longformer']} for Longformer,"
        f" {law['BigBird']} for BigBird and {law['Linformer']} for Linformer"
    ) in prose
    assert f"the full layer takes {longest['full, fused']:.1f} s" in prose
    assert f"{longest['Longformer']:.1f} s each, Linformer {longest['Linformer']:.2f} s" in prose
    assert f"{longest['BigBird']:.1f}" == f"{longest['Longformer']:.1f}"
    near = {name: round(n, -2) for name, n in ran["starts"].items()}
    assert f"Below about {near['Longformer']:,} tokens the full kernel is faster than Longformer" in prose
    assert f"below {near['BigBird']:,} faster than BigBird, below {near['Linformer']} faster than Linformer" in prose
    first = {name: by["256"] for name, by in layer["seconds"].items()}
    assert f"Longformer takes {first['Longformer'] / first['full, fused']:.1f} times as long" in prose
    held = [layer["bytes"][name]["16384"] / 1e6 for name in ("full, fused", "Longformer", "BigBird")]
    assert "the full kernel holds {:.0f} MB, Longformer {:.0f} and BigBird {:.0f}".format(*held) in prose
    for name in ("Longformer", "BigBird"):
        assert all(layer["bytes"][name][n] > by for n, by in layer["bytes"]["full, fused"].items())
    products = {name: by["16384"] for name, by in layer["multiply_adds"].items()}
    assert (
        f"BigBird has {products['full, fused'] / products['BigBird']:.1f} times fewer than the full layer and is"
        f" {longest['full, fused'] / longest['BigBird']:.1f} times as fast"
    ) in prose


def test_windows_and_sinks(ran: dict, prose: str) -> None:
    through, loss, full = ran["through"], ran["loss"], mean(ran["through"]["full"])
    assert len(through["full"]) == 5
    at = {way: by[64] for way, by in loss.items()}
    assert f"Its loss without a window is {full:.2f} nats" in prose
    assert (
        f"With a window of 64 the loss is {at['window']:.2f}."
        f" Four more tokens in the window make it {at['wider by 4']:.2f},"
        f" tokens 5 to 8 of the text {at['and 4 others']:.2f}, and the first four **{at['and the first 4']:.2f}**"
    ) in prose
    repaired = (at["window"] - at["and the first 4"]) / (at["window"] - full)
    stranger = at["and a stranger's 4"]
    assert f"in their place the loss is {stranger:.2f}, the same" in prose
    assert stranger == pytest.approx(at["and the first 4"], abs=0.02)
    assert f"they repair {100 * repaired:.0f} % of the rise" in prose
    for way in ("window", "wider by 4", "and 4 others"):
        for w, losses in through["ways"][way].items():
            kept = through["ways"]["and the first 4"][w]
            assert all(a < b for a, b in zip(kept, losses, strict=True)), "in each passage, for each window"
    assert f"a window of 8 with the first four ({loss['and the first 4'][8]:.2f})" in prose
    assert loss["and the first 4"][8] < loss["window"][64]
    assert f"{at['window'] - at['and the first 4']:.1f} nats are the missing sink" in prose
    assert f"only {at['and the first 4'] - full:.1f} nats are the missing text" in prose


def test_four_claims(ran: dict, prose: str) -> None:
    def of_scores(d_model: int, layers: int, vocab_size: int, n: int) -> str:
        products = ran["count"](d_model, layers, vocab_size, n)[1]
        return f"{100 * products['attention, scores'] / sum(products.values()):.0f} %"

    smol, gpt3 = (576, 30, 49_152), (12_288, 96, 50_257)
    assert (
        f"the scores are {of_scores(*smol, 2048)} of the multiply-adds with SmolLM2's width"
        f" and {of_scores(*gpt3, 2048)}" in prose
    )
    assert f"At 131,072 tokens they are {of_scores(*smol, 131_072)} and {of_scores(*gpt3, 131_072)}" in prose
    attention, network = (
        (ran["layer"]["multiply_adds"][name]["2048"], ran["layer"]["seconds"][name]["2048"])
        for name in ("full, fused", "feed-forward")
    )
    assert (
        f"has {attention[0] / network[0]:.1f} times the multiply-adds of its feed-forward network and takes"
        f" {attention[1] / network[1]:.1f} times as long"
    ) in prose
    assert ran["equal"] == pytest.approx(3072)
    assert ran["writer"].config.window is None
    seconds = [ran["at"](name, 131_072) for name in ("full, fused", "Longformer")]
    assert f"would take our core {seconds[0]:.0f} s per layer with the full kernel and {seconds[1]:.0f} s with" in prose
    assert f"would hold {ran['cache_bytes'](30, 3, 64, 131_072) / 1e9:.1f} GB" in prose


def test_a_students_pattern(ran: dict, prose: str) -> None:
    mine = ran["my_pattern"](48, 6)
    assert f"in two layers with {int(mine.sum())} pairs" in prose
    assert not mine.triu(1).any()
    assert (((mine.float() @ mine.float()) > 0) == torch.ones(48, 48).tril().bool()).all()


def test_cards(ran: dict, prose: str) -> None:
    rows = ran["needle"]["rows"]
    assert all(len(row["right"]) == 5 for row in rows.values())
    assert {name: round(row["keys"]) for name, row in rows.items()} == {
        name.strip(): int(keys) for name, keys, _ in (line.split("|")[1:4] for line in table_of_rows(prose))
    }
    right = {name: f"{100 * mean(row['right']):.0f} %" for name, row in rows.items()}
    seeds = {name: f"{100 * min(row['right']):.0f} to {100 * max(row['right']):.0f}" for name, row in rows.items()}

    def by_way(name: str, layers: int) -> str:
        known = [run[layers] for run in rows[name]["by_layers"] if run[layers] is not None]
        return f"{100 * mean(known):.0f} %"

    slow = "Linformer, 5 × the steps"
    assert (
        f"The plain window finds {right['window']} of the cards. One layer away it finds {by_way('window', 0)}" in prose
    )
    assert f"leads from the card to the question {by_way('window', 3)}, a guess" in prose
    assert all(abs(run[3] - 1 / 8) < 0.05 for run in rows["window"]["by_layers"])
    wide, random, globally = "wider window", "window + random", "window + global"
    assert f"keys per query and finds {right[wide]} (seeds {seeds[wide]})" in prose
    assert f"*window + random* finds {right[random]} ({seeds[random]})" in prose
    assert f"*window + global* {right[globally]} ({seeds[globally]})" in prose
    assert max(rows[wide]["right"]) < min(rows[random]["right"] + rows[globally]["right"])
    assert min(rows[globally]["right"]) < max(rows[random]["right"]), "they overlap"
    both = "window + random + global"
    assert f"random and global together find {right[both]} ({seeds[both]})" in prose
    assert f"two layers away, yet one seed finds {100 * min(rows[globally]['right']):.0f} %" in prose
    assert all(run[2:] == [None, None] for run in rows[globally]["by_layers"])
    assert f"one layer away is found in {by_way(random, 0)} of cases" in prose
    assert f"whose way takes three layers in {by_way(random, 2)}" in prose
    assert f"After the same 500 steps it finds {right['Linformer']} ({seeds['Linformer']})" in prose
    assert f"as many keys as positions {right['Linformer, k = n']}" in prose
    lowest, *others = sorted(rows[slow]["right"])
    assert min(others) > 0.99
    assert f"four seeds find nearly every card and one finds {100 * lowest:.0f} %" in prose
    assert (
        f"full attention finds {right['full']} after 500 steps, BigBird's pattern {right[both]}, a window"
        f" {right['window']} and Linformer {right['Linformer']}; Linformer finds {right[slow]} after 2,500"
        f" (five seeds, {ran['needle']['length']} tokens)"
    ) in prose


def table_of_rows(prose: str) -> list[str]:
    """The lines of the table of section 6, of the prose in one line."""
    cells = prose.split("| row | keys per query | |")[1].split(" # Five seeds each")[0].split("Five seeds each")[0]
    parts = [part.strip() for part in cells.split("|")]
    rows = [part for part in parts if part and not set(part) <= set("-")]
    return [f"|{'|'.join(rows[i : i + 3])}|" for i in range(0, len(rows), 3)]
