"""A source notebook of otter: its settings, and its questions between BEGIN QUESTION and END QUESTION."""

import re
from dataclasses import replace
from typing import Any

import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.extras.imported import cases as otters
from autograder.extras.imported.origin import BOUNDARY
from autograder.extras.imported.otter.cells import DEFAULT_PROMPT, Cells
from autograder.extras.imported.otter.solutions import stripped

INCLUDED_TAG = "otter_include"
_SETTINGS: dict[str, tuple[str, str]] = {
    "plugins": ("plugins", "there are none here: look whether grade's own limits and the reports do what they did"),
    "requirements": ("", ""),
    "environment": ("a conda environment", "install what it lists into the environment that grades"),
    "autograder_files": ("files that only the grader sees", "students get every file that files.txt names: put what"
                         " must stay hidden between BEGIN HIDDEN TESTS and END HIDDEN TESTS"),
    "student_files": ("files that students write", "Python files of a submission are left behind here: let them write"
                      " the code into the notebook"),
    "save_environment": ("grading from the log", "here the notebook itself is run"),
    "solutions_pdf": ("a PDF of the solutions", "use nbconvert on the master"),
    "template_pdf": ("a PDF template for Gradescope", "written answers are marked in Formgrader"),
    "python_version": ("a version of Python", "the grader's own is used"),
}  # fmt: skip
"""Settings of ASSIGNMENT CONFIG that have no meaning here: what they are, what to do."""


class _Question:
    def __init__(self, config: Any, number: int) -> None:
        if not isinstance(config, dict) or "name" not in config:
            raise ValueError(f"the question that cell {number} begins has no name")
        self.name = str(config["name"])
        self.manual = bool(config.get("manual"))
        self.points = config.get("points")
        self.all_or_nothing = bool(config.get("all_or_nothing"))
        self.cases: list[otters.Case] = []
        self.answers: list[tuple[str, Any]] = []


