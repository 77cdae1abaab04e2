"""The best complete texts of one search, and the question when an open text can no longer join them."""

from nlmcore.decoding.results import Hypothesis, best_first, score


class Complete:
    """At most `size` complete texts, scored log_prob / length ** length_penalty; the worst falls out."""

    def __init__(self, size: int, length_penalty: float | int, longest: int) -> None:
        self.size = size
        self.length_penalty = length_penalty
        self.longest = longest
        self._hypotheses: list[Hypothesis] = []

    def add(self, tokens: list[int], log_prob: float) -> None:
        """Put a complete text aside."""
        self._hypotheses.append(Hypothesis(tokens, log_prob, score(log_prob, len(tokens), self.length_penalty)))
        if len(self._hypotheses) >= 2 * self.size:  # sorting now and then costs less than sorting always
            self._hypotheses = self.best_first()

    def best_first(self) -> list[Hypothesis]:
        """The texts, best first."""
        return best_first(self._hypotheses)[: self.size]

    def can_be_reached_from(self, log_prob: float, length: int) -> bool:
        """Can an open text of this log-probability and length still become one of the best?

        Reading on only lowers log_prob, to L' <= L <= 0, at a final length m of length + 1 ... longest. So its
        score L' / m ** penalty is at most L / m ** penalty, and that is largest
          at m = longest     for penalty > 0 (dividing a negative number by more brings it nearer 0),
          at m = length + 1  for penalty < 0,
          at any m           for penalty = 0.
        """
        if len(self._hypotheses) < self.size:
            return True
        final_length = self.longest if self.length_penalty > 0 else length + 1
        return score(log_prob, final_length, self.length_penalty) > self.best_first()[-1].score
