"""The tokenised texts of a configuration: a training corpus, and a held-out corpus for each source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inference.files.packages import sha256
from training import corpus
from training.batches import PretrainingBatches, Vocabulary
from training.config import PretrainingConfig, TextSource
from training.corpus import check_origin, documents, held_out


def training_text(config: PretrainingConfig) -> Path:
    """Return the folder of the training corpus."""
    return config.run / "corpus" / "train"


def held_out_text(config: PretrainingConfig, source: TextSource) -> Path:
    """Return the folder of a source's held-out corpus."""
    return config.run / "corpus" / f"held-out-{source.name}"


def prepare(config: PretrainingConfig, tokenizer_file: Path) -> None:
    """Tokenise every corpus that does not exist yet; the held-out documents are the same in every call.

    Raise UserError if an existing corpus has other sources, another held-out share or another tokenizer.
    """
    share, every = config.data.held_out, {source.name: source.path.name for source in config.sources}
    made_of = {"held_out": share, "sources": every}
    wanted: list[tuple[Path, tuple[TextSource, ...], bool]] = [
        (held_out_text(config, source), (source,), True) for source in config.sources
    ]
    wanted.append((training_text(config), config.sources, False))
    for folder, _, _ in wanted:
        if folder.exists():
            check_origin(corpus.facts(folder), {**made_of, "tokenizer": sha256(tokenizer_file)}, folder)
    for folder, sources, held in wanted:
        if not folder.exists():
            corpus.write(_select_documents(sources, share, held=held), tokenizer_file, folder, made_of)


def training_batches(config: PretrainingConfig, vocabulary: Vocabulary, seed: int) -> PretrainingBatches:
    """Return the training batches of a run, in an order drawn from the seed."""
    return PretrainingBatches(
        corpus.read(training_text(config)),
        vocabulary,
        config.data.length,
        config.optimiser.batch,
        seed,
        config.data.short,
        config.masking.whole_words,
    )


def held_out_batches(config: PretrainingConfig, vocabulary: Vocabulary, seed: int) -> dict[str, PretrainingBatches]:
    """Return the evaluation batches of each source: pairs of full length, with single tokens masked."""
    length, size = config.data.length, config.optimiser.batch
    return {
        source.name: PretrainingBatches(corpus.read(held_out_text(config, source)), vocabulary, length, size, seed)
        for source in config.sources
    }


def _select_documents(sources: tuple[TextSource, ...], share: float, *, held: bool) -> Iterator[tuple[str, str]]:
    for source in sources:
        for name, text in documents(source.path):
            if held_out(full := f"{source.name}/{name}", share) is held:
                yield full, text
