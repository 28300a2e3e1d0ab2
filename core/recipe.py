"""Recipe: how a variant was made, as YAML that `spokeshave-cli run` turns into the same weights again.

A recipe names its original by name and fingerprint and lists every step from it, not only the last one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import UserError
from core.params import load_yaml

FORMAT = 1


class TextRef(BaseModel):
    """The text that a step read: a path, and the sha256 of what it held."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    sha256: str = ""


class LabelsRef(BaseModel):
    """Labelled examples: a file or a data set's name on the Hub, its columns ('': found), and the sha256 of what it held."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    sha256: str = ""
    text: str = ""
    label: str = ""


class ImagesRef(BaseModel):
    """Images: an .npz file or a folder of pictures, and the sha256 of what it held."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    sha256: str = ""


class Step(BaseModel):
    """One method with its settings. `text` is what calibration or training reads; None: the starter's training text.

    `labels`: the examples that a classifier learns from; None: those that the variant before it learnt from. `images`: what a
    diffusion model learns from; None: those that the variant before it learnt from, or the starter's, where they have its size.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    method: str
    params: dict[str, Any] = {}
    seed: int = 0
    text: TextRef | None = None
    labels: LabelsRef | None = None
    images: ImagesRef | None = None


class Source(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = ""
    origin: str = ""
    fingerprint: str = ""


class Recipe(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    spokeshave: int = FORMAT
    source: Source = Source()
    steps: tuple[Step, ...] = ()
    device: str = ""
    libraries: dict[str, str] = Field(default_factory=dict)

    def extended(self, step: Step, **changes: Any) -> Recipe:
        return self.model_copy(update={"steps": (*self.steps, step), **changes})

    @property
    def labels(self) -> LabelsRef | None:
        """The examples that the last step with any learnt from."""
        return next((step.labels for step in reversed(self.steps) if step.labels), None)

    @property
    def images(self) -> ImagesRef | None:
        """The images that the last step with any learnt from."""
        return next((step.images for step in reversed(self.steps) if step.images), None)

    def to_yaml(self) -> str:
        return yaml.safe_dump(self.model_dump(mode="json", exclude_none=True), sort_keys=False, allow_unicode=True)

    @classmethod
    def from_yaml(cls, text: str, *, where: str = "The recipe") -> Recipe:
        """Raises UserError where the text isn't YAML, isn't a recipe, or was written by a later Spokeshave."""
        try:
            data = load_yaml(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            raise UserError(
                "{where} isn't YAML: it breaks at line {line}.",
                hint="Mend that line, or copy the recipe anew.",
                where=where,
                line=mark.line + 1 if mark else 1,
                detail=str(error),
            ) from None
        if not isinstance(data, dict):
            raise UserError("{where} is empty or isn't a recipe.", hint="Copy one from a variant's inspector.", where=where)
        version = data.get("spokeshave")
        if version != FORMAT:
            raise UserError(
                "{where} is of format {version}; this Spokeshave reads format {known}.",
                hint="Its first line should be 'spokeshave: 1'.",
                where=where,
                version=version,
                known=FORMAT,
            )
        try:
            return cls(**data)
        except ValidationError as error:
            first = error.errors()[0]
            raise UserError(
                "{where} has a mistake at {place}: {reason}.",
                hint="Compare it with a recipe copied from a variant.",
                where=where,
                place=".".join(str(p) for p in first["loc"]),
                reason=first["msg"],
                detail=str(error),
            ) from None

    @classmethod
    def read(cls, path: Path) -> Recipe:
        try:
            return cls.from_yaml(path.read_text(encoding="utf-8"), where=path.name)
        except UnicodeDecodeError as error:
            raise UserError(
                "{path} can't be read as text.", hint="Choose a recipe, a .yaml file.", path=str(path), detail=str(error)
            ) from None
        except OSError as error:
            raise UserError(
                "{path} can't be read: {why}.", hint="Check the path.", path=str(path), why=error.strerror or str(error), detail=str(error)
            ) from None
