// The checker of bisimdist that is extracted from machine-checked proofs (formal/), for browsers: made by "make script"
// there, not written by hand. It defines bisimdistCheck(certificate, model), both as strings of bytes, which returns a verdict.
// It holds parts of the OCaml standard library and of js_of_ocaml's runtime, which are under the LGPL 2.1 with a linking
// exception; all else is under the licence of bisimdist.
