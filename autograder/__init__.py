"""The course's tools: the launcher (`autograder.course`), exercises and their checks, release and grading.

Importing `autograder` imports nothing else: the launcher runs before anything is installed.
"""
