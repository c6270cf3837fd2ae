(* The model of a certificate, its digest, and whether a model that is given is the same. Nothing here is proved. *)

open Json
open Reading

type model = {
  states : (string * string) list;  (* with labels, as they stand *)
  rows : (string * (string * Extracted.q) list) list;
}

(* bare: whether numbers may stand without quotes, as in model files. *)
let read ?(bare = false) value =
  let whole = fields value "the model" in
  let quoted = function Integer written | Number written when bare -> String written | other -> other in
  (match find whole "kind" with Some (String "lmc") -> () | _ -> malformed "the model's kind is not 'lmc'");
  let part key = match find whole key with Some (Object entries) -> entries | _ -> malformed (key ^ " are no object") in
  let states = part "states" and transitions = part "transitions" in
  let labels = List.map (fun (state, label) -> (state, item label "a label")) states in
  let rows =
    List.map
      (fun (state, row) ->
        (state, List.map (fun (target, p) -> (target, model_number (quoted p) "a probability")) (fields row "a row")))
      transitions
  in
  let known = Hashtbl.create 64 in
  List.iter (fun (state, _) -> Hashtbl.replace known state ()) labels;
  List.iter (fun (state, _) -> if not (Hashtbl.mem known state) then not_valid "G1: a row of no state") rows;
  { states = labels; rows }

(* Numbers for the states in their order, and the model as the checker takes it. *)
let numbered model number label : Extracted.model =
  List.iter (fun (state, _) -> ignore (number state)) model.states;
  let rows = Hashtbl.create 64 in
  List.iter (fun (state, row) -> Hashtbl.replace rows state row) model.rows;
  List.map
    (fun (state, written) ->
      let row = Option.value (Hashtbl.find_opt rows state) ~default:[] in
      (number state, (label written, List.map (fun (t, p) -> (number t, p)) row)))
    model.states

let quoted text =
  let buffer = Buffer.create (String.length text + 2) in
  let n = String.length text in
  let byte i = Char.code text.[i] in
  let unit code = Buffer.add_string buffer (Printf.sprintf "\\u%04x" code) in
  Buffer.add_char buffer '"';
  let rec go i =
    if i < n then begin
      let b = byte i in
      let more k start = List.fold_left (fun code j -> (code lsl 6) lor (byte (i + j) land 0x3f)) start (List.init k succ) in
      if b >= 0xf0 then begin
        let code = more 3 (b land 0x07) - 0x10000 in
        unit (0xd800 lor (code lsr 10)); unit (0xdc00 lor (code land 0x3ff)); go (i + 4)
      end
      else if b >= 0xe0 then (unit (more 2 (b land 0x0f)); go (i + 3))
      else if b >= 0xc0 then (unit (more 1 (b land 0x1f)); go (i + 2))
      else begin
        (match Char.chr b with
        | '"' -> Buffer.add_string buffer "\\\""
        | '\\' -> Buffer.add_string buffer "\\\\"
        | '\n' -> Buffer.add_string buffer "\\n"
        | '\r' -> Buffer.add_string buffer "\\r"
        | '\t' -> Buffer.add_string buffer "\\t"
        | '\012' -> Buffer.add_string buffer "\\f"
        | '\b' -> Buffer.add_string buffer "\\b"
        | c when b < 0x20 || b = 0x7f -> ignore c; unit b
        | c -> Buffer.add_char buffer c);
        go (i + 1)
      end
    end
  in
  go 0;
  Buffer.add_char buffer '"';
  Buffer.contents buffer

let text_of (q : Extracted.q) =
  if Z.equal q.qden Z.one then Z.to_string q.qnum else Z.to_string q.qnum ^ "/" ^ Z.to_string q.qden

(* The canonical text: sorted keys, no white space, lowest terms, no zero entries. *)
let canonical model =
  let sorted entries = List.sort (fun (a, _) (b, _) -> compare a b) entries in
  let obj entries = "{" ^ String.concat "," (List.map (fun (k, v) -> quoted k ^ ":" ^ v) (sorted entries)) ^ "}" in
  let rows = Hashtbl.create 64 in
  List.iter (fun (state, row) -> Hashtbl.replace rows state row) model.rows;
  let row state =
    let entries = Option.value (Hashtbl.find_opt rows state) ~default:[] in
    obj (List.filter_map (fun (t, p) -> if Z.sign p.Extracted.qnum = 0 then None else Some (t, quoted (text_of p))) entries)
  in
  obj
    [ ("kind", quoted "lmc");
      ("states", obj (List.map (fun (s, l) -> (s, quoted l)) model.states));
      ("transitions", obj (List.map (fun (s, _) -> (s, row s)) model.states)) ]

let digest model = "sha256:" ^ Sha256.hex (canonical model)
