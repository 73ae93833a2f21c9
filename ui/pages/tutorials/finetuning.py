"""The theme of fine-tuning: from a head on top to what a training changes."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from attention.vectors import cosine
from inference.files.embedded import BERT
from inference.questions.anatomy import OUTER_NORMS, POSITIONS, SEGMENTS, TOKENS, Anatomy
from inference.questions.dropout import Dropout, Varied
from inference.questions.vectors import Pooled
from inference.text.accepted import check_text
from probing.labelled import cards
from probing.labelled.rows import Classified, Tagged
from ui.input.hiding import first_place
from ui.input.picking import control
from ui.pages.tutorials.options import MOST_DROPPED, Tutorials
from ui.pages.tutorials.station import Station, to
from ui.run.shelf import backend
from ui.show.numbers import percent
from ui.state.choice import Choice
from ui.state.examples import example_of

INTENTS, FILMS, NAMES = "snips-intents", "sentence-polarity", "wnut-17"
FROZEN = 4  # layers, in the link that freezes some
TOPICS = "sib-200-en"
# Measured once, since it takes minutes: layers frozen, and the share of 204 test rows that was then right, with
# `python -m training classify sib-200-en --epochs 3 --minutes 6 --threads 1 --frozen N` (docs/TRAINING.md).
RECORDED = {0: 0.887, 4: 0.887, 6: 0.549}
COUNTED = 0.657
TEXTS = (
    "A man is playing a guitar on stage.",
    "Somebody is making music with an instrument.",
    "The stock market fell sharply on Monday.",
)
BELOW = (TOKENS, POSITIONS, SEGMENTS, OUTER_NORMS)  # of an encoder like BERT: what runs before its layers


def new_weights(_choice: Choice, _options: Tutorials) -> str:
    """How few weights a head has beside those that were there."""
    build, classes = backend().inspect(Anatomy()), len(cards.load(INTENTS).labels)
    head = classes * (build.width + 1)
    return (
        f"For the {classes} classes of “{cards.BY_ID[INTENTS].title}”, the head on MiniLM has {classes} × "
        f"{build.width} weights and {classes} biases: {head:,} new numbers beside {build.total:,} that were there, "
        f"{head / build.total:.3%}."
    )


def first_vector(_choice: Choice, _options: Tutorials) -> str:
    """How alike [CLS] is in texts that have nothing in common, before anything is taught."""
    likeness = {}
    for pooling in ("first", "mean"):
        vectors = backend().inspect(Pooled(model=BERT, texts=TEXTS, pooling=pooling)).vectors
        likeness[pooling] = cosine(vectors, vectors)
    first, mean = likeness["first"], likeness["mean"]
    return (
        f"Before it is taught, Headlight BERT's [CLS] of a text on music and of one on the stock market have the "
        f"cosine {first[0, 2]:.2f}, of two on music {first[0, 1]:.2f}; with the mean of all pieces it is "
        f"{mean[0, 2]:.2f} and {mean[0, 1]:.2f}. It was trained to judge pairs, and what else "
        "stands in [CLS] is for the task to make."
    )


def nothing_found(_choice: Choice, _options: Tutorials) -> str:
    """How often a tagger is right that never finds anything."""
    test = [row for row in cards.load(NAMES).test if isinstance(row, Tagged)]
    tags = [tag for row in test for tag in row.tags]
    outside, names = tags.count("O"), sum(tag.startswith("B-") for tag in tags)
    return (
        f"In the test rows of “{cards.BY_ID[NAMES].title}”, {outside / len(tags):.1%} of the words belong to no name: "
        f"who finds none of the {names:,} names is right on as many words. So names are counted, and words are not."
    )


def commonest(_choice: Choice, _options: Tutorials) -> str:
    """What always saying the commonest class reaches."""
    said = []
    for card in (FILMS, INTENTS):
        labels = cards.load(card)
        counts = Counter(row.label for row in labels.test if isinstance(row, Classified))
        share = counts.most_common(1)[0][1] / counts.total()
        said.append(f"{share:.1%} of the test rows of “{cards.BY_ID[card].title}” ({len(labels.labels)} classes)")
    return (
        f"Always the commonest class is right on {said[0]} and on {said[1]}. A page that teaches shows beside each "
        "score what counting words reaches on the same rows."
    )


def still(_choice: Choice, _options: Tutorials) -> str:
    """How many of the weights learn where layers are frozen."""
    build = backend().inspect(Anatomy())
    layers = build.stacks[0].layers
    below = sum(part.count for part in build.parts if not part.layers and part.name in BELOW)
    each = sum(part.count for part in build.parts if part.layers) // layers
    learn = build.total - below - FROZEN * each
    shares = ", ".join(f"{share:.1%} with {frozen or 'none'} of them frozen" for frozen, share in RECORDED.items())
    return (
        f"MiniLM has {build.total:,} weights, {below:,} of them in its embeddings and {each:,} in each of its "
        f"{layers} layers. With {FROZEN} layers frozen, and the embeddings below them, {learn:,} learn: "
        f"{learn / build.total:.0%}. A record of three trainings here (docs/TRAINING.md), one seed, on "
        f"“{cards.BY_ID[TOPICS].title}”: {shares}, where only the head learns; counting words reaches {COUNTED:.1%}."
    )


def varied(choice: Choice, options: Tutorials) -> str:
    """How far a guess in the reader's text varies with dropout."""
    text = check_text(choice.text)
    hidden = first_place(text, "", example_of(choice.text, choice.pair))
    share = min(options.dropped, MOST_DROPPED)
    found = backend().predict(Dropout(model=BERT, text=text, hidden=hidden, cut=choice.cut, share=share))
    word = text[hidden[0][1] : hidden[0][2]] if hidden else "[MASK]"
    return f"With “{word}” hidden in your text, {told(found, share)}"


