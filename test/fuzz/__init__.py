"""Random kernels: valid programs of the language, run in two ways that must agree."""
