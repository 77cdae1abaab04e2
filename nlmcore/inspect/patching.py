"""Interventions: activations replaced, added to or ablated while a model runs.

    with patch(model, {"layers.3.attention": 0}):                                   ablate a sublayer
        model(tokens)
    with patch(model, {head(model, "layers.3.attention", 2): mean}):                a head, by its mean (d_head,)
    with patch(model, {"layers.9": lambda x: x + 4 * direction}, positions=[5]):    steer the residual pathway
    with patch(model, {neurons("layers.3.feed_forward", [70]): value}):             a neuron

A value is a number, a tensor, or a function of the activation. Zero ablation is Michel et al. (2019); the mean over a
reference corpus keeps the activation typical (Wang et al. 2023).

**Activation patching** (Vig et al. 2020; "causal tracing" in Meng et al. 2022, section 2): run the model on a corrupted
text and put one activation of the clean run in its place.

Departs from the papers: Meng et al. corrupt embeddings by noise and restore windows of ten layers; here one place is
restored at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.inspect.recording import Place, listening, outputs, visited

Change = float | int | Tensor | Callable[[Tensor], Tensor]


@contextmanager
def patch(
    model: nn.Module, changes: Mapping[Any, Change], positions: int | Sequence[int] | None = None
) -> Iterator[None]:
    """Change what the model computes at these places. Nested, the inner one acts last on an output, first on an input.

    changes: places by name, as in `capture` and `outputs`, or as a Place. A tensor is (features), (position, features)
    or (batch, position, features); a function gets the activation at these positions and features.
    positions: None means all. They count from the beginning of the text, if the state knows how many tokens were read
    (a key-value cache does), else of the call; negative ones from the end of each call.

    Raises ValueError for an unknown place, a value of another shape, and, at the end, for a place or position that was
    not reached; TypeError for other values.
    """
    # first: where in the text the call begins; missed: the positions that each place has not been reached at
    wanted: Any = [positions] if isinstance(positions, int) else None if positions is None else [*positions]
    first, missed = 0, dict[Place, set[Any]]()

    def note(call: Callable[..., Any], _: Iterator[str]) -> Callable[..., Any]:
        """The model's own call, which also tells where in the text it begins: token by token, position 5 is row 0."""

        def noted(*args: Any, **kwargs: Any) -> Any:
            nonlocal first
            states = (getattr(x, "target", x) for x in (*args, *kwargs.values()))  # a decoder's state has a `target`
            first = next((x.position for x in states if hasattr(x, "position")), 0)
            return call(*args, **kwargs)

        return noted

    def changed(place: Place, change: Change) -> Callable[[Tensor], Tensor]:
        missed[place] = {*(wanted or ["every position"])}

        def visit(x: Tensor) -> Tensor:
            columns: Any = slice(None) if place.features is None else torch.tensor([*place.features])
            index: Any = (..., columns)  # all positions: x[..., features]
            kept: list[int] | None = None
            if wanted is not None:
                # From positions of the text to rows of this call; those read earlier or later are not here.
                rows = [p + x.shape[1] if p < 0 else p - first for p in wanted]
                kept = [i for i, row in enumerate(rows) if 0 <= row < x.shape[1]]
                # A column of rows against a row of features: x[index] is (batch, position, feature).
                columns = torch.arange(x.shape[-1])[columns]
                index = (slice(None), torch.tensor([rows[i] for i in kept], dtype=torch.long)[:, None], columns)
                missed[place] -= {wanted[i] for i in kept}
            missed[place].discard("every position")
            whole = x.clone()  # the caller may hold x: it is never written to, and gradients flow through the copy
            whole[index] = _new(place, change, x[index], kept)
            return whole

        return visit

    with ExitStack() as stack:
        # Whichever way the model is called; without `positions` nobody asks where in the text it is.
        for method in ("encode", "hidden_states", "forward"):
            if wanted is not None and hasattr(model, method):
                stack.enter_context(listening({model: [""]}, method, note))
        for name, change in changes.items():
            place = Place(name) if isinstance(name, str) else name
            stack.enter_context(visited(model, place, changed(place, change)))
        yield
    # Only if the body has raised nothing: a change that never took place would pass for "it has no effect".
    for place, left in missed.items():
        if left:
            raise ValueError(f"{place.module!r} must run inside the `with`, at every given position; not at {left}")


def _new(place: Place, change: Change, part: Tensor, kept: list[int] | None) -> Tensor:
    """What `change` makes of a part of an activation; of a tensor with several positions, those that are read now."""
    if isinstance(change, int | float):
        return torch.full_like(part, change)
    new = change(part) if callable(change) else change
    if not isinstance(new, Tensor):
        raise TypeError(f"changes[{place.module!r}] must be a number, a tensor or a function, got {type(new).__name__}")
    if new is change and new.ndim > 1 and kept is not None:  # (…, position, feature), one row for each of `positions`
        new = new[..., [i for i in kept if i < new.shape[-2]], :]
    if not new.ndim or new.shape != part.shape[-new.ndim :]:  # broadcasts over leading dimensions, never over size 1
        allowed = f"must have shape {tuple(part.shape)}, or the last of these dimensions"
        raise ValueError(f"changes[{place.module!r}] {allowed}, got {tuple(new.shape)}")
    return new.to(part.dtype)


@torch.no_grad()
def restore_each(
    model: Any, clean: Int[Tensor, " time"], corrupted: Int[Tensor, " time"], place: str | Place, positions: Any = None
) -> Float[Tensor, "position vocab"]:
    """Logits of the next token of the corrupted text, with the clean activation at one position each.

    Row i has position `positions[i]` (None: all of them) restored. Raises ValueError for texts of different lengths.
    """
    if clean.shape != corrupted.shape:
        raise ValueError(f"clean and corrupted must have equal lengths, got {len(clean)} and {len(corrupted)}")
    at = torch.arange(len(clean)) if positions is None else torch.as_tensor(positions)
    with outputs(model, place) as seen:  # the clean run, kept: seen[0] is (1, time, feature)
        model.hidden_states(clean[None])
    rows = torch.arange(len(at))

    def restore(x: Tensor) -> Tensor:
        x = x.clone()
        x[rows, at] = seen[0][0, at]  # text i of the batch gets back position at[i] alone
        return x

    with patch(model, {place: restore}):
        hidden, _ = model.hidden_states(corrupted.expand(len(at), -1))  # all positions in one call: a text for each
    return model.output(hidden[:, -1])
