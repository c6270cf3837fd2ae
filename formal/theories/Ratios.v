(** * Likelihood ratios (rule D9 of docs/certificates/delta.md)

    A table R with nu_i <= R(i, j) nu_j, and bounds of a vector by covering its positive entries with negative ones. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain Delta.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Check.
Variable C : chain.
Variable R : positive -> positive -> option Q.

Definition ratio_at (k l : positive) : option Q := if Pos.eqb k l then Some 1%Q else R k l.

(** The mass that k can be covered with: the sum of mu_j(l) / R(k, l). *)
Definition reach (k : positive) (right : list (positive * Q)) : Q :=
  fold_right (fun e x => match ratio_at k (fst e) with Some r => Qred (snd e / r + x) | None => x end)%Q 0%Q right.

Definition spread (left right : list (positive * Q)) : Q :=
  fold_right (fun e x => Qred (snd e / reach (fst e) right + x))%Q 0%Q left.

(** Rule D9 for the successors of one label: they stay where they are, or are spread in proportion. *)
Definition stays_below (r : Q) (left right : list (positive * Q)) : bool :=
  all_ge0 (scale r right ++ scale (- (1)) left)
  || forallb (fun e => negb (Qle_bool (reach (fst e) right) 0)) left && Qle_bool (spread left right) r.

Definition of_label (a : positive) (l : list (positive * Q)) := filter (fun e => Pos.eqb (label C (fst e)) a) l.
Definition not_of_label (a : positive) (l : list (positive * Q)) := filter (fun e => negb (Pos.eqb (label C (fst e)) a)) l.

(** ... for one label after another. *)
Fixpoint stays_below_by_label (labels : list positive) (r : Q) (left right : list (positive * Q)) : bool :=
  match labels with
  | [] => match left with [] => true | _ => false end
  | a :: labels' => stays_below r (of_label a left) (of_label a right)
      && stays_below_by_label labels' r (not_of_label a left) (not_of_label a right)
  end.

Definition ratio_ok (i j : positive) (r : Q) :=
  In i (states C) /\ In j (states C) /\ label C i = label C j /\ (1 <= r)%Q /\
  exists labels, stays_below_by_label labels r (row C i) (row C j) = true.

Definition ratios_ok := forall i j r, R i j = Some r -> ratio_ok i j r.
End Check.

Section Soundness.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable R : positive -> positive -> option Q.
Hypothesis R_ok : ratios_ok C R.

Lemma ratio_ge1 k l r : ratio_at R k l = Some r -> (1 <= r)%Q.
Proof. unfold ratio_at; destruct (Pos.eqb k l); intro H; [injection H as <-; apply Qle_refl |].
  now destruct (R_ok H) as (_ & _ & _ & K & _). Qed.

Section Step.
Variable g : positive -> F.

Definition nonnegative (l : list (positive * Q)) := forall k q, In (k, q) l -> (0 <= q)%Q /\ 0 <= g k.

Lemma eval_nonnegative l : nonnegative l -> 0 <= eval l g.
Proof. intro H; apply eval_ge0; intros s q I; now apply (H s q). Qed.

Lemma nonnegative_filter p l : nonnegative l -> nonnegative (filter p l).
Proof. intros H k q I; apply filter_In in I; now apply H. Qed.

Hypothesis g_below : forall k l r, R k l = Some r -> g k <= ofQ r * g l.

Lemma below_at k l r : ratio_at R k l = Some r -> g k <= ofQ r * g l.
Proof. unfold ratio_at; destruct (Pos.eqb k l) eqn:E; intro H; [| now apply g_below].
  apply Pos.eqb_eq in E; subst; injection H as <-. rewrite ofQ_1. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma ofQ_div p q : (0 < q)%Q -> ofQ (p / q) = ofQ p * inv (ofQ q) :> F.
Proof. intro H. assert (N : ofQ q <> (0 : F)) by (now apply lt_neq, ofQ_gt0).
  assert (E : ofQ (p / q) * ofQ q = (ofQ p : F)).
  { rewrite <- ofQ_mul; apply ofQ_eq. field. intro Z; rewrite Z in H; now apply (Qlt_irrefl 0). }
  rewrite <- E; field; assumption. Qed.

Lemma reach_bounds k right : 0 <= g k -> nonnegative right -> ofQ (reach R k right) * g k <= eval right g.
Proof.
  intro G. induction right as [| [l q] right IH]; simpl; intro N.
  - rewrite ofQ_0. apply le_by with (0 : F); [ring | apply le_refl].
  - assert (N' : nonnegative right) by (intros x p I; apply N; now right).
    destruct (N l q (or_introl eq_refl)) as [Q0 Gl]. specialize (IH N').
    destruct (ratio_at R k l) as [r |] eqn:E.
    + pose proof (ratio_ge1 E) as R1. apply below_at in E.
      assert (Rp : (0 < r)%Q) by (apply Qlt_le_trans with 1%Q; [easy | assumption]).
      rewrite (ofQ_eq F (Qred_correct _)), ofQ_add, ofQ_div by assumption.
      assert (Rn : ofQ r <> (0 : F)) by (now apply lt_neq, ofQ_gt0).
      apply le_by with (ofQ q * inv (ofQ r) * (ofQ r * g l - g k) + (eval right g - ofQ (reach R k right) * g k)); [field; assumption |].
      apply add_ge0; [| now apply sub_ge0]. apply le_mul; [| now apply sub_ge0].
      apply le_mul; [now apply ofQ_ge0 | now apply lt_le, inv_gt0, ofQ_gt0].
    + apply le_by with (ofQ q * g l + (eval right g - ofQ (reach R k right) * g k)); [ring |].
      apply add_ge0; [apply le_mul; [now apply ofQ_ge0 | assumption] | now apply sub_ge0]. Qed.

Lemma spread_bounds left right : nonnegative left -> nonnegative right ->
  forallb (fun e => negb (Qle_bool (reach R (fst e) right) 0)) left = true ->
  eval left g <= ofQ (spread R left right) * eval right g.
Proof.
  intros Nl Nr. induction left as [| [k q] left IH]; simpl; intro H.
  - rewrite ofQ_0. apply le_by with (0 : F); [ring | apply le_refl].
  - apply andb_true_iff in H; destruct H as [H0 H].
    destruct (Nl k q (or_introl eq_refl)) as [Q0 Gk].
    assert (Rp : (0 < reach R k right)%Q).
    { apply Qnot_le_lt; intro B. apply Qle_bool_iff in B; rewrite B in H0; easy. }
    rewrite (ofQ_eq F (Qred_correct _)), ofQ_add, ofQ_div by assumption.
    assert (Rn : ofQ (reach R k right) <> (0 : F)) by (now apply lt_neq, ofQ_gt0).
    apply le_by with (ofQ q * inv (ofQ (reach R k right)) * (eval right g - ofQ (reach R k right) * g k)
      + (ofQ (spread R left right) * eval right g - eval left g)); [field; assumption |].
    apply add_ge0.
    + apply le_mul; [| apply sub_ge0; now apply reach_bounds].
      apply le_mul; [now apply ofQ_ge0 | now apply lt_le, inv_gt0, ofQ_gt0].
    + apply sub_ge0, IH; [| assumption]. intros x p I; apply Nl; now right. Qed.

Lemma stays_below_ok r left right : nonnegative left -> nonnegative right -> stays_below R r left right = true ->
  eval left g <= ofQ r * eval right g.
Proof.
  intros Nl Nr H; apply orb_true_iff in H; destruct H as [H | H].
  - apply all_ge0_ok with (f := g) in H.
    + rewrite eval_app, !eval_scale, ofQ_opp, ofQ_1 in H.
      eapply le_by; [| exact H]; ring.
    + intros s q I; apply in_app_iff in I; destruct I as [I | I]; apply in_map_iff in I; destruct I as ([k p] & E & I);
        injection E as <- _; [now apply (Nr k p) | now apply (Nl k p)].
  - apply andb_true_iff in H; destruct H as [H S]. apply Qle_bool_iff in S.
    apply le_trans with (ofQ (spread R left right) * eval right g); [now apply spread_bounds |].
    apply le_by with (eval right g * (ofQ r - ofQ (spread R left right))); [ring |].
    apply le_mul; [now apply eval_nonnegative | apply sub_ge0; now apply ofQ_le]. Qed.

Lemma eval_split a l : eval l g = eval (of_label C a l) g + eval (not_of_label C a l) g.
Proof. induction l as [| [s q] l IH]; simpl; [ring |].
  unfold of_label, not_of_label in *; simpl. destruct (Pos.eqb (label C s) a); simpl; rewrite IH; ring. Qed.

Lemma by_label_ok labels : forall r left right, nonnegative left -> nonnegative right -> (0 <= r)%Q ->
  stays_below_by_label C R labels r left right = true -> eval left g <= ofQ r * eval right g.
Proof.
  induction labels as [| a labels IH]; simpl; intros r left right Nl Nr R0 H.
  - destruct left; [| easy]; simpl. apply le_mul; [now apply ofQ_ge0 | now apply eval_nonnegative].
  - apply andb_true_iff in H; destruct H as [H H'].
    rewrite (eval_split a left), (eval_split a right).
    apply stays_below_ok in H; try (now apply nonnegative_filter).
    apply IH in H'; try (now apply nonnegative_filter); [| assumption].
    apply le_by with ((ofQ r * eval (of_label C a right) g - eval (of_label C a left) g)
       + (ofQ r * eval (not_of_label C a right) g - eval (not_of_label C a left) g)); [ring |].
    apply add_ge0; now apply sub_ge0. Qed.
End Step.

(** Theorem. nu_i(E) <= R(i, j) nu_j(E) for every event E. *)
Theorem ratios_bound_events : forall n E i j r, R i j = Some r -> pr C n i E <= ofQ r * (pr C n j E : F).
Proof.
  induction n as [| n IH]; intros E i j r H; destruct (R_ok H) as (Hi & Hj & Lab & R1 & (labels & S)).
  - simpl; destruct (E []).
    + rewrite <- ofQ_1. apply le_by with (ofQ r - ofQ 1 : F); [rewrite ofQ_1; ring | apply sub_ge0; now apply ofQ_le].
    + apply le_by with (0 : F); [ring | apply le_refl].
  - simpl. rewrite <- Lab. apply by_label_ok with labels; try assumption.
    + intros k l r'; apply IH.
    + intros k q I; destruct (C_ok Hi) as [K _]; destruct (K k q I); split; [assumption | now apply pr_bounds].
    + intros k q I; destruct (C_ok Hj) as [K _]; destruct (K k q I); split; [assumption | now apply pr_bounds].
    + apply Qle_trans with 1%Q; [easy | assumption].
Qed.

(** Negative masses that cover the positive ones: nothing is gained. *)
Definition covering (covers : list (positive * positive * Q)) : list (positive * Q) :=
  flat_map (fun m : positive * positive * Q => match R (fst (fst m)) (snd (fst m)) with
    | Some r => [(fst (fst m), snd m); (snd (fst m), Qred (- r * snd m))]
    | None => []
    end) covers.

Theorem covers_bound covers c n E : inside C c ->
  (forall m, In m covers -> (0 <= snd m)%Q /\ In (fst (fst m)) (states C) /\ In (snd (fst m)) (states C)) ->
  all_ge0 (covering covers ++ scale (- (1)) c) = true ->
  gains F C c n E <= 0.
Proof.
  intros K Cs A. set (f := fun i => pr C n i E : F).
  apply all_ge0_ok with (f := f) in A.
  - rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in A. unfold gains; fold f.
    assert (N : eval (covering covers) f <= 0).
    { clear A. induction covers as [| [[i j] w] l IH]; [apply le_refl |].
      unfold covering; simpl; fold (covering l).
      assert (IHl : eval (covering l) f <= 0) by (apply IH; intros; apply Cs; now right).
      destruct (Cs (i, j, w) (or_introl eq_refl)) as [W _]; simpl in W.
      destruct (R i j) as [r |] eqn:E'; [| assumption]. rewrite eval_app; simpl.
      rewrite (ofQ_eq F (Qred_correct _)), ofQ_mul, ofQ_opp.
      pose proof (ratios_bound_events n E E') as B. fold (f i) (f j) in B.
      apply le_by with (ofQ w * (ofQ r * f j - f i) + (0 - eval (covering l) f)); [ring |].
      apply add_ge0; [apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0] | now apply sub_ge0]. }
    apply le_trans with (2 := N). eapply le_by; [| exact A]; ring.
  - intros s q I; apply in_app_iff in I; unfold f; apply pr_bounds; [assumption |]; destruct I as [I | I].
    + unfold covering in I; apply in_flat_map in I; destruct I as ([[i j] w] & I & J); simpl in J.
      destruct (Cs _ I) as (_ & Si & Sj); simpl in Si, Sj. destruct (R i j); [| easy].
      destruct J as [J | [J | []]]; injection J as <- _; assumption.
    + apply in_map_iff in I; destruct I as ([k p] & E' & I); injection E' as <- _; now apply (K k p).
Qed.
End Soundness.
