"""Expression graphs: traced from NumPy, read from PyTensor and SciPy, rewritten and folded."""
