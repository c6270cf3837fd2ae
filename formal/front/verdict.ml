(* The verdict of the proved checker on a text, wherever it comes from. Nothing here is proved. *)

open Json

type verdict = Valid | Refused of string | Wrong of string | Not_covered | Too_large

let given_model text =
  try
    let model = Chain.read ~bare:true (Json.parse ~numbers:true text) in
    ignore (Steps_document.whole_model model);
    Chain.canonical model
  with Malformed why | Reading.Not_valid why -> malformed ("model file: " ^ why)

(* Claims about an interactive model, whose rules are not proved here. *)
let chosen whole =
  match Reading.find whole "model" with
  | Some (Object model) -> Reading.find model "kind" = Some (String "interactive")
  | _ -> false

(* Runs of a program that are cut off, which only a step allows for. *)
let cut_off given =
  Reading.find given "program" <> None
  &&
  match Reading.find given "model" with
  | Some (Object model) -> (
      match Reading.find model "states" with
      | Some (Object states) -> List.exists (fun (_, label) -> label = String "cut") states
      | _ -> false)
  | _ -> false

(* P3: without a step nothing allows for them. *)
let allowing_for_cuts given (model, digest, check) =
  let checked () =
    let holds = check () in
    if cut_off given then Reading.not_valid "P3: runs of the program are cut off, and no step says so" else holds
  in
  (model, digest, checked)

(* Which program a model was made of: information, from which nothing follows. *)
let without_source whole =
  (match Reading.find whole "program" with
  | None -> ()
  | Some value ->
      let said = Reading.record value "the program" [ "function"; "observe"; "sources" ] [ "replay" ] in
      ignore (Reading.item (Reading.get said "function") "the function");
      ignore (Reading.item (Reading.get said "observe") "what is observed");
      let texts value = List.iter (fun (_, text) -> ignore (Reading.item text "a digest")) (Reading.fields value "what is said of the program") in
      texts (Reading.get said "sources");
      Option.iter texts (Reading.find said "replay"));
  List.remove_assoc "program" whole

let about_chain (chain, digest, check) model =
  (match model with
  | Some text when given_model text <> Chain.canonical chain -> Reading.not_valid "G2: another model"
  | _ -> ());
  if digest <> Chain.digest chain then Reading.not_valid "G3: another digest";
  check ()

(* What checks a document against the model that is given, if any; None where it is not covered. *)
let read document =
  let chain = Option.map about_chain in
  match document with
  | Object given ->
      let whole = without_source given in
      let document = Object whole in
      (match Reading.find whole "format" with Some (String "bisimdist-certificate") -> () | _ -> malformed "no certificate");
      (match Reading.find whole "version" with Some (Integer "1") -> () | _ -> malformed "the version is not 1");
      (match Reading.find whole "kind" with
      | Some (String "delta") when Reading.find whole "reduced" <> None ->
          chain (Steps_document.read ~of_program:(cut_off given) whole)
      | None when Reading.find whole "reduced" <> None ->
          chain (Option.map (allowing_for_cuts given) (Steps_document.read_distances whole))
      | (None | Some (String "delta")) when chosen whole || Reading.find whole "nature" <> None -> None
      | None -> chain (Some (allowing_for_cuts given (Distance_document.read document)))
      | Some (String "delta") -> chain (Some (allowing_for_cuts given (Delta_document.read document)))
      | Some (String "leakage") when Reading.find whole "reduced" <> None ->
          chain (Option.map (allowing_for_cuts given) (Leakage_document.read_parts whole))
      | Some (String "leakage") when not (chosen whole) ->
          chain (Some (allowing_for_cuts given (Leakage_document.read document)))
      | Some (String "metric") when Reading.find whole "reduced" = None -> Some (fun model -> Metric_document.check ?model whole)
      | Some (String kind) when List.mem_assoc kind Hmm_document.kinds && Reading.find given "program" = None ->
          Some (Hmm_document.read whole kind)
      | Some (String "composition") -> Some (fun model -> Composition_document.check ?model whole)
      | Some (String _) -> None
      | Some _ -> malformed "the kind is no string")
  | _ -> malformed "the document is no object"

(* Compact tables are bytes behind this line; their rules are not proved here. *)
let compact = "bisimdist-certificate compact\n"

let judge ?model text =
  try
    match if String.starts_with ~prefix:compact text then None else read (Json.parse ~numbers:false text) with
    | None -> Not_covered
    | Some check -> if check model then Valid else Refused "a rule of the proved checker fails"
  with
  | Malformed why -> Wrong why
  | Reading.Not_valid why -> Refused why
  | Steps_document.Other | Hmm_document.Other | Composition_document.Other -> Not_covered
  | Stack_overflow -> Too_large

let describe = function
  | Valid -> "valid"
  | Refused why -> "not valid: " ^ why
  | Wrong why -> "malformed: " ^ why
  | Not_covered -> "not covered"
  | Too_large -> "malformed: too large for the stack (see ulimit -s)"
