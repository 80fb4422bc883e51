"""What ``triton.runtime.driver`` has beside our own names."""

from triton.backends import DriverBase as DriverBase
from triton.backends import backends as backends
