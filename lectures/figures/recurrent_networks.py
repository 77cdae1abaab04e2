"""The picture at the top of the lecture `recurrent_networks`: punctuation and capitals restored by a small recurrent network."""

from lectures.widgets.recurrent_networks import restored_svg
import torch

from lectures.trained import checkpoint
from lectures.recipes.restore import ids
from lectures.recipes.restore_marks import put_back

TEXT = "friends romans countrymen lend me your ears i come to bury caesar not to praise him"


def restored() -> str:
    model, tokenizer, _ = checkpoint("restore")
    words = TEXT.split()
    with torch.no_grad():
        sure, tags = model(torch.tensor([ids(tokenizer, words)]))[0].softmax(-1).max(-1)
    shown = [put_back([word], [tag]) for word, tag in zip(words, tags.tolist(), strict=True)]
    return restored_svg(words, shown, sure.numpy(), per_line=8)


PICTURES = {"restored": restored}
