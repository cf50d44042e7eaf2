"""Count lines of code, without docstrings, comments and blank lines, for each folder.

    python tools/code_lines.py [FOLDER ...]

A line counts if it holds at least one token of code; a string that is a statement by itself, such
as a docstring, is not code. Without arguments the folders are src/maxmargin and what is inside it.
"""

import sys
import tokenize
from collections import Counter
from pathlib import Path

SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(path: Path) -> int:
    """The number of lines of a file that hold code."""
    lines: set[int] = set()
    statement: list[tokenize.TokenInfo] = []
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.NEWLINE:
                if any(part.type != tokenize.STRING for part in statement):
                    lines.update(n for t in statement for n in range(t.start[0], t.end[0] + 1))
                statement = []
            elif token.type not in SILENT:
                statement.append(token)
    return len(lines)


def main(folders: list[str]) -> None:
    """Print one line per folder directly below each given one, and the total."""
    for root in map(Path, folders):
        counts = Counter[str]()
        for path in sorted(root.rglob("*.py")):
            inside = path.relative_to(root).parts
            counts[inside[0] if len(inside) > 1 else "."] += code_lines(path)
        for name, count in sorted(counts.items()):
            print(f"{count:7,}  {root / name}")
        print(f"{counts.total():7,}  {root}, total")


if __name__ == "__main__":
    main(sys.argv[1:] or ["src/maxmargin"])
