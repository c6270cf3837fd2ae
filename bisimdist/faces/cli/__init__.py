"""The command line: commands are made of questions; errors become one line and an exit code here.

No mathematics: a command reads its options, asks, shows the answer on standard output, and then writes its
proof. Here too are progress, output files, signals, and the few commands that are tools and not questions.
"""
