"""A cluster of two nodes on this machine with the service; its input selects the failures.

``python -m tests.serving.nodes PORT OTHER [REDIS]`` serves at PORT, the first node's, and at OTHER, the second's.
The head stores its state in the Redis at that address, or in a file (RocksDB) without Redis. The process prints
"done" when the cluster has recovered from each command: ``update``, ``hang``, ``lose``, ``silence``, ``join``,
``head``. After ``join`` it does not wait.
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
    """Two nodes, each with room for both replicas, so that a node can replace the other."""

    def __init__(self, port: int, other: int, place: Path, redis: str = "") -> None:
        token = place / "token"
        token.touch(0o600)
        token.write_text(secrets.token_hex(32))
        kept = place / "kept"
        kept.mkdir()
        file = {"RAY_gcs_storage": "rocksdb", "RAY_gcs_storage_path": str(kept)}
        own = place / "ray"  # Ray looks there by default.
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
        """Deploy another version of the service and wait until it has replaced the replicas."""
        before, self.updates = self.replicas(), self.updates + 1
        given = {"least": REPLICAS, "replicas": REPLICAS, "cpus": CPUS, "version": self.updates}
        self.serve.run(cluster.application(given), name=cluster.NAME)
        self.whole(lambda: not before & self.replicas())

    def join(self) -> None:
        """Add a node."""
        self.second = self.cluster.add_node(**self.common)

    def hang(self) -> None:
        """Suspend a replica, which keeps its connections, and wait until it is replaced."""
        hung = psutil.Process(min(self.replicas()))
        hung.suspend()
        self.whole(lambda: not hung.is_running())

    def lose(self) -> None:
        """Kill the second node with all its processes."""
        lost = self.of_second()
        for process in lost:
            process.kill()
        self.forget(lost)

    def silence(self) -> None:
        """Suspend all processes of the second node, which keep their connections."""
        lost = self.of_second()
        for process in lost:
            process.suspend()
        try:
            self.forget(lost)
        finally:
            for process in lost:
                process.kill()

    def head(self) -> None:
        """Kill the head's control service and the Serve controller, then start the control service again."""
        self.cluster.head_node.kill_gcs_server()
        for process in psutil.Process().children(recursive=True):
            if "ServeController" in name_of(process):
                process.kill()
        self.cluster.head_node.start_gcs_server()
        self.whole()

    def of_second(self) -> list[psutil.Process]:
        """Return the processes of the second node."""
        own = [psutil.Process(info.process.pid) for some in self.second.all_processes.values() for info in some]
        return [*own, *(child for process in own for child in process.children(recursive=True))]

    def forget(self, lost: list[psutil.Process]) -> None:
        """Wait until the lost node's replicas run elsewhere, then remove the node."""
        gone = {process.pid for process in lost}
        self.whole(lambda: len(self.replicas() - gone) == REPLICAS)
        self.cluster.worker_nodes.discard(self.second)

    def replicas(self) -> set[int]:
        """Return the ids of the processes with models."""
        return {replica.pid for replica in replicas_of(psutil.Process())}

    def whole(self, also: Callable[[], bool] = lambda: True) -> None:
        """Wait until all replicas run and ``also`` is true."""
        until(lambda: self.running() == REPLICAS and also())

    def running(self) -> int:
        """Return the number of replicas that Ray Serve reports as running."""
        try:
            told: Any = self.serve.status().applications[cluster.NAME]
        except Exception:  # While the head is down, Ray raises errors of any kind.
            return 0
        states = told.deployments[cluster.NAME].replica_states
        return int(states.get("RUNNING", 0)) if told.status == "RUNNING" and len(states) == 1 else 0

    def close(self) -> None:
        """Stop Ray and the cluster."""
        self.ray.shutdown()
        self.cluster.shutdown()


def until(true: Callable[[], bool]) -> None:
    """Wait for a condition, without a time limit; the parent process has the limit."""
    while not true():
        time.sleep(0.2)


def replicas_of(server: psutil.Process) -> list[psutil.Process]:
    """Return the processes of a server that contain models."""
    return [child for child in server.children(recursive=True) if "ServeReplica" in name_of(child)]


def name_of(process: psutil.Process) -> str:
    """Return the first argument of a process's command line, or "" if the process has ended."""
    try:
        return " ".join(process.cmdline()[:1])
    except psutil.Error:
        return ""


def main() -> int:
    """Serve until the input ends."""
    place = Path(tempfile.mkdtemp(prefix="hl-"))  # The path must be short, as in serving.cluster.
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
