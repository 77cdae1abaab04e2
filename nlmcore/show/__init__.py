"""Pictures: the only part of nlmcore that imports matplotlib and ipywidgets.

`figures` are pure functions, arrays in and a picture out; `widgets` are a thin layer that redraws them.
"""
