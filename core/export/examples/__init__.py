"""Scripts that are put beside an exported graph as example.py: each runs it with numpy, onnxruntime and tokenizers alone."""
