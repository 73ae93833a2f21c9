"""Hooks that run in a single thread only."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import torch

from inference.record.records import register_post_hook, register_pre_hook


def test_a_pass_of_another_thread_is_left_alone_even_before_torch_knows_that_the_hooks_take_keywords() -> None:
    module = torch.nn.Identity()
    handles = [
        register_pre_hook(module, lambda _module, args, kwargs: ((args[0] + 1,), kwargs)),
        register_post_hook(module, lambda _module, _args, _kwargs, output: output * 10),
    ]
    ones = torch.ones(2)
    assert module(ones).tolist() == [20, 20]
    with ThreadPoolExecutor(1) as other:
        assert other.submit(module, ones).result().tolist() == [1, 1]
        # What torch looks like between its two steps of registering a hook; it has no other way to be brought there.
        module._forward_pre_hooks_with_kwargs.clear()  # noqa: SLF001
        module._forward_hooks_with_kwargs.clear()  # noqa: SLF001
        assert other.submit(module, ones).result().tolist() == [1, 1]
    for handle in handles:
        handle.remove()
    assert module(ones).tolist() == [1, 1]
