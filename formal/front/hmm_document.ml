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

(* ** Kinds hmm-all-lengths and hmm-no-budget *)

let one_claim claims verdict =
  let where = "the claim" in
  match claims with
  | [ value ] ->
      let whole = record value where [ "from"; "to"; "ratio"; "verdict"; "length" ] [] in
      let part key = item (get whole key) where in
      let source = part "from" in
      let target = part "to" in
      let ratio = part "ratio" in
      if part "verdict" <> verdict || part "length" <> "all" then malformed (where ^ " is another one");
      (source, target, ratio)
  | _ -> malformed "there is not one claim"

let chosen value known where =
  match value with
  | Object whole -> (match find whole "type" with Some (String text) when List.mem text known -> text | _ -> malformed (where ^ " has no type that is known"))
  | _ -> malformed (where ^ " is no object")

(* The model of a certificate about all lengths, with numbers, and its two distributions: H2, H3. *)
let of_two_sides whole given source target =
  let own = embedded whole given in
  let numbers = numbers own in
  let markov = markov numbers own in
  if not (check_markov markov (prepare markov)) then not_valid "H2: a row is no distribution";
  let side name = match List.assoc_opt name own.distributions with Some row -> row | None -> not_valid "H3: no distribution of the model" in
  let first = side source in
  (own, numbers, markov, (first, side target))

let reachable (own : model) sides =
  let rows = Steps_document.table_of own.rows and found = Hashtbl.create 64 in
  let rec go state =
    if not (Hashtbl.mem found state) then begin
      Hashtbl.add found state ();
      List.iter (fun (target, _) -> go target) (Hashtbl.find rows state)
    end
  in
  List.iter (fun (state, _) -> go state) sides;
  List.filter (Hashtbl.mem found) (List.map fst own.emissions)

(* The observations that some state makes, in their order. *)
let made_by (own : model) =
  let seen = Hashtbl.create 64 in
  let once symbol = if Hashtbl.mem seen symbol then None else (Hashtbl.add seen symbol (); Some symbol) in
  List.filter_map (fun (symbol, _) -> once symbol) (List.concat_map snd own.emissions)

let function_of value where = named (fun p where -> mass (item p where) where) value where

(* Combinations are read one after the other, as they are checked: what fails before one that is malformed fails first. *)
let cone (own : model) numbers markov sides value =
  let where = "the invariant" in
  let whole = record value where [ "type"; "generators"; "starts"; "steps" ] [] in
  let generators = listed function_of (get whole "generators") where in
  let starts = fields (get whole "starts") where in
  let steps = listed fields (get whole "steps") where in
  let count = List.length generators in
  if List.length steps <> count then malformed "expected combinations for every generator";
  let vectors = List.map (vector numbers) generators in
  let known = List.map numbers.state (reachable own (fst sides @ snd sides)) in
  let functions = functions vectors and hidden = hidden (prepare markov) in
  let before = ref [] in
  let combination symbol entries wanted =
    let read () =
      let amounts = function_of (Option.value (find entries symbol) ~default:(Object [])) where in
      let place (name, q) =
        let k = integer_text name where in
        if Integers.sign k < 0 || Integers.geq k (Integers.of_int count) then malformed (where ^ " names no generator");
        (Integers.to_int k, q)
      in
      List.map place amounts
    in
    let found =
      try read ()
      with Malformed why ->
        if List.for_all (fun check -> check ()) !before then malformed why else not_valid "I2 or I3: another function"
    in
    before := (fun () -> is_combination functions known found wanted) :: !before;
    (numbers.symbol symbol, found)
  in
  let at symbol =
    let y = numbers.symbol symbol in
    let start = combination symbol starts (fun s -> hidden.observes s y) in
    (start, List.map2 (fun entries generator -> combination symbol entries (step_back hidden y generator)) steps functions)
  in
  let found = List.map at (made_by own) in
  let steps = List.mapi (fun k _ -> List.map (fun (_, later) -> List.nth later k) found) generators in
  Cone { c_known = known; c_generators = vectors; c_starts = List.map fst found; c_steps = steps }

