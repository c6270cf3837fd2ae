"""The command line: one ``run_<verb>`` function per command; errors become one line and an exit code here."""
