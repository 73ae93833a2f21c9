"""The texts of a configuration, tokenised: one corpus to train on, one held-out corpus per source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inference.files.checksums import sha256
from training import corpus
from training.batches import Batches, Vocabulary
from training.config import Config
from training.documents import documents, held_out
from training.origin import same
from training.tables import Source


def training_text(config: Config) -> Path:
    """The folder of the corpus that is trained on."""
    return config.run / "corpus" / "train"


def held_out_text(config: Config, source: Source) -> Path:
    """The folder of a source's held-out corpus."""
    return config.run / "corpus" / f"held-out-{source.name}"


def prepare(config: Config, tokenizer_file: Path) -> None:
    """Writes every corpus that is not there yet; the same documents are held out every time.

    Raises Refusal where one that is there was made of other sources, of another share or by another tokenizer.
    """
    share, every = config.data.held_out, {source.name: source.path.name for source in config.sources}
    made_of = {"held_out": share, "sources": every}
    wanted: list[tuple[Path, tuple[Source, ...], bool]] = [
        (held_out_text(config, source), (source,), True) for source in config.sources
    ]
    wanted.append((training_text(config), config.sources, False))
    for folder, _, _ in wanted:
        if folder.exists():
            same(corpus.facts(folder), {**made_of, "tokenizer": sha256(tokenizer_file)}, folder)
    for folder, sources, held in wanted:
        if not folder.exists():
            corpus.write(_chosen(sources, share, held=held), tokenizer_file, folder, made_of)


def training_batches(config: Config, vocabulary: Vocabulary, seed: int) -> Batches:
    """What a run reads, in the order that the seed draws."""
    return Batches(
        corpus.read(training_text(config)),
        vocabulary,
        config.data.length,
        config.optimiser.batch,
        seed,
        config.data.short,
        config.masking.whole_words,
    )


def held_out_batches(config: Config, vocabulary: Vocabulary, seed: int) -> dict[str, Batches]:
    """What a model is scored on, by source: pairs of full length, single pieces hidden, whatever the run does."""
    length, size = config.data.length, config.optimiser.batch
    return {
        source.name: Batches(corpus.read(held_out_text(config, source)), vocabulary, length, size, seed)
        for source in config.sources
    }


def _chosen(sources: tuple[Source, ...], share: float, *, held: bool) -> Iterator[tuple[str, str]]:
    for source in sources:
        for name, text in documents(source.path):
            if held_out(full := f"{source.name}/{name}", share) is held:
                yield full, text
