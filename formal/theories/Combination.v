(** * Formal linear combinations

    Rows, couplings and signed vectors are all lists of pairs of a state and a rational. [eval l f] is the sum of
    q * f(s) over the pairs (s, q) of such a list. That a coupling carries enough away (rules U3 and D6), or that
    two vectors are equal (D1 and D4), is a statement about the coefficients after equal states have been added
    up; [norm] does that. Nothing below needs that [norm] finds all equal states, only that it keeps [eval]. *)

From Coq Require Import ZArith QArith List Permutation Mergesort Orders Bool Field Lia.
From Bisimdist Require Import OrderedField.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Combination.
Variable F : OrderedField.
Variable S : Type.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Implicit Types (l m : list (S * Q)) (f g : S -> F) (q : Q).

Fixpoint eval l f : F :=
  match l with
  | [] => 0
  | (s, q) :: l' => ofQ q * f s + eval l' f
  end.

Definition scale q l := map (fun e : S * Q => (fst e, Qred (q * snd e))) l.

Lemma eval_app l m f : eval (l ++ m) f = eval l f + eval m f.
Proof. induction l as [| [s q] l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma eval_scale q l f : eval (scale q l) f = ofQ q * eval l f.
Proof. induction l as [| [s p] l IH]; simpl; [ring |].
  rewrite IH, (ofQ_eq F (Qred_correct _)), ofQ_mul; ring. Qed.

Lemma eval_permutation l m f : Permutation l m -> eval l f = eval m f.
Proof. induction 1; simpl; repeat match goal with e : S * Q |- _ => destruct e end;
  try congruence; ring. Qed.

Lemma eval_ext l f g : (forall s q, In (s, q) l -> f s = g s) -> eval l f = eval l g.
Proof. induction l as [| [s q] l IH]; simpl; intro H; [reflexivity |].
  rewrite (H s q), IH; auto. intros; apply H with q0; auto. Qed.

Lemma eval_le l f g :
  (forall s q, In (s, q) l -> ofQ q * f s <= ofQ q * g s) -> eval l f <= eval l g.
Proof. induction l as [| [s q] l IH]; simpl; intro H; [apply le_refl |].
  apply le_add2; [apply H | apply IH; intros; apply H]; auto. Qed.

Lemma eval_ge0 l f : (forall s q, In (s, q) l -> (0 <= q)%Q) -> (forall s q, In (s, q) l -> 0 <= f s) -> 0 <= eval l f.
Proof. induction l as [| [s q] l IH]; simpl; intros H K; [apply le_refl |].
  apply add_ge0; [apply le_mul; [apply ofQ_ge0, (H s) | apply (K s q)] | apply IH; intros; [apply (H s0) | apply (K s0 q0)]]; auto.
Qed.

Lemma eval_add l f g : eval l (fun s => f s + g s) = eval l f + eval l g.
Proof. induction l as [| [s q] l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma eval_mul l (x : F) f : eval l (fun s => x * f s) = x * eval l f.
Proof. induction l as [| [s q] l IH]; simpl; [| rewrite IH]; ring. Qed.

Definition total l : Q := fold_right (fun e x => Qred (snd e + x)) 0%Q l.

Lemma eval_const l (x : F) : eval l (fun _ => x) = ofQ (total l) * x.
Proof. induction l as [| [s q] l IH]; simpl; [rewrite ofQ_0; ring |].
  rewrite IH, (ofQ_eq F (Qred_correct _)), ofQ_add; ring. Qed.

(** ** Adding up what belongs together *)

Variable eqb : S -> S -> bool.
Hypothesis eqb_eq : forall x y, eqb x y = true -> x = y.

Fixpoint merge_from (s : S) (q : Q) l : list (S * Q) :=
  match l with
  | [] => [(s, q)]
  | (t, p) :: l' => if eqb s t then merge_from s (Qred (q + p)) l' else (s, q) :: merge_from t p l'
  end.

Definition merge l := match l with [] => [] | (s, q) :: l' => merge_from s q l' end.

Lemma eval_merge_from s q l f : eval (merge_from s q l) f = ofQ q * f s + eval l f.
Proof. revert s q; induction l as [| [t p] l IH]; intros s q; simpl; [ring |].
  destruct (eqb s t) eqn:E; simpl; rewrite IH; [| ring].
  apply eqb_eq in E; subst. rewrite (ofQ_eq F (Qred_correct _)), ofQ_add; ring. Qed.

Lemma eval_merge l f : eval (merge l) f = eval l f.
Proof. destruct l as [| [s q] l]; simpl; [reflexivity | apply eval_merge_from]. Qed.

Definition nonzero l := filter (fun e => negb (Qeq_bool (snd e) 0)) l.

Lemma eval_nonzero l f : eval (nonzero l) f = eval l f.
Proof. induction l as [| [s q] l IH]; simpl; [reflexivity |].
  destruct (Qeq_bool q 0) eqn:E; simpl; rewrite IH; [| reflexivity].
  apply Qeq_bool_eq in E. rewrite (ofQ_eq F E), ofQ_0; ring. Qed.

End Combination.

(** ** Sorting by states, which are positive numbers for the checker, or by pairs of them *)

Module ByState <: TotalLeBool.
  Definition t := (positive * Q)%type.
  Definition leb (x y : t) := Pos.leb (fst x) (fst y).
  Lemma leb_total x y : leb x y = true \/ leb y x = true.
  Proof. unfold leb; rewrite !Pos.leb_le; lia. Qed.
End ByState.
Module SortByState := Sort ByState.

Module ByPair <: TotalLeBool.
  Definition t := ((positive * positive) * Q)%type.
  Definition leb (x y : t) :=
    match Pos.compare (fst (fst x)) (fst (fst y)) with
    | Lt => true
    | Eq => Pos.leb (snd (fst x)) (snd (fst y))
    | Gt => false
    end.
  Lemma leb_total x y : leb x y = true \/ leb y x = true.
  Proof. unfold leb. rewrite (Pos.compare_antisym (fst (fst x))).
    destruct (Pos.compare_spec (fst (fst x)) (fst (fst y))); simpl; auto.
    rewrite !Pos.leb_le; lia. Qed.
End ByPair.
Module SortByPair := Sort ByPair.

Definition norm (l : list (positive * Q)) := nonzero (merge Pos.eqb (SortByState.sort l)).

Lemma eval_norm (F : OrderedField) l (f : positive -> F) : eval (norm l) f = eval l f.
Proof. unfold norm. rewrite eval_nonzero, eval_merge by apply Pos.eqb_eq.
  apply eval_permutation, Permutation_sym, SortByState.Permuted_sort. Qed.

Definition pair_eqb (x y : positive * positive) := (Pos.eqb (fst x) (fst y) && Pos.eqb (snd x) (snd y))%bool.

Lemma pair_eqb_eq x y : pair_eqb x y = true -> x = y.
Proof. destruct x, y; unfold pair_eqb; simpl; rewrite andb_true_iff, !Pos.eqb_eq; intros []; congruence. Qed.

Definition norm_pairs (l : list (positive * positive * Q)) := nonzero (merge pair_eqb (SortByPair.sort l)).

Lemma eval_norm_pairs (F : OrderedField) l (f : positive * positive -> F) : eval (norm_pairs l) f = eval l f.
Proof. unfold norm_pairs. rewrite eval_nonzero, eval_merge by apply pair_eqb_eq.
  apply eval_permutation, Permutation_sym, SortByPair.Permuted_sort. Qed.

Lemma merge_from_keys (S : Type) (eqb : S -> S -> bool) s q l t p :
  In (t, p) (merge_from eqb s q l) -> t = s \/ exists p', In (t, p') l.
Proof. revert s q; induction l as [| [x r] l IH]; intros s q; simpl.
  - intros [E | []]; left; congruence.
  - destruct (eqb s x).
    + intro I; destruct (IH _ _ I) as [E | [p' J]]; [now left | right; exists p'; now right].
    + intros [E | I]; [left; congruence |]. destruct (IH _ _ I) as [-> | [p' J]]; right; [exists r | exists p']; auto. Qed.

Lemma norm_keys l t p : In (t, p) (norm l) -> exists p', In (t, p') l.
Proof. unfold norm, nonzero; intro I; apply filter_In in I; destruct I as [I _].
  destruct (SortByState.sort l) as [| [s q] m] eqn:E; [easy |]. simpl in I.
  assert (K : exists p', In (t, p') (SortByState.sort l)).
  { rewrite E. destruct (merge_from_keys I) as [-> | [p' J]]; [exists q; now left | exists p'; now right]. }
  destruct K as [p' K]; exists p'. apply (Permutation_in (l := SortByState.sort l)); [| assumption].
  apply Permutation_sym, SortByState.Permuted_sort. Qed.

(** The same sum in rationals. *)
Definition evalQ (l : list (positive * Q)) (f : positive -> Q) : Q :=
  fold_right (fun e x => Qred (snd e * f (fst e) + x))%Q 0%Q l.

Lemma eval_evalQ (F : OrderedField) l f : eval l (fun s => ofQ (f s)) = (ofQ (evalQ l f) : F).
Proof. induction l as [| [s q] l IH]; simpl; [now rewrite ofQ_0 |].
  now rewrite IH, (ofQ_eq F (Qred_correct _)), ofQ_add, ofQ_mul. Qed.

Lemma evalQ_le c (f g : positive -> Q) : (forall s q, In (s, q) c -> (q * f s <= q * g s)%Q) -> (evalQ c f <= evalQ c g)%Q.
Proof. induction c as [| [s q] c IH]; simpl; intro H; [apply Qle_refl |]. rewrite !Qred_correct.
  apply Qplus_le_compat; [apply H; now left | apply IH; intros; apply H; now right]. Qed.

(** All coefficients are at least 0, or all are 0, once equal states are added up. *)
Definition all_ge0 (l : list (positive * Q)) := forallb (fun e => Qle_bool 0 (snd e)) (norm l).
Definition all_zero (l : list (positive * Q)) := match norm l with [] => true | _ => false end.

Lemma all_ge0_ok (F : OrderedField) l (f : positive -> F) :
  all_ge0 l = true -> (forall s q, In (s, q) l -> le zero (f s)) -> le zero (eval l f).
Proof. unfold all_ge0; intros H K. rewrite <- eval_norm. apply eval_ge0; intros s q I.
  - rewrite forallb_forall in H. apply H in I. now apply Qle_bool_iff.
  - destruct (norm_keys I) as [p J]; now apply (K s p). Qed.

Lemma all_zero_ok (F : OrderedField) l (f : positive -> F) : all_zero l = true -> eval l f = zero.
Proof. unfold all_zero; intro H. rewrite <- eval_norm. destruct (norm l); [reflexivity | discriminate]. Qed.
