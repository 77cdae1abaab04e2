# %% [markdown] slideshow={"slide_type": "slide"}
# # Beyond text
#
# A language model predicts the next symbol of a sequence. Nothing in it requires the symbols to be words. In this lecture one Transformer reads pictures cut into squares, another continues and harmonises chorales by Bach, and a third encodes pictures for an LSTM that writes captions.
# Each time we ask **what really helped** the model: the architecture, the data, the positions, or attention?
#
# <img src="figures/anything_as_tokens.svg" width="860" alt="Three sequences of tokens: the patches of a picture, the four voices of a chorale in turn, and the words of a caption that looks at a picture.">
#
# *Three sequences: the patches of a digit, the notes of a chorale, and the words of a caption.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - turn a picture into tokens, and say how their number depends on the size of a patch;
# - name the assumptions that are built into a convolution, and test how a Vision Transformer does without them, by the number of training images;
# - pretrain a Vision Transformer on patches without labels, and say which explanation of its lag this can test;
# - derive the skewing trick, and count the memory that it saves;
# - turn polyphonic music into one sequence, and find the baseline that makes a loss meaningful;
# - continue a chorale, and harmonise a melody with a model that was never trained to harmonise;
# - score attention in pictures where the right location is known, and compare it with attention that does not look at the picture, before you believe an attention map.
#
# **You need** [lecture 12](12_attention.ipynb) (attention in a decoder, section 8 on pictures), [lecture 14](14_positions.ipynb) (relative positions) and [lecture 15](15_transformer_language_model.ipynb) (the block). Masked pretraining is from [lecture 17](17_pretraining.ipynb), convolutions over text from [lecture 4](04_windows_and_convolutions.ipynb).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 8 | 12 | 8 | 7 | 10 | 9 | 18 |
#
# The minutes are for a class. If you work alone, with the predictions and the questions, plan about two hours.
#
# Every cell runs in a few seconds on a laptop, without a network connection. Longer trainings are stored with the command that repeats them. A table at the end translates the papers' notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 3 or the second half of section 5. Have loudspeakers ready for sections 4 and 6. The chorales come from an installed package; without it, the lecture says so and plays pieces of our own model.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from statistics import fmean

import numpy as np
import torch
from IPython.display import HTML
from PIL import Image

from lectures import show, stored, widgets
from lectures.recipes import captions, image_data, scenes
from lectures.recipes.chorales import TOKENIZER, harmonise, pitches, unseen_pieces
from lectures.trained import checkpoint
from nlmcore.corpora import load
from nlmcore.corpora.packaged import data_file
from nlmcore.decoding import sample
from nlmcore.inspect import capture
from nlmcore.metrics import mean_interval
from nlmcore.positions import relative_shift
from nlmcore.training import fit
from nlmcore.vision import ConvEncoder, ImageClassifier
from nlmcore.vision.convolution import convolve, max_pool


def percent(values):
    """Mean of one value per seed, with its 95 % interval."""
    mean, half = mean_interval([100 * value for value in values])
    return f"{mean:.1f} ± {half:.1f} %"


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A picture as a sequence
#
# A Transformer needs a sequence of vectors. A picture has pixels, but one token per pixel would give far too many tokens, because attention compares all pairs. The **Vision Transformer** (Dosovitskiy et al. 2021) cuts the picture into squares, called **patches**, and reads them row by row like words:
#
# $$h^0 = [x_{\mathrm{class}};\; p_1 E;\; \dots;\; p_N E] + \text{positions} .$$
#
# Here $h^0$ is the input of the first layer, and $p_k$ the vector of the pixels of patch $k$. A word's embedding is a one-hot vector times a matrix; a patch's embedding is $p_k$ times a matrix $E$. The **class token** $x_{\mathrm{class}}$ is one learned vector in front of the patches. From its final state a classifier predicts what the picture shows. Everything between is the encoder that we know.

# %% slideshow={"slide_type": "fragment"}
from nlmcore.vision import VisionTransformer, to_patches

digit = load("digits").train[0].image  # 8 × 8, brightness from 0 to 1
vit = VisionTransformer(8, 8, patch_size=2, d_model=32, n_heads=4, n_layers=2)
print(
    "patches", tuple(to_patches(digit[None], 2).shape), "vectors", tuple(vit(digit[None]).shape)
)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def photograph(name):
    """One of scikit-learn's two photographs (danielbuechele and vultilion, CC BY 2.0), grey, 64 × 96."""
    path = data_file("scikit-learn>=1.4,<2", f"sklearn/datasets/images/{name}.jpg")
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L").resize((96, 64)), dtype=np.float32) / 255


