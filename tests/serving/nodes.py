"""A cluster of two nodes on this machine with the service on it; it is told on its input what befalls it.

``python -m tests.serving.nodes PORT OTHER [REDIS]`` answers at PORT, the first node's, and at OTHER, the second's. What
the head must remember is kept by the Redis at that address, else in a file (RocksDB). It says "done" once the cluster
is whole again after each of: ``update``, ``hang``, ``lose``, ``silence``, ``join``, ``head``.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from serving import cluster
from tests.support.running import free_port

REPLICAS, CPUS = 2, 0.5


class Nodes:
    """Two nodes, each with room for both replicas: the loss of one leaves room for what ran on it."""

    def __init__(self, port: int, other: int, place: Path, redis: str = "") -> None:
        token = place / "token"
        token.touch(0o600)
        token.write_text(secrets.token_hex(32))
        kept = place / "kept"
        kept.mkdir()
        file = {"RAY_gcs_storage": "rocksdb", "RAY_gcs_storage_path": str(kept)}
        own = place / "ray"  # where Ray looks by itself
        own.mkdir()
        os.environ.update(
            {
                **cluster.ENVIRONMENT,
                "RAY_AUTH_TOKEN_PATH": str(token),
                "RAY_TMPDIR": str(place),
                "RAY_SERVE_WORKER_PROXY_HTTP_PORT": str(other),
                **({"RAY_REDIS_ADDRESS": redis} if redis else file),
            }
        )
        import ray
        from ray import serve
        from ray.cluster_utils import Cluster

        self.ray, self.serve, self.updates = ray, serve, 0
        self.common = {
            "num_cpus": 1,
            "object_store_memory": cluster.OBJECTS,
            "node_ip_address": "127.0.0.1",
            "include_dashboard": False,
            "temp_dir": str(own),
        }
        self.cluster = Cluster(True, head_node_args={**self.common, "gcs_server_port": free_port()})
        ray.init(self.cluster.address, log_to_driver=False, logging_level="ERROR")
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        self.join()
        self.update()

    def update(self) -> None:
        """Another version takes the place of the one that answers, if there is one."""
        before, self.updates = self.replicas(), self.updates + 1
        given = {"least": REPLICAS, "replicas": REPLICAS, "cpus": CPUS, "version": self.updates}
        self.serve.run(cluster.application(given), name=cluster.NAME)
        self.whole(lambda: not before & self.replicas())

    def join(self) -> None:
        """A node joins."""
        self.second = self.cluster.add_node(**self.common)

    def hang(self) -> None:
        """A replica answers nothing more, and hangs up nowhere."""
        hung = psutil.Process(min(self.replicas()))
        hung.suspend()
        self.whole(lambda: not hung.is_running())

    def lose(self) -> None:
        """The second node is gone at once, with all that ran on it."""
        lost = self.of_second()
        for process in lost:
            process.kill()
        self.forget(lost)

    def silence(self) -> None:
        """The second node says nothing more, and hangs up nowhere."""
        lost = self.of_second()
        for process in lost:
            process.suspend()
        try:
            self.forget(lost)
        finally:
            for process in lost:
                process.kill()

    def head(self) -> None:
        """What makes the first node the head ends, and is started again."""
        self.cluster.head_node.kill_gcs_server()
        for process in psutil.Process().children(recursive=True):
            if "ServeController" in name_of(process):
                process.kill()
        self.cluster.head_node.start_gcs_server()
        self.whole()

    def of_second(self) -> list[psutil.Process]:
        """The processes of the second node."""
        own = [psutil.Process(info.process.pid) for some in self.second.all_processes.values() for info in some]
        return [*own, *(child for process in own for child in process.children(recursive=True))]

    def forget(self, lost: list[psutil.Process]) -> None:
        """Waits until what ran on the second node runs elsewhere."""
        gone = {process.pid for process in lost}
        self.whole(lambda: len(self.replicas() - gone) == REPLICAS)
        self.cluster.worker_nodes.discard(self.second)

    def replicas(self) -> set[int]:
        """The processes in which models are."""
        return {replica.pid for replica in replicas_of(psutil.Process())}

    def whole(self, also: Callable[[], bool] = lambda: True) -> None:
        """Waits until the service is as it was asked for."""
        until(lambda: self.running() == REPLICAS and also())

    def running(self) -> int:
        """Replicas that Ray Serve takes for running."""
        try:
            told: Any = self.serve.status().applications[cluster.NAME]
        except Exception:  # the head is away: every kind of error of Ray's
            return 0
        states = told.deployments[cluster.NAME].replica_states
        return int(states.get("RUNNING", 0)) if told.status == "RUNNING" and len(states) == 1 else 0

    def close(self) -> None:
        """Ends everything."""
        self.ray.shutdown()
        self.cluster.shutdown()


def until(true: Callable[[], bool]) -> None:
    """Waits for a condition; who started this process gives up, not this."""
    while not true():
        time.sleep(0.2)


def replicas_of(server: psutil.Process) -> list[psutil.Process]:
    """The processes of a server in which models are."""
    return [child for child in server.children(recursive=True) if "ServeReplica" in name_of(child)]


def name_of(process: psutil.Process) -> str:
    """What a process calls itself; nothing where it is gone."""
    try:
        return " ".join(process.cmdline()[:1])
    except psutil.Error:
        return ""


def main() -> int:
    """Serves until its input ends."""
    place = Path(tempfile.mkdtemp(prefix="hl-"))  # short, as serving.cluster's
    try:
        nodes = Nodes(int(sys.argv[1]), int(sys.argv[2]), place, *sys.argv[3:])
        print("done", flush=True)
        for line in sys.stdin:
            doing = (nodes.update, nodes.hang, nodes.lose, nodes.silence, nodes.join, nodes.head)
            {one.__name__: one for one in doing}[line.strip()]()
            print("done", flush=True)
        nodes.close()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
