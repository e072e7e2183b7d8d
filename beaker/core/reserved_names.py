"""Names that belong to Git and to Beaker, under every spelling that some file system takes for them.

A document written to `.git/hooks` or `.beaker` would be a program or a configuration, not a document. HFS+ ignores
invisible characters in names, NTFS ignores case, trailing dots and blanks and a stream's name, and knows `.git` as
`git~1` too. Git refuses the same look-alikes of `.git`.
"""

import re
import unicodedata

from beaker.core.text import collision_key

_GIT = re.compile(r"(?:\.git|git~1)[\s.]*(?::.*)?", re.DOTALL)
_BEAKER = re.compile(r"(?:\.beaker|beaker~[1-4])[\s.]*(?::.*)?", re.DOTALL)


def is_git_name(part: str) -> bool:
    """Whether some file system takes this component of a path for `.git`."""
    return _GIT.fullmatch(_folded(part)) is not None


def reserved_part(path: str) -> str | None:
    """The first component of `path` that some file system takes for `.git` or `.beaker`, `None` when there is none."""
    # Nearly every name ends here: such a component begins with a dot, holds a tilde, or is not ASCII.
    if path.isascii() and not path.startswith(".") and "/." not in path and "~" not in path:
        return None
    for part in path.split("/"):
        folded = _folded(part)
        if _GIT.fullmatch(folded) or _BEAKER.fullmatch(folded):
            return part
    return None


def _folded(part: str) -> str:
    if not part.isascii():
        part = "".join(character for character in part if unicodedata.category(character) != "Cf")
    return collision_key(part)
