"""Models: what they are, bringing them in, loading, saving, packed weights, size, and checking what was saved."""
