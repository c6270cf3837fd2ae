(* Certificates with parts, as the proved checker takes them: of kind delta, with steps cut, merge and quotient, and of
   distances, with steps quotient. Nothing here is proved: the digests of the steps (S1), and what the model after a step
   quotient is. What a step says of two models is checked by what is proved. *)

open Extracted
open Json
open Reading

exception Other

let entries value = match value with Some (Object entries) -> entries | _ -> raise Other
let text value = match value with Some (String text) -> text | _ -> raise Other
let list value = match value with Some (Array items) -> items | _ -> raise Other

let compared (p : q) (r : q) = Integers.compare (Integers.mul p.qnum r.qden) (Integers.mul r.qnum p.qden)
let zero = { qnum = Integers.zero; qden = Integers.one }
let one = { qnum = Integers.one; qden = Integers.one }

let only keys whole = if List.exists (fun (key, _) -> not (List.mem key keys)) whole then raise Other

let sides whole =
  let side key = Option.map (fun value -> rational value "a claim") (find whole key) in
  let lower = side "lower" in
  let upper = side "upper" in
  if lower = None && upper = None then raise Other;
  (lower, upper)

let said number value =
  let whole = entries (Some value) in
  only [ "from"; "to"; "quantity"; "alpha"; "lower"; "upper" ] whole;
  if text (find whole "quantity") <> "delta" then raise Other;
  let where = "a claim" in
  let alpha_upper, alpha_lower =
    match find whole "alpha" with
    | Some (String a) -> let a = rational_text a where in (a, a)
    | Some (Array [ String u; String l ]) ->
        let u = rational_text u where in
        let l = rational_text l where in
        if compared u l = 0 then raise Other;
        (u, l)
    | _ -> raise Other
  in
  let lower, upper = sides whole in
  { pc_from = number (text (find whole "from")); pc_to = number (text (find whole "to"));
    pc_alpha_upper = alpha_upper; pc_alpha_lower = alpha_lower; pc_lower = lower; pc_upper = upper }

let said_of_distance number value =
  let whole = entries (Some value) in
  only [ "from"; "to"; "distance"; "alpha"; "lower"; "upper" ] whole;
  let both = match text (find whole "distance") with "bd" -> true | "lbd" -> false | _ -> raise Other in
  let alpha = rational_text (text (find whole "alpha")) "a claim" in
  let lower, upper = sides whole in
  { e_from = number (text (find whole "from")); e_to = number (text (find whole "to")); e_both = both; e_alpha = alpha;
    e_lower = lower; e_upper = upper }

let table_of entries =
  let found = Hashtbl.create 64 in
  List.iter (fun (key, value) -> Hashtbl.replace found key value) entries;
  found

(* G1: what a model has to be before anything is said of it. *)
let plus p r = fraction (Integers.add (Integers.mul p.qnum r.qden) (Integers.mul r.qnum p.qden)) (Integers.mul p.qden r.qden)

let whole_model (model : Chain.model) =
  let known = table_of model.states and rows = table_of model.rows in
  if model.states = [] then not_valid "G1: there is no state";
  List.iter
    (fun (state, _) ->
      let row = Option.value (Hashtbl.find_opt rows state) ~default:[] in
      let fits (target, p) = Hashtbl.mem known target && Integers.sign p.qnum >= 0 in
      if not (List.for_all fits row) then not_valid "G1: a probability";
      if compared (List.fold_left (fun sum (_, p) -> plus sum p) zero row) one <> 0 then not_valid "G1: a sum")
    model.states;
  known

let quotient (model : Chain.model) stands : Chain.model =
  let at state = Option.value (Hashtbl.find_opt stands state) ~default:state in
  let kept (state, _) = not (Hashtbl.mem stands state) in
  let lumped (_, row) =
    let sums = Hashtbl.create 16 in
    List.iter
      (fun (target, p) ->
        let before = Option.value (Hashtbl.find_opt sums (at target)) ~default:zero in
        Hashtbl.replace sums (at target) (plus before p))
      row;
    List.of_seq (Hashtbl.to_seq sums)
  in
  let labels = table_of model.states and rows = table_of model.rows in
  let view state =
    let row = List.filter (fun (_, p) -> Integers.sign p.qnum <> 0) (lumped (state, Hashtbl.find rows state)) in
    (Hashtbl.find labels state, List.sort compare (List.map (fun (target, p) -> (target, Chain.text_of p)) row))
  in
  (* The proved checker looks at this, too; but first it reads the proof, whose faults would be named instead. *)
  Hashtbl.iter (fun state other -> if view state <> view other then not_valid "Q2: states that are not alike") stands;
  { states = List.filter kept model.states;
    rows = List.map (fun (state, row) -> (state, lumped (state, row))) (List.filter kept model.rows) }

