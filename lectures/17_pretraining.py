# %% [markdown] slideshow={"slide_type": "slide"}
# # Pretraining: three families
#
# Labelled examples are expensive, and plain text is nearly free. So train a model on text first, with a task that the text itself provides. Only then train it on your few labels. ELMo, ULMFiT and GPT
# showed in 2018 how much this can help. BERT, GPT and T5 put this idea into practice in three ways, which differ in the attention mask and in the tokens to predict. How much does pretraining help, and what explains the gain?
#
# <img src="figures/three_families.svg" width="980" alt="Three families on one sentence: the masked one reads the [MASK] sat on the mat and predicts cat, seeing both sides; the causal one predicts each next word from its past; span corruption replaces cat sat by a sentinel, its encoder sees all, and its decoder writes the missing words.">
#
# *Blue: the query in this row may attend to the key in this column.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - write down the three pretraining objectives, and say for each what the model reads, what it predicts and which positions see which;
# - explain BERT's 80/10/10 rule and count how many predictions a text gives;
# - place ELMo, BERT, GPT, T5 and Llama in a family tree;
# - test whether pretraining helps, with a control for each of two other explanations of the gain;
# - show that a contextual vector depends on the sense of a word, and test when each kind of model can know the sense;
# - choose between probing, fine-tuning, LoRA and prompting, and notice when such a comparison is not fair.
#
# **You need** [lecture 13](13_self_attention.ipynb) (masks), [lecture 15](15_transformer_language_model.ipynb) (the Transformer language model) and [lecture 16](16_encoder_decoder_transformers.ipynb) (encoder and decoder).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 11 | 9 | 9 | 12 | 12 | 14 | 5 |
#
# The minutes are for a class. If you work alone, with the predictions and the questions, plan an hour and a half.
#
# Every cell runs in a few seconds on a laptop, without a network connection. Longer experiments ran beforehand, on one core. Their results are stored,
# each with the command that repeats it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 2 and the adapters in section 6. Section 4 is the experiment of this lecture.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from statistics import mean

import torch
from IPython.display import HTML

from nlmcore.attention import causal_mask, prefix_mask
from nlmcore.metrics import mean_interval
from nlmcore.metrics.significance import critical, holm, mcnemar, two_sided
from nlmcore.objectives import causal, corrupt_spans, masked
from nlmcore.pretrained import minilm, smollm2
from nlmcore.transfer import LoRA
from nlmcore.transfer.lora import matrices
from lectures import show, stored, widgets
from lectures.trained import checkpoint
from lectures.recipes.pretraining import BATCH, LETTERS, TUNING, words
from lectures.recipes.senses import all_guesses, neighbours, sentences, states
from lectures.widgets.pretraining import fillers

torch.set_num_threads(1)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One stack, three objectives
#
# **Pretraining** means training a model on unlabelled text, before you train it on the task that you care about. The text provides the labels, in one of three ways:
#
# - **Causal**: predict each token from the previous ones, with a causal mask. Training maximises $\sum_t \ln P(w_t \mid w_1 \dots w_{t-1})$. Our GPTs were trained in this way.
# - **Masked**: hide some tokens and predict them from the tokens on both sides, without an attention mask. Training maximises $\sum_{t \in M} \ln P(w_t \mid \tilde w)$, where $M$ is the set of
#   positions to guess and $\tilde w$ is the text that the model reads. Such a model is a **masked language model**.
# - **Span corruption**: replace whole spans by special tokens called **sentinels**. A bidirectional encoder reads the rest, and a causal decoder writes each sentinel, followed by the span that it replaces.
#
# BERT (Devlin et al. 2019) guesses 15 % of the tokens. At inference no text contains `[MASK]`, so the model must not rely on it. Of the tokens to guess, 80 % are replaced by `[MASK]`, 10 % by a random token,
# and 10 % are unchanged.
#
# A **diffusion language model** (Nie et al. 2025) is trained like a masked language model, but with every fraction of hidden tokens, up to all of them. So it can also write a text: it starts from masks only and fills them in over several steps.

# %% slideshow={"slide_type": "fragment"}
text = torch.randint(100, (1, 100_000), generator=torch.Generator().manual_seed(0))
example = masked(text, 100, 101, generator=torch.Generator().manual_seed(1))  # 100 is [MASK]
for what, chosen in (
    ("shown as [MASK]", example.tokens == 100),
    ("to guess, but unchanged", example.mask & (example.tokens == text)),
):
    print(f"{what:24}{1000 * float(chosen.float().mean()):4.0f} of 1,000 tokens")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
several = int(causal(text).mask.sum()) / int(example.mask.sum())
with show.held_back() as predictions:
    print(
        f"predictions per 1,000 tokens: causal {1000 * int(causal(text).mask.sum()) / 100_000:.0f}, ",
        end="",
    )
    print(f"masked {1000 * int(example.mask.sum()) / 100_000:.0f}")
