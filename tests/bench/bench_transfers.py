"""What sending files costs: many small ones in round trips, a big one beside a bare socket, a huge one in memory."""

import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path

from beaker.client.api import Api
from beaker.client.flows import upload_artifact
from beaker.client.local_files import SETTLED_SECONDS
from beaker.client.network import HttpTransport
from beaker.core.datasets import DatasetFile, manifest_digest

DELAY = 0.05
SMALL = 100
BIG = 256 << 20
HUGE = 4 << 30
BUFFER = 1 << 20


def main() -> None:
    """Print one line per figure."""
    with tempfile.TemporaryDirectory() as folder:
        small_files(Path(folder) / "small")
        big_file(Path(folder) / "big")
        huge_file(Path(folder) / "huge")


def small_files(folder: Path) -> None:
    """Upload 100 files of 1 KiB when every request takes 50 ms."""
    folder.mkdir()
    for number in range(SMALL):
        (folder / f"{number:03}").write_bytes(os.urandom(1024))
    with server(DELAY) as url:
        took = uploading(url, folder)
    print(f"{SMALL} files of 1 KiB:  {took / DELAY:5.1f} round trips of {DELAY * 1000:.0f} ms (target: at most 12)")


def big_file(folder: Path) -> None:
    """Upload a file of 256 MiB: hashing it and sending it."""
    folder.mkdir()
    file = folder / "big"
    with file.open("wb") as made:
        for _ in range(BIG >> 20):
            made.write(os.urandom(1 << 20))
    time.sleep(SETTLED_SECONDS + 0.2)  # one that has just changed would be hashed twice
    with server() as url:
        ours = min(uploading(url, folder) for _ in range(3))
        bare = min(sending_bare(url, file) for _ in range(3))
        started = time.perf_counter()
        with file.open("rb") as read:
            file_digest(read, "sha256")
        hashing = time.perf_counter() - started
    target = hashing + 1.3 * bare
    print(
        f"a file of 256 MiB:      {ours:.3f} s (target {target:.3f} s: hashing {hashing:.3f} + 1.3 x bare {bare:.3f})"
    )


def huge_file(folder: Path) -> None:
    """Upload a sparse file of 4 GiB in a process of its own, which says how much memory it took."""
    folder.mkdir()
    with (folder / "huge").open("wb") as made:
        made.truncate(HUGE)
    with server() as url:
        done = subprocess.run([sys.executable, __file__, url, str(folder)], capture_output=True, text=True, check=True)
    print(f"a file of 4 GiB:        {int(done.stdout) / 1024:.0f} MiB of memory (target: under 100)")


def uploading(url: str, folder: Path) -> float:
    """Seconds that the upload of a folder takes."""
    transport = HttpTransport(url, "key")
    started = time.perf_counter()
    upload_artifact(Api(transport, "agent"), folder).unwrap()
    took = time.perf_counter() - started
    transport.close()
    return took


def sending_bare(url: str, file: Path) -> float:
    """Seconds that sending a file through a bare socket takes, answer included."""
    host, port = url.removeprefix("http://").split(":")
    started = time.perf_counter()
    with socket.create_connection((host, int(port))) as connection, file.open("rb") as read:
        connection.sendall(f"PUT /x HTTP/1.1\r\nHost: {host}\r\nContent-Length: {BIG}\r\n\r\n".encode())
        while piece := read.read(BUFFER):
            connection.sendall(piece)
        connection.recv(BUFFER)
    return time.perf_counter() - started


@contextmanager
def server(delay: float = 0.0) -> Iterator[str]:
    """A server in a process of its own that takes every artifact, and lets each request wait."""
    process = subprocess.Popen([sys.executable, __file__, "serve", str(delay)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def serve(delay: float) -> None:
    """Answer until killed."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        print(url, flush=True)
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=converse, args=(connection, url, delay), daemon=True).start()


def converse(connection: socket.socket, url: str, delay: float) -> None:
    """Answer what comes over one connection. Bodies of files are counted and forgotten."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    buffer, space = b"", bytearray(BUFFER)
    while True:
        while b"\r\n\r\n" not in buffer:
            if not (came := connection.recv(BUFFER)):
                return
            buffer += came
        head, _, body = buffer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ")
        lengths = [line.split(":")[1] for line in lines[1:] if line.lower().startswith("content-length:")]
        left = int(lengths[0] if lengths else 0) - len(body)
        pieces = [body]
        while left > 0:
            count = connection.recv_into(space, min(left, BUFFER))
            left -= count
            if method != "PUT":
                pieces.append(bytes(space[:count]))
        buffer = b""
        time.sleep(delay)
        answer = b"" if method == "PUT" else json.dumps(said(path, b"".join(pieces), url)).encode()
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(answer)}\r\n\r\n".encode() + answer)


ANNOUNCED: list[str] = []


def said(path: str, body: bytes, url: str) -> object:
    """What an API answers that lacks every file."""
    if "/complete" not in path:
        files = json.loads(body)["files"]
        named = [DatasetFile(file["path"], file["size_bytes"], file["sha256"]) for file in files]
        ANNOUNCED.append(manifest_digest(named).unwrap())
        targets = [{"path": file.path, "upload_url": f"{url}/{file.path}"} for file in named]
        artifact = {"artifact_id": "a", "status": "PENDING", "manifest_digest": ANNOUNCED[-1]}
        return {"artifact": artifact, "files": targets}
    return {"artifact": {"artifact_id": "a", "status": "COMPLETE", "manifest_digest": ANNOUNCED[-1]}}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", delay]:
            serve(float(delay))
        case [url, folder]:
            uploading(url, Path(folder))
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        case _:
            main()
