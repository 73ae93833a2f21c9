"""What the pages' tests share: Streamlit looks at the environment and reads the scripts once for all of them."""

from __future__ import annotations

from tests.support.askingonce import once  # noqa: F401  (a fixture)
