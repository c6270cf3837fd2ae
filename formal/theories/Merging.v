(** * Merging states that are alike (rule D1 of docs/certificates/delta.md)

    States with equal labels and equal masses on every class have equal probabilities for every event. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Definition push (rep : positive -> positive) (l : list (positive * Q)) := map (fun e : positive * Q => (rep (fst e), snd e)) l.

Lemma eval_push (F : OrderedField) rep l (f : positive -> F) : eval (push rep l) f = eval l (fun s => f (rep s)).
Proof. induction l as [| [s q] l IH]; simpl; [reflexivity | now rewrite IH]. Qed.

(** [M] is the merged chain, [rep] maps a state to the one that stands for it. *)
Definition merged (C M : chain) (rep : positive -> positive) := forall s, In s (states C) ->
  In (rep s) (states M) /\ label C s = label M (rep s) /\
  all_zero (push rep (row C s) ++ scale (- (1)) (row M (rep s))) = true.

Theorem merging_keeps_events (F : OrderedField) C M rep : chain_ok C -> merged C M rep ->
  forall n s E, In s (states C) -> pr C n s E = (pr M n (rep s) E : F).
Proof.
  intros C_ok H; induction n as [| n IH]; intros s E Hs; simpl; [reflexivity |].
  destruct (H s Hs) as (_ & Lab & Z). rewrite <- Lab.
  apply all_zero_ok with (f := fun t => pr M n t (fun w => E (label C s :: w)) : F) in Z.
  rewrite eval_app, eval_push, eval_scale, ofQ_opp, ofQ_1 in Z. apply no_difference in Z.
  rewrite <- Z; apply (eval_row_ext C_ok Hs); auto.
Qed.
