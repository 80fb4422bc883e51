"""The native parts, by Triton's names."""
