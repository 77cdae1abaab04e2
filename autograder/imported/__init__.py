"""Moving in: an assignment of stock nbgrader or of otter-grader becomes a master of this course, its meaning unchanged.

    origin    what lies in the folder that was named, and where it comes from
    stock     a source notebook of nbgrader
    otter     an otter master, or what `otter assign` made of it
    cases     otter's test cases -> nbgrader's test cells
    needs     files, packages and other things that it asks for; what is missing is said
    bring     all of it: `solutions/NAME/`, and a list of what could not be carried over
    tricks    known attacks on asserts
    rivals    what each of them earns where the assignment came from, and here

The original is only read, and none of its code runs but in the box.
"""
