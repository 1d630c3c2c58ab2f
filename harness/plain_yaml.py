"""Parses untrusted YAML: only plain values, lists and mappings, with limits on depth, number of values, and digits.

Anchors, aliases and merges are refused, because with them a short text can have a huge content. Tags and repeated keys
are refused, because programs interpret them differently. The caller limits the number of bytes.
"""

import io
from typing import Any

import yaml

#: Maximum depth; maximum number of values; maximum length of a number or date in characters.
MAX_DEPTH, MAX_VALUES, MAX_NUMBER = 50, 20_000, 100

_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"


def parse_yaml(content: bytes) -> Any:
    """Return the content of YAML in UTF-8. Raise `ValueError` if it is invalid, refused, or exceeds a limit."""
    try:
        return yaml.load(io.StringIO(content.decode()), Loader=_Loader)  # PyYAML's errors quote no lines of a stream
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).replace('"<file>", ', "").split())) from error
    except (OverflowError, TypeError, AttributeError, LookupError) as error:  # from an impossible date or number
        raise ValueError(f"a value that cannot be read: {error}") from error


class _Loader(yaml.SafeLoader):
    """A loader that refuses everything but plain values, lists and mappings, before any object is built."""

    def __init__(self, text: io.StringIO) -> None:
        super().__init__(text)
        self._depth = self._values = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._refused("an anchor or alias", event)
        if event.tag is not None:
            raise self._refused("a tag", event)
        self._values += 1
        self._depth += 1
        if self._values > MAX_VALUES or self._depth > MAX_DEPTH:
            raise self._refused(f"more than {MAX_VALUES} values, or {MAX_DEPTH} levels of them", event)
        node: Any = super().compose_node(parent, index)
        self._depth -= 1
        if node.tag != _TEXT and isinstance(node, yaml.ScalarNode) and len(node.value) > MAX_NUMBER:
            raise self._refused(f"a number of more than {MAX_NUMBER} characters", event)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        if any(key.tag == _MERGE for key, _ in node.value):
            raise self._refused("a merge", node)
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            raise self._refused("a key twice", node)
        return mapping

    @staticmethod
    def _refused(what: str, where: Any) -> yaml.YAMLError:
        return yaml.MarkedYAMLError(problem=what, problem_mark=where.start_mark)
