(* From JSON to numbers, names and shapes. Nothing here is proved. *)

open Json

exception Not_valid of string

let not_valid text = raise (Not_valid text)

let record value where required optional =
  match value with
  | Object fields ->
      List.iter (fun key -> if not (List.mem_assoc key fields) then malformed (where ^ " has no " ^ key)) required;
      List.iter
        (fun (key, _) ->
          if not (List.mem key required || List.mem key optional) then malformed (where ^ " has the unknown key " ^ key))
        fields;
      fields
  | _ -> malformed (where ^ " is no object")

let get fields key = List.assoc key fields
let find fields key = List.assoc_opt key fields
let fields value where = match value with Object fields -> fields | _ -> malformed (where ^ " is no object")
let items value where = match value with Array items -> items | _ -> malformed (where ^ " is no array")
let item value where = match value with String text -> text | _ -> malformed (where ^ " is no string")

let strings value where length =
  let items = items value where in
  if List.length items <> length then malformed (where ^ " has the wrong length");
  List.map (fun entry -> item entry where) items

let pair value where = match strings value where 2 with [ a; b ] -> (a, b) | _ -> assert false
let triple value where = match strings value where 3 with [ a; b; c ] -> (a, b, c) | _ -> assert false

let is_digits text = text <> "" && String.for_all (fun c -> c >= '0' && c <= '9') text
let is_hex text = text <> "" && String.for_all (function '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> true | _ -> false) text
let max_digits = 4000
let tail text k = String.sub text k (String.length text - k)

let decimal digits where =
  if String.length digits > max_digits then malformed (where ^ " has too many decimal digits");
  Z.of_string digits

(* An integer: 0, or decimal, or hexadecimal from 0x. *)
let integer_text text where =
  if text = "0" then Z.zero
  else
    let negative = text <> "" && text.[0] = '-' in
    let body = if negative then tail text 1 else text in
    let value =
      if String.length body > 2 && String.sub body 0 2 = "0x" && is_hex (tail body 2) then Z.of_string_base 16 (tail body 2)
      else if is_digits body && body.[0] <> '0' then decimal body where
      else malformed (where ^ " is no integer")
    in
    if negative then Z.neg value else value

let integer value where = integer_text (item value where) where

let fraction a b : Extracted.q =
  let g = Z.gcd a b in
  { Extracted.qnum = Z.divexact a g; qden = Z.divexact b g }

let rational_text text where =
  let above, below =
    match String.index_opt text '/' with
    | None -> (text, Z.one)
    | Some k -> (String.sub text 0 k, integer_text (tail text (k + 1)) where)
  in
  if Z.sign below <= 0 then malformed (where ^ " has no positive denominator");
  fraction (integer_text above where) below

let rational value where = rational_text (item value where) where
let at_least bound (q : Extracted.q) = Z.leq (Z.mul (Z.of_int bound) q.qden) q.qnum
let positive (q : Extracted.q) = Z.sign q.qnum > 0

let guarded holds text where = let q = rational_text text where in if holds q then q else not_valid (where ^ " is out of range")
let amount text where = guarded positive text where
let mass text where = guarded (at_least 0) text where
let skew text where = guarded (at_least 1) text where
let share text where = guarded (fun q -> at_least 0 q && Z.leq q.qnum q.qden) text where

(* A probability as model files write it: 3/5, 0.6, 6e-1 or 1. *)
let strip text =
  let is_space c = c = ' ' || (c >= '\t' && c <= '\r') || (c >= '\028' && c <= '\031') in
  let n = String.length text in
  let rec first i = if i < n && is_space text.[i] then first (i + 1) else i in
  let rec last i = if i > 0 && is_space text.[i - 1] then last (i - 1) else i in
  let i = first 0 in
  let j = max i (last n) in
  String.sub text i (j - i)

let signed text =
  if text <> "" && (text.[0] = '-' || text.[0] = '+') then (text.[0] = '-', tail text 1) else (false, text)

let decimal_bits = 13_288

let model_number value where =
  let text = strip (item value where) in
  let wrong () = malformed (where ^ " is no number of a model") in
  match String.index_opt text '/' with
  | Some k ->
      let negative, above = signed (strip (String.sub text 0 k)) in
      let below = strip (tail text (k + 1)) in
      if k > 0 && (text.[0] = ' ' || not (is_digits above && is_digits below)) then wrong ();
      if not (is_digits above && is_digits below) then wrong ();
      let below = decimal below where in
      if Z.equal below Z.zero then wrong ();
      let above = decimal above where in
      fraction (if negative then Z.neg above else above) below
  | None ->
      let mantissa, exponent =
        match (String.index_opt text 'e', String.index_opt text 'E') with
        | Some k, _ | None, Some k -> (String.sub text 0 k, Some (tail text (k + 1)))
        | None, None -> (text, None)
      in
      let shift =
        match exponent with
        | None -> 0
        | Some e ->
            let negative, digits = signed e in
            if not (is_digits digits && String.length digits <= 6) then wrong ();
            let size = int_of_string ("0u" ^ digits) in
            if negative then -size else size
      in
      let negative, body = signed mantissa in
      let whole, part =
        match String.index_opt body '.' with
        | None -> (body, "")
        | Some k -> if tail body (k + 1) = "" then wrong (); (String.sub body 0 k, tail body (k + 1))
      in
      if not (is_digits whole && (part = "" || is_digits part)) then wrong ();
      if abs shift > 10_000 then wrong ();
      let digits = decimal (whole ^ part) where in
      let digits = if negative then Z.neg digits else digits in
      let scale = shift - String.length part in
      let power = Z.pow (Z.of_int 10) (abs scale) in
      let number = if scale >= 0 then fraction (Z.mul digits power) Z.one else fraction digits power in
      if max (Z.numbits number.qnum) (Z.numbits number.qden) > decimal_bits then wrong ();
      number

(* Names become numbers from 1. *)
type names = (string, Z.t) Hashtbl.t

let number_of (names : names) name =
  match Hashtbl.find_opt names name with
  | Some k -> k
  | None ->
      let k = Z.of_int (Hashtbl.length names + 1) in
      Hashtbl.add names name k;
      k
