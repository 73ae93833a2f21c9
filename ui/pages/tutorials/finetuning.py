"""Stations on fine-tuning: from a new head to the changes that training makes."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from attention.vectors import cosine
from i18n import _, gettext_lazy, translate
from inference.files.embedded import BERT
from inference.tasks.anatomy import OUTER_NORMS, POSITIONS, SEGMENTS, TOKENS, Anatomy, Dropout, DropoutResult
from inference.tasks.hidden_states import Pooled
from inference.text.encoding import check_text
from probing.labelled import ready_sets
from probing.labelled.labeled_texts import LabeledText, TaggedText
from ui.input.controls import bound_widget, first_place
from ui.pages.tutorials.options import MOST_DROPPED, TutorialsOptions
from ui.pages.tutorials.station import Station, get_trace, link_to
from ui.run.services import get_backend
from ui.show.text import format_comma_list, join_sentences, percent
from ui.state.examples import example_of
from ui.state.view_state import ViewState

INTENTS, FILMS, NAMES = "snips-intents", "sentence-polarity", "wnut-17"
FROZEN = 4  # frozen layers of the station's example
TOPICS = "sib-200-en"
# Accuracy on 204 test rows by number of frozen layers, recorded because a training takes minutes, with
# `python -m training classify sib-200-en --epochs 3 --minutes 6 --threads 1 --frozen N` (docs/TRAINING.md).
RECORDED = {0: 0.887, 4: 0.887, 6: 0.549}
COUNTED = 0.657  # accuracy of word counts on the same rows
TEXTS = (
    "A man is playing a guitar on stage.",
    "Somebody is making music with an instrument.",
    "The stock market fell sharply on Monday.",
)
BELOW = (TOKENS, POSITIONS, SEGMENTS, OUTER_NORMS)  # parts of a BERT-like encoder that run before its layers


def new_weights(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence that compares the number of weights of a new head with those of the model."""
    build, classes = get_backend().inspect(Anatomy()), len(ready_sets.load(INTENTS).labels)
    head = classes * (build.width + 1)
    return _(
        "For the {classes} classes of “{title}”, the head on all-MiniLM-L6-v2 has {classes} × "
        "{width} weights and {classes} biases: {new:,} new numbers beside {total:,} that were there, {share:.3%}.",
        classes=classes,
        title=translate(ready_sets.BY_ID[INTENTS].title),
        width=build.width,
        new=head,
        total=build.total,
        share=head / build.total,
    )


