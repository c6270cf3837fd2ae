(* Certificates of compositions, as the proved checker takes them. Nothing here is proved. *)

open Extracted
open Json
open Reading

exception Other

let zero : q = { qnum = Integers.zero; qden = Integers.one }
let of_z z : q = { qnum = z; qden = Integers.one }
let plus (p : q) (r : q) = fraction (Integers.add (Integers.mul p.qnum r.qden) (Integers.mul r.qnum p.qden)) (Integers.mul p.qden r.qden)
let times (p : q) (r : q) = fraction (Integers.mul p.qnum r.qnum) (Integers.mul p.qden r.qden)
let opposite (q : q) : q = { q with qnum = Integers.neg q.qnum }
let less (p : q) (r : q) = Integers.lt (Integers.mul p.qnum r.qden) (Integers.mul r.qnum p.qden)
let whole (q : q) = Integers.fdiv q.qnum q.qden
let size (q : q) = fraction (Integers.abs q.qnum) q.qden

(* Larger numbers than these are not covered. *)
let small z = if Integers.numbits z > 30 then raise Other else Integers.to_int z

(* Powers are worked out more finely than they are kept, since each halving of the exponent loses a bit. *)
let precision bits exponent =
  if bits > 2900 || exponent > 4000 then raise Other;
  let spare = 2 * Integers.numbits (Integers.of_int exponent) in
  let halvings = bits + spare + 8 in
  precision_with (Integers.shift_left Integers.one (bits + halvings + 16)) (Integers.shift_left Integers.one bits) halvings

(* ** Guesses, which the proved checker looks at *)

let log_bits = 320

(* ln x = y + ln(x e^-y), and twice as many digits are right each time. *)
let logarithm =
  let known = Hashtbl.create 16 in
  let one = Integers.shift_left Integers.one log_bits in
  fun (x : q) ->
    let name = (Integers.to_string x.qnum, Integers.to_string x.qden) in
    match Hashtbl.find_opt known name with
    | Some y -> y
    | None ->
        let float z = let n = Integers.numbits z in
          (float_of_int (Integers.to_int (if n > 30 then Integers.shift_right z (n - 30) else z)), if n > 30 then n - 30 else 0) in
        let a, i = float x.qnum and b, j = float x.qden in
        let start = Stdlib.log (a /. b) +. (float_of_int (i - j) *. Stdlib.log 2.) in
        if abs_float start > 4000. then raise Other;
        let p = precision (log_bits + 16 + int_of_float (3. *. abs_float start)) (1 + int_of_float (abs_float start)) in
        let y = ref (fraction (Integers.of_int (int_of_float (start *. 65536.))) (Integers.of_int 65536)) in
        for _ = 1 to 6 do
          let next = plus !y (plus (times x (exp_low p (opposite !y))) (of_z (Integers.of_int (-1)))) in
          y := fraction (Integers.fdiv (Integers.mul next.qnum one) next.qden) one
        done;
        Hashtbl.add known name !y;
        !y

let beside amount x = plus (logarithm x) (fraction (Integers.of_int amount) (Integers.shift_left Integers.one (log_bits - 16)))

(* The threshold at which labels show most: sums from the largest label on, as fixed numbers in units at the label. *)
let threshold bits units known epsilon =
  let (grid, rate), (low, (p, q)) = shown_of units known in
  let fixed (x : q) = Integers.fdiv (Integers.shift_left x.qnum bits) x.qden in
  let shorter x = Integers.shift_right x bits in
  let prec = precision (bits + 64) 200 in
  let power x = fixed (exp_high prec x) in
  let less_p = power (opposite rate) and less_q = power (opposite (plus rate grid)) and grow = power grid in
  let p = Array.of_list p and q = Array.of_list q in
  let n = min (Array.length p) (Array.length q) in
  let place k = Integers.add low (Integers.of_int k) in
  let beyond k = less (plus epsilon (opposite (of_z (Integers.of_int 64)))) (times grid (of_z (place k))) in
  if n = 0 then low
  else begin
    let top = plus epsilon (opposite (times grid (of_z (place (n - 1))))) in
    if less (of_z (Integers.of_int 100)) top then low
    else begin
      (* as far below 0 as it is, so is the last power *)
      let alpha = ref (if less top (of_z (Integers.of_int (-200))) then Integers.zero else power top) in
      let sum_p = ref Integers.zero and sum_q = ref Integers.zero and shown = ref Integers.zero and best = ref (n - 1) in
      let k = ref (n - 1) in
      while !k >= 0 && beyond !k do
        if !k < n - 1 then begin
          let top = plus epsilon (opposite (times grid (of_z (place !k)))) in
          alpha := if Integers.sign !alpha = 0 then (if less top (of_z (Integers.of_int (-200))) then Integers.zero else power top) else shorter (Integers.mul !alpha grow)
        end;
        sum_p := Integers.add (Integers.shift_left p.(!k) bits) (shorter (Integers.mul !sum_p less_p));
        sum_q := Integers.add (Integers.shift_left q.(!k) bits) (shorter (Integers.mul !sum_q less_q));
        shown := shorter (Integers.mul !shown less_p);
        let gain = Integers.sub !sum_p (shorter (Integers.mul !sum_q !alpha)) in
        if Integers.gt gain !shown then (best := !k; shown := gain);
        decr k
      done;
      place !best
    end
  end

