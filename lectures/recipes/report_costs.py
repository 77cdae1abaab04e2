"""Pages of the report about what attention costs, what it sees, and what a context teaches. `report` puts them in."""

from typing import Any

from lectures.recipes.markdown import markdown_table


def _law(law: dict[str, float]) -> str:
    return f"{law['exponent']:.2f} ({law['low']:.2f}–{law['high']:.2f})"


def attention_cost(result: dict[str, Any]) -> str:
    lines, seconds, held = result["lines"], result["seconds"], result["bytes"]
    lengths = [n for n in seconds["explicit"] if int(n) & (int(n) - 1) == 0][-4:]
    rows = [
        [
            lines[name],
            result["multiply_adds"][name],
            result["steps_that_wait_for_one_another"][name],
            _law(result["law"]["time"][name]),
            _law(result["law"]["memory"][name]),
            *(f"{by[n] * 1e3:.0f} ms, {held[name][n] / 1e6:.1f} MB" for n in lengths),
            f"{result['billion_multiply_adds_per_second'][name][lengths[-1]]:.0f}",
        ]
        for name, by in seconds.items()
    ]
    head = ["", "multiply-adds", "steps one after the other", "time: exponent of n", "memory: exponent of n"]
    rate = f"10⁹ multiply-adds a second at {lengths[-1]}"
    return (
        f"d = {result['sizes']['d_model']}, {result['sizes']['n_heads']} heads; {result['measured']}."
        f" Law: {result['law_is']}.\n\n"
        + markdown_table([*head, *(f"n = {n}" for n in lengths), rate], rows)
        + f"\n\nThe attention layer takes longer than the LSTM from"
        f" {result['the_layer_takes_longer_than_the_lstm_from']} positions on; by multiply-adds alone it would from"
        f" {result['by_multiply_adds_alone_it_would_from']}. {_tables(result)}"
    )


def _tables(result: dict[str, Any]) -> str:
    """How often the n² weights of all heads are held at once: the equation needs scores and weights, two."""
    n, held = list(result["bytes"]["explicit"].items())[-1]
    times = held / (4 * result["sizes"]["n_heads"] * int(n) ** 2)
    return (
        f"As written, {times:.1f} arrays of n² numbers per head are held at the peak; the equation alone needs two,"
        " scores and weights, and masking takes the rest."
    )


def source_and_target(result: dict[str, Any]) -> str:
    lengths = [n for n in next(iter(result["seconds"].values())) if int(n) & (int(n) - 1) == 0][-3:]
    share = result["share_of_the_products_of_two_lengths"]
    rows = [
        [
            result["lines"][name],
            result["written"][name],
            _law(result["law"]["multiply_adds"][name]),
            _law(result["law"]["time"][name]),
            *(f"{by[n] * 1e3:.0f} ms, {share[name][n]:.0%}" for n in lengths),
        ]
        for name, by in result["seconds"].items()
    ]
    head = ["", "multiply-adds", "their exponent of n = m", "time: exponent", *(f"n = m = {n}" for n in lengths)]
    return (
        f"Multiply-adds: {result['multiply_adds_are']}. Time: {result['seconds_are']}. Law: {result['law_is']}."
        " In percent: the share of multiply-adds in terms that multiply two lengths.\n\n" + markdown_table(head, rows)
    )


def looking_back(result: dict[str, Any]) -> str:
    ours, lstm = result["smollm2"], result["lstm"]

    def answers(facts: dict[str, Any], which: str) -> str:
        words = facts[f"{which}words"]
        rows = [[word, *(f"{p:.2g}" for p in row)] for word, row in zip(words, facts[f"{which}answers"], strict=True)]
        return markdown_table(["in the gap", *(f"P({word})" for word in words)], rows)

    def listed(facts: dict[str, float]) -> str:
        return ", ".join(f"{piece!r} {p:.2f}" for piece, p in list(facts.items())[:5])

    heads = [[f"layer {one['layer']}, head {one['head']}", f"{one['weight']:.2f}"] for one in ours["strongest"][:6]]
    silenced = [[count, *(f"{p:.3f}" for p in by.values())] for count, by in ours["silenced"].items()]
    gradients = [
        ["SmolLM2, at embeddings", *_gradient(ours["gradient"], ours["tickets_at"][0])],
        ["LSTM, at embeddings", *_gradient(lstm["gradient"], lstm["letters_at"][0])],
        ["LSTM, at states", *_gradient(lstm["state_gradient"], lstm["letters_at"][0])],
    ]
    return (
        f"“{result['sentence'].format('tickets')} ___” SmolLM2: {listed(ours['next'])}. LSTM, to which"
        f" {lstm['unknown']} of the {len(lstm['pieces'])} words are <unk>: {listed(lstm['next'])}."
        f"\n\nSmolLM2 with another word in place of tickets:\n\n{answers(ours, '')}"
        f"\n\nThe LSTM, in a sentence of words it knows (“{result['known_sentence'].format('letters')} ___”):\n\n"
        f"{answers(lstm, 'known_')}"
        f"\n\nSmolLM2, the same sentence:\n\n{answers(ours, 'known_')}"
        f"\n\nAttention of the last token to “tickets”, {ours['distance']} tokens back (evenly spread:"
        f" {ours['uniform']:.3f}, mean of all heads: {ours['mean_over_heads']:.3f}):\n\n"
        + markdown_table(["", "weight"], heads)
        + f"\n\n{result['silenced_is']}:\n\n"
        + markdown_table(["heads silenced", "the strongest", "random, mean", "random, lowest"], silenced)
        + f"\n\nGradient: {result['gradient_is']}. As multiples of that at the last token:\n\n"
        + markdown_table(["", "5 back", "10 back", "20 back", "at the word in the gap", "its rank"], gradients)
    )


def _gradient(norms: list[float], word: int) -> list[str]:
    """The gradient 5, 10 and 20 tokens back and at the word, and how many tokens the word's is among."""
    rank = 1 + sum(norm > norms[word] for norm in norms)
    there = [norms[-6], norms[-11], norms[-21], norms[word]]
    return [*(f"{norm / norms[-1]:.2g}" for norm in there), f"{rank} of {len(norms)}"]


def few_shot(result: dict[str, Any]) -> str:
    parts = []
    for measure in ("choosing", "writing"):
        shots = list(next(iter(result["curves"].values()))[measure])
        rows = [
            [name, *(f"{p['share']:.0%} ({p['low']:.0%}–{p['high']:.0%})" for p in by[measure].values())]
            for name, by in result["curves"].items()
        ]
        parts.append(markdown_table([f"{measure}, examples in the prompt:", *shots], rows))
    tasks = "; ".join(f"{name}: {what}" for name, what in result["tasks"].items())
    return (
        f"{result['model']}, examples in the form `{result['form']}`. {tasks}. {result['curves_are']}.\n\n"
        + "\n\n".join(parts)
        + f"\n\n{result['what_it_shows']}."
    )
