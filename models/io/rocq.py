# ruff: noqa: E501
"""Laws as theorems for Rocq (Coq), with nothing but its standard library."""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from flint import fmpq

from bisimdist.models.io.theorem import Laws, plain

_FACTS = """\
(* The laws of the outputs of a system, one for each input, as exact rationals. Written by bisimdist.
   Rocq checks what is said of this table; that the system has these laws is not part of it. *)
From Coq Require Import String NArith QArith Bool List.
Import ListNotations.
Open Scope Q_scope.

Module $name.

(* How likely an event is: a set of outputs, by their places. *)
Fixpoint event (E : nat -> bool) (l : list Q) : Q :=
  match l with
  | [] => 0
  | p :: l' => (if E O then p else 0) + event (fun n => E (S n)) l'
  end.

Definition inputs : list string := [$inputs]%string.
Definition outputs : list string := [$outputs]%string.
Definition laws : list (list Q) := [
$rows].
Definition law (i : N) : list Q := nth (N.to_nat i) laws [].

Definition is_law (l : list Q) : bool :=
  Nat.eqb (length l) (length outputs) && forallb (Qle_bool 0) l && Qeq_bool (event (fun _ => true) l) 1.

Lemma laws_checked : Nat.eqb (length laws) (length inputs) && forallb is_law laws = true.
Proof. vm_compute; reflexivity. Qed.

Theorem laws_are_distributions : length laws = length inputs /\\
  forall l, In l laws -> length l = length outputs /\\ (forall p, In p l -> 0 <= p) /\\ event (fun _ => true) l == 1.
Proof.
  destruct (andb_prop _ _ laws_checked) as [N C]. split; [exact (proj1 (Nat.eqb_eq _ _) N) |].
  intros l I. pose proof (proj1 (forallb_forall _ _) C l I) as K. unfold is_law in K.
  apply andb_prop in K; destruct K as [K T]; apply andb_prop in K; destruct K as [K G].
  split; [exact (proj1 (Nat.eqb_eq _ _) K) |]. split; [| exact (proj1 (Qeq_bool_iff _ _) T)].
  intros p P. exact (proj1 (Qle_bool_iff _ _) (proj1 (forallb_forall _ _) G p P)).
Qed.
"""

_BUDGET = """
(* The budget: e^epsilon, and the pairs of inputs that are neighbours. *)
Definition ratio : Q := $ratio.
Definition neighbours : list (N * N) := [$neighbours]%N.

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
  event E (law i) <= ratio * event E (law j) /\\ event E (law j) <= ratio * event E (law i).
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
Theorem attained : In ($pair)%N neighbours /\\ 0 < nth $o (law $i%N) 0 /\\ nth $o (law $i%N) 0 == ratio * nth $o (law $j%N) 0.
Proof. split; [apply listed; vm_compute; reflexivity | vm_compute; split; reflexivity]. Qed.
"""


def write_rocq(laws: Laws) -> str:
    """Write laws as a file for ``coqc``: they are distributions, and the ratio bounds every event.

    Examples
    --------
    >>> table = Laws("f", ("s",), ("a", "b"), ((fmpq(1, 3), fmpq(2, 3)),))
    >>> [line for line in write_rocq(table).splitlines() if "#" in line]
    ['  [(1#3); (2#3)]].']
    """
    about = {
        "name": laws.identifier(),
        "inputs": _strings(laws.inputs),
        "outputs": _strings(laws.outputs),
        "rows": ";\n".join(f"  [{'; '.join(map(_rational, row))}]" for row in laws.rows),
    }
    text, theorems = Template(_FACTS).substitute(about), ["laws_are_distributions"]
    if laws.ratio is not None:
        i, j, o = laws.attained()
        pair = (min(i, j), max(i, j))
        text += Template(_BUDGET).substitute(
            ratio=_rational(laws.ratio),
            neighbours="; ".join(f"({s}, {t})" for s, t in laws.neighbours),
            pair=f"{pair[0]}, {pair[1]}",
            i=i,
            j=j,
            o=o,
        )
        theorems += ["budget", "attained"]
    shown = "".join(f"Print Assumptions {laws.identifier()}.{theorem}.\n" for theorem in theorems)
    return f"{text}\nEnd {laws.identifier()}.\n\n{shown}"


def _strings(names: Iterable[str]) -> str:
    return "; ".join('"{}"'.format(plain(name).replace('"', '""')) for name in names)


def _rational(number: fmpq) -> str:
    return f"({number.p}#{number.q})"
