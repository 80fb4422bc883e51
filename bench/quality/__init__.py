"""What `bench/regress.py` is made of: kernels, and what their code takes."""
