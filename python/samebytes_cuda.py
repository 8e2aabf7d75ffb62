"""GPU memory that samebytes and Python have together: `samebytes.cuda`, by its first name."""

from samebytes import cuda as _cuda
from samebytes.cuda import *  # noqa: F401,F403

__all__ = _cuda.__all__
__doc__ = _cuda.__doc__
