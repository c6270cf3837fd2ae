"""What a program leaks, and where in its source two runs differ."""
