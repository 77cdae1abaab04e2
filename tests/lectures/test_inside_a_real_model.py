"""The values that the lecture's prose quotes are those that its own cells compute, or that are stored."""

from statistics import fmean

import pytest

from lectures import stored


def near(row: list[float]) -> str:
    return f"{row[0]:.2f} ({row[1]:.2f} to {row[2]:.2f})".replace("-", "−")


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 8
    assert 60 <= sum(minutes) <= 75


def test_the_lens(ran: dict, prose: str) -> None:
    ranks = ran["ranks"]
    assert (
        f"*am* is number {ranks[0]} of all words before the first layer and number {ranks[-1]} after the last" in prose
    )
    assert next(i for i, rank in enumerate(ranks) if rank <= 10) == 22
    assert ranks[28] == 2
    with_comma = ran["inside"].read("I think, therefore I").log_p
    assert int((with_comma > with_comma[ran["am"]]).sum()) == 1
    rows = stored("early_lens")["rows"]
    (lens, lens_half), (fitted, half) = rows["lens"][15], rows["fitted map"][15]
    assert f"for {100 * lens:.0f} % of the tokens, and the fitted map for {100 * fitted:.0f} %" in prose
    bounds = [100 * x for x in (lens - lens_half, lens + lens_half, fitted - half, fitted + half)]
    assert "intervals {:.0f} to {:.0f} % and {:.0f} to {:.0f} %, six passages".format(*bounds) in prose
    assert f"it is {100 * rows['lens'][29][0]:.0f} % against {100 * rows['fitted map'][29][0]:.0f} %" in prose
    assert f"its value at layer 0, {100 * rows['fitted map'][0][0]:.0f} %" in prose


def test_shares_add_up(ran: dict) -> None:
    logits = ran["logits"]
    assert sum(ran["parts"].values()) == pytest.approx(float(logits[ran["paris"]] - logits[ran["rome"]]), abs=0.01)
    assert len(ran["parts"]) == 1 + 30 * 10


def test_induction(ran: dict, prose: str) -> None:
    facts = stored("head_map")
    nats, by = facts["nats"], facts["together"]
    assert f"A copied token costs {nats['again']:.2f} nats, a new one {nats['first time']:.2f}" in prose
    eight, means = by["8"]["mean"], [fmean(row) for row in by["8"]["mean"]["controls"]]
    assert len(means) == 20
    assert len(eight["ablated"]) == 6
    assert (
        f"a copied token costs {fmean(eight['ablated']):.2f} nats more (each draw {min(eight['ablated']):.2f} to"
        f" {max(eight['ablated']):.2f}); the 20 control draws raise it by {min(means):.2f} to {max(means):.2f}"
    ) in prose
    assert min(eight["ablated"]) > 5 * max(means)
    assert f"nearly the same as zeros ({fmean(by['8']['zero']['ablated']):.2f})" in prose
    assert f"on verses the loss changes by {fmean(eight['on verses']):.2f}" in prose
    alone, two = (fmean(by[k]["mean"]["ablated"]) for k in "12")
    assert facts["order"][:2] == ["18.6", "17.4"]
    assert f"One head alone, 18.6, costs {alone:.2f}. The second strongest, 17.4, adds only {two - alone:.2f}" in prose
    assert ran["again"] < ran["first_time"] / 4


def test_the_map_of_heads(ran: dict, prose: str) -> None:
    facts = stored("head_map")
    rows = {row["head"]: row for row in facts["rows"]}
    looks, named = facts["candidates"], facts["named"]
    kept = sum(count for name, count in named.items() if name != "unknown")
    assert (
        f"{sum(looks.values())} heads look at one of the five places, {kept} keep the name, {named['unknown']} of 270"
        f" stay unknown. Of the named ones {named['first token']} park"
    ) in prose
    assert f"Of {looks['induction']} heads that look like induction heads {named['induction']} pass" in prose
    score = {head: rows[head]["looks"]["induction"][0] for head in ("17.3", "17.4", "17.5")}
    assert f"Heads 17.4 and 17.5 look with {score['17.4']:.2f} and {score['17.5']:.2f} where" in prose
    assert [rows[head]["name"] for head in score] == ["induction", "unknown", "unknown"]
    assert (
        f"Of {looks['previous token']} heads that look at the previous token only {named['previous token']} pass"
        in prose
    )
    assert f"put {rows['16.0']['changes']['reading'][0]:.2f} less of their weight on the right token" in prose
    assert f"almost as strictly ({rows['11.1']['looks']['previous token'][0]:.2f})" in prose
    assert rows["11.1"]["name"] == "unknown"
    assert named["punctuation"] == 0


