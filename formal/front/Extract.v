(** * The checkers as OCaml

    Numbers become those of Zarith: besides the parser and Coq's extraction, these directives are trusted. *)

From Coq Require Import ZArith QArith List FMapPositive Extraction ExtrOcamlBasic.
From Bisimdist Require Import Check CheckDeltaClaims CheckSteps CheckLeakage CheckLeakageSteps CheckMetric CheckHmm CheckHmmLengths AccountantNumbers CheckComposition.

Extract Inductive positive => "Integers.t"
  [ "(fun p -> Integers.succ (Integers.shift_left p 1))" "(fun p -> Integers.shift_left p 1)" "Integers.one" ]
  "(fun fI fO fH p -> if Integers.equal p Integers.one then fH () else if Integers.is_odd p then fI (Integers.shift_right p 1) else fO (Integers.shift_right p 1))".
Extract Inductive Z => "Integers.t" [ "Integers.zero" "" "Integers.neg" ]
  "(fun f0 fp fn z -> let s = Integers.sign z in if s = 0 then f0 () else if s > 0 then fp z else fn (Integers.neg z))".
Extract Inductive nat => "int" [ "0" "Stdlib.succ" ] "(fun fO fS n -> if n = 0 then fO () else fS (n - 1))".

Extract Constant Pos.succ => "Integers.succ".
Extract Constant Pos.add => "Integers.add".
Extract Constant Pos.mul => "Integers.mul".
Extract Constant Pos.eqb => "Integers.equal".
Extract Constant Pos.leb => "Integers.leq".
Extract Constant Pos.ltb => "Integers.lt".
Extract Constant Pos.min => "Integers.min".
Extract Constant Pos.compare => "(fun x y -> let s = Integers.compare x y in if s = 0 then Eq else if s < 0 then Lt else Gt)".
Extract Constant Z.add => "Integers.add".
Extract Constant Z.sub => "Integers.sub".
Extract Constant Z.mul => "Integers.mul".
Extract Constant Z.opp => "Integers.neg".
Extract Constant Z.abs => "Integers.abs".
Extract Constant Z.sgn => "(fun z -> Integers.of_int (Integers.sign z))".
Extract Constant Z.eqb => "Integers.equal".
Extract Constant Z.leb => "Integers.leq".
Extract Constant Z.compare => "(fun x y -> let s = Integers.compare x y in if s = 0 then Eq else if s < 0 then Lt else Gt)".
Extract Constant Zeq_bool => "Integers.equal".
Extract Constant Z.ggcd => "(fun a b -> let g = Integers.gcd a b in if Integers.equal g Integers.zero then (g, (Integers.zero, Integers.zero)) else (g, (Integers.divexact a g, Integers.divexact b g)))".
Extract Constant Z.to_pos => "(fun z -> if Integers.sign z > 0 then z else Integers.one)".
Extract Constant Z.div => "(fun a b -> if Integers.equal b Integers.zero then Integers.zero else Integers.fdiv a b)".
Extract Constant Z.shiftl => "(fun a n -> let n = Integers.to_int n in if n >= 0 then Integers.shift_left a n else Integers.shift_right a (- n))".
Extract Constant Z.shiftr => "(fun a n -> let n = Integers.to_int n in if n >= 0 then Integers.shift_right a n else Integers.shift_left a (- n))".
Extract Constant Z.log2 => "(fun z -> if Integers.sign z > 0 then Integers.of_int (Integers.numbits z - 1) else Integers.zero)".
Extract Constant Z.to_nat => "(fun z -> if Integers.sign z > 0 then Integers.to_int z else 0)".
Extract Constant Z.of_nat => "Integers.of_int".
Extract Constant Init.Nat.add => "(+)".
(* The same functions without a stack as long as a list: that of a browser is small. *)
Extract Constant List.map => "(fun f l -> Stdlib.List.rev (Stdlib.List.rev_map f l))".
Extract Constant List.fold_right => "(fun f a l -> Stdlib.List.fold_left (fun a x -> f x a) a (Stdlib.List.rev l))".
Extract Constant List.filter => "Stdlib.List.filter".
Extract Constant List.flat_map => "(fun f l -> Stdlib.List.rev (Stdlib.List.fold_left (fun acc x -> Stdlib.List.rev_append (f x) acc) [] l))".
Extract Constant Datatypes.length => "Stdlib.List.length".
Extract Constant List.combine => "(fun l m -> let rec go acc l m = match l, m with x :: l, y :: m -> go ((x, y) :: acc) l m | _ -> Stdlib.List.rev acc in go [] l m)".
Extract Constant Datatypes.app => "(fun l m -> Stdlib.List.rev_append (Stdlib.List.rev l) m)".
Extract Constant firstn => "(fun n l -> let rec go acc n l = match l with x :: l when n > 0 -> go (x :: acc) (n - 1) l | _ -> Stdlib.List.rev acc in go [] n l)".
Extract Constant repeat => "(fun x n -> Stdlib.List.init n (fun _ -> x))".
Extract Constant Nat.leb => "(<=)".
Extract Constant Nat.ltb => "(<)".
Extract Constant Nat.eqb => "(=)".

Extraction "extracted.ml" check_distance check_delta check_distances check_steps check_leakage check_leak_parts check_metric
  check_budgets check_all_lengths check_no_budget
  check_composition steps_hold result exp_low exp_high precision_with units_with shown_of.
