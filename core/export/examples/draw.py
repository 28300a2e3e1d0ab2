"""Draws images with the model in this folder: python example.py images.png [count] [steps] [seed]

Needs numpy and onnxruntime: pip install numpy onnxruntime
By DDIM without noise of its own: the same seed draws the same images. A model with classes draws them in turn.
"""

import itertools
import json
import math
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import onnxruntime

FOLDER = Path(__file__).resolve().parent


def kept(config: dict) -> np.ndarray:
    """(T,): the share of an image's variance that's left at each level of noise."""
    total, low, high = config.get("num_train_timesteps", 1000), config.get("beta_start", 1e-4), config.get("beta_end", 0.02)
    kind = config.get("beta_schedule", "linear")
    if config.get("trained_betas") is not None:
        betas = np.array(config["trained_betas"], np.float64)
    elif kind == "linear":
        betas = np.linspace(low, high, total)
    elif kind == "scaled_linear":
        betas = np.linspace(low**0.5, high**0.5, total) ** 2
    else:  # squaredcos_cap_v2
        left = np.cos((np.arange(total + 1) / total + 0.008) / 1.008 * math.pi / 2) ** 2
        betas = np.minimum(1 - left[1:] / left[:-1], 0.999)
    found = np.cumprod(1 - betas)
    if config.get("rescale_betas_zero_snr"):
        root = np.sqrt(found)
        found = ((root - root[-1]) * root[0] / (root[0] - root[-1])) ** 2
    return found


def levels(config: dict, steps: int) -> list[int]:
    """The levels of noise that are gone through, from the noisiest on; -1, the image itself, is the last."""
    total, spacing = config.get("num_train_timesteps", 1000), config.get("timestep_spacing", "leading")
    if spacing == "trailing":
        found = [round(total - i * total / steps) - 1 for i in range(steps)]
    elif spacing == "linspace":
        found = [round((total - 1) * (1 - i / max(1, steps - 1))) for i in range(steps)]
    else:
        found = [min(total - 1, (steps - 1 - i) * (total // steps) + config.get("steps_offset", 0)) for i in range(steps)]
    return [*found, -1]


def draw(session, config: dict, noise: np.ndarray, steps: int, kinds: np.ndarray | None = None) -> np.ndarray:
    """Images (n, channels, height, width) in [-1, 1] from noise of that shape; kinds (n,): their classes."""
    left = kept(config)
    last = 1.0 if config.get("set_alpha_to_one", True) else left[0]
    left = np.append(left, last)  # at -1
    clip = config.get("clip_sample_range", 1.0) if config.get("clip_sample", True) and config["_class_name"].startswith("DD") else 0
    prediction, z = config.get("prediction_type", "epsilon"), noise.astype(np.float32)
    path = levels(config, steps)
    for t, to in itertools.pairwise(path):
        feeds = {"sample": z, "timestep": np.full(len(z), t, np.int64), "class_labels": kinds}
        out = session.run(["out_sample"], {i.name: feeds[i.name] for i in session.get_inputs()})[0]
        alpha, sigma = np.float32(left[t] ** 0.5), np.float32((1 - left[t]) ** 0.5)
        if prediction == "v_prediction":
            image, e = alpha * z - sigma * out, sigma * z + alpha * out
        elif prediction == "sample":
            image, e = out, (z - alpha * out) / max(sigma, np.float32(1e-8))
        else:
            image, e = (z - sigma * out) / alpha if alpha > 1e-6 else np.zeros_like(z), out
        if clip:
            image = image.clip(-clip, clip)
        z = np.float32(left[to] ** 0.5) * image + np.float32((1 - left[to]) ** 0.5) * e
    return z.clip(-1, 1)


def png(images: np.ndarray) -> bytes:
    """The images side by side: of one channel in grey, of three in colour."""
    row = np.concatenate(list(images), axis=2).transpose(1, 2, 0)  # (height, n * width, channels)
    pixels = ((row + 1) * 127.5).round().astype(np.uint8)
    height, width, channels = pixels.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def main(to: str, count: int = 4, steps: int = 0, seed: int = 0) -> None:
    config = json.loads((FOLDER / "scheduler" / "scheduler_config.json").read_text(encoding="utf-8"))
    index = json.loads((FOLDER / "model_index.json").read_text(encoding="utf-8"))
    # other processors: onnxruntime.get_available_providers() names those that this installation has
    session = onnxruntime.InferenceSession(str(FOLDER / "unet" / "model.onnx"), providers=["CPUExecutionProvider"])
    classes = json.loads((FOLDER / "unet" / "config.json").read_text(encoding="utf-8")).get("num_class_embeds")
    shape = next(i.shape for i in session.get_inputs() if i.name == "sample")
    noise = np.random.default_rng(seed).standard_normal((count, *shape[1:]), np.float32)
    kinds = np.arange(count) % classes if classes else None
    steps = steps or index.get("_sampling_steps") or min(32, config.get("num_train_timesteps", 1000))
    Path(to).write_bytes(png(draw(session, config, noise, steps, kinds)))


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:5]))
