"""What every page has of a class: a student follows the teacher's view and answers there; a teacher leads."""
