"""Downloads: progress, stopping, resuming with Range requests, and corrupted content."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inference.errors import UserError
from inference.files import hub
from inference.files.download import Download
from inference.files.hub import RemoteFile
from inference.settings import Settings
from tests.support.fakehub import FakeHub, serving
from tests.support.present import present
from tests.support.tinymodels import save

NAME = "someone/tiny-bert"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("bert"), "bert", vocab_size=20_000)  # This vocabulary makes 2 MB of weights.


@pytest.fixture
def fake(model: Path) -> Iterator[FakeHub]:
    with serving() as running:
        running.add(NAME, model)
        yield running


@pytest.fixture
def settings(fake: FakeHub, tmp_path: Path) -> Settings:
    return Settings(endpoint=fake.endpoint, cache=tmp_path / "cache", hub_timeout=20.0)


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


@pytest.mark.slow
def test_a_download_arrives_whole(settings: Settings, model: Path) -> None:
    offer = hub.fetch_offer(NAME, None, settings)
    download = Download(offer, settings)
    assert download.state == "new"
    assert download.start().wait(20)
    assert download.progress == (offer.nbytes, offer.nbytes)
    again = hub.fetch_offer(NAME, None, settings)
    assert again.downloaded
    for file in offer.files:
        assert (present(again.folder) / file.name).read_bytes() == (model / file.name).read_bytes()


@pytest.mark.slow
def test_what_is_downloaded_needs_no_network(settings: Settings) -> None:
    Download(hub.fetch_offer(NAME, None, settings), settings).start().wait(20)
    cut = Settings(endpoint="http://127.0.0.1:9", cache=settings.cache)
    assert hub.fetch_offer(NAME, None, cut).downloaded
    assert hub.fetch_offer(NAME, None, Settings(cache=settings.cache, offline=True)).downloaded


@pytest.mark.slow
def test_stop_keeps_what_arrived_and_start_goes_on(fake: FakeHub, settings: Settings) -> None:
    fake.pause = 0.2  # The slow answer leaves time to stop the download.
    download = Download(hub.fetch_offer(NAME, None, settings), settings).start()
    until(lambda: download.progress.done > 600_000)
    download.stop()
    assert not download.wait(60)
    assert download.state == "stopped"
    assert hub.cached_folder(NAME, None, settings) is None
    kept = download.progress.done
    assert 0 < kept < download.progress.total
    fake.pause = 0
    assert download.start().wait(20)
    assert len(fake.ranges()) == 1
    assert int(fake.ranges()[0].removeprefix("bytes=").removesuffix("-")) > 300_000


@pytest.mark.slow
def test_starting_right_after_stopping_goes_on(fake: FakeHub, settings: Settings) -> None:
    fake.pause = 0.02
    download = Download(hub.fetch_offer(NAME, None, settings), settings).start()
    until(lambda: download.progress.done > 300_000)
    download.stop()
    before = download.start().progress.done
    assert before > 0
    assert download.wait(20)


@pytest.mark.slow
def test_a_new_process_resumes_as_well(fake: FakeHub, settings: Settings) -> None:
    fake.pause = 0.2
    first = Download(hub.fetch_offer(NAME, None, settings), settings).start()
    until(lambda: first.progress.done > 600_000)
    first.stop()
    assert not first.wait(60)
    fake.pause = 0
    assert Download(hub.fetch_offer(NAME, None, settings), settings).start().wait(20)
    assert len(fake.ranges()) == 1


@pytest.mark.slow
def test_a_cut_connection_is_taken_up_again(fake: FakeHub, settings: Settings) -> None:
    fake.cut_after = 800_000
    assert Download(hub.fetch_offer(NAME, None, settings), settings).start().wait(20)
    assert len(fake.ranges()) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("status", [200, 206])
def test_an_answer_that_ends_early_and_calls_itself_whole(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """A proxy that truncates answers, or leaves a Range request empty, must not cause endless retries."""
    download = Download(hub.fetch_offer(NAME, None, settings), settings)
    streams: list[int] = []

    def stream(file: RemoteFile, start: int) -> None:
        streams.append(start)
        if status == 200 or not start:
            download.partial_path(file).write_bytes(b"\0" * 10)

    monkeypatch.setattr(download, "_stream", stream)
    with pytest.raises(UserError, match="be reached") as caught:
        download.start().wait(20)
    assert caught.value.way_out == "retry"
    assert streams == [0, 10, 10, 10]


def test_a_short_answer_can_be_stopped(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    download = Download(hub.fetch_offer(NAME, None, settings), settings)
    monkeypatch.setattr(download, "_stream", lambda *_: download.stop())
    assert not download.start().wait(20)
    assert download.state == "stopped"


@pytest.mark.slow
def test_bytes_that_arrive_wrong_are_thrown_away(fake: FakeHub, settings: Settings) -> None:
    fake.rotten = True
    download = Download(hub.fetch_offer(NAME, None, settings), settings).start()
    with pytest.raises(UserError, match="arrived damaged"):
        download.wait(20)
    assert download.state == "failed"
    fake.rotten = False
    assert download.start().wait(20)


def test_a_hub_that_goes_away(fake: FakeHub, settings: Settings) -> None:
    download = Download(hub.fetch_offer(NAME, None, settings), settings)
    fake.status = 500
    with pytest.raises(UserError, match="hub") as caught:
        download.start().wait(30)
    assert caught.value.way_out == "retry"


def test_a_full_disk(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    download = Download(hub.fetch_offer(NAME, None, settings), settings)
    monkeypatch.setattr("inference.files.download.shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(UserError, match=r"^The disk"):
        download.start().wait(20)
