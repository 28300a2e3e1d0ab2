"""Pruning: weights, or whole parts, that the model does without."""