show.predict(
    "A causal and a masked model read the same text once. How many times as many predictions does the causal model make?",
    factor=1.2,
    answer=several,
    why="It predicts at every position, and the masked model at 15 % of them. But each of the masked model's predictions may use both sides.",
    reveals=predictions,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Try the families.** You see the same sentence under four objectives. A **prefix LM** reads the beginning of a text, the prefix, in both directions and predicts the rest causally. Here the prefix is the first half.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.family_playground(
    [
        "the young doctor opened the door of the old house",
        "thank you for inviting me to your party last week",
        "to be or not to be that is the question",
    ]
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Sample again until a word is replaced by a wrong one. Why does the loss count this position, although nothing is hidden there?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The loss asks for the original word. The model cannot know which words were replaced, so it must check them all. The 10 % that stay unchanged should keep the vector at each position close to the word that is read there. (Both reasons are from Devlin et al. 2019, appendix A.1. In their appendix C.2, shares other than 80, 10 and 10 % hardly change most results.)
# - Switch between *causal* and *prefix*. The targets in the second half stay the same, but in the first half each position now sees both sides and carries no loss.
# - In *spans* the decoder's input begins with `<bos>`, and each sentinel tells it which gap comes next. The target is short, so the decoder has few positions to compute.
# - Raise the guessed share to 60 %. There is more to predict, and less to predict it from.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Write one sentence on the board, cover a word with your hand, and let the room guess it from both sides and then from the left only. What goes wrong: students take "masked" for the causal mask. A masked
# objective hides tokens from the input, a causal mask hides keys from queries; say both names aloud.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. A family tree
#
# <img src="figures/family_tree.svg" width="1000" alt="A family tree by year. Before the Transformer, pretrained LSTMs: Dai and Le (2015), ELMo and ULMFiT (2018). From the Transformer of 2017 come three branches: encoders trained with masks, BERT (2018), RoBERTa (2019) and MiniLM (2020); encoder–decoders trained with spans, T5 and BART (2019) and Narang's 52 models (2021); decoders trained causally, GPT-1 (2018), GPT-2 (2019), GPT-3 (2020), GPT-4 and Llama (2023) and SmolLM2 (2024).">
#
# *Models by year: first pretrained LSTMs, then three branches of the Transformer. Each branch keeps one part of the 2017 model, or both.*
#
# Two questions tell the branches apart. What is hidden, and who sees whom?
#
# | branch | part of the 2017 model | hidden | who sees whom | typical use |
# |---|---|---|---|---|
# | encoder | the encoder | some tokens | all see all | classify, compare, search |
# | decoder | the decoder without cross-attention | the next token | each sees its past | write; with a prompt, other tasks too |
# | both | both | spans | the encoder sees all, the decoder its past | translate, summarise |

# %% [markdown] slideshow={"slide_type": "fragment"}
# A pretrained model can be used in several ways. **Fine-tuning** trains all its weights further on labelled examples. **Probing** freezes the weights and trains only a linear map of the model's states. **Prompting** does not change any weights. You write the task into the text that a
# language model continues.

# %% [markdown] slideshow={"slide_type": "subslide"}
# - **Before Transformers.** Dai & Le (2015) trained an LSTM on text and started a classifier from its weights. ULMFiT (Howard & Ruder 2018) fine-tuned a whole pretrained LSTM. ELMo (Peters et al. 2018) kept two LSTM language models fixed, one
#   per direction, and gave their states to another model as its input.
# - **GPT-1** (Radford et al. 2018) is a causal Transformer that was fine-tuned, and **GPT-2** (2019) was prompted. **GPT-3** (Brown et al. 2020) has 175 billion parameters and was trained on 300 billion tokens; it learns tasks from examples in its prompt. For **GPT-4** (2023) OpenAI published
#   neither size nor data, so outsiders cannot say why it does better than GPT-3.
# - **BERT** (Devlin et al. 2019) is fine-tuned. Its pretraining also had a second task, which we leave out: did this sentence follow that one? **ELECTRA** (Clark et al. 2020) hides nothing. A small model replaces some tokens, and the encoder predicts for *every*
#   token whether it was replaced. So all positions contribute to the loss, and not just 15 %.
# - **T5** (Raffel et al. 2020) turns each task into a source text and a target text. (**BART**, Lewis et al. 2020, also corrupts the source, but its decoder writes the whole text.) Narang et al. (2021), the study of [lecture 19](19_do_modifications_transfer.ipynb), start from T5's model with 223 million parameters in 12 + 12 layers.
# - **Llama** (Touvron et al. 2023) and **SmolLM2** are causal models with RMSNorm, SwiGLU and rotary positions ([lecture 14](14_positions.ipynb)).
#
# **Leaderboards** such as GLUE (2018) and SuperGLUE (2019) rank such models by their mean score over many tasks. They show one score per model and task, without a spread over seeds. Dodge et al. (2020) fine-tune BERT hundreds of times on four of GLUE's tasks and change only the seed; the scores differ substantially. So a small gap may be chance ([lecture 19](19_do_modifications_transfer.ipynb)).

# %% [markdown] slideshow={"slide_type": "subslide"}
# **MiniLM, our encoder, was trained with two more objectives.** First MiniLM (Wang et al. 2020) was *distilled*, that is, trained to imitate the attention of a larger encoder. Then the Sentence-Transformers project trained it with a **contrastive objective** on pairs of sentences $(a_i, b_i)$ that belong together,
# such as a question and its answer:
#
# $$-\ln \frac{\exp(\cos(a_i, b_i) / \tau)}{\sum_j \exp(\cos(a_i, b_j) / \tau)} .$$
#
# The model must choose $b_i$ among the second sentences $b_j$ of the whole batch, much as word2vec must tell a true neighbour from sampled words ([lecture 2](02_tokens_and_vectors.ipynb)). A small $\tau$ makes the choice sharper. This training is meant to make MiniLM's vectors good for comparing sentences.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask which branch suits a spam filter, a chat program and a translator, and why so many models are causal today although each of their tokens sees less. What goes wrong: "BERT generates text".*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Two small models, pretrained
#
# A laptop can pretrain a small model in minutes if its texts are short. Our "texts" are the spellings of English words, letter by letter. Both models have two layers of width 64. They differ in the objective and in one box of the picture, which you know from [lecture 15](15_transformer_language_model.ipynb). Blue attention sees all positions, and orange attention sees only the past.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
models = {}
for family in ("masked", "causal"):
    models[family], letters, card = checkpoint(f"letters_{family}")
    print(f"{family}: {card['parameters']:,} parameters, {card['training']['steps']:,} steps")

word = torch.tensor([[1, *letters.encode("knowledge"), 2]])  # <bos> … <eos>
mask, sentinels = letters.encode("_")[0], letters.encode("XYZ")
seed = torch.Generator().manual_seed(8)
hidden = masked(word, mask, letters.vocab_size, word > 2, generator=seed)
spans = corrupt_spans(word[:, 1:-1], sentinels, share=0.5, mean_span=2.0, generator=seed)
print("masked reads       ", letters.decode(hidden.tokens[0, 1:-1].tolist()))
print("the encoder reads  ", letters.decode(spans.source[0].tolist()))
print("the decoder writes ", letters.decode(spans.tokens[0, 1:-1].tolist()))

# %% slideshow={"slide_type": "subslide"}
HTML(
    show.beside(
        widgets.architecture(models["masked"], lit=["self-attention"]),
        widgets.architecture(models["causal"], lit=["causal attention"]),
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# We trained no model with span corruption. In our code, as in T5's, the last span always ends where the text ends. In a single word 15 % of the letters make only one span. So a model would learn to write only the ends of words. Span corruption needs texts that are longer than
# a few spans.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A hidden letter.** The masked model fills it in from the letters on both sides. The causal model predicts it from the letters on its left only. But a causal model can also try each of the 27 characters in the gap and compare the probabilities $P$ of the *whole* words.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
fill = fillers(models, letters, LETTERS)
tried = [(text, 1 + i % (len(text) - 2)) for i, (text, _) in enumerate(words("test")[::10][:300])]
right = {
    name: 100 * mean(max(p, key=p.get) == text[i] for text, i in tried for p in [of(text, i)])
    for name, of in fill.items()
}
lines = [(name, f"{right[name]:.0f}") for name in sorted(right, key=right.get)]
filled = show.table(lines, ["", f"% of {len(tried)} hidden letters right"])
show.predict(
    f"One letter inside each of {len(tried)} test words is hidden. Put the three ways in order, from the fewest letters right to the most.",
    order=list(fill),
    answer=sorted(right, key=right.get),
    why="If the causal model tries all letters, it also uses the letters after the gap. That costs 27 passes instead of one.",
    reveals=[filled, widgets.hidden_letter_playground(fill, "knowledge", at=5)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - From the left only, the causal model gets 23<!--[[right["causal"]:.0f]]--> % right. The masked model gets 27<!--[[right["masked"]:.0f]]--> %, and the causal model that tries all letters gets 42<!--[[right["causal, every letter tried"]:.0f]]--> %.
# - This does not rank the two objectives. Each is one trained model, and the causal one made more than six times as many predictions in pretraining<!--[[? several > 6]]-->.
# - Hide the first letter. The causal model answers with the frequencies of first letters, whatever follows.
# - The losses of the two models cannot be compared, because each has its own task.
# </details>
#
# **“BERT can use both sides and GPT cannot” is true only of *one forward pass*.** A model that gives the probability of whole words can fill any gap, at the cost of one pass per candidate.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Both sides in one pass.** The masked model reads *play_ng*. The threads are its letters, and the red one belongs to the hidden letter. Hover over a head to see where it looks, and press it to switch it off. Unlike in [lecture 13](13_self_attention.ipynb), lines also come from the right.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
filling = widgets.living(
    models["masked"],
    letters,
    "play_ng",
    "natio_",
    "stre_gth",
    at="0.2",
    encode=lambda text: [1, *letters.encode(text), 2],
    mask="_",
)
whole, without = (filling.next(off=off)["i"] for off in ([], ["0.2"]))
others = [filling.next(off=[f"0.{head}"])["i"] for head in (0, 1, 3)]
filling

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Head 0.2 looks mostly at *g*. What happens to *i* without this head, and without each other head of its layer?
#
# <details><summary><b>Answer</b></summary>
#
# The probability of *i* falls from 0.78<!--[[whole:.2f]]--> to 0.29<!--[[without:.2f]]-->. If you switch off one of the other three<!--[[words(len(others))]]--> heads instead, it stays at 0.51<!--[[min(others):.2f]]--> or more. This is only one word, so it does not show what the head does in other words. Try *natio_*.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room choose words, names included. Ask who could fill in two adjacent letters (the masked model guesses the two letters independently). What goes wrong: they
# think that a causal model cannot fill gaps at all.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Pretrain small, then transfer
#
# Does pretraining help? Our task is to say whether the **first** syllable of a word is stressed (*WAter*) or a later one (*aBOUT*). The spelling does not mark the stress; the labels come from a pronouncing dictionary that pretraining never saw. In pretraining the model reads
# 64,000<!--[[BATCH * transfer["steps"]:,]]--> spellings, drawn at random from 94,522<!--[[transfer["unlabelled"]:,]]-->. Then all weights are fine-tuned on labelled words. Using on one task what was learned on another is called **transfer**.
#
# A gain could have other explanations, and two of them get a control:
#
# - *more updates*: perhaps a pretrained model is better only because it has taken more steps. So we also train for 1,000<!--[[transfer["steps"]:,]]--> more steps on the labels, as many as pretraining takes, both with and without pretraining;
# - *embeddings only*: perhaps only the table of letter vectors helps. So we keep the table and reset the layers.
#
# Each kind of model is trained with five seeds, each with its own initial weights and labelled words. We subtract the results of two kinds of model seed by seed. Chance is 50 % (`python -m lectures.recipes pretraining`).

# %% slideshow={"slide_type": "fragment"}
transfer = stored("pretraining")
rows = transfer["rows"]  # row -> number of labels -> % right, one per seed
print(f"pretraining: {transfer['steps']} steps of {BATCH} of {transfer['unlabelled']:,} words")
print(*rows, sep="\n")


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def gain(row, base, count):
    """(mean difference in points, half its 95 % interval), seed by seed."""
    return mean_interval(a - b for a, b in zip(rows[row][count], rows[base][count], strict=True))


scratch, table = "bidirectional, not pretrained", "masked, embeddings only"
longer, both = "bidirectional, more updates", "masked, more updates"
usual = TUNING[5000]
gains = {count: gain("masked", scratch, count)[0] for count in rows[scratch]}
labels = ["50 labels", "500 labels", "5,000 labels"]


def told(*names):
    lines = [
        (name, *(show.mean_from_to(of, "{:.1f}") for of in rows[name].values())) for name in names
    ]
    return show.table(lines, ["Right, % (lowest to highest seed)", *labels])


show.predict(
    f"With 50 labels a bidirectional model without pretraining is right in about {mean(rows[scratch]['50']):.0f} % of the test words. How many percentage points does masked pretraining add, on average?",
    choices={"none": 0, "about 5": 5, "about 15": 15, "about 30": 30},
    answer=gains["50"],
    why="No label was seen in pretraining, so the stress itself must still be learned from 50 words.",
    reveals=told(scratch, "masked", "causal, not pretrained", "causal"),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    f"Control 1, more updates. Model A is not pretrained, but takes {transfer['steps']:,} more steps on the same 5,000 labelled words. Model B is pretrained and then takes the usual {usual} steps. How does A compare with B?",
    choices={"clearly worse": -3, "about the same": 0, "clearly better": 3},
    answer=gain(longer, "masked", "5000")[0],
    why="With 5,000 labels the usual training was too short. With 50 or 500 labels more steps bring no gain that we can measure.",
    reveals=told(scratch, longer, "masked", both),
)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def against(row, base):
    """By number of labels: the mean difference in points, and the ends of its 95 % interval."""
    found = {count: gain(row, base, count) for count in rows[row]}
    return {count: (by, by - half, by + half) for count, (by, half) in found.items()}


pretrained = against("masked", scratch)
causal_too = against("causal", "causal, not pretrained")
over_longer = against("masked", longer)
both_over_longer = against(both, longer)
more_updates = against(longer, scratch)
over_table = against("masked", table)
over_causal = against("masked", "causal")
kept = 100 * gain(table, scratch, "500")[0] / gains["500"]
differences = {
    ("masked", scratch): pretrained,
    ("causal", "causal, not pretrained"): causal_too,
    ("masked", longer): over_longer,
    (both, longer): both_over_longer,
    ("masked", table): over_table,
    ("masked", "causal"): over_causal,
}
holds = holm(  # corrected for all the comparisons of the table; five seeds, so t has 4 degrees of freedom
    {
        (name, count): two_sided(abs(gap) / ((high - gap) / critical(4)), 4)
        for name, of in differences.items()
        for count, (gap, _, high) in of.items()
    }
)
lines = []
for name, of in differences.items():
    cells = (
        show.estimate(*interval, "{:.1f}") + ("*" if holds[name, count] < 0.05 else "")
        for count, interval in of.items()
    )
    lines.append((" − ".join(name), *cells))
gaps_told = show.table(
    lines,
    ["Difference in points (95 % interval)", *labels],
    note=f"* the difference holds when corrected for all {len(holds)} comparisons (Holm)",
)
show.predict(
    "Control 2, embeddings only. We keep the pretrained letter vectors and reset both layers. How much of the gain at 500 labels is left?",
    choices={"hardly any": 10, "about half": 50, "nearly all": 95},
    answer=kept,
    why="On average most of the gain comes from the layers, not from the letter vectors. The last table below gives the intervals.",
    reveals=[told(scratch, table, "masked"), widgets.transfer_explorer(transfer), gaps_told],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The table has 18<!--[[len(holds)]]--> comparisons, so even if nothing helped, about one 95 % interval would exclude 0. We say that a difference *holds* if it survives the correction for all of them (Holm's method, [lecture 19](19_do_modifications_transfer.ipynb)).
# - **With 500 labels pretraining helps**, by 3.7<!--[[pretrained["500"][0]:.1f]]--> points. More updates do not explain all of it. With the same updates on both sides, 3.0<!--[[both_over_longer["500"][0]:.1f]]--> points are left, and both differences hold<!--[[? holds[("masked", scratch), "500"] < 0.05 and holds[(both, longer), "500"] < 0.05]]-->.
# - **Do the layers help, and not just the letter vectors?** With 5,000 labels the layers do. The model with all pretrained weights is 3.6<!--[[over_table["5000"][0]:.1f]]--> points ahead of the model that keeps only the letter vectors, and this difference holds<!--[[? holds[("masked", table), "5000"] < 0.05]]-->. With 500 labels the lead of 3.1<!--[[over_table["500"][0]:.1f]]--> points is a hint. Its interval excludes 0, but the difference does not hold<!--[[? over_table["500"][1] > 0 and holds[("masked", table), "500"] > 0.05]]-->.
# - **With 5,000 labels and enough steps pretraining brings nothing that we can measure.** The usual 240<!--[[usual]]--> steps were too few there. More steps bring 6.2<!--[[more_updates["5000"][0]:.1f]]--> points without any pretraining. With the same updates on both sides 0.6<!--[[both_over_longer["5000"][0]:.1f]]--> points are left, and the interval contains 0<!--[[? both_over_longer["5000"][1] < 0 < both_over_longer["5000"][2]]]-->.
# - **With 50 labels** the masked model gains 4.2<!--[[pretrained["50"][0]:.1f]]--> points and the causal one 4.5<!--[[causal_too["50"][0]:.1f]]-->; only the latter holds<!--[[? holds[("masked", scratch), "50"] > 0.05 > holds[("causal", "causal, not pretrained"), "50"]]]-->. Five seeds cannot say what helps there.
# - **Masked or causal?** Every interval contains 0<!--[[? all(low < 0 < high for _, low, high in over_causal.values())]]-->. These seeds cannot tell the objectives apart.
# - More steps on 500 labels harm the pretrained model here. Its accuracy falls from 73.0<!--[[mean(rows["masked"]["500"]):.1f]]--> to 71.5<!--[[mean(rows[both]["500"]):.1f]]--> % on average, and it falls with every seed<!--[[? all(a > b for a, b in zip(rows["masked"]["500"], rows[both]["500"]))]]-->. So a control with *early stopping* ([lecture 5](05_training_well.ipynb)) would be stronger than ours.
# </details>
#
# **Pretraining helps with 500 labels. With 5,000 labels and more updates it adds at most 1.5<!--[[both_over_longer["5000"][2]:.1f]]--> points, the upper end of the 95 % interval.** This is one task, with words instead of texts, a hundred thousand parameters and one learning rate for all kinds of model.

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Before the first prediction let the room read five words aloud and find the rule (there is none that they can state; *-tion* and *-ic* come close). Ask for further explanations: better initial scale, other
# words seen. What goes wrong: they compare a pretrained causal model with a bidirectional one without pretraining, which confounds two things.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. From word vectors to contextual vectors
#
# A **static vector** is one row of a table: *bank* has the same vector in *river bank* and in *bank loan* ([lecture 2](02_tokens_and_vectors.ipynb)). ELMo (2018) uses the *states* of a language model instead. Such a **contextual vector**, the state of the token
# after some layer, depends on the sentence.
#
# We wrote 96<!--[[len(sentences())]]--> sentences for eight ambiguous words (*bank, play, bat, spring, match, seal, letter, star*), each in two senses. In half of them the clue comes *before* the word, in half *after* it. We compare the word's vector in each sentence with its vectors in all other sentences. Is it closer, by mean
# cosine, to those with the same sense than to those with the other? A random guess is right half of the time. A static vector cannot do better, because it is the same in all sentences.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
reader, wordpieces = minilm()  # sees both sides
writer, bytepairs = smollm2()  # causal
chosen = {word: [one for one in sentences() if one.word == word] for word in ("bank", "play")}
vectors = {
    name: {
        word: (
            [one.text for one in of],
            [one.sense for one in of],
            states(model, tokenizer, [(one.text, word) for one in of]).numpy(),
        )
        for word, of in chosen.items()
    }
    for name, model, tokenizer in (("MiniLM", reader, wordpieces), ("SmolLM2", writer, bytepairs))
}
print("bank, in MiniLM:", vectors["MiniLM"]["bank"][2].shape, "sentence, layer, dimension")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
senses = stored("senses")
by_layer = {
    (model, way): [100 * of["share"] for of in layers]
    for model, ways in senses["rows"].items()
    for way, layers in ways.items()
}
middle = len(by_layer["SmolLM2", "whole, clue after"]) // 2 - 1


def share_of(model, way, layer):
    of = senses["rows"][model][way][layer]
    return show.estimate(*(100 * of[key] for key in ("share", "low", "high")), "{:.0f}")


def shares_told(*ways, note=""):
    lines = [
        (f"{way} the word", share_of("MiniLM", way, -1), share_of("SmolLM2", way, middle))
        for way in ways
    ]
    head = ["Right, % (95 % interval)", "MiniLM, layer 6", f"SmolLM2, layer {middle + 1}"]
    return show.table(lines, head, note)


show.predict(
    "*The bank was covered with mud after the flood.* In sentences like this one the clue comes after the word. In what fraction of them does the vector of SmolLM2's middle layer give away the sense?",
    choices={"about half": 50, "about 75 %": 75, "nearly all": 97},
    answer=by_layer["SmolLM2", "whole, clue after"][middle],
    why="The vector was computed before the clue was read, and later tokens cannot change it. If the clue comes first, the same model is right nearly always.",
    reveals=shares_told("whole, clue before", "whole, clue after"),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
average = senses["neighbours"]  # of the other words' static vectors
more_than_neighbours = [
    senses["rows"]["MiniLM"][f"whole, {clue}"][-1]["right"] - average[clue]["right"]
    for clue in ("clue before", "clue after")
]
every = sentences()
of_each = {  # one vector per sentence
    "average": neighbours(every),
    "clues": neighbours(every, clues=True),
    "MiniLM": states(reader, wordpieces, [(one.text, one.word) for one in every])[:, -1],
}
centred = {name: all_guesses(every, of_each[name]) for name in ("MiniLM", "average")}
only_one_right = [
    sum(a > b for a, b in zip(centred[one], centred[other], strict=True))
    for one, other in (("MiniLM", "average"), ("average", "MiniLM"))
]
by_chance = mcnemar(centred["MiniLM"], centred["average"])
not_centred = {
    name: 100 * mean(all_guesses(every, of, centred=False)) for name, of in of_each.items()
}
cut_told = shares_told(
    *(f"{way}, clue after" for way in ("whole", "cut", "twice")),
    note=f"The other words' static vectors: {100 * average['clue after']['share']:.0f} %.",
)
show.predict(
    "MiniLM sees both sides. We cut off the same sentences after the word (*The bank*). How often is the word's vector closer to the right sense now?",
    choices={"about half": 55, "about 75 %": 75, "nearly all": 97},
    answer=by_layer["MiniLM", "cut, clue after"][-1],
    why="Without the rest of the sentence MiniLM does hardly better than a guess, like SmolLM2.",
    reveals=[cut_told, widgets.senses_explorer(vectors)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# | right, % | clue first | clue later |
# |---|---|---|
# | MiniLM, whole sentence | 96<!--[[by_layer["MiniLM", "whole, clue before"][-1]:.0f]]--> | 98<!--[[by_layer["MiniLM", "whole, clue after"][-1]:.0f]]--> |
# | MiniLM, cut off after the word | 92<!--[[by_layer["MiniLM", "cut, clue before"][-1]:.0f]]--> | 58<!--[[by_layer["MiniLM", "cut, clue after"][-1]:.0f]]--> |
# | SmolLM2, layer 15<!--[[middle + 1]]--> | 96<!--[[by_layer["SmolLM2", "whole, clue before"][middle]:.0f]]--> | 50<!--[[by_layer["SmolLM2", "whole, clue after"][middle]:.0f]]--> |
# | SmolLM2 reads the sentence twice | 98<!--[[by_layer["SmolLM2", "twice, clue before"][middle]:.0f]]--> | 94<!--[[by_layer["SmolLM2", "twice, clue after"][middle]:.0f]]--> |
# | average of the other words' static vectors | 94<!--[[100 * average["clue before"]["share"]:.0f]]--> | 92<!--[[100 * average["clue after"]["share"]:.0f]]--> |
#
# - If SmolLM2 reads the sentence *twice*, the vector of the second *bank* gives away the sense.
# - **A simpler explanation.** Forget the layers and average the *static* vectors of the other words. MiniLM is right in only one<!--[[words(more_than_neighbours[0])]]--> sentence more than this average if the clue comes first, and in three<!--[[words(more_than_neighbours[1])]]--> more if it comes later. Such small differences may be chance. Over all sentences, MiniLM alone is right in 6<!--[[only_one_right[0]]]-->, the average alone in 2<!--[[only_one_right[1]]]-->. If a fair coin decided which of the two is right in each of these, a split at least as uneven would have a probability of 0.29<!--[[by_chance:.2f]]--> (this is a *sign test*).
# - In SmolLM2's first layer the accuracy is near chance even if the clue comes first (52<!--[[by_layer["SmolLM2", "whole, clue before"][0]:.0f]]--> %); after layer 5 it is 90<!--[[by_layer["SmolLM2", "whole, clue before"][4]:.0f]]--> %.
# - Cosines between contextual vectors are large, as Ethayarajh (2019) found for ELMo, BERT and GPT-2. In MiniLM's last layer they are 0.86<!--[[senses["cosines"]["MiniLM"][-1][0]:.2f]]--> within a sense and 0.77<!--[[senses["cosines"]["MiniLM"][-1][1]:.2f]]--> between senses. So we subtract the mean of a word's vectors before we compare them.
# - Without this subtraction the average of static vectors is right in only 81<!--[[not_centred["average"]:.0f]]--> % of all sentences, and MiniLM in 93<!--[[not_centred["MiniLM"]:.0f]]--> %. But an average that leaves out function words and special tokens does well even then: it is right in 95<!--[[not_centred["clues"]:.0f]]--> %.
# </details>
#
# **In MiniLM's last layer and in SmolLM2's layer 15<!--[[middle + 1]]--> a word's vector gives away its sense if the model has read the clue, and hardly otherwise.** We tested eight words, in sentences that we wrote. We do not show that this needs more than an average of the neighbours' static vectors.

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Ask for a sentence in which even people need the end ("The old man the boats"). Let the layer slider play and stop where two blocks appear. What goes wrong: students conclude that causal models do not know
# senses. They do, once the clue has been read; only the state at the word cannot.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Four ways to use a pretrained model
#
# | way | what is trained | formula |
# |---|---|---|
# | **probing** | a linear map of frozen states | $\mathrm{softmax}(\bar h V + b)$ |
# | **fine-tuning** | every weight of the model, and the linear map | the same |
# | **LoRA** | two thin matrices per weight matrix | $W' = W + \frac{\alpha}{r} B A$ |
# | **prompting** | nothing | $P(\text{“ question”} \mid \text{examples, sentence})$ |
#
# In probing, $\bar h$ is the mean of the model's states, and $V$ and $b$ are the weights of the linear map.
#
# **LoRA** (Hu et al. 2021) assumes that fine-tuning changes a weight matrix by a matrix of low rank. It freezes $W$ and learns this change as a product $BA$, where $A$ has $r$ rows and $B$ has $r$ columns. The constant $\alpha / r$ scales the change. Together $A$ and $B$ form an **adapter**. At the start $B = 0$, so nothing changes.


# %% slideshow={"slide_type": "fragment"}
def low_rank(W, A, B, alpha):
    """W (out, in), A (rank, in), B (out, rank)."""
    return W + alpha / len(A) * B @ A


layer = torch.nn.Linear(6, 4)
adapter = LoRA(torch.nn.Sequential(layer), rank=2)
part = adapter.parts[0]
torch.nn.init.normal_(part.B)
W = layer.parametrizations.weight.original
print("as in the library:", torch.allclose(layer.weight, low_rank(W, part.A, part.B, 2)))
print(
    "trained:", sum(p.numel() for p in adapter.parameters()), "parameters instead of", W.numel()
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sizes = {}
for name, model in (("MiniLM", reader), ("SmolLM2", writer)):
    shapes = [tuple(getattr(module, of).shape) for module, of in matrices(model).values()]
    sizes[name] = (sum(p.numel() for p in model.parameters()), shapes)
widgets.adapter_playground(sizes, lambda rank, out, into: rank * (out + into))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Question or statement?** We take sentences of Shakespeare without their punctuation and capitals. *wherefore art thou sad* is a question, *thou art sad* a statement. There are 64<!--[[n]]--> labelled sentences to learn from, and
# 120<!--[[ways["tests"]]]--> from other plays to test on. A prompt holds the first 8<!--[[shots]]--> of the 64<!--[[n]]-->. We use five seeds, each with different examples (`python -m lectures.recipes four_ways`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ways = stored("four_ways")
n, shots = ways["examples"], ways["shots"]
ours = {name: of["right"] for name, of in ways["rows"].items()}
compared = {
    way: mean(ours[f"{way}, {n} examples"]) for way in ("naive Bayes", "probing", "fine-tuning")
}
compared["prompting"] = mean(ours[f"prompting, {shots} examples"])


def ahead(way, other):
    """(mean difference in points, the ends of its 95 % interval), seed by seed; all with the same examples."""
    pairs = zip(ours[f"{way}, {n} examples"], ours[f"{other}, {n} examples"], strict=True)
    gap, half = mean_interval(a - b for a, b in pairs)
    return gap, gap - half, gap + half


asks = ways["rows"][f"prompting, {shots} examples"]["questions"]
ways_told = HTML(
    show.bar_list_svg(
        [mean(of) for of in ours.values()],
        list(ours),
        says=[
            f"{mean(of):.0f} %" + (f" ({min(of):.0f} to {max(of):.0f})" if len(of) > 1 else "")
            for of in ours.values()
        ],
        reach=100,
        width=760,
        title="Question or statement? Right answers",
        note="mean over five seeds (lowest to highest); chance is 50 %",
    )
)
show.predict(
    f"Half of the test sentences are questions, and so are half of the {shots} examples in the prompt. How often does SmolLM2 answer “question” (mean over five seeds)?",
    choices={"about 30 %": 30, "about 50 %": 50, "about 85 %": 85},
    answer=mean(asks),
    unit=" %",
    why="It prefers one of the two words.",
    reveals=ways_told,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Fine-tuning** is right in 80<!--[[compared["fine-tuning"]:.0f]]--> % of the sentences, 17<!--[[ahead("fine-tuning", "naive Bayes")[0]:.0f]]--> points ahead of naive Bayes, which counts words<!--[[? ahead("fine-tuning", "naive Bayes")[1] > 0]]-->.
# - **A rule written by hand** needs no examples: a sentence that begins with a question word, or with a verb form such as *art* or *will*, is a question. The rule is right in 78<!--[[ours["a rule, no examples"][0]:.0f]]--> %. So 64 examples bring fine-tuning about as far as this rule<!--[[? abs(compared["fine-tuning"] - ours["a rule, no examples"][0]) < 3]]-->.
# - **LoRA** trains 1.3<!--[[100 * ways["rows"]["LoRA, 64 examples"]["trained"] / ways["rows"]["fine-tuning, 64 examples"]["trained"]:.1f]]--> % of the parameters and is 4.0<!--[[ahead("fine-tuning", "LoRA")[0]:.1f]]--> points behind fine-tuning. The interval just excludes 0<!--[[? 0 < ahead("fine-tuning", "LoRA")[1] < 0.5]]-->. We make three such comparisons, so this is only a hint.
# - **Probing** is right in 59<!--[[compared["probing"]:.0f]]--> %, naive Bayes in 62<!--[[compared["naive Bayes"]:.0f]]--> %. The interval of the difference contains 0<!--[[? ahead("probing", "naive Bayes")[1] < 0 < ahead("probing", "naive Bayes")[2]]]-->, so these seeds cannot rank them. Our probe reads the mean of the last layer's states, so this is the result of one probe, not the limit of probing. In the project of this lecture you look for a better probe.
# - **Prompting** is right in 55<!--[[compared["prompting"]:.0f]]--> %. But with three<!--[[words(sum(of > 95 for of in asks))]]--> of the five seeds the model answers “question” nearly always, whatever it reads.
# - With 120<!--[[ways["tests"]]]--> test sentences, one seed's percentage is uncertain by about 8<!--[[196 * (0.7 * 0.3 / ways["tests"]) ** 0.5:.0f]]--> points. SmolLM2 may have been trained on Shakespeare's plays; we cannot check that.
# </details>
#
# **Naive Bayes, probing, LoRA and fine-tuning get the same examples; prompting does not.** Its prompt has 8<!--[[shots]]--> examples, while the other methods have 64<!--[[n]]-->.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
prompted = stored("prompts")["rows"]
as_text, as_chat = prompted[f"text, {n} examples"], prompted[f"chat, {n} examples"]
alone = {key: of[0] for key, of in prompted["text, no examples"].items()}
by_examples, by_examples_half = mean_interval(as_text["right_calibrated"])
by_calibration, by_calibration_half = mean_interval(
    a - b for a, b in zip(as_text["right_calibrated"], as_text["right"], strict=True)
)
counted = ours[f"naive Bayes, {n} examples"][: len(as_text["right"])]  # of the same seeds
over_bayes, over_bayes_half = mean_interval(
    a - b for a, b in zip(as_text["right_calibrated"], counted, strict=True)
)
tuned = ours[f"fine-tuning, {n} examples"][: len(counted)]
behind, behind_half = mean_interval(
    a - b for a, b in zip(tuned, as_text["right_calibrated"], strict=True)
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Prompting with all examples.** Now the prompt holds all 64<!--[[n]]--> of them, as plain text or in the chat format. To **calibrate** a prompt (Zhao et al. 2021), ask the same question about inputs without content, such as "N/A", and subtract the preference that the model shows there. The last column is the share of pairs (a question and a statement) in which the question scores higher for “question”. The table has three<!--[[words(len(counted))]]--> of the five seeds (`python -m lectures.recipes prompts`):
#
# | prompt | right, % | calibrated, % | pairs ranked right, % |
# |---|---|---|---|
# | no examples, as text | 50<!--[[alone["right"]:.0f]]--> | 59<!--[[alone["right_calibrated"]:.0f]]--> | 59<!--[[alone["ranked"]:.0f]]--> |
# | 8<!--[[shots]]--> examples, as text | 56<!--[[mean(prompted["text, 8 examples"]["right"]):.0f]]--> | 62<!--[[mean(prompted["text, 8 examples"]["right_calibrated"]):.0f]]--> | 65<!--[[mean(prompted["text, 8 examples"]["ranked"]):.0f]]--> |
# | 64<!--[[n]]--> examples, as text | 55<!--[[mean(as_text["right"]):.0f]]--> | 64<!--[[mean(as_text["right_calibrated"]):.0f]]--> | 75<!--[[mean(as_text["ranked"]):.0f]]--> |
# | 64<!--[[n]]--> examples, in the chat format | 50<!--[[mean(as_chat["right"]):.0f]]--> | 47<!--[[mean(as_chat["right_calibrated"]):.0f]]--> | 41<!--[[mean(as_chat["ranked"]):.0f]]--> |
#
# - Chance is 50 % in the last column, and a constant bias does not change the column. With 64<!--[[n]]--> examples as text the ranking is better than chance with each seed<!--[[? min(as_text["ranked"]) > 70]]-->.
# - After calibration, the prompt with 64<!--[[n]]--> examples cannot be distinguished from naive Bayes on the same seeds<!--[[? abs(over_bayes) < over_bayes_half]]-->. Fine-tuning is 14<!--[[behind:.0f]]--> points ahead of this prompt<!--[[? behind > behind_half]]-->.
# - The chat format does not help here. The model answers “question” every time<!--[[? set(as_chat["questions"]) == {100}]]-->. We do not know why.
# - **Does calibration help?** With 64<!--[[n]]--> examples as text it adds 9<!--[[by_calibration:.0f]]--> points on average, but the interval of the three seeds contains 0<!--[[? 0 < by_calibration < by_calibration_half]]-->.
# - **Do the examples help?** All 64<!--[[n]]--> as text help the ranking, with each of the three seeds<!--[[? min(as_text["ranked"]) > alone["ranked"] + 10]]-->. For the calibrated answers the interval of the three seeds contains the 59<!--[[alone["right_calibrated"]:.0f]]--> % of the prompt without examples<!--[[? by_examples - by_examples_half < alone["right_calibrated"]]]-->, so there we cannot tell.
#
# **Before you say that prompting fails, look at the ranking as well.** With 64<!--[[n]]--> examples, this small model's calibrated answers are also right somewhat more often than a coin toss<!--[[? by_examples - by_examples_half > 50]]-->. This says nothing about GPT-3, which has more than a thousand times as many parameters.

# %% [markdown] slideshow={"slide_type": "notes"}
# *14 minutes. Ask for each way what must be stored for a hundred tasks. Move the rank until the adapter is larger than the model. What goes wrong: they take prompting for training ("it learned from 8 examples"); no
# weight has changed.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. What holds at our scale
#
# | claim | at our scale |
# |---|---|
# | Pretraining helps where labels are few. | Yes, by about 4<!--[[pretrained["500"][0]:.0f]]--> points at 500 labels. At 50 the gain is about as large, but with the masked model it may be chance (section 4). |
# | The gain is more than the effect of additional updates. | Yes at 500 labels. **Not seen at 5,000.** At 50, five seeds cannot tell. |
# | The gain comes from more than the embedding table. | Yes at 5,000 labels (with the usual number of steps). At 500 there is a hint. At 50, five seeds cannot tell. |
# | For classification, masked pretraining is better than causal. | Not seen on our one task. All three intervals of the difference contain 0<!--[[? all(low < 0 < high for _, low, high in over_causal.values())]]-->. |
# | Only a bidirectional model can fill gaps. | No. A causal model that tries all letters can also fill them, at 27<!--[[len(LETTERS)]]--> times the cost (section 3). |
# | Contextual vectors tell senses apart. | Yes, but the average of the neighbours' static vectors does so nearly as well (section 5). |
# | A causal model's vector cannot know what follows. | True. Reading the sentence twice gets round this (section 5). |
# | Models learn tasks from examples in the prompt. | A little. As plain text, 64<!--[[n]]--> examples improve the ranking. Whether they improve the answers, three seeds cannot tell (section 6). |
#
# **Pretraining helped where labels were few, by a few points. Only controls can tell what exactly helped, and some of the controls need more than five seeds.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Vote on each line before you read it out. What goes wrong: "it was not seen here, so it is false". Our letter models have a hundred thousand parameters.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write the mask of a prefix LM: the first `size` positions see each other in both directions, and later positions see everything before them. The line above the picture says whether your mask agrees with the library's at every size. The buttons switch between the masks.


# %% slideshow={"slide_type": "fragment"}
def my_mask(n, size):
    """(query, key), True = may attend. Change this: it is only causal."""
    return causal_mask(n)


drawn = {
    "a prefix LM": lambda n, size: prefix_mask(torch.tensor([size]), n)[0],
    "a causal LM": lambda n, size: causal_mask(n),
}
as_ours = all(torch.equal(my_mask(24, n), drawn["a prefix LM"](24, n)) for n in range(1, 25))
print("same mask as the library's at every size:", as_ours)
widgets.pattern_playground(dict(yours=my_mask, **drawn), 24, size=8, layers=2)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. One line suffices: a causal mask, or a key below `size`. What goes wrong: the prefix is allowed to see later positions.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`pretraining.ipynb`](../exercises/pretraining/pretraining.ipynb) you write the masked objective, a probe with its controls, and a low-rank adapter by hand, which gives SmolLM2 a manner of speaking. As a project of one page, improve the probe of section 6. Choose a layer and a pooling with only the 64 labels. Then say, with five seeds and intervals, whether it is better than
# ours, and than naive Bayes.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. For which of the three objectives does a model need only a causal mask, with no change to its input?
# <details><summary>Answer</summary>For the causal one. The masked objective changes the input, and span corruption has a source and a target.</details>
#
# 2. BERT must guess 15 % of the tokens, and one in ten of these is left unchanged. Why?
# <details><summary>Answer</summary>The model cannot tell them from tokens that carry no loss. The authors expect that it therefore forms a good vector for every token (Devlin et al. 2019, appendix A.1).</details>
#
# 3. A pretrained model is better with 50 labels. Which two experiments do you run before you credit pretraining?
# <details><summary>Answer</summary>Train with the same number of updates on both sides, and keep only the pretrained embeddings. Run both experiments with several seeds, give each difference with its interval, and correct for the number of differences that you look at.</details>
#
# 4. A causal model's vector of *bank* in "The bank of the river" does not give away its sense. Is the model unable to know the sense?
# <details><summary>Answer</summary>No. The vector was computed before *river* was read. When the sentence is read twice, the vector of the second *bank* gives away the sense.</details>
#
# 5. You adapt a 1,000 × 1,000 matrix with LoRA of rank 8. How many parameters are trained?
# <details><summary>Answer</summary>$8 \cdot (1000 + 1000) = 16{,}000$ instead of a million.</details>
#
# 6. You have a thousand labels and a frozen encoder whose probe is poor. What can you conclude?
# <details><summary>Answer</summary>Only that the linear map that you trained on this layer's mean state does not find the classes. Another layer, another way of pooling or fine-tuning may find them.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 4. What goes wrong: they answer that causal models have no contextual vectors.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $M$ | $\mathcal{M}$, $\Pi$ | positions to guess |
# | $\tilde w$ | $\hat x$, $x^{\text{corrupt}}$ | the text that is read |
# | $A$, $B$, $r$, $\alpha$ | the same | LoRA's matrices, rank and scale |
# | span corruption | denoising | T5's objective |
# | masked | cloze, MLM | BERT's objective |
# | contrastive objective | InfoNCE, in-batch negatives | how MiniLM's sentence vectors were made |
# | $\tau$ | temperature | makes the choice among the pairs sharper |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: $M$ is a set of positions, not the attention mask.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **pretraining**: training on unlabelled text, before training on the task that you care about.
# - **masked language model**: a bidirectional model that predicts hidden tokens at their own positions; it gives no distribution over texts.
# - **diffusion language model**: a model that is trained like a masked language model, but with every fraction of hidden tokens; it writes by filling in masks step by step.
# - **span corruption**: pretraining in which sentinels replace spans and a decoder writes the spans.
# - **sentinel**: a special token that replaces a missing span.
# - **prefix LM**: a language model that reads a prefix in both directions and writes the rest causally.
# - **contrastive objective**: for each sentence, choosing its partner among the second sentences of all pairs of a batch.
# - **fine-tuning**: training a pretrained model further, on another task.
# - **transfer**: using on one task what was learned on another.
# - **static vector**: one vector per word of a vocabulary, the same in every sentence.
# - **contextual vector**: the state of a token, which depends on the text that the model has read.
# - **probing**: training only a linear map of frozen states on a task.
# - **LoRA**: adding a learned product of two thin matrices to a frozen weight matrix.
# - **adapter**: the few weights that are trained for a task while the model stays frozen.
# - **calibrate**: to subtract a model's preference on inputs without content.
# - **prompting**: using a language model for a task by its prompt, without changing a weight.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Dai & Le (2015), Semi-supervised Sequence Learning. Howard & Ruder (2018), ULMFiT. Peters et al. (2018), ELMo. Devlin, Chang, Lee & Toutanova (2019), BERT. Clark et al. (2020), ELECTRA. Lewis et al. (2020), BART. Radford et al. (2018), GPT. Radford et al. (2019), GPT-2. Brown et al. (2020), GPT-3. Raffel et al. (2020), T5. Narang et al. (2021), Do Transformer Modifications Transfer?
# Liu et al. (2019), RoBERTa. Wang et al. (2020), MiniLM. Reimers & Gurevych (2019), Sentence-BERT. OpenAI (2023), GPT-4 Technical Report. Wang et al. (2018), GLUE. Wang et al. (2019), SuperGLUE. Touvron et al. (2023), Llama. Ben Allal et al. (2025), SmolLM2. Hu et al. (2021), LoRA. Zhao et al. (2021), Calibrate Before Use. Ethayarajh (2019), How Contextual are Contextualized Word Representations?
# Alain & Bengio (2017), linear probes. Springer et al. (2024), Repetition Improves Language Model Embeddings. Dodge et al. (2020), Fine-Tuning Pretrained Language Models: Weight Initializations, Data Orders, and Early Stopping. Nie et al. (2025), Large Language Diffusion Models.
