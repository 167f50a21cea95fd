"""The client that awaits; `_sync` is made from it."""
