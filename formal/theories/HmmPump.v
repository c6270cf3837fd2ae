(** * No budget at all: pumps (rules U1 to U7 of docs/certificates/hmm-proofs.md) *)

From Coq Require Import ZArith QArith List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination DeltaLower Hmm.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Pump.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable H : hmm.
Hypothesis H_ok : hmm_ok H.

(** Where the masses are after more observations; what belongs together is added up. *)
Fixpoint advanced (v : list (positive * Q)) (w : list positive) : list (positive * Q) :=
  match w with [] => v | x :: w' => advanced (norm (stepped H v x)) w' end.

Lemma eval_advanced w : forall v (f : positive -> F), eval (advanced v w) f = eval v (before H w f).
Proof. induction w as [| x w IH]; intros v f; simpl; [reflexivity |]. now rewrite IH, eval_norm, eval_stepped. Qed.

Fixpoint rounds (n : nat) (cycle : list positive) : list positive :=
  match n with O => [] | S n' => cycle ++ rounds n' cycle end.

Variables pi tau : list (positive * Q).
Hypothesis tau_ge0 : forall s q, In (s, q) tau -> (0 <= q)%Q.
Variable x : positive.  (* the prefix: a first observation, and others *)
Variables prefix cycle suffix : list positive.
Variables fast slow : Q.
Variables X Y : list (positive * Q).  (* called below and above in certificates *)
Variable counting : positive -> bool.

Definition counted (l : list (positive * Q)) := filter (fun e : positive * Q => counting (fst e)) l.
Let a := advanced (observed H pi x) prefix.
Let b := advanced (observed H tau x) prefix.

Definition pump_ok :=
  (0 <= slow)%Q /\ (slow < fast)%Q /\
  (* the probable side: it holds X, which grows by [fast] in every round *)
  all_ge0 (a ++ scale (- (1)) X) = true /\
  all_ge0 (advanced X cycle ++ scale (- fast) X) = true /\
  (0 < total (advanced X suffix))%Q /\
  (* the other side is below Y on the states that count, which grows by [slow] at most *)
  all_ge0 (counted (Y ++ scale (- (1)) b)) = true /\
  all_ge0 (counted (scale slow (counted Y) ++ scale (- (1)) (advanced (counted Y) cycle))) = true /\
  (* what does not count leads nowhere that does, and cannot go on with the suffix *)
  (forall s, counting s = false ->
     (forall t q, In (t, q) (advanced [(s, 1%Q)] cycle) -> counting t = true -> (q == 0)%Q) /\
     (total (advanced [(s, 1%Q)] suffix) == 0)%Q).

Hypothesis ok : pump_ok.

Let h n := after_leaving F H (rounds n cycle ++ suffix).

Lemma h_ge0 n s : 0 <= h n s.
Proof. now apply after_leaving_ge0. Qed.

Lemma h_step n s : h (S n) s = before H cycle (h n) s.
Proof. unfold h, after_leaving; simpl. rewrite <- app_assoc, before_app. reflexivity. Qed.

Lemma eval_h0 v : eval v (h 0) = ofQ (total (advanced v suffix)).
Proof. unfold h; simpl. change (after_leaving F H suffix) with (before H suffix (fun _ => 1 : F)).
  rewrite <- eval_advanced, eval_const; ring. Qed.

Lemma eval_single (s : positive) (f : positive -> F) : eval [(s, 1%Q)] f = f s.
Proof. simpl. rewrite ofQ_1; ring. Qed.

Lemma eval_zero l (f : positive -> F) : (forall s q, In (s, q) l -> ofQ q * f s = 0) -> eval l f = 0.
Proof. induction l as [| [s q] l IH]; simpl; intro Z; [reflexivity |].
  rewrite (Z s q (or_introl eq_refl)), IH; [ring | intros; apply Z; now right]. Qed.

