"""Gradients in torch of functions whose second derivatives are not defined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any


def first_only(gradients: Iterable[Any], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients whose own derivatives raise, where torch left to itself takes them to be 0.

    Parameters
    ----------
    gradients : iterable of tensor or None
        What the backward pass of a torch.autograd.Function found.
    inputs : sequence
        What they depend on: inputs of the function, and the cotangents. What is no tensor is left out.

    Returns
    -------
    tuple of tensor or None

    Examples
    --------
    >>> from garra.torch_gradients import first_only
    >>> x = torch.ones(2, requires_grad=True)  # doctest: +SKIP
    >>> first_only([x.detach()], [x])[0].sum().backward()  # doctest: +SKIP
    Traceback (most recent call last):
    RuntimeError: garra has no second derivatives of this function
    """
    import torch

    gradients = tuple(gradients)
    if not torch.is_grad_enabled():  # nobody will differentiate them
        return gradients
    known = [g for g in gradients if g is not None]
    marked = iter(_first_only().apply(len(known), *known, *(x for x in inputs if torch.is_tensor(x))))
    return tuple(g if g is None else next(marked) for g in gradients)


@cache
def _first_only() -> Any:
    import torch

    class FirstOnly(torch.autograd.Function):
        """The first `count` tensors."""

        @staticmethod
        def forward(ctx: Any, count: int, *tensors: Any) -> tuple[Any, ...]:
            return tuple(x.view_as(x) for x in tensors[:count])

        @staticmethod
        def backward(ctx: Any, *_: Any) -> tuple[Any, ...]:
            raise RuntimeError("garra has no second derivatives of this function")

    return FirstOnly