def told(found: Varied, share: int) -> str:
    """The passes in words."""
    best, chances = found.undropped, found.probabilities
    count = len(chances)
    said = f"Headlight BERT puts “{best.piece}” first, with {percent(best.probability)}. "
    if len(set(chances.tolist())) == 1:
        return f"{said}With nothing dropped, {count} passes give the same number {count} times: a pass is no dice."
    same = sum(piece == best.piece for piece in found.likeliest)
    return (
        f"{said}With {share} % dropped, {count} passes give that piece {percent(chances.min())} to "
        f"{percent(chances.max())} and put it first {same} times; the blank's last vector has a cosine of "
        f"{found.cosines.mean():.2f} with the one without, on average."
    )


def pick_share(options: Tutorials) -> None:
    """How much is dropped."""
    control(
        Tutorials,
        "dropped",
        st.slider,
        "Dropped, in percent",
        shown=min(options.dropped, MOST_DROPPED),
        min_value=0,
        max_value=MOST_DROPPED,
        step=5,
        help="0: dropout is off, as whenever a model is asked. 10 is what BERT was trained with.",
    )


STATIONS = (
    Station(
        "A head on top",
        "A model that has read much gets one new layer, which makes a number for each class from the vector of [CLS]; "
        "a softmax makes probabilities. Then all weights move a little, so that the labelled rows come out right.",
        (to("teach", "Requests to a voice assistant", {"data": INTENTS}),),
        "A new model is trained for each task.",
        new_weights,
    ),
    Station(
        "What [CLS] is before it is taught",
        "Classes of texts are read from one vector. Before training for a task, that vector says what it was made for, "
        "and no more.",
        (
            to("vectors", "Sentences as vectors", {"show": "sentences", "pooling": "first"}, model=BERT),
            to("next_sentence", "What [CLS] was trained for", yours=True, model=BERT),
        ),
        "[CLS] holds the meaning of the sentence.",
        first_vector,
    ),
    Station(
        "A score beside another",
        "An accuracy says little alone: what reaches the commonest class, and what the count of words without any "
        "model? Where that wins, it is the better choice.",
        (to("teach", "Reviews of films", {"data": FILMS}),),
        "A model with 90 % accuracy is a good one.",
        commonest,
    ),
    Station(
        "A tag for each word",
        "The same head on every piece makes tags: which words name a person, a place, a product. Scores are of whole "
        "names.",
        (to("teach", "Names in posts", {"data": NAMES}),),
        "Accuracy tells how good a tagger is.",
        nothing_found,
    ),
    Station(
        "Frozen or not",
        "Lower layers can be left as they are: they are then a fixed reader below a small part that learns, with less "
        "work in each step. How well that tells is measured by teaching both ways, with the same seed.",
        (
            to("teach", f"{FROZEN} layers frozen", {"data": TOPICS, "frozen": str(FROZEN)}),
            to("teach", "Only the head learns", {"data": TOPICS, "frozen": "6"}),
            to("teach", "All weights learn", {"data": TOPICS}),
        ),
        "Fine-tuning means that the model stays, and only the head learns.",
        still,
    ),
    Station(
        "Dropout, on and off",
        "While it learns, a share of the numbers is set to zero at random in each pass, so that nothing rests on a few "
        "of them; the rest is scaled up in turn. Whenever the model is asked, this is off.",
        (to("masked_words", "The same blank, nothing dropped", yours=True, model=BERT),),
        "Ask a model twice, and it says two things.",
        varied,
        pick_share,
    ),
    Station(
        "What changes inside",
        "Maps move in any training, also with nothing to learn. After a training here, each head's change is shown "
        "beside that of twins which learned the same rows with shuffled labels; only what goes beyond is the task's.",
        (to("teach", "Teach, then look at what changed", {"data": INTENTS}),),
    ),
)
