(* The checker as a function of a page: text and model in, verdict out, in the words of the native one. *)

external expose : (string -> string -> string) -> unit = "bisimdist_expose"

let () =
  expose (fun text model ->
      match Verdict.judge ?model:(if model = "" then None else Some model) text with
      | Verdict.Too_large -> "not checked: too large for the stack of this browser"
      | verdict -> Verdict.describe verdict)
