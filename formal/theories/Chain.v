(** * Labelled Markov chains, events, and tables that bound what events can tell

    States and labels are numbers; names are the business of whoever reads a file. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Record chain := {
  states : list positive;
  label : positive -> positive;
  row : positive -> list (positive * Q)
}.

(** Rule G1: rows lead to states, with probabilities that are not negative and sum to one. *)
Definition chain_ok (C : chain) := forall s, In s (states C) ->
  (forall t q, In (t, q) (row C s) -> In t (states C) /\ (0 <= q)%Q) /\ (total (row C s) == 1)%Q.

Section Chain.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.

(** The probability, from the state [s], that the first [n] labels (that of [s] is the first one) are a word of [E]. *)
Fixpoint pr (n : nat) (s : positive) (E : list positive -> bool) : F :=
  match n with
  | O => if E [] then 1 else 0
  | S n' => eval (row C s) (fun t => pr n' t (fun w => E (label C s :: w)))
  end.

Lemma pr_ext n s E E' : (forall w, E w = E' w) -> pr n s E = pr n s E'.
Proof. revert s E E'; induction n as [| n IH]; intros s E E' H; simpl; [now rewrite H |].
  apply eval_ext; intros; apply IH; intro; apply H. Qed.

Hypothesis C_ok : chain_ok C.

Lemma eval_row_le s f g : In s (states C) -> (forall t, In t (states C) -> f t <= g t) ->
  eval (row C s) f <= (eval (row C s) g : F).
Proof. intros Hs H. apply eval_le; intros t q I. destruct (C_ok Hs) as [K _]; destruct (K _ _ I).
  apply le_scale; [now apply ofQ_ge0 | now apply H]. Qed.

Lemma eval_row_ext s f g : In s (states C) -> (forall t, In t (states C) -> f t = g t) ->
  eval (row C s) f = (eval (row C s) g : F).
Proof. intros Hs H; apply le_antisym; apply eval_row_le; auto; intros t Ht; rewrite (H t Ht); apply le_refl. Qed.

Lemma eval_row_const s (x : F) : In s (states C) -> eval (row C s) (fun _ => x) = x.
Proof. intro Hs; rewrite eval_const. destruct (C_ok Hs) as [_ T].
  rewrite (ofQ_eq F T), ofQ_1; ring. Qed.

Lemma pr_bounds n s E : In s (states C) -> 0 <= pr n s E <= 1.
Proof. revert s E; induction n as [| n IH]; intros s E Hs; simpl.
  - destruct (E []); split; try apply le_refl; apply one_ge0.
  - split; [rewrite <- (eval_row_const 0 Hs) | rewrite <- (eval_row_const 1 Hs)];
      apply eval_row_le; auto; intros t Ht; now apply IH. Qed.

Lemma pr_complement n s E : In s (states C) -> pr n s (fun w => negb (E w)) = 1 - pr n s E.
Proof. revert s E; induction n as [| n IH]; intros s E Hs; simpl.
  - destruct (E []); simpl; ring.
  - rewrite (eval_row_ext Hs (g := fun t => 1 + ofQ (-(1)) * pr n t (fun w => E (label C s :: w)))).
    + rewrite eval_add, eval_mul, (eval_row_const 1 Hs), ofQ_opp, ofQ_1; ring.
    + intros t Ht; rewrite IH by assumption. rewrite ofQ_opp, ofQ_1; ring. Qed.

(** ** The two distances

    [admitted d f] is what the potentials of the lifting have to satisfy; [lift_le d c v] says that the lifting of
    [d] at the vector [c] is at most [v]. A table is a [prefixed] point of the operator of lbd or, with
    [both := true], of bd, which takes the larger of the two directions. bd and lbd are the least ones. *)
Variable alpha : Q.

Definition admitted (d : positive -> positive -> F) (f : positive -> F) :=
  (forall i, In i (states C) -> 0 <= f i <= 1) /\
  (forall i j, In i (states C) -> In j (states C) -> f i - ofQ alpha * f j <= d i j).

Definition lift_le (d : positive -> positive -> F) (c : list (positive * Q)) (v : F) :=
  forall f, admitted d f -> eval c f <= v.

(** The vector c_i = mu_s(i) - alpha mu_t(i). *)
Definition difference s t : list (positive * Q) := row C s ++ scale (- alpha) (row C t).

Lemma eval_difference s t f : eval (difference s t) f = eval (row C s) f - ofQ alpha * eval (row C t) f :> F.
Proof. unfold difference; rewrite eval_app, eval_scale, ofQ_opp; ring. Qed.

