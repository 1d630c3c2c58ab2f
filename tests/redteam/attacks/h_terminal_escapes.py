"""Prints what steers a terminal: colours, titles, the clipboard, overwritten lines, the other direction."""

EXPECT = ("OK",)


def complexity(model, dataset):
    print(
        "\x1b[2J\x1b]0;title\x07\x1b]52;c;ZWNobw==\x07\x9b31m\rhidden\b\b\u202eevil\u2066\x00\x7f\u200b\ud800".encode(
            errors="replace"
        ).decode()
    )
    return 1.0
