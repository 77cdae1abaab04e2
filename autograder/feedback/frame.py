"""The head, the style and the landmarks of every page: one file, no script, nothing fetched, readable on a phone.

Colours are of Okabe and Ito's set or dark enough on white for 4.5 : 1; nothing is said by colour alone. Wide things
scroll in a box of their own, never the page.
"""

import html

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STYLE = """
*{box-sizing:border-box}
html{color-scheme:light;-webkit-text-size-adjust:100%}
body{margin:0;background:#fff;color:#1c2126;font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.only-read{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-999px}.skip:focus{left:.5rem;top:.5rem;background:#fff;padding:.3rem .6rem;z-index:1}
header,main,footer{max-width:58rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.2rem}footer{padding-bottom:2rem;color:#4a5560}
h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0 .6rem}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 .4rem}h3{font-size:1.05rem;margin:1.1rem 0 .3rem}
h1,h2,h3,p,li,td,th,summary{overflow-wrap:break-word}
section{border-top:1px solid #c9d0d6;padding:1.2rem 0 .6rem;margin-top:1rem}
a{color:#0b4f9e}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid #0b4f9e}
.total{font-size:1.3rem;margin:.2rem 0}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;margin:.4rem 0}caption{text-align:left;padding:.2rem 0;color:#3a444d}
th,td{border-bottom:1px solid #d8dde2;padding:.3rem .7rem .3rem 0;text-align:left;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}
pre{overflow-x:auto;background:#f5f7f8;border:1px solid #d8dde2;border-radius:4px;padding:.6rem .8rem;font-size:.875rem;
line-height:1.45;margin:.4rem 0;tab-size:4;max-height:40rem}
code,kbd,samp,.m{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
p code,li code{overflow-wrap:anywhere}
.note{border-left:4px solid #0b4f9e;background:#f2f6fb;padding:.5rem .9rem;margin:.6rem 0}
.warn{border-left:4px solid #a33b00;background:#fdf4ee;padding:.5rem .9rem;margin:.6rem 0}
.good{border-left:4px solid #00664f;background:#eff8f5;padding:.5rem .9rem;margin:.6rem 0}
.note p,.warn p,.good p{margin:.3rem 0}
.side{display:flex;flex-wrap:wrap;gap:.4rem 1.8rem;align-items:flex-start}
.side>*{max-width:100%;flex:0 0 auto}.grid caption{white-space:nowrap}
.side figcaption{max-width:15rem}.grid td{font-family:ui-monospace,Menlo,Consolas,monospace;text-align:right;
padding:.1rem .45rem;border:0;font-size:.875rem}
.grid td.d{font-weight:700;outline:2px solid #a33b00;outline-offset:-2px}.grid caption{font-size:.875rem}
figure{margin:.4rem 0}figcaption{font-size:.875rem;color:#3a444d}
img,svg{max-width:100%;height:auto}math{max-width:100%;overflow-x:auto}
math[display=block]{overflow-y:hidden;padding:.2rem 0}
details{margin:.6rem 0}details,blockquote,.note,.warn{overflow-x:auto}summary{cursor:pointer;padding:.25rem 0}
blockquote{margin:.4rem 0;padding-left:.9rem;border-left:3px solid #c9d0d6}
.k,.kn,.kc,.kd{color:#0b4f9e;font-weight:600}.s,.s1,.s2,.sd,.se,.si,.sa{color:#7a3e00}
.c,.c1,.ch,.cm{color:#4f5f4f;font-style:italic}.m,.mi,.mf{color:#00664f}
@media print{pre{max-height:none;white-space:pre-wrap}section{break-inside:avoid-page}}
"""


def page(title: str, head: str, body: str, foot: str = "") -> str:
    """A whole page. `title` is escaped here; `head`, `body` and `foot` are HTML that is already safe."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#content">Go to the content</a>\n<header>{head}</header>\n'
        f'<main id="content">{body}</main>\n<footer>{foot}</footer>\n</body>\n</html>\n'
    )


def table(
    caption: str, columns: list[str], rows: list[list[str]], numbers: tuple[int, ...] = (), said: bool = False
) -> str:
    """A table; `rows` are HTML that is already safe, their first cells are the rows' headings. `numbers`: columns that
    are set to the right. `said`: a heading says the caption already; it is there for screen readers only."""

    def kind(i: int) -> str:
        return ' class="n"' if i in numbers else ""

    hidden = ' class="only-read"' if said else ""
    head = "".join(f'<th scope="col"{kind(i)}>{html.escape(name)}</th>' for i, name in enumerate(columns))
    lines = "".join(
        f'<tr><th scope="row"{kind(0)}>{row[0]}</th>'
        + "".join(f"<td{kind(i)}>{value}</td>" for i, value in enumerate(row[1:], 1))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(caption)}">'
        f"<table><caption{hidden}>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


def number(value: float) -> str:
    """Two decimals at most: "4", "4.5", "4.33"."""
    return f"{round(value, 2):g}"
