"""Spokeshave's engine: no Qt, no screen. Imports go strictly down the floors that pyproject.toml lists."""

__version__ = "0.1.0"
