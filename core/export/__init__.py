"""Export to ONNX: making the folder (onnx), the traced graph (trace), the check (parity), and running it (runtime).

`parity` and `runtime` need numpy, onnx and onnxruntime but not torch, so that what they show is what a user's machine would show.
"""
