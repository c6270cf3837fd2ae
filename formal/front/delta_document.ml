(* A certificate of kind delta, as the proved checker takes it. Nothing here is proved. *)

open Extracted
open Json
open Reading

let place value count where =
  match value with
  | Integer text ->
      let k = integer_text text where in
      if Integers.sign k < 0 || Integers.geq k (Integers.of_int count) then malformed (where ^ " names no node");
      Integers.succ k
  | _ -> malformed (where ^ " names no node")

let target value count where =
  match value with String "accept" -> Accept | String "reject" -> Reject | _ -> Go (place value count where)

let event label value where =
  let whole = record value where [ "root"; "nodes" ] [] in
  let nodes = items (get whole "nodes") where in
  let count = List.length nodes in
  let root = target (get whole "root") count where in
  let node k value = (Integers.of_int (k + 1), List.map (fun (a, t) -> (label a, target t count where)) (fields value where)) in
  { e_root = root; e_nodes = List.mapi node nodes }

let claim number label value =
  let where = "a claim" in
  let whole = record value where [ "from"; "to"; "lower"; "upper" ] [ "direction"; "event"; "probabilities" ] in
  let probabilities =
    Option.map (fun p -> let x, y = pair p where in let x = rational_text x where in (x, rational_text y where))
      (find whole "probabilities")
  in
  let source = item (get whole "from") where in
  let sink = item (get whole "to") where in
  let lower = rational (get whole "lower") where in
  let upper = rational (get whole "upper") where in
  let direction = Option.map (fun d -> pair d where) (find whole "direction") in
  let event = Option.map (fun e -> event label e where) (find whole "event") in
  { dc_from = number source; dc_to = number sink; dc_lower = lower; dc_upper = upper;
    dc_direction = Option.map (fun (a, b) -> (number a, number b)) direction; dc_event = event;
    dc_probabilities = probabilities }

let moves number read value where =
  List.map (fun m -> let i, j, w = triple m where in ((number i, number j), read w where)) (items value where)

let own_bound number value where =
  let whole = record value where [] [ "complement"; "moves"; "given_up"; "covers" ] in
  let has key = List.mem_assoc key whole in
  if has "covers" && (has "moves" || has "given_up") then malformed (where ^ " has both covers and a coupling");
  let complement = match find whole "complement" with None -> false | Some (Bool b) -> b | _ -> malformed where in
  let part key = Option.value (find whole key) ~default:(Array []) in
  ignore (items (part "moves") where);
  ignore (items (part "given_up") where);
  let flows = moves number amount (part "moves") where in
  let given = List.map (fun g -> let i, w = pair g where in (number i, amount w where)) (items (part "given_up") where) in
  { complement; own_coupling = { moves = flows; given_up = given };
    covers = Option.map (fun c -> moves number amount c where) (find whole "covers") }

let node number label count k value =
  let where = Printf.sprintf "node %d" k in
  let whole = record value where [ "vector" ] [ "then"; "upper"; "bound"; "lower"; "stop" ] in
  let vector =
    List.map (fun (s, x) -> (number s, { qnum = integer x where; qden = Integers.one })) (fields (get whole "vector") where)
  in
  if vector = [] then malformed (where ^ " has an empty vector");
  let next = Option.map (fun t -> List.map (fun (a, c) -> (label a, place c count where)) (fields t where)) (find whole "then") in
  (match find whole "stop" with None | Some (Bool true) -> () | _ -> malformed ("'stop' of " ^ where ^ " is not true"));
  let upper = Option.map (fun u -> rational u where) (find whole "upper") in
  let bound = Option.map (fun b -> own_bound number b where) (find whole "bound") in
  let lower = Option.map (fun l -> rational l where) (find whole "lower") in
  ( Integers.of_int (k + 1),
    { n_vector = vector; n_then = next; n_upper = upper; n_bound = bound; n_lower = lower;
      n_stop = List.mem_assoc "stop" whole } )

let by_pair number read value where =
  let found = moves number read value where in
  let seen = Hashtbl.create 16 in
  List.iter
    (fun (p, _) -> if Hashtbl.mem seen p then malformed (where ^ " name a pair twice") else Hashtbl.add seen p ())
    found;
  found

let ceiling number value =
  let where = "the ceiling" in
  let whole = record value where [ "alpha"; "distance"; "bounds"; "upper" ] [] in
  let both = Distance_document.choice (get whole "distance") where [ "bd"; "lbd" ] = "bd" in
  let alpha = skew (item (get whole "alpha") where) where in
  let bounds = by_pair number share (get whole "bounds") where in
  { ce_alpha = alpha; ce_both = both; ce_bounds = bounds;
    ce_upper = Distance_document.upper_table number both (get whole "upper") }

(* A proof of delta without its model: [frame] are the keys that are not read here, [between] reads some of them. *)
let proof ?(between = ignore) frame number label value =
  let whole = record value "the certificate" (frame @ [ "alpha"; "claims"; "nodes" ]) [ "ceiling"; "ratios" ] in
  let alpha = record (get whole "alpha") "alpha" [ "lower"; "upper" ] [] in
  let claims = items (get whole "claims") "the claims" in
  ignore (rational (get alpha "lower") "alpha");
  ignore (rational (get alpha "upper") "alpha");
  let claims = List.map (claim number label) claims in
  let nodes = items (get whole "nodes") "the nodes" in
  between whole;
  let alpha_lower = skew (item (get alpha "lower") "alpha") "alpha" in
  let alpha_upper = skew (item (get alpha "upper") "alpha") "alpha" in
  let count = List.length nodes in
  let nodes = List.mapi (node number label count) nodes in
  let ceiling = Option.map (ceiling number) (find whole "ceiling") in
  let ratios = by_pair number skew (Option.value (find whole "ratios") ~default:(Array [])) "the ratios" in
  { x_model = []; x_merged = []; x_alpha_lower = alpha_lower; x_alpha_upper = alpha_upper; x_nodes = nodes;
    x_ceiling = ceiling; x_ratios = ratios; x_claims = claims }

let read value =
  let states : names = Hashtbl.create 64 and labels : names = Hashtbl.create 64 in
  let digest = ref "" in
  let between whole =
    if get whole "claims" = Array [] then malformed "there is no claim";
    ignore (record (get whole "model") "the model" [ "kind"; "states"; "transitions" ] []);
    digest := item (get whole "digest") "the digest"
  in
  let certificate = proof ~between [ "format"; "version"; "kind"; "model"; "digest" ] (number_of states) (number_of labels) value in
  let model = Chain.read (get (fields value "the certificate") "model") in
  let certificate = { certificate with x_model = Chain.numbered model (number_of states) (number_of labels) } in
  (model, !digest, fun () -> check_delta certificate)
