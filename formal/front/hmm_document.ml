(* Certificates about hidden Markov models without parameters, as the proved checker takes them. Nothing here is proved. *)

open Extracted
open Json
open Reading

exception Other

let zero = Steps_document.zero
let one = Steps_document.one
let plus = Steps_document.plus
let negated (q : q) = { q with qnum = Integers.neg q.qnum }
let times (p : q) (r : q) = fraction (Integers.mul p.qnum r.qnum) (Integers.mul p.qden r.qden)
let is_zero (q : q) = Integers.sign q.qnum = 0

let inverse where (q : q) =
  match Integers.sign q.qnum with
  | 0 -> malformed (where ^ " divides by zero")
  | 1 -> { qnum = q.qden; qden = q.qnum }
  | _ -> { qnum = Integers.neg q.qden; qden = Integers.neg q.qnum }

(* An entry of a model: an expression, which has no names here. *)
let expression text where =
  if String.exists (fun c -> Char.code c >= 0x80) text then raise Other;
  let n = String.length text and place = ref 0 in
  let wrong () = malformed (where ^ " is no expression") in
  let is_space c = c = ' ' || (c >= '\t' && c <= '\r') || (c >= '\028' && c <= '\031') in
  let rec space () = if !place < n && is_space text.[!place] then (incr place; space ()) in
  let digit k = k < n && text.[k] >= '0' && text.[k] <= '9' in
  let rec digits k = if digit k then digits (k + 1) else k in
  let is mark = let m = String.length mark in !place + m <= n && String.sub text !place m = mark in
  let taken marks =
    space ();
    match List.find_opt is marks with Some mark -> place := !place + String.length mark; Some mark | None -> None
  in
  let number () =
    space ();
    if not (digit !place) then wrong ();
    let whole = digits !place in
    let part = if whole < n && text.[whole] = '.' && digit (whole + 1) then digits (whole + 1) else whole in
    let signed = if part + 1 < n && (text.[part + 1] = '+' || text.[part + 1] = '-') then part + 2 else part + 1 in
    let stop = if part < n && (text.[part] = 'e' || text.[part] = 'E') && digit signed then digits signed else part in
    let written = String.sub text !place (stop - !place) in
    place := stop;
    written
  in
  let rec sum () =
    let rec more left =
      match taken [ "+"; "-" ] with
      | Some mark -> let right = product () in more (plus left (if mark = "+" then right else negated right))
      | None -> left
    in
    more (product ())
  and product () =
    let rec more left =
      if is_power () then left
      else
        match taken [ "*"; "/" ] with
        | Some mark -> let right = signed () in more (times left (if mark = "*" then right else inverse where right))
        | None -> left
    in
    more (signed ())
  and is_power () = space (); is "**"
  and signed () =
    match taken [ "+"; "-" ] with Some "-" -> negated (signed ()) | Some _ -> signed () | None -> power ()
  and power () =
    let base = atom () in
    match taken [ "**"; "^" ] with
    | None -> base
    | Some _ ->
        let written = number () in
        if not (is_digits written) || String.length written > 3 || int_of_string ("0u" ^ written) > 256 then wrong ();
        let rec raised k = if k = 0 then one else times base (raised (k - 1)) in
        raised (int_of_string ("0u" ^ written))
  and atom () =
    match taken [ "(" ] with
    | Some _ ->
        let inside = sum () in
        if taken [ ")" ] = None then wrong ();
        inside
    | None -> let written = number () in model_number (String written) where
  in
  let found = sum () in
  space ();
  if !place < n then wrong ();
  found

type model = {
  observations : string list;
  emissions : (string * (string * q) list) list;
  rows : (string * (string * q) list) list;  (* of every state *)
  distributions : (string * (string * q) list) list;
}

let known names = Steps_document.table_of (List.map (fun name -> (name, ())) names)

let row ~bare known value where =
  List.filter_map
    (fun (target, entry) ->
      if not (Hashtbl.mem known target) then not_valid ("H1: " ^ where ^ " names what does not exist");
      let p = match entry with String text -> expression text where | (Number text | Integer text) when bare -> expression text where | _ -> malformed (where ^ " holds no text") in
      if is_zero p then None else Some (target, p))
    (fields value where)

