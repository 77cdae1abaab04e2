"""An otter master, or a notebook that `otter assign` has made, as cells of nbgrader.

A question's test cases follow it as test cells, its manual answer is a cell that a person marks, and what otter takes
out of a solution stands between BEGIN SOLUTION and END SOLUTION; the prompt that otter would leave (`x = ...`) stands
above as a comment. Cells of otter itself (`grader = otter.Notebook()`, exports) go.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from autograder.imported import cases as otters
from autograder.imported.origin import BOUNDARY, CHECK, Notes

DEFAULT_PROMPT = "_Type your answer here, replacing this text._"
SOLUTION_TAG, INCLUDED_TAG = "otter_assign_solution_cell", "otter_include"
OWN = re.compile(r"\b(?:otter\.Notebook|import otter|from otter|grader\.(?:check_all|export|to_pdf|submit))\b")
_SETTINGS: dict[str, tuple[str, str]] = {
    "plugins": ("plugins", "there are none here: look whether grade's own limits and the reports do what they did"),
    "requirements": ("", ""),
    "environment": ("a conda environment", "install what it lists into the environment that grades"),
    "autograder_files": ("files that only the grader sees", "students get every file of solutions/NAME here: put what"
                         " must stay hidden between BEGIN HIDDEN TESTS and END HIDDEN TESTS"),
    "student_files": ("files that students write", "Python files of a submission are left behind here: let them write"
                      " the code into the notebook"),
    "save_environment": ("grading from the log", "here the notebook itself is run"),
    "solutions_pdf": ("a PDF of the solutions", "use nbconvert on the master"),
    "template_pdf": ("a PDF template for Gradescope", "written answers are marked in Formgrader"),
    "python_version": ("a version of Python", "the grader's own is used"),
}  # fmt: skip
"""Settings of ASSIGNMENT CONFIG that mean nothing here: what they are, what to do."""


def converted(notebook: Any, file: Path, notes: Notes) -> tuple[list[Any], dict[str, Any]]:
    """(cells, the assignment's settings). Raises ValueError for what otter would refuse."""
    loose = _unfenced(copy.deepcopy(notebook.cells))
    is_master = any(cell.cell_type == "raw" and BOUNDARY.match(cell.source) for cell in loose)
    reader = _Reader(file, notes)
    try:
        if is_master:
            reader.master(loose)
        else:
            reader.generated(loose, notebook.metadata.get("otter", {}))
    except yaml.YAMLError as error:
        raise ValueError(f"{file.name}: a cell with otter's settings is no YAML: {error}") from None
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from None
    return reader.cells, reader.config


def _unfenced(found: list[Any]) -> list[Any]:
    """Raw cells may be written as ```otter blocks of a Markdown cell."""
    cells: list[Any] = []
    for cell in found:
        if cell.cell_type != "markdown" or "```otter" not in cell.source:
            cells.append(cell)
            continue
        for number, part in enumerate(re.split(r"^```otter\s*\n(.*?)^```\s*?$", cell.source, flags=re.M | re.S)):
            if part.strip():
                cells.append(new_raw_cell(part.strip()) if number % 2 else new_markdown_cell(part.strip("\n")))
    return cells


class _Reader:
    def __init__(self, file: Path, notes: Notes) -> None:
        self.file, self.notes = file, notes
        self.config: dict[str, Any] = {}
        self.cells: list[Any] = []
        self.names: set[str] = set()

    # --- a master -----------------------------------------------------------------------------------------

    def master(self, found: list[Any]) -> None:
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

    def _inside(self, cell: Any, question: "_Question | None", block: str) -> None:
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

    def _close(self, question: "_Question") -> None:
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

    def _written(self, question: "_Question") -> None:
        """The first cell of the answer carries the points; the others are the student's too."""
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

    # --- what `otter assign` made -------------------------------------------------------------------------

    def generated(self, found: list[Any], about: dict[str, Any]) -> None:
        tests = self._tests_beside(about)
        by_hand = 0
        for cell in found:
            tags = cell.metadata.get("tags", [])
            asked = [m[1] for m in CHECK.findall(cell.source)] if cell.cell_type == "code" else []
            later = list((cell.metadata.get("otter") or {}).get("tests", []))
            if cell.cell_type == "code" and OWN.search(cell.source):
                kept = [line for line in cell.source.split("\n") if not re.search(r"otter|grader\b", line)]
                cell.source = "\n".join(kept) if any(k.strip() and not k.strip().startswith("#") for k in kept) else ""
                if (
                    not cell.source
                    and self.cells
                    and re.match(r"(## Submission|---\s+To double-check)", self.cells[-1].source)
                ):
                    self.cells.pop()
            elif asked:
                cell.source = CHECK.sub("", cell.source)
            if cell.cell_type == "markdown" and {"otter_answer_cell", SOLUTION_TAG} & set(tags):
                by_hand += 1
                source = cell.source.strip()
                model = source if SOLUTION_TAG in tags else ""
                prompt = "" if model or source == DEFAULT_PROMPT else f"{source}\n\n"
                answer = new_markdown_cell(f"{prompt}### BEGIN SOLUTION\n{model}\n### END SOLUTION")
                self._named(answer, f"written_{by_hand}", solution=True, grade=True, points=1)
                self.cells.append(answer)
            elif cell.source.strip():
                is_solution = SOLUTION_TAG in tags or re.search(r"# ?(BEGIN )?SOLUTION\b", cell.source)
                self._plain(cell, (asked or ["answer"])[0] if is_solution else "")
            for name in [*asked, *later]:
                if name in tests:
                    self._tests(tests.pop(name))
                elif name not in self.names:
                    self.notes.add(
                        f"{self.file.name}: the tests of {name} are neither beside it (tests/{name}.py) nor in it",
                        "import the folder autograder/ that otter made, or the master itself: hidden tests are only"
                        " there",
                    )
        for test in list(tests.values()):
            self._tests(test)
        if by_hand:
            self.notes.add(
                f"{self.file.name}: {by_hand} written answer(s), whose points only otter's master says",
                "each is worth 1 here: put the points into the cells in solutions/, or import the master",
            )
        if not any("BEGIN SOLUTION" in cell.source for cell in self.cells):
            self.notes.add(
                f"{self.file.name}: it holds no solutions, it is what students get",
                "import the notebook in otter's folder autograder/ or the master, if you have it",
            )

    def _tests_beside(self, about: dict[str, Any]) -> dict[str, otters.Test]:
        given: dict[str, Any] = dict(about.get("tests") or {})
        for path in sorted((self.file.parent / "tests").glob("*.py")):
            if path.stem != "__init__":
                given[path.stem] = path.read_text(encoding="utf-8")
        found = {}
        for name, spec in given.items():
            try:
                test = otters.from_text(spec) if isinstance(spec, str) else otters.from_spec(spec)
            except ValueError as error:
                raise ValueError(f"the tests of {name}: {error}") from None
            found[name] = replace(test, name=name)
        return found

    # --- cells --------------------------------------------------------------------------------------------

    def _plain(self, cell: Any, solution: str = "") -> None:
        """A cell as it is; a solution's code with its regions."""
        made = new_markdown_cell(cell.source) if cell.cell_type == "markdown" else new_code_cell(cell.source)
        if cell.cell_type == "raw":
            made = new_raw_cell(cell.source)
        if cell.get("attachments"):
            made["attachments"] = cell.attachments
        if cell.cell_type == "code":
            made.source = stripped(cell.source) if solution else _without_ignored(cell.source)
            made.source = re.sub(r"\s*# SEED\s*$", "", made.source, flags=re.M)
            if "# BEGIN PLUGIN" in made.source or re.search(r"grader\.(run_plugin|add_plugin_files)", made.source):
                made.source = re.sub(r"^.*# BEGIN PLUGIN.*?# END PLUGIN.*?$|^.*grader\.\w*plugin.*$", "", made.source,
                                     flags=re.M | re.S if "BEGIN PLUGIN" in made.source else re.M)  # fmt: skip
                self.notes.add(f"{self.file.name}: a cell calls a plugin of otter", "the call is left out")
            if not made.source.strip():
                return
            if "### BEGIN SOLUTION" in made.source:
                self._named(made, solution, solution=True)
        self.cells.append(made)

    def _tests(self, test: otters.Test) -> None:
        for source, points in otters.cells(test):
            cell = new_code_cell(source)
            self._named(cell, f"{test.name}_test", grade=True, locked=True, points=points)
            self.cells.append(cell)
        self.names.add(test.name)

    def _named(self, cell: Any, name: str, **about: Any) -> None:
        base = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:50]
        number = 1
        while (unique := base if number == 1 else f"{base}_{number}") in self.names:
            number += 1
        self.names.add(unique)
        default = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
        cell.metadata["nbgrader"] = {**default, "grade_id": unique, **about}


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