Definition prefixed (both : bool) (d : positive -> positive -> F) :=
  forall s t, In s (states C) -> In t (states C) ->
    0 <= d s t /\
    (label C s <> label C t -> 1 <= d s t) /\
    (label C s = label C t ->
       lift_le d (difference s t) (d s t) /\
       (both = true -> lift_le d (difference t s) (d s t))).

(** A least fixed point, if there is one (there is one over the reals): the distance itself. *)
Definition is_distance (both : bool) (b : positive -> positive -> F) :=
  prefixed both b /\
  forall d, prefixed both d -> forall s t, In s (states C) -> In t (states C) -> b s t <= d s t.

Lemma prefixed_weaker d : prefixed true d -> prefixed false d.
Proof. intros H s t Hs Ht; destruct (H s t Hs Ht) as (A & B & K); repeat split; auto.
  - now apply K.
  - discriminate. Qed.

(** Theorem 1 of docs/theory/upper-bounds.md. A table that is a pre-fixed point of lbd (or of bd) bounds what any
    event of finitely many labels gains: nu_s(E) <= alpha nu_t(E) + d(s, t). *)
Theorem prefixed_bounds_events d : (1 <= alpha)%Q -> prefixed false d ->
  forall n E s t, In s (states C) -> In t (states C) -> pr n s E <= ofQ alpha * pr n t E + d s t.
Proof.
  intros Ha Hd; assert (A1 : 1 <= (ofQ alpha : F)) by (rewrite <- ofQ_1; now apply ofQ_le).
  assert (A0 : 0 <= (ofQ alpha : F)) by (apply le_trans with 1; [apply one_ge0 | assumption]).
  induction n as [| n IH]; intros E s t Hs Ht; destruct (Hd s t Hs Ht) as (D0 & D1 & D2).
  - simpl; destruct (E []).
    + apply le_by with ((ofQ alpha - 1) + d s t); [ring |]. apply add_ge0; [now apply sub_ge0 | assumption].
    + apply le_by with (d s t); [ring | assumption].
  - destruct (Pos.eq_dec (label C s) (label C t)) as [L | L].
    + destruct (D2 L) as [K _]. apply le_by with (d s t - eval (difference s t) (fun i => pr n i (fun w => E (label C s :: w)))).
      * simpl; rewrite eval_difference. rewrite <- L. ring.
      * apply sub_ge0, K; split; [intros i Hi; now apply pr_bounds |].
        intros i j Hi Hj; apply le_by with (ofQ alpha * pr n j (fun w => E (label C s :: w)) + d i j
          - pr n i (fun w => E (label C s :: w))); [ring |]. apply sub_ge0; auto.
    + apply le_trans with 1; [now apply pr_bounds |].
      apply le_trans with (d s t); [auto |].
      apply le_by with (ofQ alpha * pr (Datatypes.S n) t E); [ring |]. apply le_mul; [assumption | now apply pr_bounds].
Qed.

(** A table of bd bounds both orders of a pair. *)
Theorem prefixed_bounds_both_orders d : (1 <= alpha)%Q -> prefixed true d ->
  forall n E s t, In s (states C) -> In t (states C) -> pr n t E <= ofQ alpha * pr n s E + d s t.
Proof.
  intros Ha Hd n E s t Hs Ht; destruct (Hd s t Hs Ht) as (D0 & D1 & D2).
  assert (A1 : 1 <= (ofQ alpha : F)) by (rewrite <- ofQ_1; now apply ofQ_le).
  assert (A0 : 0 <= (ofQ alpha : F)) by (apply le_trans with 1; [apply one_ge0 | assumption]).
  destruct n as [| n].
  - simpl; destruct (E []).
    + apply le_by with ((ofQ alpha - 1) + d s t); [ring |]. apply add_ge0; [now apply sub_ge0 | assumption].
    + apply le_by with (d s t); [ring | assumption].
  - destruct (Pos.eq_dec (label C s) (label C t)) as [L | L].
    + destruct (D2 L) as [_ K]. apply le_by with (d s t - eval (difference t s) (fun i => pr n i (fun w => E (label C s :: w)))).
      * simpl; rewrite eval_difference. rewrite <- L. ring.
      * apply sub_ge0, K; [reflexivity |]. split; [intros i Hi; now apply pr_bounds |].
        intros i j Hi Hj; apply le_by with (ofQ alpha * pr n j (fun w => E (label C s :: w)) + d i j
          - pr n i (fun w => E (label C s :: w))); [ring |].
        apply sub_ge0, (prefixed_bounds_events Ha); auto. now apply prefixed_weaker.
    + apply le_trans with 1; [now apply pr_bounds |]. apply le_trans with (d s t); [auto |].
      apply le_by with (ofQ alpha * pr (Datatypes.S n) s E); [ring |]. apply le_mul; [assumption | now apply pr_bounds].
