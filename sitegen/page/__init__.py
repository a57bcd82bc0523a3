"""What runs on both sides, in the build and in the reader's browser. NumPy and the standard library only."""
