"""Hooks: what sessions hear of kernels and launches."""

from .hook import HookManager
from .launch import LaunchHook

__all__ = ["HookManager", "LaunchHook"]
