"""Decoding: the target alone, or a draft and a target that checks it. Knows tokens and probabilities; no files, no screen."""
