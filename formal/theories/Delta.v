(** * delta from above: graphs of information states (rules D3 to D6 of docs/certificates/delta.md)

    Theorem 1 of docs/theory/delta.md. The value of a signed vector c is the supremum over events E of
    c(E), the sum of c(i) nu_i(E); for the vector q e_s - p e_t it is q times delta in one direction. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain UpperTable.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** c P: where the mass of c is after one step. *)
Definition image (C : chain) (c : list (positive * Q)) := flat_map (fun e : positive * Q => scale (snd e) (row C (fst e))) c.

(** What follows a node: factors and nodes. *)
Definition unfolding (vec : positive -> list (positive * Q)) (edges : list (Q * positive)) :=
  flat_map (fun e : Q * positive => scale (fst e) (vec (snd e))) edges.

(** The node's vector lies on states of one label, and one step makes of it what the edges say (rules D3, D4). *)
Definition steps (C : chain) (vec : positive -> list (positive * Q)) (v : positive) (edges : list (Q * positive)) :=
  (exists lab, forall i q, In (i, q) (vec v) -> label C i = lab) /\
  (forall x w, In (x, w) edges -> (0 <= x)%Q) /\
  all_zero (image C (vec v) ++ scale (- (1)) (unfolding vec edges)) = true.

(** The sum of factor times bound over what follows. *)
Definition follow (y : positive -> Q) (edges : list (Q * positive)) : Q :=
  fold_right (fun e x => Qred (fst e * y (snd e) + x))%Q 0%Q edges.

Definition inside (C : chain) (c : list (positive * Q)) := forall i q, In (i, q) c -> In i (states C).

Section Delta.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.

(** What an event of n labels gains from the vector c. *)
Definition gains c n E : F := eval c (fun i => pr C n i E).

Lemma eval_image c f : eval (image C c) f = eval c (fun i => eval (row C i) f) :> F.
Proof. induction c as [| [i q] c IH]; simpl; [reflexivity | now rewrite eval_app, eval_scale, IH]. Qed.

Lemma eval_unfolding vec edges f :
  eval (unfolding vec edges) f = fold_right (fun e x => ofQ (fst e) * eval (vec (snd e)) f + x) 0 edges :> F.
Proof. induction edges as [| [x w] l IH]; simpl; [reflexivity | now rewrite eval_app, eval_scale, IH]. Qed.

(** One more label. *)
Lemma gains_step vec v edges n E : steps C vec v edges -> exists lab,
  (forall i q, In (i, q) (vec v) -> label C i = lab) /\
  gains (vec v) (S n) E = fold_right (fun e x => ofQ (fst e) * gains (vec (snd e)) n (fun w => E (lab :: w)) + x) 0 edges.
Proof.
  intros ((lab & Lab) & _ & Z); exists lab; split; [assumption |].
  apply all_zero_ok with (f := fun t => pr C n t (fun w => E (lab :: w)) : F) in Z.
  rewrite eval_app, eval_image, eval_scale, ofQ_opp, ofQ_1, eval_unfolding in Z.
  unfold gains. rewrite (eval_ext (g := fun i => eval (row C i) (fun t => pr C n t (fun w => E (lab :: w))))).
  - now apply no_difference in Z.
  - intros i q I; simpl. now rewrite (Lab i q I).
Qed.

Lemma gains_const c n x : inside C c -> gains c n (fun _ => x) = (if x then ofQ (total c) else 0).
Proof.
  intro K. unfold gains. rewrite (eval_ext (g := fun _ => if x then 1 else 0)).
  - rewrite eval_const. destruct x; ring.
  - intros i q I; apply K in I. clear c K. revert i I; induction n as [| n IH]; intros i Hi; simpl; [reflexivity |].
    rewrite <- (eval_row_const C_ok (if x then 1 else 0) Hi). apply eval_row_ext; auto. Qed.

Lemma gains_complement c n E : inside C c -> gains c n E = ofQ (total c) - gains c n (fun w => negb (E w)).
Proof.
  intro K. assert (X : gains c n (fun w => negb (E w)) = eval c (fun i => 1 + ofQ (-(1)) * pr C n i E)).
  { unfold gains; apply eval_ext; intros i q I. rewrite pr_complement by (auto; now apply (K i q)).
    rewrite ofQ_opp, ofQ_1; ring. }
  rewrite X, eval_add, eval_mul, eval_const, ofQ_opp, ofQ_1; unfold gains; ring. Qed.

Section Graph.
Variable vec : positive -> list (positive * Q).
Variable y : positive -> Q.
Variable nodes : list positive.  (* those with an upper bound *)

(** Rules D5 and D6: the bound of a node rests on what follows, or on something of its own. *)
Definition upper_node v :=
  inside C (vec v) /\ (0 <= y v)%Q /\ (total (vec v) <= y v)%Q /\
  ((forall n E, gains (vec v) n E <= ofQ (y v)) \/
   exists edges, steps C vec v edges /\ (forall x w, In (x, w) edges -> In w nodes) /\ (follow y edges <= y v)%Q).

(** Theorem 1 of docs/theory/delta.md. *)
Theorem graph_bounds_from_above : (forall v, In v nodes -> upper_node v) ->
  forall n v E, In v nodes -> gains (vec v) n E <= ofQ (y v).
Proof.
  intro H; induction n as [| n IH]; intros v E Hv; destruct (H v Hv) as (K & Y0 & Y1 & [Own | (edges & S & In_nodes & Sum)]); auto.
  - unfold gains; simpl. rewrite eval_const. destruct (E []).
    + apply le_trans with (ofQ (total (vec v))); [| now apply ofQ_le].
      apply le_by with (0 : F); [ring | apply le_refl].
    + apply le_trans with 0; [| now apply ofQ_ge0]. apply le_by with (0 : F); [ring | apply le_refl].
  - destruct (gains_step n E S) as (lab & _ & G). rewrite G. clear G.
    apply le_trans with (ofQ (follow y edges)); [| now apply ofQ_le].
    destruct S as (_ & Pos & _). clear Sum. induction edges as [| [x w] l IHl]; simpl; [rewrite ofQ_0; apply le_refl |].
    rewrite (ofQ_eq F (Qred_correct _)), ofQ_add, ofQ_mul. apply le_add2.
    + apply le_scale; [apply ofQ_ge0, (Pos x w); now left |]. apply IH, (In_nodes x w); now left.
    + apply IHl; intros x' w' I; [apply (Pos x' w') | apply (In_nodes x' w')]; now right.
Qed.
End Graph.

(** ** Bounds of a node's own (rule D6) *)

(** All positive mass is given up. *)
Definition positive_part (c : list (positive * Q)) : Q :=
  fold_right (fun e x => Qred (if Qle_bool (snd e) 0 then x else snd e + x))%Q 0%Q c.

Lemma positive_part_bounds c n E : inside C c -> gains c n E <= ofQ (positive_part c).
Proof.
  unfold gains; induction c as [| [i q] c IH]; simpl; intro K; [rewrite ofQ_0; apply le_refl |].
  rewrite (ofQ_eq F (Qred_correct _)).
  assert (IH' : eval c (fun i => pr C n i E) <= (ofQ (positive_part c) : F)) by (apply IH; intros j p I; apply (K j p); now right).
  destruct (pr_bounds F C_ok n E (K i q (or_introl eq_refl))) as [P0 P1].
  destruct (Qle_bool q 0) eqn:B.
  - apply Qle_bool_iff in B. apply le_trans with (0 + eval c (fun i => pr C n i E)).
    + apply le_add2; [| apply le_refl]. apply le_by with (ofQ (- q) * pr C n i E); [rewrite ofQ_opp; ring |].
      apply le_mul; [| assumption]. apply ofQ_ge0. apply Qopp_le_compat in B. exact B.
    + apply le_by with (ofQ (positive_part c) - eval c (fun i => pr C n i E)); [ring | now apply sub_ge0].
  - rewrite ofQ_add. apply le_add2; [| assumption].
    assert (Q0 : (0 <= q)%Q) by (apply Qlt_le_weak, Qnot_le_lt; intro N; apply Qle_bool_iff in N; congruence).
    apply le_by with (ofQ q * (1 - pr C n i E)); [ring |].
    apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0]. Qed.

(** What a ceiling says: for a [beta] of at least 1, whatever the alpha of the question. Pairs without a bound have 1. *)
Definition ceiling (beta : Q) (D : positive -> positive -> Q) :=
  forall n E i j, In i (states C) -> In j (states C) -> pr C n i E <= ofQ beta * pr C n j E + (ofQ (D i j) : F).

Lemma ceiling_of_a_table beta D T : (1 <= beta)%Q -> upper_rules C beta false T ->
  (forall i j, In i (states C) -> In j (states C) -> (T i j <= D i j)%Q \/ (1 <= D i j)%Q) -> ceiling beta D.
Proof.
  intros B R H n E i j Hi Hj. destruct (H i j Hi Hj) as [L | L].
  - apply le_trans with (1 := upper_table_bounds_events F C_ok B R n E Hi Hj).
    apply le_add2; [apply le_refl | now apply ofQ_le].
  - destruct (pr_bounds F C_ok n E Hi) as [_ P1]; destruct (pr_bounds F C_ok n E Hj) as [P0 _].
    apply le_trans with (1 := P1). apply le_by with (ofQ beta * pr C n j E + (ofQ (D i j) - 1)); [ring |].
    apply add_ge0; [apply le_mul; [apply ofQ_ge0, Qle_trans with 1%Q; [easy | assumption] | assumption] |].
    apply sub_ge0; rewrite <- ofQ_1; now apply ofQ_le. Qed.

Lemma coupling_bounds beta D w c v n E : ceiling beta D -> inside C c -> couples C beta D w c v -> gains c n E <= ofQ v.
Proof.
  intros Ce K Cw. apply (couples_bounds Cw); auto.
  - intros i Hi; now apply pr_bounds.
  - intros m _ Hi Hj. apply le_by with (ofQ beta * pr C n (snd (fst m)) E + ofQ (D (fst (fst m)) (snd (fst m)))
      - pr C n (fst (fst m)) E); [ring |]. apply sub_ge0; auto. Qed.

(** A bound on -c bounds c, since the complement of an event is an event. *)
Lemma complement_bounds c v : inside C c -> (forall n E, gains (scale (- (1)) c) n E <= ofQ v) ->
  forall n E, gains c n E <= ofQ (v + total c).
Proof.
  intros K H n E. rewrite gains_complement by assumption.
  specialize (H n (fun w => negb (E w))); unfold gains in *; rewrite eval_scale, ofQ_opp, ofQ_1 in H.
  rewrite ofQ_add. match goal with |- _ - ?g <= _ => apply le_by with (ofQ v - - (1) * g) end; [ring | now apply sub_ge0]. Qed.

End Delta.
