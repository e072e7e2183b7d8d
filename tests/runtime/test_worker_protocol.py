"""The protocol: its page is true, and lines are cut right however they arrive."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.runtime.protocol import MAX_MESSAGE, Lines, ProtocolError, decode, encode

PAGE = Path(__file__).parents[2] / "docs" / "worker-protocol.md"


def test_documented_conversation__is_what_a_child_says(project):
    """The conversation on the page, replayed with a bare child process, line by line."""
    (block,) = re.findall(r"```text\n(> .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    pipes = [os.pipe() for _ in range(3)]
    (commands, to_child), (from_child, replies), (life, host_life) = pipes
    argv = [sys.executable, "-P", "-m", "beaker.runtime.child", "rollout", *map(str, (commands, replies, life))]
    child = subprocess.Popen(argv, pass_fds=(commands, replies, life), cwd=project.root)
    for descriptor in (commands, replies, life):
        os.close(descriptor)
    with os.fdopen(to_child, "wb", buffering=0) as write, os.fdopen(from_child, "rb") as read:
        for line in block.splitlines():
            if line.startswith("> "):
                sent = line[2:].replace("/checkout", str(project.root)).replace("/scratch", str(project.scratch))
                write.write(sent.replace("/files", str(project.case_files)).encode() + b"\n")
            else:
                said, expected = json.loads(read.readline()), json.loads(line[2:])
                for key, written in expected["ok"].items():
                    if written == "...":  # a time or a path
                        said["ok"][key] = written
                assert said == expected
        assert child.wait(20) == 0
    os.close(host_life)


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text())), st.integers(1, 50))
def test_lines__however_cut__give_every_message(messages, size):
    """Messages survive any division of their bytes into pieces."""
    data = b"".join(map(encode, messages))
    lines = Lines()
    found = [line for start in range(0, len(data), size) for line in lines.feed(data[start : start + size])]
    assert [decode(line) for line in found] == messages


@pytest.mark.parametrize("line", [b"", b"{", b"[1]", b'{"a": NaN}', b"\xff", b"[" * 100_000])
def test_decode__no_message__is_a_protocol_error(line):
    """What is no JSON object is refused in one way."""
    with pytest.raises(ProtocolError):
        decode(line)


def test_lines__endless_line__is_refused():
    """A line beyond the limit is refused before it fills the memory."""
    lines = Lines()
    for _ in range(MAX_MESSAGE // (1 << 20)):
        assert list(lines.feed(b"x" * (1 << 20))) == []
    with pytest.raises(ProtocolError, match="longer"):
        list(lines.feed(b"x"))
