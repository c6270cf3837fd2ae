"""The exact budget of a mechanism over all neighbouring inputs."""
