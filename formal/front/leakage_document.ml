(* A certificate of kind leakage, as the proved checker takes it. Nothing here is proved: which node holds the rows of a
   claim, and which integer is near a root, is looked for here, and checked by what is proved. *)

open Extracted
open Json
open Reading

let natural value where =
  match value with
  | Integer text ->
      let k = integer_text text where in
      if Integers.sign k < 0 then malformed (where ^ " is negative");
      k
  | _ -> malformed (where ^ " is no natural number")

(* A number of a row; all that are too large are the same. *)
let line width value where = Integers.to_int (Integers.min (natural value where) (Integers.of_int (width + 1)))
let zero = Steps_document.zero
let named read value where = List.map (fun (name, entry) -> (name, read entry where)) (fields value where)
let listed read value where = List.map (fun entry -> read entry where) (items value where)

let covers number width value where =
  let cover value where =
    match items value where with
    | [ k; moves ] -> let k = line width k where in (k, Delta_document.moves number amount moves where)
    | _ -> malformed (where ^ " has not two entries")
  in
  List.rev (listed cover value where)

let own_bound number width value where =
  match value with
  | String "columns" -> Columns
  | String "rest" -> Rest
  | Object whole when List.mem_assoc "most" whole ->
      let whole = record value where [ "most" ] [ "least" ] in
      let most = amount (item (get whole "most") where) where in
      Chord (most, Option.fold ~none:zero ~some:(fun least -> mass (item least where) where) (find whole "least"))
  | Object _ ->
      let whole = record value where [ "ahead"; "covers" ] [] in
      let k = line width (get whole "ahead") where in
      Ahead (k, covers number width (get whole "covers") where)
  | _ -> malformed (where ^ " is none that is known")

let from_below value where = match value with String "inf" -> Infinite | _ -> Finite (rational value where)

let node number label width first_of k value =
  let where = Printf.sprintf "node %d" k in
  let whole = record value where [ "rows" ] [ "then"; "upper"; "bound"; "lower"; "stop"; "weight"; "grows" ] in
  let whole_number value where = { qnum = integer value where; qden = Integers.one } in
  let rows = named (listed whole_number) (get whole "rows") where in
  let next = Option.map (fun t -> named natural t where) (find whole "then") in
  let upper = Option.map (fun u -> rational u where) (find whole "upper") in
  let bound = Option.map (fun b -> own_bound number width b where) (find whole "bound") in
  let lower = Option.map (fun l -> from_below l where) (find whole "lower") in
  (match find whole "stop" with None | Some (Bool true) -> () | _ -> malformed ("'stop' of " ^ where ^ " is not true"));
  let weight = Option.map (fun w -> amount (item w where) where) (find whole "weight") in
  let grows value =
    match items value where with
    | [ z; h ] ->
        let z = rational z where in
        (z, amount (item h where) where)
    | _ -> malformed (where ^ " has not two entries")
  in
  let grows = Option.map grows (find whole "grows") in
  (match List.sort_uniq compare (List.map (fun (_, column) -> List.length column) rows) with
  | [ n ] when n > 0 -> ()
  | _ -> malformed (where ^ " has rows that are empty, or not of one length"));
  ( rows,
    next,
    { l_columns = List.map (fun (s, column) -> (number s, column)) rows;
      l_then = Option.map (List.map (fun (a, c) -> (label a, Integers.succ c))) next; l_upper = upper;
      l_bound = Option.value bound ~default:Follows; l_lower = lower; l_stop = List.mem_assoc "stop" whole;
      l_cycle = first_of k; l_weight = weight; l_grows = grows } )

type claim = { states : string list; prior : q list option; lower : from_below; upper : q option }

let claim value where =
  let whole = record value where [ "states"; "lower"; "upper" ] [ "prior" ] in
  let states = listed item (get whole "states") where in
  let prior = Option.map (fun p -> listed rational p where) (find whole "prior") in
  let bound key = from_below (get whole key) where in
  let lower = bound "lower" in
  { states; prior; lower; upper = (match bound "upper" with Infinite -> None | Finite u -> Some u) }

