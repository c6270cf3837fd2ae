(** * Certificates of kind metric, proved: the accumulative and the amortised metric (docs/certificates/metric.md)

    Bijections, or sets of successors that have too few partners, are found by code without proof, which is an argument of
    the checker; so are the classes. What is found is checked here. *)

From Coq Require Import ZArith QArith List Permutation Bool FMapPositive Lia Lqa.
From Bisimdist Require Import OrderedField Combination Tables CheckChain Metric MetricGame.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.
Local Open Scope Q_scope.

Definition q_same (x y : Q) := Z.eqb (Qnum x) (Qnum y) && Pos.eqb (Qden x) (Qden y).

Lemma q_same_eq x y : q_same x y = true -> x = y.
Proof. destruct x, y; unfold q_same; simpl. rewrite andb_true_iff, Z.eqb_eq, Pos.eqb_eq. intros [-> ->]; reflexivity. Qed.

Lemma q_same_refl x : q_same x x = true.
Proof. unfold q_same. now rewrite Z.eqb_refl, Pos.eqb_refl. Qed.

(** A class of states, and a probability: what is looked at of a successor. *)
Definition key := (positive * Q)%type.

(** States of the second row in the order of the first, or keys of the first row that have too few partners. *)
Inductive matching := Ordered (l : list positive) | Blocked (l : list key).
Definition finder := (positive -> positive) -> row -> row -> (key -> key -> bool) -> matching.

Section Rows.
Variable find_matching : finder.
Variable k : positive -> positive.
Definition key_of (e : positive * Q) : key := (k (fst e), snd e).

Definition pick (right : table Q) (order : list positive) : option row :=
  fold_right (fun u acc => match PositiveMap.find u right, acc with Some q, Some l => Some ((u, q) :: l) | _, _ => None end) (Some []) order.

