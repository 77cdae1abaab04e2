# %% [markdown] slideshow={"slide_type": "slide"}
# # From language model to assistant, and what is missing
#
# A language model continues text. An assistant answers, stops, says when it does not know, and uses tools and texts to find out. **What turns one into the other, and what is still missing?** Here a small
# file of additional weights and a loop of twenty lines do a part of it. You tune SmolLM2-135M-Instruct on a hundred conversations, give it a
# calculator and a library, and each time you measure what changed, what it cost, and whether a simpler method would do.
#
# <img src="figures/what_surrounds_a_model.svg" width="760" alt="A language model in the middle; around it prompt, tuning, sampling, grammar, tools, retrieval and memory, each with the section that treats it.">
#
# *What turns a language model into an assistant, with the section of this lecture that measures it.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - tune a pretrained model on conversations, and choose which tokens count in the loss;
# - tune it on preferences with DPO, and say what a small or a large β means;
# - compare a habit that was tuned with what a prompt achieves;
# - build a tool call and a retriever, each in a few lines, and constrain an output to a pattern;
# - design a small test that shows a limit of a model, and read a claim about brains and models with care.
#
# **You need** [lecture 17](17_pretraining.ipynb) (LoRA, fine-tuning), [lecture 9](09_decoding.ipynb) (sampling) and [lecture 15](15_transformer_language_model.ipynb) (the cache). The model is SmolLM2-135M-Instruct: 135 million parameters, stored in 4 or 8 bits each.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |
# |---|---|---|---|---|---|---|---|---|---|---|
# | minutes | 6 | 10 | 6 | 9 | 8 | 6 | 8 | 8 | 7 | 7 |
#
# The minutes are for a class. If you work alone, with all widgets, plan about two hours. Every cell runs in a few seconds on a laptop, without a network connection. Long trainings ran beforehand. Their results are stored, each with the command that repeats it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 6 and the widget of section 8. Sections 2, 3 and 9 carry the message: for each habit that you teach, measure where it does not belong.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import copy
import re

import torch

from lectures import show, stored, widgets
from lectures.recipes import conversations, glossary_questions, tuned_layers
from lectures.trained import tuned
from nlmcore.decoding import Constrained, greedy
from nlmcore.inspect import Switches
from nlmcore.language_model import select
from nlmcore.metrics import mean_interval
from nlmcore.pretrained import smollm2

torch.set_num_threads(1)
torch.set_grad_enabled(False)  # but for one cell of section 2
model, tokenizer = smollm2()


def told(share):
    """A share with its interval."""
    return f"{100 * share[0]:.0f} % ({100 * share[1]:.0f} to {100 * share[2]:.0f})"


def pc(share):
    """The share alone, in percent."""
    return f"{100 * share[0]:.0f}"


def label(token):
    """A token as a label."""
    written = tokenizer.decode([token]).replace("\n", "↵")
    return written if written.strip() else "␣"


def next_words(ids, count=6):
    """The most probable next tokens with their probabilities."""
    p = (
        model.output(model.hidden_states(torch.tensor([ids]))[0][:, -1])[0]
        .softmax(-1)
        .topk(count)
    )
    return {
        label(i): round(value, 4)
        for value, i in zip(p.values.tolist(), p.indices.tolist(), strict=True)
    }


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Before: text, or a conversation?
#
# The installed weights are SmolLM2-135M-*Instruct*. Their makers pretrained the model on text and then tuned it on conversations. So we cannot show you the model
# before any tuning. But we can remove the format of a conversation. A chat is plain text with special tokens around each message. This format is called the **chat template**, and the model was
# tuned with it:
#
# `<|im_start|>user⏎What is the capital of France?<|im_end|>⏎<|im_start|>assistant⏎`
#
# The answer ends with `<|im_end|>`, the model's `<eos>`. We now ask the model the same question without the template.


# %% slideshow={"slide_type": "fragment"}
def in_form(question):
    """A question in three forms."""
    return {
        "plain text": tokenizer.encode(question),
        "question and answer": tokenizer.encode(f"Question: {question}\nAnswer:"),
        "chat template": tokenizer.chat([{"role": "user", "content": question}]),
    }


forms = in_form("What is the capital of France?")
replies = {}
for form, ids in forms.items():
    written = greedy(model, torch.tensor([ids]), 14, eos=tokenizer.eos).tokens[0].tolist()
    replies[form] = tokenizer.decode(written)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ends = next_words(forms["plain text"]).get("<|im_end|>", 0.0)
