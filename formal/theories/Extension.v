(** * Where there are no shortcuts, every witness extends (Lemma 4 of docs/theory/certificates.md)

    So rule L5 need not be looked at entry by entry in a class where L(i, j) <= L(i, k) + alpha L(k, j) throughout. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From Bisimdist Require Import OrderedField.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Extension.
Variable alpha : Q.
Hypothesis alpha_ge1 : (1 <= alpha)%Q.
Variable k : positive -> positive.
Variable L : positive -> positive -> Q.
Variable names : list positive.  (* the states that the witness names *)
Variable named : positive -> bool.
Variable f : positive -> Q.

Definition larger (x y : Q) : Q := if Qle_bool x y then y else x.

Definition pushed (s : positive) : Q := fold_right (fun x m => larger m (Qred ((f x - L x s) / alpha))) 0%Q names.

Definition extension (s : positive) : Q := if named s then f s else pushed s.

Lemma larger_cases x y : larger x y = x \/ larger x y = y.
Proof. unfold larger; destruct (Qle_bool x y); auto. Qed.

Lemma larger_l x y : (x <= larger x y)%Q.
Proof. unfold larger; destruct (Qle_bool x y) eqn:E; [now apply Qle_bool_iff | apply Qle_refl]. Qed.

Lemma larger_r x y : (y <= larger x y)%Q.
Proof. unfold larger; destruct (Qle_bool x y) eqn:E; [apply Qle_refl |].
  apply Qlt_le_weak, Qnot_le_lt; intro H; apply Qle_bool_iff in H; congruence. Qed.

Lemma pushed_ge0 s : (0 <= pushed s)%Q.
Proof. unfold pushed; induction names as [| x l IH]; simpl; [apply Qle_refl |].
  apply Qle_trans with (1 := IH), larger_l. Qed.

Lemma alpha_gt0 : (0 < alpha)%Q.
Proof. lra. Qed.

Lemma push x s : In x names -> (f x - L x s <= alpha * pushed s)%Q.
Proof.
  intro I. assert (H : ((f x - L x s) / alpha <= pushed s)%Q).
  { unfold pushed; induction names as [| y l IH]; simpl in *; [easy |]. destruct I as [-> | I].
    - apply Qle_trans with (Qred ((f x - L x s) / alpha)); [rewrite Qred_correct; apply Qle_refl | apply larger_r].
    - apply Qle_trans with (1 := IH I), larger_l. }
  pose proof alpha_gt0. assert (E : (f x - L x s == alpha * ((f x - L x s) / alpha))%Q) by (field; lra).
  rewrite E. nra. Qed.

Lemma pushed_from s : (pushed s == 0)%Q \/ exists x, In x names /\ (alpha * pushed s == f x - L x s)%Q.
Proof.
  pose proof alpha_gt0. unfold pushed; induction names as [| x l IH]; simpl; [left; reflexivity |].
  match goal with |- context [larger ?m ?r] => pose proof (larger_cases m r) as C end.
  destruct C as [-> | ->].
  - destruct IH as [Z | (y & I & Y)]; [now left | right; exists y; split; [now right | assumption]].
  - right; exists x; split; [now left |].
    transitivity (alpha * ((f x - L x s) / alpha))%Q; [| field; lra].
    apply Qmult_comp; [reflexivity | apply Qred_correct]. Qed.

Hypothesis named_ok : forall s, named s = true <-> In s names.
Hypothesis L_ge0 : forall i j, (0 <= L i j)%Q.
Hypothesis L_across : forall i j, k i <> k j -> (L i j == 1)%Q.
Hypothesis f_bounds : forall x, In x names -> (0 <= f x <= 1)%Q.
Hypothesis f_ok : forall x y, In x names -> In y names -> k x = k y -> (f x - alpha * f y <= L x y)%Q.
Variable states : list positive.
Hypothesis names_in : forall x, In x names -> In x states.
Hypothesis no_shortcut : forall x i j l, In x names -> In i states -> In j states -> In l states ->
  k i = k x -> k j = k x -> k l = k x -> (L i j <= L i l + alpha * L l j)%Q.

Lemma pushed_le1 s : (pushed s <= 1)%Q.
Proof. destruct (pushed_from s) as [Z | (x & I & E)]; [rewrite Z; easy |].
  pose proof (f_bounds I). pose proof (@L_ge0 x s). pose proof (@pushed_ge0 s). nra. Qed.

Lemma extension_bounds s : (0 <= extension s <= 1)%Q.
Proof. unfold extension; destruct (named s) eqn:N; [now apply f_bounds, named_ok |].
  split; [apply pushed_ge0 | apply pushed_le1]. Qed.

(** A state that gets something has the class of a state that is named. *)
Lemma pushed_class s x : In x names -> (alpha * pushed s == f x - L x s)%Q -> (0 < pushed s)%Q -> k s = k x.
Proof. intros I E P. destruct (Pos.eq_dec (k x) (k s)) as [K | K]; [congruence |].
  pose proof (L_across K). pose proof (f_bounds I). nra. Qed.

Lemma extension_zero s : named s = false -> (forall x, In x names -> k x <> k s) -> (extension s == 0)%Q.
Proof. intros N K. unfold extension; rewrite N. destruct (pushed_from s) as [Z | (x & I & E)]; [assumption |].
  destruct (Qlt_le_dec 0 (pushed s)) as [P | P]; [exfalso; apply (K x I); symmetry; now apply (pushed_class I E) |].
  apply Qle_antisym; [assumption | apply pushed_ge0]. Qed.

Theorem extension_ok i j : In i states -> In j states -> (extension i - alpha * extension j <= L i j)%Q.
Proof.
  intros Hi Hj. pose proof (@extension_bounds i) as Bi; pose proof (@extension_bounds j) as Bj; pose proof (@L_ge0 i j) as L0.
  destruct (Pos.eq_dec (k i) (k j)) as [K | K]; [| pose proof (L_across K); nra].
  unfold extension in *. destruct (named i) eqn:Ni, (named j) eqn:Nj; rewrite ?named_ok in *.
  - now apply f_ok.
  - assert (Ii : In i names) by exact Ni. pose proof (@push i j Ii); lra.
  - assert (Ij : In j names) by exact Nj.
    destruct (pushed_from i) as [Z | (x & I & E)]; [nra |].
    destruct (Qlt_le_dec 0 (pushed i)) as [P | P]; [| nra]. pose proof (pushed_class I E P) as C.
    assert (T : (L x j <= L x i + alpha * L i j)%Q) by (apply (no_shortcut (x := x)); auto; congruence).
    assert (A : (f x - alpha * f j <= L x j)%Q) by (apply f_ok; auto; congruence).
    assert (alpha * pushed i <= alpha * (f j + L i j))%Q by lra.
    assert (pushed i <= f j + L i j)%Q by nra. nra.
  - destruct (pushed_from i) as [Z | (x & I & E)]; [nra |].
    destruct (Qlt_le_dec 0 (pushed i)) as [P | P]; [| nra]. pose proof (pushed_class I E P) as C.
    destruct (Qlt_le_dec (L i j) (pushed i)) as [S | S]; [| nra].
    assert (T : (L x j <= L x i + alpha * L i j)%Q) by (apply (no_shortcut (x := x)); auto; congruence).
    pose proof (@push x j I). assert (alpha * pushed j >= alpha * pushed i - alpha * L i j)%Q by lra. nra.
Qed.
End Extension.
