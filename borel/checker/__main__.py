"""``python -m borel.checker FILE ...``: verify certificates, one JSON file each.

It says of each what was verified, in words, and what is taken on trust; the exit code is 1 if one
is refused.
"""

from __future__ import annotations

import sys

from borel.checker import Refused, verify
from borel.checker.reading import parse


def main(paths: list[str]) -> int:
    """Verify the files, print what came of each, and return the exit code."""
    if not paths:
        print("usage: python -m borel.checker FILE ...", file=sys.stderr)
        return 2
    refused = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                found = verify(parse(file.read()))
        except (OSError, UnicodeDecodeError) as error:
            print(f"{path}: not read: {error}", file=sys.stderr)
            refused += 1
        except Refused as error:
            print(f"{path}: {_plain(str(error))}")
            refused += 1
        else:
            print(f"{path}: verified: {_plain(found.words)}")
            for sentence in found.trust:
                print(f"  on trust: {sentence}")
    return 1 if refused else 0


def _plain(words: str) -> str:
    """Escape what a label may hold to look like another line, or what cannot be printed."""
    return "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
