"""The next token layer by layer: what the model's own head says of the newest token's state before the last layer."""

from __future__ import annotations

from inference.questions.decoding import NextToken, Step
from inference.questions.lens import NextLens
from ui.pages.generate.looks import looked_at, when_of
from ui.pages.generate.options import Options
from ui.run.answering import ask
from ui.run.refusals import say
from ui.show.lens import TOP, draw
from wording import _

FOLLOWED = 3  # curves


def lens(request: NextToken, step: Step, options: Options, base: int) -> None:
    """The layers of the step that is looked at; what came after it is followed first, then what was likeliest."""
    asked, mine, place = looked_at(request, step, options)
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
    found = ask(question, _("Reading the newest token's state after each layer"))
    say(
        _(
            "{when}, the newest token was “{piece}”; this is what its state says, layer by layer.",
            when=when_of(step, place),
            piece=mine.row.pieces[-1],
        ),
        "status",
    )
    draw(found, base, _("the newest token's state"))