(* In the proof of a step merge: states of the chain are even, those of the smaller one odd; all others belong to neither. *)
let beside number name =
  let after mark =
    if String.starts_with ~prefix:mark name then Some (number (tail name (String.length mark))) else None
  in
  match (after "model:", after "smaller:") with
  | Some k, _ -> Integers.shift_left k 1
  | _, Some k -> Integers.succ (Integers.shift_left k 1)
  | None, None -> Integers.shift_left (number ("neither:" ^ name)) 1

let frame = [ "model"; "digest"; "kind"; "format"; "version"; "reduced"; "fixed"; "program" ]
let without_frame proof = if List.exists (fun (key, _) -> List.mem key frame) proof then raise Other else proof

type written =
  | Cut_off of Json.t
  | Merged of Json.t * (string * string) list * (string * Json.t) list
  | Alike of (string * string) list

let classes step = List.map (fun (state, other) -> (state, text (Some other))) (entries (find step "classes"))

let written_step value =
  let step = entries (Some value) in
  let keys more = if List.sort compare (List.map fst step) <> List.sort compare ("name" :: "before" :: "after" :: more) then raise Other in
  let what =
    match text (find step "name") with
    | "cut" -> keys [ "cut" ]; Cut_off (get step "cut")
    | "merge" ->
        keys [ "smaller"; "classes"; "proof" ];
        let smaller = get step "smaller" in
        (try ignore (record smaller "the smaller chain" [ "kind"; "states"; "transitions" ] []) with Malformed _ -> raise Other);
        
        let proof = entries (find step "proof") in
        ignore (without_frame (List.remove_assoc "reduced" proof));
        Merged (smaller, classes step, proof)
    | "quotient" -> keys [ "classes" ]; Alike (classes step)
    | _ -> raise Other
  in
  (what, text (find step "before"), text (find step "after"))

let written_parts value =
  let part value =
    let part = entries (Some value) in
    if List.length part <> 2 then raise Other;
    (List.map written_step (list (find part "steps")), without_frame (entries (find part "proof")))
  in
  match list value with [] -> raise Other | parts -> List.map part parts

(* A model, as it is written and as the proved checker takes it, and how names become numbers. *)
type at = { written : Chain.model; taken : Extracted.model; number : string -> Integers.t; label : string -> Integers.t }

let at written number label = { written; taken = Chain.numbered written number label; number; label }

(* What is already read and may turn out to be not valid comes before what is malformed further on. *)
type order = { mutable before : (unit -> bool) list }

let later order check = order.before <- check :: order.before
let in_order read = 
  let order = { before = [] } in
  try read order with Malformed why -> if List.for_all (fun check -> check ()) order.before then malformed why else false

let all_known here names =
  let known = table_of here.written.states in
  if not (List.for_all (Hashtbl.mem known) names) then not_valid "a step names no state of the model"

let numbers here = List.map (fun (state, other) -> (here.number state, here.number other))

let alike here classes =
  let stands = table_of classes in
  all_known here (List.map fst classes @ List.map snd classes);
  if List.exists (fun (_, other) -> Hashtbl.mem stands other) classes then not_valid "Q1: a state that is merged itself";
  let next = at (quotient here.written stands) here.number here.label in
  (next, (numbers here classes, next.taken))

let signed take here (what, before, after) =
  if before <> Chain.digest here.written then not_valid "S1: another model before";
  let next, step = take here what in
  if after <> Chain.digest next.written then not_valid "S1: another model after";
  (next, step)

(* Parts of a certificate of distances. *)
let distance_parts order first parts =
  let take here = function Alike classes -> alike here classes | _ -> raise Other in
  let part (steps, proof) =
    let _, quotients =
      List.fold_left (fun (here, steps) step -> let next, q = signed take here step in (next, q :: steps)) (first, []) steps
    in
    let q_steps = List.rev quotients in
    let q_proof = Distance_document.proof [] first.number (Object proof) in
    later order (fun () -> check_distance_part first.taken q_steps q_proof);
    { q_steps; q_proof }
  in
  List.map part parts

