"""A static-site generator for computed articles: Markdown in, pages whose every number is computed out.

`page/` runs on both sides, in the build and in the reader's browser; `plugin.py` is the one file that knows MkDocs.
"""
