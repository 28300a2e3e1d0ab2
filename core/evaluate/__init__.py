"""Evaluation: what a variant scores, with the conditions it was scored under. Nothing here changes a model."""
