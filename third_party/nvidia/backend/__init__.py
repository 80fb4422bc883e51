"""The NVIDIA backend: compiler and drivers."""
