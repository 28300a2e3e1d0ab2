"""The window. Sees records, events and the workspace of `core`; never torch, and never a model's weights."""
