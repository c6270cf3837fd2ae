(** * An instance of the coupling theorem: the sparse vector technique with one answer, for any number of queries

    A noisy threshold is drawn, then noise for one query after the other, until a noisy answer reaches it. The queries of
    the two runs differ by at most one each. *)

From Coq Require Import ZArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Coupling.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section AboveThreshold.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variables (c : F) (p : Z -> F).
Hypothesis c_ge1 : 1 <= c.
Hypothesis p_ge0 : forall z, 0 <= p z.
Hypothesis p_slow : slow c p.

(** A state: the noisy threshold, and whether the run has answered. *)
Definition law (i : nat) (x : Z * bool) (z : Z) : F :=
  match i with O => p z | S _ => if snd x then (if (z =? 0)%Z then 1 else 0) else p z end.

Definition step (q : nat -> Z) (i : nat) (x : Z * bool) (z : Z) : (Z * bool) * bool :=
  match i with
  | O => ((z, false), false)
  | S i => if snd x then (x, false) else let above := (fst x <=? q i + z)%Z in ((fst x, above), above)
  end.

Lemma law_ge0 i x z : 0 <= law i x z.
Proof. destruct i; simpl; [apply p_ge0 |]. destruct (snd x); [| apply p_ge0].
  destruct (z =? 0)%Z; [apply one_ge0 | apply le_refl]. Qed.

Variables q1 q2 : nat -> Z.
Hypothesis near : forall i, (Z.abs (q1 i - q2 i) <= 1)%Z.

Definition moved (i : nat) (x1 x2 : Z * bool) (z : Z) : Z :=
  match i with O => 1 | S i => if snd x1 then 0 else if (fst x1 <=? q1 i + z)%Z then 2 else 0 end.

Definition together (i : nat) (x1 x2 : Z * bool) : Prop :=
  match i with O => True | S _ => fst x2 = (fst x1 + 1)%Z /\ snd x2 = snd x1 end.

Definition left_over (i : nat) (x1 : Z * bool) : nat := match i with O => 3 | S _ => if snd x1 then 0 else 2 end.

Lemma strategy_of_above_threshold n o x : strategy law law (step q1) (step q2) n o x x.
Proof.
  refine {| shift := moved; J := together; lost := fun _ _ => False;
            B := fun i x1 x2 => power c (left_over i x1) |}.
  - exact I.
  - intros y1 y2 _. now apply power_ge1.
  - contradiction.
  - intros y1 H; exact H.
  - intros [| i] [t1 h1] [t2 h2] z Li H _; right.
    + simpl. split; [reflexivity |]. split; [split; reflexivity |].
      apply (exponents (e := 1) (k' := 2) (k := 3) c_ge1); [exact (p_slow z 1%Z) | lia].
    + destruct H as [T E]; simpl in T, E; subst t2 h2. pose proof (@near i) as Near. destruct h1; cbn [moved fst snd].
      * cbn -[power Z.add Z.leb Z.eqb]. split; [reflexivity |]. split; [split; reflexivity |].
        apply (exponents (e := 0) (k' := 0) (k := 0) c_ge1); [| lia].
        replace (z + 0)%Z with z by lia. apply le_by with (0 : F); [simpl; ring | apply le_refl].
      * destruct (t1 <=? q1 i + z)%Z eqn:A; cbn -[power Z.add Z.leb Z.eqb Z.abs Z.to_nat]; rewrite A;
          cbn -[power Z.add Z.leb Z.eqb Z.abs Z.to_nat].
        -- assert (A' : (t1 + 1 <=? q2 i + (z + 2))%Z = true) by lia. rewrite A'.
           split; [reflexivity |]. split; [split; reflexivity |].
           apply (exponents (e := 2) (k' := 0) (k := 2) c_ge1); [exact (p_slow z 2%Z) | lia].
        -- assert (A' : (t1 + 1 <=? q2 i + (z + 0))%Z = false) by lia. rewrite A'.
           split; [reflexivity |]. split; [split; reflexivity |].
           apply (exponents (e := 0) (k' := 2) (k := 2) c_ge1); [exact (p_slow z 0%Z) | lia].
  - intros [| i] [t1 h1] [t2 h2] z z' _ _ S S' _ _; simpl; [lia |].
    destruct h1; [lia |]. rewrite S in S'. simpl in S'. injection S' as Eq. rewrite Eq. lia.
Defined.

(** Theorem. Whatever the number of queries, the budget is that of three steps: one of the threshold and two of the answer. *)
Theorem above_threshold_budget n x (Event : list bool -> Prop) b :
  at_most (weight law (step q2) 0 x) (fun zs => length zs = n /\ Event (said (step q2) 0 x zs)) b ->
  at_most (weight law (step q1) 0 x) (fun zs => length zs = n /\ Event (said (step q1) 0 x zs)) (power c 3 * b).
Proof.
  apply (coupling_bounds_events law_ge0 law_ge0 (s := fun o => strategy_of_above_threshold n o x)).
  - apply power_ge0. apply le_trans with (1 : F); [apply one_ge0 | exact c_ge1].
  - intros o _. apply le_refl. Qed.
End AboveThreshold.
