"""Built-in case studies, one file each, and the registry that finds them by name."""
