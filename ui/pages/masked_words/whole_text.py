"""Surprisal of each word of a text, and an example of BERT's training objective on it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.tokens import TokenRow, bits, pseudo_perplexity, sum_over_words
from i18n import _, gettext_lazy, translate
from inference.tasks.predictions import HIDDEN, KEPT, REPLACED, CorruptedText, Corruption, MaskedWords, SurprisalRequest
from ui.pages.masked_words.options import MaskedWordsOptions
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.progress import ask_many
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_table, draw_table, page_provenance
from ui.show.text import join_sentences, number_duplicates, percent
from ui.state.params import get_params, set_params
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import Mark, TokenChip

TOKENS_AT_ONCE = 2048  # tokens in a request, summed over its masked texts
FULL = 15.0  # bits at full shade: a probability of 1 in 32,768


def draw_surprisal(request: MaskedWords, row: TokenRow) -> None:
    """Draw the surprisal of each word and the pseudo-perplexity.

    Each token is scored with itself and the later tokens of its word masked (SurprisalRequest names the papers).
    """
    step = max(1, TOKENS_AT_ONCE // len(row))
    shared = {name: getattr(request, name) for name in ("model", "revision", "text", "pair", "cut")}
    most = sum(word is not None for word in row.words)
    questions = [SurprisalRequest(**shared, start=start, stop=start + step) for start in range(0, most, step)]
    found = ask_many(questions, _("Running the model"))
    if not found:
        return
    places = [at for scores in found for at in scores.places]
    logs = np.concatenate([scores.log_probabilities for scores in found])
    if not places:
        show_notice(_("This text has nothing to predict."), role="status")
        return
    runs, sums = sum_over_words(logs, [(row.segments[at], row.words[at]) for at in places])
    names = ["".join(row.pieces[at] for at in places[slice(*run)]) for run in runs]
    show_notice(
        describe_surprisal(number_duplicates(names), sums, logs, whole=len(places) == found[0].total), role="status"
    )
    _line(row, places, runs, names, sums)
    st.caption(
        _(
            "Shade: surprisal, full at {full:.0f} bits. Tokens are scored with the rest of their word "
            "masked: pseudo-log-likelihood ([arXiv:1910.14659](https://arxiv.org/abs/1910.14659), "
            "within-word l2r variant of [arXiv:2305.10588](https://arxiv.org/abs/2305.10588)), except "
            "a typed [MASK].",
            full=FULL,
        )
    )
    rows = [
        (name, run[1] - run[0], float(value), float(bits(value)))
        for name, run, value in zip(names, runs, sums, strict=True)
    ]
    columns = (
        gettext_lazy("Word"),
        gettext_lazy("Tokens"),
        gettext_lazy("Log-probability"),
        gettext_lazy("bits"),
    )
    if section := open_section(_("Table"), "surprisal_rows"):
        with section:
            draw_table({translate(name): [row[at] for row in rows] for at, name in enumerate(columns)})
    about = {**page_provenance(), "tokens_read": len(row), "masked": "each token and the later tokens of its word"}
    download_table(csv_table(columns, rows), "headlight-surprise.csv", provenance=about)


def describe_surprisal(names: list[str], sums: FloatArray, logs: FloatArray, whole: bool) -> str:
    """Describe the word with the largest surprisal, and the pseudo-perplexity if the text is complete."""
    most = int(sums.argmin())
    said = _("“{word}” has the highest surprisal: {bits:.1f} bits.", word=names[most], bits=bits(sums[most]))
    if not whole:
        return said
    return join_sentences(
        said,
        _(
            "Over {pieces} tokens the pseudo-perplexity is {perplexity:.1f}.",
            pieces=len(logs),
            perplexity=pseudo_perplexity(logs),
        ),
    )


def _line(row: TokenRow, places: list[int], runs: list[tuple[int, int]], names: list[str], sums: FloatArray) -> None:
    of = {places[start]: at for at, (start, _) in enumerate(runs)}
    scored = set(places)
    chips = []
    for at, piece in enumerate(row.pieces):
        if at in of:
            value = float(bits(sums[of[at]]))
            chips.append(
                TokenChip(
                    names[of[at]],
                    shade=min(1.0, value / FULL),
                    title=f"{value:.2f}",
                    unknown=row.unknown[at],
                )
            )
        elif at not in scored:
            chips.append(TokenChip(piece, special=row.words[at] is None))
    token_strip.mount(chips, "surprise_strip", title=_("Surprisal of each word"))


MARKS: dict[str, Mark] = {HIDDEN: "masked", REPLACED: "removed", KEPT: "target"}
LABELS = {HIDDEN: gettext_lazy("hidden"), REPLACED: gettext_lazy("replaced"), KEPT: gettext_lazy("kept")}


def draw_corruption(request: MaskedWords) -> None:
    """Draw a text corrupted as in BERT's training, its losses, and a button for another random draw."""
    options = get_params(MaskedWordsOptions)
    shared = {name: getattr(request, name) for name in ("model", "revision", "text", "pair", "cut")}
    found = ask_model(Corruption(**shared, seed=options.seed), _("Running the model"))
    st.button(
        _("Draw another sample"),
        key="lesson_again",
        on_click=set_params,
        args=(MaskedWordsOptions,),
        kwargs={"seed": (options.seed + 1) % 1_000_000},
        icon=":material/casino:",
        help=_("The link stores the seed"),
    )
    show_notice(describe_losses(found), role="status")
    _draw_sample(found)
    st.caption(
        _(
            "Training selects 15% of tokens; of these, 80% are masked (hatched), 10% replaced (struck "
            "out) and 10% kept (dashed) ([arXiv:1810.04805](https://arxiv.org/abs/1810.04805), section "
            "3.1). Loss: negative natural logarithm of the original's probability."
        )
    )
    pieces = found.row.pieces
    rows = [(pieces[c.position], LABELS[c.how], c.seen, c.probability, c.loss) for c in found.chosen]
    columns = (
        gettext_lazy("Token"),
        gettext_lazy("What happened"),
        gettext_lazy("Input"),
        gettext_lazy("Probability"),
        gettext_lazy("Loss"),
    )
    shown = [(piece, translate(how), *others) for piece, how, *others in rows]
    draw_table({translate(name): [row[at] for row in shown] for at, name in enumerate(columns)})
    about = {**page_provenance(), "tokens_read": len(found.row), "random_seed": options.seed}
    download_table(csv_table(columns, rows), "headlight-lesson.csv", provenance=about)