let guesses bits =
  { log = logarithm; log_low = beside (-1); log_high = beside 1; threshold = threshold bits }

(* ** Documents *)

let mechanisms_elsewhere = [ "gaussian"; "laplace"; "discrete-gaussian"; "discrete-laplace"; "subsampled"; "shuffled"; "model"; "program" ]

let between low high value where = if less value low || less high value then not_valid ("O1: " ^ where ^ " is out of range") else value

(* A mechanism, and how an entry of the list is written with its keys in order. *)
let mechanism fields where =
  match fields with
  | [ (kind, given) ] -> (
      let written names = Printf.sprintf "{\"%s\": {%s}}" kind (String.concat ", " names) in
      let text key = Printf.sprintf "\"%s\": \"%s\"" key (match given with Object said -> item (get said key) where | _ -> "") in
      let unit = of_z Integers.one in
      match kind with
      | "randomised-response" ->
          let said = record given where [ "truth"; "options" ] [] in
          let options = integer (get said "options") where in
          if Integers.lt options (Integers.of_int 2) || Integers.gt options (Integers.of_int 1_000_000) then not_valid "O1: options out of range";
          let truth = between (fraction Integers.one options) unit (rational (get said "truth") where) where in
          if Integers.equal truth.qnum truth.qden then raise Other;
          let others = Integers.sub options Integers.one in
          let rest = plus unit (opposite truth) in
          (written [ text "options"; text "truth" ], Response (truth, fraction rest.qnum (Integers.mul rest.qden others)))
      | "pure" | "approximate" ->
          let pure = kind = "pure" in
          let said = record given where (if pure then [ "epsilon" ] else [ "epsilon"; "delta" ]) [] in
          let epsilon = rational (get said "epsilon") where in
          if Integers.sign epsilon.qnum < 0 then not_valid "O1: a negative epsilon";
          let delta = if pure then zero else between zero unit (rational (get said "delta") where) where in
          if Integers.equal delta.qnum delta.qden then raise Other;
          (written (if pure then [ text "epsilon" ] else [ text "delta"; text "epsilon" ]), Private (epsilon, delta))
      | _ when List.mem kind mechanisms_elsewhere -> raise Other
      | _ -> malformed (where ^ " is no mechanism"))
  | _ -> malformed (where ^ " names no one mechanism")

(* O1: equal ones are one, in the order of their texts. *)
let factors entries =
  let found = Hashtbl.create 16 in
  List.iter
    (fun entry ->
      let where = "a mechanism" in
      let given = fields entry where in
      let runs = match find given "times" with None -> Integers.one | Some value -> integer value where in
      if Integers.sign runs <= 0 || Integers.gt runs (Integers.of_string "1000000000000000") then not_valid "O1: runs less than once, or too often";
      let text, made = mechanism (List.remove_assoc "times" given) where in
      let before = match Hashtbl.find_opt found text with Some (_, n) -> n | None -> Integers.zero in
      Hashtbl.replace found text (made, Integers.add runs before))
    entries;
  let texts = List.sort compare (Hashtbl.fold (fun text _ all -> text :: all) found []) in
  if texts = [] then not_valid "O1: there is no mechanism";
  List.map (fun text -> let made, runs = Hashtbl.find found text in (made, Npos runs)) texts

