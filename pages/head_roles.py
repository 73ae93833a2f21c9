"""The page Head roles & scores: Scores, Roles."""

from ui.pages.measure.page import draw_view as draw_measure
from ui.pages.roles.page import draw_view as draw_roles
from ui.show.views import draw_page

draw_page({"measure": draw_measure, "roles": draw_roles})
