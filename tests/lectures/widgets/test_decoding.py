"""Search trees, rankings and next-word pictures, and the widgets over them."""

import math

import pytest
import torch

from lectures import widgets
from lectures.widgets.decoding import next_word_svg, ranking_svg, search_tree_svg
from nlmcore.decoding import beam_search, greedy, reshape, sample
from tests.lectures.seen import seen

NAMES = ["<eos>", "cat", "dog", "ox"]
TABLE = torch.tensor([[1.0, 0, 0, 0], [0.5, 0, 0.3, 0.2], [0.9, 0.1, 0, 0], [0.25, 0.25, 0.25, 0.25]])
PROMPT = torch.tensor([[1]])


class TableLM:
    vocab_size = 4

    def __call__(self, tokens, state=None):
        return TABLE.log()[tokens], tokens[:, -1]


def tree(beam: int):
    if beam == 1:
        return greedy(TableLM(), PROMPT, 3, eos=0, trace=True)[1]
    return beam_search(TableLM(), PROMPT, 3, eos=0, beam_size=beam, trace=True)[1]


def name(token: int) -> str:
    return NAMES[token]


def test_a_tree_shows_every_possible_candidate_and_what_became_of_it() -> None:
    found = tree(2)
    picture = search_tree_svg(found.nodes, name, best=found.best)
    possible = [node for node in found.nodes if node.status != "root" and node.log_prob > -math.inf]
    assert picture.count('rx="6"') == len(possible)
    assert picture.count("× 0.30") == sum(round(math.exp(n.token_log_prob), 2) == 0.3 for n in possible) > 0
    assert picture.count('stroke-width="5"') == len(found.best) - 1 + 1, (
        "an edge per word of the answer, and the legend"
    )
    assert "&lt;eos&gt;, P 0.500, finished" in search_tree_svg(found.nodes, name, shown=1)


def test_a_tree_is_stepped() -> None:
    found = tree(2)
    candidates = search_tree_svg(found.nodes, name, shown=1, decided=0)
    assert "a candidate" in candidates
    assert "finished" not in candidates.split("aria-label")[1].split('"')[1]
    assert "only the prompt" in search_tree_svg(found.nodes, name, shown=0)
    with pytest.raises(ValueError, match="decided=2"):
        search_tree_svg(found.nodes, name, shown=1, decided=2)
    with pytest.raises(ValueError, match="candidate"):
        search_tree_svg(found.nodes[:1], name)


def test_what_fell_out_is_crossed_out_and_counted() -> None:
    before = torch.tensor([0.5, 0.3, 0.2])
    after = reshape(before.log(), top_k=2).exp()
    picture = next_word_svg(before.numpy(), after.numpy(), ["a", "b", "c"], prompt="x")
    assert picture.count("line-through") == 2, "c, and the 0 others"
    assert "left: 2 of 3 words; the model gave them 0.800" in picture
    assert "0.500 → 0.625" in picture
    with pytest.raises(ValueError, match="one length"):
        next_word_svg([0.5, 0.5], [1.0], ["a"], prompt="x")
    with pytest.raises(ValueError, match="finite"):
        next_word_svg([0.5, math.nan], [1.0, 0.0], ["a"], prompt="x")


def test_a_ranking_is_best_first() -> None:
    picture = ranking_svg(["short", "long"], [2, 8], [-2.0, -4.0], [-1.0, -0.5], title="t")
    assert picture.index(">long<") < picture.index(">short<")
    with pytest.raises(ValueError, match="per text"):
        ranking_svg(["a"], [1, 2], [-1.0], [-1.0])


def test_the_beam_is_stepped_to_its_end() -> None:
    widget = widgets.beam_player(tree, name, prompt="cat")
    assert "Nothing has been written" in seen(widget, half_step=0)
    assert "Which are kept?" in seen(widget, half_step=1)
    assert "No open text can still win" in seen(widget, half_step=widget.controls["half_step"].max)
    assert "&lt;eos&gt; (0.500)" in seen(widget)
    assert seen(widget) != seen(widget, beam=1)


