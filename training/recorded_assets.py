"""A script that writes recorded assets: positional priors, pronoun heads, a photo's trace, and atlases.

    python -m training.recorded_assets priors              # writes assets/habits.safetensors
    python -m training.recorded_assets pronouns            # writes assets/pronoun_heads.json
    python -m training.recorded_assets picture             # writes assets/pictures/cat.safetensors
    python -m training.recorded_assets atlases EWT WIKI    # writes assets/atlases/

The embedded models are measured, and for the picture DINOv2-small (`make extra`).

EWT is the dev split of UD English EWT (CoNLL-U), WIKI a file of Wikipedia articles (JSON Lines with "text", or
that file compressed as .xz).

Run it again if the models' weights, the photo or a file format changes; tests compare the files with the models.
"""

from __future__ import annotations

import lzma
import sys
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from attention.trace import Trace
from inference import LocalBackend, TraceRequest
from inference.catalogue.listing import EMBEDDED_CARD, OWN_CARDS
from inference.files.dinov2 import DINOV2
from inference.pictures.sample_picture import RECORDED, Difference, pack_trace, photo, unpack_trace
from inference.settings import Settings
from probing import pronoun_heads
from probing.atlas.build import AtlasPlan
from probing.atlas.create import UncachedBackend, create_atlas
from probing.reference_priors import measure_priors, store


def write_priors() -> None:
    """Measure the positional priors of the heads of the embedded models; store them in assets/."""
    backend = LocalBackend(Settings(offline=True))
    store({card.id: measure_priors(backend, card.id, None, card.kind) for card in (EMBEDDED_CARD, *OWN_CARDS)})


def write_pronoun_heads() -> None:
    """Find the pronoun head of each embedded model that reads a single text, and store it in assets/."""
    backend = LocalBackend(Settings(offline=True))
    found = {}
    for card in (EMBEDDED_CARD, *OWN_CARDS):
        if card.kind == "encoder" and (head := pronoun_heads.measure_pronoun_head(backend, card.id)) is not None:
            found[backend.identity(card.id)] = head
    pronoun_heads.store(found)


def write_picture() -> None:
    """Compute and store the trace of the sample photo, and print its size and its compression error."""
    found = record_trace()
    said = compare_traces(found, unpack_trace(pack_trace(found), photo()))
    RECORDED.write_bytes(pack_trace(found, said))
    print(f"{RECORDED.stat().st_size:,} bytes; weights differ by at most {said.largest:.4f}, {said.moved:.2%} moved.")


ATLASES = Path(__file__).resolve().parent.parent / "assets" / "atlases"
ATLAS_TOKENS, ATLAS_LINKS, ATLAS_WRITTEN = 300_000, 4_000, 100  # the two atlases take at most 12 MB together
ARTICLES = 3_000  # of the file of Wikipedia that are offered; the limit of tokens ends the reading
LICENCES = (
    "UD English EWT, dev split: CC BY-SA 4.0, Universal Dependencies contributors",
    "English Wikipedia: CC BY-SA 3.0, Wikipedia contributors",
)


def write_atlases(trees: Path, articles: Path) -> None:
    """Build the atlases of the embedded encoders, and store them in assets/."""
    backend = UncachedBackend(LocalBackend(Settings(offline=True)))
    opened = lzma.open if articles.suffix == ".xz" else open
    with TemporaryDirectory() as folder, opened(articles, "rt", encoding="utf-8") as stream:
        some = Path(folder) / "wikipedia.jsonl"
        some.write_text("".join(islice(stream, ARTICLES)), encoding="utf-8")
        for card in (EMBEDDED_CARD, *OWN_CARDS):
            if card.kind == "encoder":
                plan = AtlasPlan(
                    (trees, some), card.id, tokens=ATLAS_TOKENS, most=ATLAS_LINKS, most_written=ATLAS_WRITTEN
                )
                create_atlas(backend, plan, ATLASES / card.id, print, about={"licences": list(LICENCES)})


def record_trace() -> Trace:
    """Compute the complete trace of the sample photo with DINOv2-small."""
    return LocalBackend(Settings(offline=True)).trace(TraceRequest(model=DINOV2.name, picture=photo()))


def compare_traces(trace: Trace, stored: Trace) -> Difference:
    """Return the deviation of a stored trace's attention weights from those of the original trace.

    ``largest`` is the largest deviation of a weight. ``moved`` is the share of each row's attention that the stored
    trace gives to other tokens, averaged over rows and heads.
    """
    largest, moved = [], []
    for layer in range(trace.layers):
        for head in range(trace.heads):
            off = np.abs(trace.weights(layer, head) - stored.weights(layer, head))
            largest.append(float(off.max()))
            moved.append(float(off.sum(axis=-1).mean()) / 2)
    return Difference(max(largest), float(np.mean(moved)))


if __name__ == "__main__":
    if sys.argv[1] == "atlases":
        write_atlases(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        {"priors": write_priors, "pronouns": write_pronoun_heads, "picture": write_picture}[sys.argv[1]]()
