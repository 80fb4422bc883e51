"""The AMD backend: compiler and driver."""

TARGETS = ["hip"]
