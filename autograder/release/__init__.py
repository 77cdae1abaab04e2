"""What students get: exercises without their answers (`build`), and the student's archive (`student_zip`)."""
