(** * The accumulative and the amortised metric of an automaton, from above and from below (docs/theory/metric.md)

    Here answers carry no tags: a challenge is answered by any transition with its action. What a certificate shows from
    above is a bisimulation; what it shows from below is that every bisimulation has at least such a bound. *)

From Coq Require Import ZArith QArith List Permutation Bool Lia Lqa.
From Bisimdist Require Import OrderedField Combination Metric.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.
Local Open Scope Q_scope.

Definition row := list (positive * Q).

(** States, and transitions: a state, an action, and where it leads. *)
Record pa := { pa_states : list positive; pa_steps : list (positive * (positive * row)) }.

Definition step (A : pa) s a mu := In (s, (a, mu)) (pa_steps A).

(** Rows lead to states, each with a positive probability and once, and sum to at most 1. *)
Definition pa_ok (A : pa) := NoDup (pa_states A) /\ forall s a mu, step A s a mu ->
  In s (pa_states A) /\ NoDup (map fst mu) /\ total mu <= 1 /\ forall t p, In (t, p) mu -> In t (pa_states A) /\ 0 < p.

(** Each challenge of s is answered by t, and the other way round, with a bijection of the successors that is good. *)
Definition both (A : pa) (good : matches -> Prop) s t :=
  (forall a mu, step A s a mu -> exists mu' l, step A t a mu' /\ bijection l mu mu' /\ good l) /\
  (forall a mu', step A t a mu' -> exists mu l, step A s a mu /\ bijection l mu mu' /\ good l).

Inductive kind := Accumulative | Amortised.
Definition relation := positive -> positive -> Q -> Prop.

(** As in [Metric]: where the product may be, and what a bijection of successors has to keep. *)
Definition inside (k : kind) (V c : Q) :=
  match k with
  | Accumulative => 1 <= c /\ c <= V
  | Amortised => 0 < c /\ 1 <= V * c /\ c <= V
  end.

Definition keeps (k : kind) (R : relation) (c : Q) (l : matches) :=
  match k with
  | Accumulative => exists sigma, forall u p u' p', In ((u, p), (u', p')) l ->
      p <= sigma * p' /\ p' <= sigma * p /\ R u u' (c * sigma)
  | Amortised => forall u p u' p', In ((u, p), (u', p')) l -> exists c', R u u' c' /\ c' * p' == c * p
  end.

(** The definitions of XCL14: a relation of states of the automaton with numbers, of bound V. The numbers are rational. That
    loses nothing: from the number 1 a relation with other numbers leads to rational ones only, since ratios are rational, and if
    it has a bound below a rational L, it has a rational one there. That sigma may be more than the worst ratio loses nothing, either:
    with each number of a relation all smaller ones from 1 on may be added. *)
Definition bisimulation (k : kind) (A : pa) (V : Q) (R : relation) := forall s t c, R s t c ->
  In s (pa_states A) /\ In t (pa_states A) /\ inside k V c /\ both A (keeps k R c) s t.

(** That e to the distance of s and t is at most U; at least L; and that it is infinite. *)
Definition at_most (k : kind) (A : pa) s t (U : Q) := exists R, bisimulation k A U R /\ R s t 1.
Definition at_least (k : kind) (A : pa) s t (L : Q) := forall V R, bisimulation k A V R -> R s t 1 -> L <= V.
Definition infinite (k : kind) (A : pa) s t := forall V R, bisimulation k A V R -> ~ R s t 1.

(** ** Where actions are tags, the bound is one of traces *)
Definition deterministic (A : pa) := forall s a mu mu', step A s a mu -> step A s a mu' -> mu = mu'.

Definition by_action (A : pa) : automaton := fun s a =>
  match find (fun e => Pos.eqb (fst e) s && Pos.eqb (fst (snd e)) a) (pa_steps A) with
  | Some (_, (_, mu)) => Some (a, mu)
  | None => None
  end.

Lemma by_action_some A s a b mu : by_action A s a = Some (b, mu) -> a = b /\ step A s a mu.
Proof.
  unfold by_action; destruct (find _ _) as [[s' [a' nu]] |] eqn:E; [| easy]. intro H; injection H as <- <-. split; [reflexivity |].
  apply find_some in E; destruct E as [I E]; simpl in E. apply andb_true_iff in E; destruct E as [E1 E2].
  apply Pos.eqb_eq in E1; apply Pos.eqb_eq in E2; subst; exact I. Qed.

Lemma by_action_none A s a mu : by_action A s a = None -> ~ step A s a mu.
Proof.
  unfold by_action; destruct (find _ _) as [[s' [a' nu]] |] eqn:E; [easy |]. intros _ I.
  apply (find_none _ _ E) in I; simpl in I. now rewrite !Pos.eqb_refl in I. Qed.