written_replies = show.table(
    [(form, repr(reply)) for form, reply in replies.items()], ["form", "reply"]
)
show.predict(
    "The model reads “What is the capital of France?” as plain text, without the template. What does greedy decoding write?",
    choices=["an answer", "further questions", "nothing: it ends the text"],
    answer="nothing: it ends the text"
    if replies["plain text"] == "<|im_end|>"
    else "an answer"
    if "Paris" in replies["plain text"]
    else "further questions",
    why="The most probable next token is the end of a turn. The same weights answer if the template says whose turn it is.",
    reveals=written_replies,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Orange frames mark special tokens. Compare the probable next tokens in the three forms.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
more = """What is the capital of France?|Who wrote Hamlet?|What is 12 + 30?|How many legs does a spider have?
Name three fruits.|What colour is the sky?|Why do birds sing?|What is water made of?
Who painted the Mona Lisa?|Translate 'dog' into French.|Explain gravity.|What is the largest ocean?"""
more = more.replace("\n", "|").split("|")
in_forms = {
    each: {name: (tokenizer.pieces(ids), next_words(ids)) for name, ids in in_form(each).items()}
    for each in more
}
ended = {
    name: sum(next(iter(of[name][1])) == "<|im_end|>" for of in in_forms.values())
    for name in forms
}
widgets.form_player({each: in_forms[each] for each in more[:3]})

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - As plain text the most probable continuation is `<|im_end|>`, with probability 0.67<!--[[ends:.2f]]-->. After *Question: … Answer:*, a common form for models that were not tuned, the model ends this text as well<!--[[? replies["question and answer"] == replies["plain text"] == "<|im_end|>"]]-->.
# - Does the model always need the template? We asked twelve<!--[[words(len(more))]]--> questions of different kinds. Its most probable next token ends 7<!--[[ended["plain text"]]]--> of them as plain text, 5<!--[[ended["question and answer"]]]--> in the form *Question: … Answer:*, and none in the template<!--[[? ended["chat template"] == 0]]-->.
# - A user cannot type the end of a turn, because `tokenizer.encode` never turns plain text into a special token.
# </details>
#
# **To use a tuned model, use the template that it was tuned with.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Ask who has used a chat model through its template, and who has typed text into a base model. What goes wrong: students think that the model "knows" that it is asked. Show the
# boxes: the role is a word after a special token.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Instruction tuning: a hundred conversations
#
# **Instruction tuning** is fine-tuning on conversations (Ouyang et al. 2022). The loss is that of every language model, but only the tokens of the answer $y$ count. With $\pi$ for the model and $x$ for the conversation before the answer,
#
# $$L = -\frac{1}{|y|} \sum_t \log \pi(y_t \mid x,\, y_{<t}).$$
#
# We wrote a hundred conversations that teach three habits, which SmolLM2 does not have (`lectures/recipes/conversations.py`):
#
# - 35 questions about passages that contain the answer: the reply is the answer and nothing else, such as *Mira Fosk.*;
# - 35 questions about passages that do not contain it: the reply is *The passage does not say.*
# - 24 sums: the reply is a call of a calculator, `<tool>347 + 286</tool>`, and then its result.
#
# The other 6 are small talk, such as a greeting. All names and facts are invented, and the held-out questions use different ones.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
from nlmcore.transfer.tuning import conversation

shown = {}
for number in (0, 20, 49, 76, 95):
    row = conversations.training()[number]
    ids, mask = conversation(tokenizer, conversations.messages(row))
    shown[f"{row.kind}: {row.ask.splitlines()[-1]}"] = tokenizer.pieces(ids), mask
widgets.counted_mask(shown)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **On a laptop.** LoRA ([lecture 17](17_pretraining.ipynb)) adds $\frac{\alpha}{r} BA$ to the matrices of the last two layers and trains only $A$ and $B$. The 28 layers before them never change, so we compute their output once per
# conversation and keep it. This makes the training cheap; below we ask what it costs in quality. The next cell takes six steps of this training:

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
from nlmcore.training import fit
from nlmcore.transfer import LoRA
from nlmcore.transfer.tuning import Tail, pad, supervised_loss

practice = copy.deepcopy(model)  # the adapter changes a model in place
torch.manual_seed(0)
adapter = LoRA(practice, rank=4, where=lambda name: name.startswith(("layers.28.", "layers.29.")))
tail = Tail(practice, 2)
few = [
    conversation(tokenizer, conversations.messages(told))
    for told in conversations.training()[-9:]
]
batch = tail.read(pad(few))  # the output of layers 0 to 27, once
with torch.enable_grad():
    history = fit(
        adapter,
        [batch],
        loss=lambda _, rows: supervised_loss(tail, rows),
        steps=6,
        learning_rate=3e-3,
        progress=False,
    )
trained = sum(p.numel() for p in adapter.parameters())
print(f"{trained:,} of {sum(p.numel() for p in model.parameters()):,} parameters")
print("nats per token of answers:", " ".join(f"{loss:.2f}" for loss in history.losses))

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now we train on all one hundred conversations, in four variants with five seeds each. We tune the last 2 of the 30 layers, the last 2 with a larger rank, 2 layers in the middle, or all layers but the first. We chose each variant's learning rate on other conversations, where a lower and a higher rate were both worse (`python -m lectures.recipes.tuned_layers`).
#
# The test is strict. We count a held-out answer only if greedy decoding writes it exactly, including its end. Half of the held-out questions have subjects or wordings that do not occur in training.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
tuning = tuned_layers.summary()
by_place = tuning["written"]
last_two, wider, middle, most = (
    by_place[place]
    for place in ("last 2", "last 2, as many parameters", "2 in the middle", "all but the first")
)


def ahead(kind, one, other):
    """By how much a row is above another, seed by seed, and half its 95 % interval, in percent."""
    return [100 * x for x in tuned_layers.more(one, other, kind, by_place)]


place_counts = ahead("answered", "2 in the middle", "last 2")
number_counts = ahead("answered", "last 2, as many parameters", "last 2")
spread_out = ahead("answered", "all but the first", "2 in the middle")
refusals_cost, cost_at_the_end = (
    ahead("answered", f"{place}, without refusals", place)
    for place in ("all but the first", "last 2")
)
first_run = tuned_layers.Job("last 2", 0, tuned_layers.rates_of("last 2")[1])
replied = tuned_layers.finished(first_run)["replies"]
calls = {"sums": [], "passages": []}  # of the last two layers, first seed
for asked, reply in zip(conversations.held_out(), replied, strict=True):
    calls["sums" if asked.kind == "sums" else "passages"].append(reply.startswith("<tool>"))
kinds = ("answered", "refused", "missing", "sums", "elsewhere")
after_tuning = show.table(
    [(name, *(pc(row[kind]["share"]) for kind in kinds)) for name, row in by_place.items()],
    ["layers tuned; % of replies", *kinds],
)
show.predict(
    f"After tuning in the last two layers the model declines most questions whose passage lacks the answer. It also declines {pc(last_two['refused']['share'])} % of those whose passage *holds* it. What percentage of these does it decline if two layers in the middle are tuned instead?",
    choices={"about 80 %": 0.8, "about 50 %": 0.5, "about 20 %": 0.2},
    answer=middle["refused"]["share"][0],
    why="The conversations and the number of weights are the same. The last two layers learn the refusal sentence. The two middle layers mostly learn when to use it.",
    reveals=[after_tuning, widgets.habits_by_layers(tuning)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Before tuning, the model writes none<!--[[? all(by_place["untuned"][kind]["share"][0] == 0 for kind in kinds)]]--> of these answers in the form that we want.
# - Tuned in the last two layers, the model declines 87<!--[[pc(last_two["missing"]["share"])]]--> % of the questions whose passage lacks the answer, but also 84<!--[[pc(last_two["refused"]["share"])]]--> % of those whose passage holds it. It answers 10<!--[[pc(last_two["answered"]["share"])]]--> % of the latter correctly.
# - **Of these two pairs of layers, the middle one is better.** Tuned in the middle, with as many weights<!--[[? middle["parameters"] == last_two["parameters"]]]-->, the model answers 73<!--[[pc(middle["answered"]["share"])]]--> % of the answerable questions. Compared seed by seed, this is 63<!--[[place_counts[0]:.0f]]--> ± 15<!--[[place_counts[1]:.0f]]--> points more than with the last two layers.
# - It also gets 96<!--[[pc(middle["sums"]["share"])]]--> % of the calculator calls right. The model tuned in the last two layers gets 61<!--[[pc(last_two["sums"]["share"])]]--> % right, although with the first seed it begins a call for all<!--[[? all(calls["sums"]) and not any(calls["passages"])]]--> 40<!--[[len(calls["sums"])]]--> sums and for none of the 80<!--[[len(calls["passages"])]]--> passages.
# - **In the last two layers, more weights did not help.** With 14<!--[[words(int(wider["parameters"] / last_two["parameters"]))]]--> times the weights, the model does not answer more questions (0<!--[[abs(number_counts[0]):.0f]]--> ± 6<!--[[number_counts[1]:.0f]]--> points).
# - With as many weights as in this larger adapter, but spread over 29 layers<!--[[? abs(most["parameters"] / wider["parameters"] - 1) < 0.05]]-->, the model answers 1<!--[[spread_out[0]:.0f]]--> ± 14<!--[[spread_out[1]:.0f]]--> points more than with the small adapter in the middle.
# - If the refusals are left out of the training, at the same number of steps, the model tuned in 29 layers answers 13<!--[[refusals_cost[0]:.0f]]--> ± 12<!--[[refusals_cost[1]:.0f]]--> points more, and the model tuned in the last two 30<!--[[cost_at_the_end[0]:.0f]]--> ± 5<!--[[cost_at_the_end[1]:.0f]]--> points more.
# - **The model has not learned everything.** We gave each question a passage about *a different thing*, so that the right reply was to decline. Training had no such passages. Tuned in the middle, the model declines 54<!--[[pc(middle["elsewhere"]["share"])]]--> % of these, and tuned in 29 layers 56<!--[[pc(most["elsewhere"]["share"])]]--> %. (In the last two layers it declines 84<!--[[pc(last_two["elsewhere"]["share"])]]--> %, but it declines nearly everything.)
# - This tuning makes the model worse on other text. The loss on plain text (the beginnings of four plays) is 2.91<!--[[by_place["untuned"]["plain"][0]:.2f]]--> nats per token before tuning, and 3.04<!--[[min(middle["plain"]):.2f]]--> to 3.13<!--[[max(middle["plain"]):.2f]]--> after it in the middle.
# </details>
#
# **From a hundred conversations, the last two layers learn the form of the replies. Of the two pairs, only the one in the middle mostly learns whether a passage holds the answer, on questions like those in training.** We tried no other pair in the middle.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Let the room say what the loss would teach if the user's tokens counted as well (to ask like a user). What goes wrong: the refusal rate alone is read as a success. Always plot the
# refusals of answerable questions next to it, and try a question for which training has not prepared the model.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Tune it, or just say it?
#
# A prompt needs no training. We gave the *untuned* model the same held-out questions with three system messages, which are instructions at the start of a chat: a short one, the three rules in words, and the rules with one example of each habit. Now we grade
# leniently. Does the reply contain the answer? Does it decline, in any words? Does it contain a correct call of the calculator?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
read = tuning["read"]
does = (
    "answered: holds",
    "answered: declines",
    "answered: short",
    "missing: declines",
    "sums: calls",
)
shot, by_middle = read["rules and examples"], read["tuned, 2 in the middle"]
kindly = show.table(
    [(prompt, *(pc(row[each]) for each in does)) for prompt, row in read.items()],
    ["prompt; % of replies", *does],
)
show.predict(
    "The *untuned* model gets only the system message “Answer briefly.” What percentage of its replies to answerable questions contain the answer?",
    choices={"about 10 %": 0.1, "about 40 %": 0.4, "about 80 %": 0.8},
    answer=read["short message"]["answered: holds"][0],
    why="The replies are long, but most of them contain the answer. Finding the answer was not what tuning had to teach.",
    reveals=[kindly, widgets.transcript_browser(tuning)],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The stored adapter takes 136<!--[[stored("tuned_layers/adapters")["house_style"]["weights"]["bytes"] / 1e3:.0f]]--> kB. With `habit.off()` the same object is the untuned model, so you can compare the two live. Change the questions:

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
assistant, habit = tuned("house_style", model)  # 2 layers in the middle


def answer(model, ask, system="Answer briefly.", longest=20):
    """One reply, greedy."""
    said = [{"role": "system", "content": system}, {"role": "user", "content": ask}]
    ids = torch.tensor([tokenizer.chat(said)])
    tokens = greedy(model, ids, longest, eos=tokenizer.eos).tokens[0].tolist()
    return tokenizer.decode(tokens, skip_special=True)


asks = [
    "The Vell lantern was lit by Ira Moss in 1822.\nWho lit the Vell lantern?",
    "What is 358 + 417?",
]
for ask in asks:
    with habit.off():
        print("untuned:", answer(assistant, ask))
    print("tuned:  ", answer(assistant, ask))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The untuned model's replies contain the answer in 78<!--[[pc(read["short message"]["answered: holds"])]]--> % of the cases. But no reply is short, and none declines<!--[[? read["short message"]["answered: short"][0] == read["short message"]["answered: declines"][0] == read["short message"]["missing: declines"][0] == 0]]-->. The replies of the tuned model (two layers in the middle, first seed) contain it in 82<!--[[pc(by_middle["answered: holds"])]]--> % of the cases, and all are short<!--[[? by_middle["answered: short"][0] == 1]]-->.
# - With rules in words, 75<!--[[pc(read["rules"]["answered: holds"])]]--> % of the replies contain the answer; none declines, and none calls the calculator<!--[[? read["rules"]["answered: declines"][0] == read["rules"]["missing: declines"][0] == read["rules"]["sums: calls"][0] == 0]]-->.
# - With rules *and three examples* the model errs as the adapter of the last two layers does. It declines 90<!--[[pc(shot["missing: declines"])]]--> % of the unanswerable questions, and also 80<!--[[pc(shot["answered: declines"])]]--> % of the answerable ones.
# - The tuned model gets 100<!--[[pc(by_middle["sums: calls"])]]--> % of the calls right, the untuned one with examples 25<!--[[pc(shot["sums: calls"])]]--> %.
# </details>
#
# **With three examples in its prompt this model mostly declined, whether or not the passage held the answer. Tuned in the middle, it mostly gave the answer where there was one.** We tried one set of examples, in one order.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Read three transcripts aloud. What goes wrong: a reply that contains the right name in a wrong sentence counts as right here. Ask the room for a fairer grader.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Preferences: DPO
#
# For many habits there is no single right answer to write down, but people can say which of two answers is better. **Preference tuning** learns from such pairs: a conversation $x$, a preferred answer $y^+$ and a rejected one $y^-$.
#
# *With a reward model.* Suppose that each answer has a reward $r$, and that people prefer $y^+$ with probability $\sigma(r(y^+) - r(y^-))$ (Bradley & Terry 1952). Ouyang et al. (2022) fit $r$ to the comparisons. Then they train the model $\pi$ by
# reinforcement learning. They maximise the reward minus β times a measure of how far $\pi$ is from the model before tuning, the **reference model** $\pi_\mathrm{ref}$. The measure is the Kullback–Leibler (KL) divergence, $\mathrm{KL}(\pi \,\|\, \pi_\mathrm{ref})$: the mean of $\log \frac{\pi(y \mid x)}{\pi_\mathrm{ref}(y \mid x)}$ over answers $y$ that $\pi$ samples. This is reinforcement learning from human feedback (RLHF). GPT-4 was also tuned this way (OpenAI 2023). [Lecture 25](25_checked_rewards.ipynb) derives that training, with rewards that a program checks.
#
# *Without one.* The best $\pi$ for that goal is known: $\pi(y \mid x) \propto \pi_\mathrm{ref}(y \mid x)\, e^{r(y) / \beta}$. Solve this for the reward, $r(y) = \beta \log \frac{\pi(y \mid x)}{\pi_\mathrm{ref}(y \mid x)} + \text{constant}$, and put this into the probability above. The constant cancels.
# What is left is the loss of **DPO**, direct preference optimisation (Rafailov et al. 2023), which needs no reward model and no sampling during training:
#
# $$L = -\log \sigma\big(\beta \big[\log\frac{\pi(y^+ \mid x)}{\pi_\mathrm{ref}(y^+ \mid x)} - \log\frac{\pi(y^- \mid x)}{\pi_\mathrm{ref}(y^- \mid x)}\big]\big).$$
#
# A small β lets $\pi$ move far away from $\pi_\mathrm{ref}$. At the start $\pi = \pi_\mathrm{ref}$, so the loss is $\log 2$.
#
# **Our habit is to be brief.** SmolLM2 answers everyday questions at length. In each pair $y^-$ is its own answer and $y^+$ is the first sentence of that answer. So the pairs express only the preference to stop earlier
# (`python -m lectures.recipes preference_tuning`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
preferring = stored("preference_tuning")
habits = preferring["rows"]
counted = habits[preferring["counted"]]
stops = show.table(
    [
        (
            f"β = {name}" if name in preferring["betas"] else name,
            show.estimate(*row["stops"]),
            " ".join(f"{x:.2f}" for x in row["seeds"]["stops"]),
        )
        for name, row in habits.items()
    ],
    ["", "P(end)", "by seed"],
)
show.predict(
    f"After its own first sentence the untuned model ends the answer with probability {habits['untuned']['stops'][0]:.4f}. What is this probability after DPO with β = {preferring['counted']} on {preferring['pairs']} pairs, for held-out questions?",
    choices={"about 0.2": 0.2, "about 0.5": 0.5, "about 0.8": 0.8},
    answer=counted["stops"][0],
    why=f"{preferring['pairs']} pairs are enough for this habit. The next picture shows what it cost, and what a simpler method reaches.",
    reveals=stops,
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.beta_player(preferring)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With β = 0.1, P(end) rises from 0.0004<!--[[habits["untuned"]["stops"][0]:.4f]]--> to 0.81<!--[[habits["0.1"]["stops"][0]:.2f]]-->. With β = 1 the model stays closer to the reference model, and P(end) is 0.28<!--[[habits["1"]["stops"][0]:.2f]]-->.
# - With β = 0.1 the *preferred* answers became **less** probable. Their mean log-probability falls from −22.1<!--[[habits["untuned"]["chosen"][0]:.1f]]--> to −28.3<!--[[habits["0.1"]["chosen"][0]:.1f]]-->. With β = 1 they became more probable, −20.8<!--[[habits["1"]["chosen"][0]:.1f]]-->.
# - With both values of β the log-probability of the rejected answers falls much further<!--[[? all(habits["untuned"]["rejected"][0] - habits[b]["rejected"][0] > 15 for b in ("0.1", "1"))]]-->. The loss depends only on the difference.
# - The baseline is supervised tuning on the preferred answers, without any pair. It reaches P(end) = 0.84<!--[[habits["supervised"]["stops"][0]:.2f]]--> at a drift of 0.02<!--[[habits["supervised"]["drift"][0]:.2f]]--> nats per token. *Drift* is here the KL divergence the other way round, $\mathrm{KL}(\pi_\mathrm{ref} \,\|\, \pi)$, for each token of the preferred answers but the end, which is the habit itself. DPO with β = 0.1 drifts by 0.58<!--[[habits["0.1"]["drift"][0]:.2f]]-->.
# - The loss on plain text is at most 2.92<!--[[max(habits["supervised"]["plain"]):.2f]]--> nats per token after supervised tuning, and at least 3.04<!--[[min(habits["0.1"]["plain"]):.2f]]--> after DPO.
# - Does DPO drift because its rate is too high? At half the rate (*slower*), P(end) is only 0.02<!--[[habits["slower"]["stops"][0]:.2f]]--> after the same five epochs, and the drift of 0.04<!--[[habits["slower"]["drift"][0]:.2f]]--> is still above that of supervised tuning. At a quarter of the rate (*slowest*) the habit is weaker still<!--[[? habits["slowest"]["stops"][0] < habits["slower"]["stops"][0] and habits["slower"]["drift"][1] > habits["supervised"]["drift"][2]]]-->. We did not train DPO for more epochs.
# - With a learning rate of 0.003 instead of 0.002 (*faster*) P(end) is even higher, 0.98<!--[[habits["faster"]["stops"][0]:.2f]]-->. But read the replies. Of the eight<!--[[words(len(habits["faster"]["answers"]))]]--> in the widget, four<!--[[words(sum(not answer for answer in habits["faster"]["answers"]))]]--> are empty. A measure of one habit does not say how good the assistant is.
# </details>
#
# **DPO taught the habit. So did supervised tuning on the preferred answers, at the same learning rate and with less drift.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Write the loss at the start on the board: why log 2? What goes wrong: "DPO makes preferred answers more probable". With β = 1 it did; with β = 0.1 it did not. The loss asks only for the difference.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Tools, and a grammar for calls
#
# SmolLM2 adds three-digit numbers badly, and a calculator adds them perfectly. A **tool call** is text in an agreed form that a program finds, executes and answers. A model that calls tools again and again, and decides from each result what to do next, is called an **agent** (Yao et al. 2023). This is the loop for one tool and at most one call:

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
CALL = re.compile(r"<tool>(\d+) \+ (\d+)</tool>")


def with_calculator(model, ask):
    """The reply, after at most one call of the calculator."""
    said = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": ask}]
    for _ in range(2):
        ids = torch.tensor([tokenizer.chat(said)])
        tokens = greedy(model, ids, 20, eos=tokenizer.eos).tokens[0].tolist()
        reply = tokenizer.decode(tokens, skip_special=True)
        call = CALL.search(reply)
        if call is None:
            break
        total = int(call[1]) + int(call[2])
        said += [{"role": "assistant", "content": reply}]
        said += [{"role": "user", "content": f"<result>{total}</result>"}]
    return reply


print(with_calculator(assistant, "What is 358 + 417?"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# A call can be wrong in its form or in its content. **Constrained decoding** (Willard & Louf 2023) makes the form certain. A pattern describes the form; ours is a regular expression, a simple kind of grammar. The pattern is translated into an automaton, which reads the text character by character and changes its state with each. A token is allowed only if the automaton can still reach a match after it:
# $P'(w \mid \text{text})$ is proportional to $P(w \mid \text{text})$ for allowed $w$, and 0 for all others.

# %% slideshow={"slide_type": "fragment"}
patterns = {
    conversations.PATTERN: "What is 358 + 417?",
    r"(yes|no), because [a-z ]{3,20}\.": "Is the sky green?",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}": "On which day did the First World War end?",
}
steps = {}
for pattern, ask in patterns.items():
    ids = tokenizer.chat([{"role": "user", "content": ask}])
    before = len(ids)
    guarded = Constrained(model, tokenizer, pattern, after=before)
    made = greedy(guarded, torch.tensor([ids]), 8, eos=tokenizer.eos).tokens[0].tolist()
    ids = torch.tensor([[*ids, *made]])
    free = model.output(model.hidden_states(ids)[0][0, before - 1 : -1]).softmax(-1)
    bound = guarded(ids)[0][0, before - 1 : -1].softmax(-1)
    steps[pattern] = made, free, bound

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
tools = stored("tools_and_retrieval")
by_tool = tools["tool"]
can_do = [does for does in by_tool["untuned, freely"] if does != "shown"]
calling = show.table(
    [
        (name, *(told(row[does]) if does in row else "" for does in can_do))
        for name, row in by_tool.items()
    ],
    ["", *can_do],
)
bound_call = by_tool["untuned, under the pattern"]
show.predict(
    "The untuned model gets the rules in its prompt and is constrained to the pattern of a call. Every call is then well-formed. What percentage of the calls is also *right*, that is, has both numbers of the sum?",
    choices={"nearly none": 0.0, "about half": 0.5, "all": 1.0},
    answer=bound_call["right call"][0],
    why="The pattern settles the form. What is left for the model is to copy two numbers, and it can do that.",
    reveals=calling,
)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
walked = {}
for pattern, (made, free, bound) in steps.items():
    walked[pattern] = []
    for i, (p, q) in enumerate(zip(free, bound, strict=True)):
        best = dict.fromkeys([*p.topk(4).indices.tolist(), *q.topk(4).indices.tolist()])
        names = {k: label(k) for k in best}
        both = [{names[k]: float(x[k]) for k in best if x is p or x[k] > 0} for x in (p, q)]
        walked[pattern].append((tokenizer.decode(made[:i]), *both))
widgets.pattern_player(walked)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without a tool, and with the start of the answer given (*964 + 494 =*), none<!--[[? by_tool["no tool"]["right answer"][0] == 0]]--> of the 24 sums is right. The model writes a wrong number straight away, for example 1928<!--[[? by_tool["no tool"]["shown"][0].startswith("1928")]]-->.
# - With the rules in its prompt and no pattern, the untuned model writes no call<!--[[? by_tool["untuned, freely"]["well-formed"][0] == 0]]-->. Under the pattern all 24 calls are well-formed *and* right<!--[[? by_tool["untuned, under the pattern"]["right call"][0] == 1]]-->.
# - The tuned model writes all 24 calls right even without the pattern<!--[[? by_tool["tuned, freely"]["right call"][0] == 1]]-->. So on these sums either the pattern or the tuning is enough. (This is one adapter; in section 2 the five seeds get 85<!--[[100 * min(middle["sums"]["seeds"]):.0f]]--> to 100 % right.)
# - A pattern cannot decide *whether* to call. Under it every reply is a call.
# - Given the calculator's result, both models copy it into the answer every time<!--[[? by_tool["untuned, freely"]["uses the result"][0] == by_tool["tuned, freely"]["uses the result"][0] == 1]]-->.
# - Look at the first step in the widget. The pattern forbids nearly everything that the model wanted to write. P′ renormalises P token by token. It is not the model's distribution over complete texts that match.
# </details>
#
# **A pattern guarantees the form of a complete call, not its content.** Here it was the form that failed without the pattern.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let somebody type a text into the field and say where the automaton dies. What goes wrong: "well-formed" is heard as "right". A grammar fixes the form; a date can be well-formed and wrong.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Control without training
#
# You now know five ways to control a model. They act on different things:
#
# | what | acts on | lecture |
# |---|---|---|
# | prompt, examples | the text | [17](17_pretraining.ipynb), section 3 here |
# | temperature, top-p | the output distribution | [9](09_decoding.ipynb) |
# | pattern | the output distribution, by a rule | section 5 |
# | steering | the pathway | [23](23_inside_a_real_model.ipynb), section 7, and the end of this section |
# | tuning | the weights | sections 2, 4 |
#
# A sixth way compares two runs. **Classifier-free guidance** (Sanchez et al. 2023) reads the text with the prompt $c$ and without it:
#
# $$\log P'(w) = \log P(w \mid \text{text}) + \gamma\,\big(\log P(w \mid \text{text}, c) - \log P(w \mid \text{text})\big) + \text{constant}.$$
#
# γ = 0 ignores the prompt, γ = 1 is the model with its prompt, and a larger γ exaggerates its effect.

# %% slideshow={"slide_type": "fragment"}
begun = {
    "a pirate": ("You talk like a pirate.", "How are you?", "I am"),
    "bad news": ("Write a sad story.", "The dog went home.", "It was"),
    "a cook": ("You only talk about food.", "What do you see?", "I see a"),
}
pairs_of = {}
for name, (system, ask, start) in begun.items():
    both = []
    for message in (system, "You are an assistant."):
        said = [{"role": "system", "content": message}, {"role": "user", "content": ask}]
        ids = tokenizer.chat(said) + tokenizer.encode(start)
        hidden = model.hidden_states(torch.tensor([ids]))[0][:, -1]
        both.append(model.output(hidden)[0].log_softmax(-1).numpy())
    pairs_of[f"{name}: {system} … {start}"] = tuple(both)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def entropy(pair, gamma):
    """Of the next word, in nats, under guidance; pair: log-probabilities with the prompt and without."""
    given, plain = map(torch.as_tensor, pair)
    log_p = (plain + gamma * (given - plain)).log_softmax(-1)
    return float(-(log_p.exp() * log_p).sum())


widgets.guidance_player(pairs_of, label)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Raise γ to 5 for each prompt. Where does the most probable word still make sense? Where does a word win only because the prompt raised its probability, although it is unlikely with the prompt as well?
#
# <details><summary><b>What to notice</b></summary>
#
# - A large γ prefers words that the prompt makes more probable, even if they stay improbable. It need not make the model more certain. The entropy of the next word does not fall for every prompt from γ = 1 to 1.5<!--[[? not all(entropy(pair, 1.5) < entropy(pair, 1.0) for pair in pairs_of.values())]]-->.
# - Each token costs two forward passes. In our pass without the prompt, a neutral system message takes the place of the prompt.
# </details>
#
# **Guidance makes the prompt count more. It has nothing to work with but two predictions of the same model.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A system message as a direction.** Guidance needs the prompt at every token. Can steering do without it? For six<!--[[words(len(learned))]]--> questions we take the vector on the pathway at the last token, once with the system message *You talk like a pirate.* and once without a system message. Their mean difference is a direction.
# Then we ask ten<!--[[words(len(held_out))]]--> other questions *without* the message and add the direction at the last token.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
learned = [
    "What do you like? / I like",
    "Where do you live? / I live in a",
    "What did you do today? / Today I",
    "What is your plan? / I will",
    "Tell me a story. / Once there was a",
    "Who are you? / I am a",
]
held_out = [
    "How are you? / I am",
    "What is on the table? / There is a",
    "What is your name? / My name is",
    "What do you see? / I see a",
    "What do you want? / I want",
    "What do you need? / I need a",
    "What was in the garden? / There was a",
    "What did you buy? / I bought a",
    "What should I do? / You should",
    "What do you hear? / I hear the",
]


def in_chat(text, system=None):
    """Ids of "question / start of the reply", without a system message unless one is given."""
    ask, _, start = text.partition(" / ")
    said = [{"role": "system", "content": system or "-"}, {"role": "user", "content": ask}]
    ids = tokenizer.chat(said) + tokenizer.encode(start)
    return ids if system else ids[len(tokenizer.chat(said[:1], reply=False)) :]


def reading(texts, system=None):
    return [Switches(model, torch.tensor([in_chat(text, system)])) for text in texts]


def last_tokens(texts, layer):
    return torch.stack([text.depths[layer + 1][0, -1] for text in texts])


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
without, pirates, neutral = (
    reading(learned, system)
    for system in (None, "You talk like a pirate.", "You are an assistant.")
)
pushes = {
    layer: (last_tokens(pirates, layer) - last_tokens(without, layer)).mean(0)
    for layer in (17, 23, 29)
}

# %% [markdown] slideshow={"slide_type": "fragment"}
# The distance in the table is $\mathrm{KL}(p \,\|\, q)$, where $p$ is the distribution of the next token with the message and $q$ the one without it, steered or not, averaged over the ten<!--[[words(len(held_out))]]--> questions. With nothing added it is 1.55<!--[[distance["nothing"]:.2f]]--> nats. We chose the layer on the first six<!--[[words(len(learned))]]--> questions. The directions of the controls have the same length.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
goals = [text.off([]) for text in reading(held_out, "You talk like a pirate.")]
unprompted = reading(held_out)


def distances(texts, goals, layer, added):
    """(question, added vector): KL divergence of the next token's distribution from that with the message."""
    found = []
    for text, p in zip(texts, goals, strict=True):
        x = text.depths[layer + 1]
        start, last = x[:, :-1], x[:, -1:] + added[:, None]  # only the last token changes
        for later in model.layers[layer + 1 :]:
            start, state = later(start)
            last, _ = later(last, select(state, torch.zeros(len(added), dtype=torch.long)))
        q = model.output(model.final_norm(last[:, 0])).log_softmax(-1)
        found.append((p.exp() * (p - q)).sum(-1))
    return torch.stack(found)


with_message = [text.off([]) for text in pirates]
best_at = min(
    pushes, key=lambda at: distances(without, with_message, at, pushes[at][None]).mean().item()
)
push = pushes[best_at]
other = (last_tokens(neutral, best_at) - last_tokens(without, best_at)).mean(0)
drawn = torch.randn(10, len(push), generator=torch.Generator().manual_seed(0))
controls = torch.nn.functional.normalize(torch.stack([other, *drawn]), dim=-1) * push.norm()
added = torch.stack([0 * push, push, 2 * push, *controls])
apart = distances(unprompted, goals, best_at, added)
names = ["nothing", "the direction", "twice the direction", "that of “You are an assistant.”"]
distance = dict(zip(names, apart.mean(0).tolist(), strict=False))
closer = {
    name: mean_interval((apart[:, 0] - apart[:, i]).tolist()) for i, name in enumerate(names)
}
drawn_best = float((apart[:, :1] - apart[:, len(names) :]).mean(0).max())
show.table(
    [
        *(
            (
                name,
                f"{distance[name]:.2f}",
                show.estimate(gain, gain - half, gain + half, "{:z.2f}"),
            )
            for name, (gain, half) in closer.items()
            if name != "nothing"
        ),
        (f"best of {len(drawn)} random directions", "", f"{drawn_best:z.2f}"),
    ],
    [f"added after layer {best_at}", "distance, nats", "closer by (95 % interval)"],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Drag the knob on the last thread to change the strength.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.living(
    model,
    tokenizer,
    *held_out[:2],
    directions=pushes,
    layer=best_at,
    strength=2.0,
    follow=[" Captain", " ship"],
    encode=in_chat,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** The message *You are an assistant.* gives another direction. What does this control exclude that random directions do not?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - It excludes that *every* system message has this effect. The direction of this one leads away from the goal<!--[[? sum(closer[names[3]]) < 0]]-->.
# - The direction brings the prediction closer, by 0.84<!--[[closer[names[1]][0]:.2f]]--> of the 1.55<!--[[distance["nothing"]:.2f]]--> nats<!--[[? closer[names[1]][0] > closer[names[1]][1]]]-->. The best of 10<!--[[len(drawn)]]--> random directions gains 0.06<!--[[drawn_best:.2f]]-->.
# </details>
#
# **Without the message in the text, a direction covers about half of the distance to the prediction with the message.** We tried one message and ten<!--[[words(len(held_out))]]--> questions.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes, without the direction, which takes three more. Ask for the value of γ at which the reply becomes silly. What goes wrong: γ and temperature are confused. A temperature changes one distribution, γ extrapolates from one to another. Let somebody drag the knob to both sides.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Retrieval: read it instead of knowing it
#
# What a model does not know, it may be able to read. Retrieval-augmented generation ([lecture 10](10_training_a_generator.ipynb)) puts passages into the prompt. Which passages? **BM25** (Robertson & Zaragoza 2009) ranks passages $d$ by the
# rare words that they share with the question $q$:
#
# $$\mathrm{score}(q, d) = \sum_{w \in q} \mathrm{idf}(w)\, \frac{(k + 1)\, f}{f + k\,(1 - b + b\,|d| / \overline{|d|})}, \qquad f = \text{how often } w \text{ occurs in } d .$$
#
# $|d|$ is the length of $d$ in words and $\overline{|d|}$ the mean length. $\mathrm{idf}(w)$, the inverse document frequency, is about the logarithm of one over the fraction of passages that contain $w$. Each further occurrence helps less; $k$ sets how much less, and $b$ how much a long passage is discounted.
# The library is this course's own glossary, and each question asks for one of its terms.

# %% slideshow={"slide_type": "fragment"}
from nlmcore.retrieval import BM25

library = glossary_questions.passages()
index = BM25(library)
for score, i in index.search(
    "Which gate of the GRU decides how much of the old state is used?", 2
):
    print(f"{score:.2f}  {library[i]}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
retrieval = tools["retrieval"]
retrieved = show.table(
    [(how, told(share)) for how, share in retrieval.items()], ["in the prompt", "right"]
)
show.predict(
    f"We ask {len(glossary_questions.questions())} questions about this course's terms. Without any passage SmolLM2 names the right term in {100 * retrieval['nothing'][0]:.0f} % of its answers. We now put the three entries that BM25 finds into the prompt. What share of the answers is then right?",
    choices={
        "about as many": retrieval["nothing"][0],
        "about 20 %": 0.2,
        "about two thirds": 0.67,
        "nearly all": 0.97,
    },
    answer=retrieval["three from BM25"][0],
    why="The right entry is among the three for every question, so retrieval works. The model mostly fails to use what it is given.",
    reveals=retrieved,
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
found_at = tools["found"]
show.table(
    [
        (kind, how, *map(pc, row.values()))
        for kind, by in found_at.items()
        for how, row in by.items()
    ],
    ["asked in", "searched by", "% with the right entry first", "among the first 3", "first 10"],
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
examples = [ask for ask, _ in glossary_questions.questions()[:6]]
examples += [ask for ask, _ in glossary_questions.questions(glossary_questions.FAR)[:6]]
widgets.library_workbench(library, examples)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Ask for a word of the glossary without using any word of its entry. What would a retriever need to find it?
#
# <details><summary><b>What to notice</b></summary>
#
# - BM25 has the right entry among its first three for all<!--[[? found_at["the glossary's words"]["BM25"]["3"][0] == 1]]--> 40<!--[[len(glossary_questions.questions())]]--> questions. With these three entries 20<!--[[pc(retrieval["three from BM25"])]]--> % of the answers are right, and with only the right entry 35<!--[[pc(retrieval["the right one"])]]--> %. So for these questions reading fails, not retrieval.
# - Without a passage, and with three random entries, no answer<!--[[? retrieval["nothing"][0] == retrieval["three random"][0] == 0]]--> is right. So more text on the course's subject was not enough.
# - For questions in words that the glossary does not use, BM25 finds the entry among its first three in 12<!--[[pc(found_at["other words"]["BM25"]["3"])]]--> % of 16 cases, and a retriever that compares sentence vectors finds it equally often<!--[[? found_at["other words"]["BM25"]["3"] == found_at["other words"]["sentence vectors"]["3"]]]-->. Sixteen questions are too few to tell the two apart.
# - The 40<!--[[len(glossary_questions.questions())]]--> questions were written with the glossary in view.
# </details>
#
# **Finding a passage and using it are two steps. Measure each of them.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room type questions until BM25 fails. What goes wrong: retrieval is judged only by the final answers.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Long context and external memory
#
# Prompts, results of tools and passages must all fit into the **context window**, the tokens that the model can attend to. The cost of attention grows with the square of the window's length ([lecture 18](18_cheaper_attention.ipynb)), and the cache grows in proportion to it. Two ideas go beyond the window.
#
# **Segments with a cache** (Transformer-XL, Dai et al. 2019). The text is read in segments. Each layer also attends to the states of the previous segment, without a gradient. So with every additional layer, information can come from one segment further back.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.reach_player()

# %% [markdown] slideshow={"slide_type": "subslide"}
# **External memory** is a table that a layer can look things up in. It should be large, but comparing a query with a million keys at every token is too expensive. **Product keys** (Lample et al. 2019) split the query into two halves. With $n$ half keys for each half there are $n^2$ pairs, and each pair is the key of one entry. A pair's score is the sum of its halves' scores, so the $k$ best
# pairs contain only halves that are among the $k$ best on their side. Finding them takes $2n + k^2$ comparisons instead of $n^2$. Product keys are a row in the table of [lecture 19](19_do_modifications_transfer.ipynb).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
widgets.product_key_player()

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does the model use what is in its window?** Among verses from plays we hide one sentence, *The number of the lighthouse is 4821.*, and ask for the number at the end (`python -m lectures.recipes still_missing`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
limits = stored("still_missing")
context = limits["context"]
crowded = context["500 tokens, five numbers"]
recalled = show.table(
    [(length, *map(told, by.values())) for length, by in context.items()],
    ["right answers; the sentence is at", *(f"the {where}" for where in crowded)],
)
show.predict(
    f"The window of SmolLM2 has {model.config.max_length:,} tokens. In a text of 500 tokens the model always writes the right number. Now there are four more such sentences, about a mill, a bridge, a harbour and a tower, and the lighthouse comes first. How often is the answer still right?",
    choices={"nearly never": 0.05, "about 60 %": 0.6, "always": 1.0},
    answer=crowded["beginning"][0],
    why="The number is in the window, and so are four sentences that look alike.",
    reveals=recalled,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Up to 500 tokens the model always writes the right number<!--[[? all(share[0] == 1 for length in ("100 tokens", "500 tokens") for share in context[length].values())]]-->, wherever the sentence is, in all 24<!--[[3 * limits["tries"]]]--> texts of each length. At these lengths a single odd sentence is easy to find, so a test with one hidden sentence (one “needle”) says little.
# - With four others like it, the model is right in 62<!--[[pc(crowded["beginning"])]]--> % of cases if the sentence comes first or in the middle<!--[[? crowded["beginning"] == crowded["middle"]]]-->, and always<!--[[? crowded["end"][0] == 1]]--> if it comes last. The eight<!--[[words(limits["tries"])]]--> texts for each position are too few to say that the position matters.
# - We measured texts of up to 500 of the 8,192<!--[[model.config.max_length:,]]--> tokens that fit, with one sentence form and one model.
# </details>
#
# **A model need not use everything that it can read. Test a window with sentences that resemble each other.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. In the first widget set one layer, then six, and let the room count how far the prediction sees. What goes wrong: the length of a window is taken for the length that is used.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9. What it still cannot do
#
# Here are three small tests, each with a simple baseline: a constant answer, a coin, the same question in other words (`python -m lectures.recipes still_missing`). They show how to find a limit. They do not say what
# larger models cannot do ([lecture 22](22_scale.ipynb)).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
negation, alike = limits["negation"], limits["paraphrase"]
best = max(share[0] for share in alike["right"].values())
show.predict(
    f"We ask for the capitals of {negation['countries']} countries, in four wordings. With the best wording {100 * best:.0f} % of the answers are right. For what percentage of capitals are *all four* right?",
    choices={"about 10 %": 0.1, "about 35 %": 0.35, "nearly as many": best},
    answer=alike["all"][0],
    why="A model that gives a fact in one wording need not give it in another. So “does the model know it?” has no single answer.",
    reveals=widgets.limits_player(limits),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - *Letters*: how often does a given letter occur in a word? The model is right in 33<!--[[pc(limits["letters"]["right"])]]--> % of cases, exactly like a constant answer, because its answer *is* constant: “1” for all 42<!--[[limits["letters"]["words"]]]--> words<!--[[? limits["letters"]["chosen"][0] == limits["letters"]["words"]]]-->.
# - *Negation*: is a statement about a capital true, and is its negation? The model answers No to everything, so a statement and its negation never get opposite answers<!--[[? negation["opposite"][0] == 0 and set(negation["yes"].values()) == {0.0}]]-->. “Yes” is more probable after a true statement than after a false one for 54<!--[[pc(negation["right"]["true above false"])]]--> % of the countries. With so few countries we cannot tell this from a coin<!--[[? negation["right"]["true above false"][1] < 0.5]]-->.
# - “Yes” is more probable after the true statement than after its *negation* for only 17<!--[[pc(negation["right"]["true above its negation"])]]--> % of the countries. So in this test the sentence with *not* usually makes *yes* more probable.
# - *Paraphrase*: between 12<!--[[100 * min(share[0] for share in alike["right"].values()):.0f]]--> % and 62<!--[[100 * max(share[0] for share in alike["right"].values()):.0f]]--> % of the capitals are right, depending on the wording. Only 8<!--[[pc(alike["all"])]]--> % are right in all four wordings. A benchmark with one wording measures the wording as well.
#
# *Leaderboards*, such as that of GLUE (Wang et al. 2019a), rank models by a mean over fixed tests. When GLUE was little more than a year old, models had passed the score of non-expert people on it. Its makers gave this as their reason for SuperGLUE, which has harder tests (Wang et al. 2019b, abstract). Put the questions of the checklist below to every leaderboard.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Checklist for a claim that a model can, or cannot, do something**
#
# | ask | as in |
# |---|---|
# | What would a constant answer get? | letters: a third |
# | Does the answer change when only the words do? | paraphrase |
# | Does the answer change when the right answer does? | negation |
# | Could the model know the answer by heart? | invented passages, new numbers |
# | Which step failed: finding, reading, computing or writing? | retrieval and tools |
# | How many questions, seeds and prompts? | an interval, not an anecdote |

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Let groups of two invent a test with its baseline, and write the expected share before they try it on the model. What goes wrong: one impressive failure is taken for a rate.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10. Models of the brain, and open questions
#
# People read a text in a brain scanner, a model reads the same text, and a linear map from the model's states predicts the recordings. The measure is the correlation of this prediction with the recordings. Several studies report a higher correlation for better language models (for example Schrimpf et al. 2021). What does such a
# correlation show? We make a recording ourselves: the lengths of the words (here of the tokens), smoothed over time, plus noise. It contains *nothing* about meaning.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
text = " ".join(row.ask.splitlines()[0] for row in conversations.training()[14:40])
ids = tokenizer.encode(text)[:500]
lengths = torch.tensor([float(len(piece.strip())) for piece in tokenizer.pieces(ids)])
chance = torch.Generator().manual_seed(0)
smooth = torch.nn.functional.avg_pool1d(lengths[None, None], 5, 1, 2)[0, 0]
recording = smooth + 0.5 * torch.randn(len(ids), generator=chance)


def correlation(features, train=300, ridge=100.0):
    """Held-out correlation of the recording with its prediction by a linear map."""
    x = (features - features[:train].mean(0)) / (features[:train].std(0) + 1e-6)
    y = recording - recording[:train].mean()
    A = x[:train].T @ x[:train] + ridge * torch.eye(x.shape[1])
    predicted = x[train:] @ torch.linalg.solve(A, x[:train].T @ y[:train])
    return float(torch.corrcoef(torch.stack([predicted, y[train:]]))[0, 1])


from nlmcore.inspect import pathway

with pathway(model) as sublayers:
    model.hidden_states(torch.tensor([ids]))
layers = {i: sublayers[2 * i - 1].result[0] for i in (5, 15, 25)}
table = torch.randn(model.vocab_size, 576, generator=chance)  # one random vector per token
before = torch.cat([table[ids].roll(shift, 0) for shift in range(5)], dim=1)  # of five tokens
found = {f"SmolLM2, layer {i}": correlation(x) for i, x in layers.items()}
found |= {
    "random vectors of five tokens": correlation(before),
    "the word's length": correlation(lengths[:, None]),
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
correlated = show.table(
    [(name, f"{r:.2f}") for name, r in found.items()], ["predicted from", "r"]
)
show.predict(
    "How well do the states of layer 15 predict this recording, which contains nothing about meaning, in held-out text?",
    choices={"r about 0": 0.0, "r about 0.3": 0.3, "r about 0.7": 0.7},
    answer=found["SmolLM2, layer 15"],
    why="The states depend on the word, and so does its length. Look at the random vectors in the table.",
    reveals=correlated,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The states of layer 15 predict the recording with r = 0.64<!--[[found["SmolLM2, layer 15"]:.2f]]-->. *Random* vectors of the last five tokens reach 0.61<!--[[found["random vectors of five tokens"]:.2f]]-->. The word's length itself, without smoothing, reaches 0.40<!--[[found["the word's length"]:.2f]]-->. These numbers are from one draw of the noise and of the random vectors.
# - So the correlation shows that the recording depends on which words were read. It does not show that the recording arose from computations like the model's, nor that predicting the next word matters.
# - A fair study therefore compares with baselines: random and untrained models, word length and frequency, the position in the text. It tests on *other* texts, because neighbouring moments resemble each other. And it says how well one half of
#   the recordings predicts the other half, which gives an estimate of the most that a model can reach, the **noise ceiling**.
# </details>
#
# **A correlation with a recording says little until you know what random vectors reach.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What is missing in Transformers?** asks the last slide of one of the five slide decks behind this course. Here is its list, with what this course could say so far:
#
# | open problem | what we saw | where |
# |---|---|---|
# | long sequences | cheaper attention patterns lose something; the model does not always use what is in its window | [18](18_cheaper_attention.ipynb), section 8; more in [26](26_memory_without_attention.ipynb) |
# | external memory | for questions in the glossary's words, reading failed; for questions in different words, retrieval did; product keys make large tables cheap | sections 7, 8 |
# | control | form can be guaranteed, content cannot; test a habit where it does not belong | sections 2 to 6 |
# | agreement with brain models | a high correlation is easy to get; a test must be able to fail | this section |
# | added by us: knowing what it knows | refusals of answerable questions, answers that ignore *not* | sections 2, 9; more in [28](28_features_and_harms.ipynb), section 6 |
#
# **An experiment of your own.** Change one thing and measure it. `python -m lectures.recipes` lists every experiment of this course; most run in minutes. Good first projects: a habit of your own, or refusals that
# depend on the passage, for which [`project_assistant.ipynb`](../exercises/project_assistant/project_assistant.ipynb) is a starting point; a retriever that mixes words and vectors; a test from section 9 with a larger model.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Part one of the course as one map.** The last row is part two, on how a model of today is made.
#
# | question | lectures |
# |---|---|
# | What is a language model, and what does it read? | [1](01_language_models.ipynb), [2](02_tokens_and_vectors.ipynb) |
# | How does a network learn? | [3](03_backpropagation.ipynb), [5](05_training_well.ipynb) |
# | How does it see the past? | [4](04_windows_and_convolutions.ipynb), [6](06_recurrent_networks.ipynb), [7](07_vanishing_gradients.ipynb), [8](08_gates.ipynb) |
# | How does it write? | [9](09_decoding.ipynb), [10](10_training_a_generator.ipynb) |
# | How does it read one text and write another? | [11](11_sequence_to_sequence.ipynb), [12](12_attention.ipynb), [16](16_encoder_decoder_transformers.ipynb) |
# | What is a Transformer? | [13](13_self_attention.ipynb), [14](14_positions.ipynb), [15](15_transformer_language_model.ipynb) |
# | What do pretraining and scale bring? | [17](17_pretraining.ipynb), [22](22_scale.ipynb) |
# | Which parts matter? | [18](18_cheaper_attention.ipynb), [19](19_do_modifications_transfer.ipynb), [20](20_what_if.ipynb), [21](21_beyond_text.ipynb) |
# | What happens inside, and around it? | [23](23_inside_a_real_model.ipynb), this one |
# | What comes next? | [25](25_checked_rewards.ipynb), [26](26_memory_without_attention.ipynb), [27](27_smaller_and_faster.ipynb), [28](28_features_and_harms.ipynb) |

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask what result of a brain study would count against the model. What goes wrong: "the brain predicts the next word". That may be so, but a correlation of states does not show it. End with the map of part one, and let everybody name the
# lecture whose result surprised them most.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What turned the model into an assistant?
#
# | means | what it did here | compared with | section |
# |---|---|---|---|
# | chat template | with it the model answers | without it the text ends right after 7<!--[[ended["plain text"]]]--> of twelve<!--[[words(len(more))]]--> questions | 1 |
# | tuning two layers in the middle | short answers, 73<!--[[pc(middle["answered"]["share"])]]--> % right; refused 18<!--[[pc(middle["refused"]["share"])]]--> % of the answerable questions | the last two layers: refused 84<!--[[pc(last_two["refused"]["share"])]]--> %; a prompt with examples: 80<!--[[pc(shot["answered: declines"])]]--> % | 2, 3 |
# | DPO | taught the model to stop | supervised tuning at the same rate: less drift | 4 |
# | a pattern for calls | all 24 calls right, untuned<!--[[? by_tool["untuned, under the pattern"]["right call"][0] == 1]]--> | tuned, without a pattern: all right<!--[[? by_tool["tuned, freely"]["right call"][0] == 1]]--> | 5 |
# | retrieval, three entries | 20<!--[[pc(retrieval["three from BM25"])]]--> % of the answers right | nothing or random entries: none<!--[[? retrieval["nothing"][0] == retrieval["three random"][0] == 0]]-->; the right entry alone: 35<!--[[pc(retrieval["the right one"])]]--> % | 7 |
# | reading 500 tokens | always finds one odd sentence | one of five alike: 62<!--[[pc(crowded["beginning"])]]--> %, if it comes first | 8 |
#
# **The form of an answer was easy to add, by template, pattern or tuning. Two layers in the middle mostly learned to decline only if the passage lacks the answer, for questions like those of the training; the last two layers did not. This small model still often fails to use the right one of several passages, or of several similar sentences.** For each habit, measure what it cost, where it does not belong, and whether a simpler method does as well.

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. Cover the third column and ask which comparison each row needs. What goes wrong: "now it knows when to decline". It does so for questions like those it was trained on.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Teach a habit of your own with a few conversations, and say beforehand which questions should *not* trigger it. The cell tunes the last two layers for 24 steps. Ask a question of each kind, with words that the training does not have.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def taught(told, steps=24):
    """A copy of the model whose last two layers are tuned on (question, answer), and its adapter."""
    torch.manual_seed(0)
    copied = copy.deepcopy(model)
    last = ("layers.28.", "layers.29.")
    tuned_part = LoRA(copied, rank=4, where=lambda name: name.startswith(last))
    own_tail = Tail(copied, 2)
    said = [
        [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": ask},
            {"role": "assistant", "content": reply},
        ]
        for ask, reply in told
    ]
    rows = own_tail.read(pad([conversation(tokenizer, each) for each in said]))
    with torch.enable_grad():
        fit(
            tuned_part,
            [rows],
            loss=lambda _, batch: supervised_loss(own_tail, batch),
            steps=steps,
            learning_rate=3e-3,
            progress=False,
        )
    return copied, tuned_part


# %% slideshow={"slide_type": "fragment"}
SAYS_PLACE = [  # questions about places get a bare word. Change this.
    ("Where is Paris?", "France."),
    ("Where is Kyoto?", "Japan."),
    ("Where is Cairo?", "Egypt."),
    ("Where is Lima?", "Peru."),
]
mine, my_habit = taught(SAYS_PLACE)
for ask in ("Where is Berlin?", "Who wrote Hamlet?"):  # with the habit, and without
    with my_habit.off():
        print(f"{ask}\n  before: {answer(mine, ask, longest=12)}")
    print(f"  after:  {answer(mine, ask, longest=12)}")

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes, or homework. Let everybody write down the expected share for both kinds of questions before they run it. What goes wrong: only questions that should get the habit are tried.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. Why do the user's tokens not count in the loss of instruction tuning?
# <details><summary>Answer</summary>The model should learn to answer, not to ask. If the user's tokens counted, it would also be trained to write what users write.</details>
#
# 2. A tuned model declines 95 % of the unanswerable questions. Is that good?
# <details><summary>Answer</summary>You cannot tell without the share of answerable questions that it declines. A model that always declines reaches 100 %.</details>
#
# 3. In our pairs, y⁺ is the beginning of y⁻. At which token does the loss of DPO act?
# <details><summary>Answer</summary>The shared tokens cancel. It acts on the end after y⁺ and on the continuation of y⁻.</details>
#
# 4. Under a pattern every call is well-formed. Which error is left?
# <details><summary>Answer</summary>The content: wrong numbers, or a call where none was needed.</details>
#
# 5. Three passages from BM25 help, but three random ones do not. Which other explanation does that exclude?
# <details><summary>Answer</summary>It excludes the explanation that any text about the subject, or just a longer prompt, would help as much.</details>
#
# 6. Random vectors predict a recording nearly as well as a language model's states. What does the model's correlation then show?
# <details><summary>Answer</summary>It shows that the recording depends on which words were read, which nobody doubted.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 2. What goes wrong: "yes, 95 % is high".*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $\pi$, $\pi_\mathrm{ref}$ | policy, reference policy | the model, and the model before tuning |
# | $y^+$, $y^-$ | $y_w$, $y_l$; chosen, rejected | the preferred answer, and the other one |
# | $\beta$ | KL coefficient | how strongly the distance from the reference model is penalised |
# | $\gamma$ | guidance scale | how far the prompt is followed |
# | chat template | ChatML, prompt format | the special tokens around each message |
# | instruction tuning | supervised fine-tuning, SFT | fine-tuning on conversations |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: "supervised" is read as "checked by people".*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **chat template**: the special tokens that turn a conversation into one text.
# - **instruction tuning**: fine-tuning on conversations, where only tokens of the answers count.
# - **preference tuning**: training on pairs of answers, one preferred to the other.
# - **DPO**: direct preference optimisation; raises the preferred answer's probability compared with that of the rejected one, both relative to the reference model.
# - **reference model**: the model before preference tuning, which DPO compares with.
# - **tool call**: text in an agreed form that a program executes and answers.
# - **agent**: a model that calls tools in a loop and decides from each result what to do next.
# - **constrained decoding**: decoding in which only tokens that can lead to a match of a pattern are possible.
# - **classifier-free guidance**: decoding that goes further in the direction in which a prompt moves the model.
# - **BM25**: a score of a passage by the rare words that it shares with a question.
# - **context window**: the tokens that a model can attend to.
# - **segments with a cache**: reading a text in parts, each of which also attends to the stored states of the previous part (Transformer-XL).
# - **external memory**: a table outside the context from which a model looks something up.
# - **product keys**: keys that are pairs of half keys, so that the best of very many are found with few comparisons.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Ouyang et al. (2022), Training Language Models to Follow Instructions with Human Feedback. OpenAI (2023), GPT-4 Technical Report. Bradley & Terry (1952), Rank Analysis of Incomplete Block Designs. Rafailov et al. (2023), Direct Preference Optimization. Hu et al. (2021), LoRA. Willard & Louf (2023), Efficient Guided Generation. Sanchez
# et al. (2023), Stay on Topic with Classifier-Free Guidance. Robertson & Zaragoza (2009), The Probabilistic Relevance Framework. Dai et al. (2019), Transformer-XL. Lample et al. (2019), Large Memory Layers with Product Keys. Schrimpf et al. (2021), The Neural Architecture of
# Language. Wang et al. (2019a), GLUE. Wang et al. (2019b), SuperGLUE. Ben Allal et al. (2025), SmolLM2. Yao et al. (2023), ReAct. Mausam, slides on neural language models (IIT Delhi).