Qed.

(** For all horizons at once: a number that bounds the gain of every event of finitely many labels bounds their
    supremum, which is delta in one direction (events of infinitely many labels are limits of these). *)
Definition is_supremum (gain : nat -> (list positive -> bool) -> F) (x : F) :=
  (forall n E, gain n E <= x) /\ (forall b, (forall n E, gain n E <= b) -> x <= b).

Definition gain s t n E : F := pr n s E - ofQ alpha * pr n t E.

Corollary prefixed_bounds_delta d s t x : (1 <= alpha)%Q -> prefixed false d -> In s (states C) -> In t (states C) ->
  is_supremum (gain s t) x -> x <= d s t.
Proof. intros Ha Hd Hs Ht [_ H]; apply H; intros n E; unfold gain.
  apply le_by with (ofQ alpha * pr n t E + d s t - pr n s E); [ring |].
  apply sub_ge0; now apply prefixed_bounds_events. Qed.

(** ** Couplings (weak duality, docs/theory/lifting.md)

    Moves (i, j, w) and given-up masses (i, eta), as in rules U2 to U4. [surplus] is the formal combination whose
    coefficient at i is the sum of w_ij - alpha w_ji + eta_i - c_i, which rule U3 asks not to be negative. *)
Definition carried (moves : list (positive * positive * Q)) (given_up : list (positive * Q)) : list (positive * Q) :=
  flat_map (fun m => [(fst (fst m), snd m); (snd (fst m), Qred (- alpha * snd m)%Q)]) moves ++ given_up.

Definition surplus moves given_up c := carried moves given_up ++ scale (- (1)) c.

Definition cost (D : positive -> positive -> Q) moves (given_up : list (positive * Q)) : Q :=
  Qred (fold_right (fun m x => Qred (snd m * D (fst (fst m)) (snd (fst m)) + x))%Q (total given_up) moves).

Lemma eval_moves moves f :
  (eval (flat_map (fun m : positive * positive * Q => [(fst (fst m), snd m); (snd (fst m), Qred (- alpha * snd m)%Q)]) moves) f : F)
  = fold_right (fun m x => ofQ (snd m) * (f (fst (fst m)) - ofQ alpha * f (snd (fst m))) + x) 0 moves.
Proof. induction moves as [| [[i j] w] l IH]; simpl; [reflexivity |].
  rewrite IH, (ofQ_eq F (Qred_correct _)), ofQ_mul, ofQ_opp; ring. Qed.

(** Weak duality: a coupling costs at least what any function gains that respects [D] along the moves. *)
Theorem weak_duality (D : positive -> positive -> Q) moves given_up c (f : positive -> F) :
  (forall m, In m moves -> (0 <= snd m)%Q /\
     f (fst (fst m)) - ofQ alpha * f (snd (fst m)) <= ofQ (D (fst (fst m)) (snd (fst m)))) ->
  (forall g, In g given_up -> (0 <= snd g)%Q /\ f (fst g) <= 1) ->
  0 <= eval (surplus moves given_up c) f ->
  eval c f <= ofQ (cost D moves given_up).
Proof.
  intros Hm Hg Hs. apply le_trans with (eval (carried moves given_up) f).
  { apply le_by with (eval (surplus moves given_up c) f); [| assumption].
    unfold surplus; rewrite eval_app, eval_scale, ofQ_opp, ofQ_1; ring. }
  clear Hs. unfold carried, cost; rewrite eval_app, eval_moves, (ofQ_eq F (Qred_correct _)).
  induction moves as [| [[i j] w] l IH]; simpl.
  - apply le_trans with (eval given_up (fun _ => 1)).
    + apply le_by with (eval given_up (fun _ => 1) - eval given_up f); [ring |]. apply sub_ge0, eval_le.
      intros s q I; destruct (Hg _ I); apply le_scale; [now apply ofQ_ge0 | assumption].
    + rewrite eval_const. apply le_by with (0 : F); [ring | apply le_refl].
  - destruct (Hm (i, j, w)) as [W K]; [now left |]; simpl in *.
    rewrite (ofQ_eq F (Qred_correct _)), ofQ_add, ofQ_mul.
    match goal with |- _ + ?r + ?e <= _ + ?x => apply le_by with
      (ofQ w * (ofQ (D i j) - (f i - ofQ alpha * f j)) + (x - (r + e))) end; [ring |].
    apply add_ge0; [apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0] |].
    apply sub_ge0, IH; intros; apply Hm; now right.
Qed.

End Chain.

Arguments pr {_}.
Arguments prefixed {_}.
Arguments is_distance {_}.
Arguments admitted {_}.
Arguments lift_le {_}.
