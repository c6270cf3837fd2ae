(** * Merging states that are alike keeps bd and lbd at alpha = 1 (rule Q3)

    From above: a pre-fixed table of the merged chain is one of the chain. From below, for every alpha: a pre-fixed table of
    the chain gives one of the merged chain, its least entries. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain Merging.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Merging.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variables (C M : chain) (rep : positive -> positive) (alpha : Q) (both : bool).
Hypothesis C_ok : chain_ok C.
Hypothesis M_ok : chain_ok M.
Hypothesis alike : merged C M rep.
Hypothesis themselves : forall m, In m (states M) -> In m (states C) /\ rep m = m.

Lemma merged_row s (f : positive -> F) : In s (states C) -> eval (row C s) (fun t => f (rep t)) = eval (row M (rep s)) f.
Proof. intro Hs. destruct (alike Hs) as (_ & _ & Z). apply all_zero_ok with (f := f) in Z.
  rewrite eval_app, eval_push, eval_scale, ofQ_opp, ofQ_1 in Z. now apply no_difference in Z. Qed.

Lemma merged_difference s t (f : positive -> F) : In s (states C) -> In t (states C) ->
  eval (difference C alpha s t) (fun i => f (rep i)) = eval (difference M alpha (rep s) (rep t)) f.
Proof. intros Hs Ht. rewrite !eval_difference. now rewrite !merged_row. Qed.

(** ** From above *)
Section Above.
Variable D : positive -> positive -> F.
Hypothesis alpha_1 : (alpha == 1)%Q.
Hypothesis D_ok : prefixed M alpha both D.

Let zeroed (m m' : positive) : F := if Pos.eqb m m' then 0 else D m m'.
Definition pulled (s t : positive) : F := zeroed (rep s) (rep t).

Lemma zeroed_le m m' : In m (states M) -> In m' (states M) -> zeroed m m' <= D m m'.
Proof. intros Hm Hm'. unfold zeroed. destruct (Pos.eqb m m'); [now apply (D_ok Hm Hm') | apply le_refl]. Qed.

Lemma a1 : ofQ alpha = (1 : F).
Proof. now rewrite (ofQ_eq F alpha_1), ofQ_1. Qed.

(** A potential that respects the pulled table has one value on all states that are merged. *)
Lemma pulled_lift s t v : In s (states C) -> In t (states C) ->
  lift_le M alpha D (difference M alpha (rep s) (rep t)) v ->
  lift_le C alpha pulled (difference C alpha s t) (if Pos.eqb (rep s) (rep t) then 0 else v).
Proof.
  intros Hs Ht L f [Fb Fl].
  assert (Same : forall i j, In i (states C) -> In j (states C) -> rep i = rep j -> f i = f j).
  { intros i j Hi Hj E. pose proof (Fl i j Hi Hj) as A. pose proof (Fl j i Hj Hi) as B.
    unfold pulled, zeroed in A, B. rewrite E, Pos.eqb_refl, a1 in *. apply le_antisym.
    - apply le_by with (0 - (f i - 1 * f j)); [ring | now apply sub_ge0].
    - apply le_by with (0 - (f j - 1 * f i)); [ring | now apply sub_ge0]. }
  assert (G : forall i, In i (states C) -> f (rep i) = f i).
  { intros i Hi. destruct (alike Hi) as (Hr & _). destruct (themselves Hr) as [Hr' E]. now apply Same. }
  assert (Eq : eval (difference C alpha s t) f = eval (difference M alpha (rep s) (rep t)) f).
  { rewrite <- merged_difference by assumption. rewrite !eval_difference.
    assert (R : forall x, In x (states C) -> eval (row C x) f = eval (row C x) (fun i => f (rep i)) :> F).
    { intros x Hx. apply (eval_row_ext C_ok Hx). intros i Hi; symmetry; now apply G. }
    now rewrite (R s Hs), (R t Ht). }
  rewrite Eq. destruct (Pos.eqb_spec (rep s) (rep t)) as [E | N].
  - rewrite eval_difference, E, a1. apply le_by with (0 : F); [ring | apply le_refl].
  - apply L. split; [intros m Hm; now apply Fb, themselves |].
    intros m m' Hm Hm'. destruct (themselves Hm) as [Cm Em], (themselves Hm') as [Cm' Em'].
    apply le_trans with (1 := Fl m m' Cm Cm'). unfold pulled. rewrite Em, Em'. now apply zeroed_le.
Qed.

Lemma pulled_prefixed : prefixed C alpha both pulled.
Proof.
  intros s t Hs Ht. destruct (alike Hs) as (Ms & Ls & _), (alike Ht) as (Mt & Lt & _).
  destruct (D_ok Ms Mt) as (D0 & D1 & D2). split; [| split].
  - unfold pulled, zeroed. destruct (Pos.eqb _ _); [apply le_refl | assumption].
  - intro N. rewrite Ls, Lt in N. unfold pulled, zeroed.
    destruct (Pos.eqb_spec (rep s) (rep t)) as [E |]; [now rewrite E in N | auto].
  - intro E. rewrite Ls, Lt in E. destruct (D2 E) as [L1 L2].
    split; [exact (pulled_lift Hs Ht L1) |]. intro B. unfold pulled, zeroed. rewrite Pos.eqb_sym. exact (pulled_lift Ht Hs (L2 B)).
Qed.

Lemma pulled_le s t : In s (states C) -> In t (states C) -> pulled s t <= D (rep s) (rep t).
Proof. intros Hs Ht. apply zeroed_le; now apply alike. Qed.
End Above.

(** ** From below *)
Section Below.
Variable u : positive -> positive -> F.
Hypothesis alpha_ge0 : (0 <= alpha)%Q.
Hypothesis u_ok : prefixed C alpha both u.

Let all := list_prod (states C) (states C).
Let member (m m' : positive) (p : positive * positive) := Pos.eqb (rep (fst p)) m && Pos.eqb (rep (snd p)) m'.
Definition least (m m' : positive) : F :=
  fold_right (fun p x => if member m m' p then min (u (fst p) (snd p)) x else x) 1 all.

Lemma least_cases m m' : least m m' = 1 \/
  exists s t, In s (states C) /\ In t (states C) /\ rep s = m /\ rep t = m' /\ least m m' = u s t.
Proof.
  assert (I : forall p, In p all -> In (fst p) (states C) /\ In (snd p) (states C)).
  { intros [s t] I; now apply in_prod_iff in I. }
  unfold least. induction all as [| p l IH]; simpl; [now left |].
  assert (IH' := IH (fun q K => I q (or_intror K))). destruct (member m m' p) eqn:K; [| assumption].
  unfold min. destruct (le_dec _ _); [| assumption]. right. exists (fst p), (snd p).
  unfold member in K. rewrite andb_true_iff, !Pos.eqb_eq in K. destruct (I p (or_introl eq_refl)). intuition. Qed.

Lemma least_le s t : In s (states C) -> In t (states C) -> least (rep s) (rep t) <= u s t.
Proof.
  intros Hs Ht. assert (I : In (s, t) all) by now apply in_prod.
  unfold least. induction all as [| p l IH]; simpl; [easy |]. destruct I as [-> | I].
  - unfold member; simpl. rewrite !Pos.eqb_refl; simpl. apply min_l.
  - destruct (member _ _ p); [| auto]. apply le_trans with (1 := min_r _ _). auto. Qed.

Lemma lift_le_1 m m' f : In m (states M) -> In m' (states M) -> (forall i, In i (states M) -> 0 <= f i <= 1) ->
  eval (difference M alpha m m') f <= (1 : F).
Proof. intros Hm Hm' B. rewrite eval_difference.
  assert (A : eval (row M m) f <= (1 : F)) by (rewrite <- (eval_row_const M_ok 1 Hm); apply eval_row_le; auto; intros; now apply B).
  assert (Z : 0 <= eval (row M m') f) by (rewrite <- (eval_row_const M_ok 0 Hm'); apply eval_row_le; auto; intros; now apply B).
  apply (@ofQ_ge0 F) in alpha_ge0.
  apply le_by with ((1 - eval (row M m) f) + ofQ alpha * eval (row M m') f); [ring |].
  apply add_ge0; [now apply sub_ge0 | now apply le_mul]. Qed.

Lemma least_lift s t v : In s (states C) -> In t (states C) -> lift_le C alpha u (difference C alpha s t) v ->
  lift_le M alpha least (difference M alpha (rep s) (rep t)) v.
Proof. intros Hs Ht L f [Fb Fl]. rewrite <- merged_difference by assumption. apply L. split.
  - intros i Hi. apply Fb. now apply alike.
  - intros i j Hi Hj. apply le_trans with (least (rep i) (rep j)); [| now apply least_le]. apply Fl; now apply alike. Qed.

Lemma least_prefixed : prefixed M alpha both least.
Proof.
  intros m m' Hm Hm'. destruct (least_cases m m') as [E | (s & t & Hs & Ht & Es & Et & E)]; rewrite E.
  - split; [apply one_ge0 | split; [intros; apply le_refl |]]. intros _. split; [| intro]; intros f [Fb _]; now apply lift_le_1.
  - destruct (u_ok Hs Ht) as (U0 & U1 & U2). destruct (alike Hs) as (_ & Ls & _), (alike Ht) as (_ & Lt & _).
    rewrite Es in Ls. rewrite Et in Lt. rewrite Ls, Lt in U1, U2. split; [assumption | split; [assumption |]].
    intro L. destruct (U2 L) as [L1 L2]. subst m m'. split; [now apply least_lift |]. intro B. now apply least_lift, L2.
Qed.
End Below.
End Merging.
