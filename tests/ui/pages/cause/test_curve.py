"""The ablation curve's file states its random orders."""

from __future__ import annotations

from ui.ablation.effects import SEED
from ui.pages.cause.curve import ORDERS, random_orders_provenance


def test_the_file_states_the_number_and_seed_of_random_orders() -> None:
    assert random_orders_provenance(ORDERS) == {"random_orders": ORDERS, "random_orders_seed": SEED}
    assert random_orders_provenance(0) == {}, "the reader stopped before the comparison"
