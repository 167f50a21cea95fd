"""The client that blocks. All but `io.py` is made from `_async`: see CONTRIBUTING.md."""
