"""What every project says: how it works, and the items by which it is marked, which students see as markers do."""

HOW = """\
**How a project works.** You ask an open question, design an experiment that can answer it, run it, and report on it. A
person marks the report by the list below. What you find earns nothing: a well-tested “undecided” can have full marks.

1. **Design first.** Write the first half of the report before you train for long: the claim, what would refute it, the
   two sides, what is equal between them, and how you will know that the model uses what you change.
2. **Run everything small, then in full.** `kept` stores each result in `runs.json` next to this notebook, and returns
   it when the cell runs again. Hand in both files. When the notebook is graded its cells run again, and one that trains
   for long is stopped, so a long training must come from `runs.json`.
3. **Write the report:** at most two pages, about 1,000 words, with one table or figure. Compute every number in a cell.
   After a number comes a test, a source, or “we do not know why”.
"""

RUBRIC = """\
- **The claim** (1): one sentence with two sides, a measure, a task and a scale.
- **What would refute it** (1): said before the runs, as a number or an interval.
- **A floor** (2): the result of something simple on the same data, such as guessing, counts or an untrained model (1),
  which both sides beat, or else the report says that no model has begun to learn the task (1).
- **It is used** (2): with the wrong input, or without the part in question, the result gets worse, in numbers.
- **The same footing** (2): parameters, data, steps or time, and first weights are equal, or the sentence that compares
  says what is not.
- **A tuned baseline** (2): the rates of *both* sides come from a grid whose best is not at its edge, and from data that
  test nothing else.
- **Paired seeds** (2): five or more on both sides, or a power computed beforehand (1); a mean difference with its
  interval, corrected if there are several (1).
- **An untouched test** (1): what was chosen is tested on data that did not choose it.
- **Another explanation** (2): a real one (1), and the run that decides, or the statement that none did (1).
- **The conclusion** (2): claims what the interval allows, and a null says which effect could have been seen.
- **The limits** (1): the scale, task and time at which it holds, in the sentence of the conclusion.
- **The notebook** (1): it runs from top to bottom, and every number of the report is computed in it.
- **The form** (1): two pages, one table or figure, and no “because” without a test or a source.
"""
