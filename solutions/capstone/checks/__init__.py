"""The exercises of the assignment `capstone`. Its race is `autograder.race`."""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
