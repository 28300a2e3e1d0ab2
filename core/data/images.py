"""Images to teach and judge a diffusion model with: from an .npz file, or a folder of pictures.

An .npz file holds `images`, (n, height, width) or (n, height, width, channels) of bytes, and `labels`, (n,), where there are classes.
A folder holds pictures, or a folder of them for each class. What's read is turned into the model's own size and channels. Videos,
several pictures for one example, and captions aren't covered.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.errors import UserError

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif")
MOST, MOST_CLASSES = 200_000, 1000
HELDOUT = 5  # every fifth is kept aside


@dataclass(frozen=True, slots=True)
class Images:
    """pixels: (n, channels, height, width) of bytes, channels 1 or 3; labels: (n,), indices into classes, or None. sha256 is over both.

    numbered: whether the classes are the numbers that the labels were, so that some may be without images.
    """

    name: str
    path: str
    sha256: str
    pixels: Tensor
    labels: Tensor | None = None
    classes: tuple[str, ...] = ()
    numbered: bool = False

    def __len__(self) -> int:
        return len(self.pixels)

    def fitted(self, shape: tuple[int, int, int]) -> Tensor:
        """(n, *shape) in [-1, 1], shape being (channels, height, width): grey from colours or colours from grey, then resized."""
        channels, height, width = shape
        x = self.pixels.float() / 127.5 - 1
        if x.shape[1] == 3 and channels == 1:
            x = (x * torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)).sum(1, keepdim=True)
        elif x.shape[1] == 1 and channels == 3:
            x = x.expand(-1, 3, -1, -1)
        elif x.shape[1] != channels:
            raise UserError(
                "{name} has images of {have} channels, and the model draws {want}.",
                hint="Choose images that are grey or in colours, or another model.",
                kind="data",
                name=self.name,
                have=x.shape[1],
                want=channels,
            )
        if x.shape[2:] != (height, width):
            x = F.interpolate(x, (height, width), mode="bilinear", antialias=True, align_corners=False)
        return x.contiguous()

    def changed(self, shape: tuple[int, int, int]) -> list[str]:
        """What `fitted` does to them, in words; [] where they're as the model draws."""
        channels, height, width = shape
        (had, h, w), notes = self.pixels.shape[1:], []
        if (h, w) != (height, width):
            notes.append(f"The images of {w} x {h} pixels were resized to the {width} x {height} that the model draws.")
        if had != channels:
            notes.append(
                "The images were made grey, as the model draws." if channels == 1 else "The grey images were taken as coloured ones."
            )
        return notes

    def split(self) -> tuple[Tensor, Tensor]:
        """(row numbers to learn from, those kept aside): every fifth of a fixed shuffling."""
        order = torch.randperm(len(self), generator=torch.Generator().manual_seed(0))
        aside = torch.arange(len(self)) % HELDOUT == 0
        return order[~aside], order[aside]


def read_images(path: str | Path) -> Images:
    """Raises UserError: nothing there, an array of another form, pictures of several sizes, fewer than 50."""
    path = Path(path).expanduser()
    if not path.exists():
        raise UserError("{path} doesn't exist.", hint="Choose an .npz file or a folder of pictures.", kind="data", path=str(path))
    if path.is_dir():
        found = _folder(path)
    elif path.suffix.lower() == ".npz":
        found = _npz(path)
    else:
        raise UserError(
            "{path} isn't a set of images.",
            hint="Choose an .npz file with an array 'images', or a folder of pictures.",
            kind="data",
            path=str(path),
        )
    if len(found) < 50:
        raise UserError(
            "{name} has {count} images, too few to learn from.",
            hint="Choose a set of at least 50.",
            kind="data",
            name=found.name,
            count=len(found),
        )
    return found


