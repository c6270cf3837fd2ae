(** * An instance of the theorem about a draw that waits: report noisy max with gap, for any number of queries

    The place of the largest noisy answer is told in the end, and by how much this answer may shrink and still win. The noise of
    the winner waits. Its shift is how much more the second run needs for the winner to win by the same. *)

From Coq Require Import ZArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Coupling Deferred.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section NoisyMaxGap.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variables (c : F) (p : Z -> F).
Hypothesis c_ge1 : 1 <= c.
Hypothesis p_ge0 : forall z, 0 <= p z.
Hypothesis p_slow : slow c p.
Variable n : nat.

(** A state: the largest noisy answer so far, its place, and the least number with which it would be the largest. *)
Definition found := option (Z * nat * option Z).

Definition more (d : option Z) (y : Z) : option Z :=
  Some (match d with None => y | Some e => Z.max e y end).

Definition gap_update (q : nat -> Z) (x : found) (i : nat) (z : Z) : found :=
  match x with
  | None => Some ((q i + z)%Z, i, None)
  | Some (b, k, d) => if (b <? q i + z)%Z then Some ((q i + z)%Z, i, Some (b + 1)%Z) else Some (b, k, more d (q i + z)%Z)
  end.

Definition answer (x : found) : option (nat * option Z) :=
  match x with None => None | Some (b, k, d) => Some (k, option_map (fun e => (b - e)%Z) d) end.

Definition noisy_max_gap (q : nat -> Z) : program F unit (option (nat * option Z)).
Proof.
  refine {| State := found; law := fun _ _ z => p z; step := fun i x z => (gap_update q x i z, tt); returned := answer |}.
  auto. Defined.

(** While the noise of the winner waits, a state is where it began, and the draws after that. *)
Definition replayed q (w : nat * found * list (nat * Z)) (u : Z) : found :=
  let '(k, x, l) := w in fold_left (fun y e => gap_update q y (fst e) (snd e)) l (gap_update q x k u).

