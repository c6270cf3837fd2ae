(* Rationals around a natural logarithm, the same ones as in the Python checker. Nothing here is proved: what is proved
   takes them if it finds that they are no closer than its own. *)

open Extracted

let bits = 320

(* Of a number from 1 to 2: 2 (t + t^3/3 + ...) for t = (v-1)/(v+1). *)
let near_one above below =
  let t = Reading.fraction (Integers.sub above below) (Integers.add above below) in
  let bits = bits + Integers.numbits t.qden - Integers.numbits t.qnum in
  let square, under = (Integers.mul t.qnum t.qnum, Integers.mul t.qden t.qden) in
  let rec go term total slack odd =
    if Integers.sign term = 0 then (total, slack)
    else go (Integers.div (Integers.mul term square) under) (Integers.add total (Integers.div term (Integers.of_int odd))) (slack + 2) (odd + 2)
  in
  let total, slack = go (Integers.div (Integers.shift_left t.qnum bits) t.qden) Integers.zero 0 1 in
  let unit = Integers.shift_left Integers.one bits in
  (Reading.fraction (Integers.shift_left total 1) unit, Reading.fraction (Integers.shift_left (Integers.add total (Integers.of_int slack)) 1) unit)

let plus = Steps_document.plus
let times k (q : q) = Reading.fraction (Integers.mul (Integers.of_int k) q.qnum) q.qden

let rec enclosed (v : q) : q * q =
  if Integers.sign v.qnum <= 0 then (Steps_document.zero, Steps_document.zero)  (* where a certificate is wrong, whatever this is *)
  else if Integers.lt v.qnum v.qden then
    let low, high = enclosed { qnum = v.qden; qden = v.qnum } in
    ({ high with qnum = Integers.neg high.qnum }, { low with qnum = Integers.neg low.qnum })
  else
    let shift = Integers.numbits (Integers.div v.qnum v.qden) - 1 in
    let low, high = near_one v.qnum (Integers.shift_left v.qden shift) in
    let two_low, two_high = near_one (Integers.of_int 2) Integers.one in
    (plus low (times shift two_low), plus high (times shift two_high))
