(** * The accumulative and the amortised bisimulation metric (docs/theory/metric.md)

    A relation of triples (s, t, c) bounds the probabilities of all traces under every admissible scheduler. As in the note,
    answers carry the tags of their challenges, and a scheduler decides by the tags that it has seen. *)

From Coq Require Import ZArith QArith List Bool Permutation Field Lia.
From Bisimdist Require Import OrderedField Combination.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** By state and tag a transition, if there is one: its action, and where it leads. *)
Definition automaton := positive -> positive -> option (positive * list (positive * Q)).

(** After the tags that were seen, how probable each next tag is; what is missing to 1 is the probability to stop. *)
Definition scheduler := list positive -> list (positive * Q).
Definition scheduler_ok (xi : scheduler) := forall h g q, In (g, q) (xi h) -> (0 <= q)%Q.

Definition automaton_ok (A : automaton) := forall s g a mu, A s g = Some (a, mu) -> forall t q, In (t, q) mu -> (0 <= q)%Q.

(** A successor of the challenge with its probability, matched with one of the answer. *)
Definition matches := list ((positive * Q) * (positive * Q)).

(** A bijection of the successors of two transitions; all probabilities are positive. *)
Definition bijection (l : matches) (mu mu' : list (positive * Q)) :=
  Permutation (map fst l) mu /\ Permutation (map snd l) mu' /\
  forall u p u' p', In ((u, p), (u', p')) l -> (0 < p)%Q /\ (0 < p')%Q.

(** Transitions with one tag have one action, and a bijection of their successors with a property. *)
Definition answered (A : automaton) (s t : positive) (good : matches -> Prop) := forall g,
  match A s g, A t g with
  | Some (a, mu), Some (a', mu') => a = a' /\ exists l, bijection l mu mu' /\ good l
  | None, None => True
  | _, _ => False
  end.

Section Metric.
Variable A : automaton.
Variable R : positive -> positive -> Q -> Prop.
Variable V : Q.

