"""The classes that call models, one family a file, and the pure functions below them.

Whatever of it is imported first, litellm then asks no network for prices when it is imported.
"""

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