Lemma h_zero n : forall s, counting s = false -> h n s = 0.
Proof.
  destruct ok as (_ & _ & _ & _ & _ & _ & _ & Off). induction n as [| n IH]; intros s Cs; destruct (Off s Cs) as [Lead Suf].
  - rewrite <- (eval_single s (h 0)), eval_h0, (ofQ_eq F Suf). apply ofQ_0.
  - rewrite h_step, <- (eval_single s (before H cycle (h n))), <- eval_advanced.
    apply eval_zero. intros t q I. destruct (counting t) eqn:Ct.
    + rewrite (ofQ_eq F (Lead t q I Ct)), ofQ_0; ring.
    + rewrite (IH t Ct); ring.
Qed.

Lemma eval_counted n l : eval (counted l) (h n) = eval l (h n).
Proof. induction l as [| [s q] l IH]; simpl; [reflexivity |].
  destruct (counting s) eqn:C; simpl; rewrite IH; [reflexivity |]. rewrite (h_zero n C); ring. Qed.

Lemma counted_ge0 n l : all_ge0 (counted l) = true -> 0 <= eval l (h n).
Proof. intro A. rewrite <- eval_counted. apply all_ge0_ok; [assumption |]. intros; apply h_ge0. Qed.

(** The probable side gets at least fast^n, the other one at most slow^n. *)
Lemma grows n : ofQ (power fast n) * eval X (h 0) <= eval X (h n).
Proof.
  destruct ok as (S0 & SF & _ & Gx & _). induction n as [| n IH].
  - unfold power; simpl. rewrite ofQ_1. apply le_by with (0 : F); [ring | apply le_refl].
  - apply all_ge0_ok with (f := h n) in Gx; [| intros; apply h_ge0].
    rewrite eval_app, eval_scale, ofQ_opp, eval_advanced in Gx.
    assert (E : eval X (h (S n)) = eval X (before H cycle (h n))) by (apply eval_ext; intros; apply h_step).
    rewrite E. change (power fast (S n)) with (fast * power fast n)%Q. rewrite ofQ_mul.
    apply le_by with ((eval X (before H cycle (h n)) + - ofQ fast * eval X (h n))
      + ofQ fast * (eval X (h n) - ofQ (power fast n) * eval X (h 0))); [ring |].
    apply add_ge0; [assumption | apply le_mul; [apply ofQ_ge0; lra | now apply sub_ge0]]. Qed.

Lemma shrinks n : eval (counted Y) (h n) <= ofQ (power slow n) * eval (counted Y) (h 0).
Proof.
  destruct ok as (S0 & SF & _ & _ & _ & _ & Sy & _). induction n as [| n IH].
  - unfold power; simpl. rewrite ofQ_1. apply le_by with (0 : F); [ring | apply le_refl].
  - apply (counted_ge0 n) in Sy. rewrite eval_app, !eval_scale, ofQ_opp, ofQ_1, eval_advanced in Sy.
    assert (E : eval (counted Y) (h (S n)) = eval (counted Y) (before H cycle (h n))) by (apply eval_ext; intros; apply h_step).
    rewrite E. change (power slow (S n)) with (slow * power slow n)%Q. rewrite ofQ_mul.
    apply le_by with ((ofQ slow * eval (counted Y) (h n) + - (1) * eval (counted Y) (before H cycle (h n)))
      + ofQ slow * (ofQ (power slow n) * eval (counted Y) (h 0) - eval (counted Y) (h n))); [ring |].
    apply add_ge0; [assumption | apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0]]. Qed.

Lemma probability_pumped v n : probability_of F H v (x :: prefix ++ (rounds n cycle ++ suffix))
  = eval (advanced (observed H v x) prefix) (h n).
Proof. unfold probability_of.
  rewrite eval_advanced, eval_observed. apply eval_ext; intros s q _.
  change (from F H (x :: prefix ++ rounds n cycle ++ suffix) s)
    with (ofQ (observes H s x) * after_leaving F H (prefix ++ rounds n cycle ++ suffix) s).
  f_equal. unfold after_leaving. now rewrite before_app. Qed.