(* bare: whether numbers may stand without quotes, as in model files. *)
let model ?(bare = false) value =
  let needed = [ "kind"; "observations"; "states"; "transitions"; "distributions" ] in
  let whole = record value "the model" needed [ "parameters"; "pairs" ] in
  if get whole "kind" <> String "hmm" then malformed "the model's kind is not 'hmm'";
  (match find whole "parameters" with
  | None | Some (Object []) -> ()
  | Some (Object _) -> raise Other
  | Some _ -> malformed "the parameters are no object");
  let observations = List.map (fun x -> item x "an observation") (items (get whole "observations") "the observations") in
  let states = fields (get whole "states") "the states" in
  let transitions = fields (get whole "transitions") "the transitions" in
  let distributions = fields (get whole "distributions") "the distributions" in
  let row known (name, value) = (name, row ~bare known value ("the row of " ^ name)) in
  let emissions = List.map (row (known observations)) states in
  let states = List.map fst states in
  let is_state = known states in
  List.iter (fun (name, _) -> if not (Hashtbl.mem is_state name) then not_valid "H1: a row of no state") transitions;
  let given = Steps_document.table_of transitions in
  let rows = List.map (fun s -> row is_state (s, Option.value (Hashtbl.find_opt given s) ~default:(Object []))) states in
  let distributions = List.map (row is_state) distributions in
  if List.exists (fun (_, r) -> r = []) (emissions @ distributions) then not_valid "H1: a state or a distribution is empty";
  if List.exists (fun (s, r) -> r = [] && Hashtbl.mem given s) rows then not_valid "H1: a row of transitions is empty";
  { observations; emissions; rows; distributions }

(* The text of which a digest is taken. *)
let rec canonical = function
  | Null -> "null"
  | Bool b -> string_of_bool b
  | Integer text | Number text -> text
  | String text -> Chain.quoted text
  | Array items -> "[" ^ String.concat "," (List.map canonical items) ^ "]"
  | Object entries ->
      let sorted = List.sort (fun (a, _) (b, _) -> compare a b) entries in
      "{" ^ String.concat "," (List.map (fun (key, value) -> Chain.quoted key ^ ":" ^ canonical value) sorted) ^ "}"

let same one two =
  let row entries = List.sort compare (List.map (fun (name, p) -> (name, Chain.text_of p)) entries) in
  let rows table = List.sort compare (List.map (fun (name, entries) -> (name, row entries)) table) in
  let all model = (List.sort_uniq compare model.observations, rows model.emissions, rows model.rows, rows model.distributions) in
  all one = all two

(* H2, of a model file, which is malformed without it; of the model of a certificate what is proved looks at it. *)
let demand_distributions model =
  let right (_, entries) =
    entries = []
    || List.for_all (fun (_, p) -> positive p) entries
       && Steps_document.compared (List.fold_left (fun sum (_, p) -> plus sum p) zero entries) one = 0
  in
  if not (List.for_all right (model.emissions @ model.rows @ model.distributions)) then malformed "H2"

(* The model of a certificate, with its digest and the model that is given: G2, G3, H1. *)
let embedded whole given =
  let own = model (get whole "model") in
  if get whole "digest" <> String ("sha256:" ^ Sha256.hex (canonical (get whole "model"))) then not_valid "G3: another digest";
  (match find whole "factors" with None | Some (Array []) -> () | Some _ -> malformed "a factor is constant");
  let against text =
    let other =
      try
        let other = match Json.parse ~numbers:true text with
          | Object entries -> model ~bare:true (Object (List.remove_assoc "$schema" entries))
          | _ -> malformed "no object" in
        if same own other then None else (demand_distributions other; Some other)
      with Malformed why | Not_valid why -> malformed ("model file: " ^ why)
    in
    if other <> None then not_valid "G2: another model"
  in
  Option.iter against given;
  own

(* Numbers for names. *)
type numbers = { state : string -> Integers.t; symbol : string -> Integers.t; name : string -> Integers.t; is_state : string -> bool }

let numbers (model : model) =
  let table () : names = Hashtbl.create 64 in
  let states = table () and symbols = table () and names = table () in
  let state = number_of states and name = number_of names in
  List.iter (fun (s, _) -> ignore (state s)) model.emissions;
  let known = known (List.map fst model.emissions) in
  { state; symbol = number_of symbols; name; is_state = Hashtbl.mem known }

let row_of number entries = List.map (fun (key, p) -> (number key, p)) entries

let markov numbers (model : model) =
  let seen (s, entries) = (numbers.state s, row_of numbers.symbol entries) in
  let steps (s, entries) = (numbers.state s, row_of numbers.state entries) in
  let about (d, entries) = (numbers.name d, row_of numbers.state entries) in
  { k_emissions = List.map seen model.emissions;
    k_rows = List.map steps (List.filter (fun (_, entries) -> entries <> []) model.rows);
    k_distributions = List.map about model.distributions }

