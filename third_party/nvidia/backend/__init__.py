"""The NVIDIA backend: compiler and drivers."""

TARGETS = ["cuda"]
#: What the simulator stands for where nobody says.
SIMULATED = "cuda:90"
