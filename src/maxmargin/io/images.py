"""Files of images with a label for each pixel.

An npz file has these arrays:

======= ============== ======================================================================
pixels  (total, d)     the pixels of all images, row by row, one image after the other
shapes  (images, 2)    the height and width of each image
labels  (total,)       numbers or strings; optional, for prediction
======= ============== ======================================================================

Alternatively a folder has two folders: ``images`` with pictures, and ``masks`` with pictures of the
same names and sizes (the suffix may differ), whose pixels are the numbers of labels. Pictures are
read by pillow; their channels are divided by 255.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..data.sequences import offsets_of
from ..errors import DataError, MaxMarginError
from ..saving.atomic import atomic_file
from .npz import npz_bytes, read_npz
from .sources import display_name

#: The suffixes of pictures.
PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"}


def read_images(path: Any) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """Read images and the labels of their pixels.

    Parameters
    ----------
    path : str, path or binary file object
        A folder or an npz file.

    Returns
    -------
    X : list of arrays (h, w, d)
    Y : list of arrays (h, w), or None
        None if there are no labels.

    Raises
    ------
    DataError
        If a file cannot be read, or does not fit the others; the message names it.
    """
    if isinstance(path, str | Path) and Path(path).is_dir():
        return _read_folder(Path(path))
    try:
        return _split(read_npz(path))
    except DataError as error:
        raise DataError(error.message, path=error.path or display_name(path)) from error


def image_arrays(X: Any, Y: Any = None) -> dict[str, np.ndarray]:
    """The arrays of an npz file of images, by name."""
    arrays = {
        "pixels": np.concatenate([np.reshape(x, (-1, np.shape(x)[2])) for x in X]),
        "shapes": np.array([np.shape(x)[:2] for x in X]),
    }
    if Y is not None:
        arrays["labels"] = np.concatenate([np.ravel(y) for y in Y])
    return arrays


def write_images(path: Any, X: Any, Y: Any = None) -> None:
    """Write images, and labels of their pixels if given, to an npz file."""
    with atomic_file(path) as file:
        file.write(npz_bytes(image_arrays(X, Y)))


def _split(arrays: dict[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    for name, ndim in (("pixels", 2), ("shapes", 2)):
        if name not in arrays or arrays[name].ndim != ndim:
            raise DataError(
                f"needs an array {name!r} of {ndim} dimensions; see maxmargin.io.images"
            )
    pixels, shapes, labels = arrays["pixels"], arrays["shapes"], arrays.get("labels")
    if shapes.shape[1:] != (2,) or shapes.dtype.kind not in "iu" or (shapes < 0).any():
        raise DataError("shapes must be the height and width of each image, integers >= 0")
    shapes = shapes.astype(np.int64)
    ends = offsets_of(shapes.prod(axis=1))
    if ends[-1] != len(pixels):
        raise DataError(f"the shapes have {ends[-1]} pixels, but there are {len(pixels)}")
    if labels is not None and (labels.shape != (len(pixels),) or labels.dtype.kind not in "biufU"):
        raise DataError(
            f"labels is an array of {labels.dtype} of shape {labels.shape}: it must have a number "
            f"or a string for each of the {len(pixels)} pixels"
        )
    places = list(zip(ends.tolist(), ends[1:].tolist(), shapes.tolist(), strict=False))
    X = [pixels[a:b].reshape(h, w, -1) for a, b, (h, w) in places]
    return X, None if labels is None else [labels[a:b].reshape(h, w) for a, b, (h, w) in places]


def _read_folder(folder: Path) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    images, masks = _pictures(folder / "images"), _pictures(folder / "masks")
    if not images:
        raise DataError("has no folder 'images' with pictures", path=str(folder))
    X = [_open(path, mask=False) for path in images.values()]
    if not masks:
        return X, None
    Y = []
    for (name, path), x in zip(images.items(), X, strict=True):
        if name not in masks:
            raise DataError("has no mask of the same name", path=str(path))
        Y.append(_open(masks[name], mask=True))
        if Y[-1].shape != x.shape[:2]:
            raise DataError(
                f"has {Y[-1].shape[0]} x {Y[-1].shape[1]} pixels, its image {x.shape[0]} x "
                f"{x.shape[1]}",
                path=str(masks[name]),
            )
    return X, Y


def _pictures(folder: Path) -> dict[str, Path]:
    """The pictures of a folder by name without suffix, in the order of names."""
    if not folder.is_dir():
        return {}
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES)
    return {path.stem: path for path in found}


def _open(path: Path, mask: bool) -> np.ndarray:
    """A picture as an array: RGB (h, w, 3) in [0, 1], or labels (h, w)."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MaxMarginError("reading pictures needs pillow: pip install pillow") from error
    try:
        with Image.open(path) as picture:
            if not mask:
                return np.asarray(picture.convert("RGB"), np.float64) / 255
            labels = np.asarray(picture)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"is not a picture that pillow reads: {error}", path=str(path)) from error
    if labels.ndim != 2:
        raise DataError("has several channels: a mask has one, the number of the label", str(path))
    return labels.astype(np.int64)
