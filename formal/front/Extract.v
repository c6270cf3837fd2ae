(** * The checkers as OCaml

    Numbers become those of Zarith: besides the parser and Coq's extraction, these directives are trusted. *)

From Coq Require Import ZArith QArith List FMapPositive Extraction ExtrOcamlBasic.
From Bisimdist Require Import Check CheckDeltaClaims CheckSteps CheckLeakage CheckLeakageSteps CheckMetric CheckHmm CheckHmmLengths.

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
(* The same functions without a stack as long as a list: that of a browser is small. *)
Extract Constant List.map => "(fun f l -> Stdlib.List.rev (Stdlib.List.rev_map f l))".
Extract Constant List.fold_right => "(fun f a l -> Stdlib.List.fold_left (fun a x -> f x a) a (Stdlib.List.rev l))".
Extract Constant List.filter => "Stdlib.List.filter".
Extract Constant List.flat_map => "(fun f l -> Stdlib.List.rev (Stdlib.List.fold_left (fun acc x -> Stdlib.List.rev_append (f x) acc) [] l))".
Extract Constant Datatypes.length => "Stdlib.List.length".
Extract Constant List.combine => "(fun l m -> let rec go acc l m = match l, m with x :: l, y :: m -> go ((x, y) :: acc) l m | _ -> Stdlib.List.rev acc in go [] l m)".
Extract Constant Datatypes.app => "(fun l m -> Stdlib.List.rev_append (Stdlib.List.rev l) m)".
Extract Constant Nat.leb => "(<=)".
Extract Constant Nat.ltb => "(<)".
Extract Constant Nat.eqb => "(=)".

Extraction "extracted.ml" check_distance check_delta check_distances check_steps check_leakage check_leak_parts check_metric
  check_budgets check_all_lengths check_no_budget.
