"""How fast does SmolLM2-135M write in our Transformer? Ratios over Hugging Face's generate: above 1.00 is faster.

    pip install "transformers==5.23.0"                   # the peer; without it only our own table is printed
    python benchmarks/decoding.py                        # all three searches, one thread, the process clock
    python benchmarks/decoding.py --searches greedy --tokens 32 --repeats 2
    python benchmarks/decoding.py --threads 2            # two threads and the wall clock: only on a quiet machine

The peer is LlamaForCausalLM with the same weights in single precision and its key-value cache. Every run writes the
same number of tokens, no end token for greedy search and sampling. Runs are interleaved and their medians compared; a
busy machine slows both alike. Greedy search must give the same tokens and beam search the same hypotheses, or the
line says DIFFERENT.

The second table is the distance to what the machine allows: a token needs every weight once, so the floor is their
bytes over the bandwidth of reading (the copy's is printed beside it). Below it, where our time goes.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from nlmcore.decoding import beam_search, greedy, sample
from nlmcore.decoding.reading import log_probabilities
from nlmcore.pretrained import smollm2
from nlmcore.transformer import TransformerLM

REACH = {"greedy": 1.4, "beam": 1.35, "sampling": 1.25}
PROMPT = (
    "The history of language models begins long before computers. In 1913 the mathematician Andrey Markov counted the"
    " vowels and consonants of a novel in verse, and asked how much each letter depends on the one before it."
)
BEGINNINGS = (
    "Once upon a time, in a village by the sea,",
    "The recipe for a good soup begins with",
    "In the year 1905, a young clerk in Bern",
    "The printer was out of toner, so she went",
    "Three things are needed to learn a language:",
    "It was the best of days and the worst",
    "The committee decided on Monday that all students",
    "Between the mountains and the river there is a",
)


def peer(model: TransformerLM) -> Any:
    """The same model in Hugging Face's modules."""
    from transformers import LlamaConfig, LlamaForCausalLM

    c = model.config
    attention = model.layers[0].attention
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=c.vocab_size,
            hidden_size=c.d_model,
            intermediate_size=c.hidden_size,
            num_hidden_layers=c.n_layers,
            num_attention_heads=c.n_heads,
            num_key_value_heads=c.n_kv_heads,
            max_position_embeddings=c.max_length,
            rms_norm_eps=model.final_norm.eps,
            rope_parameters={"rope_type": "default", "rope_theta": attention.positions.base},
            tie_word_embeddings=True,
        )
    ).eval()
    weights = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.final_norm.weight}
    for i, block in enumerate(model.layers):
        gate, up = block.feed_forward.inner.weight.chunk(2)
        weights |= {
            f"model.layers.{i}.{name}.weight": weight
            for name, weight in {
                "self_attn.q_proj": block.attention.query.weight,
                "self_attn.k_proj": block.attention.key.weight,
                "self_attn.v_proj": block.attention.value.weight,
                "self_attn.o_proj": block.attention.output.weight,
                "mlp.gate_proj": gate,
                "mlp.up_proj": up,
                "mlp.down_proj": block.feed_forward.outer.weight,
                "input_layernorm": block.residual_attention.norm.weight,
                "post_attention_layernorm": block.residual_feed_forward.norm.weight,
            }.items()
        }
    missing, unexpected = llama.load_state_dict(weights, strict=False)
    if unexpected or missing not in ([], ["lm_head.weight"]):
        raise RuntimeError(f"the peer's weights do not fit: missing {missing}, unexpected {unexpected}")
    llama.generation_config.eos_token_id = None
    llama.generation_config.pad_token_id = 0
    return llama


def searches(
    model: TransformerLM, tokenizer: Any, llama: Any, tokens: int
) -> dict[str, tuple[Callable[[], Any], Callable[[], Any] | None, Callable[[Any, Any], bool] | None]]:
    """name -> ours, theirs, and whether both answers are the same (None: they are random)."""
    one = torch.tensor([tokenizer.encode(PROMPT)])
    rows = [tokenizer.encode(text) for text in BEGINNINGS]
    eight = torch.tensor([row[: min(map(len, rows))] for row in rows])
    beams, eos = 4, tokenizer.eos

    def generate(prompt: Tensor, **options: Any) -> Tensor:
        mask = torch.ones_like(prompt)
        return llama.generate(prompt, attention_mask=mask, max_new_tokens=tokens, **options)[:, prompt.shape[1] :]

    def same_beams(ours: Any, theirs: Tensor) -> bool:
        ended = [row.tolist() for row in theirs]
        ended = [row[: row.index(eos) + 1] if eos in row else row for row in ended]
        return [hypothesis.tokens for hypothesis in ours[0]] == ended

    return {
        "greedy": (
            lambda: greedy(model, one, tokens),
            llama and (lambda: generate(one, do_sample=False)),
            lambda ours, theirs: torch.equal(ours.tokens, theirs),
        ),
        "beam": (
            lambda: beam_search(model, one, tokens, beam_size=beams, eos=eos),
            llama
            and (
                lambda: generate(
                    one,
                    do_sample=False,
                    num_beams=beams,
                    num_return_sequences=beams,
                    early_stopping="never",
                    length_penalty=0.0,
                    eos_token_id=eos,
                )
            ),
            same_beams,
        ),
        "sampling": (
            lambda: sample(model, eight, tokens, top_p=0.9),
            llama and (lambda: generate(eight, do_sample=True, top_p=0.9, top_k=0, temperature=1.0)),
            None,
        ),
    }


