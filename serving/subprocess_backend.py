"""The backend of the app: models that strangers may have made are read and run in processes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attention.trace import ModelId, Trace
from inference.backend import LocalBackend
from inference.byte_cache import ByteLru
from inference.files import embedded, extras, fine_tuned, folders
from inference.request import EMBEDDED, TraceRequest
from inference.settings import Settings
from inference.tasks.model_request import Answer, ModelRequest
from serving.model_process import ModelProcess


def is_foreign(model: str) -> bool:
    """Whether a model is of the hub: what comes with the app, what it taught and what its operator put into a folder
    is not.

    >>> is_foreign("somebody/something"), is_foreign(EMBEDDED), is_foreign("/models/mine")
    (True, False, False)
    """
    ours = model in (EMBEDDED, *embedded.OWN) or extras.find_extra(model) is not None
    return not (ours or fine_tuned.is_taught(model) or folders.is_path(model))


class SubprocessBackend(LocalBackend):
    """A LocalBackend whose foreign models have a process each, within the same memory for models.

    What a process cannot bear, it alone does not: a tokenizer that takes all memory, a library that aborts, weights
    that are cut while they are read. Who asked reads a sentence; the next question starts a new process.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.processes: ByteLru[ModelProcess] = ByteLru(self.settings.model_memory_bytes)
        self._identities: dict[tuple[str, str | None], ModelId] = {}

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Traces of requests for one model and revision, in their order; raises Refusal."""
        first = requests[0]
        if not is_foreign(first.model):
            return super().computed(requests)
        traces: list[Trace] = self._process(first.model, first.revision).ask(list(requests))
        self._identities[first.model, first.revision] = traces[0].model
        return traces

    def made(self, question: ModelRequest[Answer]) -> Answer:
        """The answer, made now and not kept; raises Refusal."""
        if not is_foreign(question.model):
            return super().made(question)
        answer: Answer = self._process(question.model, question.revision).ask(question)
        return answer

    def status(self, model: str, revision: str | None = None) -> str:
        """One of "loaded", "loading", "downloading", "here" and "absent"."""
        if is_foreign(model) and (model, revision) in self.processes:
            return "loaded"
        return super().status(model, revision)

    def identity(self, model: str, revision: str | None = None) -> ModelId:
        """Which model that name stands for here, with its commit where it was asked."""
        return self._identities.get((model, revision)) or super().identity(model, revision)

    def _process(self, model: str, revision: str | None) -> ModelProcess:
        """The process of a foreign model, start_process where there is none; raises Refusal where its files are not
        here."""
        from inference.files import checkpoint, sources

        def start_process() -> ModelProcess:
            source = sources.find(model, revision, self.settings)
            files = checkpoint.inspect(source.folder, source.name)
            checkpoint.refuse_too_large(source.name, files.memory_bytes, self.settings.largest_model)
            for kept in (self.processes, self.kept_models):  # the memory for models is one
                kept.make_room(files.memory_bytes)
            alone = replace(self.settings, model_memory_bytes=self.settings.largest_model)
            return ModelProcess(source.name, files.memory_bytes, alone)

        found = self.processes.get_or_make((model, revision), start_process, lambda process: process.nbytes)
        if found.has_ended:
            self.processes.drop((model, revision), found)
            found = self.processes.get_or_make((model, revision), start_process, lambda process: process.nbytes)
        return found
