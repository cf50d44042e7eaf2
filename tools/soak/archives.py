"""Container files taken apart and put together again, with right checksums, whatever they hold."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np

from .alter import Random, alter_array, alter_bytes, alter_json, dump_json


class Archive(NamedTuple):
    """``meta.json`` of a container as an object, and the bytes of its ``.npy`` entries."""

    header: dict[str, Any]
    entries: dict[str, bytes]

    @classmethod
    def read(cls, path: Path) -> Archive:
        """Take a file apart."""
        with zipfile.ZipFile(path) as file:
            content = {name: file.read(name) for name in file.namelist()}
        header = json.loads(content.pop("meta.json"))
        content.pop("checksum")
        return cls(header, content)

    def write(self, path: Path) -> None:
        """Put it together; checksums of what is there, so that only the contents are wrong."""
        specs = self.header.get("arrays")
        if isinstance(specs, dict):
            specs = {name: self._described(name, spec) for name, spec in specs.items()}
        meta = dump_json(self.header | {"arrays": specs})
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
            for name, content in self.entries.items():
                file.writestr(name, content)
            file.writestr("meta.json", meta)
            file.writestr("checksum", hashlib.sha256(meta).hexdigest())

    def _described(self, name: str, spec: Any) -> Any:
        content = self.entries.get(f"{name}.npy")
        if content is None or not isinstance(spec, dict):
            return spec
        return spec | {"sha256": hashlib.sha256(content).hexdigest()}

    def with_array(self, name: str, array: np.ndarray) -> Archive:
        """The same with another array, and its description."""
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, array, (1, 0), allow_pickle=False)
        spec = {"dtype": array.dtype.str, "shape": list(array.shape)}
        specs = {**_dict(self.header.get("arrays")), name: spec}
        entries = self.entries | {f"{name}.npy": buffer.getvalue()}
        return Archive(self.header | {"arrays": specs}, entries)

    def altered(self, random: Random, meta: str = "meta") -> Archive:
        """A copy with one alteration of ``header[meta]``, of an array or of its description."""
        what = random.random()
        if what < 0.5 or not self.entries:
            inner = alter_json(random, self.header.get(meta))
            return Archive(self.header | {meta: inner}, self.entries)
        name = random.choice(sorted(self.entries))
        if what < 0.9:
            with suppress(ValueError, EOFError, TokenError):  # its bytes were altered before
                array = np.load(io.BytesIO(self.entries[name]), allow_pickle=False)
                return self.with_array(name.removesuffix(".npy"), alter_array(random, array))
        if what < 0.95:
            entries = self.entries | {name: alter_bytes(random, self.entries[name])}
            return Archive(self.header, entries)
        return Archive(_dict(alter_json(random, self.header)), self.entries)


def _dict(value: Any) -> dict[str, Any]:
    """What an earlier alteration has left of a dict."""
    return value if isinstance(value, dict) else {}
