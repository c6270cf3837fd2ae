"""A summary of a model, or the model in another format."""
