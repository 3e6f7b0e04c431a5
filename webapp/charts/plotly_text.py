"""The one way of text from outside into a Plotly figure. Pure.

Plotly reads text as markup: tags such as `<a href>` and `<b>`, entities, `%{x}` in hover templates
and titles, and TeX between dollars where MathJax is there. Lab agents and histories choose units,
names and paths, so every text in a figure that is not written in this package is a `literal`.
"""

_MARKUP = str.maketrans({character: f"&#{ord(character)};" for character in "&<>%$"})


def literal(text: str) -> str:
    """``text`` as Plotly shows it character by character, in whatever place it stands."""
    return text.translate(_MARKUP)
