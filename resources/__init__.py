"""Files that come with Spokeshave: starter models and texts, icons, fonts, translations."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent
STARTER_TARGET = ROOT / "starter" / "shakespeare-7m"
STARTER_DRAFT = ROOT / "starter" / "shakespeare-1m"
TRAIN_TEXT = ROOT / "starter" / "train.txt"
HELDOUT_TEXT = ROOT / "starter" / "heldout.txt"
DIGITS = ROOT / "starter" / "digits.npz"
STARTER_DIFFUSION = ROOT / "starter" / "digits-ddpm"
