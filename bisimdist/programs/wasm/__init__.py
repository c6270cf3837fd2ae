"""Compiled code as a program: an export of a WebAssembly module makes the same chain as Python does.

A module is read (`module`, `binary`, `instructions`), and its functions are translated to segments of
Python between draws (`translation`, `linking`). A machine runs them over immutable states (`machine`,
`states`), a draw is divided only where something depends on it (`drawn`, `exploring`), and wasmtime
replays random paths (`guard`). Why that is right is in ``docs/theory/wasm.md``.
"""
