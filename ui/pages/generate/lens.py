"""Logit lens of the newest token: next-token predictions from the residual stream after each layer."""

from __future__ import annotations

from i18n import _
from inference.tasks.decoding import DecodingStep, NextToken
from inference.tasks.predictions import NextLens
from ui.pages.generate.options import GenerateOptions
from ui.pages.generate.step_attention import selected_step, when_of
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.lens import TOP, draw

FOLLOWED = 3  # tokens with a curve


def lens(request: NextToken, step: DecodingStep, options: GenerateOptions) -> None:
    """Draw the logit lens of the selected step.

    The tracked tokens are the token that followed, if any, then the likeliest candidates.
    """
    asked, mine, place = selected_step(request, step, options)
    came = step.row.ids[place : place + 1]
    likeliest = [found.token for found in mine.candidates if found.token not in came]
    question = NextLens(
        model=asked.model,
        revision=asked.revision,
        text=asked.text,
        written=asked.written,
        cut=asked.cut,
        edits=asked.edits,
        tokens=(*came, *likeliest)[:FOLLOWED],
        top=TOP,
    )
    found = ask_model(question, _("Asking the model"))
    show_notice(
        _(
            "{when}, the newest token was “{piece}”; its predictions by layer:",
            when=when_of(step, place),
            piece=mine.row.pieces[-1],
        ),
        "status",
    )
    draw(found, _("the newest token's state"))