let plus = Steps_document.plus
let times (p : q) (r : q) = fraction (Integers.mul p.qnum r.qnum) (Integers.mul p.qden r.qden)
let minus p (r : q) = plus p { r with qnum = Integers.neg r.qnum }

(* The node whose rows are those of some columns in lowest terms. *)
let key columns = List.sort compare (List.map (fun (state, column) -> (state, List.map (fun (q : q) -> Integers.to_string q.qnum) column)) columns)

let lowest columns =
  let all = List.concat_map snd columns in
  let unit = List.fold_left (fun m (q : q) -> Integers.lcm m q.qden) Integers.one all in
  let whole (q : q) = Integers.mul q.qnum (Integers.divexact unit q.qden) in
  let divisor = List.fold_left (fun g q -> Integers.gcd g (whole q)) Integers.zero all in
  let lowered q = { qnum = Integers.divexact (whole q) divisor; qden = Integers.one } in
  List.map (fun (state, column) -> (state, List.map lowered column)) columns

(* Of what a claim is, and its column in a state. *)
let worlds_of measure quantity gains number c =
  let beyond_first gains state = match gains state with [] -> [] | first :: others -> List.map (fun x -> minus x first) others in
  match (measure, c.prior, c.states) with
  | ("bayes" | "min-entropy" | "g"), Some prior, states when List.length prior = List.length states ->
      let secrets = List.combine states prior in
      let sum weight = List.fold_left (fun x (s, p) -> plus x (weight s p)) zero in
      let listed = List.map (fun (s, p) -> (number s, p)) secrets in
      (match gains with
      | Some guesses ->
          let rows = List.map snd guesses in
          let gain row s = Option.value (List.assoc_opt s row) ~default:zero in
          let at state = List.map (fun row -> sum (fun s p -> if s = state then times p (gain row s) else zero) secrets) rows in
          (Gains (listed, List.map (List.map (fun (s, x) -> (number s, x))) rows), beyond_first at)
      | None ->
          let at state = List.map (fun (s, p) -> if s = state then p else zero) secrets in
          (Secrets (listed, measure = "min-entropy"), beyond_first at))
  | ("bayes" | "min-entropy" | "g"), _, _ -> not_valid "V1: secrets have a prior"
  | _, None, [ s; t ] ->
      let one_at state other = if state = other then Steps_document.one else zero in
      let column state = [ one_at state s; one_at state t ] in
      let signed state = [ minus (one_at state s) (one_at state t) ] in
      (Pair (number s, number t), if quantity = Guess then signed else column)
  | _ -> not_valid "V1: pairs have no prior"

(* By first label the node of a claim whose rows have such a column in a state. *)
let first_nodes numbers label_of states column =
  let columns = List.map (fun state -> (state, column state)) (List.sort_uniq compare states) in
  let columns = List.filter (fun (_, column) -> List.exists (fun (q : q) -> Integers.sign q.qnum <> 0) column) columns in
  let labels = List.sort_uniq compare (List.map (fun (state, _) -> label_of state) columns) in
  List.filter_map
    (fun label ->
      let here = List.filter (fun (state, _) -> label_of state = label) columns in
      Option.map (fun k -> (label, k)) (Hashtbl.find_opt numbers (key (lowest here))))
    labels