Lemma by_action_answered A good s t : deterministic A -> both A good s t -> answered (by_action A) s t good.
Proof.
  intros D [B1 B2] a. destruct (by_action A s a) as [[b mu] |] eqn:E.
  - apply by_action_some in E; destruct E as [<- St]. destruct (B1 _ _ St) as (mu' & l & St' & Bij & G).
    destruct (by_action A t a) as [[b' nu] |] eqn:E'; [| now apply (by_action_none E' St')].
    apply by_action_some in E'; destruct E' as [<- St2]. rewrite (D _ _ _ _ St2 St'). split; [reflexivity | now exists l].
  - destruct (by_action A t a) as [[b' nu] |] eqn:E'; [| exact I].
    apply by_action_some in E'; destruct E' as [<- St']. destruct (B2 _ _ St') as (mu & l & St & _).
    now apply (by_action_none E St). Qed.

Lemma by_action_ok A : pa_ok A -> automaton_ok (by_action A).
Proof. intros [_ Ok] s g a mu E t q I. apply by_action_some in E; destruct E as [_ St].
  destruct (Ok _ _ _ St) as (_ & _ & _ & P). apply Qlt_le_weak, (P t q I). Qed.

(** Theorem. Where every state has at most one transition of each action, what is at most U bounds the probabilities of
    all traces under every scheduler that decides by the actions that it has seen. *)
Theorem at_most_bounds_traces (F : OrderedField) k A s t U xi : pa_ok A -> deterministic A -> at_most k A s t U ->
  scheduler_ok xi -> forall w h,
  le (performs (by_action A) F xi w h s) (OrderedField.mul (ofQ U) (performs (by_action A) F xi w h t)) /\
  le (performs (by_action A) F xi w h t) (OrderedField.mul (ofQ U) (performs (by_action A) F xi w h s)).
Proof.
  intros Ok D (R & B & Rst) Xi w h. pose proof (F_R (field_ok F)) as Rt.
  destruct k.
  - assert (Ac : accumulative (by_action A) R U).
    { intros u v c Ruv. destruct (B u v c Ruv) as (_ & _ & [C1 C2] & Bo). split; [| split]; try assumption.
      now apply by_action_answered. }
    destruct (@accumulative_bounds_traces _ _ _ F xi Xi (by_action_ok Ok) Ac w h s t 1%Q Rst) as [K1 K2].
    rewrite ofQ_1 in K1, K2. rewrite (Rmul_1_l Rt) in K1, K2. now split.
  - assert (Am : amortised (by_action A) R U).
    { intros u v c Ruv. destruct (B u v c Ruv) as (_ & _ & (C0 & C1 & C2) & Bo). repeat (split; [assumption |]).
      now apply by_action_answered. }
    assert (U0 : 0 <= U) by (destruct (B s t 1 Rst) as (_ & _ & (C0 & C1 & C2) & _); lra).
    destruct (@amortised_bounds_traces _ _ _ F xi Xi U0 Am w h s t 1%Q Rst) as [K1 K2].
    rewrite ofQ_1 in K1. rewrite (Rmul_1_l Rt) in K1. split; [assumption |].
    assert (E : ofQ (F := F) (U * 1) = ofQ U) by (apply ofQ_eq; ring). now rewrite E in K2. Qed.

(** ** Bijections, one after the other *)
Lemma zip (l1 l2 : matches) : map snd l1 = map fst l2 -> exists l3 : matches, map fst l3 = map fst l1 /\ map snd l3 = map snd l2 /\
  forall e e'', In (e, e'') l3 -> exists e', In (e, e') l1 /\ In (e', e'') l2.
Proof.
  revert l2; induction l1 as [| [e e'] l1 IH]; intros [| [f f''] l2]; simpl; try easy; intro E.
  - exists []; repeat split; easy.
  - injection E as -> E. destruct (IH _ E) as (l3 & E1 & E2 & P). exists ((e, f'') :: l3); simpl. rewrite E1, E2.
    repeat split. intros x x'' [H | H].
    + injection H as <- <-. exists f; split; now left.
    + destruct (P _ _ H) as (x' & ? & ?). exists x'; split; now right. Qed.

Lemma one_after_the_other (l1 l2 : matches) mu mu' mu'' : bijection l1 mu mu' -> bijection l2 mu' mu'' ->
  exists l3, bijection l3 mu mu'' /\ forall e e'', In (e, e'') l3 -> exists e', In (e, e') l1 /\ In (e', e'') l2.
Proof.
  intros (P1 & P2 & P3) (Q1 & Q2 & Q3).
  destruct (Permutation_map_inv fst l2 (Permutation_trans P2 (Permutation_sym Q1))) as (l2' & E & P).
  destruct (zip E) as (l3 & E1 & E2 & H). exists l3; split.
  - split; [now rewrite E1 | split].
    + rewrite E2. eapply Permutation_trans; [apply Permutation_map, Permutation_sym, P | assumption].
    + intros u p u'' p'' I. destruct (H _ _ I) as ([v q] & I1 & I2).
      apply (Permutation_in _ (Permutation_sym P)) in I2. destruct (P3 _ _ _ _ I1), (Q3 _ _ _ _ I2); now split.
  - intros e e'' I; destruct (H _ _ I) as (e' & I1 & I2). exists e'; split; [assumption |].
    now apply (Permutation_in _ (Permutation_sym P)). Qed.

Lemma identity mu : (forall t p, In (t, p) mu -> 0 < p) -> bijection (map (fun e => (e, e)) mu) mu mu.
Proof.
  intro Pos. assert (E : forall f : (positive * Q) * (positive * Q) -> positive * Q, (forall e, f (e, e) = e) -> map f (map (fun e => (e, e)) mu) = mu).
  { intros f H; rewrite map_map. rewrite <- (map_id mu) at 2. apply map_ext; intro; apply H. }
  split; [rewrite E; [apply Permutation_refl | easy] | split; [rewrite E; [apply Permutation_refl | easy] |]].
  intros u p u' p' I; apply in_map_iff in I; destruct I as (e & Ee & I); injection Ee as -> E2; subst.
  injection E2 as -> ->; split; now apply (Pos u'). Qed.

(** ** Classes: states that do the same *)
Section Automaton.
Variable A : pa.
Hypothesis A_ok : pa_ok A.
Variable k : positive -> positive.
Notation S_ := (pa_states A).

Definition same (l : matches) := forall u p u' p', In ((u, p), (u', p')) l -> p == p' /\ k u = k u'.
Definition alike := forall s t, In s S_ -> In t S_ -> k s = k t -> both A same s t.
Hypothesis k_alike : alike.

(** A bijection of other states of the same classes. *)
Definition moved (l0 l : matches) := forall u p u' p', In ((u, p), (u', p')) l -> exists v q v' q',
  In ((v, q), (v', q')) l0 /\ k u = k v /\ k u' = k v' /\ p == q /\ p' == q' /\ In u S_ /\ In u' S_ /\ 0 < p /\ 0 < p'.

Lemma row_in s a mu t p : step A s a mu -> In (t, p) mu -> In t S_ /\ 0 < p.
Proof. intros St I. destruct A_ok as [_ Ok]; destruct (Ok _ _ _ St) as (_ & _ & _ & P); now apply P. Qed.

Lemma fst_in (l : matches) mu mu' u p u' p' : bijection l mu mu' -> In ((u, p), (u', p')) l -> In (u, p) mu /\ In (u', p') mu'.
Proof.
  intros (P1 & P2 & _) I; split; [apply (Permutation_in _ P1) | apply (Permutation_in _ P2)].
  - now apply (in_map fst) in I.
  - now apply (in_map snd) in I. Qed.

Lemma moves good s t s0 t0 : In s S_ -> In t S_ -> In s0 S_ -> In t0 S_ -> k s = k s0 -> k t = k t0 ->
  both A good s0 t0 -> both A (fun l => exists l0, good l0 /\ moved l0 l) s t.
Proof.
  intros Hs Ht Hs0 Ht0 Es Et [B1 B2].
  assert (Join : forall a mu mu0 mu0' mu' l1 l0 l2, step A s a mu -> step A t a mu' ->
    bijection l1 mu mu0 -> same l1 -> bijection l0 mu0 mu0' -> good l0 -> bijection l2 mu0' mu' -> same l2 ->
    exists l, bijection l mu mu' /\ exists l0, good l0 /\ moved l0 l).
  { intros a mu mu0 mu0' mu' l1 l0 l2 St St' X1 Y1 X0 Y0 X2 Y2.
    destruct (one_after_the_other X1 X0) as (l3 & X3 & H3). destruct (one_after_the_other X3 X2) as (l & X & H).
    exists l; split; [assumption |]. exists l0; split; [assumption |].
    intros u p u' p' I. destruct (fst_in X I) as [I1 I2]. destruct (row_in St I1), (row_in St' I2).
    destruct (H _ _ I) as ([v' q'] & J & J2). destruct (H3 _ _ J) as ([v q] & J1 & J0).
    exists v, q, v', q'. destruct (Y1 _ _ _ _ J1), (Y2 _ _ _ _ J2).
    repeat split; try assumption; now symmetry. }
  destruct (k_alike Hs Hs0 Es) as [S1 S2]. destruct (k_alike Ht0 Ht (eq_sym Et)) as [T1 T2]. split.
  - intros a mu St. destruct (S1 _ _ St) as (mu0 & l1 & St0 & X1 & Y1). destruct (B1 _ _ St0) as (mu0' & l0 & St0' & X0 & Y0).
    destruct (T1 _ _ St0') as (mu' & l2 & St' & X2 & Y2). destruct (Join _ _ _ _ _ _ _ _ St St' X1 Y1 X0 Y0 X2 Y2) as (l & X & Y).
    now exists mu', l.
  - intros a mu' St'. destruct (T2 _ _ St') as (mu0' & l2 & St0' & X2 & Y2). destruct (B2 _ _ St0') as (mu0 & l0 & St0 & X0 & Y0).
    destruct (S2 _ _ St0) as (mu & l1 & St & X1 & Y1). destruct (Join _ _ _ _ _ _ _ _ St St' X1 Y1 X0 Y0 X2 Y2) as (l & X & Y).
    now exists mu, l. Qed.

(** A relation with all states of the classes of those that it relates is one, too. *)
Definition closure (R : relation) : relation := fun s t c => In s S_ /\ In t S_ /\
  exists u u' c', k s = k u /\ k t = k u' /\ c' == c /\ R u u' c'.

Lemma both_weaker (good good' : matches -> Prop) s t : (forall l, good l -> good' l) -> both A good s t -> both A good' s t.
Proof.
  intros W [B1 B2]; split; intros a mu St; [destruct (B1 _ _ St) as (mu' & l & ? & ? & G) | destruct (B2 _ _ St) as (mu' & l & ? & ? & G)];
  exists mu', l; auto. Qed.

Lemma closure_ok kd V R : bisimulation kd A V R -> bisimulation kd A V (closure R).
Proof.
  intros B s t c (Hs & Ht & u & u' & c' & Es & Et & Ec & Ru). destruct (B _ _ _ Ru) as (Hu & Hu' & Ins & Bo).
  split; [assumption | split; [assumption | split]].
  - destruct kd; unfold inside in *; rewrite <- Ec; assumption.
  - apply (moves Hs Ht Hu Hu' Es Et) in Bo. revert Bo; apply both_weaker. intros l (l0 & G & M). destruct kd; unfold keeps in *.
    + destruct G as (sigma & G). exists sigma. intros v p v' p' I.
      destruct (M _ _ _ _ I) as (w & q & w' & q' & J & E1 & E2 & E3 & E4 & H1 & H2 & _). destruct (G _ _ _ _ J) as (G1 & G2 & G3).
      rewrite E3, E4. split; [assumption | split; [assumption |]]. split; [assumption | split; [assumption |]].
      exists w, w', (c' * sigma). repeat (split; [assumption |]). split; [now rewrite Ec | assumption].
    + intros v p v' p' I. destruct (M _ _ _ _ I) as (w & q & w' & q' & J & E1 & E2 & E3 & E4 & H1 & H2 & _).
      destruct (G _ _ _ _ J) as (d & G1 & G2). exists d; split.
      * split; [assumption | split; [assumption |]]. exists w, w', d. repeat split; try assumption; reflexivity.
      * rewrite E3, E4, G2, Ec; reflexivity. Qed.

Lemma closure_closed R s t s' t' c : closure R s t c -> In s' S_ -> In t' S_ -> k s' = k s -> k t' = k t -> closure R s' t' c.
Proof. intros (_ & _ & u & u' & c' & E1 & E2 & E3 & Ru) H1 H2 K1 K2. split; [assumption | split; [assumption |]].
  exists u, u', c'. rewrite K1, K2. auto. Qed.

Lemma closure_of kd V R s t c : bisimulation kd A V R -> R s t c -> closure R s t c.
Proof. intros B Rst. destruct (B _ _ _ Rst) as (Hs & Ht & _). split; [assumption | split; [assumption |]].
  exists s, t, c. repeat split; assumption || reflexivity. Qed.

(** ** Bounds from above *)
Definition after (U : positive -> positive -> option Q) i j := if Pos.eqb i j then Some 1 else U i j.

(** Rule M7. *)
Definition upper_table (U : positive -> positive -> option Q) := forall i j x, U i j = Some x -> 1 <= x /\
  exists s t, In s S_ /\ In t S_ /\ k s = i /\ k t = j /\ both A (fun l => exists z, forall u p u' p', In ((u, p), (u', p')) l ->
    1 <= z /\ p <= z * p' /\ p' <= z * p /\ exists y, after U (k u) (k u') = Some y /\ z * y <= x) s t.

Lemma identical s t c (good : matches -> Prop) : (forall l, same l -> (forall u p u' p', In ((u, p), (u', p')) l -> In u S_ /\ In u' S_ /\ 0 < p /\ 0 < p') -> good l) ->
  In s S_ -> In t S_ -> k s = k t -> c == c -> both A good s t.
Proof.
  intros W Hs Ht E _. destruct (k_alike Hs Ht E) as [B1 B2]. split; intros a mu St.
  - destruct (B1 _ _ St) as (mu' & l & St' & X & Y). exists mu', l. repeat (split; [assumption |]). apply W; [assumption |].
    intros u p u' p' I. destruct (fst_in X I) as [I1 I2]. destruct (row_in St I1), (row_in St' I2); auto.
  - destruct (B2 _ _ St) as (mu' & l & St' & X & Y). exists mu', l. repeat (split; [assumption |]). apply W; [assumption |].
    intros u p u' p' I. destruct (fst_in X I) as [I1 I2]. destruct (row_in St' I1), (row_in St I2); auto. Qed.

Theorem upper_table_at_most U : upper_table U -> forall s t x y, In s S_ -> In t S_ -> after U (k s) (k t) = Some x -> x <= y ->
  at_most Accumulative A s t y.
Proof.
  intros Ok s t x V Hs Ht E Le.
  exists (fun s t c => In s S_ /\ In t S_ /\ 1 <= c /\ exists x, after U (k s) (k t) = Some x /\ c * x <= V). split.
  - clear s t x Hs Ht E Le. intros s t c (Hs & Ht & C1 & x & E & Le). split; [assumption | split; [assumption |]].
    unfold after in E. destruct (Pos.eqb_spec (k s) (k t)) as [K | K].
    + injection E as <-. split; [unfold inside; split; [assumption | lra] |].
      apply (@identical s t c); try assumption; [| reflexivity]. intros l Sm In_. exists 1. intros u p u' p' I.
      destruct (Sm _ _ _ _ I) as [Ep Ek]. destruct (In_ _ _ _ _ I) as (H1 & H2 & P1 & P2).
      split; [lra | split; [lra |]]. split; [assumption | split; [assumption | split; [lra |]]].
      exists 1. unfold after. rewrite Ek, Pos.eqb_refl. split; [reflexivity | lra].
    + destruct (Ok _ _ _ E) as (X1 & s0 & t0 & Hs0 & Ht0 & Es & Et & Bo). split; [unfold inside; split; [assumption | nra] |].
      apply (moves Hs Ht Hs0 Ht0 (eq_sym Es) (eq_sym Et)) in Bo. revert Bo; apply both_weaker. intros l (l0 & (z & G) & M).
      exists z. intros u p u' p' I. destruct (M _ _ _ _ I) as (w & q & w' & q' & J & E1 & E2 & E3 & E4 & H1 & H2 & _).
      destruct (G _ _ _ _ J) as (Z1 & G1 & G2 & y & Ey & Ly). rewrite E3, E4. split; [assumption | split; [assumption |]].
      split; [assumption | split; [assumption | split; [nra |]]]. exists y. rewrite E1, E2. split; [assumption | nra].
  - split; [assumption | split; [assumption | split; [lra |]]]. exists x; split; [assumption | lra]. Qed.

(** Rule M10: credits of pairs of classes, in intervals. *)
Definition held (U : Q) (credits : positive -> positive -> list (Q * Q)) i j c :=
  if Pos.eqb i j then 0 < c /\ 1 <= U * c /\ c <= U else exists low high, In (low, high) (credits i j) /\ low <= c /\ c <= high.

Definition staircase (U : Q) (credits : positive -> positive -> list (Q * Q)) := forall i j c, held U credits i j c -> i <> j ->
  0 < c /\ 1 <= U * c /\ c <= U /\
  exists s t, In s S_ /\ In t S_ /\ k s = i /\ k t = j /\ both A (fun l => forall u p u' p', In ((u, p), (u', p')) l ->
    exists c', c' * p' == c * p /\ held U credits (k u) (k u') c') s t.

Theorem staircase_at_most U credits : staircase U credits -> forall s t, In s S_ -> In t S_ -> held U credits (k s) (k t) 1 ->
  at_most Amortised A s t U.
Proof.
  intros Ok s t Hs Ht H. exists (fun s t c => In s S_ /\ In t S_ /\ held U credits (k s) (k t) c). split; [| auto].
  clear s t Hs Ht H. intros s t c (Hs & Ht & H). split; [assumption | split; [assumption |]].
  destruct (Pos.eq_dec (k s) (k t)) as [K | K].
  - unfold held in H. rewrite K, Pos.eqb_refl in H. split; [exact H |].
    apply (@identical s t c); try assumption; [| reflexivity]. intros l Sm In_ u p u' p' I.
    destruct (Sm _ _ _ _ I) as [Ep Ek]. destruct (In_ _ _ _ _ I) as (H1 & H2 & P1 & P2).
    exists c. rewrite Ep. split; [| reflexivity]. split; [assumption | split; [assumption |]].
    unfold held; now rewrite Ek, Pos.eqb_refl.
  - destruct (Ok _ _ _ H K) as (C0 & C1 & C2 & s0 & t0 & Hs0 & Ht0 & Es & Et & Bo). split; [unfold inside; auto |].
    apply (moves Hs Ht Hs0 Ht0 (eq_sym Es) (eq_sym Et)) in Bo. revert Bo; apply both_weaker. intros l (l0 & G & M) u p u' p' I.
    destruct (M _ _ _ _ I) as (w & q & w' & q' & J & E1 & E2 & E3 & E4 & H1 & H2 & _).
    destruct (G _ _ _ _ J) as (c' & Ec & Hc). exists c'. rewrite E3, E4. split; [| assumption].
    rewrite E1, E2. auto. Qed.

(** ** Bounds from below *)

(** A challenge of a state of class i or j, after which every bijection of an answer of the other has some property. *)
Definition challenged (property : matches -> Prop) i j :=
  (exists q a mu t0, In q S_ /\ In t0 S_ /\ k q = i /\ k t0 = j /\ step A q a mu /\
     forall mu' l, step A t0 a mu' -> bijection l mu mu' -> property l) \/
  (exists q a mu' s0, In q S_ /\ In s0 S_ /\ k s0 = i /\ k q = j /\ step A q a mu' /\
     forall mu l, step A s0 a mu -> bijection l mu mu' -> property l).

Definition probabilities := flat_map (fun e => map snd (snd (snd e))) (pa_steps A).

Lemma probability_in s a mu t p : step A s a mu -> In (t, p) mu -> In p probabilities.
Proof. intros St I. unfold probabilities. apply in_flat_map. exists (s, (a, mu)); split; [exact St |]. simpl. now apply (in_map snd) in I. Qed.

Lemma answered_challenge kd V R property s t c : bisimulation kd A V (closure R) -> closure R s t c -> challenged property (k s) (k t) ->
  exists l, keeps kd (closure R) c l /\ property l /\
    forall u p u' p', In ((u, p), (u', p')) l -> 0 < p /\ 0 < p' /\ In p probabilities /\ In p' probabilities.
Proof.
  intros B Rst [(q & a & mu & t0 & Hq & Ht0 & Eq & Et & St & P) | (q & a & mu' & s0 & Hq & Hs0 & Es & Eq & St & P)].
  - pose proof (closure_closed Rst Hq Ht0 Eq Et) as R0. destruct (B _ _ _ R0) as (_ & _ & _ & [B1 _]).
    destruct (B1 _ _ St) as (mu' & l & St' & Bij & G). exists l. split; [assumption | split; [now apply (P mu') |]].
    intros u p u' p' I. destruct (fst_in Bij I) as [I1 I2]. destruct (row_in St I1), (row_in St' I2).
    repeat split; try assumption; [now apply (probability_in St I1) | now apply (probability_in St' I2)].
  - pose proof (closure_closed Rst Hs0 Hq Es Eq) as R0. destruct (B _ _ _ R0) as (_ & _ & _ & [_ B2]).
    destruct (B2 _ _ St) as (mu & l & St' & Bij & G). exists l. split; [assumption | split; [now apply (P mu) |]].
    intros u p u' p' I. destruct (fst_in Bij I) as [I1 I2]. destruct (row_in St' I1), (row_in St I2).
    repeat split; try assumption; [now apply (probability_in St' I1) | now apply (probability_in St I2)]. Qed.

(** Shapes: what is related has one. *)
Variable f : positive -> positive.
Definition shapes := forall kd V R s t c, bisimulation kd A V R -> R s t c -> f s = f t.
Hypothesis f_shapes : shapes.

Lemma least_above (l : list Q) : exists m, 1 < m /\ forall x, In x l -> 1 < x -> m <= x.
Proof.
  induction l as [| y l (m & M1 & M)]; [exists 2; split; [lra | easy] |].
  destruct (Qlt_le_dec 1 y) as [Y | Y]; [destruct (Qlt_le_dec y m) as [Z | Z] |].
  - exists y; split; [assumption |]. intros x [<- | I] X; [lra | specialize (M x I X); lra].
  - exists m; split; [assumption |]. intros x [<- | I] X; [lra | now apply M].
  - exists m; split; [assumption |]. intros x [<- | I] X; [lra | now apply M]. Qed.

Definition ratios := flat_map (fun p => map (fun p' => p / p') probabilities) probabilities.

Lemma ratio_in p p' : In p probabilities -> In p' probabilities -> In (p / p') ratios.
Proof. intros; unfold ratios; apply in_flat_map. exists p; split; [assumption |]. now apply (in_map (fun p' => p / p')). Qed.

Lemma enough d B : 0 < d -> exists n, B < inject_Z (Z.of_nat n) * d.
Proof.
  intro D. destruct (Qarchimedean (B / d)) as [n N]. exists (Pos.to_nat n). rewrite positive_nat_Z.
  change (inject_Z (Zpos n)) with (Zpos n # 1). apply Qmult_lt_r with (z := / d); [now apply Qinv_lt_0_compat |].
  unfold Qdiv in N. setoid_replace ((Zpos n # 1) * d * / d) with (Zpos n # 1); [assumption |]. field. lra. Qed.

Lemma one_less n (d : Q) : inject_Z (Z.of_nat (S n)) * d == inject_Z (Z.of_nat n) * d + d.
Proof. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. ring. Qed.

(** Rule M8. A value is infinite where it is [None]. *)
Definition greater (y x : option Q) := match y, x with
  | None, Some _ => True | None, None => False | Some y, Some x => x < y | Some _, None => False end.

Section Lower.
Variable L : positive -> positive -> option (option Q * nat).
Variable entries : list (option Q).
Hypothesis L_listed : forall i j e, L i j = Some e -> In (fst e) entries.

Definition worth i j := match L i j with Some e => e | None => (Some 1, O) end.

Definition hits (z : Q) (v : option Q) (r : nat) i j :=
  match v, fst (worth i j) with
  | Some _, None => True
  | None, Some _ => False
  | None, None => 1 < z \/ (snd (worth i j) < r)%nat
  | Some x, Some y => x <= z * y /\ (1 < z \/ x < y \/ (snd (worth i j) < r)%nat)
  end.

(** The size z of some match, and a match that is a hit for it. *)
Definition hit_by (v : option Q) (r : nat) (l : matches) := exists z,
  (exists u p u' p', In ((u, p), (u', p')) l /\ 1 <= z /\ (z * p' == p \/ z * p == p')) /\
  exists u p u' p', In ((u, p), (u', p')) l /\ (f u = f u' -> hits z v r (k u) (k u')).

Definition lower_table := forall i j v r, L i j = Some (v, r) ->
  (match v with Some x => 1 <= x | None => True end) /\ challenged (hit_by v r) i j.

Definition greaterb (y x : option Q) := match y, x with
  | None, Some _ => true | None, None => false | Some y, Some x => negb (Qle_bool y x) | Some _, None => false end.

(** How many values are greater. *)
Definition above (v : option Q) := length (filter (fun y => greaterb y v) entries).

Lemma fewer (l : list (option Q)) (g h : option Q -> bool) : (forall y, g y = true -> h y = true) ->
  (length (filter g l) <= length (filter h l))%nat.
Proof. intro H; induction l as [| y l IH]; simpl; [lia |]. specialize (H y). destruct (g y), (h y); simpl; lia. Qed.

Lemma fewer_by_one (l : list (option Q)) (g h : option Q -> bool) x : (forall y, g y = true -> h y = true) -> In x l -> g x = false -> h x = true ->
  (length (filter g l) < length (filter h l))%nat.
Proof. intros H I G X. induction l as [| y l IH]; [easy |]. destruct I as [-> | I].
  - simpl. rewrite G, X; simpl. pose proof (fewer l H). lia.
  - specialize (IH I). simpl. specialize (H y). destruct (g y), (h y); simpl; lia. Qed.

Lemma greaterb_greater y x : greaterb y x = true <-> greater y x.
Proof. destruct y as [y |], x as [x |]; simpl; try easy. rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff. split; intro H; lra. Qed.

Definition far (V c : Q) (v : option Q) := match v with None => True | Some x => V < c * x end.

Lemma greater_falls i j v r w : L i j = Some (v, r) -> greater v w -> (above v < above w)%nat.
Proof.
  intros E G. apply fewer_by_one with v.
  - intros y Y. apply greaterb_greater in Y. apply greaterb_greater. destruct y, v, w; simpl in *; try easy; lra.
  - apply L_listed in E; exact E.
  - apply not_true_iff_false. rewrite greaterb_greater. destruct v; simpl; [lra | easy].
  - now apply greaterb_greater. Qed.

Lemma no_less_above v w : (match v, w with Some y, Some x => x <= y | None, _ => True | _, None => False end) -> (above v <= above w)%nat.
Proof. intro H. apply fewer. intros y Y. apply greaterb_greater in Y. apply greaterb_greater. destruct y, v, w; simpl in *; try easy; lra. Qed.

Lemma played_away V R d : bisimulation Accumulative A V (closure R) -> lower_table ->
  (forall x, In x ratios -> 1 < x -> 1 + d <= x) -> 0 < d ->
  forall n m r0 s t c v r, closure R s t c -> L (k s) (k t) = Some (v, r) -> far V c v ->
  V < c + inject_Z (Z.of_nat n) * d -> (above v < m)%nat -> (r < r0)%nat -> False.
Proof.
  intros B Ok D D0. induction n as [| n IHn].
  { intros m r0 s t c v r Rst _ _ N _ _. destruct (B _ _ _ Rst) as (_ & _ & [C1 C2] & _). change (inject_Z (Z.of_nat 0)) with 0 in N. lra. }
  induction m as [| m IHm]; [intros; lia |]. induction r0 as [| r0 IHr]; [intros; lia |].
  intros s t c v r Rst E Far N Ab Rk. destruct (B _ _ _ Rst) as (_ & _ & [C1 C2] & _).
  destruct (Ok _ _ _ _ E) as [V1 Ch]. destruct (answered_challenge B Rst Ch) as (l & (sigma & G) & (z & (w & q & w' & q' & J & Z1 & Zq) & u & p & u' & p' & I & Hit) & Pr).
  destruct (Pr _ _ _ _ J) as (Q1 & Q2 & Q3 & Q4). destruct (G _ _ _ _ J) as (G1 & G2 & _).
  destruct (G _ _ _ _ I) as (_ & _ & Ru).
  assert (Zs : z <= sigma) by (destruct Zq as [Zq | Zq]; nra).
  assert (Zd : 1 < z -> 1 + d <= z).
  { intro Z. destruct Zq as [Zq | Zq].
    - assert (Ez : z == q / q') by (rewrite <- Zq; field; lra). rewrite Ez in *. apply D; [now apply ratio_in | assumption].
    - assert (Ez : z == q' / q) by (rewrite <- Zq; field; lra). rewrite Ez in *. apply D; [now apply ratio_in | assumption]. }
  specialize (Hit (f_shapes B Ru)). unfold hits, worth in Hit.
  assert (Far' : forall w, match w with Some y => match v with Some x => x <= z * y | None => False end | None => True end -> far V (c * sigma) w).
  { intros [y |]; simpl; [| easy]. destruct v as [x |]; [| easy]. intro X. simpl in Far.
    assert (0 <= y) by nra. assert (c * x <= c * (z * y)) by nra. assert (z * y <= sigma * y) by nra.
    assert (c * (z * y) <= c * (sigma * y)) by nra. nra. }
  assert (Cs : c <= c * sigma) by nra.
  destruct (L (k u) (k u')) as [[v' r'] |] eqn:E'; cycle 1.
  { (* not listed *) simpl in Hit. destruct v as [x |]; [| easy]. destruct Hit as [X _].
    specialize (Far' (Some 1) X). simpl in Far'. destruct (B _ _ _ Ru) as (_ & _ & [_ K] & _). lra. }
  simpl in Hit.
  assert (F2 : far V (c * sigma) v').
  { apply Far'. destruct v' as [y |]; [| easy]. destruct v as [x |]; [now destruct Hit | easy]. }
  assert (Rise : 1 < z -> False).
  { intro Z. specialize (Zd Z). apply (IHn (S (above v')) (S r') u u' (c * sigma) v' r' Ru E' F2); [| lia | lia].
    rewrite one_less in N. assert (1 + d <= sigma) by lra. assert (c * (1 + d) <= c * sigma) by nra. nra. }
  assert (N' : V < c * sigma + inject_Z (Z.of_nat (S n)) * d) by lra.
  assert (Up : greater v' v -> False).
  { intro Gr. apply (IHm (S r') u u' (c * sigma) v' r' Ru E' F2 N'); [| lia]. pose proof (greater_falls E' Gr). lia. }
  assert (Down : (match v', v with Some y, Some x => x <= y | None, _ => True | _, None => False end) -> (r' < r)%nat -> False).
  { intros Le Lt. apply (IHr u u' (c * sigma) v' r' Ru E' F2 N'); [| lia]. pose proof (no_less_above Le). lia. }
  destruct v as [x |], v' as [y |]; simpl in *; try easy; try tauto.
  destruct Hit as [X [Z | [Gr | Lt]]]; [tauto | tauto |].
  destruct (Qlt_le_dec 1 z) as [Z | Z]; [tauto |]. apply Down; [| assumption]. assert (z == 1) by lra. nra. Qed.

Theorem lower_table_at_least : lower_table -> forall s t v r, In s S_ -> In t S_ -> L (k s) (k t) = Some (v, r) ->
  match v with Some x => at_least Accumulative A s t x | None => infinite Accumulative A s t end.
Proof.
  intros Ok s t v r Hs Ht E.
  assert (K : forall V R, bisimulation Accumulative A V R -> R s t 1 -> far V 1 v -> False).
  { intros V R B Rst Far. pose proof (closure_ok B) as B'. pose proof (closure_of B Rst) as C.
    destruct (least_above ratios) as (m & M1 & M). destruct (@enough (m - 1) (V - 1)) as [n N]; [lra |].
    apply (played_away B' Ok (d := m - 1)) with (n := n) (m := S (above v)) (r0 := S r) (s := s) (t := t) (c := 1) (v := v) (r := r);
      try assumption; try lia; try lra. intros x I X. specialize (M x I X). lra. }
  destruct v as [x |].
  - intros V R B Rst. apply Qnot_lt_le. intro Lt. apply (K V R B Rst). simpl; lra.
  - intros V R B Rst. apply (K V R B Rst). exact I. Qed.
End Lower.

(** States of different shapes are infinitely far apart. *)
Theorem shapes_infinite kd s t : f s <> f t -> infinite kd A s t.
Proof. intros N V R B Rst. apply N. now apply (f_shapes B Rst). Qed.

(** Rule M12: positions from which the challenger drives the product beyond every bound, up or down. *)
Record driven := { d_up : bool; d_potential : Q; d_rank : nat; d_depth : nat }.

Section Infinite.
Variable E : positive -> positive -> option driven.
Variable all : list driven.
Hypothesis E_listed : forall i j e, E i j = Some e -> In e all.

(** What the potential of a successor has to be times, to be compared. *)
Definition factor (up : bool) (p p' : Q) := if up then p / p' else p' / p.

Definition drives (e : driven) p p' i j := match E i j with
  | None => False
  | Some e' => (d_rank e' < d_rank e)%nat \/ (d_rank e' = d_rank e /\ d_up e' = d_up e /\
      let moved := factor (d_up e) p p' * d_potential e' in
      (d_potential e < moved \/ (moved == d_potential e /\ (d_depth e' < d_depth e)%nat)))
  end.

Definition driven_on (e : driven) (l : matches) := exists u p u' p', In ((u, p), (u', p')) l /\ (f u = f u' -> drives e p p' (k u) (k u')).
Definition all_driven := forall i j e, E i j = Some e -> 0 < d_potential e /\ challenged (driven_on e) i j.

Definition gains := flat_map (fun x => flat_map (fun e => map (fun e' => x * d_potential e' / d_potential e) all) all) ratios.

Lemma gain_in x e e' : In x ratios -> In e all -> In e' all -> In (x * d_potential e' / d_potential e) gains.
Proof. intros. apply in_flat_map; exists x; split; [assumption |]. apply in_flat_map; exists e; split; [assumption |].
  now apply (in_map (fun e' => x * d_potential e' / d_potential e)). Qed.

Lemma bounded_potential : exists P, 0 < P /\ forall e, In e all -> d_potential e <= P.
Proof. clear E_listed. induction all as [| e l (P & P0 & H)]; [exists 1; split; [lra | easy] |].
  destruct (Qlt_le_dec P (d_potential e)) as [Lt | Le].
  - exists (d_potential e); split; [lra |]. intros x [<- | I]; [lra | specialize (H x I); lra].
  - exists P; split; [assumption |]. intros x [<- | I]; [assumption | now apply H]. Qed.

(** The product, or its inverse where it goes down. *)
Definition going (up : bool) (c d : Q) := 0 < d /\ if up then d == c else d * c == 1.

Lemma going_on up c d c' p p' : going up c d -> 0 < p -> 0 < p' -> c' * p' == c * p -> going up c' (d * factor up p p').
Proof.
  intros [D0 D] P P' Ec. assert (E' : c' == c * p / p') by (rewrite <- Ec; field; lra). unfold going, factor. destruct up.
  - split; [| rewrite E', D; field; lra]. apply Qmult_lt_0_compat; [assumption |]. unfold Qdiv. apply Qmult_lt_0_compat; [assumption | now apply Qinv_lt_0_compat].
  - split; [apply Qmult_lt_0_compat; [assumption |]; unfold Qdiv; apply Qmult_lt_0_compat; [assumption | now apply Qinv_lt_0_compat] |].
    rewrite E'. setoid_replace (d * (p' / p) * (c * p / p')) with (d * c) by (field; lra). assumption. Qed.

Section Drive.
Variable V m P : Q.
Variable R : relation.
Hypothesis B : bisimulation Amortised A V (closure R).
Hypothesis Ok : all_driven.
Hypothesis m_above : 1 < m.
Hypothesis m_least : forall x, In x gains -> 1 < x -> m <= x.
Hypothesis P_most : forall e, In e all -> d_potential e <= P.

Lemma bounded_product s t c e up d : closure R s t c -> E (k s) (k t) = Some e -> going up c d -> d * d_potential e <= V * P.
Proof.
  intros Rst Ee [D0 D]. destruct (B Rst) as (_ & _ & (C0 & C1 & C2) & _). destruct (Ok Ee) as [P0 _].
  pose proof (P_most (E_listed Ee)). assert (d <= V) by (destruct up; [rewrite D; assumption | nra]). nra. Qed.

Lemma phase rank up g : 0 < g ->
  (forall s t c e, closure R s t c -> E (k s) (k t) = Some e -> (d_rank e < rank)%nat -> False) ->
  forall n depth s t c e d, closure R s t c -> E (k s) (k t) = Some e -> d_rank e = rank -> d_up e = up ->
    going up c d -> g <= d * d_potential e -> V * P < d * d_potential e + inject_Z (Z.of_nat n) * (g * (m - 1)) ->
    (d_depth e < depth)%nat -> False.
Proof.
  intros G0 Lower. induction n as [| n IHn].
  { intros depth s t c e d Rst Ee _ _ D _ N _. pose proof (bounded_product Rst Ee D). change (inject_Z (Z.of_nat 0)) with 0 in N. lra. }
  induction depth as [| depth IHd]; [intros; lia |].
  intros s t c e d Rst Ee Er Eu D Ge N Dp. destruct (Ok Ee) as [P0 Ch].
  destruct (answered_challenge B Rst Ch) as (l & G & (u & p & u' & p' & I & Hit) & Pr).
  destruct (Pr _ _ _ _ I) as (Q1 & Q2 & Q3 & Q4). destruct (G _ _ _ _ I) as (c' & Ru & Ec).
  specialize (Hit (f_shapes B Ru)). unfold drives in Hit. destruct (E (k u) (k u')) as [e' |] eqn:Ee'; [| easy].
  destruct Hit as [Lt | (Er' & Eu' & Mv)]; [apply (Lower u u' c' e' Ru Ee'); lia |].
  rewrite Eu in Mv. pose proof (going_on D Q1 Q2 Ec) as D'. cbv zeta in Mv. set (x := factor up p p') in *.
  assert (X : In x ratios) by (unfold x, factor; destruct up; now apply ratio_in).
  assert (D0 : 0 < d) by apply D.
  destruct Mv as [Mv | [Mv Dp']].
  - apply (IHn (S (d_depth e')) u u' c' e' (d * x) Ru Ee'); try assumption; try congruence; try lia; rewrite one_less in N.
    + nra.
    + assert (m <= x * d_potential e' / d_potential e).
      { apply m_least; [apply gain_in; [assumption | now apply (E_listed Ee) | now apply (E_listed Ee')] |].
        apply Qlt_shift_div_l; [assumption | lra]. }
      assert (K : m * d_potential e <= x * d_potential e').
      { setoid_replace (x * d_potential e') with (x * d_potential e' / d_potential e * d_potential e) by (field; lra).
        apply Qmult_le_compat_r; [assumption | lra]. }
      assert (d * (m * d_potential e) <= d * (x * d_potential e')) by (apply Qmult_le_l; assumption).
      assert (g * (m - 1) <= d * d_potential e * (m - 1)) by (apply Qmult_le_compat_r; lra). nra.
  - assert (Same : d * x * d_potential e' == d * d_potential e) by (rewrite <- Mv; ring).
    apply (IHd u u' c' e' (d * x) Ru Ee'); try assumption; try congruence; try lia; rewrite Same; assumption. Qed.

Lemma driven_away rank : forall s t c e, closure R s t c -> E (k s) (k t) = Some e -> (d_rank e < rank)%nat -> False.
Proof.
  induction rank as [| rank IHrank]; [intros; lia |]. intros s t c e Rst Ee Rk.
  destruct (B Rst) as (_ & _ & (C0 & _) & _). destruct (Ok Ee) as [P0 _].
  assert (exists d, going (d_up e) c d) as [d D].
  { destruct (d_up e); [exists c; split; [assumption | reflexivity] |]. exists (/ c). split; [now apply Qinv_lt_0_compat | field; lra]. }
  assert (G0 : 0 < d * d_potential e) by (apply Qmult_lt_0_compat; [now destruct D | assumption]).
  destruct (@enough (d * d_potential e * (m - 1)) (V * P)) as [n N]; [apply Qmult_lt_0_compat; lra |].
  apply (@phase (d_rank e) (d_up e) (d * d_potential e) G0) with (n := n) (depth := S (d_depth e)) (s := s) (t := t) (c := c) (e := e) (d := d);
    try assumption; try reflexivity; try lia; try lra.
  intros s' t' c' e' Rst' Ee' Lt. apply (IHrank s' t' c' e' Rst' Ee'). lia. Qed.
End Drive.

Lemma driven_nowhere V R s t c e : bisimulation Amortised A V (closure R) -> all_driven -> closure R s t c -> E (k s) (k t) = Some e -> False.
Proof.
  intros B Ok Rst Ee. destruct (least_above gains) as (m & M1 & M). destruct bounded_potential as (P & P0 & HP).
  exact (driven_away B Ok M1 M HP Rst Ee (Nat.lt_succ_diag_r _)). Qed.

Theorem driven_infinite : all_driven -> forall s t e, E (k s) (k t) = Some e -> infinite Amortised A s t.
Proof. intros Ok s t e Ee V R B Rst. exact (driven_nowhere (closure_ok B) Ok (closure_of B Rst) Ee). Qed.

(** Rule M11: how the challenger makes the product leave a window. *)
Variable L : Q.
Variable losses : positive -> positive -> list (Q * nat).

Definition unsafe (c : Q) (rank : nat) p p' i j :=
  L * p' <= c * p \/ c * p * L <= p' \/ (exists e, E i j = Some e) \/
  exists c' rank', In (c', rank') (losses i j) /\ c' * p' == c * p /\ (rank' < rank)%nat.

Definition lost_by (c : Q) (rank : nat) (l : matches) := exists u p u' p', In ((u, p), (u', p')) l /\ (f u = f u' -> unsafe c rank p p' (k u) (k u')).
Definition all_lost := forall i j c rank, In (c, rank) (losses i j) -> 0 < c /\ challenged (lost_by c rank) i j.

Theorem losses_at_least : all_driven -> all_lost -> forall s t c rank, In (c, rank) (losses (k s) (k t)) -> c == 1 -> at_least Amortised A s t L.
Proof.
  intros Dr Ok s t c0 rank0 I0 E0 V R B0 Rst. apply Qnot_lt_le. intro Lt.
  pose proof (closure_ok B0) as B. apply (closure_of B0) in Rst.
  assert (K : forall n s t c d rank, closure R s t c -> In (d, rank) (losses (k s) (k t)) -> d == c -> (rank < n)%nat -> False).
  { clear s t c0 rank0 I0 E0 Rst. induction n as [| n IH]; [intros; lia |]. intros s t c d rank Rst I Ed Rk.
    destruct (Ok _ _ _ _ I) as [D0 Ch].
    destruct (answered_challenge B Rst Ch) as (l & G & (u & p & u' & p' & J & Hit) & Pr).
    destruct (Pr _ _ _ _ J) as (Q1 & Q2 & _). destruct (G _ _ _ _ J) as (c' & Ru & Ec).
    destruct (B _ _ _ Ru) as (_ & _ & (C0 & C1 & C2) & _).
    destruct (Hit (f_shapes B Ru)) as [H | [H | [(e & H) | (d' & rank' & H & Ed' & Lt')]]].
    - rewrite Ed, <- Ec in H. assert (L <= c') by (apply Qmult_le_r with p'; assumption). lra.
    - rewrite Ed, <- Ec in H. assert (0 < V) by nra. assert (c' * L <= 1) by (apply Qmult_le_r with p'; [assumption | lra]). nra.
    - exact (driven_nowhere B Dr Ru H).
    - apply (IH u u' c' d' rank' Ru H); [| lia]. apply Qmult_inj_r with p'; [lra |]. rewrite Ed', Ec, Ed. reflexivity. }
  exact (K (S rank0) s t 1 c0 rank0 Rst I0 E0 (Nat.lt_succ_diag_r _)). Qed.
End Infinite.
End Automaton.