def test_a_length_penalty_turns_the_order_and_yours_stands_beside() -> None:
    def score(log_prob: float, length: int, alpha: float) -> float:
        return log_prob / length**alpha

    def wrong(log_prob: float, length: int, alpha: float) -> float:
        return log_prob * length**alpha

    arguments = (["short", "long"], [2, 8], [-2.0, -4.0])
    widget = widgets.length_penalty_player(score, *arguments)
    assert seen(widget).index(">short<") < seen(widget).index(">long<")
    assert seen(widget, penalty=1.0).index(">long<") < seen(widget).index(">short<")
    beside = widgets.length_penalty_player(score, *arguments, yours=wrong)
    assert "same picture" in seen(beside)
    assert "a different picture" in seen(beside, penalty=1.0)


def test_the_sampler_uses_the_function_it_is_handed() -> None:
    distribution = torch.tensor([0.05, 0.6, 0.25, 0.1]).log()
    widget = widgets.sampler_playground(reshape, {"one": distribution}, name, words=3)
    assert "left: 4 of 4 words" in seen(widget)
    assert "left: 1 of 4 words; the model gave them 0.600" in seen(widget, top_p=0.6)
    assert "left: 2 of 4 words" in seen(widget, top_p=1.0, top_k=2)
    beside = widgets.sampler_playground(
        reshape, {"one": distribution}, name, words=3, yours=lambda ln_p, **filters: ln_p
    )
    assert "same picture" in seen(beside)
    assert "a different picture" in seen(beside, temperature=0.0)


def test_a_filter_that_reshape_gains_gets_a_slider() -> None:
    distribution = torch.tensor([0.05, 0.6, 0.25, 0.1]).log()

    def with_epsilon(log_probs, *, epsilon=0.0, **others):
        def keep_above(logits):
            return logits.masked_fill(logits.softmax(-1) < epsilon, -math.inf)

        return reshape(log_probs, **others, filters=[keep_above])

    widget = widgets.sampler_playground(with_epsilon, {"one": distribution}, name, words=3)
    assert "left: 2 of 4 words" in seen(widget, epsilon=0.2)


def test_a_text_grows_word_by_word() -> None:
    generator = torch.Generator().manual_seed(0)
    trees = {
        "greedy": greedy(TableLM(), PROMPT, 3, trace=True)[1],
        "sampled": sample(TableLM(), PROMPT, 3, generator=generator, trace=True)[1],
    }
    widget = widgets.word_by_word(trees, name, prompt="cat ")
    assert "greedy, after 1 tokens: cat &lt;eos&gt;" in seen(widget)
    assert "token 3" in seen(widget, place=3)
    assert seen(widget) != seen(widget, way="sampled")


def test_a_hot_sample_shows_what_it_was_sampled_from() -> None:
    """At T = 2 the bars are the flattened distribution, not the model's own; what a filter drops has no bar."""
    model = TableLM()
    log_probs = model(PROMPT)[0][0, -1].log_softmax(-1)
    for way, settings in {"T = 2": {"temperature": 2.0}, "top-k 1": {"top_k": 1}}.items():
        tree = sample(model, PROMPT, 1, generator=torch.Generator().manual_seed(0), trace=True, **settings)[1]
        shown = seen(widgets.word_by_word({way: tree}, name, prompt="cat "))
        for node in tree.at_step(1):
            drawn_with = float(reshape(log_probs, **settings)[node.token].exp())
            assert math.exp(node.score) == pytest.approx(drawn_with)
            if node.token_log_prob > -math.inf:
                assert f">{drawn_with:.3f}<" in shown
                assert f"(model {math.exp(node.token_log_prob):.3f})" in shown
        assert f"reshaped by {way}" in shown
    assert all(node.score is None for node in greedy(model, PROMPT, 2, trace=True)[1].nodes)
    plain = sample(model, PROMPT, 2, generator=torch.Generator().manual_seed(0), trace=True)[1]
    assert all(node.score is None for node in plain.nodes), "nothing was reshaped"
