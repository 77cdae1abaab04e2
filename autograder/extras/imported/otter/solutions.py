"""A solution's code: what otter removes from it goes between nbgrader's markers."""

import re
from itertools import groupby

_ASSIGNED = re.compile(r"(\s*(?:[\w.]+(?:\[[^\]]*\])*(?:,\s*)?)+\s*=)[^=]")
_ONE = re.compile(r"\s*# ?SOLUTION( NO PROMPT)?\s*$")


def without_ignored(source: str) -> str:
    kept, inside = [], False
    for line in source.split("\n"):
        if re.match(r"\s*#\s*BEGIN\s*IGNORE\s*", line, re.I):
            inside = True
        elif line.rstrip().endswith("# END IGNORE"):
            inside = False
        elif not inside and not line.rstrip().endswith("# IGNORE"):
            kept.append(line)
    return "\n".join(kept)


def stripped(source: str) -> str:
    """The code of a solution, with the parts that otter removes between nbgrader's markers, and prompts as comments
    above."""
    rows: list[tuple[str, str]] = []  # (open, prompt or solution; line)
    inside, prompting = False, False
    for line in without_ignored(source).split("\n"):
        end = line.rstrip()
        blank = line[: len(line) - len(line.lstrip())]
        if end.endswith("# BEGIN PROMPT"):
            prompting = True
        elif end.endswith("# END PROMPT"):
            prompting = False
        elif prompting:
            rows.append(("prompt", f"{blank}# {line.strip().removeprefix('# ')}" if line.strip() else ""))
        elif re.match(r"\s*# BEGIN SOLUTION( NO PROMPT)?", line):
            inside = True
        elif end.endswith("# END SOLUTION"):
            inside = False
        elif inside:
            rows.append(("solution", line))
        elif _ONE.search(line):
            if (assigned := _ASSIGNED.match(line)) and "NO PROMPT" not in line:
                rows.append(("prompt", f"{blank}# {assigned[1].strip()} ..."))
            rows.append(("solution", _ONE.sub("", line)))
        else:
            rows.append(("open", line))
    lines: list[str] = []
    for _, run in groupby(rows, key=lambda row: row[0] == "open"):
        group = list(run)
        solution = [line for kind, line in group if kind == "solution"]
        indent = min((line[: len(line) - len(line.lstrip())] for line in solution if line.strip()), key=len, default="")
        lines += [line for kind, line in group if kind != "solution"]
        if solution:
            lines += [f"{indent}### BEGIN SOLUTION", *solution, f"{indent}### END SOLUTION"]
    return "\n".join(lines)
