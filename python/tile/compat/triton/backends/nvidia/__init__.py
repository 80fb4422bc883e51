"""The backend of NVIDIA GPUs."""
