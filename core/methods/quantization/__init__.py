"""Quantization: the same weights in fewer bits."""