(* A computation as it is written; its shape is read before all rules. *)
type written = { step : q; digits : Integers.t; steps : Json.t list list; above : bool; tilt : q; scales : q list }

let tape value where =
  let said = record value where [ "step"; "digits"; "steps" ] [ "above"; "tilt"; "scales" ] in
  let optional key read default = match find said key with None -> default | Some value -> read value where in
  let truth value where = if value = Bool true then true else malformed (where ^ ": above is not true") in
  let step = rational (get said "step") where in
  let digits = integer (get said "digits") where in
  let steps = List.map (fun step -> items step where) (items (get said "steps") where) in
  let above = optional "above" truth false in
  let tilt = optional "tilt" rational zero in
  { step; digits; steps; above; tilt; scales = optional "scales" (fun value where -> List.map (fun x -> rational x where) (items value where)) [] }

let claim value =
  let where = "a claim" in
  let said = record value where [ "lower"; "upper" ] [ "epsilon"; "delta" ] in
  let optional key = Option.map (fun value -> rational value where) (find said key) in
  let epsilon = optional "epsilon" in
  let delta = optional "delta" in
  let lower = rational (get said "lower") where in
  (epsilon, delta, lower, rational (get said "upper") where)

let most_entries = 4_000_000

(* One step, as far as it can be read; what it is made of is looked at by the proved checker. *)
let instruction count step =
  let where = "a step" in
  let what = match step with [] -> "empty" | first :: _ -> item first where in
  let part value = integer value where in
  let place z = if Integers.sign z < 0 || Integers.numbits z > 30 then not_valid "O4: made of steps that come later" else Integers.to_int z in
  match what with
  | "cells" -> (
      match step with
      | [ _; factor; level; low; runs ] ->
          let factor = part factor in
          let level = part level in
          let low = part low in
          let inside z n = Integers.sign z >= 0 && Integers.lt z (Integers.of_int n) in
          if not (inside factor count && inside level 65) then not_valid "O3: names no mechanism, or no grid";
          let runs = items runs where in
          let far =
            List.fold_left
              (fun far run ->
                match items run where with
                | [ length; many ] ->
                    let length = part length in
                    let many = part many in
                    let far = Integers.add far (Integers.mul length many) in
                    if Integers.sign length <= 0 || Integers.sign many <= 0 || Integers.gt far (Integers.of_int most_entries) then not_valid "O3: cells of no length, or too many";
                    far
                | _ -> malformed (where ^ " has a run of another length"))
              Integers.zero runs
          in
          if runs = [] then not_valid "O3: no cells";
          Cells (Integers.to_int factor, Integers.to_int level, low, Integers.add low far)
      | _ -> malformed (where ^ " has another number of parts"))
  | "coarsen" -> (
      match List.tl step with
      | [ one; low; high ] ->
          let one = part one in
          let low = part low in
          let high = part high in
          Coarsen (place one, low, high)
      | _ -> malformed (where ^ " has another number of parts"))
  | "multiply" -> (
      match List.tl step with
      | [ one; other; low; high ] ->
          let one = part one in
          let other = part other in
          let low = part low in
          let high = part high in
          Multiply (place one, place other, low, high)
      | _ -> malformed (where ^ " has another number of parts"))
  | _ -> malformed (where ^ " is no step")

(* So many places a window may have here. *)
let most_places = 60_000

