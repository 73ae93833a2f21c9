"""The texts of a configuration, tokenised: one corpus to train on, one held-out corpus per source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training import corpus
from training.batches import Batches, Vocabulary
from training.config import Config, Source
from training.documents import documents, held_out


def training_text(config: Config) -> Path:
    """The folder of the corpus that is trained on."""
    return config.run / "corpus" / "train"


def held_out_text(config: Config, source: Source) -> Path:
    """The folder of a source's held-out corpus."""
    return config.run / "corpus" / f"held-out-{source.name}"


def prepare(config: Config, tokenizer_file: Path) -> None:
    """Writes every corpus that is not there yet; the same documents are held out every time."""
    share = config.data.held_out
    if not training_text(config).exists():
        corpus.write(_chosen(config.sources, share, held=False), tokenizer_file, training_text(config))
    for source in config.sources:
        folder = held_out_text(config, source)
        if not folder.exists():
            corpus.write(_chosen((source,), share, held=True), tokenizer_file, folder)


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
