(* SHA-256, after FIPS 180-4, in integers of 63 bits, or of 32 as in a browser, where the mask is -1. *)

let primes count =
  let rec next found candidate =
    if List.length found = count then List.rev found
    else if List.exists (fun p -> candidate mod p = 0) found then next found (candidate + 1)
    else next (candidate :: found) (candidate + 1)
  in
  next [] 2

let mask = 0xffffffff

let root power z =
  let rec search low high =
    if Z.leq (Z.sub high low) Z.one then low
    else
      let middle = Z.shift_right (Z.add low high) 1 in
      if Z.leq (Z.pow middle power) z then search middle high else search low middle
  in
  search Z.zero (Z.shift_left Z.one 40)

(* The first 32 bits of the fractional part of a root, exactly. *)
let fraction power p =
  let scaled = Z.shift_left (Z.of_int p) (32 * power) in
  Z.to_int (Z.signed_extract (root power scaled) 0 32) land mask

let constants = Array.of_list (List.map (fraction 3) (primes 64))
let start = List.map (fraction 2) (primes 8)
let rotate x k = ((x lsr k) lor (x lsl (32 - k))) land mask

let hex text =
  let n = String.length text in
  let blocks = (n + 9 + 63) / 64 in
  let data = Bytes.make (64 * blocks) '\000' in
  Bytes.blit_string text 0 data 0 n;
  Bytes.set data n '\128';
  Bytes.set_int64_be data ((64 * blocks) - 8) (Int64.shift_left (Int64.of_int n) 3);
  let state = Array.of_list start in
  let w = Array.make 64 0 in
  for block = 0 to blocks - 1 do
    for t = 0 to 15 do
      w.(t) <- Int32.to_int (Bytes.get_int32_be data ((64 * block) + (4 * t))) land mask
    done;
    for t = 16 to 63 do
      let x = w.(t - 15) and y = w.(t - 2) in
      let s0 = rotate x 7 lxor rotate x 18 lxor (x lsr 3) in
      let s1 = rotate y 17 lxor rotate y 19 lxor (y lsr 10) in
      w.(t) <- (w.(t - 16) + s0 + w.(t - 7) + s1) land mask
    done;
    let v = Array.copy state in
    for t = 0 to 63 do
      let a = v.(0) and e = v.(4) in
      let s1 = rotate e 6 lxor rotate e 11 lxor rotate e 25 in
      let choice = (e land v.(5)) lxor (lnot e land mask land v.(6)) in
      let t1 = v.(7) + s1 + choice + constants.(t) + w.(t) in
      let s0 = rotate a 2 lxor rotate a 13 lxor rotate a 22 in
      let majority = (a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2)) in
      Array.blit v 0 v 1 7;
      v.(4) <- (v.(4) + t1) land mask;
      v.(0) <- (t1 + s0 + majority) land mask
    done;
    Array.iteri (fun i x -> state.(i) <- (state.(i) + x) land mask) v
  done;
  String.concat "" (List.map (Printf.sprintf "%08x") (Array.to_list state))
