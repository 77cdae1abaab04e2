"""The course as a folder of static pages: no server, no request to another host, and every widget answers.

publish    the verb: pages, contents, search; what is executed is kept, so a second build takes seconds
kept       one lecture executed in a kernel of its own, with the states of its widgets, kept under a digest
drawn      inside that kernel: the states of a widget, drawn
packed     many drawn states as one small script; card: the picture that goes along with a link
reference  the pages of the package: docstrings and code of nlmcore
tried      the models, counts and tokenizers of the page "Try the models", which run in the browser
sheet      a notebook as HTML
prose      Markdown and mathematics as HTML; formulas: all of them, and the font they are set in
llm        the page on which a real language model runs
catalogue  translations as PO files
translated a lecture's words in another language
strings    which string of the code says what it has drawn; outlines: the words of its figures
translate  the verb that renews the translations; words: what the site itself says

Ours, over markdown-it, latex2mathml, Pygments and Jinja2, which JupyterLab brings along: a page of a known generator
weighed more than a whole lecture here, and its theme could not be used by keyboard alone. Templates, style and
scripts are in `autograder.pages`.
"""
