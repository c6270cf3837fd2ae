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
Let steps := by_state (pa_steps A).
Let steps_of s := find_or [] steps s.

Lemma steps_of_ok s a mu : In (a, mu) (steps_of s) <-> step A s a mu.
Proof. apply by_state_ok. Qed.

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
End Automaton.
