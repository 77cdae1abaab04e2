"""A student's text, outputs and formulas: nothing runs, nothing is fetched, and what is meant well stays."""

import base64
import time

import pytest
from markupsafe import Markup

from autograder.feedback import clean, formgrader
from autograder.feedback.mathematics import mathml
from autograder.guard import Guard
from autograder.pages import render
from tests.autograder.pages import Page, dangers, unfit

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
ATTACKS = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href=' javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<div style='background:url(https://evil.example/x)'>x</div>",
    "<style>@import 'https://evil.example/x.css'; body{background:url(https://evil.example)}</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example><input autofocus onfocus=alert(1)></form>",
    "<video poster=https://evil.example/x><source onerror=alert(1)></video>",
    "![x](https://evil.example/x.png)",
    '![" onerror="alert(1)](attachment:x)',
    "![$\\text{<script>alert(1)</script>}$](x)",
    "<object data=https://evil.example></object><embed src=https://evil.example>",
    "</code></pre></section></main><script>alert(1)</script>",
    "```\n</code></pre><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    "$\\text{<script>alert(1)</script>}$",
    "$\\text{<img src=x onerror=alert(1)>}$",
    "$\\href{javascript:alert(1)}{x}$",
    "$\\style{background:url(https://evil.example)}{x}$",
    "$$\\text{</math><script>alert(1)</script>}$$",
    "\ue0000\ue001 \ue00099\ue001",
    "&#xe000;0&#xe001; &#xe000;99&#xe001; $x$",
    "$ autofocus onfocus=alert(1) $ [x](https://a.example/&#xe000;0&#xe001;)",
    "[x](/formgrader?path=submitted/ada/attention)",
    "[x](//evil.example) [x](..\\files\\x.html) <a href='https:evil.html'>x</a> <a href='&#32;/lab'>x</a>",
    "<details open ontoggle=alert(1)>x</details>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<!--><img src=x onerror=alert(1)>-->",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_is_harmless_wherever_it_stands(attack):
    found = [
        {"output_type": "stream", "name": "stdout", "text": attack},
        {"output_type": "display_data", "data": {"text/html": attack, "text/plain": attack}},
        {"output_type": "execute_result", "data": {"text/latex": attack}},
        {"output_type": "display_data", "data": {"image/png": attack}},
        {"output_type": "display_data", "data": {"image/svg+xml": attack}},
        {"output_type": "error", "ename": attack, "evalue": attack, "traceback": [attack]},
    ]
    attachments = {"x": {"image/png": attack, "text/html": attack}}
    parts = [
        clean.markdown(attack),
        clean.markdown(attack, attachments),
        clean.code(attack),
        clean.outputs(found, attack),
        *(
            clean.written([{"cell_type": kind, "source": attack, "outputs": found}], "a picture")
            for kind in ("markdown", "code", "raw")
        ),
    ]
    for part in [*parts, clean.text(attack), mathml(attack), mathml(attack, True)]:
        assert dangers(part) == [], part
    whole = render("page.html", title=attack, head=Markup("<h1>x</h1>"), body=Markup("".join(parts)))
    assert [one for one in unfit(whole) if not one.startswith("closed wrongly: p")] == []


def test_a_link_opens_a_window_that_cannot_reach_this_one_and_no_text_runs_backwards():
    made = clean.markdown("[x](https://a.example) &#x202e;y <a href=mailto:a@b.example>m</a>")
    assert made.count('target="_blank"') == made.count('rel="noopener noreferrer nofollow"') == 2
    assert "\u202e" not in made


def test_the_searcher_itself_finds_dangers():
    silent = [attack for attack in ATTACKS if attack.startswith("<") and not dangers(attack)]
    assert len(silent) <= 4  # those that count on a parser other than this one


def test_what_is_meant_well_stays():
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    made = clean.markdown(f"# Title\n\n*so* **it** is: `x < y`\n\n{table}\n\n- one\n- two\n\n$a^2$")
    for piece in ("<em>so</em>", "<code>x &lt; y</code>", "<td>1</td>", "<li>", "<msup><mi>a</mi><mn>2</mn></msup>"):
        assert piece in made
    assert "<h1" not in made  # the page's own headings stay in order
    html = {"text/html": "<table><tr><th>x</th></tr></table>"}
    assert "<table>" in clean.outputs([{"output_type": "display_data", "data": html}], "")


def test_what_stands_between_backticks_is_code_and_nothing_else_of_a_sentence_is():
    assert clean.sentence("Take `a < b`, not `b`.") == "Take <code>a &lt; b</code>, not <code>b</code>."
    assert clean.sentence("one ` alone") == "one ` alone"
    assert "<script" not in clean.sentence("`<script>alert(1)</script>`")


def test_pictures_are_embedded_with_words_and_only_if_they_are_some():
    good = clean.picture("image/png", PNG, 'a "plot"')
    assert 'alt="a &quot;plot&quot;"' in good
    assert clean.picture("image/png", base64.b64encode(b"GIF89a").decode(), "x") == ""
    assert clean.picture("text/html", PNG, "x") == ""
    large = base64.b64encode(b"\x89PNG" + bytes(clean.MOST_PICTURE)).decode()
    assert "left out" in clean.picture("image/png", large, "x")
    assert "base64" in clean.markdown("![a plot](attachment:a.png)", {"a.png": {"image/png": PNG}})


def test_a_flood_and_terminal_colours_are_cut():
    made = clean.text("\x1b[31mred\x1b[0m " + "x" * 100_000)
    assert made.startswith("red x")
    assert len(made) < 5_000
    assert "left out" in made


def test_formulas_become_mathml_and_what_cannot_be_read_stays_as_written():
    assert mathml(r"\frac{a}{b}", True).startswith('<math alttext="\\frac{a}{b}" display="block">')
    assert "<mfrac>" in mathml(r"\frac{a}{b}")
    assert mathml(r"\frac{") == "<code>\\frac{</code>"
    assert mathml("x" * 10_000).startswith("<code>")
    assert Page(mathml(r"\text{<b>bold</b>}")).text.strip() == "<b>bold</b>"
    assert "<mi>exp</mi><mspace" in mathml(r"\exp x")
    assert "<msup><mi>tanh</mi><mn>2</mn></msup><mspace" in mathml(r"1 - \tanh^2 a")
    assert "<msub><mi>log</mi><mn>2</mn></msub><mspace" in mathml(r"\log_2 p")


def test_deep_nesting_costs_no_page():
    assert clean.markdown(">" * 3000 + " x")
    assert mathml("{" * 1500 + "}" * 1500)


def asleep(source):
    time.sleep(60)


def test_formgrader_shows_as_typed_what_takes_too_long_to_parse():
    reader = formgrader.Reader()
    reader.guard = Guard(wall=0.2)
    reader.begin()
    assert reader.ask(clean.markdown, "**a**") == clean.markdown("**a**")
    assert "more than 0.2 seconds" in (said := reader.ask(asleep, "<b>*a*</b>"))
    assert "<pre>&lt;b&gt;*a*&lt;/b&gt;</pre>" in said
    reader.left = 0.0
    assert "the rest of this page took too long" in reader.ask(clean.markdown, "**a**")
    reader.guard._end()
