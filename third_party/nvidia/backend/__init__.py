"""The NVIDIA backend: compiler and drivers."""

TARGETS = ["cuda"]
