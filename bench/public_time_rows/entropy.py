"""cut-cross-entropy: losses that never make the logits."""

from __future__ import annotations

from .inputs import Make, normal, whole, with_gradients


def rows() -> dict[str, Make]:
    from cut_cross_entropy import linear_cross_entropy

    def loss(tokens: int, width: int, words: int, **more) -> Make:
        return lambda: with_gradients(
            lambda e, c, t: linear_cross_entropy(e, c, t, **more),
            normal(tokens, width, grad=True),
            (normal(words, width) * 0.02).detach().requires_grad_(),
            whole(0, words, tokens),
        )

    return {
        "gemma 2 2b 4096 tokens": loss(4096, 2304, 256000, softcap=30.0),
        "llama 8b 4096 tokens": loss(4096, 4096, 128256),
    }