(* A computation, and what is wrong with the first step that cannot be read: rules about earlier steps come first. *)
let computation fs written =
  let count = List.length fs in
  if Integers.sign written.step.qnum <= 0 || Integers.sign written.digits <= 0 || Integers.gt written.digits (Integers.of_int 800) then not_valid "O3: a grid has no step, or too many digits";
  if written.scales <> [] && List.length written.scales <> count then not_valid "O3: a grid has not one scale for each mechanism";
  let wrong = ref None in
  let rec read done_ = function
    | [] -> List.rev done_
    | step :: steps -> (
        match instruction count step with
        | made -> read (made :: done_) steps
        | exception ((Malformed _ | Not_valid _) as why) -> wrong := Some why; List.rev done_)
  in
  let instructions = read [] written.steps in
  let finer level = fraction written.step.qnum (Integers.shift_left written.step.qden level) in
  (* how large exponents become *)
  let steep = plus (of_z Integers.one) (size written.tilt) in
  let most = ref zero in
  let meet level low high =
    if Integers.gt (Integers.sub high low) (Integers.of_int most_places) then raise Other;
    List.iter (fun z -> let x = times steep (times (finer level) (of_z (Integers.add (Integers.abs z) Integers.one))) in if less !most x then most := x) [ low; high ]
  in
  let levels = ref [] in
  List.iter
    (fun made ->
      let of_ k = match List.nth_opt (List.rev !levels) k with Some level -> level | None -> 0 in
      let level, low, high =
        match made with
        | Cells (_, level, low, high) -> (level, low, high)
        | Coarsen (one, low, high) -> (max 0 (of_ one - 1), low, high)
        | Multiply (one, _, low, high) -> (of_ one, low, high)
      in
      meet level low high;
      levels := level :: !levels)
    instructions;
  let scale (_, runs) scale = match runs with Npos n -> times (of_z n) (size scale) | N0 -> zero in
  let scales = if written.scales = [] then List.map (fun _ -> zero) fs else written.scales in
  let all = List.fold_left2 (fun sum factor x -> plus sum (scale factor x)) !most fs scales in
  let exponent = 2 + small (whole all) in
  let digits = Integers.to_int written.digits in
  let bits = (digits * 10 / 3) + 128 + (2 * exponent) in
  let units = units_with (Integers.pow (Integers.of_int 10) digits) written.step written.tilt scales (precision bits exponent) in
  (bits, { units_of = units; labels = not written.above; instructions }, !wrong)

let directions = [ ("add-remove", [ "remove"; "add" ]); ("remove", [ "remove" ]); ("add", [ "add" ]); ("replace", [ "replace"; "replace-swapped" ]) ]

let check ?model whole_ =
  let said = record (Object (List.filter (fun (key, _) -> not (List.mem key [ "format"; "version"; "kind" ])) whole_)) "the certificate" [ "relation"; "mechanisms"; "tapes"; "claims" ] [] in
  let relation = item (get said "relation") "the relation" in
  if not (List.mem_assoc relation directions) then malformed "no such relation";
  let mechanisms = items (get said "mechanisms") "the mechanisms" in
  let tapes = List.map (fun (name, value) -> (name, List.map (fun entry -> tape entry "a computation") (items value "computations"))) (fields (get said "tapes") "the computations") in
  let claims = List.map claim (items (get said "claims") "the claims") in
  List.iter (fun (epsilon, delta, _, _) -> if (epsilon = None) = (delta = None) then malformed "a claim is about one epsilon or about one delta") claims;
  if model <> None then not_valid "O1: the certificate is about mechanisms, not about a model";
  let fs = factors mechanisms in
  (* all mechanisms here are symmetric, so one direction is enough *)
  let chosen = match List.assoc_opt (List.hd (List.assoc relation directions)) tapes with None -> [] | Some l -> l in
  let most = ref 64 in
  let read =
    List.fold_left
      (fun before written ->
        match before with
        | _, Some _ -> before
        | done_, None ->
            let bits, tape, wrong = computation fs written in
            if bits > !most then most := bits;
            (match wrong with Some why -> (done_, Some (tape, why)) | None -> (done_ @ [ tape ], None)))
      ([], None) chosen
  in
  let h = guesses !most in
  (match read with
  | earlier, Some (tape, why) ->
      (* what is wrong with a rule before it comes first *)
      if List.for_all (fun t -> result h fs t <> None) earlier && steps_hold h fs tape then raise why else not_valid "O4: a step before it"
  | _ -> ());
  let about (epsilon, delta, lower, upper) =
    let digits = List.fold_left (fun most (x : q) -> max most (Integers.numbits x.qden)) 64 (List.filter_map (fun x -> x) [ delta; Some lower; Some upper ]) in
    let large = match epsilon with Some x -> x | None -> if less lower upper then upper else lower in
    let exponent = 2 + max 0 (small (whole large)) in
    let bits = digits + 384 + (3 * exponent) in
    (precision bits exponent, match (epsilon, delta) with Some e, _ -> At_epsilon (e, lower, upper) | _, Some d -> At_delta (d, lower, upper) | _ -> assert false)
  in
  let unit = of_z Integers.one in
  List.iter (fun (_, delta, _, _) -> match delta with Some d when less unit d -> not_valid "O7: delta is no probability" | _ -> ()) claims;
  check_composition h fs (fst read) (List.map about claims)
