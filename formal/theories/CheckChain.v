(** * The chain of a certificate, and its classes *)

From Coq Require Import ZArith QArith List Bool FMapPositive Lia.
From Bisimdist Require Import OrderedField Combination Chain Lower Tables.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Definition Qeqb := Qeq_bool.
Definition Qleb := Qle_bool.
Definition Qltb (x y : Q) := negb (Qle_bool y x).

Lemma Qltb_lt x y : Qltb x y = true <-> (x < y)%Q.
Proof. unfold Qltb; rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff; split; [apply Qnot_le_lt | apply Qlt_not_le]. Qed.

(** A state with its label and its row, as they are written. *)
Definition model := list (positive * (positive * list (positive * Q))).

Definition chain_of (m : model) : chain :=
  let labels := build (map (fun e => (fst e, fst (snd e))) m) in
  let rows := build (map (fun e => (fst e, norm (snd (snd e)))) m) in
  {| states := map fst m; label := find_or xH labels; row := find_or [] rows |}.

Definition check_chain (m : model) (C : chain) : bool :=
  let known := build (map (fun s => (s, tt)) (states C)) in
  let is_state t := match PositiveMap.find t known with Some _ => true | None => false end in
  match m with [] => false | _ => true end &&
  forallb (fun e => forallb (fun p => is_state (fst p) && Qleb 0 (snd p)) (snd (snd e))) m &&
  forallb (fun s => forallb (fun p => is_state (fst p) && Qleb 0 (snd p)) (row C s) && Qeqb (total (row C s)) 1) (states C).

Lemma check_chain_ok m C : check_chain m C = true -> chain_ok C.
Proof.
  unfold check_chain; rewrite !andb_true_iff; intros [_ H] s Hs.
  rewrite forallb_forall in H. apply H in Hs. rewrite andb_true_iff, forallb_forall in Hs.
  destruct Hs as [R T]; split; [| now apply Qeq_bool_iff].
  intros t q I; apply R in I; rewrite andb_true_iff in I; destruct I as [K Q0]; simpl in K, Q0.
  split; [| now apply Qle_bool_iff].
  destruct (PositiveMap.find t _) eqn:E in K; [| easy]. apply build_found, in_map_iff in E.
  destruct E as (x & E & I); congruence. Qed.

(** ** Classes

    How the classes of a round are found needs no proof: [linked_ok] checks the outcome. *)
Definition parents := table positive.

Fixpoint root (fuel : nat) (p : parents) (s : positive) : positive :=
  match fuel with
  | O => s
  | S fuel' => let q := find_or s p s in if Pos.eqb q s then s else root fuel' p q
  end.

Definition join (fuel : nat) (p : parents) (s t : positive) : parents :=
  let a := root fuel p s in
  let b := root fuel p t in
  let low := Pos.min a b in
  PositiveMap.add s low (PositiveMap.add t low (PositiveMap.add a low (PositiveMap.add b low p))).

Definition joined (fuel : nat) (C : chain) (k : positive -> positive) : parents :=
  fst (fold_left (fun acc s =>
    fold_left (fun acc e =>
      let '(p, seen) := acc in
      match find2 seen (k s) (k (fst e)) with
      | Some first => (join fuel p s first, seen)
      | None => (p, add2 (k s) (k (fst e)) s seen)
      end) (row C s) acc) (states C) (PositiveMap.empty positive, PositiveMap.empty _)).

Definition refine_classes (fuel : nat) (C : chain) (k : positive -> positive) : positive -> positive :=
  let p := joined fuel C k in
  let found := build (map (fun s => (s, root fuel p s)) (states C)) in
  find_or xH found.

Definition links (C : chain) (k k' : positive -> positive) : list (positive * positive * positive) :=
  flat_map (fun s => map (fun e => ((k s, k (fst e)), k' s)) (row C s)) (states C).

(** Two states of one class that have successors in one class are in one class afterwards. *)
Definition linked_ok (C : chain) (k k' : positive -> positive) : bool :=
  let seen := build2 (links C k k') in
  forallb (fun s => forallb (fun e =>
    match find2 seen (k s) (k (fst e)) with Some c => Pos.eqb c (k' s) | None => false end) (row C s)) (states C).

Definition count (C : chain) (k : positive -> positive) : nat :=
  PositiveMap.cardinal (build (map (fun s => (k s, tt)) (states C))).

Fixpoint classes (rounds fuel : nat) (C : chain) (k : positive -> positive) : positive -> positive :=
  match rounds with
  | O => k
  | S rounds' =>
      let k' := refine_classes fuel C k in
      if linked_ok C k k' then if Nat.eqb (count C k') (count C k) then k' else classes rounds' fuel C k' else k
  end.

Definition classes_of (C : chain) : positive -> positive :=
  let n := S (length (states C)) in classes n n C (label C).

Lemma linked_ok_apart C k k' : linked_ok C k k' = true ->
  forall s t, In s (states C) -> In t (states C) -> k s = k t -> k' s <> k' t ->
  forall i p j q, In (i, p) (row C s) -> In (j, q) (row C t) -> k i <> k j.
Proof.
  unfold linked_ok; rewrite forallb_forall; intros H s t Hs Ht E N i p j q Ii Ij K.
  pose proof (H s Hs) as A; pose proof (H t Ht) as B. rewrite forallb_forall in A, B.
  specialize (A _ Ii); specialize (B _ Ij); simpl in A, B. rewrite <- E, <- K in B.
  destruct (find2 _ (k s) (k i)); [| easy].
  apply Pos.eqb_eq in A; apply Pos.eqb_eq in B; congruence. Qed.

Lemma classes_apart (F : OrderedField) C alpha both rounds fuel : chain_ok C -> (1 <= alpha)%Q ->
  forall k, (forall u : positive -> positive -> F, prefixed C alpha both u -> apart C k u) ->
  forall u : positive -> positive -> F, prefixed C alpha both u -> apart C (classes rounds fuel C k) u.
Proof.
  intros Ok A; induction rounds as [| r IH]; intros k Hk u Hu; cbn -[refine_classes linked_ok]; [now apply Hk |].
  destruct (linked_ok C k (refine_classes fuel C k)) eqn:L; [| now apply Hk].
  assert (Hk' : forall v : positive -> positive -> F, prefixed C alpha both v -> apart C (refine_classes fuel C k) v).
  { intros v Hv. apply (refined_apart Ok A Hv (Hk v Hv)). now apply linked_ok_apart. }
  destruct (Nat.eqb _ _); [now apply Hk' | now apply IH]. Qed.

Theorem classes_of_apart (F : OrderedField) C alpha both : chain_ok C -> (1 <= alpha)%Q ->
  forall u : positive -> positive -> F, prefixed C alpha both u -> apart C (classes_of C) u.
Proof. intros Ok A; apply classes_apart; auto. intros u Hu; now apply (labels_apart Hu). Qed.
