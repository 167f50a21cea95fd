"""What the clients share: everything that does no input or output."""