pictures = {"temple": photograph("china"), "flower": photograph("flower"), "digit": digit.numpy()}
tokens_of = {size: to_patches(torch.zeros(1, 224, 224), size).shape[1] for size in (16, 8)}
show.predict(
    "The paper reads photographs of 224 × 224 pixels in patches of 16 × 16. How many patches does one photograph give?",
    choices={"14": 14, "196": 196, "3,136": 3136, "50,176": 50176},
    answer=tokens_of[16],
    why="There are $224 / 16 = 14$ patches in each of 14 rows. The 16 × 16 in the paper's title, “An image is worth 16 × 16 words”, is the size of a patch, not the number of patches.",
    reveals=widgets.patch_playground(to_patches, pictures),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Ask yourself.** You halve the side of a patch. How many times as many pairs does attention compare? Choose the temple with patches of 1 × 1 pixel, and then of 32 × 32. What does the model lose in each case? Which neighbouring patches are far apart in the sequence?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - It compares 16 times as many. Half the side gives four times as many patches, and the number of pairs grows with the square of the number of patches.
# - With patches of 1 × 1 a token says next to nothing, and there are 6,144 of them. With patches of 32 × 32 there are six, and a whole roof is one vector.
# - A patch and the patch just below it are a whole row of patches apart in the sequence. Nothing tells the model that the two touch. It must learn this with its position vectors.
# - In the paper, separate position vectors for the row and the column were no better than one learned vector per position in the sequence.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Ask for the number of tokens before the widget, then press patches. What goes wrong: students think that $E$ looks for edges because a convolution would. It may, but $E$ sees one square at a time.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. How many images does it need?
#
# A **convolutional network** for images slides small filters over the picture. The weights of a filter are the same at every location:
#
# $$y_o[r, c] = b_o + \sum_i \sum_{u, v} W_{oi}[u, v] \, x_i[r + u, c + v] .$$
#
# Here $x_i[r, c]$ is the value of input map $i$ at row $r$ and column $c$, and $W_{oi}$ is the filter from input map $i$ to output map $o$, with rows $u$ and columns $v$. The bias of the output map is $b_o$. The first layer has one input map, the picture. Each output map is called a channel. **Pooling** then replaces each small square of a map by one value. LeCun et al. (1998) took the average; our networks keep the largest value. With each layer, a value depends on a larger part of the picture. What does such a value respond to? We train three small networks on digits, and look for the test digits with the highest values in a channel.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
SEEN = ((1, 3), (2, 6))  # border and side of the square that a value of layer 1, 2 depends on


def layers_of(model, images):
    """(image, channel, row, column) after each layer."""
    x, found, encoder = images.unsqueeze(1), [], model.encoder
    for W, b, pool in zip(encoder.weights, encoder.biases, encoder.pools, strict=True):
        x = max_pool(torch.relu(convolve(x, W, b)), pool)
        found.append(x)
    return found


def most_excited(maps, count=10):
    """For every channel that answers at all: the images with its highest values."""
    highest = maps.flatten(2).amax(-1)
    top = highest.topk(count, 0).indices.mT
    return {c: top[c] for c in range(len(top)) if (highest[:, c] > 0).sum() >= count}


def agreement(chosen, labels):
    """The share of the images with the most common label, mean over the channels."""
    return fmean(float(labels[of].bincount().max()) / len(of) for of in chosen.values())


def window(image, maps, layer):
    """The part of the image on which the highest value of a map depends."""
    at, size = int(maps.flatten().argmax()), maps.shape[-1]
    row, column = (8 // size * k for k in divmod(at, size))
    if layer >= len(SEEN):
        return image  # all of it
    border, side = SEEN[layer]
    padded = torch.nn.functional.pad(image, 4 * [border])
    return padded[row : row + side, column : column + side]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
images, labels = image_data.digits()["train"]
test_images, test_labels = image_data.digits()["test"]
agreed = {"trained": [], "untrained": []}
for seed in range(3):
    torch.manual_seed(seed)
    network = ImageClassifier(ConvEncoder((8, 16, 32), pools=(1, 2, 1)), 10)
    for when in ("untrained", "trained"):
        if when == "trained":
            batches = image_data.Images(images, labels, seed)
            fit(
                network,
                batches,
                loss=image_data.class_loss,
                steps=150,
                learning_rate=1e-2,
                progress=False,
            )
        with torch.no_grad():
            maps = layers_of(network, test_images)
        agreed[when].append([agreement(most_excited(of), test_labels) for of in maps])
by_layer = {
    when: [fmean(seeds) for seeds in zip(*of, strict=True)] for when, of in agreed.items()
}
mixed = torch.Generator().manual_seed(0)
tens = {k: torch.randperm(len(test_labels), generator=mixed)[:10] for k in range(500)}
random_ten = agreement(tens, test_labels)
HTML(
    widgets.excited_svg(
        {
            f"layer {layer + 1}": [
                [window(test_images[i], maps[layer][i, c], layer) for i in chosen[:8]]
                for c, chosen in list(most_excited(maps[layer]).items())[:3]
            ]
            for layer in range(3)
        }
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *The first three channels of each layer in one network. Each line shows one channel by the eight test digits that excite it most. You see the part of each digit on which the channel's highest value depends.*
#
# - **Layer 3 is more specific to one digit than layer 1.** For each channel, take the ten test digits that excite it most, and count how many have the most common label among them. In layer 1 the most common label covers 46<!--[[100 * by_layer["trained"][0]:.0f]]--> % of them, and in layer 3 it covers 70<!--[[100 * by_layer["trained"][2]:.0f]]--> %. Layer 3 is ahead of layer 1 in each of the three<!--[[words(len(agreed["trained"]))]]--> networks<!--[[? all(first + 0.1 < last for first, _, last in agreed["trained"])]]-->.
# - As a control we take the same networks before training. There, in layer 3, the most common label covers 50<!--[[100 * by_layer["untrained"][2]:.0f]]--> %. Among ten random digits it covers 27<!--[[100 * random_ten:.0f]]--> %. So training makes layer 3 more specific, but some of the specificity is there before training<!--[[? by_layer["trained"][2] > by_layer["untrained"][2] + 0.1 > random_ten + 0.2]]-->.
# - In networks trained on photographs, the first layers respond to edges and textures, later ones to parts, and the last ones to whole objects (Zeiler & Fergus 2014). A caption must also say how objects are *related*, as in "left of" (section 7).

# %% [markdown] slideshow={"slide_type": "subslide"}
# Two things are built into a convolution: neighbours belong together, and a shape is the same wherever it is. Such a built-in assumption is called an **inductive bias**. A Vision Transformer has only a little of this built in, through the cut into patches and the shared matrix $E$. Dosovitskiy et al. report that with 9 million labelled images a convolutional network is ahead of their ViT-B/32 (the base size, with patches of 32 × 32), and that with 90 million or more the ViT is ahead.
#
# Can we see this with 8 × 8 digits? Our convolutional network and our Vision Transformer both have about 25,000 parameters and train for the same number of steps.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
data = stored("image_data")
right = data["right"]
sizes = list(right["CNN"])
few, most = sizes[0], sizes[-1]


def ahead(first, second, size):
    """By how many percentage points one row is ahead of another on average."""
    return 100 * (fmean(right[first][size]) - fmean(right[second][size]))


show.predict(
    f"With {few} training images, by how many percentage points is the convolutional network ahead of the Vision Transformer on test digits?",
    choices={"it is 5 behind": -5, "they are equal": 0.5, "about 8": 8, "about 20": 20},
    answer=ahead("CNN", "ViT", few),
    unit=" points",
    why="These are means of five seeds. With all images the convolutional network is still ahead.",
    reveals=show.said(
        f"{few} images: CNN {percent(right['CNN'][few])}, ViT {percent(right['ViT'][few])}; {int(most):,} images: CNN {percent(right['CNN'][most])}, ViT {percent(right['ViT'][most])}"
    ),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Why does the Vision Transformer lag? We test **three explanations**. First, it may not know that shapes can move. If so, training on shifted images should help it more than it helps the convolutional network. We shift each image by up to one pixel. Training on such changed copies is called **augmentation**.
# Second, it may never have learned what pictures look like. If so, **masked-patch pretraining** should help: hide half of the patches of *unlabelled* digits and predict their pixels (Dosovitskiy et al. 2021; He et al. 2022, masked autoencoders),
#
# $$\mathcal{L} = \frac{1}{|M|} \sum_{k \in M} \lVert p_k - (h_k W + b) \rVert^2 , \qquad M \text{ the hidden patches} .$$
#
# Here $h_k$ is the final state at patch $k$, and $W$ and $b$ map it to pixels. The third explanation is in the next question.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [
    (row, *(percent(by[size]).removesuffix(" %") for size in sizes))
    for row, by in right.items()
    if "steps" not in row
]
explained = show.table(told, ["Right after 250 steps, %", *(f"{size} images" for size in sizes)])
left = ahead("CNN, 3 times the steps", "ViT, 3 times the steps", most)


def got(row, size):
    """Mean % right."""
    return 100 * fmean(right[row][size])


def by_seed(first, second, size):
    """(points by which one row is ahead, half its 95 % interval), seed by seed."""
    pairs = zip(right[first][size], right[second][size], strict=True)
    return mean_interval([100 * (a - b) for a, b in pairs])


def closed(size):
    """(points by which three times the steps make the gap smaller, half its 95 % interval), seed by seed."""
    of = (
        right[f"{row}{steps}"][size]
        for steps in ("", ", 3 times the steps")
        for row in ("CNN", "ViT")
    )
    return mean_interval([100 * (a - b - (c - d)) for a, b, c, d in zip(*of, strict=True)])


longer = {
    size: by_seed("CNN, 3 times the steps", "ViT, 3 times the steps", size) for size in sizes
}
show.predict(
    f"The third explanation is that the Vision Transformer just learns more *slowly*. With all {int(most):,} images it is {ahead('CNN', 'ViT', most):.0f} points behind. Give both networks three times the steps. By how many points is it behind then?",
    choices={"as many as before": 15, "about 10": 10, "about 4": 4, "it is 3 ahead": -3},
    answer=left,
    unit=" points",
    why=f"With {few} images it stays {ahead('CNN, 3 times the steps', 'ViT, 3 times the steps', few):.0f} points behind. Only with all images can five seeds show that the gap shrinks.",
    reveals=[widgets.digits_explorer(data), explained],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Steps.** With all images, three times the steps make the gap 11.2<!--[[closed(most)[0]:.1f]]--> ± 6.9<!--[[closed(most)[1]:.1f]]--> points smaller. It is then 4.0<!--[[longer[most][0]:.1f]]--> ± 5.0<!--[[longer[most][1]:.1f]]-->, so five seeds cannot tell which network is ahead. With 1,000 images or fewer the convolutional network is still ahead<!--[[? all(mean > half for mean, half in list(longer.values())[:-1])]]-->, and whether the gap shrinks is not clear<!--[[? all(abs(closed(size)[0]) < closed(size)[1] for size in sizes[:-1])]]-->.
# - The learning rates were chosen with 100<!--[[few]]--> images, and the highest of three was best for both networks<!--[[? data["rates"]["CNN"] == data["rates"]["ViT"] == 0.01]]-->, so better tuning might explain part of the gap.
# - **Pretraining on patches** lifts the Vision Transformer from 76<!--[[got("ViT", most):.0f]]--> to 86<!--[[got("ViT, pretrained", most):.0f]]--> % with all images. With 100 images five seeds cannot tell whether it helps (7<!--[[by_seed("ViT, pretrained", "ViT", few)[0]:.0f]]--> ± 15<!--[[by_seed("ViT, pretrained", "ViT", few)[1]:.0f]]--> points). The pretrained model was also trained for more steps, and this test cannot say whether the steps or the unlabelled images helped.
# - **Training on shifted images** made the Vision Transformer *worse* at every size (from 76<!--[[got("ViT", most):.0f]]--> to 42<!--[[got("ViT, shifted images", most):.0f]]--> % with all images)<!--[[? all(mean > half for mean, half in (by_seed("ViT", "ViT, shifted images", size) for size in sizes))]]-->. For the convolutional network no size shows a difference<!--[[? all(mean < half for mean, half in (by_seed("CNN", "CNN, shifted images", size) for size in sizes))]]-->. We do not know why shifting hurts the Vision Transformer.
# - **A baseline without any network is ahead of every row of the table.** It gives each test digit the label of its nearest neighbour in pixels, and is right for 88<!--[[got("nearest neighbour", few):.0f]]--> % of them with 100 training images and for 94<!--[[got("nearest neighbour", most):.0f]]--> % with all<!--[[? all(got("nearest neighbour", size) > max(got(row, size) for row in right if row != "nearest neighbour") for size in sizes)]]-->.
# </details>
#
# **After 250 steps the convolutional network is ahead at each size of the training set. After three times the steps it is still ahead with up to 1,000 images; with all of them we cannot tell.** On these digits the nearest neighbour in pixels is ahead of both, so these results say little about the photographs for which such networks are built.

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Let the room name what the third channel of each layer likes. Vote on the gap before you show it. What goes wrong: students read "Transformers need more data" as a law. It is a comparison at equal parameters, for one way of training, on one task.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Distances without a table of pairs
#
# Music repeats itself: after a beat, after a bar, in another voice. So *how long ago* a note was may matter more than its position in the sequence. Relative attention (Shaw et al. 2018, [lecture 14](14_positions.ipynb)) adds a score for the distance, with a learned vector $e_d$ for each distance $d$:
#
# $$\mathrm{score}_{ij} = \frac{q_i \cdot k_j + q_i \cdot e_{i-j}}{\sqrt{d_{\mathrm{head}}}} .$$
#
# Computed directly, this formula needs a copy of $e_{i-j}$ for every *pair*. For $n$ tokens that is an array of $n \times n \times d_{\mathrm{head}}$ values per head. The **Music Transformer** (Huang et al. 2018) computes the same scores without this array.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
length, width, size_of_float = 2048, 512, 4
pair_bytes, table_bytes = length**2 * width * size_of_float, length * width * size_of_float
show.predict(
    f"For {length:,} tokens and a width of {width}, the array of pairs takes {pair_bytes / 1e9:.1f} GB per layer. How much memory does the table of the distances take?",
    choices={"4.2 MB": 4.2e6, "42 MB": 4.2e7, "420 MB": 4.2e8, "2.1 GB": 2.1e9},
    answer=table_bytes,
    unit=" bytes",
    why=f"The table has one vector per distance, {length:,} in all, instead of one per pair. The factor is the length itself.",
    reveals=show.said(
        f"pairs: {pair_bytes:,} bytes; distances: {table_bytes:,} bytes; factor {pair_bytes // table_bytes:,}"
    ),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Skewing.** The rows of a matrix $E$ are now the vectors $e_d$, the farthest distance first. One product $x = Q E^{\top}$ scores every query against every *distance*. But attention needs scores $y$ against every *key*, and each query has a different key at distance 3. So row $i$, counted from 0, must move to the left by $n - 1 - i$ columns, one fewer than the row above it:
#
# $$y_{ij} = x_{i,\, j + n - 1 - i} .$$
#
# The move takes no arithmetic. Pad one column of zeros on the left, read the same values in the same order as rows of the old width, and drop the first row.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def skew(x):
    """Scores (query, distance), the farthest first -> scores (query, key)."""
    n = len(x)
    padded = torch.cat([torch.zeros(n, 1), x], dim=1)  # (n, n + 1)
    return padded.reshape(n + 1, n)[1:]


x = torch.arange(1.0, 10).reshape(3, 3)
print(skew(x), relative_shift(x), sep="\n")

# %% slideshow={"slide_type": "fragment"}
widgets.skew_player(skew)

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Step through it. Why is the upper triangle of the result meaningless, and why does that not matter?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Above the diagonal are keys of the future, which have no distance in the table. The values there are scores of the next query and a zero from the padding. `skew` leaves them, `relative_shift` writes zeros, and the causal mask removes both.
# - Skewing saves memory. The time is still quadratic in the length, and so is the memory for the $n \times n$ scores themselves, 17<!--[[length**2 * size_of_float / 1e6:.0f]]--> MB per head here.
# - The paper reports that the longest sequence that fits into 16 GB grew from 650 to 3,500 tokens. At 650 tokens skewing was six times faster, although the number of multiplications is the same.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room say what a row of step 1 means before you step. What goes wrong: students expect the trick to save multiplications. It saves the array of pairs.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. A chorale as text
#
# A chorale has four voices: soprano, alto, tenor, bass. To turn it into one sequence, cut time into sixteenth notes (sixteenths), four to each quarter note. At each sixteenth, read the four voices in turn, and then go on to the next sixteenth. A token is a **pitch**, written as the number of a piano key (MIDI; 60 is middle C), or silence. A held note is written again at every sixteenth.
#
# Our corpus has 364<!--[[len(load("chorales"))]]--> chorales with 317,520<!--[[load("chorales").size:,]]--> tokens. The pitches run from 36<!--[[min(ord(sign) for piece in load("chorales").documents for sign in piece.text if sign != " ")]]--> to 81<!--[[max(ord(sign) for piece in load("chorales").documents for sign in piece.text)]]-->. As character codes, all these numbers stand for printable characters, so a chorale is an ordinary string:

# %% slideshow={"slide_type": "fragment"}
musician, _, card = checkpoint("chorales")  # a Music Transformer, trained for this lecture
pieces, missing = unseen_pieces(musician)  # held out; without the package, pieces of our model
title = next(iter(pieces))
print(
    missing or f"{len(pieces)} held-out pieces; {title} begins",
    TOKENIZER.decode(pieces[title][:32].tolist()),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
rolls = {name: {"as written": pitches(tokens).numpy()} for name, tokens in pieces.items()}
chorales = stored("chorales")
held = chorales["without"]["held_share"]
show.predict(
    "A model that knows nothing about music can still copy. It predicts that each voice keeps its previous pitch. For what percentage of the tokens is that right?",
    choices={"about 25 %": 25, "about 50 %": 50, "about 75 %": 75, "about 95 %": 95},
    answer=100 * held,
    unit=" %",
    why="Most notes are quarters and eighths, so a voice usually holds its pitch from one sixteenth to the next. A low loss per token says little until you know this.",
    reveals=widgets.chorale_player(
        rolls,
        note="Press play below the picture. Each voice has its colour, and S, A, T or B marks its first note.",
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Four tokens make a sixteenth, and 64 tokens make a bar of four quarters. Ten notes of the corpus are not on the grid of sixteenths and are rounded.
# - A note that is held and a note that is struck again look alike, here as in the paper.
# - At each sixteenth the model reads the soprano before it writes the bass. This order makes harmonising possible in section 6.
# - The package music21 distributes the chorales with the permission of the people who encoded them, and says that there may be restrictions on commercial use (its file `corpus/license.txt`). We read the chorales from the package and copy nothing.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes, with sound. Play one piece, then only its bass. Ask what loss a model would have that only copies. What goes wrong: "the model gets 80 % of the notes right" sounds impressive, but copying nearly does.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Do distances help?
#
# Huang et al. (2018) compare Transformers on chorales by their loss per note. Some have sinusoidal positions ("sinusoids"), some have relative positions, and some are also given a label that says which voice a token belongs to.
#
# Why the labels? A model with sinusoids must *learn* that every fourth token belongs to the same voice. If relative positions did no more than make that easy, a label for the voice would help as much. We train small models of three kinds: with sinusoids, with sinusoids and labels, and with relative positions.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
rows = chorales["rows"]
losses = {row: fmean(of["all"]) for row, of in rows.items()}
labelled, twice = "sinusoids, voice labels", "sinusoids, twice the steps"
fair, both = f"{labelled}, twice the steps", "relative, voice labels"
four = [row for row in rows if row not in (fair, both)]
cost = rows["relative"]["seconds_per_step"] / rows["sinusoids"]["seconds_per_step"]
more = {
    "7-gram, counted": chorales["without"]["7-gram"],
    "relative, trained for longer": card["figures"]["test"],
}
told = [
    (row, *(f"{np.mean(of[key]):.2f}" for key in ("all", "held", "changed")))
    for row, of in (rows | more).items()
]
compared = show.table(told, ["Nats per token", "all", "held", "changed"])
show.predict(
    f"We trained each kind with five seeds for 200 steps, each at its own best learning rate. A step with relative positions took {cost:.1f} times as long, so a fourth row has sinusoids and twice the steps. Put the four rows in the order of their test loss, lowest first.",
    order=[row.replace(",", " +") for row in four],
    answer=[row.replace(",", " +") for row in sorted(four, key=losses.get)],
    why="The table splits the loss by token: a pitch is *held* if the voice keeps its previous pitch, and otherwise *changed*. Look at which of the two decides the order, and at two more rows, which test the labels.",
    reveals=[widgets.chorale_losses(chorales), compared],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# | nats per note, Huang et al. (2018) | |
# |---|---|
# | Transformer | 0.417 |
# | with sinusoids, concatenated | 0.398 |
# | with sinusoids and labels for the voices | 0.370 |
# | relative positions | 0.357 |
# | relative positions and labels | 0.347 |
#
# Our models are much smaller, are trained on a different split for fewer steps, and add the sinusoids instead of concatenating them. So you can compare only the *order* of the rows.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **At which distance does the model look?** The model of the next section has three layers of four heads. We average each head's attention over held-out music, by the distance from query to key.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
AWAY = 81
long_enough = {name: tokens for name, tokens in pieces.items() if len(tokens) >= 256}
excerpts = torch.stack([tokens[:256] for tokens in long_enough.values()][:6])
with torch.no_grad(), capture(musician) as tape:
    musician(excerpts)
attention = torch.stack(
    [tape[f"layers.{layer}.attention"].mean(0) for layer in range(3)]
)  # (layer, head, query, key)
late = torch.arange(AWAY, 256)  # queries that have so many tokens before them
by_distance = torch.stack([attention[:, :, late, late - d].mean(-1) for d in range(AWAY)], -1)
favourite = by_distance.mean((0, 1))
copying = [
    (layer + 1, head + 1) for layer, head in (by_distance.argmax(-1) == 3).nonzero().tolist()
]
show.predict(
    "One distance gets more attention than any other, over all heads together. How many tokens back is it?",
    choices={
        "1 (the voice above)": 1,
        "3": 3,
        "4 (the same voice, one sixteenth ago)": 4,
        "16 (one quarter ago)": 16,
    },
    answer=int(favourite.argmax()),
    why="The query is the *last token read*, and it predicts the *next* one. The previous pitch of the voice that comes next is four tokens before this next token, so three before the query.",
    reveals=[
        widgets.distance_explorer(by_distance.numpy()),
        show.said(
            "Heads whose strongest distance is 3: "
            + ", ".join(f"layer {layer}, head {head}" for layer, head in copying)
        ),
    ],
)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def nats(row, key="all"):
    """Mean loss per token."""
    return fmean(rows[row][key])


def lead(one, other):
    """Mean and half interval of one row's loss less another's, seed by seed."""
    return mean_interval(
        [x - y for x, y in zip(rows[one]["all"], rows[other]["all"], strict=True)]
    )


counted = chorales["without"]["7-gram"]
trained_longer = card["figures"]["test"]

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With equal steps, the lead of relative positions comes from the *held* pitches. There the loss is 0.27<!--[[nats("relative", "held"):.2f]]--> with relative positions, and 0.54<!--[[nats(labelled, "held"):.2f]]--> with sinusoids and labels. On *changed* pitches these rows hardly differ.
# - **Do relative positions do more than labels?** With equal steps they do, but one of their steps takes about twice as long. With twice the steps, sinusoids with labels reach 0.95<!--[[nats(fair):.2f]]-->, and relative positions have 0.97<!--[[nats("relative"):.2f]]--><!--[[? sum(lead(fair, "relative")) < 0]]-->. We see no gain from labels for relative positions<!--[[? abs(lead(both, "relative")[0]) < lead(both, "relative")[1]]]-->.
# - **No short training beats counting.** A 7-gram model, with six tokens of context, has 0.81<!--[[counted["all"]:.2f]]--><!--[[? counted["all"] < min(losses.values())]]-->. The model of the next section is wider and took 1,500<!--[[card["training"]["steps"]:,]]--> steps. It reaches 0.56<!--[[trained_longer["all"]:.2f]]--> (one run), and is better than the 7-gram on changed pitches as well<!--[[? trained_longer["changed"] < counted["changed"]]]-->.
# - With equal steps our rows are in the paper's order, except that in the paper labels help relative positions as well<!--[[? nats("relative") < nats(labelled) < nats("sinusoids")]]-->.
# - The same learning rate is the best for every row, and half and twice this rate are worse<!--[[? {of["rate"] for of in rows.values()} == {0.01}]]-->.
# - We ablated none of the heads in the picture, so we do not know which ones the model needs.
# </details>
#
# **After 200 steps, relative positions predict held pitches best**<!--[[? max(rows["relative"]["held"]) < min(min(rows[row]["held"]) for row in four if row != "relative")]]-->**. In the same time, sinusoids with a label for the voice do about as well.** For held pitches it is enough to copy the voice's previous pitch. The runs do not say which model ends with the lowest loss.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. The measure "changed pitches" is the one that a musician cares about: it is where something happens. What goes wrong: students compare our nats with the paper's. Say what differs: edition, split, size, steps, and how sinusoids enter.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Continue, and harmonise
#
# The model is an ordinary language model, so the methods of [lecture 9](09_decoding.ipynb) work. Give it eight quarters of a piece that it has never seen, and sample the next eight:

# %% slideshow={"slide_type": "fragment"}
prompts = excerpts[:3, :128]  # 32 sixteenths of three pieces


def continued(temperature):
    draw = torch.Generator().manual_seed(0)
    return sample(musician, prompts, 128, temperature=temperature, generator=draw).tokens


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
names = list(long_enough)[:3]
versions = {
    name: {"as written": pitches(excerpts[i, :256]).numpy()} for i, name in enumerate(names)
}
for temperature in (0.5, 1.0):
    for i, row in enumerate(continued(temperature)):
        versions[names[i]][f"temperature {temperature:g}"] = pitches(
            torch.cat([prompts[i], row])
        ).numpy()
widgets.chorale_player(
    versions,
    given=dict.fromkeys(names, 32),
    note="The grey half is given; the rest is as written, or sampled.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Harmonising.** Given a melody, what do the other voices sing? The model was not trained for that, but the order of the voices in its sequences allows it. At every sixteenth, *put in* the soprano's pitch, and sample alto, tenor and bass.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
melodies = excerpts[:, : 4 * 32 : 4]  # the sopranos of six pieces, 32 sixteenths each
tries = 5
draw = torch.Generator().manual_seed(1)
sung = (
    harmonise(musician, melodies.repeat(tries, 1), generator=draw)
    .unflatten(1, (-1, 4))
    .unflatten(0, (tries, -1))
)
theirs = excerpts[:, : 4 * 32].unflatten(1, (-1, 4))  # (piece, time, voice)
agrees = (sung == theirs).float().mean((1, 2))[:, 1:]  # (try, voice)
others = torch.cat(
    [
        tokens[: len(tokens) // 4 * 4].reshape(-1, 4)
        for name, tokens in pieces.items()
        if name not in list(long_enough)[:6]
    ]
)


def partners(soprano):
    """The pitches that the other voices most often have below this one, in other held-out pieces."""
    found = others[others[:, 0] == soprano]
    return found.mode(0).values if len(found) else others.mode(0).values


lookup = torch.stack([torch.stack([partners(note) for note in melody]) for melody in melodies])
by_table = (lookup == theirs).float().mean((0, 1))[1:]
sampled = (show.mean_from_to(voice) for voice in 100 * agrees.T)
show.table(
    [
        (f"sampled by the model, mean (lowest to highest of {tries} tries)", *sampled),
        ("the soprano's most frequent partner", *(f"{100 * p:.0f}" for p in by_table.tolist())),
    ],
    ["Same pitch as in the original, %", "Alto", "Tenor", "Bass"],
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
harmonies = {
    name: {"as written": pitches(theirs[i].flatten()).numpy()}
    | {f"try {k + 1}": pitches(sung[k, i].flatten()).numpy() for k in range(3)}
    for i, name in enumerate(list(long_enough)[:6])
}
widgets.chorale_player(harmonies)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The model hears the melody only up to the present. A composer who knows the whole melody can prepare a cadence. To use the whole melody, you would have to weight many tries by the probability of the soprano's later notes (particle filtering), or train on a different order.
# - The last row is a baseline without a model: for each pitch of the soprano, it takes the pitches that the other voices most often have below it in other pieces. In the alto and tenor of these six pieces, the model agrees with the original less often than this baseline does<!--[[? bool((agrees.mean(0)[:2] < by_table[:2]).all())]]-->. For the alto it agrees in 27<!--[[100 * float(agrees.mean(0)[0]):.0f]]--> % of cases, and the baseline in 33<!--[[100 * float(by_table[0]):.0f]]--> %. For the bass the baseline lies within the range of our five<!--[[words(tries)]]--> tries<!--[[? bool(agrees.amin(0)[2] < by_table[2] < agrees.amax(0)[2])]]-->. But do not conclude that the baseline is better. It takes the most frequent pitch, whereas the model samples.
# - In the paper, listeners compared piano music by three models and by composers, in 180 comparisons of two pieces. They significantly preferred the music of the model with relative attention to that of the plain Transformer. The LSTM was rated above the plain Transformer although its loss was worse; we do not know whether that second difference is significant.
# </details>
#
# **Neither the loss nor the agreement with the original says how the music sounds to people.** For that you must ask listeners, as the paper did. We did not.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes, with sound. Play the original last. What goes wrong: students hear wrong notes and blame the temperature; compare 0.5 and 1. Ask why putting in the soprano is not the same as conditioning on it: the earlier altos were sampled without knowing the later sopranos.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Captions, with attention that is scored
#
# To describe a picture, a decoder can attend to parts of it ([lecture 12](12_attention.ipynb), section 8). In Xu et al. (2015) an encoder gives a vector $a_j$ for each location $j$ of the picture. Before each word, the LSTM's state is the query of an additive attention over these locations:
#
# $$e_{ij} = v \cdot \tanh(h_{i-1} W_q + a_j W_a), \qquad \alpha_i = \mathrm{softmax}(e_i), \qquad z_i = \sum_j \alpha_{ij} a_j , \qquad h_i = \mathrm{LSTM}([y_{i-1}; z_i], h_{i-1}) .$$
#
# Here $z_i$ is the context vector before word $i$, $y_{i-1}$ is the embedding of the previous word, and $v$, $W_q$ and $W_a$ are learned. The LSTM's state starts from the mean of all $a_j$. The paper shows photographs with bright spots where the model "looks". But nobody has marked where in these photographs the model *should* look. So we make pictures of two symbols, with a caption such as "a snowman left of an umbrella" and a known box around each symbol. Some pairs of symbols never occur together in training. We train two captioners: one has a *convolutional* encoder, the other a Vision Transformer that reads *patches*. They differ in a second way: the convolutional one is trained with a penalty that we explain below. Without it, three<!--[[words(sum(share < 50 for share in right_of["convolutional"]))]]--> of five<!--[[words(len(right_of["convolutional"]))]]--> convolutional captioners describe fewer than half of the new pictures correctly. So these captioners cannot tell you which encoder is better.

# %% slideshow={"slide_type": "fragment"}
captioners = {kind: checkpoint(f"captions_{kind}").model for kind in captions.ENCODERS}
unseen = scenes.scenes(100, 20_000, held_out=True)  # pairs of symbols that training left out
for kind, model in captioners.items():
    state = model.encode(torch.stack([one.image for one in unseen]))
    logits, state = model(
        torch.full((100, 1), captions.BOS), state
    )  # a language model like any other
    said = captions.describe(model, torch.stack([one.image for one in unseen]))
    print(
        f"{kind:14} of 100 right: {sum(s == one.caption for s, one in zip(said, unseen, strict=True))}; the first: {said[0]}"
    )

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
attends = stored("captions")["rows"]
shown = {}
for kind, model in captioners.items():
    weights, _, _ = captions.reading(model, unseen[:8])
    shown[kind] = [
        widgets.Shown(
            one.image.numpy(),
            one.caption.split(),
            weights[i, : len(one.caption.split())]
            .unflatten(1, (-1, scenes.COLUMNS // captions.STEP))
            .numpy(),
            dict(zip(one.names, one.boxes, strict=True)),
        )
        for i, one in enumerate(unseen[:8])
    ]
scored = {kind: captions.scored(model, unseen) for kind, model in captioners.items()}
own = scored["patches"]
by_chance = own["chance"]
show.predict(
    f"The box of the named symbol touches {100 * by_chance:.0f} % of the locations. When the captioner with patches writes this symbol's name, what share of its attention lies in the box?",
    choices={"about 45 %": 45, "about 65 %": 65, "about 85 %": 85, "all of it": 100},
    answer=100 * own["in_box"],
    unit=" %",
    why=f"Over five seeds, {percent(attends['patches']['in_box'])} lies in this box, and {percent(attends['patches']['in_other'])} in the other symbol's box.",
    reveals=widgets.caption_explorer(shown).opens(model="patches"),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A control.** If this attention follows the *symbol*, then the attention that the model pays to one picture should miss the symbols of another. So we take the weights from the next picture, and ask how much of them lies in this picture's box.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
blind = float(captions.without_looking(captions.touched(unseen)).mean())
told = [
    (kind, f"{100 * of['in_box']:.0f}", f"{100 * of['another_picture']:.0f}")
    for kind, of in scored.items()
]
control_told = show.table(
    told,
    ["Attention in the box of the named symbol, %", "To this picture", "To another picture"],
    note=f"One fixed location for each noun, without looking: {100 * blind:.0f} %",
)
show.predict(
    "Take the attention that the captioner with patches paid to *another* picture. What share of it lies in this picture's box?",
    choices={"about 10 %": 10, "about 45 %": 45, "about 65 %": 65, "about 85 %": 85},
    answer=100 * own["another_picture"],
    unit=" %",
    why="The caption always names the left symbol first, and a symbol fills most of its half. Attention to the left half and then to the right half scores high in every picture, without looking at it.",
    reveals=control_told,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **An intervention.** An attention map only describes where a model looks. To find out what a word *depends on*, we erase one symbol and see how far ln P of the word falls. We do this for five seeds of each captioner. We also train the convolutional captioner with Xu et al.'s **doubly stochastic attention**, a penalty
# $\lambda \sum_j (1 - \sum_i \alpha_{ij})^2$ with $\lambda = 1$. The penalty asks that the weights of each location, summed over the caption, come to about 1, so that no part of the picture is ignored. The convolutional captioner above was trained with this penalty.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
right_of = {row: [100 * share for share in by["right_new_pairs"]] for row, by in attends.items()}
told = []
erased = {"erased": "named symbol erased", "other_erased": "the other erased"}
for row, by in attends.items():
    told.append((f"{row}: captions right, %", *(f"{share:.0f}" for share in right_of[row])))
    for key, words in erased.items():
        lost = (f"{nats:z.2f}" for nats in by[key])
        told.append((f"{row}: {words}, nats", *lost))
show.table(told, ["", *(f"Seed {k + 1}" for k in range(len(told[0]) - 1))])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
anywhere = stored("scattered")["patches"]
failing = [i for i, share in enumerate(right_of["convolutional"]) if share == 0]
largest = attends["convolutional"]["largest_in_box"]
penalised = right_of["convolutional, doubly stochastic"]

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **The score fails the control.** In the captioner with patches, attention paid to another picture scores 86<!--[[100 * own["another_picture"]:.0f]]--> %. In each of the two captioners shown, the scores for this picture and for another one differ by less than two points<!--[[? all(abs(of["in_box"] - of["another_picture"]) < 0.02 for of in scored.values())]]-->. Attention that always goes to one fixed location per noun would score 100<!--[[100 * blind:.0f]]--> %. So in these pictures the score does not tell whether the model has seen the symbol.
# - **The intervention says more.** Erasing the named symbol costs the captioner with patches about 5<!--[[fmean(attends["patches"]["erased"]):.0f]]--> nats, and erasing the other symbol hardly anything<!--[[? fmean(attends["patches"]["other_erased"]) < 0.15]]-->. Its captions of new pairs are right in 99<!--[[fmean(right_of["patches"]):.0f]]--> % of cases.
# - **Attention in the right place is not recognition.** The two<!--[[words(len(failing))]]--> convolutional captioners that get no caption right still have their largest weight in the box in 91<!--[[100 * largest[failing[0]]:.0f]]--> and 84<!--[[100 * largest[failing[1]]:.0f]]--> % of cases.
# - Depending on the seed, the convolutional captioner gets between 0<!--[[min(right_of["convolutional"]):.0f]]--> and 100<!--[[max(right_of["convolutional"]):.0f]]--> % of the captions right, and with the penalty at least 38<!--[[min(penalised):.0f]]--> %. Five seeds of each are too few for a verdict on the penalty.
# - The score means little if a noun's position in the caption gives away where its symbol is. So we placed smaller symbols anywhere in a wider picture. In such pictures, attention to one fixed location per noun scores only 59<!--[[100 * anywhere["blind"][0]:.0f]]--> %. We trained five<!--[[words(len(anywhere["right"]))]]--> captioners on such pictures (`python -m lectures.recipes scattered`). All of them correctly describe every new picture of a pair that occurs in training<!--[[? min(anywhere["right"]) == 1]]-->, and the probability of a symbol's name depends on that symbol, and hardly on the other one<!--[[? min(anywhere["erased"]) > 5 > 0.5 > max(anywhere["other_erased"])]]-->.
# - But their maps differ. In four<!--[[words(sum(of > blind for of, blind in zip(anywhere["in_box"], anywhere["blind"])))]]--> of the five, the share of attention in the box is above the score of one fixed location, up to 89<!--[[100 * max(anywhere["in_box"]):.0f]]--> %. In the fifth it is 31<!--[[100 * min(anywhere["in_box"]):.0f]]--> %. On pairs that occur in training, this model is right although its map points elsewhere. On new pairs it is right in 50<!--[[100 * min(anywhere["right_new_pairs"]):.0f]]--> %, and the others in at least 87<!--[[100 * sorted(anywhere["right_new_pairs"])[1]:.0f]]--> %. One such seed does not show that the map and the errors are linked.
# </details>
#
# **Before you believe a map of attention, score attention that ignores the picture. To learn what a word depends on, intervene.**
#
# Other models read pictures and text together. CLIP (Radford et al. 2021) trains one encoder for pictures and one for texts with the contrastive objective of [lecture 17](17_pretraining.ipynb), so that a picture and its caption get similar vectors. Some assistants put patches among the tokens of a language model. In a *video*, the frames take the role of the locations. Venugopalan et al. (2015) read a vector per frame with a stack of LSTMs, which then writes the caption. Chung et al. (2017) read lips. Their decoder attends to the frames of a speaking mouth and to the sound, and writes what is said.

# %% [markdown] slideshow={"slide_type": "notes"}
# *18 minutes. Step through the words with the play button, first with the convolutional encoder. Ask what the model must know before it writes the article "an" (which symbol comes next, so it must have looked already). Let the room propose controls before you show ours. What goes wrong: students take the map for an explanation. The intervention is the evidence.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## What really helped?
#
# | task | what helped, at our scale | what we could not tell | section |
# |---|---|---|---|
# | digits | a convolutional network; the Vision Transformer was helped by pretraining and by more steps, with all training images | which of the convolution's assumptions helps, and what more data or better rates would change | 2 |
# | long sequences | skewing: less memory, the same scores | | 3 |
# | chorales | relative positions; after 200 steps the model with them is the best at held pitches, but in the same time sinusoids with a label for the voice do about as well | which model ends with the lower loss, and which music sounds better | 5, 6 |
# | captions | seeing the named symbol; if we erase it, the captioner with patches finds its name improbable | whether the attention that we see helped | 7 |
#
# **The Transformer reads pictures and music as it reads words. What helped in each case shows only in comparison with a simpler baseline: the nearest neighbour, copying, counted 7-grams, attention that ignores the picture.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *3 minutes. Cover the second column and let the room fill it in. What goes wrong: "attention found the object" is repeated from the picture, after the control has shown that nothing had to be found.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# The function `my_skew` below shifts each row separately, without `reshape`. First write it in your own way. Then do the same for keys of the *future*, which an encoder may attend to: let column $d$ of row $i$ hold the score for key $i + d$. Now the column of zeros goes on the right. Which row do you drop?
#
# In the project [`project_images.ipynb`](../exercises/project_images/project_images.ipynb) you change a Vision Transformer or a captioner, and test how much of a gap the change closes.


# %% slideshow={"slide_type": "fragment"}
def my_skew(x):
    """Scores (query, distance), the farthest first -> scores (query, key). Change this."""
    n = len(x)
    rows = [torch.cat([x[i, n - 1 - i :], torch.zeros(n - 1 - i)]) for i in range(n)]
    return torch.stack(rows)


widgets.skew_player(relative_shift, yours=my_skew)

# %% slideshow={"slide_type": "fragment"}
my_melody = "CCCC CCCC EEEE EEEE GGGG GGGG JJJJ JJJJ".replace(
    " ", ""
)  # eight quarters, four sixteenths each; C is G4 (67)
mine = harmonise(
    musician,
    torch.tensor([TOKENIZER.encode(my_melody)]),
    generator=torch.Generator().manual_seed(2),
)
widgets.chorale_player({"my melody": {"harmonised": pitches(mine[0]).numpy()}})

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework: each student harmonises a tune that the others must guess. One character is one pitch, `chr` of its MIDI number. What goes wrong: a melody below the alto's range, so that the voices cross.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A picture of 32 × 32 pixels is cut into patches of 4. How many tokens are there, and how many values does each have?
# <details><summary>Answer</summary>$8 \times 8 = 64$ tokens of 16 values.</details>
#
# 2. What is built into a convolutional network that a Vision Transformer must learn?
# <details><summary>Answer</summary>Its filters assume that neighbouring pixels belong together, and that a shape is the same wherever it is.</details>
#
# 3. Does skewing make relative attention linear in the length?
# <details><summary>Answer</summary>No. It avoids the array of vectors for all pairs; the scores of all pairs are still computed.</details>
#
# 4. A music model has a loss of 0.6 nats per token. Is that good?
# <details><summary>Answer</summary>The number alone does not say. Compare it with copying, with an n-gram model on the same tokens, and look at the pitches that change.</details>
#
# 5. You put in the melody and sample the other voices. Why is this not a sample from P(other voices | melody)?
# <details><summary>Answer</summary>Each sampled note knows only the melody up to its own moment.</details>
#
# 6. A captioner's attention misses the object that the captioner names. May you conclude that the captioner guesses?
# <details><summary>Answer</summary>No. The vector of one location may carry information about other locations. Erase the object and measure the probability of the word.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 6. What goes wrong: they answer that attention is useless.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $p_k$, $E$ | $x_p^k$, $\mathbf{E}$ | the pixels of a patch, and the matrix that embeds them |
# | $x_{\mathrm{class}}$ | [class] | the class token |
# | $e_d$ | $E^r$, $a^K$ | the vector of a distance |
# | $n$ | $L$ | tokens in the sequence |
# | $a_j$ | $\mathbf{a}_i$ | the encoder's vector of a location; the paper's $i$ counts locations |
# | $z_i$ | $\hat{\mathbf{z}}_t$ | the context vector before word $i$ |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: in the captioning paper $t$ counts words and $i$ locations.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **Vision Transformer**: a Transformer encoder that reads the patches of a picture.
# - **patches**: small squares of a picture, the tokens of a Vision Transformer.
# - **class token**: a learned vector in front of the patches whose final state is used to classify.
# - **pooling**: replacing each small square of a map by one value, such as its mean or its largest.
# - **augmentation**: training on changed copies of the examples, such as shifted images.
# - **masked-patch pretraining**: predicting the pixels of hidden patches, without labels.
# - **Music Transformer**: a Transformer language model of music with relative positions computed by skewing.
# - **skewing**: turning scores by distance into scores by key, with a padding and a reshape.
# - **doubly stochastic attention**: attention with a penalty, so that the weights of each location, summed over the words, come to about 1.
# - **pitch**: the height of a note, as the number of its key (MIDI); 60 is middle C.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Dosovitskiy et al. (2021), An image is worth 16 × 16 words. LeCun, Bottou, Bengio & Haffner (1998), Gradient-based learning applied to document recognition. Zeiler & Fergus (2014), Visualizing and Understanding Convolutional Networks. He et al. (2022), Masked autoencoders are scalable vision learners. Radford et al. (2021), CLIP. Shaw, Uszkoreit & Vaswani (2018), Self-attention with relative position representations. Huang et al. (2018), Music Transformer. Xu et al. (2015), Show, attend and tell. Venugopalan et al. (2015), Sequence to sequence: video to text. Chung, Senior, Vinyals & Zisserman (2017), Lip reading sentences in the wild.
# The chorales: music21's corpus (Cuthbert & Ariza 2010), encoded by M. Greentree (2004) and others, read from the installed package. The digits: Alpaydin & Kaynak (1998), UCI. The photographs: danielbuechele and vultilion (CC BY 2.0), from scikit-learn. The symbols: DejaVu Sans, from matplotlib. McAllester, slides on Transformers (TTIC 31230); Wang, slides (CUHK-Shenzhen).
