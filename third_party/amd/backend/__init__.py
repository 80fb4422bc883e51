"""The AMD backend: compiler and driver."""
