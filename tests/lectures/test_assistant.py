"""The values that the lecture's prose quotes are those that its own cells compute, or that are stored."""

from lectures import stored
from lectures.recipes import conversations


def percent(share: list[float]) -> str:
    return f"{100 * share[0]:.0f} % ({100 * share[1]:.0f} to {100 * share[2]:.0f})"


def whole(share: list[float]) -> str:
    return f"{100 * share[0]:.0f} %"


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 10
    assert 60 <= sum(minutes) <= 75


def test_without_the_template_it_ends_the_text(ran: dict, prose: str) -> None:
    assert ran["replies"]["plain text"] == ran["replies"]["question and answer"] == "<|im_end|>"
    assert "Paris" in ran["replies"]["chat template"]
    assert f"`<|im_end|>`, with probability {ran['ends']:.2f}" in prose


def test_the_conversations_are_as_many_as_told(ran: dict, prose: str) -> None:
    counts = stored("instruction_tuning")["conversations"]
    assert counts == {"answered": 35, "missing": 35, "sums": 24, "talk": 6}
    assert "35 passages that hold the answer" in prose
    assert "35 passages that do not" in prose
    assert "24 sums" in prose
    assert len(conversations.training()) == 100
    assert ran["history"].losses[-1] < ran["history"].losses[0]
    assert ran["trained"] == stored("instruction_tuning")["parameters"]["4"]


def test_instruction_tuning(prose: str) -> None:
    facts = stored("instruction_tuning")
    rows = facts["written"]
    four, bold, kinds = rows["4"], rows["without refusals"], ("answered", "missing", "sums")
    assert facts["chosen"] == "4"
    assert sum(facts["held_out"].values()) == 72
    assert all(rows["untuned"][kind]["share"][0] == 0 for kind in kinds)
    assert "writes none of the 72 held-out answers" in prose
    assert f"declines {percent(four['missing']['share'])} of the questions that have no answer" in prose
    assert f"and also {percent(four['refused']['share'])} of those that have one" in prose
    assert f"It answers {percent(four['answered']['share'])}" in prose
    assert f"the same training answers {percent(bold['answered']['share'])}" in prose
    low, high = (sorted(of["answered"]["seeds"]) for of in (four, bold))
    assert len(low) == len(high) == 5
    assert f"({high[0]:.2f} to {high[-1]:.2f}) is above each of the other five ({low[0]:.2f} to {low[-1]:.2f})" in prose
    assert high[0] > low[-1]
    one, sixteen = rows["1"], rows["16"]
    assert one["sums"]["share"][0] == 0
    assert len(one["sums"]["seeds"]) == len(sixteen["sums"]["seeds"]) == 3
    assert (
        f"Rank 1 teaches the refusal ({whole(one['missing']['share'])}) and not one call; rank 4 makes"
        f" {whole(four['sums']['share'])} of the right calls, rank 16 {whole(sixteen['sums']['share'])}"
    ) in prose
    assert f"kinds and wordings {whole(four['familiar']['share'])}, new ones {whole(four['new']['share'])}" in prose
    after = four["plain"]
    assert (
        f"cost {rows['untuned']['plain'][0]:.2f} nats per token before and {min(after):.2f} to {max(after):.2f} after"
        in prose
    )


def test_prompts_against_tuning(prose: str) -> None:
    read = stored("instruction_tuning")["read"]
    short, rules, examples, tuned = (read[name] for name in ("short message", "rules", "rules and examples", "tuned"))
    assert f"replies hold the answer in {percent(short['answered: holds'])}" in prose
    assert short["answered: short"][0] == short["answered: declines"][0] == short["missing: declines"][0] == 0
    assert f"tuned model's replies hold it in {whole(tuned['answered: holds'])}" in prose
    assert f"{whole(rules['answered: holds'])} hold the answer, none declines, no call" in prose
    assert rules["answered: declines"][0] == rules["missing: declines"][0] == rules["sums: calls"][0] == 0
    assert (
        f"declines in {whole(examples['missing: declines'])} of the unanswerable and in"
        f" {whole(examples['answered: declines'])} of the answerable"
    ) in prose
    calls, shown = tuned["sums: calls"], examples["sums: calls"]
    assert f"tuning is ahead, {whole(calls)} against {whole(shown)} with examples" in prose
    bounds = [f"{100 * low:.0f} to {100 * high:.0f}" for _, low, high in (calls, shown)]
    assert f"({bounds[0]} and {bounds[1]}) overlap" in prose
    assert calls[1] < shown[2]


def test_a_recording_without_meaning(ran: dict, prose: str) -> None:
    found = {name: f"{r:.2f}" for name, r in ran["found"].items()}
    five, fifteen, late = (found[f"SmolLM2, layer {i}"] for i in (5, 15, 25))
    assert f"layer 15 predict it with r = {fifteen}, those of layers 5 and 25 with {five} and {late}" in prose
    assert f"last five tokens reach {found['random vectors of five tokens']}" in prose
    length = found["the word's length"]
    assert f"without smoothing, has {length}" in prose


def test_recall(prose: str) -> None:
    context = stored("still_missing")["context"]
    alone = [share for name in ("100 tokens", "500 tokens") for share in context[name].values()]
    assert all(share[0] == 1 for share in alone)
    assert stored("still_missing")["tries"] * 3 == 24
    crowd = context["500 tokens, five numbers"]
    assert crowd["beginning"] == crowd["middle"]
    mean, low, high = crowd["beginning"]
    assert (
        f"right in {100 * mean:.0f} % at the beginning or in the middle ({100 * low:.0f} to {100 * high:.0f})" in prose
    )
    assert crowd["end"][0] == 1