(* What a vector says of states that do not exist counts for nothing. *)
let vector numbers entries = row_of numbers.state (List.filter (fun (s, _) -> numbers.is_state s) entries)

let listed = Leakage_document.listed
let named = Leakage_document.named
let flag value where = match value with Bool b -> b | _ -> malformed (where ^ " is neither true nor false")

(* ** Kind hmm-budget *)

let claim value =
  let where = "a claim" in
  let whole = record value where [ "from"; "to"; "ratio"; "holds" ] [ "word"; "probabilities"; "parameters" ] in
  let source = item (get whole "from") where in
  let target = item (get whole "to") where in
  let ratio = match get whole "ratio" with String "inf" -> None | value -> Some (rational value where) in
  let holds = flag (get whole "holds") where in
  let word = Option.map (fun w -> listed item w where) (find whole "word") in
  let two value = let x, y = pair value where in let x = rational_text x where in (x, rational_text y where) in
  let probabilities = Option.map two (find whole "probabilities") in
  let parameters = Option.map (fun p -> named rational p where) (find whole "parameters") in
  let taken number numbers word = { b_from = number source; b_to = number target; b_ratio = ratio; b_holds = holds;
                                    b_word = Option.map (fun (w, p) -> (List.map numbers.symbol w, p)) word } in
  match (word, probabilities, parameters) with
  | Some word, Some p, Some given ->
      fun numbers -> if given <> [] then not_valid "W2: there are no parameters"; taken numbers.name numbers (Some (word, p))
  | None, None, None when holds -> fun numbers -> taken numbers.name numbers None
  | _ -> malformed (where ^ " has no word with its probabilities and parameters")

let whole_number value where = { qnum = integer value where; qden = Integers.one }

let proof value =
  let where = "a proof" in
  let whole = record value where [ "from"; "to"; "ratio"; "start"; "layers"; "covers" ] [] in
  let source = item (get whole "from") where in
  let target = item (get whole "to") where in
  let ratio = rational (get whole "ratio") where in
  let start = rational (get whole "start") where in
  let layers = listed (listed (named whole_number)) (get whole "layers") where in
  let cover value where =
    match items value where with
    | [ k; factor ] -> let k = integer k where in (k, rational factor where)
    | _ -> malformed (where ^ " has a cover without two entries")
  in
  let covers = listed (listed (named cover)) (get whole "covers") where in
  fun numbers ->
    let rec taken layers covers =
      match (layers, covers) with
      | [ last ], [] -> [ List.map (fun v -> (vector numbers v, [])) last ]
      | layer :: (next :: _ as layers), rows :: covers ->
          let count = List.length next in
          let place k = if Integers.sign k < 0 || Integers.geq k (Integers.of_int count) then count else Integers.to_int k in
          let row = List.map (fun (x, (k, factor)) -> (numbers.symbol x, (place k, factor))) in
          if List.length rows <> List.length layer then not_valid "L1: a layer has another number of covers";
          let here = List.map2 (fun v r -> (vector numbers v, row r)) layer rows in
          here :: taken layers covers
      | _ -> not_valid "L1: the layers and those of covers are not as many as the length"
    in
    { p_from = numbers.name source; p_to = numbers.name target; p_ratio = ratio; p_start = start; p_layers = taken layers covers }

let frame = [ "format"; "version"; "kind"; "model"; "digest"; "claims" ]

let read_budget value =
  let whole = record value "the certificate" (frame @ [ "length"; "up_to"; "proofs" ]) [ "factors" ] in
  let claims = items (get whole "claims") "the claims" in
  let length = integer (get whole "length") "the length" in
  if Integers.sign length <= 0 || Integers.gt length (Integers.of_int 100_000) then malformed "the length is out of range";
  let up_to = flag (get whole "up_to") "up_to" in
  let proofs = listed (fun value _ -> proof value) (get whole "proofs") "the proofs" in
  Option.iter (fun value -> ignore (items value "the factors")) (find whole "factors");
  let claims = List.map claim claims in
  if claims = [] then malformed "there is no claim";
  fun given ->
    let own = embedded whole given in
    let numbers = numbers own in
    let markov = markov numbers own in
    let x_proofs = List.map (fun proof -> proof numbers) proofs in
    let x_budgets = List.map (fun claim -> claim numbers) claims in
    check_budgets { x_markov = markov; x_length = Integers.to_int length; x_up_to = up_to; x_proofs; x_budgets }

let read whole kind =
  if find whole "reduced" <> None then raise Other;
  match kind with
  | _ -> read_budget (Object whole)
