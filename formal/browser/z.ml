(* The part of Zarith that the checker uses, on the integers of a browser: integers.js. *)

type t

external of_int : int -> t = "bisimdist_z_of_int"
external to_int : t -> int = "bisimdist_z_to_int"
external of_digits : int -> string -> t = "bisimdist_z_of_digits"
external to_string : t -> string = "bisimdist_z_to_string"
external neg : t -> t = "bisimdist_z_neg"
external add : t -> t -> t = "bisimdist_z_add"
external sub : t -> t -> t = "bisimdist_z_sub"
external mul : t -> t -> t = "bisimdist_z_mul"
external divexact : t -> t -> t = "bisimdist_z_divexact"
external div : t -> t -> t = "bisimdist_z_divexact"
external sqrt : t -> t = "bisimdist_z_sqrt"
external fdiv : t -> t -> t = "bisimdist_z_fdiv"
external gcd : t -> t -> t = "bisimdist_z_gcd"
external compare : t -> t -> int = "bisimdist_z_compare"
external is_odd : t -> bool = "bisimdist_z_is_odd"
external shift_left : t -> int -> t = "bisimdist_z_shift_left"
external shift_right : t -> int -> t = "bisimdist_z_shift_right"
external numbits : t -> int = "bisimdist_z_numbits"
external signed_extract : t -> int -> int -> t = "bisimdist_z_signed_extract"

let zero = of_int 0
let one = of_int 1
let of_string = of_digits 10
let of_string_base = of_digits
let sign x = compare x zero
let equal x y = compare x y = 0
let leq x y = compare x y <= 0
let lt x y = compare x y < 0
let geq x y = compare x y >= 0
let gt x y = compare x y > 0
let min x y = if leq x y then x else y
let abs x = if lt x zero then neg x else x
let succ x = add x one
let lcm x y = if equal x zero || equal y zero then zero else abs (mul (divexact x (gcd x y)) y)

let rec pow x k =
  if k = 0 then one
  else
    let half = pow x (k / 2) in
    let square = mul half half in
    if k land 1 = 1 then mul square x else square
