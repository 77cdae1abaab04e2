"""A notebook that `otter assign` has made: its tests are beside it, or in its metadata."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat.v4 import new_markdown_cell

from autograder.extras.imported import cases as otters
from autograder.extras.imported.origin import CHECK, Notes
from autograder.extras.imported.otter.cells import DEFAULT_PROMPT, Cells

SOLUTION_TAG = "otter_assign_solution_cell"
OWN = re.compile(r"\b(?:otter\.Notebook|import otter|from otter|grader\.(?:check_all|export|to_pdf|submit))\b")


class Generated(Cells):
    def __init__(self, file: Path, notes: Notes, about: dict[str, Any]) -> None:
        """about: what otter wrote into the notebook's metadata."""
        super().__init__(file, notes)
        self.about = about

    def read(self, found: list[Any]) -> None:
        tests = self._tests_beside()
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

    def _tests_beside(self) -> dict[str, otters.Test]:
        given: dict[str, Any] = dict(self.about.get("tests") or {})
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
