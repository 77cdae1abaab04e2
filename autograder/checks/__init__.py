"""The exercises, one module per assignment: `autograder.checks.<assignment>.EXERCISES`."""