def test_number(prose: str) -> None:
    facts = stored("number_direction")
    by = facts["by_layer"]
    assert facts["layer"] == 0
    assert (
        f"The direction of layer 0 moves held-out nouns by {near(by['0']).replace(' (', ' of the way (')}, that of"
        f" layer 15 by {by['15'][0]:.2f}, that of layer 29 by {by['29'][0]:.2f}"
    ) in prose
    assert f"moves them by {max(facts['random']):.2f}" in prose
    verbs = {pair: f"{row[0]:.2f}" for pair, row in facts["verbs"].items()}
    assert (
        f"*was/were* by {verbs['was/were']}, *has/have* by {verbs['has/have']} and *does/do* by {verbs['does/do']}"
        in prose
    )
    assert f"from {facts['divergence']['plain'][0]:.2f} to {facts['divergence']['steered'][0]:.2f} nats" in prose
    strong = {s: f"{row[0]:.2f}".replace("-", "−") for s, row in facts["strengths"].items()}
    assert f"no further ({strong['2.0']}) and strength 4 less ({strong['4.0']})" in prose
    assert f"does nothing ({strong['-1.0']})" in prose
    few = facts["neurons"]
    moved = {k: f"{row['moved'][0]:.2f}" for k, row in few.items()}
    assert f"10 units move {moved['10']} of the way, 100 units {moved['100']}" in prose
    assert f"of 20 random sets of 100 the best moves {max(few['100']['controls']):.2f}" in prose
    assert f"With 10,000 random units up to {max(few['10000']['controls']):.2f} is moved" in prose


def test_capitals(ran: dict, prose: str) -> None:
    facts = stored("capital_facts")
    assert len(facts["countries"]) == 48
    parts, gap = ran["parts"], float(ran["logits"][ran["paris"]] - ran["logits"][ran["rome"]])
    assert ran["largest"] == "layers.23.attention.4"
    assert f"Head 23.4 alone writes {parts[ran['largest']]:.2f} of the {gap:.2f} by which" in prose
    assert f"the network of layer 29 subtracts {-parts['layers.29.feed_forward']:.2f}" in prose
    written = facts["written by"]
    assert f"heads write {near(written['attention'])} of the difference and the networks" in prose
    assert f"networks {near(written['feed_forward'])}. The intervals overlap" in prose
    assert ran["overlap"]
    left = float(ran["without"][ran["paris"]] - ran["without"][ran["rome"]])
    assert f"fall from {gap:.2f} to {left:.2f} without head 23.4, by {gap - left:.2f}" in prose
    one, eight = facts["backup"][0], facts["backup"][-1]
    assert one["heads"] == ["23.4"]
    assert f"by the mean: promised {near(one['promised'])}, fall {near(one['fall'])}" in prose
    assert f"together: promised {near(eight['promised'])}, fall {near(eight['fall'])}" in prose
    assert one["fall"][1] > one["promised"][2], "more than promised: no backup"
    assert "The embedding writes nothing" in prose
    assert abs(written["embedding"][0]) < 0.05


def test_where_facts_sit(prose: str) -> None:
    facts = stored("capital_facts")
    largest, controls = facts["largest"], facts["controls"]
    third = controls["a third country's activation"]
    assert largest["network, country"][0] == 0
    assert f"The network of layer 0 restores {largest['network, country'][1]:.2f} at the country" in prose
    index = facts["layers"].index(facts["strongest window"])
    assert (facts["strongest window"], facts["window"]) == (6, 5)
    networks, attentions = (facts["windows"][f"{kind}, country"][index] for kind in ("network", "attention"))
    assert f"Networks 4 to 8 at the country restore {near(networks)}, the attentions there {near(attentions)}" in prose
    assert f"the difference is {near(facts['network less attention'])}" in prose
    assert f"already restore {near(third)}" in prose
    assert f"The same networks at *of*: {controls['the same networks at “of”'][0]:.2f}" in prose
    assert largest["attention, is"][0] == 23
    assert f"a single layer, 23, restores {near(largest['attention, is'][1:])}" in prose
    pathway = [row[0] for row in facts["rows"]["pathway, country"]]
    assert min(pathway[:23]) == pytest.approx(0.92, abs=0.005)
    assert f"one layer later {pathway[23]:.2f}".replace("-", "−") in prose


def test_paths(ran: dict, prose: str) -> None:
    facts = stored("patched_texts")
    word, last = facts["ways"]["at the word"], facts["ways"]["at the last token"]
    assert len(facts["words"]) == 5
    assert min(word[i][0] for i in word if int(i) <= 17) == pytest.approx(0.97, abs=0.005)
    assert max(last[i][0] for i in last if int(i) <= 17) < 0.01
    assert (
        f"After layer 21 it is {word['21'][0]:.2f} against {last['21'][0]:.2f}, after layer 25 {word['25'][0]:.2f}"
        f" against {last['25'][0]:.2f}"
    ) in prose
    maps = {name: pair["map"] for name, pair in facts["pairs"].items()}
    assert maps["capitals"]["attention"][23][-1] == pytest.approx(1.00, abs=0.005)
    assert max(maps["giver"]["attention"], key=lambda row: row[-1]) == maps["giver"]["attention"][23]
    agreement = [row[-1] for row in maps["agreement"]["attention"]]
    assert sorted(range(30), key=agreement.__getitem__)[-2:] == [27, 26]
    for name in ("capitals", "agreement", "giver"):
        assert maps[name]["network"][0][0] > 0.98
    assert ran["gone"] == 25
