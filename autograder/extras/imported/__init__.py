"""Import: an assignment of stock nbgrader or otter-grader becomes a source notebook of this course, with the same
meaning.

    origin    the contents of the given folder, and where they come from
    stock     a source notebook of nbgrader
    otter     an otter source notebook, or the result of `otter assign`
    cases     otter's test cases -> nbgrader's test cells
    needs     the files, packages and other things that it requires; reports missing ones
    bring     writes `solutions/NAME/`, and a list of everything that could not be imported
    tricks    known attacks on asserts
    rivals    what each attack earns in the original system, and here

The original is only read, and its code runs only in the sandbox.
"""
