"""Questions over HTTP to serving.service: asked again, by and by, where nobody answered; never answered wrongly."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx2

from inference.errors import Refusal
from serving.frames import AFFINITY, DEADLINE, MODEL, MOST_ANSWERED, TYPE
from serving.service import is_loopback
from serving.values import Broken, pack, unpack
from wording import sentence

log = logging.getLogger(__name__)
NOBODY = sentence("The server that computes does not answer now. Try again in a moment.")
STRANGER = sentence("The server that computes does not know this app. Its operator has to give both the same secret.")
WAIT, LONGEST = 0.05, 2.0  # seconds before a question is asked again: at first, and at most
AGAIN = (408, 429, 500, 502, 503, 504)  # without a frame that says more: a proxy's, or a replica's that is no more
PATIENCE = 60.0  # seconds for which a question that nobody answers is asked again: a new proxy takes thirty


class Unanswered(Exception):
    """It may be asked again, after so many seconds at least."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Caller:
    """One service, asked by any number of threads. ``seconds`` is what an answer may take."""

    def __init__(  # noqa: PLR0913  (how it waits and by what it asks are a test's)
        self,
        address: str,
        token: str = "",
        seconds: float = 600.0,
        *,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds, self._sleep, self._clock = seconds, sleep, clock
        self._client = httpx2.Client(
            base_url=address,
            headers={"Content-Type": TYPE, **({"Authorization": f"Bearer {token}"} if token else {})},
            timeout=httpx2.Timeout(seconds + 5, connect=5.0),  # the service says itself that it is late
            limits=httpx2.Limits(max_connections=64, max_keepalive_connections=32),
            trust_env=not is_loopback(httpx2.URL(address).host),  # a proxy is on the way to other machines only
            transport=transport,
        )

    def ask(self, path: str, asked: Any, key: str, model: str = "", patience: float = PATIENCE) -> Any:
        """The answer; raises Refusal."""
        frame, began, tries = pack(asked), self._clock(), 0
        lost = 0.0  # when it was first known that nobody answers: a machine that falls silent is not known at once
        while True:
            left = self.seconds - (self._clock() - began)
            headers = {AFFINITY: key, MODEL: quote(model), DEADLINE: f"{max(left, 0):.3f}"}
            try:
                return self._once(path, frame, headers)
            except Unanswered as wait:
                pause = max(wait.seconds, min(LONGEST, WAIT * 2**tries)) * random.uniform(0.5, 1.5)
                now = self._clock()
                lost = lost if tries else now
                if now - lost + pause > patience or now - began + pause > self.seconds:
                    raise Refusal(NOBODY, way_out="retry") from wait
                tries += 1
                self._sleep(pause)

    def _once(self, path: str, frame: bytes, headers: dict[str, str]) -> Any:
        try:
            with self._client.stream("POST", path, content=frame, headers=headers) as response:
                body = _read(response)
        except httpx2.TransportError as error:
            log.info("The backend was not reached: %s", type(error).__name__)
            raise Unanswered from error
        if response.status_code in (401, 403):
            raise Refusal(STRANGER)
        try:
            found = unpack(body) if response.headers.get("content-type") == TYPE else None
        except Broken as error:
            raise Unanswered from error
        if response.status_code == 200 and found is not None:
            return found
        if isinstance(found, Refusal) and response.status_code != 503:
            raise found
        if response.status_code in AGAIN:
            raise Unanswered(_seconds(response))
        log.warning("The backend answered %d.", response.status_code)
        raise Refusal(NOBODY, way_out="retry")

    def close(self) -> None:
        """Lets its connections go."""
        self._client.close()


def _read(response: httpx2.Response) -> bytes:
    """What came; no more of it is taken in than an answer may be."""
    blocks, size = [], 0
    for block in response.iter_bytes():
        size += len(block)
        if size > MOST_ANSWERED:
            raise Refusal(NOBODY)
        blocks.append(block)
    return b"".join(blocks)


def _seconds(response: httpx2.Response) -> float:
    """What Retry-After asks for, where it is sensible."""
    stated = response.headers.get("retry-after", "")
    return min(float(stated), 10.0) if stated.isdigit() else 0.0