let factors numbers value =
  let where = "the invariant" in
  let whole = record value where [ "type"; "table"; "forward"; "backward" ] [] in
  let couplings value = named (fun moves where -> Delta_document.moves numbers.state amount moves where) value where in
  let entry value _ =
    let whole = record value where [ "pair"; "factor"; "moves" ] [] in
    let two = pair (get whole "pair") where in
    let factor = skew (item (get whole "factor") where) where in
    (two, (factor, couplings (get whole "moves")))
  in
  let table = listed entry (get whole "table") where in
  let forward = couplings (get whole "forward") in
  let backward = couplings (get whole "backward") in
  let twice entries = let keys = List.map fst entries in List.length (List.sort_uniq compare keys) <> List.length keys in
  if List.exists (fun (_, moves) -> twice moves) (forward @ backward @ List.concat_map (fun (_, (_, moves)) -> moves) table) then
    not_valid "F1: a move is listed twice";
  if twice table || List.exists (fun ((i, j), _) -> i = j || not (numbers.is_state i && numbers.is_state j)) table then
    not_valid "F1: a pair of equal or unknown states, or one twice";
  let observed = List.map (fun (symbol, moves) -> (numbers.symbol symbol, moves)) in
  let entry ((i, j), (factor, moves)) = ((numbers.state i, numbers.state j), (factor, observed moves)) in
  Factors { f_table = List.map entry table; f_forward = observed forward; f_backward = observed backward }

(* The chain has a state for every state with an observation that it makes, and three more; merged says what stands for which. *)
let coupled (own : model) numbers sides value =
  let where = "the invariant" in
  let whole = record value where [ "type"; "chain"; "merged" ] [] in
  let chain = fields (get whole "chain") where in
  let merged = Steps_document.table_of (named item (get whole "merged") where) in
  if List.mem_assoc "kind" chain then malformed "the chain's certificate has a kind";
  let interactive = match find chain "model" with Some (Object m) -> find m "kind" = Some (String "interactive") | _ -> false in
  if interactive || List.mem_assoc "program" chain then raise Other;
  if find chain "format" <> Some (String "bisimdist-certificate") || find chain "version" <> Some (Integer "1") then malformed "no certificate";
  let model, digest, g_distance, state, label = Distance_document.taken (Object chain) in
  if digest <> Chain.digest model then not_valid "K2: another digest";
  let written = known (List.map fst model.states) in
  let image name =
    let target = Option.value (Hashtbl.find_opt merged name) ~default:name in
    if Hashtbl.mem written target then state target else not_valid "K1: merged with no state"
  in
  let name parts = "[" ^ String.concat ", " (List.map Chain.quoted parts) ^ "]" in
  let reach = reachable own (fst sides @ snd sides) in
  let rows = Steps_document.table_of own.rows and emissions = Steps_document.table_of own.emissions in
  let images s = List.map (fun (x, _) -> ((numbers.state s, numbers.symbol x), image (name [ s; x ]))) (Hashtbl.find emissions s) in
  let g_images = List.concat_map images reach in
  let g_first = image (name [ "first" ]) in
  let g_second = image (name [ "second" ]) in
  let ends = List.exists (fun s -> Hashtbl.find rows s = []) reach in
  let g_end = if ends then Some (image (name [ "end" ]), label "end") else None in
  let g_labels = List.map (fun x -> (numbers.symbol x, label (Chain.quoted x))) (made_by own) in
  Coupled { g_known = List.map numbers.state reach; g_labels; g_start = label "start"; g_images; g_first; g_second; g_end; g_distance }

let read_all_lengths value =
  let whole = record value "the certificate" (frame @ [ "invariant" ]) [] in
  let source, target, text = one_claim (items (get whole "claims") "the claims") "holds" in
  let ratio = rational_text text "the ratio" in
  let invariant = get whole "invariant" in
  let form = chosen invariant [ "cone"; "factors"; "coupling" ] "the invariant" in
  fun given ->
    let own, numbers, markov, sides = of_two_sides whole given source target in
    if not (at_least 1 ratio) then not_valid "H5: the ratio is less than 1";
    let l_invariant =
      match form with
      | "cone" -> cone own numbers markov sides invariant
      | "factors" -> factors numbers invariant
      | _ -> coupled own numbers sides invariant
    in
    check_all_lengths { l_markov = markov; l_from = numbers.name source; l_to = numbers.name target; l_ratio = ratio; l_invariant }