def test_limits(ran: dict, prose: str) -> None:
    facts = stored("still_missing")
    letters, negation, paraphrase = facts["letters"], facts["negation"], facts["paraphrase"]
    assert letters["chosen"] == [letters["words"], 0, 0]
    assert f"right in {whole(letters['right'])}, exactly what a constant answer gets" in prose
    assert f"“1” for all {letters['words']} words" in prose
    assert set(negation["yes"].values()) == {0.0}
    assert negation["opposite"][0] == 0
    right = negation["right"]
    assert f"than after a false one in {whole(right['true above false'])} of the countries" in prose
    assert right["true above false"][1] < 0.5 < right["true above false"][2]
    assert f"than after its *negation* in only {whole(right['true above its negation'])}" in prose
    assert right["true above its negation"][2] < 0.5 < right["negated false above false"][1]
    by = [share[0] for share in paraphrase["right"].values()]
    assert f"between {100 * min(by):.0f} % and {100 * max(by):.0f} % of the capitals by the wording" in prose
    assert f"{whole(paraphrase['all'])} by all four, {whole(paraphrase['any'])} by at least one" in prose
    assert f"{ran['model'].config.max_length:,} tokens, one sentence form" in prose


def test_tools(prose: str) -> None:
    facts = stored("tools_and_retrieval")
    tool = facts["tool"]
    free, bound, tuned, both = (
        tool[f"{who}, {how}"] for who in ("untuned", "tuned") for how in ("freely", "under the pattern")
    )
    assert free["well-formed"][0] == 0
    assert bound["well-formed"][0] == bound["right call"][0] == both["well-formed"][0] == 1
    told = [percent(of["right call"]) for of in (tuned, both)]
    assert f"makes {told[0]} of the right calls freely, and {told[1]} under the pattern" in prose
    assert bound["right call"][0] > tuned["right call"][2]
    assert tool["no tool"]["right answer"][0] == 0
    assert tool["no tool"]["shown"][0].startswith("1928")
    assert free["uses the result"][0] == tuned["uses the result"][0] == 1


def test_retrieval(prose: str) -> None:
    facts = stored("tools_and_retrieval")
    rows, found = facts["retrieval"], facts["found"]
    assert rows["nothing"][0] == rows["three random"][0] == 0
    assert found["the glossary's words"]["BM25"]["3"][0] == 1
    three, alone = percent(rows["three from BM25"]), percent(rows["the right one"])
    assert f"right in {three} with these three, and in {alone} with the right entry alone" in prose
    far = found["other words"]
    assert f"first three in {percent(far['BM25']['3'])} of 16 questions" in prose
    assert far["sentence vectors"]["3"] == far["BM25"]["3"]
    ten = [far[how]["10"] for how in ("sentence vectors", "BM25")]
    assert f"among the first ten {whole(ten[0])} against {whole(ten[1])}" in prose
    assert ten[0][1] < ten[1][2]


def test_preference_tuning(prose: str) -> None:
    facts = stored("preference_tuning")
    rows = facts["rows"]
    start, dpo, near, far, fast, supervised = (
        rows[name] for name in ("untuned", "0.1", "1", "0.03", "faster", "supervised")
    )
    stops = [f"{x:.2f}" for x in dpo["stops"]]
    seeds = sorted(dpo["seeds"]["stops"])
    assert len(seeds) == 5
    assert (
        f"P(end) rises from {start['stops'][0]:.4f} to {stops[0]} ({stops[1]} to {stops[2]}), in five seeds"
        f" {seeds[0]:.2f} to {seeds[-1]:.2f}, and {whole(dpo['one sentence'])} of the replies"
    ) in prose
    assert f"model, {near['stops'][0]:.2f} at a drift of {near['drift'][0]:.2f} nats per token" in prose
    assert f"does what 0.1 does ({far['stops'][0]:.2f} at {far['drift'][0]:.2f})" in prose
    falls = [f"{x:.1f}".replace("-", "−") for key in ("chosen", "rejected") for x in (start[key][0], dpo[key][0])]
    assert f"falls from {falls[0]} to {falls[1]}. That of the rejected ones falls further, from {falls[2]} to" in prose
    assert falls[3] in prose
    rival = [f"{x:.2f}" for x in supervised["stops"]]
    assert f"P(end) {rival[0]} ({rival[1]} to {rival[2]}) at a drift of {supervised['drift'][0]:.2f} instead" in prose
    assert f"instead of {dpo['drift'][0]:.2f}. Plain text" in prose
    assert supervised["drift"][2] < dpo["drift"][1]
    assert supervised["chosen"][0] > start["chosen"][0] > dpo["chosen"][0]
    plain = [f"{f(of['plain']):.2f}" for of in (supervised, dpo) for f in (min, max)]
    assert f"costs {plain[0]} to {plain[1]} nats afterwards, after DPO {plain[2]} to {plain[3]}" in prose
    assert f"looks even better, {fast['stops'][0]:.2f}" in prose
    assert (sum(not text for text in fast["answers"]), len(fast["answers"])) == (4, 8)
