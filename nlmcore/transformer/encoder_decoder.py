"""The Transformer of 2017: an encoder reads the source, a decoder writes the target and attends to the source.

    h = encoder(source),   state = model.encode(source, source_mask)
    k = h K,  v = h V,  q = z Q                        cross-attention, z the decoder's vectors
    logits, state = model(tokens, state)               P(y_{i+1} | y_1 … y_i, source)

Source: Vaswani et al. (2017), section 3. The target is read shifted by one: `<bos>` first.

Departs from the paper: as the configuration says. The paper's own: norm_position="post", scale_embeddings=True,
positions=SinusoidalPositions, feed_forward=partial(FeedForward, activation=relu), and one vocabulary, whose matrix
serves encoder, decoder and softmax. `config.initialise` sets all weights, the encoder's too, unless it was passed in.

An encoder that is passed in may read anything, say the patches of an image (Xu et al. 2015; Dosovitskiy et al. 2021):

    encoder(source, mask) -> (batch, seen, d_model)     mask (batch, seen) or None, True = may be attended to
"""

from dataclasses import dataclass, field, replace
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import check_tokens, checked
from nlmcore.language_model import check_source_state
from nlmcore.transformer.checks import check_state
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.encoder import TransformerEncoder
from nlmcore.transformer.from_torch import config_of_stack, copy_stack
from nlmcore.transformer.model import Backbone, TransformerState


@dataclass(frozen=True, eq=False)
class EncoderDecoderState:
    """A source that was read, and how far the target is."""

    memories: tuple[Memory | None, ...] = field(repr=False)  # the source's keys and values in every decoder layer
    source_mask: Bool[Tensor, "batch source"]  # True = a real token; without a mask, all that the encoder gives
    # the encoder's output: (batch, source, d_model), unless its `stack` pools tokens or gives every layer's
    encoded: Float[Tensor, "batch seen width"] = field(repr=False)
    target: TransformerState | None = None  # what the decoder has read of the target


class EncoderDecoder(nn.Module):
    """A language model of the target that has read a source. `vocab_size` is the target's.

    config: the decoder's and the target's. encoder_config: the encoder's and the source's, of the same d_model, with a
    separate embedding matrix; None: `config`, with one matrix for both where `tie_source` says so. encoder: a finished
    module instead, see above; its weights stay as they are, and `source_vocab_size` is None unless it is a
    TransformerEncoder.

    Raises ValueError if the widths differ or there are two encoders.
    """

    @checked
    def __init__(
        self,
        config: TransformerConfig,
        encoder_config: TransformerConfig | None = None,
        *,
        encoder: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if encoder is not None and encoder_config is not None:
            raise ValueError("encoder_config or encoder, not both: encoder is finished, encoder_config is to build one")
        if encoder is None:
            self.encoder: Any = TransformerEncoder(encoder_config or config)
        self.decoder = Backbone(config, causal=True, cross=True)
        source = getattr(self.encoder if encoder is None else encoder, "config", None)
        if isinstance(source, TransformerConfig) and source.d_model != config.d_model:
            raise ValueError(
                f"encoder and decoder must have one d_model, got {source.d_model} for the encoder and"
                f" {config.d_model} for the decoder"
            )
        self.config, self.vocab_size = config, config.vocab_size
        if encoder is None and encoder_config is None and config.tie_source:
            self.encoder.embedding = self.decoder.embedding
        self.output = config.output(config, self.decoder.embedding)
        config.initialise(self, config)
        if encoder is not None:
            self.encoder = encoder  # only now: `initialise` leaves it alone
        reads_tokens = isinstance(self.encoder, TransformerEncoder)
        self.source_vocab_size: int | None = self.encoder.config.vocab_size if reads_tokens else None

    @classmethod
    @checked
    def from_torch(cls, module: nn.Transformer, source: nn.Embedding, target: nn.Embedding) -> "EncoderDecoder":
        """PyTorch's Transformer of these embeddings: its weights, and its numbers under a causal target mask.

        Logits are hidden vectors times the target's embedding matrix.
        """
        theirs = ((module.encoder, source), (module.decoder, target))  # (stack, its embedding)
        configs = [config_of_stack(stack, embedding) for stack, embedding in theirs]
        ours = cls(configs[1], configs[0]).to(target.weight)
        for side, (stack, embedding) in zip((ours.encoder, ours.decoder), theirs, strict=True):
            copy_stack(side, stack, embedding)
        return ours.train(module.training)

    def encode(self, source: Tensor, source_mask: Bool[Tensor, "batch source"] | None = None) -> EncoderDecoderState:
        """Read source (batch, source), or what a passed-in encoder reads, whose first dimension is the batch.

        source_mask (batch, source), True = a real token, None: all are. From a source that is all padding
        cross-attention gets zeros. Raises TypeError or ValueError as the encoder does.
        """
        if source_mask is not None and source_mask.ndim != 2:
            raise ValueError(f"source_mask must have shape (batch, source), got {tuple(source_mask.shape)}")
        encoded = self.encoder(source, source_mask)
        mask = source_mask if source_mask is not None else encoded.new_ones(encoded.shape[:2]).bool()
        # k = h K and v = h V of every decoder layer, once for the whole target.
        return EncoderDecoderState(self.decoder.layers.project_source(encoded), mask, encoded)

    def forward(
        self, tokens: Int[Tensor, "batch time"], state: EncoderDecoderState | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], EncoderDecoderState]:
        """tokens of the target, `<bos>` first; state from `encode` or an earlier call. Raises as `hidden_states`."""
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def hidden_states(
        self, tokens: Int[Tensor, "batch time"], state: EncoderDecoderState | None = None
    ) -> tuple[Float[Tensor, "batch time d_model"], EncoderDecoderState]:
        """The decoder's last vectors, whose `output` is the logits, and the state after them.

        Raises TypeError for a state without a source, ValueError for one of another batch or another model.
        """
        check_tokens(tokens, self.vocab_size)
        state = check_source_state(state, EncoderDecoderState, len(tokens))
        check_state(state.target, TransformerState, len(tokens))
        position, layers = (0, None) if state.target is None else (state.target.position, state.target.layers)
        # (batch, 1, 1, source): one mask for every head and query, and none where nothing is padded.
        keys_allowed = None if bool(state.source_mask.all()) else state.source_mask[:, None, None, :]
        x = self.decoder.embed(tokens, position)  # (batch, time, d_model), from where the last call ended
        x, layers = self.decoder.layers(x, layers, state.memories, keys_allowed)
        target = TransformerState(layers, position + tokens.shape[1])
        return self.decoder.final_norm(x), replace(state, target=target)