def seconds(run: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    start = clock()
    answer = run()
    return clock() - start, answer


def median_seconds(run: Callable[[], Any], clock: Callable[[], float], repeats: int = 7) -> float:
    run()
    return statistics.median(seconds(run, clock)[0] for _ in range(repeats))


def where_time_goes(model: TransformerLM, clock: Callable[[], float], per_token: dict[str, float]) -> None:
    """Of one token, and of one step of the other searches: the floor, the matrix products, the vocabulary, the rest."""
    linears = [module for module in model.modules() if isinstance(module, nn.Linear)]
    size = sum(linear.weight.numel() * 4 for linear in linears)
    much = torch.ones(50_000_000)
    room = torch.empty_like(much)
    reading = 4 * much.numel() / median_seconds(much.sum, clock)
    copying = 8 * much.numel() / median_seconds(lambda: room.copy_(much), clock)
    floor = size / reading
    print(
        f"\n{size / 1e6:.0f} MB of weights per token; this machine reads {reading / 1e9:.1f} GB/s"
        f" (copy {copying / 1e9:.1f} GB/s, both ways): at least {1e3 * floor:.1f} ms"
    )
    print(f"{'':10}{'step ms':>9}{'floor':>8}{'products':>10}{'vocabulary':>12}{'rest':>7}   × floor")
    for name, step in per_token.items():
        rows = {"greedy": 1, "beam": 4, "sampling": 8}[name]
        inputs = {linear.in_features: torch.randn(rows, 1, linear.in_features) for linear in linears}
        logits = torch.randn(rows, model.vocab_size)

        def multiply(inputs: dict[int, Tensor] = inputs) -> None:
            with torch.no_grad():
                for linear in linears:
                    linear(inputs[linear.in_features])

        products = median_seconds(multiply, clock)

        def choose(logits: Tensor = logits) -> None:
            log_probabilities(logits).argmax(-1)

        vocabulary = median_seconds(choose, clock)
        print(
            f"{name:10}{1e3 * step:9.1f}{1e3 * floor:8.1f}{1e3 * products:10.1f}{1e3 * vocabulary:12.1f}"
            f"{1e3 * (step - products - vocabulary):7.1f}   {step / floor:.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", nargs="+", default=list(REACH), choices=list(REACH))
    parser.add_argument("--tokens", type=int, default=128, help="new tokens in every text")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    clock = time.process_time if arguments.threads == 1 else time.perf_counter
    model, tokenizer = smollm2()
    llama = None
    try:
        import transformers

        llama = peer(model)
        print(f"SmolLM2-135M, fp32, {arguments.tokens} new tokens; peer: transformers {transformers.__version__}")
    except ModuleNotFoundError:
        print("transformers is not there (pip install transformers==5.23.0): ours alone")
    print(f"{'':10}{'ratio':>7}{'reach':>7}{'lowest':>8}{'highest':>9}{'ours, tokens/s':>16}")
    per_token = {}
    for name in arguments.searches:
        ours, theirs, same = searches(model, tokenizer, llama, arguments.tokens)[name]
        runs: list[tuple[float, float]] = []
        agreement = ""
        for repeat in range(arguments.repeats):
            order = [ours, *([theirs] if theirs else [])][:: 1 if repeat % 2 else -1]
            timed = {run: seconds(run, clock) for run in order}
            runs.append((timed[ours][0], timed[theirs][0] if theirs else float("nan")))
            if theirs and same:
                agreement = "  same" if same(timed[ours][1], timed[theirs][1]) else "  DIFFERENT"
        ours_median, theirs_median = (statistics.median(column) for column in zip(*runs, strict=True))
        ratios = sorted(b / a for a, b in runs)
        per_token[name] = ours_median / arguments.tokens
        texts = 8 if name == "sampling" else 1
        print(
            f"{name:10}{theirs_median / ours_median:7.2f}{REACH[name]:7.2f}{ratios[0]:8.2f}{ratios[-1]:9.2f}"
            f"{texts / per_token[name]:16.1f}{agreement}",
            flush=True,
        )
    where_time_goes(model, clock, per_token)


if __name__ == "__main__":
    main()
