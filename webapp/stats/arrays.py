"""Arrays of numpy by what they hold, for annotations."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
