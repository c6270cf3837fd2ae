(** * The rules of the upper table imply that it is at least the distance, and delta

    Rules U1 to U4 of docs/certificate-spec.md; Theorem 1 of docs/theory/certificates.md. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** Flows (i, j, w), and masses (i, w) that are given up at cost 1. *)
Record coupling := { moves : list (positive * positive * Q); given_up : list (positive * Q) }.

Section Rules.
Variable C : chain.
Variable alpha : Q.
Variable both : bool.

(** A coupling of a vector c that costs at most v: positive amounts between states that carry enough away.
    Moves through third states are allowed. *)
Definition couples (D : positive -> positive -> Q) (w : coupling) (c : list (positive * Q)) (v : Q) :=
  (forall m, In m (moves w) -> In (fst (fst m)) (states C) /\ In (snd (fst m)) (states C) /\ (0 <= snd m)%Q) /\
  (forall g, In g (given_up w) -> In (fst g) (states C) /\ (0 <= snd g)%Q) /\
  all_ge0 (surplus alpha (moves w) (given_up w) c) = true /\
  (cost D (moves w) (given_up w) <= v)%Q.

Definition upper_rules (D : positive -> positive -> Q) :=
  forall s t, In s (states C) -> In t (states C) ->
    (0 <= D s t)%Q /\
    ((1 <= D s t)%Q \/ s = t \/
     label C s = label C t /\ (exists w, couples D w (difference C alpha s t) (D s t)) /\
     (both = true -> exists w, couples D w (difference C alpha t s) (D s t))).
End Rules.

Section Soundness.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable alpha : Q.
Hypothesis alpha_ge1 : (1 <= alpha)%Q.
Variable both : bool.

(** What a coupling costs bounds what a potential gains, if the potential respects D on the pairs of states. *)
Lemma couples_bounds (beta : Q) D w c v (f : positive -> F) : couples C beta D w c v ->
  (forall i q, In (i, q) c -> In i (states C)) ->
  (forall i, In i (states C) -> 0 <= f i <= 1) ->
  (forall m, In m (moves w) -> In (fst (fst m)) (states C) -> In (snd (fst m)) (states C) ->
     f (fst (fst m)) - ofQ beta * f (snd (fst m)) <= ofQ (D (fst (fst m)) (snd (fst m)))) ->
  eval c f <= ofQ v.
Proof.
  intros (Hm & Hg & S & V) Hc Hf HD.
  apply le_trans with (ofQ (cost D (moves w) (given_up w))); [| now apply ofQ_le].
  apply weak_duality with beta.
  - intros m I; destruct (Hm m I) as (A & B & W); auto.
  - intros g I; destruct (Hg g I) as (A & W); split; [assumption | now apply Hf].
  - apply all_ge0_ok; [assumption |]. intros s q I; apply Hf. unfold surplus, carried in I.
    rewrite !in_app_iff in I. destruct I as [[I | I] | I].
    + apply in_flat_map in I; destruct I as ([[i j] x] & I & J); destruct (Hm _ I) as (A & B & _).
      simpl in J; destruct J as [J | [J | []]]; injection J as <- _; assumption.
    + now destruct (Hg _ I).
    + unfold scale in I; apply in_map_iff in I; destruct I as ([t p] & E & I); injection E as <- _.
      now apply (Hc t p). Qed.

Lemma difference_in (beta : Q) s t : In s (states C) -> In t (states C) -> forall i q, In (i, q) (difference C beta s t) -> In i (states C).
Proof. intros Hs Ht i q I; unfold difference in I; apply in_app_iff in I; destruct I as [I | I].
  - now apply (C_ok Hs) in I.
  - unfold scale in I; apply in_map_iff in I; destruct I as ([x p] & E & I); injection E as <- _.
    now apply (C_ok Ht) in I. Qed.

