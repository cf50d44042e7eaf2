"""Training data in files that are packed into arrays on disk, for ``maxmargin train chain``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...backends.files import FileData, Files
from ...errors import DataError, MaxMarginError
from ...io.sources import byte_blocks, display_name, open_source
from ..files import Examples
from .options import ChainOptions
from .reading import recognise


@dataclass(frozen=True)
class PackedExamples(Examples):
    """Sequences whose labels and features are known, and which are mapped into memory to train."""

    X: FileData


def pack_training(paths: list[str], options: ChainOptions, verbose: int) -> PackedExamples:
    """Collect the labels and features of files; those that are in the cache are not read again."""
    if "-" in paths:
        raise MaxMarginError("standard input cannot be packed, as it is read twice: name files")
    form = options.format
    label = -1 if options.label is None else options.label
    with open_source(paths[0]) as stream:
        form = recognise(stream, paths[0]) if form == "auto" else form
        columns = 0 if form == "hmm" else _count_columns(stream)
    if form == "hmm":
        options.check_for_hmm()
    files = Files(paths, form, label=label, cache=options.cache)
    template = None if form == "hmm" else options.template or "default"
    data = FileData(files, None, template, options.min_count, verbose)
    description: dict[str, Any] = {"format": "hmm"}
    if form == "conll":
        description = {"format": "conll", "columns": columns - 1, "label": label}
    names = display_name(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    size = f"{data.n:,} sequences, {int(data.counts.sum()):,} tokens"
    return PackedExamples(data, None, names, size, form=description)


def _count_columns(stream: Any) -> int:
    """The number of columns of the first token."""
    for _, block in byte_blocks(stream):
        for line in block.splitlines():
            words = line.split()
            if words and words[0] != b"-DOCSTART-":
                return len(words)
    raise DataError("contains no tokens", display_name(stream))