(* The proof of a step merge, about both chains side by side. *)
let side_by_side here smaller =
  let marked mark entries = List.map (fun (state, value) -> (mark ^ state, value)) entries in
  let half mark (m : Chain.model) = (marked mark m.states, List.map (fun (s, row) -> (mark ^ s, marked mark row)) m.rows) in
  let states, rows = half "model:" here.written and states', rows' = half "smaller:" smaller in
  at { states = states @ states'; rows = rows @ rows' } (beside here.number) here.label

let merge order here smaller classes proof =
  let smaller = Chain.read smaller in
  ignore (whole_model smaller);
  all_known here (List.map fst classes);
  let next = at smaller here.number here.label in
  let both = side_by_side here smaller in
  let parts, claims =
    if List.mem_assoc "reduced" proof then begin
      only [ "claims"; "reduced" ] proof;
      let claims = List.map (said_of_distance both.number) (list (find proof "claims")) in
      if List.exists (fun e -> e.e_upper = None) claims then raise Other;
      (distance_parts order both (written_parts (find proof "reduced")), claims)
    end
    else
      let c = Distance_document.proof [] both.number (Object proof) in
      let claim x =
        { e_from = x.c_from; e_to = x.c_to; e_both = c.d_both; e_alpha = c.d_alpha; e_lower = x.c_lower; e_upper = Some x.c_upper }
      in
      ([ { q_steps = []; q_proof = c } ], List.map claim c.d_claims)
  in
  let step = Merge (numbers here classes, next.taken, parts, claims) in
  later order (fun () -> check_step here.taken step);
  (next, step)

(* N1: a claim of a proof that would come back, but for a state of which nothing says how far it is. *)
let lost part claim =
  let rec walk s t missing = function
    | [] -> missing && List.exists (fun c -> c.dc_from = s && c.dc_to = t) part.p_proof.x_claims
    | step :: steps ->
        let loss = loss_of step in
        walk (place_of step s) (place_of step t) (missing || loss s = None || loss t = None) steps
  in
  walk claim.pc_from claim.pc_to false part.p_steps

let delta_part order cut_label first (steps, proof) =
  let cut steps =
    match steps with
    | (Cut_off value, before, after) :: steps ->
        let read _ _ =
          let mass (state, value) = all_known first [ state ]; (first.number state, mass (item value "a mass") "a mass") in
          (first, List.map mass (fields value "the masses that are cut off"))
        in
        let _, masses = signed read first (Cut_off value, before, after) in
        later order (fun () -> check_cut cut_label (chain_of first.taken) masses);
        (Some masses, steps)
    | steps -> (None, steps)
  in
  let take here = function
    | Cut_off _ -> not_valid "S2: a step cut that is not the first"
    | Merged (smaller, classes, proof) -> merge order here smaller classes proof
    | Alike classes -> let next, q = alike here classes in (next, Quotient q)
  in
  let p_cut, steps = cut steps in
  let _, taken = List.fold_left (fun (here, steps) step -> let next, s = signed take here step in (next, s :: steps)) (first, []) steps in
  let part = { p_cut; p_steps = List.rev taken; p_proof = Delta_document.proof [] first.number first.label (Object proof) } in
  later order (fun () -> check_part cut_label first.taken part);
  part

(* None where it is another certificate with parts; claims are read by [claim], and all is checked by [check]. *)
let document keys claim check whole =
  try
    ignore (record (Object whole) "the certificate" ([ "format"; "version"; "model"; "digest"; "claims"; "reduced" ] @ keys) []);
    let states : names = Hashtbl.create 64 and labels : names = Hashtbl.create 64 in
    let parts = written_parts (find whole "reduced") in
    let claims = List.map (claim (number_of states)) (list (find whole "claims")) in
    if claims = [] then raise Other;
    let digest = text (find whole "digest") in
    if find (entries (find whole "model")) "kind" = Some (String "interactive") then raise Other;
    let model = Chain.read (get whole "model") in
    let checked () =
      ignore (whole_model model);
      let first = at model (number_of states) (number_of labels) in
      in_order (fun order -> check order first parts claims)
    in
    Some (model, digest, checked)
  with Other -> None

let read_distances whole =
  document [] said_of_distance
    (fun order first parts claims -> let parts = distance_parts order first parts in check_distances first.taken parts claims)
    whole

let read ~of_program whole =
  document [ "kind" ] said
    (fun order first parts claims ->
      let cut_label = first.label "cut" in
      let parts = List.map (delta_part order cut_label first) parts in
      if List.exists (fun part -> List.exists (lost part) claims) parts then not_valid "N1: nothing says how far a state is";
      check_steps
        { s_model = first.taken; s_cut_label = cut_label; s_of_program = of_program; s_parts = parts; s_claims = claims })
    whole