(** The two kinds of relations of XCL14. *)
Definition amortised := forall s t c, R s t c -> (0 < c)%Q /\ (1 <= V * c)%Q /\ (c <= V)%Q /\
  answered A s t (fun l => forall u p u' p', In ((u, p), (u', p')) l -> exists c', R u u' c' /\ (c' * p' == c * p)%Q).

Definition accumulative := forall s t c, R s t c -> (1 <= c)%Q /\ (c <= V)%Q /\
  answered A s t (fun l => exists sigma, forall u p u' p', In ((u, p), (u', p')) l ->
    (p <= sigma * p')%Q /\ (p' <= sigma * p)%Q /\ R u u' (c * sigma)%Q).

Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable xi : scheduler.
Hypothesis xi_ok : scheduler_ok xi.
Hypothesis A_ok : automaton_ok A.

(** The probability to perform the trace w from s, after the tags h. *)
Fixpoint performs (w : list positive) (h : list positive) (s : positive) : F :=
  match w with
  | [] => 1
  | a :: w' => eval (xi h) (fun g =>
      match A s g with
      | Some (b, mu) => if Pos.eqb a b then eval mu (performs w' (h ++ [g])) else 0
      | None => 0
      end)
  end.

Lemma performs_ge0 w : forall h s, 0 <= performs w h s.
Proof. induction w as [| a w IH]; intros h s; simpl; [apply one_ge0 |].
  apply eval_ge0; [apply xi_ok |]. intros g q _. destruct (A s g) as [[b mu] |] eqn:E; [| apply le_refl].
  destruct (Pos.eqb a b); [| apply le_refl]. apply eval_ge0; [now apply (A_ok E) | intros; apply IH]. Qed.

Lemma eval_fst (l : matches) f : eval (map fst l) f = fold_right (fun e x => ofQ (snd (fst e)) * f (fst (fst e)) + x) 0 l :> F.
Proof. induction l as [| [[u p] [u' p']] l IH]; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma eval_snd (l : matches) f : eval (map snd l) f = fold_right (fun e x => ofQ (snd (snd e)) * f (fst (snd e)) + x) 0 l :> F.
Proof. induction l as [| [[u p] [u' p']] l IH]; simpl; [reflexivity | now rewrite IH]. Qed.

(** What holds match by match holds for two transitions: x times the one sum is at most y times the other. *)
Lemma match_by_match (l : matches) mu mu' (f g : positive -> F) (x y : F) : bijection l mu mu' ->
  (forall u p u' p', In ((u, p), (u', p')) l -> x * (ofQ p * f u) <= y * (ofQ p' * g u')) ->
  x * eval mu f <= y * eval mu' g.
Proof.
  intros (P1 & P2 & _) K. rewrite <- (eval_permutation f P1), <- (eval_permutation g P2), eval_fst, eval_snd. clear P1 P2.
  induction l as [| [[u p] [u' p']] l IH]; simpl.
  - apply le_by with (0 : F); [ring | apply le_refl].
  - assert (IHl := IH (fun a b c d I => K a b c d (or_intror I))). specialize (K u p u' p' (or_introl eq_refl)).
    match type of IHl with x * ?r <= y * ?r' =>
      apply le_by with ((y * (ofQ p' * g u') - x * (ofQ p * f u)) + (y * r' - x * r)) end; [ring |].
    apply add_ge0; now apply sub_ge0. Qed.

Lemma flipped (l : matches) mu mu' : bijection l mu mu' -> bijection (map (fun e => (snd e, fst e)) l) mu' mu.
Proof. intros (P1 & P2 & P3); split; [| split].
  - now rewrite map_map.
  - now rewrite map_map.
  - intros u p u' p' I; apply in_map_iff in I; destruct I as ([[v q] [v' q']] & E & I); injection E as <- <- <- <-.
    destruct (P3 v q v' q' I); auto. Qed.

(** One step of the induction over traces: if all matched successors satisfy the bound, so do the states. *)
Lemma one_step s t (good : matches -> Prop) w h (x y : F) :
  answered A s t good ->
  (forall h' l mu mu', bijection l mu mu' -> good l -> x * eval mu (performs w h') <= y * eval mu' (performs w h')) ->
  forall a, x * performs (a :: w) h s <= y * performs (a :: w) h t.
Proof.
  intros Ans K a; simpl. rewrite <- !eval_mul. apply eval_le; intros g q I.
  apply le_scale; [apply ofQ_ge0; now apply (xi_ok I) |].
  specialize (Ans g). destruct (A s g) as [[b mu] |], (A t g) as [[b' mu'] |]; try easy.
  - destruct Ans as [<- (l & B & G)]. destruct (Pos.eqb a b); [now apply (K _ l) |].
    apply le_by with (0 : F); [ring | apply le_refl].
  - apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma answered_flipped s t good : answered A s t good -> answered A t s (fun l => good (map (fun e => (snd e, fst e)) l)).
Proof. intros Ans g; specialize (Ans g). destruct (A s g) as [[b mu] |], (A t g) as [[b' mu'] |]; try easy.
  destruct Ans as [-> (l & B & G)]; split; [reflexivity |]. exists (map (fun e => (snd e, fst e)) l); split; [now apply flipped |].
  rewrite map_map. replace (map _ l) with l; [assumption |].
  clear; induction l as [| [[u p] [u' p']] l IH]; simpl; [reflexivity | f_equal; exact IH]. Qed.

(** Theorem (XCL14), amortised: c Pr(s, w) <= V Pr(t, w), and Pr(t, w) <= V c Pr(s, w). *)
Theorem amortised_bounds_traces : (0 <= V)%Q -> amortised -> forall w h s t c, R s t c ->
  ofQ c * performs w h s <= ofQ V * performs w h t /\ performs w h t <= ofQ (V * c) * performs w h s.
Proof.
  intros V0 Am w; induction w as [| a w IH]; intros h s t c Rc; destruct (Am s t c Rc) as (C0 & C1 & C2 & Ans).
  - simpl; split.
    + apply le_by with (ofQ V - ofQ c : F); [ring | apply sub_ge0; now apply ofQ_le].
    + apply le_by with (ofQ (V * c) - ofQ 1 : F); [rewrite ofQ_1; ring | apply sub_ge0; now apply ofQ_le].
  - split.
    + apply one_step with (good := fun l => forall u p u' p', In ((u, p), (u', p')) l -> exists c', R u u' c' /\ (c' * p' == c * p)%Q); [exact Ans |].
      intros h' l mu mu' B G. apply (match_by_match B). intros u p u' p' I.
      destruct (G u p u' p' I) as (c' & Rc' & E). destruct (IH h' u u' c' Rc') as [K _].
      destruct B as (_ & _ & P); destruct (P u p u' p' I) as [_ P'].
      apply (ofQ_eq F) in E; rewrite !ofQ_mul in E.
      apply le_by with (ofQ p' * (ofQ V * performs w h' u' - ofQ c' * performs w h' u)).
      * replace (ofQ c * (ofQ p * performs w h' u)) with (ofQ c * ofQ p * performs w h' u) by ring. rewrite <- E; ring.
      * apply le_mul; [apply ofQ_ge0; now apply Qlt_le_weak | now apply sub_ge0].
    + assert (G1 : 1 * performs (a :: w) h t <= ofQ (V * c) * performs (a :: w) h s).
      { apply answered_flipped in Ans. apply one_step with (1 := Ans).
        intros h' l mu mu' B G. apply (match_by_match B). intros u p u' p' I.
        destruct (G u' p' u p) as (c' & Rc' & E); [apply in_map_iff; now exists ((u, p), (u', p')) |].
        destruct (IH h' u' u c' Rc') as [_ K]. destruct B as (_ & _ & P); destruct (P u p u' p' I) as [P' _].
        apply (ofQ_eq F) in E; rewrite !ofQ_mul in E. rewrite ofQ_mul in *.
        apply le_by with (ofQ p * (ofQ V * ofQ c' * performs w h' u' - performs w h' u)).
        - replace (ofQ V * ofQ c * (ofQ p' * performs w h' u')) with (ofQ V * (ofQ c * ofQ p') * performs w h' u') by ring.
          rewrite <- E; ring.
        - apply le_mul; [apply ofQ_ge0; now apply Qlt_le_weak | now apply sub_ge0]. }
      eapply le_trans; [| exact G1]. apply le_by with (0 : F); [ring | apply le_refl].
Qed.

(** Theorem (XCL14), accumulative: c Pr(s, w) <= V Pr(t, w), and the other way round. *)
Theorem accumulative_bounds_traces : accumulative -> forall w h s t c, R s t c ->
  ofQ c * performs w h s <= ofQ V * performs w h t /\ ofQ c * performs w h t <= ofQ V * performs w h s.
Proof.
  intros Ac w; induction w as [| a w IH]; intros h s t c Rc; destruct (Ac s t c Rc) as (C1 & C2 & Ans).
  - simpl; split; (apply le_by with (ofQ V - ofQ c : F); [ring | apply sub_ge0; now apply ofQ_le]).
  - assert (Half : forall s t good, answered A s t good ->
      (forall l, good l -> exists sigma, forall u p u' p', In ((u, p), (u', p')) l -> (p <= sigma * p')%Q /\
         forall h', ofQ c * ofQ sigma * performs w h' u <= ofQ V * performs w h' u') ->
      ofQ c * performs (a :: w) h s <= ofQ V * performs (a :: w) h t).
    { clear s t Rc Ans. intros s t good Ans Good. apply one_step with (1 := Ans).
      intros h' l mu mu' B G. apply (match_by_match B). intros u p u' p' I.
      destruct (Good l G) as [sigma K]. destruct (K u p u' p' I) as [P1 K']. specialize (K' h').
      destruct B as (_ & _ & P); destruct (P u p u' p' I) as [_ P'].
      apply (ofQ_le F) in P1; rewrite ofQ_mul in P1.
      apply le_by with (ofQ p' * (ofQ V * performs w h' u' - ofQ c * ofQ sigma * performs w h' u)
        + ofQ c * performs w h' u * (ofQ sigma * ofQ p' - ofQ p)); [ring |].
      apply add_ge0; apply le_mul; try (now apply sub_ge0).
      - apply ofQ_ge0; now apply Qlt_le_weak.
      - apply le_mul; [apply ofQ_ge0; apply Qle_trans with 1%Q; [easy | assumption] | apply performs_ge0]. }
    split.
    + apply (Half s t _ Ans). intros l [sigma G]; exists sigma; intros u p u' p' I.
      destruct (G u p u' p' I) as (P1 & _ & Rc'). split; [assumption |]. intro h'.
      destruct (IH h' u u' (c * sigma)%Q Rc') as [K _]. now rewrite ofQ_mul in K.
    + apply answered_flipped in Ans. apply (Half t s _ Ans). intros l [sigma G]; exists sigma; intros u p u' p' I.
      destruct (G u' p' u p) as (_ & P2 & Rc'); [apply in_map_iff; now exists ((u, p), (u', p')) |].
      split; [assumption |]. intro h'. destruct (IH h' u' u (c * sigma)%Q Rc') as [_ K]. now rewrite ofQ_mul in K.
Qed.
End Metric.

(** A table with sigma U(u, u') <= U(s, t) for an answer to every challenge (rule M7) is such a relation. *)
Definition table_ok (A : automaton) (U : positive -> positive -> option Q) := forall s t x, U s t = Some x -> (1 <= x)%Q /\
  answered A s t (fun l => exists sigma, (1 <= sigma)%Q /\ forall u p u' p', In ((u, p), (u', p')) l ->
    (p <= sigma * p')%Q /\ (p' <= sigma * p)%Q /\ exists y, U u u' = Some y /\ (sigma * y <= x)%Q).

Lemma answered_weaker A s t (good good' : matches -> Prop) : (forall l, good l -> good' l) -> answered A s t good -> answered A s t good'.
Proof. intros W Ans g; specialize (Ans g). destruct (A s g) as [[b mu] |], (A t g) as [[b' mu'] |]; try easy.
  destruct Ans as [E (l & B & G)]; split; [assumption |]. exists l; auto. Qed.

Lemma table_is_accumulative A U V : table_ok A U ->
  accumulative A (fun s t c => (1 <= c)%Q /\ exists x, U s t = Some x /\ (c * x <= V)%Q) V.
Proof.
  intros Ok s t c (C1 & x & E & Le). destruct (Ok s t x E) as [X1 Ans].
  assert (C0 : (0 <= c)%Q) by (apply Qle_trans with 1%Q; [easy | assumption]).
  split; [assumption | split].
  - apply Qle_trans with (c * x)%Q; [| assumption]. rewrite <- (Qmult_1_r c) at 1. rewrite !(Qmult_comm c).
    apply Qmult_le_compat_r; assumption.
  - revert Ans; apply answered_weaker. intros l (sigma & S1 & G). exists sigma; intros u p u' p' I.
    destruct (G u p u' p' I) as (P1 & P2 & y & Ey & Ly). split; [assumption | split; [assumption | split]].
    + apply Qle_trans with c; [assumption |]. rewrite <- (Qmult_1_r c) at 1. rewrite !(Qmult_comm c).
      apply Qmult_le_compat_r; assumption.
    + exists y; split; [assumption |]. apply Qle_trans with (c * x)%Q; [| assumption].
      rewrite <- Qmult_assoc, !(Qmult_comm c). now apply Qmult_le_compat_r. Qed.

(** Theorem. The table bounds the quotient of the probabilities of every trace, in both directions. *)
Theorem table_bounds_traces (F : OrderedField) A U xi : table_ok A U -> scheduler_ok xi -> automaton_ok A ->
  forall s t x, U s t = Some x -> forall w h,
  le (performs A F xi w h s) (mul (ofQ x) (performs A F xi w h t)) /\
  le (performs A F xi w h t) (mul (ofQ x) (performs A F xi w h s)).
Proof.
  intros Ok Xi Aok s t x E w h.
  pose proof (@accumulative_bounds_traces A _ x F xi Xi Aok (table_is_accumulative (V := x) Ok) w h s t 1%Q) as K.
  destruct K as [K1 K2].
  - split; [apply Qle_refl |]. exists x; split; [assumption |]. rewrite Qmult_1_l; apply Qle_refl.
  - rewrite ofQ_1 in K1, K2. pose proof (F_R (field_ok F)) as Rt.
    rewrite (Rmul_1_l Rt) in K1, K2. split; assumption.
Qed.
