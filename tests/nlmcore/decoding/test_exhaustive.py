"""Exhaustive search against a list of all texts."""

import math

import pytest

from nlmcore.decoding import exhaustive_search
from tests.nlmcore.decoding.models import PENALTIES, SMALL, SMALL_PROMPTS, all_texts, naive_score, text_log_probs


@pytest.mark.parametrize("eos", [None, 2])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_exhaustive_search_is_the_list_of_all_texts(eos: int | None, penalty: float) -> None:
    ranked = exhaustive_search(SMALL, SMALL_PROMPTS, 3, eos=eos, length_penalty=penalty)
    for prompt, got in zip(SMALL_PROMPTS, ranked, strict=True):
        texts = all_texts(4, 3, eos)
        scores = {tuple(text): naive_score(text_log_probs(SMALL, prompt, text), penalty) for text in texts}
        assert [tuple(h.tokens) for h in got] == sorted(scores, key=lambda text: -scores[text])
        assert [h.score for h in got] == pytest.approx(sorted(scores.values(), reverse=True), abs=1e-5)
        if penalty == 0 and eos is None:
            assert math.fsum(math.exp(h.log_prob) for h in got) == pytest.approx(1, abs=1e-5)
