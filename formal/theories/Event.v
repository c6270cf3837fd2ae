(** * delta from below by an event (rule D8 of docs/certificates/delta.md)

    An event is an automaton that reads labels, the first one included. What it has accepted after n labels is an
    event of n labels, and [run] computes its probability, moving masses from node to node. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Inductive target := Accept | Reject | Go (node : positive).

Section Event.
Variable go : positive -> positive -> target.  (* by node and label *)

Fixpoint accepts (node : positive) (w : list positive) : bool :=
  match w with
  | [] => false
  | a :: w' => match go node a with Accept => true | Reject => false | Go m => accepts m w' end
  end.

Definition event_of (root : target) (w : list positive) : bool :=
  match root with Accept => true | Reject => false | Go m => accepts m w end.

Variable C : chain.

(** Where the masses at (node, state) are after the state's label is read. *)
Definition advance (l : list (positive * positive * Q)) : list (positive * positive * Q) :=
  flat_map (fun e : positive * positive * Q =>
    match go (fst (fst e)) (label C (snd (fst e))) with
    | Go m => map (fun t : positive * Q => ((m, fst t), Qred (snd e * snd t))) (row C (snd (fst e)))
    | _ => []
    end) l.

Definition accepted (l : list (positive * positive * Q)) : Q :=
  fold_right (fun e x => match go (fst (fst e)) (label C (snd (fst e))) with Accept => Qred (snd e + x) | _ => x end)%Q 0%Q l.

Fixpoint run (n : nat) (l : list (positive * positive * Q)) : Q :=
  match n, l with
  | O, _ | _, [] => 0%Q
  | S n', _ => Qred (accepted l + run n' (norm_pairs (advance l)))
  end.

Definition probability (n : nat) (root : target) (s : positive) : Q :=
  match root with Accept => 1%Q | Reject => 0%Q | Go m => run n [((m, s), 1%Q)] end.
End Event.

Lemma norm_pairs_keys l t p : In (t, p) (norm_pairs l) -> exists p', In (t, p') l.
Proof. unfold norm_pairs, nonzero; intro I; apply filter_In in I; destruct I as [I _].
  destruct (SortByPair.sort l) as [| [s q] m] eqn:E; [easy |]. simpl in I.
  assert (K : exists p', In (t, p') (SortByPair.sort l)).
  { rewrite E. destruct (merge_from_keys I) as [-> | [p' J]]; [exists q; now left | exists p'; now right]. }
  destruct K as [p' K]; exists p'. apply (Permutation.Permutation_in (l := SortByPair.sort l)); [| assumption].
  apply Permutation.Permutation_sym, SortByPair.Permuted_sort. Qed.

Section Soundness.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable go : positive -> positive -> target.

Let value n (e : positive * positive) : F := pr C n (snd e) (accepts go (fst e)).

Lemma value_step n m s : In s (states C) -> value (S n) (m, s) =
  match go m (label C s) with Accept => 1 | Reject => 0 | Go m' => eval (row C s) (fun t => value n (m', t)) end.
Proof.
  intro Hs; unfold value; simpl. destruct (go m (label C s)) as [| | m'] eqn:E.
  - rewrite <- (eval_row_const C_ok 1 Hs). apply (eval_row_ext C_ok Hs). intros t Ht.
    clear s Hs E. revert t Ht; induction n as [| n IH]; intros t Ht; simpl; [reflexivity |].
    rewrite <- (eval_row_const C_ok 1 Ht). now apply (eval_row_ext C_ok Ht).
  - rewrite <- (eval_row_const C_ok 0 Hs). apply (eval_row_ext C_ok Hs). intros t Ht.
    clear s Hs E. revert t Ht; induction n as [| n IH]; intros t Ht; simpl; [reflexivity |].
    rewrite <- (eval_row_const C_ok 0 Ht). now apply (eval_row_ext C_ok Ht).
  - apply eval_ext; intros t q I. apply pr_ext; intro w; now rewrite ?E.
Qed.

Lemma eval_moved (m : positive) q l (f : positive * positive -> F) : eval (map (fun t : positive * Q => ((m, fst t), Qred (q * snd t))) l) f
  = ofQ q * eval l (fun t => f (m, t)) :> F.
Proof. induction l as [| [t p] l IH]; simpl; [ring |].
  rewrite IH, (ofQ_eq F (Qred_correct _)), ofQ_mul; ring. Qed.

Lemma run_ok n : forall l, (forall e q, In (e, q) l -> In (snd e) (states C)) ->
  ofQ (run go C n l) = (eval l (value n) : F).
Proof.
  induction n as [| n IH]; intros l K.
  - simpl. rewrite ofQ_0. rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const; ring |].
    intros [m s] q _; reflexivity.
  - assert (E : ofQ (run go C (S n) l) = ofQ (accepted go C l + run go C n (norm_pairs (advance go C l))) :> F).
    { simpl; destruct l; [| apply ofQ_eq, Qred_correct]. simpl. symmetry.
      rewrite ofQ_add, (IH (norm_pairs [])); [simpl; rewrite ofQ_0; ring |]. intros e q []. }
    rewrite E, ofQ_add, IH.
    + rewrite eval_norm_pairs. clear IH E. induction l as [| [[m s] q] l IHl]; simpl; [rewrite ofQ_0; ring |].
      assert (IHl' := IHl (fun e p I => K e p (or_intror I))). clear IHl.
      assert (Hs : In s (states C)) by (apply (K (m, s) q); now left).
      rewrite eval_app, (value_step n m Hs), <- IHl'.
      destruct (go m (label C s)) as [| | m'].
      * rewrite (ofQ_eq F (Qred_correct _)), ofQ_add; simpl; ring.
      * simpl; ring.
      * rewrite eval_moved; ring.
    + intros [m t] q I; simpl. apply norm_pairs_keys in I; destruct I as [p I].
      apply in_flat_map in I; destruct I as ([[m' s] q'] & I & J). apply K in I; simpl in I, J.
      destruct (go m' (label C s)); try easy. apply in_map_iff in J; destruct J as ([t' r] & E' & J).
      injection E' as _ <- _. now apply (C_ok I) in J.
Qed.

(** Theorem. The computed number is the probability of the event, from every state. *)
Theorem probability_ok n root s : In s (states C) -> ofQ (probability go C n root s) = (pr C n s (event_of go root) : F).
Proof.
  intro Hs; destruct root as [| | m]; simpl.
  - rewrite ofQ_1. symmetry. revert s Hs; induction n as [| n IH]; intros s Hs; simpl; [reflexivity |].
    rewrite <- (eval_row_const C_ok 1 Hs). now apply (eval_row_ext C_ok Hs).
  - rewrite ofQ_0. symmetry. revert s Hs; induction n as [| n IH]; intros s Hs; simpl; [reflexivity |].
    rewrite <- (eval_row_const C_ok 0 Hs). now apply (eval_row_ext C_ok Hs).
  - change (event_of go (Go m)) with (accepts go m). rewrite run_ok; [simpl; unfold value; simpl; rewrite ofQ_1; ring |].
    intros e q [E | []]; injection E as <- _; assumption.
Qed.
End Soundness.
