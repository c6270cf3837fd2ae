(* A certificate of kind metric, as the proved checker takes it. Nothing here is proved: classes of states, and where the
   credits of an interval have to be cut, are looked for here, and checked by what is proved. *)

open Extracted
open Json
open Reading

(* ---------------------------------------------------------------------------------------------- the automaton *)

type automaton = { states : string list; transitions : (string * string * (string * q) list) list }

let choice value where known =
  match value with Some (String text) when List.mem text known -> text | _ -> malformed (where ^ " is none that is known")

let read ?(bare = false) value =
  let whole = record value "the model" [ "kind"; "states"; "transitions" ] [ "pairs" ] in
  let quoted = function Integer written | Number written when bare -> String written | other -> other in
  ignore (choice (find whole "kind") "the model's kind" [ "pa" ]);
  let states = List.map (fun state -> item state "a state") (items (get whole "states") "the states") in
  let steps = items (get whole "transitions") "the transitions" in
  let known = Hashtbl.create 64 in
  List.iter (fun state -> Hashtbl.replace known state ()) states;
  if states = [] || Hashtbl.length known < List.length states then not_valid "M1: no state, or one twice";
  let transition value =
    let where = "a transition" in
    let whole = record value where [ "from"; "action"; "to" ] [] in
    let source = item (get whole "from") where in
    let action = item (get whole "action") where in
    let row = List.map (fun (t, p) -> (t, model_number (quoted p) where)) (fields (get whole "to") where) in
    if not (List.for_all (Hashtbl.mem known) (source :: List.map fst row)) then not_valid "M1: a transition names no state";
    let total = List.fold_left (fun x (_, p) -> Steps_document.plus x p) Steps_document.zero row in
    if List.exists (fun (_, p) -> Integers.sign p.qnum < 0) row || Integers.gt total.qnum total.qden then
      not_valid "M1: a probability is negative, or they sum to more than 1";
    (source, action, List.filter (fun (_, p) -> Integers.sign p.qnum > 0) row)
  in
  { states; transitions = List.map transition steps }

(* The canonical text: sorted, in lowest terms, no zero entries. *)
let canonical automaton =
  let array entries = "[" ^ String.concat "," entries ^ "]" in
  let sorted entries = List.sort (fun (a, _) (b, _) -> compare a b) entries in
  let row entries = String.concat "," (List.map (fun (t, p) -> Chain.quoted t ^ ":" ^ Chain.quoted (Chain.text_of p)) (sorted entries)) in
  let step (source, action, entries) = array [ Chain.quoted source; Chain.quoted action; "{" ^ row entries ^ "}" ] in
  Printf.sprintf "{\"kind\":\"pa\",\"states\":%s,\"transitions\":%s}"
    (array (List.map Chain.quoted (List.sort compare automaton.states)))
    (array (List.sort compare (List.map step automaton.transitions)))

(* A model file: an automaton, or a chain, whose actions are its labels. *)
let given text =
  try
    match Json.parse ~numbers:true text with
    | Object fields when find fields "kind" = Some (String "lmc") ->
        let chain = Chain.read ~bare:true (Object fields) in
        ignore (Steps_document.whole_model chain);
        let row state = List.filter (fun (_, p) -> Integers.sign p.qnum <> 0) (Option.value (List.assoc_opt state chain.rows) ~default:[]) in
        let states = List.map fst chain.states in
        canonical { states; transitions = List.map (fun (state, label) -> (state, label, row state)) chain.states }
    | Object fields -> canonical (read ~bare:true (Object (List.remove_assoc "$schema" fields)))
    | _ -> malformed "it is no object"
  with Malformed why | Not_valid why -> malformed ("model file: " ^ why)