def first_vector(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with cosines of [CLS] vectors before fine-tuning, for related and unrelated texts."""
    likeness = {}
    for pooling in ("first", "mean"):
        vectors = get_backend().inspect(Pooled(model=BERT, texts=TEXTS, pooling=pooling)).vectors
        likeness[pooling] = cosine(vectors, vectors)
    first, mean = likeness["first"], likeness["mean"]
    return _(
        "Before it is taught, headlight-bert's [CLS] of a text on music and of one on the stock market have the "
        "cosine {unlike:.2f}, of two on music {alike:.2f}; with the mean of all pieces it is {mean_unlike:.2f} and "
        "{mean_alike:.2f}. It was trained to judge pairs, and what else "
        "stands in [CLS] is for the task to make.",
        unlike=first[0, 2],
        alike=first[0, 1],
        mean_unlike=mean[0, 2],
        mean_alike=mean[0, 1],
    )


def nothing_found(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with the accuracy of a tagger that tags every word as outside of names."""
    test = [row for row in ready_sets.load(NAMES).test if isinstance(row, TaggedText)]
    tags = [tag for row in test for tag in row.tags]
    outside, names = tags.count("O"), sum(tag.startswith("B-") for tag in tags)
    return _(
        "In the test rows of “{title}”, {outside:.1%} of the words belong to no name: "
        "who finds none of the {names:,} names is right on as many words. So names are counted, and words are not.",
        title=translate(ready_sets.BY_ID[NAMES].title),
        outside=outside / len(tags),
        names=names,
    )


def majority_baseline(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with the accuracy of always predicting the commonest class."""
    said = []
    for card in (FILMS, INTENTS):
        labels = ready_sets.load(card)
        counts = Counter(row.label for row in labels.test if isinstance(row, LabeledText))
        share = counts.most_common(1)[0][1] / counts.total()
        said.append(
            _(
                "{share:.1%} of the test rows of “{title}” ({classes} classes)",
                share=share,
                title=translate(ready_sets.BY_ID[card].title),
                classes=len(labels.labels),
            )
        )
    return _(
        "Always the commonest class is right on {one} and on {other}. A page that teaches shows beside each "
        "score what counting words reaches on the same rows.",
        one=said[0],
        other=said[1],
    )


def frozen_weights(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences on the share of weights that train if layers are frozen, with recorded accuracies."""
    build = get_backend().inspect(Anatomy())
    layers = build.stacks[0].layers
    below = sum(part.count for part in build.parts if not part.layers and part.name in BELOW)
    each = sum(part.count for part in build.parts if part.layers) // layers
    learn = build.total - below - FROZEN * each
    shares = [
        _("{share:.1%} with {frozen} of them frozen", share=share, frozen=frozen)
        if frozen
        else _("{share:.1%} with none of them frozen", share=share)
        for frozen, share in RECORDED.items()
    ]
    return _(
        "all-MiniLM-L6-v2 has {total:,} weights, {below:,} of them in its embeddings and {each:,} in each of its "
        "{layers} layers. With {frozen} layers frozen, and the embeddings below them, {learn:,} learn: "
        "{share:.0%}. A record of three trainings here (docs/TRAINING.md), one seed, on "
        "“{title}”: {shares}, where only the head learns; counting words reaches {counted:.1%}.",
        total=build.total,
        below=below,
        each=each,
        layers=layers,
        frozen=FROZEN,
        learn=learn,
        share=learn / build.total,
        title=translate(ready_sets.BY_ID[TOPICS].title),
        shares=format_comma_list(shares),
        counted=COUNTED,
    )


def dropout_spread(choice: ViewState, options: TutorialsOptions) -> str:
    """Return sentences on how dropout varies a masked prediction in the reader's text."""
    text = get_trace(check_text(choice.text), BERT, cut=choice.cut).text
    hidden = first_place(text, "", example_of(choice.text, choice.pair))
    share = min(options.dropped, MOST_DROPPED)
    found = get_backend().predict(Dropout(model=BERT, text=text, hidden=hidden, cut=choice.cut, share=share))
    word = text[hidden[0][1] : hidden[0][2]] if hidden else "[MASK]"
    first = _(
        "With “{word}” hidden in your text, headlight-bert puts “{piece}” first, with {chance}.",
        word=word,
        piece=found.undropped.piece,
        chance=percent(found.undropped.probability),
    )
    return join_sentences(first, _passes(found, share))


def _passes(found: DropoutResult, share: int) -> str:
    """Return a sentence on the passes with dropout; ``share`` is in percent."""
    best, chances = found.undropped, found.probabilities
    count = len(chances)
    if len(set(chances.tolist())) == 1:
        return _(
            "With nothing dropped, {count} passes give the same number {count} times: a pass is no dice.", count=count
        )
    return _(
        "With {share} % dropped, {count} passes give that piece {least} to {most} and put it first {same} times; the "
        "blank's last vector has a cosine of {cosine:.2f} with the one without, on average.",
        share=share,
        count=count,
        least=percent(chances.min()),
        most=percent(chances.max()),
        same=sum(piece == best.piece for piece in found.likeliest),
        cosine=found.cosines.mean(),
    )


def pick_share(options: TutorialsOptions) -> None:
    """Draw the slider for the dropout rate."""
    bound_widget(
        TutorialsOptions,
        "dropped",
        st.slider,
        shown=min(options.dropped, MOST_DROPPED),
        min_value=0,
        max_value=MOST_DROPPED,
        step=5,
    )


STATIONS = (
    Station(
        gettext_lazy("A head on top"),
        gettext_lazy(
            "A model that has read much gets one new layer, which makes a number for each class from the vector of "
            "[CLS]; a softmax makes probabilities. Then all weights move a little, so that the labelled rows come out "
            "right."
        ),
        (link_to("teach", gettext_lazy("Requests to a voice assistant"), {"data": INTENTS}),),
        gettext_lazy("A new model is trained for each task."),
        new_weights,
    ),
    Station(
        gettext_lazy("What [CLS] is before it is taught"),
        gettext_lazy(
            "Classes of texts are read from one vector. Before training for a task, that vector says what it was made "
            "for, and no more."
        ),
        (
            link_to(
                "vectors", gettext_lazy("Sentences as vectors"), {"show": "sentences", "pooling": "first"}, model=BERT
            ),
            link_to("next_sentence", gettext_lazy("What [CLS] was trained for"), yours=True, model=BERT),
        ),
        gettext_lazy("[CLS] holds the meaning of the sentence."),
        first_vector,
    ),
    Station(
        gettext_lazy("A score beside another"),
        gettext_lazy(
            "An accuracy says little alone: what reaches the commonest class, and what the count of words without any "
            "model? Where that wins, it is the better choice."
        ),
        (link_to("teach", gettext_lazy("Reviews of films"), {"data": FILMS}),),
        gettext_lazy("A model with 90 % accuracy is a good one."),
        majority_baseline,
    ),
    Station(
        gettext_lazy("A tag for each word"),
        gettext_lazy(
            "The same head on every piece makes tags: which words name a person, a place, a product. Scores are of "
            "whole names."
        ),
        (link_to("teach", gettext_lazy("Names in posts"), {"data": NAMES}),),
        gettext_lazy("Accuracy tells how good a tagger is."),
        nothing_found,
    ),
    Station(
        gettext_lazy("Frozen or not"),
        gettext_lazy(
            "Lower layers can be left as they are: they are then a fixed reader below a small part that learns, with "
            "less work in each step. How well that tells is measured by teaching both ways, with the same seed."
        ),
        (
            link_to(
                "teach", gettext_lazy("{frozen} layers frozen", frozen=FROZEN), {"data": TOPICS, "frozen": str(FROZEN)}
            ),
            link_to("teach", gettext_lazy("Only the head learns"), {"data": TOPICS, "frozen": "6"}),
            link_to("teach", gettext_lazy("All weights learn"), {"data": TOPICS}),
        ),
        gettext_lazy("Fine-tuning means that the model stays, and only the head learns."),
        frozen_weights,
    ),
    Station(
        gettext_lazy("Dropout, on and off"),
        gettext_lazy(
            "While it learns, a share of the numbers is set to zero at random in each pass, so that nothing rests on "
            "a few of them; the rest is scaled up in turn. Whenever the model is asked, this is off."
        ),
        (link_to("masked_words", gettext_lazy("The same blank, nothing dropped"), yours=True, model=BERT),),
        gettext_lazy("Ask a model twice, and it says two things."),
        dropout_spread,
        pick_share,
    ),
    Station(
        gettext_lazy("What changes inside"),
        gettext_lazy(
            "Maps move in any training, also with nothing to learn. After a training here, each head's change is "
            "shown beside that of twins which learned the same rows with shuffled labels; only what goes beyond is "
            "the task's."
        ),
        (link_to("teach", gettext_lazy("Teach, then look at what changed"), {"data": INTENTS}),),
    ),
)