def _short(value: Any) -> str:
    words = str(value)
    return words if len(words) < 60 else f"{words[:57]}…"


# --- solutions --------------------------------------------------------------------------------------------

_ASSIGNED = re.compile(r"(\s*(?:[\w.]+(?:\[[^\]]*\])*(?:,\s*)?)+\s*=)[^=]")
_ONE = re.compile(r"\s*# ?SOLUTION( NO PROMPT)?\s*$")


def _without_ignored(source: str) -> str:
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
    """The code of a solution, with what otter takes out between nbgrader's marks, and prompts as comments above."""
    rows: list[tuple[str, str]] = []  # (open, prompt or solution; line)
    inside, prompting = False, False
    for line in _without_ignored(source).split("\n"):
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
    for kind, group in _runs(rows):
        if kind == "open":
            lines += group
            continue
        prompts = [line for k, line in group if k == "prompt"]
        solution = [line for k, line in group if k == "solution"]
        indent = min((line[: len(line) - len(line.lstrip())] for line in solution if line.strip()), key=len, default="")
        lines += prompts
        if solution:
            lines += [f"{indent}### BEGIN SOLUTION", *solution, f"{indent}### END SOLUTION"]
    return "\n".join(lines)


def _runs(rows: list[tuple[str, str]]) -> Iterator[tuple[str, list[Any]]]:
    """Lines that stay, and groups of those that do not."""
    run: list[Any] = []
    closed = False
    for kind, line in rows:
        if (kind != "open") != closed and run:
            yield ("closed" if closed else "open"), run
            run = []
        closed = kind != "open"
        run.append((kind, line) if closed else line)
    if run:
        yield ("closed" if closed else "open"), run
