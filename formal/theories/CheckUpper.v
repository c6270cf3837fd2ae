(** * The checker of upper tables (rules U1 to U4), proved *)

From Coq Require Import ZArith QArith List Bool FMapPositive Lia.
From Bisimdist Require Import OrderedField Combination Chain UpperTable Tables CheckChain.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Record upper_entry := {
  u_pair : positive * positive;
  u_value : Q;
  forward : coupling;
  backward : coupling  (* of no meaning for lbd *)
}.

Section Check.
Variable C : chain.
Variable alpha : Q.
Variable both : bool.
Variable k : positive -> positive.
Variable known : positive -> bool.
Variable entries : list upper_entry.

Definition turned (p : positive * positive) := (snd p, fst p).
Definition both_orders (p : positive * positive) := p :: if both then [turned p] else [].

Definition upper_listed : table (table Q) :=
  build2 (flat_map (fun e => map (fun p => (p, u_value e)) (both_orders (u_pair e))) entries).

Definition upper_at (listed : table (table Q)) (i j : positive) : Q :=
  if Pos.eqb i j then 0%Q
  else if Pos.eqb (k i) (k j) then match find2 listed i j with Some v => v | None => 1%Q end
  else 1%Q.

Definition check_coupling (beta : Q) (D : positive -> positive -> Q) (w : coupling) (c : list (positive * Q)) (v : Q) : bool :=
  forallb (fun m => known (fst (fst m)) && known (snd (fst m)) && negb (Pos.eqb (fst (fst m)) (snd (fst m)))
                    && Qltb 0 (snd m)) (moves w) &&
  forallb (fun g => known (fst g) && Qltb 0 (snd g)) (given_up w) &&
  all_ge0 (surplus beta (moves w) (given_up w) c) &&
  Qleb (cost D (moves w) (given_up w)) v.

Definition check_upper_entry (D : positive -> positive -> Q) (e : upper_entry) : bool :=
  let (s, t) := u_pair e in
  known s && known t && negb (Pos.eqb s t) && Pos.eqb (k s) (k t) && Pos.eqb (label C s) (label C t) &&
  Qleb 0 (u_value e) && Qleb (u_value e) 1 &&
  check_coupling alpha D (forward e) (difference C alpha s t) (u_value e) &&
  (negb both || check_coupling alpha D (backward e) (difference C alpha t s) (u_value e)).

Definition check_upper_table (D : positive -> positive -> Q) : bool :=
  no_pair_twice (PositiveMap.empty _) (flat_map (fun e => both_orders (u_pair e)) entries) &&
  forallb (check_upper_entry D) entries.

Hypothesis known_ok : forall s, known s = true -> In s (states C).

Lemma check_coupling_ok beta D w c v : check_coupling beta D w c v = true -> couples C beta D w c v.
Proof.
  unfold check_coupling; rewrite !andb_true_iff, !forallb_forall; intros [[[M G] S] V]; repeat split.
  - apply M in H; rewrite !andb_true_iff in H; now apply known_ok.
  - apply M in H; rewrite !andb_true_iff in H; now apply known_ok.
  - apply M in H; rewrite !andb_true_iff, Qltb_lt in H. now apply Qlt_le_weak.
  - apply G in H; rewrite !andb_true_iff in H; now apply known_ok.
  - apply G in H; rewrite !andb_true_iff, Qltb_lt in H. now apply Qlt_le_weak.
  - assumption.
  - now apply Qle_bool_iff. Qed.

Theorem check_upper_table_ok : check_upper_table (upper_at upper_listed) = true ->
  upper_rules C alpha both (upper_at upper_listed).
Proof.
  unfold check_upper_table; rewrite andb_true_iff, forallb_forall; intros [_ H] s t Hs Ht.
  set (D := upper_at upper_listed) in *.
  assert (Cases : (D s t == 0 /\ s = t)%Q \/ D s t = 1%Q \/
    exists e, In e entries /\ In (s, t) (both_orders (u_pair e)) /\ D s t = u_value e).
  { unfold D, upper_at. destruct (Pos.eqb s t) eqn:E; [left; split; [reflexivity | now apply Pos.eqb_eq] |].
    right. destruct (Pos.eqb (k s) (k t)); [| now left].
    destruct (find2 upper_listed s t) as [v |] eqn:Fd; [| now left].
    right. unfold upper_listed in Fd; apply build2_found, in_flat_map in Fd; destruct Fd as (e & I & J).
    apply in_map_iff in J; destruct J as (p & J & K); injection J as -> <-. now exists e. }
  destruct Cases as [[Z E] | [E | (e & I & J & E)]].
  - rewrite Z; split; [apply Qle_refl | auto].
  - rewrite E; split; [easy | left; apply Qle_refl].
  - specialize (H e I). unfold check_upper_entry in H. destruct (u_pair e) as [s' t'] eqn:P.
    rewrite !andb_true_iff, orb_true_iff, !negb_true_iff in H.
    destruct H as [[[[[[[[Ks Kt] _] _] Lab] V0] _] Fw] Bw]. apply Pos.eqb_eq in Lab. apply Qle_bool_iff in V0.
    rewrite E; split; [assumption |]. right; right.
    apply check_coupling_ok in Fw.
    assert (Bw' : both = true -> couples C alpha D (backward e) (difference C alpha t' s') (u_value e)).
    { intro B; destruct Bw as [Bw | Bw]; [congruence | now apply check_coupling_ok]. }
    unfold both_orders in J; destruct J as [J | J].
    + injection J as -> ->. repeat split; [assumption | eauto | eauto].
    + destruct both; [| easy]. destruct J as [J | []]; injection J as -> ->.
      repeat split; [congruence | exists (backward e); now apply Bw' | eauto].
Qed.
End Check.
