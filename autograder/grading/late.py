"""What a late submission loses: one rule with three settings, for nbgrader's AssignLatePenalties.

In `course_config.py`, next to `nbgrader_config.py`:

    c = get_config()
    c.AssignLatePenalties.plugin_class = "autograder.grading.late.LatePolicy"
    c.LatePolicy.percent_a_day = 10
    c.LatePolicy.grace_hours = 1
    c.LatePolicy.closed_after_days = 7
"""

import math

from nbgrader.plugins import BasePlugin
from traitlets import Float

DAY, HOUR = 86_400, 3_600


class LatePolicy(BasePlugin):  # type: ignore[misc]
    percent_a_day = Float(10.0, min=0.0, max=100.0, help="of the points earned, for each day begun").tag(config=True)
    grace_hours = Float(0.0, min=0.0, help="so much later still counts as on time").tag(config=True)
    closed_after_days = Float(math.inf, min=0.0, help="what comes later than that earns nothing").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """nbgrader asks for it: the points to subtract."""
        if total_seconds_late <= self.grace_hours * HOUR:
            return 0.0
        if total_seconds_late > self.closed_after_days * DAY:
            return score
        days = math.ceil(total_seconds_late / DAY)
        return min(score, score * days * float(self.percent_a_day) / 100)

    def explained(self, total_seconds_late: float) -> str:
        """The arithmetic, for the student and the markers."""
        if total_seconds_late <= self.grace_hours * HOUR:
            return f"up to {_count(self.grace_hours, 'hour')} late counts as on time"
        if total_seconds_late > self.closed_after_days * DAY:
            return f"what comes more than {_count(self.closed_after_days, 'day')} late earns nothing"
        return (
            f"{self.percent_a_day:g} % of the points earned for each day begun: {math.ceil(total_seconds_late / DAY)}"
        )


def _count(number: float, thing: str) -> str:
    return f"{number:g} {thing}{'' if number == 1 else 's'}"