Definition matched (allowed : key -> key -> bool) (mu mu' : row) : bool :=
  Nat.eqb (length mu) (length mu') &&
  match find_matching k mu mu' allowed with
  | Ordered order => Nat.eqb (length order) (length mu) && none_twice (PositiveMap.empty unit) order &&
      match pick (build mu') order with
      | Some r => forallb (fun m => allowed (key_of (fst m)) (key_of (snd m))) (combine mu r)
      | None => false
      end
  | Blocked _ => false
  end.

Definition blocked (allowed : key -> key -> bool) (mu mu' : row) : bool :=
  negb (Nat.eqb (length mu) (length mu')) ||
  match find_matching k mu mu' allowed with
  | Ordered _ => false
  | Blocked xs => Nat.ltb (length (filter (fun e => existsb (fun x => allowed x (key_of e)) xs) mu'))
      (length (filter (fun e => existsb (fun x => Pos.eqb (fst x) (fst (key_of e)) && q_same (snd x) (snd e)) xs) mu))
  end.

Lemma pick_ok (mu' : row) order : forall r, pick (build mu') order = Some r -> map fst r = order /\ incl r mu'.
Proof.
  induction order as [| u order IH]; simpl; intros r E.
  - injection E as <-. split; [reflexivity | easy].
  - destruct (PositiveMap.find u (build mu')) as [q |] eqn:F; [| easy]. destruct (pick (build mu') order) as [l |]; [| easy].
    injection E as <-. destruct (IH _ eq_refl) as [<- I]. split; [reflexivity |]. intros e [<- | Ie]; [now apply build_found | now apply I]. Qed.

Lemma fst_combine (mu r : row) : length r = length mu -> map fst (combine mu r) = mu /\ map snd (combine mu r) = r.
Proof. revert r; induction mu as [| e mu IH]; intros [| e' r]; simpl; try easy. intro E. injection E as E. destruct (IH _ E) as [-> ->]. auto. Qed.

Definition positive_row (mu : row) := forall t p, In (t, p) mu -> 0 < p.

Lemma matched_ok allowed mu mu' : positive_row mu -> positive_row mu' -> matched allowed mu mu' = true ->
  exists l, bijection l mu mu' /\ forall u p u' p', In ((u, p), (u', p')) l -> allowed (k u, p) (k u', p') = true.
Proof.
  intros P P'. unfold matched. rewrite andb_true_iff, Nat.eqb_eq. intros [Len H].
  destruct (find_matching _ _ _ _) as [order | ?]; [| easy]. rewrite !andb_true_iff, Nat.eqb_eq in H. destruct H as [[Lo No] H].
  destruct (pick (build mu') order) as [r |] eqn:E; [| easy]. destruct (pick_ok E) as [Er Ir]. rewrite forallb_forall in H.
  assert (Lr : length r = length mu) by (rewrite <- (map_length fst r), Er; assumption).
  destruct (fst_combine Lr) as [F1 F2]. exists (combine mu r). split.
  - split; [rewrite F1; apply Permutation_refl | split].
    + rewrite F2. apply NoDup_Permutation_bis; [| lia | assumption]. apply none_twice_ok in No. apply NoDup_map_inv with (f := fst). rewrite Er. apply No.
    + intros u p u' p' I. split; [apply (P u) | apply (P' u')].
      * now apply in_combine_l in I.
      * apply in_combine_r in I. now apply Ir.
  - intros u p u' p' I. exact (H _ I). Qed.

Lemma count_map (X Y : Type) (h : X -> Y) (g : Y -> bool) (l : list X) : length (filter g (map h l)) = length (filter (fun x => g (h x)) l).
Proof. induction l as [| x l IH]; simpl; [reflexivity |]. destruct (g (h x)); simpl; congruence. Qed.

Lemma count_permutation (X : Type) (g : X -> bool) (l l' : list X) : Permutation l l' -> length (filter g l) = length (filter g l').
Proof. induction 1; simpl; try congruence; repeat match goal with |- context [g ?z] => destruct (g z) end; simpl; congruence. Qed.

Lemma count_le (X : Type) (g h : X -> bool) (l : list X) : (forall x, In x l -> g x = true -> h x = true) ->
  (length (filter g l) <= length (filter h l))%nat.
Proof. intro H; induction l as [| x l IH]; simpl; [lia |]. assert (IH' := IH (fun y I => H y (or_intror I))). specialize (H x (or_introl eq_refl)).
  destruct (g x), (h x); simpl; lia. Qed.

Lemma blocked_ok allowed mu mu' l : blocked allowed mu mu' = true -> bijection l mu mu' ->
  exists u p u' p', In ((u, p), (u', p')) l /\ allowed (k u, p) (k u', p') = false.
Proof.
  intros H (P1 & P2 & _). unfold blocked in H. rewrite orb_true_iff, negb_true_iff, Nat.eqb_neq in H. destruct H as [H | H].
  { exfalso. apply H. rewrite <- (Permutation_length P1), <- (Permutation_length P2), !map_length. reflexivity. }
  destruct (find_matching _ _ _ _) as [? | xs]; [easy |]. apply Nat.ltb_lt in H.
  destruct (existsb (fun m => negb (allowed (key_of (fst m)) (key_of (snd m)))) l) eqn:E.
  { apply existsb_exists in E. destruct E as ([[u p] [u' p']] & I & N). exists u, p, u', p'. split; [assumption | now apply negb_true_iff]. }
  exfalso. rewrite <- (count_permutation _ P1), <- (count_permutation _ P2), !count_map in H. apply Nat.lt_nge in H. apply H. apply count_le.
  intros [e e'] I X. simpl in *. apply existsb_exists in X. destruct X as ([i q] & Ix & Sx). apply andb_true_iff in Sx. destruct Sx as [S1 S2].
  apply Pos.eqb_eq in S1; apply q_same_eq in S2. simpl in S1, S2. apply existsb_exists. exists (i, q). split; [assumption |].
  destruct (allowed (i, q) (key_of e')) eqn:Al; [reflexivity |]. exfalso.
  assert (T : existsb (fun m => negb (allowed (key_of (fst m)) (key_of (snd m)))) l = true).
  { apply existsb_exists. exists (e, e'). split; [assumption |]. simpl. unfold key_of at 1. rewrite <- S1, <- S2, Al. reflexivity. }
  congruence. Qed.
End Rows.

(** ** The automaton *)
Definition by_state (l : list (positive * (positive * row))) : table (list (positive * row)) :=
  fold_right (fun e m => PositiveMap.add (fst e) (snd e :: find_or [] m (fst e)) m) (PositiveMap.empty _) l.

Lemma by_state_ok l s x : In x (find_or [] (by_state l) s) <-> In (s, x) l.
Proof.
  induction l as [| [t y] l IH]; simpl.
  - unfold find_or; rewrite PositiveMap.gempty; easy.
  - unfold find_or at 1. destruct (Pos.eq_dec s t) as [-> | N].
    + rewrite PositiveMap.gss. simpl. rewrite IH. split; intros [H | H]; auto; left; congruence.
    + rewrite PositiveMap.gso by assumption. fold (find_or [] (by_state l) s). rewrite IH. split; [auto |]. intros [H | H]; [congruence | assumption]. Qed.

Definition is_in (known : table unit) (s : positive) := match PositiveMap.find s known with Some _ => true | None => false end.
Definition known_of (l : list positive) : table unit := build (map (fun s => (s, tt)) l).

Lemma is_in_ok l s : is_in (known_of l) s = true -> In s l.
Proof. unfold is_in, known_of. destruct (PositiveMap.find s _) eqn:E; [| easy]. intros _. apply build_found, in_map_iff in E.
  destruct E as (x & E & I); congruence. Qed.

Definition check_pa (A : pa) (known : table unit) : bool :=
  match pa_states A with [] => false | _ => true end && none_twice (PositiveMap.empty unit) (pa_states A) &&
  forallb (fun e => let mu := snd (snd e) in is_in known (fst e) && none_twice (PositiveMap.empty unit) (map fst mu) && Qleb (total mu) 1 &&
    forallb (fun x => is_in known (fst x) && Qltb 0 (snd x)) mu) (pa_steps A).

Lemma check_pa_ok A : check_pa A (known_of (pa_states A)) = true -> pa_ok A.
Proof.
  unfold check_pa. rewrite !andb_true_iff, forallb_forall. intros [[_ N] H]. split; [now apply none_twice_ok in N |].
  intros s a mu St. specialize (H _ St). simpl in H. rewrite !andb_true_iff, forallb_forall in H. destruct H as [[[H1 H2] H3] H4].
  split; [now apply is_in_ok | split; [now apply none_twice_ok in H2 | split; [now apply Qle_bool_iff |]]].
  intros t p I. specialize (H4 _ I). rewrite andb_true_iff in H4. destruct H4 as [K P]. split; [now apply is_in_ok | now apply Qltb_lt]. Qed.

Section Automaton.
Variable find_matching : finder.
Variable A : pa.
Hypothesis A_ok : pa_ok A.
Notation S_ := (pa_states A).
Variable steps_of : positive -> list (positive * row).
Hypothesis steps_of_ok : forall s a mu, In (a, mu) (steps_of s) <-> step A s a mu.

Lemma row_positive s a mu : step A s a mu -> positive_row mu.
Proof. intros St t p I. destruct A_ok as [_ Ok]. destruct (Ok _ _ _ St) as (_ & _ & _ & P). now apply (P t). Qed.

Definition answered_all (test : row -> row -> bool) s t : bool :=
  let ours := steps_of s in let theirs := steps_of t in
  forallb (fun x => existsb (fun y => Pos.eqb (fst x) (fst y) && test (snd x) (snd y)) theirs) ours &&
  forallb (fun y => existsb (fun x => Pos.eqb (fst x) (fst y) && test (snd x) (snd y)) ours) theirs.

Lemma answered_all_ok test good s t : (forall mu mu', positive_row mu -> positive_row mu' -> test mu mu' = true ->
    exists l, bijection l mu mu' /\ good l) -> answered_all test s t = true -> both A good s t.
Proof.
  intros T. unfold answered_all. rewrite andb_true_iff, !forallb_forall. intros [H1 H2]. split; intros a mu St; pose proof St as I; apply steps_of_ok in I.
  - apply H1, existsb_exists in I. destruct I as ([b nu] & I & H). apply andb_true_iff in H. destruct H as [E H]. apply Pos.eqb_eq in E. simpl in *; subst b.
    apply steps_of_ok in I. destruct (T _ _ (row_positive St) (row_positive I) H) as (l & B & G). now exists nu, l.
  - apply H2, existsb_exists in I. destruct I as ([b nu] & I & H). apply andb_true_iff in H. destruct H as [E H]. apply Pos.eqb_eq in E. simpl in *; subst b.
    apply steps_of_ok in I. destruct (T _ _ (row_positive I) (row_positive St) H) as (l & B & G). now exists nu, l. Qed.

(** ** Classes *)
Variable k : positive -> positive.

Definition same_key (x y : key) := Pos.eqb (fst x) (fst y) && Qeqb (snd x) (snd y).
Definition check_classes : bool := forallb (fun s => Pos.eqb s (k s) || answered_all (matched find_matching k same_key) s (k s)) S_.

Lemma same_itself s : both A (same k) s s.
Proof.
  split; intros a mu St; exists mu, (map (fun e => (e, e)) mu); (split; [assumption | split; [apply identity; exact (row_positive St) |]]);
  intros u p u' p' I; apply in_map_iff in I; destruct I as (e & E & _); injection E as -> E; subst; injection E as -> ->; split; reflexivity. Qed.

Lemma turned (l : matches) mu mu' : bijection l mu mu' -> same k l ->
  exists l', bijection l' mu' mu /\ same k l'.
Proof. intros B S. exists (map (fun e => (snd e, fst e)) l). split; [now apply flipped |].
  intros u p u' p' I. apply in_map_iff in I. destruct I as ([[v q] [v' q']] & E & I). injection E as <- <- <- <-.
  destruct (S _ _ _ _ I). split; now symmetry. Qed.

Lemma same_turned s t : both A (same k) s t -> both A (same k) t s.
Proof. intros [B1 B2]. split; intros a mu St; [destruct (B2 _ _ St) as (mu' & l & St' & X & Y) | destruct (B1 _ _ St) as (mu' & l & St' & X & Y)];
  destruct (turned X Y) as (l' & X' & Y'); now exists mu', l'. Qed.

Lemma same_joined s r t : both A (same k) s r -> both A (same k) r t -> both A (same k) s t.
Proof.
  assert (J : forall mu mu' mu'' l l', bijection l mu mu' -> same k l -> bijection l' mu' mu'' -> same k l' -> exists l'', bijection l'' mu mu'' /\ same k l'').
  { intros mu mu' mu'' l l' X Y X' Y'. destruct (one_after_the_other X X') as (l'' & X'' & H). exists l''. split; [assumption |].
    intros u p u'' p'' I. destruct (H _ _ I) as ([u' p'] & I1 & I2). destruct (Y _ _ _ _ I1), (Y' _ _ _ _ I2). split; etransitivity; eassumption. }
  intros [B1 B2] [C1 C2]. split; intros a mu St.
  - destruct (B1 _ _ St) as (mu' & l & St' & X & Y). destruct (C1 _ _ St') as (mu'' & l' & St'' & X' & Y').
    destruct (J _ _ _ _ _ X Y X' Y') as (l'' & ? & ?). now exists mu'', l''.
  - destruct (C2 _ _ St) as (mu' & l & St' & X & Y). destruct (B2 _ _ St') as (mu'' & l' & St'' & X' & Y').
    destruct (J _ _ _ _ _ X' Y' X Y) as (l'' & ? & ?). now exists mu'', l''. Qed.

Lemma check_classes_ok : check_classes = true -> alike A k.
Proof.
  unfold check_classes. rewrite forallb_forall. intro H.
  assert (R : forall s, In s S_ -> both A (same k) s (k s)).
  { intros s Hs. specialize (H s Hs). apply orb_true_iff in H. destruct H as [E | H]; [apply Pos.eqb_eq in E; rewrite <- E; apply same_itself |].
    revert H. apply answered_all_ok. intros mu mu' P P' M. destruct (matched_ok P P' M) as (l & B & G). exists l. split; [assumption |].
    intros u p u' p' I. specialize (G _ _ _ _ I). apply andb_true_iff in G. destruct G as [G1 G2].
    split; [now apply Qeq_bool_iff | now apply Pos.eqb_eq]. }
  intros s t Hs Ht E. apply same_joined with (k s); [now apply R |]. rewrite E. apply same_turned. now apply R. Qed.

(** ** Shapes: refined until nothing changes *)
Fixpoint insert (x : positive) (l : list positive) : list positive :=
  match l with [] => [x] | y :: l' => if Pos.leb x y then x :: l else y :: insert x l' end.
Definition sorted (l : list positive) := fold_right insert [] l.

Fixpoint same_list (l l' : list positive) : bool :=
  match l, l' with [], [] => true | x :: l, y :: l' => Pos.eqb x y && same_list l l' | _, _ => false end.

Lemma same_list_eq l : forall l', same_list l l' = true <-> l = l'.
Proof. induction l as [| x l IH]; intros [| y l']; simpl; try easy. rewrite andb_true_iff, Pos.eqb_eq, IH. split; [intros [-> ->]; reflexivity | intro E; now injection E]. Qed.

Lemma insert_swap x y l : insert x (insert y l) = insert y (insert x l).
Proof.
  induction l as [| z l IH]; simpl.
  - destruct (Pos.leb_spec x y), (Pos.leb_spec y x); try reflexivity; try lia. now replace x with y by lia.
  - repeat (simpl; match goal with |- context [Pos.leb ?a ?b] => destruct (Pos.leb_spec a b) end); try reflexivity; try lia; try congruence.
    now replace x with y by lia. Qed.

Lemma sorted_permutation l l' : Permutation l l' -> sorted l = sorted l'.
Proof. induction 1; simpl; try congruence. apply insert_swap. Qed.

Definition look := list (positive * list positive).
Definition look_at (f : positive -> positive) s : look := map (fun x => (fst x, sorted (map (fun e => f (fst e)) (snd x)))) (steps_of s).
Definition within (g h : look) : bool := forallb (fun x => existsb (fun y => Pos.eqb (fst x) (fst y) && same_list (snd x) (snd y)) h) g.
Definition looks_like (g h : look) : bool := within g h && within h g.

Lemma within_ok g h : within g h = true <-> incl g h.
Proof.
  unfold within. rewrite forallb_forall. split; intros H [a b] I; specialize (H _ I).
  - apply existsb_exists in H. destruct H as ([a' b'] & J & E). apply andb_true_iff in E. destruct E as [E1 E2]. apply Pos.eqb_eq in E1. apply same_list_eq in E2. simpl in *; now subst.
  - apply existsb_exists. exists (a, b). split; [assumption |]. apply andb_true_iff. split; [now apply Pos.eqb_eq | now apply same_list_eq]. Qed.

Definition next_shapes (f : positive -> positive) : positive -> positive :=
  let looks := map (fun s => (s, look_at f s)) S_ in
  let first g := match find (fun e => looks_like g (snd e)) looks with Some e => fst e | None => xH end in
  let found := build (map (fun e => (fst e, first (snd e))) looks) in
  find_or xH found.

Fixpoint shapes_after (rounds : nat) (f : positive -> positive) : positive -> positive :=
  match rounds with
  | O => f
  | S rounds' => let f' := next_shapes f in if forallb (fun s => Pos.eqb (f s) (f' s)) S_ then f' else shapes_after rounds' f'
  end.

Definition shape_of : positive -> positive := shapes_after (length S_) (fun _ => xH).

Lemma next_shapes_at f s : In s S_ -> next_shapes f s =
  match find (fun e => looks_like (look_at f s) (snd e)) (map (fun s => (s, look_at f s)) S_) with Some e => fst e | None => xH end.
Proof.
  intro Hs. unfold next_shapes, find_or. destruct (PositiveMap.find s _) as [v |] eqn:E.
  - apply build_found, in_map_iff in E. destruct E as ([t g] & E & I). apply in_map_iff in I. destruct I as (x & E' & _).
    injection E' as <- <-. injection E as <- <-. reflexivity.
  - exfalso. revert E. apply build_complete. rewrite map_map, map_map. apply in_map_iff. now exists s. Qed.

Lemma looks_like_equal g h x : incl g h -> incl h g -> looks_like g x = looks_like h x.
Proof. intros I J. apply eq_true_iff_eq. unfold looks_like. rewrite !andb_true_iff, !within_ok. split; intros [H K]; split; intros y Hy; auto. Qed.

Lemma find_ext (X : Type) (g h : X -> bool) l : (forall x, g x = h x) -> find g l = find h l.
Proof. intro H. induction l as [| x l IH]; simpl; [reflexivity |]. now rewrite H, IH. Qed.

Lemma next_shapes_ok f : shapes A f -> shapes A (next_shapes f).
Proof.
  intros Sh kd V R s t c B Rst. destruct (B _ _ _ Rst) as (Hs & Ht & _ & [B1 B2]).
  rewrite !next_shapes_at by assumption.
  assert (Eq : forall l mu mu', bijection l mu mu' -> keeps kd R c l -> sorted (map (fun e => f (fst e)) mu) = sorted (map (fun e => f (fst e)) mu')).
  { intros l mu mu' (P1 & P2 & _) K. rewrite <- (sorted_permutation (Permutation_map _ P1)), <- (sorted_permutation (Permutation_map _ P2)), !map_map.
    f_equal. apply map_ext_in. intros [[u p] [u' p']] I. simpl. destruct kd; simpl in K.
    - destruct K as (sigma & K). destruct (K _ _ _ _ I) as (_ & _ & Ru). now apply (Sh _ _ _ _ _ _ B Ru).
    - destruct (K _ _ _ _ I) as (c' & Ru & _). now apply (Sh _ _ _ _ _ _ B Ru). }
  assert (I1 : incl (look_at f s) (look_at f t)).
  { intros x I. apply in_map_iff in I. destruct I as ([a mu] & <- & I). apply steps_of_ok in I. destruct (B1 _ _ I) as (mu' & l & St & Bij & K).
    apply in_map_iff. exists (a, mu'). split; [simpl; now rewrite (Eq _ _ _ Bij K) | now apply steps_of_ok]. }
  assert (I2 : incl (look_at f t) (look_at f s)).
  { intros x I. apply in_map_iff in I. destruct I as ([a mu'] & <- & I). apply steps_of_ok in I. destruct (B2 _ _ I) as (mu & l & St & Bij & K).
    apply in_map_iff. exists (a, mu). split; [simpl; now rewrite (Eq _ _ _ Bij K) | now apply steps_of_ok]. }
  erewrite find_ext; [reflexivity |]. intro x. now apply looks_like_equal. Qed.

Lemma shape_of_ok : shapes A shape_of.
Proof.
  assert (K : forall n f, shapes A f -> shapes A (shapes_after n f)).
  { induction n as [| n IH]; simpl; intros f Sh; [assumption |]. pose proof (next_shapes_ok Sh). destruct (forallb _ _); [assumption | now apply IH]. }
  apply K. intros kd V R s t c _ _. reflexivity. Qed.

(** ** Entries of tables *)
Variable f : positive -> positive.
Hypothesis f_shapes : shapes A f.
Hypothesis k_alike : alike A k.
Variable known : positive -> bool.
Hypothesis known_ok : forall s, known s = true -> In s S_.
Hypothesis f_by_class : forall s, In s S_ -> f s = f (k s).

Definition paired (X : Type) := ((positive * positive) * X)%type.

(** By the classes of the two states. *)
Definition by_class (X : Type) (l : list (paired X)) : list (paired X) := map (fun e => ((k (fst (fst e)), k (snd (fst e))), snd e)) l.
Definition once (X : Type) (l : list (paired X)) : bool := no_pair_twice (PositiveMap.empty _) (map fst (by_class l)).
Definition at_pair (X : Type) (l : list (paired X)) : positive -> positive -> option X := let found := build2 (by_class l) in find2 found.

Lemma at_pair_in (X : Type) (l : list (paired X)) i j x : at_pair l i j = Some x -> exists s t, In ((s, t), x) l /\ k s = i /\ k t = j.
Proof. unfold at_pair. intro E. apply build2_found, in_map_iff in E. destruct E as ([[s t] y] & E & I). simpl in E. injection E as <- <- <-. now exists s, t. Qed.

Definition known_pair (X : Type) (e : paired X) : bool := known (fst (fst e)) && known (snd (fst e)).

(** The probabilities of two rows as they differ: the larger one of a ratio and its inverse. *)
Definition size (p q : Q) : Q := Qred (if Qle_bool p q then q / p else p / q).
Definition once_each (l : list Q) : list Q := fold_right (fun x acc => if existsb (q_same x) acc then acc else x :: acc) [] l.
Definition sizes (mu mu' : row) : list Q :=
  let ours := once_each (map snd mu) in let theirs := once_each (map snd mu') in
  1 :: once_each (flat_map (fun p => map (size p) theirs) ours).
Definition not_beyond (z p q : Q) : bool := Qleb p (z * q) && Qleb q (z * p).

Lemma once_each_in x l : In x l -> In x (once_each l).
Proof. induction l as [| y l IH]; simpl; [easy |]. intros [-> | I].
  - destruct (existsb (q_same x) (once_each l)) eqn:E; [| now left]. apply existsb_exists in E. destruct E as (y & I & E). apply q_same_eq in E. now subst.
  - destruct (existsb (q_same y) (once_each l)); [auto | right; auto]. Qed.

Lemma size_in (mu mu' : row) u p u' q : In (u, p) mu -> In (u', q) mu' -> In (size p q) (sizes mu mu').
Proof. intros I J. right. apply once_each_in, in_flat_map. exists p. split; [apply once_each_in; now apply (in_map snd) in I |].
  apply in_map, once_each_in. now apply (in_map snd) in J. Qed.

Lemma size_ok p q : 0 < p -> 0 < q -> 1 <= size p q /\ (size p q * q == p \/ size p q * p == q) /\ p <= size p q * q /\ q <= size p q * p.
Proof.
  intros P Q0. unfold size. destruct (Qle_bool p q) eqn:E; rewrite Qred_correct.
  - apply Qle_bool_iff in E. assert (X : q / p * p == q) by (field; lra).
    assert (O : 1 <= q / p) by (apply Qle_shift_div_l; lra). split; [assumption | split; [now right |]]. split; [nra | lra].
  - assert (L : q < p) by (apply Qnot_le_lt; intro H; apply Qle_bool_iff in H; congruence). assert (X : p / q * q == p) by (field; lra).
    assert (O : 1 <= p / q) by (apply Qle_shift_div_l; lra). split; [assumption | split; [now left |]]. split; [lra | nra]. Qed.

Lemma largest (l : matches) : l <> [] -> exists e, In e l /\ forall e', In e' l -> size (snd (fst e')) (snd (snd e')) <= size (snd (fst e)) (snd (snd e)).
Proof.
  induction l as [| e l IH]; [easy |]. intros _. destruct l as [| e2 l].
  - exists e. split; [now left |]. intros e' [<- | []]. apply Qle_refl.
  - destruct IH as (m & I & H); [easy |]. destruct (Qlt_le_dec (size (snd (fst m)) (snd (snd m))) (size (snd (fst e)) (snd (snd e)))) as [L | L].
    + exists e. split; [now left |]. intros e' [<- | J]; [apply Qle_refl |]. specialize (H _ J). lra.
    + exists m. split; [now right |]. intros e' [<- | J]; [assumption | now apply H]. Qed.

(** ** Rule M7 *)
Definition reached (U : positive -> positive -> option Q) (x z : Q) (a b : key) : bool :=
  not_beyond z (snd a) (snd b) && match after U (fst a) (fst b) with Some y => Qleb (z * y) x | None => false end.

Definition check_upper_entry (U : positive -> positive -> option Q) (e : paired Q) : bool :=
  known_pair e && Qleb 1 (snd e) &&
  answered_all (fun mu mu' => existsb (fun z => Qleb z (snd e) && matched find_matching k (reached U (snd e) z) mu mu') (sizes mu mu')) (fst (fst e)) (snd (fst e)).

Definition check_upper_table (l : list (paired Q)) : bool := let U := at_pair l in once l && forallb (check_upper_entry U) l.

Lemma sizes_ge1 mu mu' z : positive_row mu -> positive_row mu' -> In z (sizes mu mu') -> 1 <= z.
Proof.
  intros P P' [<- | I]; [apply Qle_refl |].
  assert (D : forall x l, In x (once_each l) -> In x l).
  { intros x l. induction l as [| y l IH]; simpl; [easy |]. destruct (existsb _ _); [auto |]. intros [-> | J]; auto. }
  apply D, in_flat_map in I. destruct I as (p & Ip & I). apply in_map_iff in I. destruct I as (q & <- & Iq).
  apply D, in_map_iff in Ip, Iq. destruct Ip as ([u ?] & <- & Ip), Iq as ([u' ?] & <- & Iq). simpl. now apply size_ok; [apply (P u) | apply (P' u')]. Qed.

Lemma check_upper_table_ok l : check_upper_table l = true -> upper_table A k (at_pair l).
Proof.
  unfold check_upper_table. rewrite andb_true_iff, forallb_forall. intros [_ H] i j x E. destruct (at_pair_in E) as (s & t & I & <- & <-).
  specialize (H _ I). unfold check_upper_entry, known_pair in H. cbn [fst snd] in H. rewrite !andb_true_iff in H. destruct H as [[[Ks Kt] X1] H].
  split; [now apply Qle_bool_iff |]. exists s, t. split; [now apply known_ok | split; [now apply known_ok | split; [reflexivity | split; [reflexivity |]]]].
  revert H. apply answered_all_ok. intros mu mu' P P' T. apply existsb_exists in T. destruct T as (z & Iz & T). apply andb_true_iff in T. destruct T as [_ T].
  destruct (matched_ok P P' T) as (m & B & G). exists m. split; [assumption |]. exists z. intros u p u' p' J. specialize (G _ _ _ _ J).
  unfold reached, not_beyond in G. simpl in G. rewrite !andb_true_iff in G. destruct G as [[G1 G2] G3].
  split; [now apply (sizes_ge1 P P') | split; [now apply Qle_bool_iff | split; [now apply Qle_bool_iff |]]].
  destruct (after _ _ _) as [y |]; [| easy]. exists y. split; [reflexivity | now apply Qle_bool_iff]. Qed.

(** ** Challenges *)
Definition state_row (mu : row) := forall t p, In (t, p) mu -> In t S_ /\ 0 < p.

Lemma row_of_states s a mu : step A s a mu -> state_row mu.
Proof. intros St t p I. destruct A_ok as [_ Ok]. destruct (Ok _ _ _ St) as (_ & _ & _ & P). now apply P. Qed.

Record challenge := { by_second : bool; transition : nat }.

Definition check_challenge (test : row -> row -> bool) (s t : positive) (c : challenge) : bool :=
  match nth_error (pa_steps A) (transition c) with
  | Some (q, (a, mu)) =>
      if by_second c then Pos.eqb (k q) (k t) && forallb (fun y => negb (Pos.eqb a (fst y)) || test (snd y) mu) (steps_of s)
      else Pos.eqb (k q) (k s) && forallb (fun y => negb (Pos.eqb a (fst y)) || test mu (snd y)) (steps_of t)
  | None => false
  end.

Lemma check_challenge_ok test (property : matches -> Prop) s t c : In s S_ -> In t S_ ->
  (forall mu mu' l, state_row mu -> state_row mu' -> test mu mu' = true -> bijection l mu mu' -> property l) ->
  check_challenge test s t c = true -> challenged A k property (k s) (k t).
Proof.
  intros Hs Ht T. unfold check_challenge. destruct (nth_error _ _) as [[q [a mu]] |] eqn:E; [| easy]. apply nth_error_In in E.
  assert (Hq : In q S_) by (destruct A_ok as [_ Ok]; apply (Ok _ _ _ E)).
  destruct (by_second c); rewrite andb_true_iff, forallb_forall; intros [Ek H]; apply Pos.eqb_eq in Ek; [right | left].
  - exists q, a, mu, s. repeat (split; [assumption || reflexivity |]). intros mu' l St B. pose proof St as I. apply steps_of_ok in I.
    specialize (H _ I). simpl in H. rewrite Pos.eqb_refl in H. simpl in H. exact (T _ _ _ (row_of_states St) (row_of_states E) H B).
  - exists q, a, mu, t. repeat (split; [assumption || reflexivity |]). intros mu' l St B. pose proof St as I. apply steps_of_ok in I.
    specialize (H _ I). simpl in H. rewrite Pos.eqb_refl in H. simpl in H. exact (T _ _ _ (row_of_states E) (row_of_states St) H B). Qed.

(** ** Rule M8 *)
Record lower_entry := { le_value : option Q; le_rank : nat; le_challenge : challenge }.

Definition hitsb (L : positive -> positive -> option (option Q * nat)) (z : Q) (v : option Q) (r : nat) i j : bool :=
  let w := worth L i j in
  match v, fst w with
  | Some _, None => true
  | None, Some _ => false
  | None, None => Qltb 1 z || Nat.ltb (snd w) r
  | Some x, Some y => Qleb x (z * y) && (Qltb 1 z || Qltb x y || Nat.ltb (snd w) r)
  end.

Definition spared L z v r (a b : key) : bool :=
  Pos.eqb (f (fst a)) (f (fst b)) && not_beyond z (snd a) (snd b) && negb (hitsb L z v r (fst a) (fst b)).

Definition check_lower_entry L (e : paired lower_entry) : bool :=
  known_pair e && match le_value (snd e) with Some x => Qleb 1 x | None => true end &&
  check_challenge (fun mu mu' => forallb (fun z => blocked find_matching k (spared L z (le_value (snd e)) (le_rank (snd e))) mu mu') (sizes mu mu'))
    (fst (fst e)) (snd (fst e)) (le_challenge (snd e)).

Definition values (l : list (paired lower_entry)) := map (fun e => (fst e, (le_value (snd e), le_rank (snd e)))) l.
Definition check_lower_table (l : list (paired lower_entry)) : bool := let L := at_pair (values l) in once l && forallb (check_lower_entry L) l.

Lemma hitsb_ok L z v r i j : hitsb L z v r i j = true -> hits L z v r i j.
Proof.
  unfold hitsb, hits. destruct v as [x |], (fst (worth L i j)) as [y |]; try easy.
  - rewrite andb_true_iff, !orb_true_iff, !Qltb_lt, Nat.ltb_lt. unfold Qleb; rewrite Qle_bool_iff. tauto.
  - rewrite orb_true_iff, Qltb_lt, Nat.ltb_lt. tauto. Qed.

Lemma in_rows (l : matches) mu mu' u p u' p' : bijection l mu mu' -> In ((u, p), (u', p')) l -> In (u, p) mu /\ In (u', p') mu'.
Proof. apply fst_in. Qed.

Lemma check_lower_table_ok l : check_lower_table l = true -> lower_table A k f (at_pair (values l)).
Proof.
  unfold check_lower_table. rewrite andb_true_iff, forallb_forall. intros [_ H] i j v r E. destruct (at_pair_in E) as (s & t & I & <- & <-).
  apply in_map_iff in I. destruct I as ([[s' t'] e] & Ee & I). simpl in Ee. injection Ee as -> -> <- <-.
  specialize (H _ I). unfold check_lower_entry, known_pair in H. cbn [fst snd] in H. rewrite !andb_true_iff in H. destruct H as [[[Ks Kt] X1] H].
  split; [destruct (le_value e); [now apply Qle_bool_iff | easy] |].
  revert H. apply check_challenge_ok; [now apply known_ok | now apply known_ok |]. intros mu mu' m P P' T B. rewrite forallb_forall in T.
  assert (Hit : forall z u p u' p', In ((u, p), (u', p')) m -> spared (at_pair (values l)) z (le_value e) (le_rank e) (k u, p) (k u', p') = false ->
    p <= z * p' -> p' <= z * p -> In u S_ -> In u' S_ -> f u = f u' -> hits (at_pair (values l)) z (le_value e) (le_rank e) (k u) (k u')).
  { intros z u p u' p' _ Sp L1 L2 Hu Hu' Ef. unfold spared, not_beyond in Sp. simpl in Sp. rewrite <- !f_by_class, Ef, Pos.eqb_refl in Sp by assumption.
    apply Qle_bool_iff in L1, L2. unfold Qleb in Sp. rewrite L1, L2 in Sp. simpl in Sp. apply negb_false_iff in Sp. now apply hitsb_ok. }
  destruct m as [| e0 m'].
  - destruct (blocked_ok (T 1 (or_introl eq_refl)) B) as (u & p & u' & p' & [] & _).
  - destruct (@largest (e0 :: m')) as ([[w q] [w' q']] & Iw & Most); [easy |]. simpl in Most.
    destruct (in_rows B Iw) as [Iw1 Iw2]. destruct (size_ok (proj2 (P _ _ Iw1)) (proj2 (P' _ _ Iw2))) as (Z1 & Z2 & Z3 & Z4).
    destruct (blocked_ok (T _ (size_in Iw1 Iw2)) B) as (u & p & u' & p' & Iu & Sp).
    exists (size q q'). split; [now exists w, q, w', q' |]. exists u, p, u', p'. split; [assumption |]. intro Ef.
    destruct (in_rows B Iu) as [Iu1 Iu2]. destruct (size_ok (proj2 (P _ _ Iu1)) (proj2 (P' _ _ Iu2))) as (Y1 & _ & Y3 & Y4). specialize (Most _ Iu). simpl in Most.
    destruct (P _ _ Iu1), (P' _ _ Iu2).
    apply (Hit _ u p u' p' Iu Sp); try assumption; nra. Qed.

(** ** Rule M12 *)
Definition drivesb (E : positive -> positive -> option driven) (e : driven) (a b : key) : bool :=
  match E (fst a) (fst b) with
  | None => false
  | Some e' => Nat.ltb (d_rank e') (d_rank e) || (Nat.eqb (d_rank e') (d_rank e) && Bool.eqb (d_up e') (d_up e) &&
      let moved := factor (d_up e) (snd a) (snd b) * d_potential e' in
      (Qltb (d_potential e) moved || (Qeqb moved (d_potential e) && Nat.ltb (d_depth e') (d_depth e))))
  end.

Definition undriven E e (a b : key) : bool := Pos.eqb (f (fst a)) (f (fst b)) && negb (drivesb E e a b).

Definition check_infinite_entry E (e : paired (driven * challenge)) : bool :=
  known_pair e && Qltb 0 (d_potential (fst (snd e))) &&
  check_challenge (blocked find_matching k (undriven E (fst (snd e)))) (fst (fst e)) (snd (fst e)) (snd (snd e)).

Definition drivers (l : list (paired (driven * challenge))) := map (fun e => (fst e, fst (snd e))) l.
Definition check_infinite (l : list (paired (driven * challenge))) : bool := let E := at_pair (drivers l) in once l && forallb (check_infinite_entry E) l.

Lemma drivesb_ok E e a b : drivesb E e a b = true -> drives E e (snd a) (snd b) (fst a) (fst b).
Proof.
  unfold drivesb, drives. destruct (E (fst a) (fst b)) as [e' |]; [| easy]. cbv zeta.
  rewrite !orb_true_iff, !andb_true_iff, !Nat.ltb_lt, Nat.eqb_eq, eqb_true_iff, orb_true_iff, Qltb_lt, andb_true_iff, Nat.ltb_lt.
  unfold Qeqb. rewrite Qeq_bool_iff. tauto. Qed.

Lemma check_infinite_ok l : check_infinite l = true -> all_driven A k f (at_pair (drivers l)).
Proof.
  unfold check_infinite. rewrite andb_true_iff, forallb_forall. intros [_ H] i j d E. destruct (at_pair_in E) as (s & t & I & <- & <-).
  apply in_map_iff in I. destruct I as ([[s' t'] [e c]] & Ee & I). simpl in Ee. injection Ee as -> -> <-.
  specialize (H _ I). unfold check_infinite_entry, known_pair in H. cbn [fst snd] in H. rewrite !andb_true_iff in H. destruct H as [[[Ks Kt] P0] H].
  split; [now apply Qltb_lt |]. revert H. apply check_challenge_ok; [now apply known_ok | now apply known_ok |].
  intros mu mu' m P P' T B. destruct (blocked_ok T B) as (u & p & u' & p' & Iu & Sp). exists u, p, u', p'. split; [assumption |]. intro Ef.
  destruct (in_rows B Iu) as [Iu1 Iu2]. destruct (P _ _ Iu1) as [Hu _], (P' _ _ Iu2) as [Hu' _].
  unfold undriven in Sp. simpl in Sp. rewrite <- !f_by_class, Ef, Pos.eqb_refl in Sp by assumption. simpl in Sp. apply negb_false_iff in Sp.
  now apply drivesb_ok in Sp. Qed.

(** ** Rule M11 *)
Definition grouped (X : Type) (l : list (paired X)) : table (table (list X)) :=
  fold_right (fun e m => add2 (k (fst (fst e))) (k (snd (fst e))) (snd e :: match find2 m (k (fst (fst e))) (k (snd (fst e))) with Some l => l | None => [] end) m)
    (PositiveMap.empty _) l.
Definition all_at (X : Type) (l : list (paired X)) : positive -> positive -> list X :=
  let found := grouped l in fun i j => match find2 found i j with Some l => l | None => [] end.

Lemma all_at_in (X : Type) (l : list (paired X)) i j x : In x (all_at l i j) -> exists s t, In ((s, t), x) l /\ k s = i /\ k t = j.
Proof.
  unfold all_at. revert i j; induction l as [| [[s t] y] l IH]; simpl; intros i j.
  - unfold find2. rewrite PositiveMap.gempty. easy.
  - destruct (find2 (add2 _ _ _ _) i j) as [m |] eqn:E; [| easy]. apply find_add2 in E. destruct E as [(-> & -> & ->) | E].
    + intros [-> | I]; [exists s, t; auto |]. destruct (IH _ _ I) as (s' & t' & ? & ? & ?). exists s', t'; auto.
    + intro I. destruct (IH i j) as (s' & t' & ? & ? & ?); [now rewrite E | exists s', t'; auto]. Qed.

Record loss := { lo_credit : Q; lo_rank : nat; lo_challenge : challenge }.

Definition unsafeb (E : positive -> positive -> option driven) (L : Q) (losses : positive -> positive -> list (Q * nat)) (c : Q) (rank : nat) (a b : key) : bool :=
  let ahead := c * snd a in
  Qleb (L * snd b) ahead || Qleb (ahead * L) (snd b) || (match E (fst a) (fst b) with Some _ => true | None => false end) ||
  existsb (fun x => Nat.ltb (snd x) rank && Qeqb (fst x * snd b) ahead) (losses (fst a) (fst b)).

Definition safe E L losses c rank (a b : key) : bool := Pos.eqb (f (fst a)) (f (fst b)) && negb (unsafeb E L losses c rank a b).

Definition check_loss E L losses (e : paired loss) : bool :=
  known_pair e && Qltb 0 (lo_credit (snd e)) &&
  check_challenge (blocked find_matching k (safe E L losses (lo_credit (snd e)) (lo_rank (snd e)))) (fst (fst e)) (snd (fst e)) (lo_challenge (snd e)).

Definition credits_lost (l : list (paired loss)) := map (fun e => (fst e, (lo_credit (snd e), lo_rank (snd e)))) l.
Definition check_losses E L (s t : positive) (l : list (paired loss)) : bool :=
  let losses := all_at (credits_lost l) in existsb (fun x => Qeqb (fst x) 1) (losses (k s) (k t)) && forallb (check_loss E L losses) l.

Lemma unsafeb_ok E L losses c rank a b : unsafeb E L losses c rank a b = true -> unsafe E L losses c rank (snd a) (snd b) (fst a) (fst b).
Proof.
  unfold unsafeb, unsafe. cbv zeta. rewrite !orb_true_iff. unfold Qleb. rewrite !Qle_bool_iff. intros [[[H | H] | H] | H].
  - now left.
  - right; now left.
  - right; right; left. destruct (E _ _) as [e |]; [now exists e | easy].
  - right; right; right. apply existsb_exists in H. destruct H as ([d r] & I & H). apply andb_true_iff in H. destruct H as [H1 H2].
    apply Nat.ltb_lt in H1. apply Qeq_bool_iff in H2. now exists d, r. Qed.

Lemma check_losses_ok E L s t l : check_losses E L s t l = true ->
  all_lost A k f E L (all_at (credits_lost l)) /\ exists c rank, In (c, rank) (all_at (credits_lost l) (k s) (k t)) /\ c == 1.
Proof.
  unfold check_losses. rewrite andb_true_iff, forallb_forall. intros [X H]. split.
  - intros i j c rank I. destruct (all_at_in I) as (s' & t' & I' & <- & <-). apply in_map_iff in I'. destruct I' as ([[s0 t0] e] & Ee & I').
    simpl in Ee. injection Ee as -> -> <- <-. specialize (H _ I'). unfold check_loss, known_pair in H. cbn [fst snd] in H.
    rewrite !andb_true_iff in H. destruct H as [[[Ks Kt] C0] H]. split; [now apply Qltb_lt |].
    revert H. apply check_challenge_ok; [now apply known_ok | now apply known_ok |].
    intros mu mu' m P P' T B. destruct (blocked_ok T B) as (u & p & u' & p' & Iu & Sp). exists u, p, u', p'. split; [assumption |]. intro Ef.
    destruct (in_rows B Iu) as [Iu1 Iu2]. destruct (P _ _ Iu1) as [Hu _], (P' _ _ Iu2) as [Hu' _].
    unfold safe in Sp. simpl in Sp. rewrite <- !f_by_class, Ef, Pos.eqb_refl in Sp by assumption. simpl in Sp. apply negb_false_iff in Sp.
    now apply unsafeb_ok in Sp.
  - apply existsb_exists in X. destruct X as ([c rank] & I & X). exists c, rank. split; [assumption |]. now apply Qeq_bool_iff. Qed.

(** ** Rule M10: credits in intervals, which are cut so that on each part one answer does *)
Record interval := { low : Q; high : Q; cuts : list Q }.

Fixpoint parts (test : Q -> Q -> bool) (a : Q) (cuts : list Q) (b : Q) : bool :=
  match cuts with [] => test a b | x :: cuts' => test a x && parts test x cuts' b end.

Lemma parts_ok test cuts : forall a b c, parts test a cuts b = true -> a <= c -> c <= b -> exists x y, x <= c /\ c <= y /\ test x y = true.
Proof.
  induction cuts as [| x cuts IH]; simpl; intros a b c H A0 B0; [now exists a, b |]. apply andb_true_iff in H. destruct H as [H1 H2].
  destruct (Qlt_le_dec c x) as [L | L]; [exists a, x; split; [assumption | split; [lra | assumption]] | now apply (IH x b)]. Qed.

Definition may_be (U inverse : Q) (credits : positive -> positive -> option (list interval)) i j : list (Q * Q) :=
  if Pos.eqb i j then [(inverse, U)] else match credits i j with Some l => map (fun x => (low x, high x)) l | None => [] end.

Definition stays (may : positive -> positive -> list (Q * Q)) (x y : Q) (a b : key) : bool :=
  existsb (fun lh => Qleb (fst lh * snd b) (x * snd a) && Qleb (y * snd a) (snd lh * snd b)) (may (fst a) (fst b)).

Definition check_held U may (e : paired (list interval)) : bool :=
  known_pair e && forallb (fun i => Qleb (low i) (high i) && Qleb (high i) U && Qleb 1 (U * low i) &&
    parts (fun x y => answered_all (matched find_matching k (stays may x y)) (fst (fst e)) (snd (fst e))) (low i) (cuts i) (high i)) (snd e).

Definition check_relation U (s t : positive) (l : list (paired (list interval))) : bool :=
  let credits := at_pair l in let may := may_be U (Qred (/ U)) credits in
  once l && existsb (fun lh => Qleb (fst lh) 1 && Qleb 1 (snd lh)) (may (k s) (k t)) && forallb (check_held U may) l.

Lemma check_relation_ok U s t l : 1 <= U -> In s S_ -> In t S_ -> check_relation U s t l = true -> at_most Amortised A s t U.
Proof.
  intros U1 Hs Ht. unfold check_relation. rewrite !andb_true_iff, forallb_forall. intros [[_ One] H].
  set (may := may_be U (Qred (/ U)) (at_pair l)) in *.
  assert (Inv : U * Qred (/ U) == 1) by (rewrite Qred_correct; field; lra).
  assert (Held : forall i j c, held U (fun i j => may i j) i j c <-> exists lo hi, In (lo, hi) (may i j) /\ lo <= c /\ c <= hi).
  { intros i j c. unfold held. destruct (Pos.eqb i j) eqn:E; [| reflexivity]. unfold may, may_be. rewrite E. simpl. split.
    - intros (C0 & C1 & C2). exists (Qred (/ U)), U. split; [now left |]. split; [nra | assumption].
    - intros (lo & hi & [X | []] & C1 & C2). injection X as <- <-. assert (0 < Qred (/ U)) by nra. repeat split; try assumption; nra. }
  apply (staircase_at_most A_ok k_alike) with (credits := fun i j => may i j); [| assumption | assumption |].
  - intros i j c Hc N. apply Held in Hc. destruct Hc as (lo & hi & I & C1 & C2). unfold may, may_be in I.
    destruct (Pos.eqb_spec i j) as [X | _]; [contradiction |]. destruct (at_pair l i j) as [x |] eqn:E; [| easy].
    apply in_map_iff in I. destruct I as (y & Ey & Iy). injection Ey as <- <-. destruct (at_pair_in E) as (s' & t' & I & <- & <-).
    specialize (H _ I). unfold check_held, known_pair in H. cbn [fst snd] in H. rewrite !andb_true_iff, forallb_forall in H. destruct H as [[Ks Kt] H].
    specialize (H _ Iy). rewrite !andb_true_iff in H. destruct H as [[[H1 H2] H3] H4]. apply Qle_bool_iff in H1, H2, H3.
    assert (0 < low y) by nra. split; [lra | split; [nra | split; [lra |]]].
    exists s', t'. split; [now apply known_ok | split; [now apply known_ok | split; [reflexivity | split; [reflexivity |]]]].
    destruct (parts_ok H4 C1 C2) as (a & b & L1 & L2 & T). revert T. apply answered_all_ok. intros mu mu' P P' M.
    destruct (matched_ok P P' M) as (m & B & G). exists m. split; [assumption |]. intros u p u' p' J. specialize (G _ _ _ _ J).
    unfold stays in G. simpl in G. apply existsb_exists in G. destruct G as ([lo hi] & Im & G). simpl in G. apply andb_true_iff in G. destruct G as [G1 G2].
    apply Qle_bool_iff in G1, G2. destruct (in_rows B J) as [J1 J2]. pose proof (P _ _ J1). pose proof (P' _ _ J2).
    exists (c * p / p'). split; [field; lra |]. apply Held. exists lo, hi. split; [assumption |]. split.
    + apply Qle_shift_div_l; [assumption |]. nra.
    + apply Qle_shift_div_r; [assumption |]. nra.
  - apply Held. apply existsb_exists in One. destruct One as ([lo hi] & I & One). apply andb_true_iff in One. destruct One as [O1 O2].
    apply Qle_bool_iff in O1, O2. now exists lo, hi. Qed.

(** ** Claims *)
Record metric_claim := {
  mc_from : positive; mc_to : positive; mc_upper : option Q; mc_lower : option Q;
  mc_relation : list (paired (list interval)); mc_losses : list (paired loss)
}.

Definition between (kd : kind) (c : metric_claim) :=
  In (mc_from c) S_ /\ In (mc_to c) S_ /\
  match mc_upper c with Some U => 1 <= U /\ at_most kd A (mc_from c) (mc_to c) U | None => True end /\
  match mc_lower c with Some L => 1 <= L /\ at_least kd A (mc_from c) (mc_to c) L | None => infinite kd A (mc_from c) (mc_to c) end.

Definition at_least_one (x : option Q) : bool := match x with Some v => Qleb 1 v | None => true end.
Definition well_put (c : metric_claim) : bool := known (mc_from c) && known (mc_to c) && at_least_one (mc_upper c) && at_least_one (mc_lower c).

(** Rules M5 and M6. *)
Definition check_accumulative (upper : list (paired Q)) (lower : list (paired lower_entry)) (claims : list metric_claim) : bool :=
  let U := at_pair upper in let L := at_pair (values lower) in
  check_upper_table upper && check_lower_table lower &&
  forallb (fun c => well_put c &&
    let i := k (mc_from c) in let j := k (mc_to c) in
    match mc_upper c with Some x => match after U i j with Some y => Qleb y x | None => false end | None => true end &&
    (negb (Pos.eqb (f (mc_from c)) (f (mc_to c))) ||
     match mc_lower c, L i j with
     | None, Some (None, _) => true
     | Some x, Some (None, _) => true
     | Some x, Some (Some y, _) => Qleb x y
     | Some x, None => Qleb x 1
     | _, _ => false
     end)) claims.

Definition check_amortised (infinite : list (paired (driven * challenge))) (claims : list metric_claim) : bool :=
  let E := at_pair (drivers infinite) in
  check_infinite infinite &&
  forallb (fun c => well_put c &&
    let i := k (mc_from c) in let j := k (mc_to c) in
    match mc_upper c with Some x => Pos.eqb i j || check_relation x (mc_from c) (mc_to c) (mc_relation c) | None => true end &&
    (negb (Pos.eqb (f (mc_from c)) (f (mc_to c))) || match E i j with Some _ => true | None => false end ||
     match mc_lower c with Some x => Qeqb x 1 || check_losses E x (mc_from c) (mc_to c) (mc_losses c) | None => false end)) claims.

Lemma at_least_weaker kd s t x y : x <= y -> at_least kd A s t y -> at_least kd A s t x.
Proof. intros L H V R B Rst. specialize (H V R B Rst). lra. Qed.

Lemma infinite_at_least kd s t x : infinite kd A s t -> at_least kd A s t x.
Proof. intros H V R B Rst. now destruct (H V R B Rst). Qed.

Lemma at_least_1 kd s t : at_least kd A s t 1.
Proof. intros V R B Rst. destruct (B _ _ _ Rst) as (_ & _ & I & _). destruct kd; unfold inside in I; [lra | lra]. Qed.

Lemma well_put_ok c : well_put c = true -> In (mc_from c) S_ /\ In (mc_to c) S_ /\
  (forall x, mc_upper c = Some x -> 1 <= x) /\ (forall x, mc_lower c = Some x -> 1 <= x).
Proof. unfold well_put. rewrite !andb_true_iff. intros [[[K1 K2] H1] H2]. split; [now apply known_ok | split; [now apply known_ok |]].
  split; intros x E; rewrite E in *; now apply Qle_bool_iff. Qed.

Lemma check_accumulative_ok upper lower claims : check_accumulative upper lower claims = true -> forall c, In c claims -> between Accumulative c.
Proof.
  unfold check_accumulative. rewrite !andb_true_iff, forallb_forall. intros [[HU HL] H] c I. specialize (H _ I).
  rewrite !andb_true_iff in H. destruct H as [Put [H1 H2]]. destruct (well_put_ok Put) as (Hs & Ht & P1 & P2).
  split; [assumption | split; [assumption | split]].
  - destruct (mc_upper c) as [x |]; [| easy]. split; [now apply P1 |]. destruct (after _ _ _) as [y |] eqn:E; [| easy]. apply Qle_bool_iff in H1.
    exact (upper_table_at_most A_ok k_alike (check_upper_table_ok HU) Hs Ht E H1).
  - apply orb_true_iff in H2. destruct H2 as [N | H2].
    { apply negb_true_iff, Pos.eqb_neq in N. pose proof (shapes_infinite f_shapes (kd := Accumulative) N) as Inf.
      destruct (mc_lower c); [split; [now apply P2 | now apply infinite_at_least] | assumption]. }
    assert (Listed : forall i j e, at_pair (values lower) i j = Some e -> In (fst e) (map (fun e => le_value (snd e)) lower)).
    { intros i j e E. destruct (at_pair_in E) as (s & t & J & _). apply in_map_iff in J. destruct J as (x & Ex & J). injection Ex as _ <-.
      apply in_map_iff. now exists x. }
    pose proof (fun s t v r => @lower_table_at_least A A_ok k k_alike f f_shapes _ _ Listed (check_lower_table_ok HL) s t v r) as T.
    destruct (at_pair (values lower) (k (mc_from c)) (k (mc_to c))) as [[v r] |] eqn:E.
    + specialize (T _ _ v r Hs Ht E). destruct (mc_lower c) as [x |], v as [y |]; try easy; try (split; [now apply P2 |]).
      * apply Qle_bool_iff in H2. now apply at_least_weaker with y.
      * now apply infinite_at_least.
    + destruct (mc_lower c) as [x |]; [| easy]. split; [now apply P2 |]. apply Qle_bool_iff in H2. apply at_least_weaker with 1; [assumption | apply at_least_1]. Qed.

Lemma check_amortised_ok infinite claims : check_amortised infinite claims = true -> forall c, In c claims -> between Amortised c.
Proof.
  unfold check_amortised. rewrite !andb_true_iff, forallb_forall. intros [HE H] c I. specialize (H _ I).
  rewrite !andb_true_iff in H. destruct H as [Put [H1 H2]]. destruct (well_put_ok Put) as (Hs & Ht & P1 & P2).
  split; [assumption | split; [assumption | split]].
  - destruct (mc_upper c) as [x |]; [| easy]. pose proof (P1 _ eq_refl) as X1. split; [assumption |]. apply orb_true_iff in H1. destruct H1 as [E | H1].
    + apply Pos.eqb_eq in E. apply (staircase_at_most A_ok k_alike) with (credits := fun _ _ => []); try assumption.
      * intros i j d Hd N. unfold held in Hd. destruct (Pos.eqb_spec i j); [contradiction |]. now destruct Hd as (? & ? & [] & _).
      * unfold held. rewrite E, Pos.eqb_refl. lra.
    + now apply check_relation_ok in H1.
  - pose proof (check_infinite_ok HE) as Dr.
    assert (Listed : forall i j e, at_pair (drivers infinite) i j = Some e -> In e (map (fun e => fst (snd e)) infinite)).
    { intros i j e E. destruct (at_pair_in E) as (s & t & J & _). apply in_map_iff in J. destruct J as (x & Ex & J). injection Ex as _ <-.
      apply in_map_iff. now exists x. }
    assert (Inf : MetricGame.infinite Amortised A (mc_from c) (mc_to c) -> match mc_lower c with Some L => 1 <= L /\ at_least Amortised A (mc_from c) (mc_to c) L
      | None => MetricGame.infinite Amortised A (mc_from c) (mc_to c) end).
    { intro Inf. destruct (mc_lower c); [split; [now apply P2 | now apply infinite_at_least] | assumption]. }
    rewrite !orb_true_iff in H2. destruct H2 as [[N | H2] | H2].
    + apply Inf, (shapes_infinite f_shapes). now apply negb_true_iff, Pos.eqb_neq in N.
    + destruct (at_pair (drivers infinite) (k (mc_from c)) (k (mc_to c))) as [e |] eqn:E; [| easy].
      exact (Inf (driven_infinite A_ok k_alike f_shapes Listed Dr E)).
    + destruct (mc_lower c) as [x |]; [| easy]. split; [now apply P2 |]. apply orb_true_iff in H2. destruct H2 as [E | H2].
      * apply Qeq_bool_iff in E. apply at_least_weaker with 1; [lra | apply at_least_1].
      * destruct (check_losses_ok H2) as (Lo & d & rank & J & Ed). exact (losses_at_least A_ok k_alike f_shapes Listed Dr Lo J Ed). Qed.
End Automaton.

(** ** The whole certificate *)
Inductive metric_tables :=
| OfAccumulative (upper : list (paired Q)) (lower : list (paired lower_entry))
| OfAmortised (infinite : list (paired (driven * challenge))).

Record metric_certificate := {
  mx_automaton : pa;
  mx_classes : list (positive * positive);  (* by state one of its class *)
  mx_tables : metric_tables;
  mx_claims : list metric_claim
}.

Definition check_metric (find_matching : finder) (x : metric_certificate) : bool :=
  let A := mx_automaton x in
  let known_states := known_of (pa_states A) in
  let steps := by_state (pa_steps A) in
  let classes := build (mx_classes x) in
  let steps_of s := find_or [] steps s in
  let k s := find_or s classes s in
  let f := shape_of A steps_of in
  let known := is_in known_states in
  check_pa A known_states && check_classes find_matching A steps_of k && forallb (fun s => Pos.eqb (f s) (f (k s))) (pa_states A) &&
  match mx_tables x with
  | OfAccumulative upper lower => check_accumulative find_matching A steps_of k f known upper lower (mx_claims x)
  | OfAmortised infinite => check_amortised find_matching A steps_of k f known infinite (mx_claims x)
  end.

Definition kind_of (x : metric_tables) := match x with OfAccumulative _ _ => Accumulative | OfAmortised _ => Amortised end.

(** Theorem. If the checker accepts, the model is an automaton, and e to the distance of the states of each claim is between
    its bounds: whatever finds bijections and classes. *)
Theorem check_metric_sound find_matching x : check_metric find_matching x = true ->
  pa_ok (mx_automaton x) /\ forall c, In c (mx_claims x) -> between (mx_automaton x) (kind_of (mx_tables x)) c.
Proof.
  unfold check_metric. cbv zeta. rewrite !andb_true_iff, forallb_forall. intros [[[H1 H2] H3] H4].
  pose proof (check_pa_ok H1) as Ok. split; [assumption |].
  set (A := mx_automaton x) in *. set (steps_of := fun s => find_or [] (by_state (pa_steps A)) s) in *.
  assert (St : forall s a mu, In (a, mu) (steps_of s) <-> step A s a mu) by (intros; apply by_state_ok).
  pose proof (shape_of_ok St) as Sh. pose proof (check_classes_ok Ok St H2) as Al.
  assert (Kn : forall s, is_in (known_of (pa_states A)) s = true -> In s (pa_states A)) by (intro; apply is_in_ok).
  assert (By : forall s, In s (pa_states A) -> shape_of A steps_of s = shape_of A steps_of (find_or s (build (mx_classes x)) s)) by (intros s Hs; now apply Pos.eqb_eq, H3).
  destruct (mx_tables x); [exact (check_accumulative_ok Ok St Sh Al Kn By H4) | exact (check_amortised_ok Ok St Sh Al Kn By H4)]. Qed.

(** Corollary. Where every state has at most one transition of each action, the upper bound is one of the probabilities of traces. *)
Corollary check_metric_bounds_traces (F : OrderedField) find_matching x : check_metric find_matching x = true -> deterministic (mx_automaton x) ->
  forall c U, In c (mx_claims x) -> mc_upper c = Some U -> forall xi, scheduler_ok xi -> forall w h,
  le (performs (by_action (mx_automaton x)) F xi w h (mc_from c)) (OrderedField.mul (ofQ U) (performs (by_action (mx_automaton x)) F xi w h (mc_to c))) /\
  le (performs (by_action (mx_automaton x)) F xi w h (mc_to c)) (OrderedField.mul (ofQ U) (performs (by_action (mx_automaton x)) F xi w h (mc_from c))).
Proof.
  intros H D c U I E xi Xi. destruct (check_metric_sound H) as [Ok K]. destruct (K c I) as (_ & _ & Up & _). rewrite E in Up. destruct Up as [_ Up].
  now apply (at_most_bounds_traces F Ok D Up). Qed.
