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

Definition inputs : list string := ["[0]"; "[1]"]%string.
Definition outputs : list string := ["[1]"; "[0]"]%string.
Definition laws : list (list Q) := [
  [(1#4); (3#4)];
  [(3#4); (1#4)]].
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

End law_of_response.

Print Assumptions law_of_response.laws_are_distributions.