def describe_losses(found: CorruptedText) -> str:
    """Describe the mean loss of the corrupted text, and the token with the largest loss."""
    count = len(found.chosen)
    mean = sum(chosen.loss for chosen in found.chosen) / count
    hardest = max(found.chosen, key=lambda chosen: chosen.loss)
    return _(
        "Selected tokens: {count}; mean loss {mean:.2f}. Highest: “{piece}”, {loss:.2f} (probability {probability}).",
        count=count,
        mean=mean,
        piece=found.row.pieces[hardest.position],
        probability=percent(hardest.probability),
        loss=hardest.loss,
    )


def _draw_sample(found: CorruptedText) -> None:
    chosen = {one.position: one for one in found.chosen}
    row = found.row
    chips = []
    for at, piece in enumerate(row.pieces):
        special = row.words[at] is None
        glued, unknown = row.goes_on(at), row.unknown[at]
        one = chosen.get(at)
        if one is None:
            chips.append(TokenChip(piece, special=special, glued=glued, unknown=unknown))
        else:
            label = f"{one.seen} · {one.loss:.1f}" if one.how == REPLACED else f"{one.loss:.1f}"
            title = f"{translate(LABELS[one.how])}, {one.loss:.2f}"
            chips.append(TokenChip(piece, mark=MARKS[one.how], glued=glued, label=label, title=title, unknown=unknown))
    token_strip.mount(chips, "lesson_strip", title=_("Loss of each token"))