def _npz(path: Path) -> Images:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            images, labels = arrays.get("images"), arrays.get("labels")
    except Exception as error:  # numpy, zipfile and zlib raise many kinds, and an .npy under this name one more
        raise UserError(
            "{name} can't be read.", hint="Make or download it again.", kind="data", name=path.name, detail=repr(error)
        ) from error
    if images is None or images.dtype != np.uint8 or images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] not in (1, 3)):
        raise UserError(
            "{name} has no array 'images' of bytes, (n, height, width) or (n, height, width, channels).",
            hint="Save it by numpy.savez(path, images=..., labels=...).",
            kind="data",
            name=path.name,
        )
    pixels = torch.from_numpy(np.ascontiguousarray(images if images.ndim == 4 else images[..., None])).permute(0, 3, 1, 2).contiguous()
    if labels is None:
        return _made(path, pixels, None, ())
    labels = labels.reshape(-1) if labels.size == len(images) else labels
    if labels.shape != (len(images),):
        raise UserError(
            "{name} has {images} images and {labels} labels.",
            hint="Each image needs one label, or leave all of them out.",
            kind="data",
            name=path.name,
            images=len(images),
            labels=int(np.prod(labels.shape)),
        )
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < MOST_CLASSES:
        return _made(path, pixels, torch.from_numpy(labels.astype(np.int64)), tuple(map(str, range(int(labels.max()) + 1))), True)
    classes, indices = np.unique(labels, return_inverse=True)
    return _made(path, pixels, torch.from_numpy(indices.astype(np.int64)), tuple(str(c) for c in classes))


def _folder(folder: Path) -> Images:
    from PIL import Image

    inside = sorted(p for p in folder.iterdir() if p.is_dir())
    groups = [(p.name, sorted(f for f in p.iterdir() if f.suffix.lower() in PICTURES)) for p in inside]
    groups = [(name, files) for name, files in groups if files]
    numbered = len(groups) > 1 and all(name.isdecimal() and int(name) < MOST_CLASSES for name, _ in groups)
    plain = sorted(f for f in folder.iterdir() if f.suffix.lower() in PICTURES)
    if groups and plain:
        raise UserError(
            "{name} has pictures both in folders and beside them, so their classes aren't known.",
            hint="Put all of them into folders, one for each class, or none.",
            kind="data",
            name=folder.name,
        )
    groups = groups or [("", plain)]
    if sum(len(files) for _, files in groups) > MOST:
        raise UserError("{name} holds more than {most} pictures.", hint="Choose fewer.", kind="data", name=folder.name, most=f"{MOST:,}")
    pixels, labels, sizes = [], [], set()
    for number, (name, files) in enumerate(groups):
        for file in files:
            try:
                with Image.open(file) as picture:
                    array = _bytes_of(picture)
            except (OSError, ValueError) as error:
                raise UserError(
                    "The picture {file} can't be read.", hint="Remove it, or save it anew.", kind="data", file=file.name, detail=repr(error)
                ) from error
            sizes.add(array.shape[:2])
            pixels.append(torch.from_numpy(array.copy()).permute(2, 0, 1))
            labels.append(int(name) if numbered else number)
    if not pixels:
        raise UserError("{name} holds no pictures.", hint="Choose a folder of PNG or JPEG files.", kind="data", name=folder.name)
    if len(sizes) > 1:
        raise UserError(
            "The pictures in {name} differ in size ({sizes}).",
            hint="Bring them to one size first.",
            kind="data",
            name=folder.name,
            sizes=", ".join(f"{width} x {height}" for height, width in sorted(sizes)[:3]),
        )
    if len({len(p) for p in pixels}) > 1:  # grey ones beside coloured ones
        pixels = [p.expand(3, -1, -1) for p in pixels]
    if len(groups) < 2:
        return _made(folder, torch.stack(pixels), None, ())
    classes = tuple(map(str, range(max(labels) + 1))) if numbered else tuple(name for name, _ in groups)
    return _made(folder, torch.stack(pixels), torch.tensor(labels), classes, numbered)


def _bytes_of(picture: Any) -> np.ndarray:
    """(height, width, 1 or 3) bytes of a Pillow picture; what's transparent is white. Raises ValueError for one of floating numbers."""
    from PIL import Image

    if picture.mode.startswith("I"):  # 16 bits, or 32 that hold as many
        return (np.asarray(picture).astype(np.int64).clip(0, 65_535) // 257).astype(np.uint8)[..., None]
    if picture.mode == "F":
        raise ValueError("its pixels are floating numbers, whose range isn't known")
    if "A" in picture.mode or "transparency" in picture.info:
        whole = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", whole.size, "white"), whole)
    array = np.asarray(picture.convert("RGB"))
    return array[..., :1] if (array[..., :1] == array).all() else array


def _made(path: Path, pixels: Tensor, labels: Tensor | None, classes: tuple[str, ...], numbered: bool = False) -> Images:
    digest = hashlib.sha256(str(tuple(pixels.shape)).encode())
    digest.update(pixels.numpy().tobytes())
    if labels is not None:
        digest.update(labels.numpy().tobytes())
    return Images(path.name, str(path), digest.hexdigest(), pixels, labels, classes, numbered)
