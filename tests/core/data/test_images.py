"""Images: what's read from files and folders, what's refused, and how they're fitted to a model."""

import numpy as np
import pytest
import torch
from PIL import Image

import resources
from core.data.images import read_images
from core.errors import UserError


def save(path, images, labels=None):
    np.savez(path, images=images, **({} if labels is None else {"labels": labels}))
    return path


def test_the_starter_digits():
    found = read_images(resources.DIGITS)
    assert found.pixels.shape == (1797, 1, 8, 8)
    assert found.classes == tuple("0123456789")
    x = found.fitted((1, 8, 8))
    assert x.min() == -1
    assert x.max() == 1
    learn, aside = found.split()
    assert sorted(torch.cat([learn, aside]).tolist()) == list(range(1797))
    assert len(aside) == 360


def test_an_array_without_classes(tmp_path):
    found = read_images(save(tmp_path / "a.npz", np.zeros((60, 4, 5, 3), np.uint8)))
    assert found.pixels.shape == (60, 3, 4, 5)
    assert found.labels is None
    assert found.fitted((1, 8, 10)).shape == (60, 1, 8, 10)
    assert found.changed((3, 4, 5)) == []
    resized, grey = found.changed((1, 8, 10))
    assert resized.startswith("The images of 5 x 4 pixels were resized to the 10 x 8")
    assert "grey" in grey


def test_classes_are_named_as_the_labels_are(tmp_path):
    found = read_images(save(tmp_path / "a.npz", np.zeros((60, 4, 4), np.uint8), np.repeat([7, 3], 30)))
    assert found.numbered
    assert found.classes == tuple("01234567")
    assert found.labels.tolist() == [7] * 30 + [3] * 30
    named = read_images(save(tmp_path / "b.npz", np.zeros((60, 4, 4), np.uint8), np.repeat(["b", "a"], 30)))
    assert (named.classes, named.numbered) == (("a", "b"), False)
    assert named.labels.tolist() == [1] * 30 + [0] * 30


def test_folders_that_are_numbers_are_classes_of_those_numbers(tmp_path):
    for number in range(12):
        place = tmp_path / "set" / str(number)
        place.mkdir(parents=True)
        for copy in range(5):
            Image.fromarray(np.full((4, 4), 10 * number, np.uint8)).save(place / f"{copy}.png")
    found = read_images(tmp_path / "set")
    assert found.classes == tuple(map(str, range(12)))
    assert torch.equal(found.pixels[:, 0, 0, 0].long(), 10 * found.labels)


def test_pictures_of_every_kind_come_as_bytes(tmp_path):
    grey = np.linspace(0, 255, 16).astype(np.uint8).reshape(4, 4)
    kinds = {
        "l": Image.fromarray(grey),
        "p": Image.fromarray(grey).convert("P"),
        "deep": Image.fromarray(grey.astype(np.uint16) * 257),
        "rgba": Image.merge("RGBA", [Image.fromarray(grey)] * 3 + [Image.new("L", (4, 4), 255)]),
        "clear": Image.new("RGBA", (4, 4), (9, 9, 9, 0)),
    }
    (tmp_path / "set").mkdir()
    for copy in range(10):
        for name, picture in kinds.items():
            picture.save(tmp_path / "set" / f"{name}-{copy}.png")
    found = read_images(tmp_path / "set")
    assert found.pixels.shape == (50, 1, 4, 4)
    order = sorted(f"{name}-{copy}.png" for name in kinds for copy in range(10))
    for name, pixels in zip(order, found.pixels[:, 0], strict=True):
        want = np.full((4, 4), 255) if name.startswith("clear") else grey
        assert np.array_equal(pixels.numpy(), want), name


def test_what_is_read_is_the_same_from_a_folder(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (60, 6, 6), dtype=np.uint8)
    for number, one in enumerate(pixels):
        place = tmp_path / "set" / ("cat" if number < 30 else "dog")
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(one).save(place / f"{number:03}.png")
    found = read_images(tmp_path / "set")
    assert found.classes == ("cat", "dog")
    assert torch.equal(found.pixels[:, 0], torch.from_numpy(pixels))
    assert found.labels.tolist() == [0] * 30 + [1] * 30


def test_grey_and_colours_become_one_another(tmp_path):
    colours = read_images(save(tmp_path / "a.npz", np.full((50, 4, 4, 3), 255, np.uint8)))
    assert torch.allclose(colours.fitted((1, 4, 4)), torch.ones(50, 1, 4, 4), atol=1e-6)
    grey = read_images(save(tmp_path / "b.npz", np.zeros((50, 4, 4), np.uint8)))
    assert torch.equal(grey.fitted((3, 4, 4)), -torch.ones(50, 3, 4, 4))
    with pytest.raises(UserError, match="channels"):
        grey.fitted((4, 4, 4))


@pytest.mark.parametrize("what", ["nothing", "text", "floats", "labels", "few", "empty", "sizes", "mixed", "damaged", "picture"])
def test_what_is_refused(tmp_path, what):
    path = tmp_path / "a.npz"
    said = "can't be read"
    if what == "nothing":
        said = "doesn't exist"
    elif what == "text":
        path, said = tmp_path / "a.txt", "isn't a set"
        path.write_text("x")
    elif what == "floats":
        said = "no array 'images' of bytes"
        save(path, np.zeros((60, 4, 4)))
    elif what == "labels":
        said = "60 images and 3 labels"
        save(path, np.zeros((60, 4, 4), np.uint8), np.arange(3))
    elif what == "few":
        said = "3 images, too few"
        save(path, np.zeros((3, 4, 4), np.uint8))
    elif what == "damaged":
        path.write_bytes(b"PK\x03\x04 no archive")
    else:
        path = tmp_path / "set"
        path.mkdir()
        said = {"empty": "no pictures", "sizes": "differ in size", "mixed": "beside them", "picture": "can't be read"}[what]
        if what in ("sizes", "mixed"):
            Image.new("L", (4, 4)).save(path / "a.png")
            inside = path / "b" if what == "mixed" else path
            inside.mkdir(exist_ok=True)
            Image.new("L", (5, 4)).save(inside / "b.png")
        elif what == "picture":
            (path / "a.png").write_bytes(b"not a picture")
    with pytest.raises(UserError, match=said):
        read_images(path)
