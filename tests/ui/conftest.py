"""What the pages' tests share: Streamlit looks at the environment and reads the scripts once for all of them.

And what tests of several folders here ask with.
"""

from __future__ import annotations

from tests.support.askingonce import once  # noqa: F401  (a fixture)
from tests.support.clicking import clicks, written  # noqa: F401  (fixtures)
from tests.support.savedfiles import saved, saved_bytes  # noqa: F401  (fixtures)
