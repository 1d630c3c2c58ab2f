"""Puts terminal escapes and rich's markup into its error. Messages are stripped to printable characters."""

EXPECT = ("EXCEPTION",)


def complexity(model, dataset):
    raise ValueError("\x1b[31m\x1b]0;title\x07[bold red]OK[/bold red][/nothing]\r\n\n0.0 \ud800\u202e\x00")
