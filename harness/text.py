"""Text of strangers in messages and file lists, and numbers that readers must be able to tell apart."""


def printable(text: str) -> str:
    """Return the text with `?` for each character that is not printable: it cannot control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def exact(number: float) -> str:
    """Return the shortest text of a number that no other number has; 300.0 is 300."""
    return repr(float(number)).removesuffix(".0")