(* The coarsest classes in which equal states have the same transitions, by the first state of each. *)
let classes (steps : (string, string * (string * q) list) Hashtbl.t) states =
  let of_ = Hashtbl.create 64 in
  List.iter (fun state -> Hashtbl.replace of_ state "") states;
  let seen state =
    let entry (t, p) = Hashtbl.find of_ t ^ " " ^ Chain.text_of p in
    let step (action, row) = Chain.quoted action ^ String.concat "," (List.sort compare (List.map entry row)) in
    String.concat ";" (List.sort_uniq compare (List.map step (Hashtbl.find_all steps state)))
  in
  let rec refine count =
    let first = Hashtbl.create 64 in
    let looks = List.map (fun state -> (state, seen state)) states in
    List.iteri (fun n (_, look) -> if not (Hashtbl.mem first look) then Hashtbl.add first look (string_of_int n)) looks;
    List.iter (fun (state, look) -> Hashtbl.replace of_ state (Hashtbl.find first look)) looks;
    if Hashtbl.length first > count then refine (Hashtbl.length first)
  in
  refine 0;
  let names = Array.of_list states in
  fun state -> match Hashtbl.find_opt of_ state with Some n -> names.(int_of_string n) | None -> not_valid "M4: no state of the model"

(* ------------------------------------------------------------------------------------------------- the tables *)

let natural = Leakage_document.natural
let bound value where = match value with String "inf" -> None | value -> Some (rational value where)

type claim = { source : string; target : string; upper : q option; lower : q option }

let claim value =
  let where = "a claim" in
  let whole = record value where [ "from"; "to"; "upper"; "lower" ] [] in
  { source = item (get whole "from") where; target = item (get whole "to") where; upper = bound (get whole "upper") where;
    lower = bound (get whole "lower") where }

type move = { pair : string * string; side : Integers.t; number : Integers.t; rank : Integers.t }

let move whole where =
  let pair = pair (get whole "pair") where in
  let side = natural (get whole "side") where in
  let number = natural (get whole "challenge") where in
  { pair; side; number; rank = natural (get whole "rank") where }

let moves = [ "pair"; "side"; "challenge"; "rank" ]

let upper_entry value =
  let where = "an entry of the upper table" in
  let whole = record value where [ "pair"; "value" ] [] in
  let pair = pair (get whole "pair") where in
  (pair, skew (item (get whole "value") where) where)

let lower_entry value =
  let where = "an entry of the lower table" in
  let whole = record value where (moves @ [ "value" ]) [] in
  let move = move whole where in
  (move, match get whole "value" with String "inf" -> None | value -> Some (skew (item value where) where))

let infinite_entry value =
  let where = "an infinite position" in
  let whole = record value where (moves @ [ "direction"; "potential"; "depth" ]) [] in
  let move = move whole where in
  let direction = choice (find whole "direction") where [ "up"; "down" ] in
  let potential = amount (item (get whole "potential") where) where in
  (move, direction = "up", potential, natural (get whole "depth") where)

let loss value =
  let where = "a loss" in
  let whole = record value where (moves @ [ "credit" ]) [] in
  let move = move whole where in
  (move, amount (item (get whole "credit") where) where)

let held value =
  let where = "an entry of a relation" in
  let whole = record value where [ "pair"; "credits" ] [] in
  let pair = pair (get whole "pair") where in
  let interval value =
    match items value where with
    | [ low; high ] -> let low = rational low where in (low, rational high where)
    | _ -> malformed (where ^ " has an interval without two ends")
  in
  (pair, List.map interval (items (get whole "credits") where))

(* Ranks and depths of a table in their order, the least of which is 0. *)
let placed numbers =
  let sorted = List.sort_uniq Integers.compare (Integers.zero :: numbers) in
  let places = Hashtbl.create 64 in
  List.iteri (fun n x -> Hashtbl.replace places (Integers.to_string x) n) sorted;
  fun x -> Hashtbl.find places (Integers.to_string x)

let order (x : q) (y : q) = Integers.compare (Integers.mul x.qnum y.qden) (Integers.mul y.qnum x.qden)
let times (p : q) (r : q) = fraction (Integers.mul p.qnum r.qnum) (Integers.mul p.qden r.qden)
let inverse (p : q) = { qnum = p.qden; qden = p.qnum }
let is_one (p : q) = Integers.equal p.qnum p.qden