(** Theorem. A table that obeys the rules is a pre-fixed point: it bounds the distance ... *)
Theorem upper_table_prefixed D : upper_rules C alpha both D -> prefixed C alpha both (fun s t => ofQ (D s t) : F).
Proof.
  intros R s t Hs Ht; destruct (R s t Hs Ht) as [D0 Cases].
  assert (Ad : forall f, admitted C alpha (fun s t => ofQ (D s t) : F) f -> forall s t w,
    In s (states C) -> In t (states C) -> forall v, couples C alpha D w (difference C alpha s t) v ->
    eval (difference C alpha s t) f <= ofQ v).
  { intros f [F0 F1] s' t' w Hs' Ht' v Cw. apply (couples_bounds Cw); auto. now apply difference_in. }
  assert (One : forall f, (forall i, In i (states C) -> 0 <= f i <= 1) -> forall s t,
    In s (states C) -> In t (states C) -> eval (difference C alpha s t) f <= (1 : F)).
  { intros f Hf s' t' Hs' Ht'. rewrite eval_difference.
    assert (X : eval (row C s') f <= 1)
      by (rewrite <- (eval_row_const C_ok 1 Hs'); apply eval_row_le; auto; now apply Hf).
    assert (Y : 0 <= eval (row C t') f)
      by (rewrite <- (eval_row_const C_ok 0 Ht'); apply eval_row_le; auto; now apply Hf).
    apply le_by with ((1 - eval (row C s') f) + ofQ alpha * eval (row C t') f); [ring |].
    apply add_ge0; [now apply sub_ge0 | apply le_mul; [| assumption]].
    apply ofQ_ge0, Qle_trans with 1%Q; [now apply Qlt_le_weak | assumption]. }
  split; [now apply ofQ_ge0 |]. destruct Cases as [Big | [E | (Lab & (w & Cw) & Back)]].
  - assert (B1 : 1 <= (ofQ (D s t) : F)) by (rewrite <- ofQ_1; now apply ofQ_le).
    split; [auto |]. intros _; split; [| intros _]; intros f [Hf _]; (apply le_trans with 1; [apply One |]); auto.
  - subst t; split; [congruence |]. intros _.
    assert (Z : forall f, admitted C alpha (fun s t => ofQ (D s t) : F) f -> eval (difference C alpha s s) f <= ofQ (D s s)).
    { intros f [Hf _]. rewrite eval_difference.
      assert (Y : 0 <= eval (row C s) f)
        by (rewrite <- (eval_row_const C_ok 0 Hs); apply eval_row_le; auto; now apply Hf).
      apply le_by with ((ofQ alpha - 1) * eval (row C s) f + ofQ (D s s)); [ring |].
      apply add_ge0; [apply le_mul; [| assumption] | now apply ofQ_ge0].
      apply sub_ge0; rewrite <- ofQ_1; now apply ofQ_le. }
    split; [exact Z | intros _; exact Z].
  - split; [congruence |]. intros _; split.
    + intros f Hf; now apply (Ad f Hf s t w).
    + intros B f Hf; destruct (Back B) as [w' Cw']; now apply (Ad f Hf t s w').
Qed.

Corollary upper_table_above_distance D b : upper_rules C alpha both D -> is_distance C alpha both b ->
  forall s t, In s (states C) -> In t (states C) -> b s t <= (ofQ (D s t) : F).
Proof. intros R [_ H] s t Hs Ht; apply (H (fun s t => ofQ (D s t))); auto. now apply upper_table_prefixed. Qed.

(** ... and what any event gains, in this order of the pair (in both orders for bd, where the table is symmetric). *)
Corollary upper_table_bounds_events D : upper_rules C alpha both D ->
  forall n E s t, In s (states C) -> In t (states C) -> pr C n s E <= ofQ alpha * pr C n t E + (ofQ (D s t) : F).
Proof. intro R. apply prefixed_bounds_events with (d := fun s t => ofQ (D s t)); auto.
  apply upper_table_prefixed in R. destruct both; [now apply prefixed_weaker | assumption]. Qed.

Corollary upper_table_bounds_both_orders D : both = true -> upper_rules C alpha both D ->
  forall n E s t, In s (states C) -> In t (states C) -> pr C n t E <= ofQ alpha * pr C n s E + (ofQ (D s t) : F).
Proof. intros B R. apply prefixed_bounds_both_orders with (d := fun s t => ofQ (D s t)); auto.
  apply upper_table_prefixed in R. now rewrite B in R. Qed.
End Soundness.
