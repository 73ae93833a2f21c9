"""The page Lessons: Lessons, Common claims, checked."""

from ui.pages.lessons.page import draw_view as draw_lessons
from ui.pages.tutorials.page import draw_view as draw_tutorials
from ui.show.views import draw_page

draw_page({"lessons": draw_lessons, "tutorials": draw_tutorials})