let check ?model document =
  let value = Object document in
  let metric = choice (find document "metric") "the metric" [ "accumulative"; "amortised" ] in
  let tables = if metric = "accumulative" then [ "upper"; "lower" ] else [ "infinite"; "relations"; "losses" ] in
  let whole = record value "the certificate" ([ "format"; "version"; "kind"; "model"; "digest"; "metric"; "claims" ] @ tables) [] in
  let claims = List.map claim (items (get whole "claims") "the claims") in
  if claims = [] then malformed "the certificate claims nothing";
  let given = Option.map given model in
  let automaton = read (get whole "model") in
  let text = canonical automaton in
  if get whole "digest" <> String ("sha256:" ^ Sha256.hex text) then not_valid "M2: another digest";
  (match given with Some other when other <> text -> not_valid "M3: another model" | _ -> ());
  let names : names = Hashtbl.create 64 in
  let number = number_of names in
  List.iter (fun state -> ignore (number state)) automaton.states;
  let steps = Hashtbl.create 64 in
  List.iter (fun (source, action, row) -> Hashtbl.add steps source (action, row)) automaton.transitions;
  let class_of = classes steps automaton.states in
  let actions : names = Hashtbl.create 64 in
  let row entries = List.map (fun (t, p) -> (number t, p)) entries in
  let taken =
    { pa_states = List.map number automaton.states;
      pa_steps = List.map (fun (s, a, entries) -> (number s, (number_of actions a, row entries))) automaton.transitions }
  in
  let certificate mx_tables mx_claims =
    { mx_automaton = taken; mx_classes = List.map (fun s -> (number s, number (class_of s))) automaton.states; mx_tables; mx_claims }
  in
  let holds tables claims = check_metric Matching.find (certificate tables claims) in
  (* What cannot be read makes a document malformed only if no rule before it fails. *)
  let unless_before before read = try read () with Malformed why -> if before () then malformed why else not_valid "a rule of the proved checker fails" in
  let count = List.length automaton.transitions in
  let numbered (s, t) = (number s, number t) in
  let challenge move =
    let possible = Integers.leq move.side Integers.one && Integers.sign move.number > 0 && Integers.leq move.number (Integers.of_int count) in
    { by_second = Integers.equal move.side Integers.one; transition = (if possible then Integers.to_int move.number - 1 else count) }
  in
  let listed read key = List.map read (items (get whole key) key) in
  let bounds c = { mc_from = number c.source; mc_to = number c.target; mc_upper = c.upper; mc_lower = c.lower; mc_relation = []; mc_losses = [] } in
  List.iter (fun c -> List.iter (Option.iter (fun x -> if not (at_least 1 x) then not_valid "M4: a bound is below 1")) [ c.lower; c.upper ]) claims;
  if metric = "accumulative" then begin
    let upper = List.map (fun (pair, x) -> (numbered pair, x)) (listed upper_entry "upper") in
    let lower = unless_before (fun () -> holds (OfAccumulative (upper, [])) []) (fun () -> listed lower_entry "lower") in
    let rank = placed (List.map (fun (move, _) -> move.rank) lower) in
    let entry (move, le_value) = (numbered move.pair, { le_value; le_rank = rank move.rank; le_challenge = challenge move }) in
    holds (OfAccumulative (upper, List.map entry lower)) (List.map bounds claims)
  end
  else begin
    let infinite = listed infinite_entry "infinite" in
    let rank = placed (List.map (fun (move, _, _, _) -> move.rank) infinite) and depth = placed (List.map (fun (_, _, _, d) -> d) infinite) in
    let entry (move, d_up, d_potential, d) = (numbered move.pair, ({ d_up; d_potential; d_rank = rank move.rank; d_depth = depth d }, challenge move)) in
    let tables = OfAmortised (List.map entry infinite) in
    let both (s, t) = (class_of s, class_of t) in
    let infinitely = List.map (fun (move, _, _, _) -> both move.pair) infinite in
    let relations, losses =
      unless_before (fun () -> holds tables []) (fun () ->
          let relations = items (get whole "relations") "the relations" in
          (relations, items (get whole "losses") "the losses"))
    in
    if List.length relations <> List.length claims || List.length losses <> List.length claims then not_valid "M9: not one for each claim";
    let by_number = Hashtbl.create 64 in
    List.iter (fun (s, x) -> Hashtbl.add by_number (Integers.to_string s) x) taken.pa_steps;
    let shape = lazy (shape_of taken (fun s -> List.rev (Hashtbl.find_all by_number (Integers.to_string s)))) in
    let same_shape (s, t) = Integers.equal (Lazy.force shape (number s)) (Lazy.force shape (number t)) in
    (* Where the credits of an entry are cut: where some match begins or ceases to be usable. *)
    let cuts window entries (s, t) =
      let credits = Hashtbl.create 16 in
      List.iter (fun (pair, intervals) -> Hashtbl.replace credits (both pair) intervals) entries;
      let held u u' =
        let pair = both (u, u') in
        if fst pair = snd pair then [ (inverse window, window) ] else Option.value (Hashtbl.find_opt credits pair) ~default:[]
      in
      let ends = ref [] and seen = Hashtbl.create 64 in
      let met (u, p) (u', p') =
        let name = String.concat " " (List.map Chain.quoted [ class_of u; class_of u'; Chain.text_of p; Chain.text_of p' ]) in
        if not (Hashtbl.mem seen name) then begin
          Hashtbl.add seen name ();
          let turned = times p' (inverse p) in
          List.iter (fun (low, high) -> ends := times low turned :: times high turned :: !ends) (held u u')
        end
      in
      let meet (a, row) (a', row') = if a = a' then List.iter (fun e -> List.iter (met e) row') row in
      List.iter (fun x -> List.iter (meet x) (Hashtbl.find_all steps t)) (Hashtbl.find_all steps s);
      List.sort_uniq order !ends
    in
    let relation c value =
      let entries = List.map held (items value "a relation") in
      let window = Option.get c.upper in
      let entry (pair, intervals) =
        let inside = if List.exists (fun (low, high) -> order low high < 0) intervals then cuts window entries pair else [] in
        let interval (low, high) = { low; high; cuts = List.filter (fun x -> order low x < 0 && order x high < 0) inside } in
        (numbered pair, List.map interval intervals)
      in
      List.map entry entries
    in
    let lost value =
      let entries = List.map loss (items value "losses") in
      let seen = Hashtbl.create 64 in
      List.iter
        (fun (move, credit) ->
          let name = (both move.pair, Chain.text_of credit) in
          if Hashtbl.mem seen name then not_valid "M11: a position is listed twice" else Hashtbl.add seen name ())
        entries;
      let rank = placed (List.map (fun (move, _) -> move.rank) entries) in
      List.map (fun (move, lo_credit) -> (numbered move.pair, { lo_credit; lo_rank = rank move.rank; lo_challenge = challenge move })) entries
    in
    let rec read before claims relations losses =
      match (claims, relations, losses) with
      | c :: claims, r :: relations, l :: losses ->
          let before_it () = holds tables (List.rev before) in
          let pair = (c.source, c.target) in
          let s, t = both pair in
          let mc_relation = if c.upper = None || s = t then [] else unless_before before_it (fun () -> relation c r) in
          let needed = (match c.lower with Some x -> not (is_one x) | None -> false) && same_shape pair && not (List.mem (s, t) infinitely) in
          let so_far = { (bounds c) with mc_relation } in
          let above () = holds tables (List.rev ({ so_far with mc_lower = Some Steps_document.one } :: before)) in
          let mc_losses = if needed then unless_before above (fun () -> lost l) else [] in
          read ({ so_far with mc_losses } :: before) claims relations losses
      | _ -> List.rev before
    in
    holds tables (read [] claims relations losses)
  end
