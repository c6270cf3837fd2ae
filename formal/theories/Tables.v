(** * Finite tables of the checker: by state, and by pair of states *)

From Coq Require Import ZArith QArith List Bool FMapPositive.
From Bisimdist Require Import Combination.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Notation table := PositiveMap.t.

Section Tables.
Variable A : Type.

Definition build (l : list (positive * A)) : table A :=
  fold_right (fun e m => PositiveMap.add (fst e) (snd e) m) (PositiveMap.empty A) l.

Lemma build_found l k v : PositiveMap.find k (build l) = Some v -> In (k, v) l.
Proof.
  induction l as [| [i a] l IH]; simpl; [now rewrite PositiveMap.gempty |].
  destruct (Pos.eq_dec k i) as [-> | N].
  - rewrite PositiveMap.gss; intro H; injection H as ->; now left.
  - rewrite PositiveMap.gso by assumption; auto. Qed.

Lemma build_complete (l : list (positive * A)) x : In x (map fst l) -> PositiveMap.find x (build l) <> None.
Proof. induction l as [| [y a] l IH]; simpl; [easy |]. intro H. destruct (Pos.eq_dec x y) as [-> | N].
  - now rewrite PositiveMap.gss.
  - rewrite PositiveMap.gso by assumption. apply IH. destruct H; [congruence | assumption]. Qed.

Definition find_or (d : A) (m : table A) (k : positive) : A :=
  match PositiveMap.find k m with Some v => v | None => d end.

Definition find2 (m : table (table A)) (i j : positive) : option A :=
  match PositiveMap.find i m with Some row => PositiveMap.find j row | None => None end.

Definition add2 (i j : positive) (v : A) (m : table (table A)) : table (table A) :=
  PositiveMap.add i
    (PositiveMap.add j v (match PositiveMap.find i m with Some row => row | None => PositiveMap.empty A end)) m.

Lemma find_add2 m i j v i' j' w : find2 (add2 i j v m) i' j' = Some w ->
  (i' = i /\ j' = j /\ w = v) \/ find2 m i' j' = Some w.
Proof.
  unfold find2, add2. destruct (Pos.eq_dec i' i) as [-> | N].
  - rewrite PositiveMap.gss. destruct (Pos.eq_dec j' j) as [-> | M].
    + rewrite PositiveMap.gss; intro H; injection H as <-; auto.
    + rewrite PositiveMap.gso by assumption.
      destruct (PositiveMap.find i m); [auto | now rewrite PositiveMap.gempty].
  - rewrite PositiveMap.gso by assumption; auto. Qed.

Definition build2 (l : list (positive * positive * A)) : table (table A) :=
  fold_right (fun e m => add2 (fst (fst e)) (snd (fst e)) (snd e) m) (PositiveMap.empty _) l.

Lemma build2_found l i j v : find2 (build2 l) i j = Some v -> In ((i, j), v) l.
Proof.
  induction l as [| [[a b] w] l IH]; simpl.
  - unfold find2; now rewrite PositiveMap.gempty.
  - intro H; apply find_add2 in H; destruct H as [(-> & -> & ->) | H]; auto. Qed.
End Tables.

(** Whether no pair occurs twice. *)
Fixpoint no_pair_twice (seen : table (table unit)) (l : list (positive * positive)) : bool :=
  match l with
  | [] => true
  | (i, j) :: l' => match find2 seen i j with
    | Some _ => false
    | None => no_pair_twice (add2 i j tt seen) l'
    end
  end.

(** The same of numbers. *)
Fixpoint none_twice (seen : table unit) (l : list positive) : bool :=
  match l with
  | [] => true
  | x :: l' => match PositiveMap.find x seen with Some _ => false | None => none_twice (PositiveMap.add x tt seen) l' end
  end.

Lemma none_twice_ok l : forall seen, none_twice seen l = true ->
  NoDup l /\ forall x, In x l -> PositiveMap.find x seen = None.
Proof.
  induction l as [| x l IH]; simpl; intros seen H; [split; [constructor | easy] |].
  destruct (PositiveMap.find x seen) eqn:E; [easy |]. destruct (IH _ H) as [N S].
  split.
  - constructor; [| assumption]. intro I; apply S in I. now rewrite PositiveMap.gss in I.
  - intros y [<- | I]; [assumption |]. specialize (S y I).
    destruct (Pos.eq_dec y x) as [-> | Ne]; [assumption | now rewrite PositiveMap.gso in S]. Qed.

(** Every number once. *)
Definition distinct (l : list positive) : list positive :=
  fold_left (fun acc x => if existsb (Pos.eqb x) acc then acc else x :: acc) l [].

Lemma existsb_in x l : existsb (Pos.eqb x) l = true -> In x l.
Proof. rewrite existsb_exists; intros (y & I & E); apply Pos.eqb_eq in E; congruence. Qed.

Lemma distinct_in x l : In x l -> In x (distinct l).
Proof.
  assert (K : forall l acc, In x l \/ In x acc ->
    In x (fold_left (fun acc x => if existsb (Pos.eqb x) acc then acc else x :: acc) l acc)).
  { induction l0 as [| y l0 IH]; simpl; intros acc H; [now destruct H |]. apply IH.
    destruct (existsb (Pos.eqb y) acc) eqn:E.
    - destruct H as [[-> | H] | H]; auto. right; now apply existsb_in.
    - destruct H as [[-> | H] | H]; [right; now left | now left | right; now right]. }
  intro H; apply K; now left. Qed.
