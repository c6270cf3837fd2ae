(* A certificate of bd or lbd, as the proved checker takes it. Nothing here is proved. *)

open Extracted
open Json
open Reading

let choice value where known =
  match value with String text when List.mem text known -> text | _ -> malformed (where ^ " is none that is known")

let claim number value =
  let fields = record value "a claim" [ "from"; "to"; "upper" ] [ "lower" ] in
  let source = item (get fields "from") "a state of a claim" in
  let target = item (get fields "to") "a state of a claim" in
  let upper = rational (get fields "upper") "an upper bound" in
  let lower = Option.map (fun l -> rational l "a lower bound") (find fields "lower") in
  fun () -> { c_from = number source; c_to = number target; c_upper = upper; c_lower = lower }

let coupling number value where =
  let fields = record value where [ "moves"; "given_up" ] [] in
  let shapes = List.map (fun m -> triple m where) (items (get fields "moves") where) in
  let moves = List.map (fun (i, j, w) -> ((i, j), amount w where)) shapes in
  let given = List.map (fun g -> let i, w = pair g where in (i, amount w where)) (items (get fields "given_up") where) in
  { moves = List.map (fun ((i, j), w) -> ((number i, number j), w)) moves;
    given_up = List.map (fun (i, w) -> (number i, w)) given }

let max_table_bits = Integers.shift_left Integers.one 33  (* integers of a browser have 32 bits *)

(* What is read of the entries of a table, one after the other, with their values. *)
let table value where required optional read =
  let fields = record value where [ "pairs" ] [ "denominator" ] in
  let whole entry = let e = record entry where required optional in (get e "value", read e) in
  let entries = List.map whole (items (get fields "pairs") where) in
  match find fields "denominator" with
  | Some denominator ->
      let n = integer denominator where in
      if Integers.sign n <= 0 then malformed (where ^ " has no positive denominator");
      List.map (fun (v, e) -> (e, fraction (integer v where) n)) entries
  | None ->
      let values = List.map (fun (v, _) -> rational v where) entries in
      let count = List.length values in
      ignore
        (List.fold_left
           (fun common v ->
             let common = Integers.lcm common v.qden in
             if Integers.gt (Integers.mul (Integers.of_int (Integers.numbits common)) (Integers.of_int count)) max_table_bits then malformed (where ^ " has no common denominator of a usable size");
             common)
           Integers.one values);
      List.combine (List.map snd entries) values

let upper_keys both = if both then [ "pair"; "value"; "forward"; "backward" ] else [ "pair"; "value"; "forward" ]

let upper_table number both value =
  let where = "the upper table" in
  let read entry =
    let s, t = pair (get entry "pair") where in
    let forward = coupling number (get entry "forward") where in
    let backward = if both then coupling number (get entry "backward") where else { moves = []; given_up = [] } in
    ((number s, number t), forward, backward)
  in
  List.map
    (fun ((u_pair, forward, backward), u_value) -> { u_pair; u_value; forward; backward })
    (table value where (upper_keys both) [] read)

let spec number value where =
  match value with
  | String text -> Extracted.Number (rational_text text where)
  | _ -> (
      match pair value where with
      | "above", y -> Above (number y)
      | "below", y -> Below (number y)
      | _ -> malformed (where ^ " has an unknown relation"))

let reason number value where =
  let fields = record value where [] [ "stuck"; "common"; "classes"; "states" ] in
  let has key = List.mem_assoc key fields in
  let forms = List.filter Fun.id [ has "stuck"; has "common"; has "classes" || has "states" ] in
  if List.length forms <> 1 then malformed (where ^ " has not one form");
  if has "stuck" then Stuck (number (item (get fields "stuck") where))
  else if has "common" then CommonTo (number (item (get fields "common") where))
  else
    let states = match find fields "states" with None -> [] | Some s -> Reading.fields s where in
    let classes = match find fields "classes" with None -> [] | Some c -> items c where in
    let classes = List.map (fun c -> let i, w = pair c where in (number i, mass w where)) classes in
    Weights (classes, List.map (fun (name, w) -> (number name, rational w where)) states)

let rank_of value where =
  match value with
  | Integer text ->
      let rank = integer_text text where in
      if Integers.sign rank < 1 then malformed (where ^ " has no rank of at least 1");
      rank
  | _ -> malformed (where ^ " has a rank that is no integer")

(* Ranks may be long: only their order matters, so the checker gets their places in it. *)
let with_small_ranks entries =
  let ranks = List.filter_map (fun (_, _, _, standing) -> Option.map fst standing) entries |> List.sort_uniq Integers.compare in
  let place = Hashtbl.create 16 in
  List.iteri (fun k rank -> Hashtbl.replace place rank (k + 1)) ranks;
  List.map
    (fun (w_pair, w_value, w_witness, standing) ->
      { w_pair; w_value; w_witness;
        w_standing = Option.map (fun (rank, why) -> (Hashtbl.find place rank, why)) standing })
    entries

let lower_table number value =
  let where = "the lower table" in
  let read entry =
    let s, t = pair (get entry "pair") where in
    let witness =
      List.map (fun (name, f) -> (number name, spec number f where)) (fields (get entry "witness") where)
    in
    if List.mem_assoc "rank" entry <> List.mem_assoc "progress" entry then malformed (where ^ ": only one of rank and progress");
    let standing =
      match find entry "rank" with
      | None -> None
      | Some rank ->
          let rank = rank_of rank where in
          Some (rank, reason number (get entry "progress") where)
    in
    ((number s, number t), witness, standing)
  in
  table value where [ "pair"; "value"; "witness" ] [ "rank"; "progress" ] read
  |> List.map (fun ((pair, witness, standing), v) -> (pair, v, witness, standing))
  |> with_small_ranks

(* A proof of a distance without its model, as that of delta. *)
let proof ?(between = ignore) frame number value =
  let whole = record value "the certificate" (frame @ [ "distance"; "alpha"; "claims"; "upper" ]) [ "lower" ] in
  let both = choice (get whole "distance") "the distance" [ "bd"; "lbd" ] = "bd" in
  ignore (rational (get whole "alpha") "alpha");
  let claims = List.map (claim number) (items (get whole "claims") "the claims") in
  if claims = [] then malformed "there is no claim";
  between whole;
  let alpha = skew (item (get whole "alpha") "alpha") "alpha" in
  let upper = upper_table number both (get whole "upper") in
  let lower = match find whole "lower" with None -> [] | Some table -> lower_table number table in
  { d_model = []; d_alpha = alpha; d_both = both; d_upper = upper; d_lower = lower; d_claims = List.map (fun c -> c ()) claims }

(* A certificate with its model and digest, and the numbers of states and labels. *)
let taken value =
  let states : names = Hashtbl.create 64 and labels : names = Hashtbl.create 64 in
  let digest = ref "" in
  let between whole =
    digest := item (get whole "digest") "the digest";
    ignore (record (get whole "model") "the model" [ "kind"; "states"; "transitions" ] [])
  in
  let certificate = proof ~between [ "format"; "version"; "model"; "digest" ] (number_of states) value in
  let model = Chain.read (get (Reading.fields value "the certificate") "model") in
  let certificate = { certificate with d_model = Chain.numbered model (number_of states) (number_of labels) } in
  (model, !digest, certificate, number_of states, number_of labels)

let read value =
  let model, digest, certificate, _, _ = taken value in
  (model, digest, fun () -> check_distance certificate)