(* What is summed over traces, and the order of Renyi's. *)
let quantity text =
  match text with
  | "tv" | "bayes" | "min-entropy" | "g" -> Guess
  | "chi2" -> Chi2
  | "kl" -> Kl
  | "hellinger" -> Hellinger
  | _ -> (
      let order = if String.starts_with ~prefix:"renyi:" text then tail text 6 else "" in
      match if is_digits order && order.[0] <> '0' && String.length order < 5 then int_of_string order else 0 with
      | b when 2 <= b && b <= 1000 -> Renyi (Integers.of_int (b - 1))
      | _ -> malformed "the measure is not known")

(* By node the first one of its cycle. *)
let cycles_of value count =
  let cycle value =
    match items value "a cycle" with
    | [ first; last ] ->
        let first = natural first "a cycle" in
        (first, natural last "a cycle")
    | _ -> malformed "a cycle has not two ends"
  in
  let cycles = List.map cycle (items value "the cycles") in
  let first_of k =
    let k = Integers.of_int k in
    Option.map (fun (first, _) -> Integers.succ first) (List.find_opt (fun (first, last) -> Integers.leq first k && Integers.leq k last) cycles)
  in
  let check () =
    List.iter (fun (first, last) -> if Integers.geq first count || Integers.geq last count then malformed "an end of a cycle is no node") cycles
  in
  let in_order () =
    let follows before (first, last) =
      if Integers.leq first before || Integers.lt last first then not_valid "V6: the cycles are not in order, or overlap" else last
    in
    ignore (List.fold_left follows (Integers.of_int (-1)) cycles)
  in
  (first_of, check, in_order)

let guesses = { near_root = (fun v -> if Integers.sign v < 0 then v else Integers.sqrt v); near_log = Logarithm.enclosed }

type proof = {
  measure : string;
  gains : (string * (string * q) list) list option;
  claims : claim list;
  certificate : Chain.model -> Extracted.model -> leak_certificate  (* about a model, as it is written and as it is taken *)
}

let proof whole number label =
  let claims = listed claim (get whole "claims") "a claim" in
  let gains = Option.map (fun g -> named (named rational) g "the gains") (find whole "gains") in
  let written = items (get whole "nodes") "the nodes" in
  let count = Integers.of_int (List.length written) in
  let first_of, ends_fit, in_order = cycles_of (Option.value (find whole "cycles") ~default:(Array [])) count in
  let measure = item (get whole "measure") "the measure" in
  let quantity = quantity measure in
  if (measure = "g") <> (gains <> None) then malformed "gains and the measure g go together";
  if gains = Some [] then malformed "there is no guess";
  let width =
    match gains with
    | Some guesses -> List.length guesses - 1
    | None -> if quantity <> Guess then 2 else if measure = "tv" then 1 else (match claims with c :: _ -> List.length c.states - 1 | [] -> not_valid "V1: no secrets")
  in
  let nodes = List.mapi (node number label width first_of) written in
  List.iter
    (fun (_, next, _) ->
      let fits (_, k) = if Integers.geq k count then malformed "a label leads to no node" in
      List.iter fits (Option.value next ~default:[]))
    nodes;
  ends_fit ();
  let numbers = Hashtbl.create 64 in
  List.iteri (fun k (rows, _, _) -> Hashtbl.replace numbers (key rows) (Integers.of_int (k + 1))) nodes;
  let ratios = Delta_document.by_pair number skew (Option.value (find whole "ratios") ~default:(Array [])) "the ratios" in
  let certificate (model : Chain.model) taken =
    in_order ();
    let label_at = Steps_document.table_of model.states in
    let label_of state = match Hashtbl.find_opt label_at state with Some text -> label text | None -> not_valid "V1: no state of the model" in
    let taken_claim c =
      let lc_about, column = worlds_of measure quantity gains number c in
      { lc_about; lc_nodes = first_nodes numbers label_of c.states column; lc_lower = c.lower; lc_upper = c.upper }
    in
    { lx_model = taken; lx_quantity = quantity; lx_width = width; lx_ratios = ratios;
      lx_nodes = List.mapi (fun k (_, _, n) -> (Integers.of_int (k + 1), n)) nodes; lx_claims = List.map taken_claim claims }
  in
  { measure; gains; claims; certificate }

let read value =
  let needed = [ "format"; "version"; "kind"; "model"; "digest"; "claims"; "measure"; "nodes" ] in
  let whole = record value "the certificate" needed [ "gains"; "cycles"; "ratios" ] in
  ignore (record (get whole "model") "the model" [ "kind"; "states"; "transitions" ] []);
  let digest = item (get whole "digest") "the digest" in
  if items (get whole "claims") "the claims" = [] then malformed "there is no claim";
  let states : names = Hashtbl.create 64 and labels : names = Hashtbl.create 64 in
  let number = number_of states and label = number_of labels in
  let proof = proof whole number label in
  let model = Chain.read (get whole "model") in
  (model, digest, fun () -> check_leakage guesses (proof.certificate model (Chain.numbered model number label)))

(* Certificates with parts, whose steps are quotients. *)
type said = { about : claim; quantity_text : string; gains_said : (string * (string * q) list) list option; lower_side : from_below option; upper_side : q option option }

let nonzero row = List.sort compare (List.filter (fun (_, (x : q)) -> Integers.sign x.qnum <> 0) row)

let said _ value =
  let open Steps_document in
  let whole = entries (Some value) in
  only [ "from"; "to"; "states"; "quantity"; "prior"; "gains"; "lower"; "upper" ] whole;
  let states =
    match (find whole "from", find whole "to", find whole "states") with
    | Some (String s), Some (String t), None -> [ s; t ]
    | None, None, Some states -> List.map (fun s -> text (Some s)) (list (Some states))
    | _ -> raise Other
  in
  let side key = Option.map (fun value -> from_below value "a claim") (find whole key) in
  let lower_side = side "lower" in
  let upper_side = Option.map (function Infinite -> None | Finite u -> Some u) (side "upper") in
  if lower_side = None && upper_side = None then raise Other;
  let prior = Option.map (fun p -> listed rational p "a claim") (find whole "prior") in
  let gains = Option.map (fun g -> named (named rational) g "the gains") (find whole "gains") in
  { about = { states; prior; lower = Finite zero; upper = None }; quantity_text = text (find whole "quantity"); gains_said = gains; lower_side; upper_side }

let part order (first : Steps_document.at) (steps, entries) =
  let take here = function Steps_document.Alike classes -> Steps_document.alike here classes | _ -> raise Steps_document.Other in
  let last, taken = List.fold_left (fun (here, steps) step -> let next, q = Steps_document.signed take here step in (next, q :: steps)) (first, []) steps in
  let stands = List.map (function Steps_document.Alike classes, _, _ -> Steps_document.table_of classes | _ -> raise Steps_document.Other) steps in
  let place state = List.fold_left (fun s table -> Option.value (Hashtbl.find_opt table s) ~default:s) state stands in
  let whole = record (Object entries) "the proof" [ "claims"; "measure"; "nodes" ] [ "gains"; "cycles"; "ratios" ] in
  let proof = proof whole first.number first.label in
  let part = lazy { lp_steps = List.rev taken; lp_proof = proof.certificate last.written last.taken } in
  Steps_document.later order (fun () -> check_leak_parts guesses first.taken [ Lazy.force part ] []);
  (part, proof, place)

(* What a claim is about, by the names before all steps; it says the same as one of a proof, in the same words. *)
let taken_said (first : Steps_document.at) parts c =
  Steps_document.all_known first c.about.states;
  let matches (_, proof, place) =
    let placed = List.map place c.about.states in
    if proof.measure <> c.quantity_text then raise Steps_document.Other;
    let renamed row = List.map (fun state -> (state, Option.value (List.assoc_opt (place state) row) ~default:zero)) (List.sort_uniq compare c.about.states) in
    let gains = Option.map (List.map (fun (guess, row) -> (guess, renamed row))) proof.gains in
    let plain = Option.map (fun rows -> List.sort compare (List.map (fun (guess, row) -> (guess, nonzero row)) rows)) in
    let same other = other.states = placed && other.prior = c.about.prior in
    if List.exists same proof.claims && plain gains = plain c.gains_said then Some gains else None
  in
  match List.filter_map matches parts with
  | [] -> not_valid "S3: no part proves a claim"
  | gains :: _ ->
      let kind = quantity c.quantity_text in
      let ls_about, _ = worlds_of c.quantity_text kind gains first.number c.about in
      { ls_quantity = kind; ls_about; ls_lower = c.lower_side; ls_upper = c.upper_side }

let read_parts whole =
  Steps_document.document [ "kind" ] said
    (fun order first parts claims ->
      let parts = List.map (part order first) parts in
      let proofs = List.map (fun (part, _, _) -> Lazy.force part) parts in
      check_leak_parts guesses first.taken proofs (List.map (taken_said first parts) claims))
    whole