class SourceNotebook(Cells):
    def read(self, found: list[Any]) -> None:
        question: _Question | None = None
        block = ""
        for number, cell in enumerate(found, 1):
            if re.match(r"##?\s*ignore\b", cell.source, re.I):
                continue
            mark = BOUNDARY.match(cell.source) if cell.cell_type == "raw" else None
            if mark is None:
                self._inside(cell, question, block)
                continue
            words = mark[0].lower().split()[1:]
            if words == ["assignment", "config"]:
                self._configure(yaml.safe_load(cell.source) or {})
            elif words == ["begin", "question"]:
                if question is not None:
                    raise ValueError(f"cell {number} begins a question within {question.name}")
                question = _Question(yaml.safe_load(cell.source) or {}, number)
            elif question is None:
                raise ValueError(f"cell {number} ({' '.join(words).upper()}) belongs to no question")
            elif words == ["end", "question"]:
                self._close(question)
                question, block = None, ""
            elif words[0] == "begin":
                block = words[1]
            else:
                if words[1] != block:
                    raise ValueError(f"cell {number} ends {words[1]!r}, which was not begun ({question.name})")
                block = ""
        if question is not None:
            raise ValueError(f"question {question.name} has no END QUESTION")

    def _inside(self, cell: Any, question: _Question | None, block: str) -> None:
        if question is None:
            everywhere = self.config.get("strip_solutions_from_all_cells") and cell.cell_type == "code"
            self._plain(cell, solution="" if not everywhere else "solution")
        elif block == "tests":
            if cell.cell_type != "code":
                raise ValueError(f"the tests of {question.name} hold a cell that is no code")
            examples = (self.config.get("tests") or {}).get("ok_format", True)
            question.cases.append(otters.from_cell(cell, examples))
            if examples and otters.lacks_output(cell):
                self.notes.add(
                    f"{self.file.name}, {question.name}: a test's expected output is not stored in the notebook",
                    "run the master once, save it, and import again: otter too takes it from there",
                )
        elif block in ("prompt", "solution"):
            question.answers.append((block, cell))
        elif question.answers:  # text between two blocks stays in its place
            question.answers.append(("text", cell))
        else:
            self._plain(cell)

    def _configure(self, config: dict[str, Any]) -> None:
        file = config.get("config_file")
        if file:
            path = self.file.parent / str(file)
            if path.is_file():
                config = {**(yaml.safe_load(path.read_text(encoding="utf-8")) or {}), **config}
            else:
                self.notes.add(f"{self.file.name}: its settings' file {file} is missing", "put it there, import again")
        self.config.update(config)
        for key, (what, do) in _SETTINGS.items():
            if what and self.config.get(key):
                self.notes.add(f"{self.file.name}: {what} ({key}: {_short(self.config[key])})", do)
        generate = self.config.get("generate")
        generate = generate if isinstance(generate, dict) else {}
        seed = self.config.get("seed") or generate.get("seed")
        if seed is not None:
            self.notes.add(
                f"{self.file.name}: otter sets a seed before every cell ({_short(seed)})",
                "here lines that end in # SEED stay in the student's notebook; where there are none, write a seed into"
                " the cell that draws",
            )
        for key in ("token", "plugins", "grade_from_log", "submission_limit"):
            if generate.get(key):
                self.notes.add(f"{self.file.name}: generate.{key}", "it is Gradescope's or otter's own: not used here")
        if self.config.get("runs_on", "default") != "default":
            self.notes.add(f"{self.file.name}: it runs on {self.config['runs_on']}", "here it runs in JupyterLab")

    def _close(self, question: _Question) -> None:
        if question.manual:
            self._written(question)
        else:
            for kind, cell in question.answers:
                if kind == "solution" and cell.cell_type == "markdown":
                    if INCLUDED_TAG in cell.metadata.get("tags", []):
                        self._plain(cell)
                    continue
                self._plain(cell, question.name if kind == "solution" else "")
        if question.cases:
            made = otters.Test(
                name=question.name,
                cases=tuple(question.cases),
                points=0 if question.manual else question.points,
                all_or_nothing=question.all_or_nothing,
            )
            if question.manual:
                cleared = tuple(replace(case, points=0) for case in made.cases)
                made = replace(made, cases=cleared)
            self._tests(made)
        elif not question.manual:
            self.notes.add(
                f"{self.file.name}, {question.name}: it has neither tests nor `manual: true`",
                "it is worth nothing here, and nothing in otter's results: give it a test, or a mark by hand",
            )

    def _written(self, question: _Question) -> None:
        """The first cell of the answer has the points; the others belong to the student as well."""
        prompts = [cell for kind, cell in question.answers if kind == "prompt"]
        model = "\n\n".join(
            cell.source for kind, cell in question.answers if kind == "solution" and cell.cell_type == "markdown"
        )
        code = [cell for kind, cell in question.answers if kind == "solution" and cell.cell_type == "code"]
        points: float | None = float(question.points if question.points is not None else 0)
        if question.points is None:
            self.notes.add(
                f"{self.file.name}, {question.name}: it is marked by hand, and no points are said",
                "it is worth 0 until you write points into its cell in solutions/",
            )
        answers: list[Any] = []
        texts = [cell for cell in prompts if cell.cell_type == "markdown"]
        if model or texts or not (code or prompts):
            prompt = "\n\n".join(c.source for c in texts if c.source.strip() != DEFAULT_PROMPT)
            region = f"### BEGIN SOLUTION\n{model}\n### END SOLUTION"
            answers.append(new_markdown_cell(f"{prompt}\n\n{region}" if prompt else region))
        for cell in [c for c in prompts if c.cell_type == "code"] + code:
            source = stripped(cell.source)
            if "### BEGIN SOLUTION" not in source:
                source = f"{source}\n### BEGIN SOLUTION\n### END SOLUTION"
            answers.append(new_code_cell(source))
        for cell in answers:
            about: dict[str, Any] = {"solution": True}
            if points is not None:
                about |= {"grade": True, "points": otters.neat(points)}
            self._named(cell, question.name, **about)
            points = None
            self.cells.append(cell)


def _short(value: Any) -> str:
    words = str(value)
    return words if len(words) < 60 else f"{words[:57]}…"
