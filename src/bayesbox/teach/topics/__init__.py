"""What is asked, one topic a module: each has its kinds of questions, drawn by a seed."""
