"""Text of strangers in messages and file lists."""


def printable(text: str) -> str:
    """Return the text with `?` for each character that is not printable: it cannot control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)