let word value where =
  match listed item value where with [] -> malformed (where ^ " is empty") | word -> word

let pump value =
  let where = "the pump" in
  let whole = record value where [ "type"; "swapped"; "prefix"; "cycle"; "suffix"; "fast"; "slow"; "below"; "above"; "counting" ] [] in
  let swapped = flag (get whole "swapped") where in
  let prefix = word (get whole "prefix") where in
  let cycle = word (get whole "cycle") where in
  let suffix = listed item (get whole "suffix") where in
  let fast = rational (get whole "fast") where in
  let slow = rational (get whole "slow") where in
  let below = named rational (get whole "below") where in
  let above = named rational (get whole "above") where in
  let counting = listed item (get whole "counting") where in
  let taken numbers =
    if not (List.for_all (fun (s, x) -> numbers.is_state s && at_least 0 x) (below @ above)) then not_valid "U1: a vector on no state, or negative";
    let symbols = List.map numbers.symbol in
    Pump
      { u_first = numbers.symbol (List.hd prefix); u_prefix = symbols (List.tl prefix); u_cycle = symbols cycle; u_suffix = symbols suffix;
        u_fast = fast; u_slow = slow; u_below = vector numbers below; u_above = vector numbers above;
        u_counting = List.map numbers.state (List.filter numbers.is_state counting) }
  in
  (swapped, taken)

let impossible value =
  let where = "the pump" in
  let whole = record value where [ "type"; "swapped"; "word" ] [] in
  let swapped = flag (get whole "swapped") where in
  let word = word (get whole "word") where in
  (swapped, fun numbers -> Impossible (List.map numbers.symbol word))

let read_no_budget value =
  let whole = record value "the certificate" (frame @ [ "pump" ]) [] in
  let source, target, ratio = one_claim (items (get whole "claims") "the claims") "violated" in
  if ratio <> "any" then malformed "the claim is about one ratio";
  let value = get whole "pump" in
  let swapped, taken = if chosen value [ "pump"; "impossible" ] "the pump" = "pump" then pump value else impossible value in
  fun given ->
    let _, numbers, markov, _ = of_two_sides whole given source target in
    let first, second = if swapped then (target, source) else (source, target) in
    check_no_budget { z_markov = markov; z_from = numbers.name first; z_to = numbers.name second; z_refutation = taken numbers }

let single = [ ("hmm-budget", read_budget); ("hmm-all-lengths", read_all_lengths); ("hmm-no-budget", read_no_budget) ]

(* Several about one model. All of them are read, whatever the first ones prove. *)
let read_several value =
  let shared = [ "format"; "version"; "model"; "digest" ] in
  let whole = record value "the certificate" ("kind" :: "parts" :: shared) [] in
  let of_all = List.map (fun key -> (key, get whole key)) shared in
  let part value where =
    let part = fields value where in
    let kind = match find part "kind" with Some (String kind) -> kind | _ -> malformed (where ^ " has no kind") in
    if kind = "hmm-parametric" then raise Other;
    if not (List.mem_assoc kind single) then malformed (where ^ " is of another kind");
    if List.exists (fun key -> List.mem_assoc key part) shared then malformed (where ^ " has a model of its own");
    (List.assoc kind single) (Object (of_all @ part))
  in
  let parts = listed part (get whole "parts") "a part" in
  if parts = [] then malformed "there is no claim";
  fun given -> List.for_all Fun.id (List.map (fun check -> try check given with Not_valid _ -> false) parts)

let kinds = ("hmm-several", read_several) :: single

let read whole kind =
  if find whole "reduced" <> None then raise Other;
  (List.assoc kind kinds) (Object whole)