(** Some power makes slow^n times a number smaller than fast^n times a positive one. *)
Lemma outgrows (c e : Q) : (0 < e)%Q -> exists n, (power slow n * c < power fast n * e)%Q.
Proof.
  destruct ok as (S0 & SF & _). intro E. destruct (Qlt_le_dec 0 slow) as [Sp | Sz].
  - assert (F0 : (0 < fast)%Q) by lra. set (t := (1 - slow / fast)%Q).
    assert (R0 : (0 < slow / fast)%Q) by (apply Qlt_shift_div_l; lra).
    assert (R1 : (slow / fast < 1)%Q) by (apply Qlt_shift_div_r; lra).
    assert (T0 : (0 < t)%Q) by (unfold t; lra). assert (T1 : (t < 1)%Q) by (unfold t; lra).
    assert (E2 : (0 < e / 2)%Q) by (apply Qlt_shift_div_l; lra).
    destruct (power_vanishes c T0 T1 E2) as [n N]. exists n.
    assert (P : (power slow n == power fast n * power (1 - t) n)%Q).
    { clear N. induction n as [| n IH]; [reflexivity |].
      change (power slow (S n)) with (slow * power slow n)%Q. change (power fast (S n)) with (fast * power fast n)%Q.
      change (power (1 - t) (S n)) with ((1 - t) * power (1 - t) n)%Q. rewrite IH. unfold t. field. lra. }
    assert (Pf : (0 < power fast n)%Q) by (apply power_pos; lra).
    assert (E3 : (e / 2 == e * (1 # 2))%Q) by field.
    rewrite P. assert (power fast n * (power (1 - t) n * c) <= power fast n * (e / 2))%Q by nra.
    assert (power fast n * (power (1 - t) n * c) == power fast n * power (1 - t) n * c)%Q by ring. nra.
  - exists 1%nat. change (power slow 1) with (slow * 1)%Q. change (power fast 1) with (fast * 1)%Q.
    assert (Z : (slow == 0)%Q) by lra. rewrite Z. nra. Qed.

(** Theorem. No budget holds for all lengths: every one is exceeded after some number of rounds. *)
Theorem pump_refutes_every_budget (c : Q) : exists n,
  let w := x :: prefix ++ (rounds n cycle ++ suffix) in
  ofQ c * probability_of F H tau w < probability_of F H pi w.
Proof.
  destruct ok as (S0 & SF & Ax & _ & Pos & By & _).
  set (e := total (advanced X suffix)) in *. set (k := total (advanced (counted Y) suffix)).
  set (c' := (if Qlt_le_dec 0 c then c else 0)%Q).
  assert (C0 : (0 <= c')%Q) by (unfold c'; destruct (Qlt_le_dec 0 c); lra).
  assert (Cc : (c <= c')%Q) by (unfold c'; destruct (Qlt_le_dec 0 c); lra).
  destruct (outgrows (c' * k) Pos) as [n N]. exists n. cbv zeta. rewrite !probability_pumped. fold a b.
  assert (A : ofQ (power fast n) * ofQ e <= eval a (h n)).
  { apply le_trans with (eval X (h n)); [unfold e; rewrite <- eval_h0; apply grows |].
    apply all_ge0_ok with (f := h n) in Ax; [| intros; apply h_ge0].
    rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in Ax. eapply le_by; [| exact Ax]; ring. }
  assert (B : eval b (h n) <= ofQ (power slow n) * ofQ k).
  { apply le_trans with (eval (counted Y) (h n)); [| unfold k; rewrite <- eval_h0; apply shrinks].
    apply (counted_ge0 n) in By. rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in By. rewrite eval_counted.
    eapply le_by; [| exact By]; ring. }
  assert (B0 : 0 <= eval b (h n)).
  { unfold b. rewrite <- probability_pumped. apply eval_ge0; [exact tau_ge0 |]. intros; now apply from_ge0. }
  apply lt_le_trans with (2 := A). apply le_lt_trans with (ofQ (c' * (power slow n * k))).
  - rewrite !ofQ_mul. apply le_trans with (ofQ c' * eval b (h n)).
    + apply le_by with ((ofQ c' - ofQ c) * eval b (h n)); [ring |]. apply le_mul; [apply sub_ge0; now apply ofQ_le | assumption].
    + apply le_scale; [now apply ofQ_ge0 | assumption].
  - rewrite <- ofQ_mul. apply ofQ_lt.
    assert (E : (c' * (power slow n * k) == power slow n * (c' * k))%Q) by ring. now rewrite E.
Qed.
End Pump.
