(* A certificate of kind delta whose one part takes one step, quotient, as the proved checker takes it: the states that
   are merged are part of what is proved. Nothing here is proved: the digests of the step (S1), that a state stands for
   itself or for one that does (Q1), and which claim of the proof a claim is one of (S3). *)

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

type said = { source : string; target : string; alphas : q * q; lower : q option; upper : q option }

let said value =
  let whole = entries (Some value) in
  if List.exists (fun (key, _) -> not (List.mem key [ "from"; "to"; "quantity"; "alpha"; "lower"; "upper" ])) whole then raise Other;
  if text (find whole "quantity") <> "delta" then raise Other;
  let where = "a claim" in
  let alphas =
    match find whole "alpha" with
    | Some (String a) -> let a = rational_text a where in (a, a)
    | Some (Array [ String u; String l ]) ->
        let u = rational_text u where in
        let l = rational_text l where in
        if compared u l = 0 then raise Other;
        (u, l)
    | _ -> raise Other
  in
  let side key = Option.map (fun value -> rational value where) (find whole key) in
  let lower = side "lower" in
  let upper = side "upper" in
  if lower = None && upper = None then raise Other;
  { source = text (find whole "from"); target = text (find whole "to"); alphas; lower; upper }

(* G1: what a model has to be before anything is said of it. *)
let whole_model (model : Chain.model) =
  let known = Hashtbl.create 64 and rows = Hashtbl.create 64 in
  List.iter (fun (state, _) -> Hashtbl.replace known state ()) model.states;
  List.iter (fun (state, row) -> Hashtbl.replace rows state row) model.rows;
  let plus p r = fraction (Integers.add (Integers.mul p.qnum r.qden) (Integers.mul r.qnum p.qden)) (Integers.mul p.qden r.qden) in
  if model.states = [] then not_valid "G1: there is no state";
  List.iter
    (fun (state, _) ->
      let row = Option.value (Hashtbl.find_opt rows state) ~default:[] in
      let fits (target, p) = Hashtbl.mem known target && Integers.sign p.qnum >= 0 in
      if not (List.for_all fits row) then not_valid "G1: a probability";
      if compared (List.fold_left (fun sum (_, p) -> plus sum p) zero row) one <> 0 then not_valid "G1: a sum")
    model.states;
  (known, plus)

let quotient (model : Chain.model) plus stands : Chain.model =
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
  let view state =
    let row = List.filter (fun (_, p) -> Integers.sign p.qnum <> 0) (lumped (state, List.assoc state model.rows)) in
    (List.assoc state model.states, List.sort compare (List.map (fun (target, p) -> (target, Chain.text_of p)) row))
  in
  (* The proved checker looks at this, too; but first it reads the proof, whose faults would be named instead. *)
  Hashtbl.iter (fun state other -> if view state <> view other then not_valid "Q2: states that are not alike") stands;
  { states = List.filter kept model.states;
    rows = List.map (fun (state, row) -> (state, lumped (state, row))) (List.filter kept model.rows) }

(* What is proved of the states that stand for those of a claim, as a claim about these. *)
let of_claim number at proved alphas said =
  let about c = c.dc_from = number (at said.source) && c.dc_to = number (at said.target) in
  let found = List.filter about proved in
  let below = List.find_opt (fun c -> match said.lower with Some l -> compared l c.dc_lower <= 0 | None -> true) found in
  let above = List.exists (fun c -> match said.upper with Some u -> compared c.dc_upper u <= 0 | None -> true) found in
  match below with
  | Some c when above && said.alphas = alphas ->
      let s = number said.source and t = number said.target in
      let turned (a, _) = if a = c.dc_from then (s, t) else (t, s) in
      { c with dc_from = s; dc_to = t; dc_direction = Option.map turned c.dc_direction;
        dc_lower = Option.value said.lower ~default:zero; dc_upper = Option.value said.upper ~default:one }
  | _ -> not_valid "S3: no claim of the proof says so much"

(* None where it is another certificate with parts. *)
let read whole =
  try
    let keys = [ "format"; "version"; "kind"; "model"; "digest"; "claims"; "reduced" ] in
    ignore (record (Object whole) "the certificate" keys []);
    let part = match list (find whole "reduced") with [ part ] -> entries (Some part) | _ -> raise Other in
    let step = match list (find part "steps") with [ step ] -> entries (Some step) | _ -> raise Other in
    if List.length step <> 4 || List.length part <> 2 || text (find step "name") <> "quotient" then raise Other;
    let classes = List.map (fun (state, other) -> (state, text (Some other))) (entries (find step "classes")) in
    let before = text (find step "before") and after = text (find step "after") in
    let proof = entries (find part "proof") in
    let frame = [ "model"; "digest"; "kind"; "format"; "version"; "reduced"; "fixed" ] in
    if List.exists (fun (key, _) -> List.mem key frame) proof then raise Other;
    let claims = List.map said (list (find whole "claims")) in
    if claims = [] then raise Other;
    let digest = text (find whole "digest") in
    if find (entries (find whole "model")) "kind" = Some (String "interactive") then raise Other;
    let model = Chain.read (get whole "model") in
    let check () =
      let known, plus = whole_model model in
      if before <> Chain.digest model then not_valid "S1: another model before";
      let stands = Hashtbl.create 16 in
      List.iter (fun (state, other) -> Hashtbl.replace stands state other) classes;
      let fits (state, other) = Hashtbl.mem known state && Hashtbl.mem known other && not (Hashtbl.mem stands other) in
      if not (List.for_all fits classes) then not_valid "Q1";
      if after <> Chain.digest (quotient model plus stands) then not_valid "S1: another model after";
      let frame = List.filter (fun (key, _) -> key <> "claims" && key <> "reduced") whole in
      let certificate, _, _, number = Delta_document.certificate (Object (frame @ proof)) in
      let merged_away = List.map (fun (state, _) -> number state) classes in
      if List.exists (fun c -> List.mem c.dc_from merged_away || List.mem c.dc_to merged_away) certificate.x_claims then
        not_valid "C1: a state that is merged";
      let at state = Option.value (Hashtbl.find_opt stands state) ~default:state in
      let alphas = (certificate.x_alpha_upper, certificate.x_alpha_lower) in
      let outer = List.map (of_claim number at certificate.x_claims alphas) claims in
      let leaders = List.sort_uniq compare (List.map snd classes) in
      let members leader = List.filter_map (fun (state, other) -> if other = leader then Some (number state) else None) classes in
      let groups = List.map (fun leader -> number leader :: members leader) leaders in
      check_delta { certificate with x_merged = groups; x_claims = certificate.x_claims @ outer }
    in
    Some (model, digest, check)
  with Other -> None
