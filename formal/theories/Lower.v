(** * Lower tables of bd and lbd

    Rules L1 to L7 of docs/certificate-spec.md imply that the table is at most every pre-fixed point, hence at most
    the distance (Theorems 2 and 3 of docs/theory/certificates.md, and their versions for lbd). *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain Leastness.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Prefixed.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable alpha : Q.
Hypothesis alpha_ge1 : (1 <= alpha)%Q.
Let a : F := ofQ alpha.

Lemma a_ge1 : 1 <= a.
Proof. unfold a; rewrite <- ofQ_1; now apply ofQ_le. Qed.

Lemma a_ge0 : 0 <= a.
Proof. apply le_trans with 1; [apply one_ge0 | apply a_ge1]. Qed.

Lemma difference_le1 s t f : In s (states C) -> In t (states C) -> (forall i, In i (states C) -> 0 <= f i <= 1) ->
  eval (difference C alpha s t) f <= (1 : F).
Proof. intros Hs Ht Hf. rewrite eval_difference.
  assert (X : eval (row C s) f <= 1)
    by (rewrite <- (eval_row_const C_ok 1 Hs); apply eval_row_le; auto; now apply Hf).
  assert (Y : 0 <= eval (row C t) f)
    by (rewrite <- (eval_row_const C_ok 0 Ht); apply eval_row_le; auto; now apply Hf).
  apply le_by with ((1 - eval (row C s) f) + a * eval (row C t) f); [unfold a; ring |].
  apply add_ge0; [now apply sub_ge0 | apply le_mul; [apply a_ge0 | assumption]]. Qed.

(** Where labels differ, the lifting is at most 1 too. *)
Lemma lift_any both u s t : prefixed C alpha both u -> In s (states C) -> In t (states C) ->
  lift_le C alpha u (difference C alpha s t) (u s t : F) /\
  (both = true -> lift_le C alpha u (difference C alpha t s) (u s t)).
Proof. intros H Hs Ht; destruct (H s t Hs Ht) as (_ & D & E).
  destruct (Pos.eq_dec (label C s) (label C t)) as [L | L]; [now apply E |].
  split; [| intros _]; intros f [Hf _]; (apply le_trans with 1; [apply difference_le1 |]); auto. Qed.

(** ** Classes (Lemma 1 of docs/theory/certificates.md) *)
Definition apart (k : positive -> positive) (u : positive -> positive -> F) :=
  forall s t, In s (states C) -> In t (states C) -> k s <> k t -> 1 <= u s t.

Lemma labels_apart both u : prefixed C alpha both u -> apart (label C) u.
Proof. intros H s t Hs Ht N; destruct (H s t Hs Ht) as (_ & D & _); auto. Qed.

(** States that no class joins, since none holds a successor of both, are apart if the classes are. *)
Theorem refined_apart both u k k' : prefixed C alpha both u -> apart k u ->
  (forall s t, In s (states C) -> In t (states C) -> k s = k t -> k' s <> k' t ->
     forall i p j q, In (i, p) (row C s) -> In (j, q) (row C t) -> k i <> k j) ->
  apart k' u.
Proof.
  intros H A R s t Hs Ht N. destruct (Pos.eq_dec (k s) (k t)) as [E | E]; [| now apply A].
  destruct (lift_any H Hs Ht) as [K _].
  set (f := fun i => if existsb (fun e => Pos.eqb (k (fst e)) (k i)) (row C s) then 1 else 0 : F).
  assert (Fb : forall i, 0 <= f i <= 1).
  { intro i; unfold f; destruct (existsb _ _); split; try apply le_refl; apply one_ge0. }
  assert (V : eval (difference C alpha s t) f = 1).
  { rewrite eval_difference.
    rewrite (eval_ext (l := row C s) (g := fun _ => 1)), (eval_row_const C_ok 1 Hs),
      (eval_ext (l := row C t) (g := fun _ => 0)), (eval_row_const C_ok 0 Ht); [ring | |].
    - intros j q I; unfold f. destruct (existsb _ _) eqn:X; [| reflexivity].
      apply existsb_exists in X; destruct X as ([i p] & J & X); apply Pos.eqb_eq in X.
      exfalso; now apply (R s t Hs Ht E N i p j q).
    - intros i q I; unfold f. destruct (existsb _ _) eqn:X; [reflexivity |].
      exfalso; rewrite <- not_true_iff_false in X; apply X, existsb_exists.
      exists (i, q); split; [assumption | apply Pos.eqb_refl]. }
  rewrite <- V; apply K; split; [auto |]. intros i j Hi Hj.
  destruct (Pos.eq_dec (k i) (k j)) as [Z | Z].
  - assert (X : f i = f j) by (unfold f; now rewrite Z). rewrite X.
    destruct (H i j Hi Hj) as [U _]. apply le_trans with 0; [| assumption].
    apply le_by with ((a - 1) * f j); [unfold a; ring |].
    apply le_mul; [apply sub_ge0, a_ge1 | apply Fb].
  - apply le_trans with 1; [| now apply A].
    apply le_by with ((1 - f i) + a * f j); [unfold a; ring |].
    apply add_ge0; [apply sub_ge0, Fb | apply le_mul; [apply a_ge0 | apply Fb]].
Qed.
End Prefixed.

(** ** alpha = 1: below a pre-fixed point there is one that is a quasi-metric *)
Section Metric.
Variable F : OrderedField.
Add Field F_field2 : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable alpha : Q.
Hypothesis alpha_1 : (alpha == 1)%Q.
Variable both : bool.
Implicit Types u : positive -> positive -> F.

Let a1 : ofQ alpha = (1 : F).
Proof. rewrite (ofQ_eq F alpha_1); apply ofQ_1. Qed.

Let alpha_ge1 : (1 <= alpha)%Q.
Proof. rewrite alpha_1; apply Qle_refl. Qed.

Definition no_diagonal u i j : F := if Pos.eq_dec i j then 0 else u i j.
Definition through u k i j : F := min (u i j) (u i k + u k j).

Lemma admitted_mono u v f : (forall i j, In i (states C) -> In j (states C) -> u i j <= v i j) ->
  admitted C alpha u f -> admitted C alpha v f.
Proof. intros H [A B]; split; auto. intros i j Hi Hj; apply le_trans with (u i j); auto. Qed.

Lemma no_diagonal_le u i j : 0 <= u i j -> no_diagonal u i j <= u i j.
Proof. intro H; unfold no_diagonal; destruct (Pos.eq_dec i j); [assumption | apply le_refl]. Qed.

Lemma no_diagonal_prefixed u : prefixed C alpha both u -> prefixed C alpha both (no_diagonal u).
Proof.
  intros H s t Hs Ht; destruct (H s t Hs Ht) as (U & D & E).
  assert (M : forall f, admitted C alpha (no_diagonal u) f -> admitted C alpha u f).
  { intros f; apply admitted_mono; intros i j Hi Hj; apply no_diagonal_le; now apply (H i j). }
  unfold no_diagonal at 1 2 4 6; destruct (Pos.eq_dec s t) as [X | X].
  - rewrite X; split; [apply le_refl | split; [congruence | intros _]].
    assert (Z : forall f, eval (difference C alpha t t) f <= (0 : F))
      by (intro f; rewrite eval_difference, a1; apply le_by with (0 : F); [ring | apply le_refl]).
    split; [| intros _]; intros f _; apply Z.
  - split; [assumption | split; [assumption |]]. intro S; destruct (E S) as [E1 E2].
    split; [intros f Hf | intros B f Hf]; [apply E1 | apply E2]; auto.
Qed.

Lemma through_prefixed u k : In k (states C) -> prefixed C alpha both u -> prefixed C alpha both (through u k).
Proof.
  intros Hk H.
  assert (U : forall i j, In i (states C) -> In j (states C) -> 0 <= u i j) by (intros i j Hi Hj; now apply (H i j)).
  assert (Ad : forall f, admitted C alpha (through u k) f -> admitted C alpha u f)
    by (intro f; apply admitted_mono; intros; apply min_l).
  intros s t Hs Ht; split; [| split].
  - apply min_glb; [auto | apply add_ge0; auto].
  - intro N; apply min_glb; [now apply (H s t) |].
    destruct (Pos.eq_dec (label C s) (label C k)) as [E | E].
    + apply le_by with (u s k + (u k t - 1)); [ring |]. apply add_ge0; [auto |].
      apply sub_ge0. apply (H k t); congruence.
    + apply le_by with ((u s k - 1) + u k t); [ring |]. apply add_ge0; [| auto].
      apply sub_ge0. apply (H s k); congruence.
  - intros _; split; [| intro B]; intros f Hf; apply Ad in Hf; apply min_glb.
    + now apply (lift_any C_ok alpha_ge1 H Hs Ht).
    + apply le_trans with (eval (difference C alpha s k) f + eval (difference C alpha k t) f).
      * rewrite !eval_difference, a1. apply le_by with (0 : F); [ring | apply le_refl].
      * apply le_add2; [now apply (lift_any C_ok alpha_ge1 H Hs Hk) | now apply (lift_any C_ok alpha_ge1 H Hk Ht)].
    + now apply (lift_any C_ok alpha_ge1 H Hs Ht).
    + apply le_trans with (eval (difference C alpha k s) f + eval (difference C alpha t k) f).
      * rewrite !eval_difference, a1. apply le_by with (0 : F); [ring | apply le_refl].
      * apply le_add2; [now apply (lift_any C_ok alpha_ge1 H Hs Hk) | now apply (lift_any C_ok alpha_ge1 H Hk Ht)].
Qed.

Definition quasi_metric_at u k := forall i j, In i (states C) -> In j (states C) -> u i j <= u i k + u k j.

Lemma through_keeps u k l : In k (states C) -> In l (states C) ->
  (forall i j, In i (states C) -> In j (states C) -> 0 <= u i j) ->
  quasi_metric_at u l -> quasi_metric_at (through u k) l.
Proof.
  intros Hk Hl U Q i j Hi Hj. unfold through at 2 3.
  unfold min; destruct (le_dec (u i l) (u i k + u k l)), (le_dec (u l j) (u l k + u k j)).
  - apply le_trans with (u i j); [apply min_l | now apply Q].
  - apply le_trans with (1 := min_r _ _).
    apply le_by with (u i l + u l k - u i k); [ring | apply sub_ge0; now apply Q].
  - apply le_trans with (1 := min_r _ _).
    apply le_by with (u k l + u l j - u k j); [ring | apply sub_ge0; now apply Q].
  - apply le_trans with (1 := min_r _ _). apply le_by with (u k l + u l k); [ring | apply add_ge0; auto].
Qed.

Lemma through_makes u k : In k (states C) ->
  (forall i j, In i (states C) -> In j (states C) -> 0 <= u i j) -> quasi_metric_at (through u k) k.
Proof.
  intros Hk U i j Hi Hj. apply le_trans with (1 := min_r _ _). apply le_add2; apply min_glb; try apply le_refl.
  - apply le_by with (u k k); [ring | auto].
  - apply le_by with (u k k); [ring | auto].
Qed.

Theorem metric_below u : prefixed C alpha both u -> exists v, prefixed C alpha both v /\
  (forall i j, In i (states C) -> In j (states C) -> v i j <= u i j) /\
  (forall i, In i (states C) -> v i i = 0) /\
  (forall k, In k (states C) -> quasi_metric_at v k).
Proof.
  intro H.
  assert (K : forall ks, (forall k, In k ks -> In k (states C)) -> exists v, prefixed C alpha both v /\
    (forall i j, In i (states C) -> In j (states C) -> v i j <= u i j) /\
    (forall i, In i (states C) -> v i i = 0) /\ (forall k, In k ks -> quasi_metric_at v k)).
  { induction ks as [| k ks IH]; intro S.
    - exists (no_diagonal u); repeat split.
      + now apply no_diagonal_prefixed.
      + now apply no_diagonal_prefixed.
      + now apply no_diagonal_prefixed.
      + now apply no_diagonal_prefixed.
      + intros; apply no_diagonal_le; now apply (H i j).
      + intros; unfold no_diagonal; destruct (Pos.eq_dec i i); congruence.
      + easy.
    - destruct IH as (v & P & L & D & T); [intros; apply S; now right |].
      assert (Hk : In k (states C)) by (apply S; now left).
      assert (U : forall i j, In i (states C) -> In j (states C) -> 0 <= v i j) by (intros i j Hi Hj; now apply (P i j)).
      exists (through v k); split; [now apply through_prefixed | split; [| split]].
      + intros i j Hi Hj; apply le_trans with (1 := min_l _ _); auto.
      + intros i Hi; apply le_antisym.
        * rewrite <- (D i Hi); apply min_l.
        * apply min_glb; [rewrite D; auto; apply le_refl | apply add_ge0; auto].
      + intros l [<- | I]; [now apply through_makes | apply through_keeps; auto]. apply S; now right. }
  apply (K (states C)); auto.
Qed.

(** For a quasi-metric only the constraints from sources to sinks count. *)
Definition minimum (x : F) (l : list F) := fold_right (fun y z => min y z) x l.

Lemma minimum_le_start x l : minimum x l <= x.
Proof. induction l as [| y l IH]; simpl; [apply le_refl | apply le_trans with (1 := min_r _ _); assumption]. Qed.

Lemma minimum_le x l y : In y l -> minimum x l <= y.
Proof. induction l as [| z l IH]; simpl; [easy |]. intros [<- | I]; [apply min_l |].
  apply le_trans with (1 := min_r _ _); auto. Qed.

Lemma minimum_glb x l z : z <= x -> (forall y, In y l -> z <= y) -> z <= minimum x l.
Proof. induction l as [| y l IH]; simpl; intros Hx H; [assumption |]. apply min_glb; auto. Qed.

Lemma reduced u c v : (forall k, In k (states C) -> quasi_metric_at u k) -> (forall i, In i (states C) -> u i i = 0) ->
  (forall i j, In i (states C) -> In j (states C) -> 0 <= u i j) ->
  (forall i q, In (i, q) c -> In i (states C)) -> lift_le C alpha u c v ->
  forall g : positive -> F, (forall i, In i (states C) -> 0 <= g i <= 1) ->
  (forall i p j q, In (i, p) c -> (0 < p)%Q -> In (j, q) c -> (q < 0)%Q -> g i - g j <= u i j) ->
  eval c g <= v.
Proof.
  intros T D U S H g Hg G.
  set (sinks := filter (fun e : positive * Q => negb (Qle_bool 0 (snd e))) c).
  assert (Sinks : forall j q, In (j, q) sinks <-> In (j, q) c /\ (q < 0)%Q).
  { intros j q; unfold sinks; rewrite filter_In; simpl. rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff.
    split; intros [A B]; split; auto; [now apply Qnot_le_lt | now apply Qlt_not_le]. }
  set (h := fun i => minimum 1 (map (fun e : positive * Q => g (fst e) + u i (fst e)) sinks)).
  apply le_trans with (eval c h).
  - apply eval_le; intros i q I. destruct (Q_dec q 0) as [[N | P] | Z].
    + apply le_by with (ofQ (- q) * (g i - h i)); [rewrite ofQ_opp; ring |].
      apply le_mul; [apply ofQ_ge0; rewrite <- (Qopp_involutive 0); apply Qopp_le_compat; simpl; now apply Qlt_le_weak |].
      apply sub_ge0. apply minimum_le, in_map_iff. exists (i, q); split; [| now apply Sinks].
      simpl; rewrite (D i); [ring | now apply (S i q)].
    + apply le_scale; [apply ofQ_ge0; now apply Qlt_le_weak |].
      apply minimum_glb; [apply Hg; now apply (S i q) |].
      intros y J; apply in_map_iff in J; destruct J as ([j p] & <- & J); apply Sinks in J; destruct J as [J N]; simpl.
      apply le_by with (u i j - (g i - g j)); [ring |]. apply sub_ge0. now apply (G i q j p).
    + rewrite (ofQ_eq F Z), ofQ_0. apply le_by with (0 : F); [ring | apply le_refl].
  - apply H; split; [intros i Hi; split | intros i j Hi Hj; rewrite a1].
    + apply minimum_glb; [apply one_ge0 |]. intros y J; apply in_map_iff in J; destruct J as ([j p] & <- & J).
      apply Sinks in J; destruct J as [J _]; simpl. apply add_ge0; [apply Hg | apply U]; auto; now apply (S j p).
    + apply minimum_le_start.
    + apply le_by with (u i j + h j - h i); [ring |]. apply sub_ge0.
      apply le_by with (h j - (h i - u i j)); [ring |]. apply sub_ge0. apply minimum_glb.
      * apply le_by with ((1 - h i) + u i j); [ring |]. apply add_ge0; [apply sub_ge0, minimum_le_start | auto].
      * intros y J; apply in_map_iff in J; destruct J as ([l p] & <- & J); simpl.
        assert (Hl : In l (states C)) by (apply Sinks in J; destruct J as [J _]; now apply (S l p)).
        apply le_by with ((u i j + u j l - u i l) + (g l + u i l - h i)); [ring |].
        apply add_ge0; apply sub_ge0; [now apply T |].
        apply minimum_le, in_map_iff; now exists (l, p).
Qed.
End Metric.
