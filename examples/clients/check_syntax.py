"""Parses the code blocks of swift.md and dart.md, and prints each syntax error."""

import pathlib
import re

import tree_sitter
import tree_sitter_dart
import tree_sitter_swift

for name, grammar in {"swift": tree_sitter_swift, "dart": tree_sitter_dart}.items():
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    page = pathlib.Path(__file__).with_name(f"{name}.md").read_text()
    blocks = re.findall(rf"```{name}\n(.*?)```", page, re.DOTALL)
    print(name, "has code" if blocks else "has no code")
    for block in blocks:
        if parser.parse(block.encode()).root_node.has_error:
            print(f"{name}.md has a syntax error in:\n{block}")
