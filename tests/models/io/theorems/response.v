(* The laws of the outputs of a system, one for each input, as exact rationals. Written by bisimdist.
   Rocq checks what is said of this table; that the system has these laws is not part of it. *)
From Coq Require Import String NArith QArith Bool List.
Import ListNotations.
Open Scope Q_scope.

Module law_of_response.

(* How likely an event is: a set of outputs, by their places. *)
Fixpoint event (E : nat -> bool) (l : list Q) : Q :=
  match l with
  | [] => 0
  | p :: l' => (if E O then p else 0) + event (fun n => E (S n)) l'
  end.

Definition inputs : list string := ["[0, 0]"; "[0, 1]"; "[1, 0]"; "[1, 1]"]%string.
Definition outputs : list string := ["[1, 1]"; "[1, 0]"; "[0, 1]"; "[0, 0]"]%string.
Definition laws : list (list Q) := [
  [(1#16); (3#16); (3#16); (9#16)];
  [(3#16); (1#16); (9#16); (3#16)];
  [(3#16); (9#16); (1#16); (3#16)];
  [(9#16); (3#16); (3#16); (1#16)]].
Definition law (i : N) : list Q := nth (N.to_nat i) laws [].

Definition is_law (l : list Q) : bool :=
  Nat.eqb (length l) (length outputs) && forallb (Qle_bool 0) l && Qeq_bool (event (fun _ => true) l) 1.

Lemma laws_checked : Nat.eqb (length laws) (length inputs) && forallb is_law laws = true.
Proof. vm_compute; reflexivity. Qed.

Theorem laws_are_distributions : length laws = length inputs /\
  forall l, In l laws -> length l = length outputs /\ (forall p, In p l -> 0 <= p) /\ event (fun _ => true) l == 1.
Proof.
  destruct (andb_prop _ _ laws_checked) as [N C]. split; [exact (proj1 (Nat.eqb_eq _ _) N) |].
  intros l I. pose proof (proj1 (forallb_forall _ _) C l I) as K. unfold is_law in K.
  apply andb_prop in K; destruct K as [K T]; apply andb_prop in K; destruct K as [K G].
  split; [exact (proj1 (Nat.eqb_eq _ _) K) |]. split; [| exact (proj1 (Qeq_bool_iff _ _) T)].
  intros p P. exact (proj1 (Qle_bool_iff _ _) (proj1 (forallb_forall _ _) G p P)).
Qed.

(* The budget: e^epsilon, and the pairs of inputs that are neighbours. *)
Definition ratio : Q := (3#1).
Definition neighbours : list (N * N) := [(0, 1); (0, 2); (1, 3); (2, 3)]%N.

Fixpoint within (r : Q) (l m : list Q) : bool :=
  match l, m with
  | [], [] => true
  | p :: l', q :: m' => Qle_bool p (r * q) && within r l' m'
  | _, _ => false
  end.

Lemma within_events r l : forall m, within r l m = true -> forall E, event E l <= r * event E m.
Proof.
  induction l as [| p l IH]; intros [| q m] H E; simpl in H; try discriminate; simpl.
  - rewrite Qmult_0_r; apply Qle_refl.
  - apply andb_prop in H; destruct H as [H K]. rewrite Qmult_plus_distr_r. apply Qplus_le_compat.
    + destruct (E O); [exact (proj1 (Qle_bool_iff _ _) H) | rewrite Qmult_0_r; apply Qle_refl].
    + exact (IH m K _).
Qed.

Lemma neighbours_checked : forallb (fun n => within ratio (law (fst n)) (law (snd n)) &&
  within ratio (law (snd n)) (law (fst n))) neighbours = true.
Proof. vm_compute; reflexivity. Qed.

Theorem budget : forall i j, In (i, j) neighbours -> forall E,
  event E (law i) <= ratio * event E (law j) /\ event E (law j) <= ratio * event E (law i).
Proof.
  intros i j I E. pose proof (proj1 (forallb_forall _ _) neighbours_checked _ I) as K. simpl in K.
  apply andb_prop in K; destruct K. split; now apply within_events.
Qed.

Lemma listed i j : existsb (fun n => N.eqb (fst n) i && N.eqb (snd n) j) neighbours = true -> In (i, j) neighbours.
Proof.
  intro H. apply existsb_exists in H; destruct H as [[s t] [I H]]. simpl in H.
  apply andb_prop in H; destruct H as [H K]. apply N.eqb_eq in H; apply N.eqb_eq in K. now subst.
Qed.

(* No smaller ratio holds. *)
Theorem attained : In (0, 1)%N neighbours /\ 0 < nth 1 (law 0%N) 0 /\ nth 1 (law 0%N) 0 == ratio * nth 1 (law 1%N) 0.
Proof. split; [apply listed; vm_compute; reflexivity | vm_compute; split; reflexivity]. Qed.

End law_of_response.

Print Assumptions law_of_response.laws_are_distributions.
Print Assumptions law_of_response.budget.
Print Assumptions law_of_response.attained.
