"""What leaves the house: exercises without their answers (`build`), and the student's archive (`student_zip`)."""
