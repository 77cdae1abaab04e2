"""Table 1 of Narang et al. (2021), "Do Transformer modifications transfer across implementations and applications?", and
our runs of its rows (`lectures.recipes.transfer`).

Parameters in millions, operations in 10¹² per step, steps per second, early loss (mean and standard deviation of five
runs), final loss (one run), SuperGLUE, XSum (ROUGE-2), WebQuestions, English to German (BLEU). Rows have the names of
`nlmcore.variants.CATALOGUE`.
"""

from typing import Any

from lectures import stored_runs

VANILLA = "Vanilla Transformer"
RATE, STEPS, SEEDS = 5.6e-3, 5_400, 3
"""Of our runs: the common learning rate, and the full length."""
LENGTHS = (STEPS // 9, STEPS // 3)
FEW = (
    *(VANILLA, "GeGLU", "SwiGLU", "ELU", "RMS Norm", "Rezero", "Synthesizer (random)", "Switch Transformer"),
    *("Dynamic convolution", "Funnel Transformer"),
)
"""Rows that come first, and are also trained for fewer steps."""
COLUMNS = ("parameters", "operations", "steps_per_second", "early", "sd", "final", "superglue", "xsum", "webq", "ende")

_TABLE = """
Vanilla Transformer | 223 11.1 3.50 2.182 .005 1.838 71.66 17.78 23.02 26.62
GeLU | 223 11.1 3.58 2.179 .003 1.838 75.79 17.86 25.13 26.47
Swish | 223 11.1 3.62 2.186 .003 1.847 73.77 17.74 24.34 26.75
ELU | 223 11.1 3.56 2.270 .007 1.932 67.83 16.73 23.02 26.08
GLU | 223 11.1 3.59 2.174 .003 1.814 74.20 17.42 24.34 27.12
GeGLU | 223 11.1 3.55 2.130 .006 1.792 75.96 18.27 24.87 26.87
ReGLU | 223 11.1 3.57 2.145 .004 1.803 76.17 18.36 24.87 27.02
SeLU | 223 11.1 3.55 2.315 .004 1.948 68.76 16.76 22.75 25.99
SwiGLU | 223 11.1 3.53 2.127 .003 1.789 76.00 18.20 24.34 27.02
LiGLU | 223 11.1 3.59 2.149 .005 1.798 75.34 17.97 24.34 26.53
Sigmoid | 223 11.1 3.63 2.291 .019 1.867 74.31 17.51 23.02 26.30
Softplus | 223 11.1 3.47 2.207 .011 1.850 72.45 17.65 24.34 26.89
RMS Norm | 223 11.1 3.68 2.167 .008 1.821 75.45 17.94 24.07 27.14
Rezero | 223 11.1 3.51 2.262 .003 1.939 61.69 15.64 20.90 26.37
Rezero + LayerNorm | 223 11.1 3.26 2.223 .006 1.858 70.42 17.58 23.02 26.29
Rezero + RMS Norm | 223 11.1 3.34 2.221 .009 1.875 70.33 17.32 23.02 26.19
Fixup | 223 11.1 2.95 2.382 .012 2.067 58.56 14.42 23.02 26.31
24 layers, d_ff = 1536, H = 6 | 224 11.1 3.33 2.200 .007 1.843 74.89 17.75 25.13 26.89
18 layers, d_ff = 2048, H = 8 | 223 11.1 3.38 2.185 .005 1.831 76.45 16.83 24.34 27.10
8 layers, d_ff = 4608, H = 18 | 223 11.1 3.69 2.190 .005 1.847 74.58 17.69 23.28 26.85
6 layers, d_ff = 6144, H = 24 | 223 11.1 3.70 2.201 .010 1.857 73.55 17.59 24.60 26.66
Block sharing | 65 11.1 3.91 2.497 .037 2.164 64.50 14.53 21.96 25.48
Block sharing + Factorized embeddings | 45 9.4 4.21 2.631 .305 2.183 60.84 14.00 19.84 25.27
Block sharing + Factorized & shared embeddings | 20 9.1 4.37 2.907 .313 2.385 53.95 11.37 19.84 25.19
Encoder only block sharing | 170 11.1 3.68 2.298 .023 1.929 69.60 16.23 23.02 26.23
Decoder only block sharing | 144 11.1 3.70 2.352 .029 2.082 67.93 16.13 23.81 26.08
Factorized Embedding | 227 9.4 3.80 2.208 .006 1.855 70.41 15.92 22.75 26.50
Factorized & shared embeddings | 202 9.1 3.92 2.320 .010 1.952 68.69 16.33 22.22 26.44
Tied encoder/decoder input embeddings | 248 11.1 3.55 2.192 .002 1.840 71.70 17.72 24.34 26.49
Tied decoder input and output embeddings | 248 11.1 3.57 2.187 .007 1.827 74.86 17.74 24.87 26.67
Untied embeddings | 273 11.1 3.53 2.195 .005 1.834 72.99 17.58 23.28 26.48
Adaptive input embeddings | 204 9.2 3.55 2.250 .002 1.899 66.57 16.21 24.07 26.66
Adaptive softmax | 204 9.2 3.60 2.364 .005 1.982 72.91 16.67 21.16 25.56
Adaptive softmax without projection | 223 10.8 3.43 2.229 .009 1.914 71.82 17.10 23.02 25.72
Mixture of softmaxes | 232 16.3 2.24 2.227 .017 1.821 76.77 17.62 22.75 26.82
Transparent attention | 223 11.1 3.33 2.181 .014 1.874 54.31 10.40 21.16 26.80
Dynamic convolution | 257 11.8 2.65 2.403 .009 2.047 58.30 12.67 21.16 17.03
Lightweight convolution | 224 10.4 4.07 2.370 .010 1.989 63.07 14.86 23.02 24.73
Evolved Transformer | 217 9.9 3.09 2.220 .003 1.863 73.67 10.76 24.07 26.58
Synthesizer (dense) | 224 11.4 3.47 2.334 .021 1.962 61.03 14.27 16.14 26.63
Synthesizer (dense plus) | 243 12.6 3.22 2.191 .010 1.840 73.98 16.96 23.81 26.71
Synthesizer (dense plus alpha) | 243 12.6 3.01 2.180 .007 1.828 74.25 17.02 23.28 26.61
Synthesizer (factorized) | 207 10.1 3.94 2.341 .017 1.968 62.78 15.39 23.55 26.42
Synthesizer (random) | 254 10.1 4.08 2.326 .012 2.009 54.27 10.35 19.56 26.44
Synthesizer (random plus) | 292 12.0 3.63 2.189 .004 1.842 73.32 17.04 24.87 26.43
Synthesizer (random plus alpha) | 292 12.0 3.42 2.186 .007 1.828 75.24 17.08 24.08 26.39
Universal Transformer | 84 40.0 0.88 2.406 .036 2.053 70.13 14.09 19.05 23.91
Mixture of experts | 648 11.7 3.20 2.148 .006 1.785 74.55 18.13 24.08 26.94
Switch Transformer | 1100 11.7 3.18 2.135 .007 1.758 75.38 18.02 26.19 26.81
Funnel Transformer | 223 1.9 4.30 2.288 .008 1.918 67.34 16.26 22.75 23.20
Weighted Transformer | 280 71.0 0.59 2.378 .021 1.989 69.04 16.98 23.02 26.30
Product key memory | 421 386.6 0.25 2.155 .003 1.798 75.16 17.04 23.55 26.73
"""

THEIRS: dict[str, dict[str, float]] = {
    name: dict(zip(COLUMNS, map(float, figures.split()), strict=True))
    for name, figures in (line.split(" | ") for line in _TABLE.strip().split("\n"))
}


def ours(steps: int = STEPS) -> dict[str, list[dict[str, Any]]]:
    """Row -> its runs of this length, one for each seed: the rows that have all seeds, in the paper's order."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for run in stored_runs("transfer"):
        job = run["job"]
        if (job["steps"], job["rate"], job["control"]) == (steps, RATE, ""):
            found.setdefault(job["row"], {})[job["seed"]] = run
    seeds = range(SEEDS)
    return {row: [found[row][seed] for seed in seeds] for row in THEIRS if set(found.get(row, ())) >= set(seeds)}