Definition gap_waiting (j : nat) (q : nat -> Z) : @waiting F unit (option (nat * option Z)) unit (noisy_max_gap q).
Proof.
  refine (@Build_waiting F unit (option (nat * option Z)) unit (noisy_max_gap q) (nat * found * list (nat * Z))%type
    (fun i _ => Nat.eqb i j) (fun i x => (i, x, [])) (fun _ _ => tt) (replayed q) (fun _ _ => True) (fun _ u => p u)
    (fun _ _ z => p z) (fun i w z _ => let '(k, x, l) := w in ((k, x, l ++ [(i, z)]), tt)) (fun _ _ _ _ => tt) _ _ _ _ _ _ _ _);
    try (intros; simpl; auto; fail).
  - intros i [[k x] l] u z _. simpl. now rewrite fold_left_app.
  - intros i [[k x] l] u z []. simpl. tauto.
Defined.

Variables q1 q2 : nat -> Z.
Hypothesis near : forall i, (Z.abs (q1 i - q2 i) <= 1)%Z.

Definition close (d1 d2 : option Z) : Prop :=
  match d1, d2 with None, None => True | Some e1, Some e2 => (Z.abs (e1 - e2) <= 1)%Z | _, _ => False end.

(** What an answer needs to win, by the draws after it. *)
Definition needed (q : nat -> Z) (l : list (nat * Z)) (d : option Z) : option Z :=
  fold_left (fun d e => more d (q (fst e) + snd e)%Z) l d.

Definition enough (d : option Z) (b : Z) : Prop := match d with None => True | Some e => (e <= b)%Z end.

Lemma needed_close l : forall d1 d2, close d1 d2 -> close (needed q1 l d1) (needed q2 l d2).
Proof. induction l as [| [i z] l IH]; intros d1 d2 H; simpl; [exact H |]. apply IH. pose proof (@near i) as N.
  destruct d1, d2; simpl in *; lia. Qed.

Lemma needed_grows q l : forall d b, enough (needed q l d) b -> enough d b.
Proof. induction l as [| [i z] l IH]; intros d b H; simpl in *; [exact H |]. apply IH in H. destruct d; simpl in *; [lia | exact I]. Qed.

Definition winner_of (x : found) : option nat := match x with None => None | Some (_, k, _) => Some k end.
Definition run q (l : list (nat * Z)) (x : found) : found := fold_left (fun y e => gap_update q y (fst e) (snd e)) l x.

Lemma loses q j l : forall x, (forall e, In e l -> (j < fst e)%nat) -> x <> None -> winner_of x <> Some j ->
  run q l x <> None /\ winner_of (run q l x) <> Some j.
Proof. induction l as [| [i z] l IH]; intros [[[b k] d] |] L S W; simpl; try easy.
  assert (Li : (j < i)%nat) by (apply (L (i, z)); now left). simpl in W.
  destruct (b <? q i + z)%Z; apply IH; try easy; try (intros; apply L; now right); simpl; congruence || (intro E; inversion E; lia). Qed.

(** The answer wins if it is as large as needed, and only then. *)
Lemma wins q j l : forall b d, enough (needed q l d) b -> run q l (Some (b, j, d)) = Some (b, j, needed q l d).
Proof. induction l as [| [i z] l IH]; intros b d H; simpl in *; [reflexivity |].
  pose proof (needed_grows H) as G. assert (T : (b <? q i + z)%Z = false) by (destruct d; simpl in G; lia). rewrite T. now apply IH. Qed.

Lemma wins_only q j l : forall b d, (forall e, In e l -> (j < fst e)%nat) -> enough d b ->
  winner_of (run q l (Some (b, j, d))) = Some j -> enough (needed q l d) b.
Proof. induction l as [| [i z] l IH]; intros b d L D W; simpl in *; [exact D |].
  assert (Li : (j < i)%nat) by (apply (L (i, z)); now left).
  assert (L' : forall e, In e l -> (j < fst e)%nat) by (intros; apply L; now right).
  destruct (b <? q i + z)%Z eqn:T.
  - exfalso. destruct (@loses q j l (Some ((q i + z)%Z, i, Some (b + 1)%Z)) L'); try easy. simpl. intro E; inversion E; lia.
  - apply IH; [exact L' | destruct d; simpl in *; lia | exact W]. Qed.

Section Place.
Variable j : nat.

Definition gap_together (i : nat) (x1 x2 : found) : Prop :=
  (i <= j)%nat /\
  match x1, x2 with
  | None, None => True
  | Some (b1, k1, _), Some (b2, k2, _) => (Z.abs (b1 - b2) <= 1)%Z /\ (k1 < i)%nat /\ (k2 < i)%nat
  | _, _ => False
  end.

Definition gap_wait_together (i : nat) (w1 w2 : nat * found * list (nat * Z)) : Prop :=
  exists y1 y2 l, w1 = (j, y1, l) /\ w2 = (j, y2, l) /\ gap_together j y1 y2 /\ (j < i)%nat /\
    forall e, In e l -> (j < fst e)%nat.

Definition before_it (x : found) : option Z := match x with None => None | Some (b, _, _) => Some (b + 1)%Z end.

Definition gap_last (w1 w2 : nat * found * list (nat * Z)) : Z :=
  let '(_, y1, l1) := w1 in let '(_, y2, l2) := w2 in
  match needed q1 l1 (before_it y1), needed q2 l2 (before_it y2) with
  | Some e1, Some e2 => ((e2 - q2 j) - (e1 - q1 j))%Z
  | _, _ => 0%Z
  end.
End Place.

Definition place_of (r : option (nat * option Z)) : nat := match r with None => O | Some (j, _) => j end.

Lemma strategy_of_noisy_max_gap o r : deferred_strategy n o r
  (None : State (noisy_max_gap q1)) (None : State (noisy_max_gap q2)) (gap_waiting (place_of r) q1) (gap_waiting (place_of r) q2).
Proof.
  set (j := place_of r).
  assert (C0 : 0 <= c) by (apply le_trans with (1 : F); [apply one_ge0 | exact c_ge1]).
  assert (Free : forall z : Z, exists cost, 0 <= cost /\ p z <= cost * p (z + 0)%Z /\ cost * power c 2 <= power c 2).
  { intro z. exists 1. split; [apply one_ge0 |]. rewrite Z.add_0_r. split; (apply le_by with (0 : F); [ring | apply le_refl]). }
  refine (@Build_deferred_strategy F unit _ unit (noisy_max_gap q1) (noisy_max_gap q2) n o r None None
    (gap_waiting j q1) (gap_waiting j q2)
    (fun _ _ _ _ => 0%Z) (gap_together j) (fun _ _ _ => power c 2) (fun _ _ _ _ _ => 0%Z) (gap_wait_together j)
    (fun _ _ _ => power c 2) (gap_last j) _ _ _ _ _ _ _ _).
  - split; [lia | exact I].
  - intros i y1 y2 z Li [Le H] Wa Hd. cbv zeta. right. simpl in *. apply Nat.eqb_neq in Wa. pose proof (@near i) as N.
    split; [reflexivity |]. split; [| apply Free]. split; [lia |].
    rewrite Z.add_0_r. destruct y1 as [[[b1 k1] d1] |], y2 as [[[b2 k2] d2] |]; simpl; try contradiction; [| lia].
    destruct (b1 <? q1 i + z)%Z eqn:T1, (b2 <? q2 i + z)%Z eqn:T2; lia.
  - intros; lia.
  - intros y1 y2 [Le H] R. simpl in *. split; [| change (1 <= power c 2); now apply power_ge1].
    destruct y1 as [[[b1 k1] d1] |], y2 as [[[b2 k2] d2] |]; try contradiction; [| exact R].
    exfalso. simpl in R. subst r. simpl in j. unfold j in *. lia.
  - intros i y1 y2 Li H Wa Hd. right. simpl in *. apply Nat.eqb_eq in Wa. subst i. rewrite Nat.eqb_refl.
    repeat split; [| apply le_refl]. exists y1, y2, []. repeat split; try apply H; try lia. easy.
  - intros i w1 w2 z g Li (y1 & y2 & l & -> & -> & H & Lj & Hl) Hd. cbv zeta. right. simpl.
    split; [reflexivity |]. split; [| apply Free]. exists y1, y2, (l ++ [(i, z)]). rewrite Z.add_0_r.
    repeat split; try apply H; try lia. intros e M. apply in_app_or in M. destruct M as [M | [<- | []]]; [now apply Hl | exact Lj].
  - intros; lia.
  - intros w1 w2 u (y1 & y2 & l & -> & -> & [_ H] & Lj & Hl) _ R. simpl in R. cbv zeta. split; [exact I |].
    set (b1 := (q1 j + u)%Z). set (s := gap_last j (j, y1, l) (j, y2, l)).
    assert (C : close (before_it y1) (before_it y2)).
    { destruct y1 as [[[? ?] ?] |], y2 as [[[? ?] ?] |]; simpl in *; lia || tauto. }
    pose proof (needed_close l C) as CN.
    (* The first run: the winner is at j, and its noise is enough. *)
    assert (W : winner_of (run q1 l (gap_update q1 y1 j u)) = Some j).
    { fold (run q1 l (gap_update q1 y1 j u)) in R. destruct (run q1 l (gap_update q1 y1 j u)) as [[[b k] d] |] eqn:E; simpl in R |- *.
      - unfold j. now rewrite <- R.
      - exfalso. assert (Some' : forall l x, x <> None -> run q1 l x <> None).
        { clear. induction l as [| [i z] l IH]; intros [[[b k] d] |] X; simpl; try easy. destruct (b <? q1 i + z)%Z; now apply IH. }
        apply (Some' l (gap_update q1 y1 j u)); [| exact E]. destruct y1 as [[[b k] d] |]; simpl; [destruct (b <? q1 j + u)%Z |]; easy. }
    assert (Up : forall q (y : found) v, match y with None => True | Some (b, k, _) => (k < j)%nat end ->
      (enough (before_it y) (q j + v)%Z -> gap_update q y j v = Some ((q j + v)%Z, j, before_it y)) /\
      (enough (before_it y) (q j + v)%Z \/ winner_of (gap_update q y j v) <> Some j /\ gap_update q y j v <> None)).
    { intros q [[[b k] d] |] v K; simpl in *; [| now split; [| left]]. destruct (b <? q j + v)%Z eqn:T.
      - split; [reflexivity | left; lia].
      - split; [lia |]. right. simpl. split; [intro E; inversion E; lia | easy]. }
    assert (K1 : match y1 with None => True | Some (b, k, _) => (k < j)%nat end).
    { destruct y1 as [[[? ?] ?] |], y2 as [[[? ?] ?] |]; tauto. }
    assert (K2 : match y2 with None => True | Some (b, k, _) => (k < j)%nat end).
    { destruct y1 as [[[? ?] ?] |], y2 as [[[? ?] ?] |]; tauto. }
    destruct (Up q1 y1 u K1) as [U1 [En | [Bad1 Bad2]]]; [| exfalso; now destruct (loses q1 Hl Bad2 Bad1)].
    rewrite (U1 En) in W, R. pose proof (wins_only Hl En W) as En1.
    assert (Shift : enough (needed q2 l (before_it y2)) (q2 j + (u + s))%Z /\ (Z.abs s <= 2)%Z /\
      option_map (fun e => (q2 j + (u + s) - e)%Z) (needed q2 l (before_it y2)) =
      option_map (fun e => (q1 j + u - e)%Z) (needed q1 l (before_it y1))).
    { unfold s, gap_last. pose proof (@near j) as N.
      destruct (needed q1 l (before_it y1)) as [e1 |], (needed q2 l (before_it y2)) as [e2 |]; simpl in *; try contradiction.
      - split; [lia |]. split; [lia |]. f_equal. lia.
      - split; [exact I |]. split; [lia | reflexivity]. }
    destruct Shift as (En2 & Small & Gap). destruct (Up q2 y2 (u + s)%Z K2) as [U2 _].
    simpl. rewrite (U2 (needed_grows En2)). fold (run q2 l (Some ((q2 j + (u + s))%Z, j, before_it y2))).
    rewrite (wins j En2). fold (run q1 l (Some ((q1 j + u)%Z, j, before_it y1))) in R. rewrite (wins j En1) in R.
    split; [simpl in R |- *; rewrite <- R; now rewrite Gap |].
    exists (power c (Z.to_nat (Z.abs s))). split; [now apply power_ge0 |]. split; [apply p_slow |].
    change (power c (Z.to_nat (Z.abs s)) <= power c 2). apply power_mono; [exact c_ge1 | lia].
Defined.

(** Theorem. Whatever the number of queries, the budget is that of two steps. *)
Theorem noisy_max_gap_budget (Event : option (nat * option Z) -> Prop) b :
  let says q zs := answer (reached (P := noisy_max_gap q) 0 None zs) in
  let chance q := weight (law (p := noisy_max_gap q)) (step (p := noisy_max_gap q)) 0 None in
  at_most (chance q2) (fun zs => length zs = n /\ Event (says q2 zs)) b ->
  at_most (chance q1) (fun zs => length zs = n /\ Event (says q1 zs)) (power c 2 * b).
Proof.
  intros says chance. apply (deferred_bounds_events (Event := fun _ r => Event r) (s := strategy_of_noisy_max_gap)).
  - apply power_ge0. apply le_trans with (1 : F); [apply one_ge0 | exact c_ge1].
  - intros o r _. apply le_refl. Qed.
End NoisyMaxGap.
