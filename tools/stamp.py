"""Write the hash of the kernel sources into compiled.py and m_best_compiled.py.

numba's disk cache looks only at the file that defines a function: this makes those files change
whenever a kernel that is compiled into them does.
"""

import hashlib
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "maxmargin"
COMPILED = (PACKAGE / "compiled.py", PACKAGE / "m_best_compiled.py")
LINE = re.compile(r'^SOURCES = "[0-9a-f]*"$', re.MULTILINE)


def source_hash() -> str:
    """Hash of every file whose functions are compiled into the bindings."""
    names = ("ascent.py", "borrow.py", "linalg.py", "loops.py", "m_best_loops.py", "problem.py")
    sources = [PACKAGE / name for name in names]
    sources += sorted((PACKAGE / "problems").glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def main() -> int:
    """Stamp the files; the exit code is 1 when one had to change, as pre-commit expects."""
    changed = 0
    for path in COMPILED:
        text = path.read_text()
        stamped = LINE.sub(f'SOURCES = "{source_hash()}"', text)
        if stamped != text:
            path.write_text(stamped)
            print("stamped", path.name)
            changed = 1
    return changed


if __name__ == "__main__":
    sys.exit(main())
