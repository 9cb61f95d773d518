"""Helpers in support/ may use plain asserts: pytest shows what was compared."""

import pytest

pytest.register_assert_rewrite("memory", "pages", "program")
