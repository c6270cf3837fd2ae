(** * An instance of the coupling theorem: report noisy max, for any number of queries

    Each query has its noise; the place of the largest noisy answer is told, in the end. The queries of the two runs differ
    by at most one each. The strategy for the place j shifts the noise of j alone. *)

From Coq Require Import ZArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Coupling.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section NoisyMax.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variables (c : F) (p : Z -> F).
Hypothesis c_ge1 : 1 <= c.
Hypothesis p_ge0 : forall z, 0 <= p z.
Hypothesis p_slow : slow c p.
Variable n : nat.

(** A state: the largest noisy answer so far, and its place. *)
Definition update (q : nat -> Z) (i : nat) (x : option (Z * nat)) (z : Z) : option (Z * nat) :=
  match x with
  | None => Some ((q i + z)%Z, i)
  | Some (b, k) => if (b <? q i + z)%Z then Some ((q i + z)%Z, i) else x
  end.

Definition winner (x : option (Z * nat)) : nat := match x with None => O | Some (_, k) => k end.

Definition max_step (q : nat -> Z) (i : nat) (x : option (Z * nat)) (z : Z) : option (Z * nat) * nat :=
  (update q i x z, if Nat.eqb (S i) n then winner (update q i x z) else O).

Variables q1 q2 : nat -> Z.
Hypothesis near : forall i, (Z.abs (q1 i - q2 i) <= 1)%Z.

Definition max_law (i : nat) (x : option (Z * nat)) (z : Z) : F := p z.

Section Place.
Variable j : nat.

Definition before (i : nat) (x1 x2 : option (Z * nat)) : Prop :=
  match x1, x2 with
  | None, None => True
  | Some (b1, k1), Some (b2, _) => (b2 <= b1 + 1)%Z /\ (k1 < i)%nat
  | _, _ => False
  end.

Definition max_together (i : nat) (x1 x2 : option (Z * nat)) : Prop :=
  if (i <=? j)%nat then before i x1 x2
  else exists b1 b2, x1 = Some (b1, j) /\ x2 = Some (b2, j) /\ (b1 + 1 <= b2)%Z.

Definition max_lost (i : nat) (x1 : option (Z * nat)) : Prop := (j < i < n)%nat /\ winner x1 <> j.

Definition max_shift (i : nat) (x1 x2 : option (Z * nat)) (z : Z) : Z := if Nat.eqb i j then 2%Z else 0%Z.
Definition max_left (i : nat) : nat := if (i <=? j)%nat then 2 else 0.
End Place.

