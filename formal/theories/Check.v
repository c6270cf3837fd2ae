(** * The checker of certificates of bd and lbd, proved: if it accepts, the claims hold *)

From Coq Require Import ZArith QArith List Bool FMapPositive Lia.
From Bisimdist Require Import OrderedField Combination Chain Lower LowerTable UpperTable Tables CheckChain CheckUpper CheckLower.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Record claim := { c_from : positive; c_to : positive; c_upper : Q; c_lower : option Q }.

Record distance_certificate := {
  d_model : model;
  d_alpha : Q;
  d_both : bool;  (* bd, and not lbd *)
  d_upper : list upper_entry;
  d_lower : list written_entry;
  d_claims : list claim
}.

Definition knows (C : chain) : positive -> bool :=
  let known := build (map (fun s => (s, tt)) (states C)) in
  fun s => match PositiveMap.find s known with Some _ => true | None => false end.

Lemma knows_ok C s : knows C s = true -> In s (states C).
Proof. unfold knows. destruct (PositiveMap.find s _) eqn:E; [intros _ | easy].
  apply build_found, in_map_iff in E; destruct E as (x & E & I); congruence. Qed.

(** Rule C1. *)
Definition check_claim (known : positive -> bool) (D L : positive -> positive -> Q) (c : claim) : bool :=
  known (c_from c) && known (c_to c) && Qleb (D (c_from c) (c_to c)) (c_upper c) && Qleb (c_upper c) 1 &&
  match c_lower c with Some l => Qleb 0 l && Qleb l (L (c_from c) (c_to c)) | None => true end.

Definition check_distance (c : distance_certificate) : bool :=
  let C := chain_of (d_model c) in
  let known := knows C in
  Qleb 1 (d_alpha c) && check_chain (d_model c) C &&
  let k := classes_of C in
  let D := upper_at k (upper_listed (d_both c) (d_upper c)) in
  let L := lower_at k (lower_listed (d_both c) (d_lower c)) in
  check_upper_table C (d_alpha c) (d_both c) k known (d_upper c) D &&
  check_lower_table C (d_alpha c) (d_both c) k known (d_lower c) L &&
  forallb (check_claim known D L) (d_claims c).

(** What a claim says, over every ordered field: the distance (any least pre-fixed point) is between the bounds, the
    lower bound is at most every pre-fixed point, there is a pre-fixed point at or below the upper bound, and no event of finitely many labels gains more. *)
Definition distance_claim_holds (C : chain) (alpha : Q) (both : bool) (c : claim) : Prop :=
  In (c_from c) (states C) /\ In (c_to c) (states C) /\
  forall (F : OrderedField),
    (forall u : positive -> positive -> F, prefixed C alpha both u ->
       forall l, c_lower c = Some l -> le (ofQ l) (u (c_from c) (c_to c))) /\
    (exists D : positive -> positive -> F, prefixed C alpha both D /\ le (D (c_from c) (c_to c)) (ofQ (c_upper c))) /\
    (forall b : positive -> positive -> F, is_distance C alpha both b ->
       le (b (c_from c) (c_to c)) (ofQ (c_upper c)) /\
       forall l, c_lower c = Some l -> le (ofQ l) (b (c_from c) (c_to c))) /\
    (forall n E, le (pr C n (c_from c) E : F) (add (mul (ofQ alpha) (pr C n (c_to c) E)) (ofQ (c_upper c)))) /\
    (both = true ->
     forall n E, le (pr C n (c_to c) E : F) (add (mul (ofQ alpha) (pr C n (c_from c) E)) (ofQ (c_upper c)))).

Theorem check_distance_sound c : check_distance c = true ->
  chain_ok (chain_of (d_model c)) /\ (1 <= d_alpha c)%Q /\
  forall x, In x (d_claims c) -> distance_claim_holds (chain_of (d_model c)) (d_alpha c) (d_both c) x.
Proof.
  unfold check_distance. set (C := chain_of (d_model c)). set (k := classes_of C). cbv zeta.
  rewrite !andb_true_iff, forallb_forall. intros ((A & Ok) & (U & Lo) & Cl).
  apply Qle_bool_iff in A. apply check_chain_ok in Ok.
  apply (check_upper_table_ok (knows_ok (C := C))) in U.
  apply (check_lower_table_ok (knows_ok (C := C)) A Ok) in Lo.
  set (D := upper_at k _) in *. set (L := lower_at k _) in *.
  split; [assumption | split; [assumption |]]. intros x Ix. specialize (Cl x Ix).
  unfold check_claim in Cl. rewrite !andb_true_iff in Cl. destruct Cl as ((((Ks & Kt) & Up) & _) & Low).
  apply knows_ok in Ks, Kt. apply Qle_bool_iff in Up.
  split; [assumption | split; [assumption |]]. intro F.
  assert (Below : forall u : positive -> positive -> F, prefixed C (d_alpha c) (d_both c) u ->
    forall l, c_lower x = Some l -> le (ofQ l) (u (c_from x) (c_to x))).
  { intros u Hu l E; rewrite E, andb_true_iff in Low; destruct Low as [_ Low]; apply Qle_bool_iff in Low.
    apply le_trans with (ofQ (L (c_from x) (c_to x))); [now apply ofQ_le |].
    apply (lower_table_sound Ok A Lo); auto. intros v Hv; now apply (@classes_of_apart F C (d_alpha c) (d_both c)). }
  assert (Above : prefixed C (d_alpha c) (d_both c) (fun s t => ofQ (D s t) : F)) by now apply upper_table_prefixed.
  repeat split.
  - exact Below.
  - exists (fun s t => ofQ (D s t)); split; [assumption | now apply ofQ_le].
  - destruct H as [_ H]. apply le_trans with (ofQ (D (c_from x) (c_to x))); [| now apply ofQ_le].
    now apply (H (fun s t => ofQ (D s t))).
  - intros l E; destruct H as [H _]; now apply Below.
  - intros n E. apply le_trans with (1 := upper_table_bounds_events F Ok A U n E Ks Kt).
    apply le_add2; [apply le_refl | now apply ofQ_le].
  - intros B n E. apply le_trans with (1 := upper_table_bounds_both_orders F Ok A B U n E Ks Kt).
    apply le_add2; [apply le_refl | now apply ofQ_le].
Qed.
