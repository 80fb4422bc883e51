"""What all tests share."""

from __future__ import annotations

import os

import pytest

# Kernels run in the simulator unless the caller chose another driver.
os.environ.setdefault("TILE_DRIVER", "sim")


if os.environ["TILE_DRIVER"] == "cuda":
    import on_device

    on_device.install()


@pytest.fixture(autouse=True, scope="session")
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither read nor leave compiled kernels in the user's cache."""
    if "TILE_CACHE_DIR" not in os.environ:
        os.environ["TILE_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
