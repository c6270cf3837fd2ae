(* Zarith's integers, under a name that the extracted file does not use for a module of its own. *)

include Z