Lemma strategy_of_noisy_max o : strategy max_law max_law (max_step q1) (max_step q2) n o None None.
Proof.
  pose (j := nth (n - 1) o O).
  assert (Last : forall i y z, S i = n -> nth_error o i = Some (snd (max_step q1 i y z)) -> winner (update q1 i y z) = j).
  { intros i y z E H. unfold j. replace (n - 1)%nat with i by lia. rewrite (nth_error_nth _ _ _ H).
    unfold max_step; cbn [snd]. rewrite (proj2 (Nat.eqb_eq (S i) n) E). reflexivity. }
  refine {| shift := max_shift j; J := max_together j; lost := max_lost j; B := fun i _ _ => power c (max_left j i) |}.
  - unfold max_together. destruct (0 <=? j)%nat eqn:E; [exact I | apply Nat.leb_gt in E; lia].
  - intros y1 y2 _. now apply power_ge1.
  - intros i y z Li [L W] H. cbn [max_step fst]. assert (U : winner (update q1 i y z) <> j).
    { destruct y as [[b k] |]; simpl in *; [destruct (b <? q1 i + z)%Z; simpl; lia | lia]. }
    destruct (Nat.eq_dec (S i) n) as [E | E]; [now pose proof (Last i y z E H) |]. split; [lia | exact U].
  - intros y [L _]. lia.
  - intros i y1 y2 z Li H Hd. pose proof (@near i) as Near. cbv zeta. cbn [max_step fst snd].
    assert (Cost : forall e, (e + max_left j (S i) <= max_left j i)%nat -> Z.to_nat (Z.abs (max_shift j i y1 y2 z)) = e ->
      exists cost, 0 <= cost /\ max_law i y1 z <= cost * max_law i y2 (z + max_shift j i y1 y2 z)%Z /\
        cost * power c (max_left j (S i)) <= power c (max_left j i)).
    { intros e Le <-. apply (exponents c_ge1 (p_slow z _) Le). }
    assert (Costs : exists cost, 0 <= cost /\ max_law i y1 z <= cost * max_law i y2 (z + max_shift j i y1 y2 z)%Z /\
        cost * power c (max_left j (S i)) <= power c (max_left j i)).
    { destruct (Nat.eq_dec i j) as [-> | D].
      - apply (Cost 2%nat); unfold max_left, max_shift; [| now rewrite Nat.eqb_refl].
        rewrite Nat.leb_refl. destruct (S j <=? j)%nat eqn:G; [apply Nat.leb_le in G; lia | lia].
      - apply (Cost 0%nat); unfold max_left, max_shift; [| now rewrite (proj2 (Nat.eqb_neq i j) D)].
        destruct (S i <=? j)%nat eqn:G, (i <=? j)%nat eqn:G'; try lia; apply Nat.leb_le in G; apply Nat.leb_gt in G'; lia. }
    set (x1 := update q1 i y1 z). set (z' := (z + max_shift j i y1 y2 z)%Z) in *. set (x2 := update q2 i y2 z').
    (* The winners agree in the end, and the states stay together, unless the first run has lost. *)
    assert (Main : max_lost j (S i) x1 \/ (max_together j (S i) x1 x2 /\ (S i = n -> winner x2 = winner x1))).
    { assert (End : S i = n -> winner x1 = j) by (intro E; exact (Last i y1 z E Hd)).
      unfold max_together in H. destruct (i <=? j)%nat eqn:G; [apply Nat.leb_le in G | apply Nat.leb_gt in G].
      - destruct (Nat.eq_dec i j) as [D | D].
        + assert (Z2 : z' = (z + 2)%Z) by (unfold z', max_shift; now rewrite (proj2 (Nat.eqb_eq i j) D)).
          assert (Wins : winner x1 = j -> max_together j (S i) x1 x2 /\ winner x2 = j).
          { intro W. unfold max_together. destruct (S i <=? j)%nat eqn:G'; [apply Nat.leb_le in G'; lia |].
            unfold x1, x2 in *. rewrite Z2 in *. subst i.
            destruct y1 as [[b1 k1] |], y2 as [[b2 k2] |]; simpl in H, W |- *; try contradiction.
            - destruct (b1 <? q1 j + z)%Z eqn:T; simpl in W; [| lia].
              assert (T' : (b2 <? q2 j + (z + 2))%Z = true) by lia. rewrite T'. split; [| reflexivity].
              exists (q1 j + z)%Z, (q2 j + (z + 2))%Z. repeat split; lia.
            - split; [| reflexivity]. exists (q1 j + z)%Z, (q2 j + (z + 2))%Z. repeat split; lia. }
          destruct (Nat.eq_dec (winner x1) j) as [W | W].
          * right. destruct (Wins W) as [T W2]. split; [exact T | now rewrite W].
          * left. split; [| exact W]. split; [lia |]. destruct (Nat.eq_dec (S i) n) as [E | E]; [now destruct W; apply End | lia].
        + assert (Z2 : z' = z) by (unfold z', max_shift; rewrite (proj2 (Nat.eqb_neq i j) D); lia). rewrite Z2 in *.
          right. split.
          * unfold max_together. assert (G' : (S i <=? j)%nat = true) by (apply Nat.leb_le; lia). rewrite G'.
            unfold x1, x2. rewrite Z2. destruct y1 as [[b1 k1] |], y2 as [[b2 k2] |]; simpl in H |- *; try contradiction.
            -- destruct (b1 <? q1 i + z)%Z eqn:T1, (b2 <? q2 i + z)%Z eqn:T2; simpl; lia.
            -- lia.
          * intro E. exfalso. specialize (End E). unfold x1 in End.
            destruct y1 as [[b1 k1] |], y2 as [[b2 k2] |]; simpl in H, End; try contradiction; try lia.
            destruct (b1 <? q1 i + z)%Z; simpl in End; lia.
      - destruct H as (b1 & b2 & -> & -> & Le).
        assert (Z2 : z' = z) by (unfold z', max_shift; rewrite (proj2 (Nat.eqb_neq i j) ltac:(lia)); lia). rewrite Z2 in *.
        unfold x1, x2 in *. rewrite ?Z2 in *. simpl in *. destruct (b1 <? q1 i + z)%Z eqn:T1.
        + left. split; [| simpl; lia]. split; [lia |]. destruct (Nat.eq_dec (S i) n) as [E | E]; [specialize (End E); simpl in End; lia | lia].
        + right. assert (T2 : (b2 <? q2 i + z)%Z = false) by lia. rewrite T2. split; [| reflexivity].
          unfold max_together. destruct (S i <=? j)%nat eqn:G'; [apply Nat.leb_le in G'; lia |]. now exists b1, b2. }
    destruct Main as [Lost | [Together Same]]; [now left | right].
    split; [| split; [exact Together | exact Costs]].
    destruct (Nat.eqb (S i) n) eqn:E; [apply Nat.eqb_eq in E; now apply Same | reflexivity].
  - intros i y1 y2 z z' _ _ _ _ _ _ E. unfold max_shift in E. lia.
Defined.

(** Theorem. Whatever the number of queries, the budget is that of two steps. *)
Theorem noisy_max_budget (Event : list nat -> Prop) b :
  at_most (weight max_law (max_step q2) 0 None) (fun zs => length zs = n /\ Event (said (max_step q2) 0 None zs)) b ->
  at_most (weight max_law (max_step q1) 0 None) (fun zs => length zs = n /\ Event (said (max_step q1) 0 None zs)) (power c 2 * b).
Proof.
  apply (coupling_bounds_events (fun i x z => p_ge0 z) (fun i x z => p_ge0 z) (s := strategy_of_noisy_max)).
  - apply power_ge0. apply le_trans with (1 : F); [apply one_ge0 | exact c_ge1].
  - intros o _. simpl. unfold max_left. apply le_refl. Qed.
End NoisyMax.
