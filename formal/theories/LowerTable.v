(** * The rules of the lower table imply that it is at most the distance

    The rules as the checker applies them, in rationals, for both distances and for alpha = 1 and alpha > 1. *)

From Coq Require Import ZArith QArith Qabs List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain Leastness Lower.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** Why mass cannot stay for ever (rule L7). [Turn y] covers the forms "stuck" and "classes with states". *)
Inductive progress := Common | Turn (y : positive -> Q).

Record lower_entry := {
  first : positive;   (* the direction of the entry: from this state *)
  second : positive;  (* to that one *)
  bound : Q;
  potential : positive -> Q;  (* the witness, extended to all states *)
  standing : option (nat * progress)  (* none: the entry is strict *)
}.

Section Rules.
Variable C : chain.
Variable alpha : Q.
Variable both : bool.
Variable k : positive -> positive.  (* the class of a state *)
Variable L : positive -> positive -> Q.
Variable entries : list lower_entry.

(** The pairs of an entry: for bd both orders. *)
Definition orders (e : lower_entry) :=
  (first e, second e) :: if both then [(second e, first e)] else [].

(** c_i = mu_s(i) - alpha mu_t(i), every state once. *)
Definition vector (e : lower_entry) := norm (difference C alpha (first e) (second e)).

Definition source (e : lower_entry) i := exists q, In (i, q) (vector e) /\ (0 < q)%Q.
Definition sink (e : lower_entry) i := exists q, In (i, q) (vector e) /\ (q < 0)%Q.

(** Where a potential is constrained: everywhere for alpha > 1, and from sources to sinks for alpha = 1. *)
Definition constrained (e : lower_entry) i j := (1 < alpha)%Q \/ (source e i /\ sink e j).

Definition negative_part (c : list (positive * Q)) : Q :=
  fold_right (fun e x => Qred (if Qle_bool 0 (snd e) then x else snd e + x))%Q 0%Q c.

(** Rules L2 to L6, with the potential extended. *)
Definition entry_witnessed (e : lower_entry) :=
  (forall i, In i (states C) -> 0 <= potential e i <= 1)%Q /\
  (forall i j, In i (states C) -> In j (states C) -> constrained e i j ->
     potential e i - alpha * potential e j <= L i j)%Q /\
  (bound e <= evalQ (vector e) (potential e))%Q.

(** At alpha = 1 no state is a source and a sink, and the mass is at most 1. Both hold of every chain; here they are asked. *)
Definition entry_direct (e : lower_entry) :=
  (alpha == 1)%Q -> (forall i, source e i -> ~ sink e i) /\ (-(1) <= negative_part (vector e))%Q.

(** Rule L7. *)
Definition entry_progresses (e : lower_entry) :=
  match standing e with
  | None => (bound e < evalQ (vector e) (potential e))%Q
  | Some (r, Common) => (alpha == 1)%Q /\ (-(1) < negative_part (vector e))%Q
  | Some (r, Turn y) =>
      (0 < evalQ (vector e) y)%Q /\
      forall e' r' p, In e' entries -> standing e' = Some (r', p) -> (r <= r')%nat -> (bound e' == bound e)%Q ->
        forall i j, In (i, j) (orders e') -> constrained e i j -> (y i <= alpha * y j)%Q
  end.

Definition lower_rules :=
  (forall e, In e entries ->
     In (first e) (states C) /\ In (second e) (states C) /\ (0 < bound e)%Q /\
     (forall i j, In (i, j) (orders e) -> L i j == bound e)%Q /\
     entry_witnessed e /\ entry_direct e /\ entry_progresses e) /\
  (forall i j, In i (states C) -> In j (states C) ->
     (L i j == 0)%Q \/ (k i <> k j /\ (L i j <= 1)%Q) \/ exists e, In e entries /\ In (i, j) (orders e)).
End Rules.

Section Soundness.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable alpha : Q.
Hypothesis alpha_ge1 : (1 <= alpha)%Q.
Variable both : bool.
Variable k : positive -> positive.
Variable L : positive -> positive -> Q.
Variable entries : list lower_entry.
Hypothesis rules : lower_rules C alpha both k L entries.
Let a : F := ofQ alpha.
Implicit Types e : lower_entry.

Definition is_sink e i := existsb (fun x : positive * Q => Pos.eqb (fst x) i && negb (Qle_bool 0 (snd x))) (vector C alpha e).

Lemma is_sink_spec e i : is_sink e i = true <-> sink C alpha e i.
Proof. unfold is_sink, sink; rewrite existsb_exists; split.
  - intros ([j q] & I & H); apply andb_true_iff in H; simpl in H; destruct H as [E N].
    apply Pos.eqb_eq in E; subst. exists q; split; [assumption |].
    rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff in N. now apply Qnot_le_lt.
  - intros (q & I & N); exists (i, q); split; [assumption |]; simpl. rewrite Pos.eqb_refl; simpl.
    rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff. now apply Qlt_not_le. Qed.

Definition the_shift e (i : positive) : F :=
  if Qlt_le_dec 1 alpha then inv (a - 1) else if is_sink e i then 1 else 0.

(** y plus a constant, for alpha = 1, so that it is not negative. *)
Definition lift_up (y : positive -> Q) : Q := fold_right (fun i x => Qabs (y i) + x)%Q 0%Q (states C).

Definition the_turn e (i : positive) : F :=
  match standing e with
  | Some (_, Turn y) => if Qlt_le_dec 1 alpha then ofQ (y i) else ofQ (y i) + ofQ (lift_up y)
  | _ => 0
  end.

Definition refine e (p : positive * positive) : entry F := {|
  from := fst p; to := snd p; value := ofQ (bound e); vec := vector C alpha e;
  on := constrained C alpha e; witness := fun i => ofQ (potential e i); shift := the_shift e;
  rank := match standing e with Some (r, _) => Some r | None => None end; turn := the_turn e |}.

Definition refined := flat_map (fun e => map (refine e) (orders both e)) entries.

Lemma in_refined x : In x refined <-> exists e p, In e entries /\ In p (orders both e) /\ x = refine e p.
Proof. unfold refined; rewrite in_flat_map; split.
  - intros (e & I & J); apply in_map_iff in J; destruct J as (p & <- & J); eauto.
  - intros (e & p & I & J & ->); exists e; split; [assumption | now apply in_map]. Qed.

Lemma alpha_cases : (1 < alpha)%Q \/ (alpha == 1)%Q.
Proof. destruct (Qlt_le_dec 1 alpha) as [H | H]; [now left | right; now apply Qle_antisym]. Qed.

Lemma a_gt1 : (1 < alpha)%Q -> 0 < a - 1.
Proof. intro H; apply sub_gt0; unfold a; rewrite <- ofQ_1; now apply ofQ_lt. Qed.

Lemma a_1 : (alpha == 1)%Q -> a = 1.
Proof. intro H; unfold a; rewrite (ofQ_eq F H); apply ofQ_1. Qed.

Lemma vector_in e i q : In e entries -> In (i, q) (vector C alpha e) -> In i (states C).
Proof. intros I J. destruct rules as [R _]; destruct (R e I) as (A & B & _).
  apply norm_keys in J; destruct J as [q' J]; unfold difference in J; apply in_app_or in J; destruct J as [J | J].
  - destruct (C_ok A) as [K _]; now apply (K i q').
  - unfold scale in J; apply in_map_iff in J; destruct J as ([t p] & E & J); injection E as E _; simpl in E; subst t.
    destruct (C_ok B) as [K _]; now apply (K i p). Qed.

Lemma eval_vector e f : eval (vector C alpha e) f = eval (difference C alpha (first e) (second e)) f :> F.
Proof. apply eval_norm. Qed.

Lemma orders_in e i j : In e entries -> In (i, j) (orders both e) -> In i (states C) /\ In j (states C).
Proof. intros I J. destruct rules as [R _]; destruct (R e I) as (A & B & _); unfold orders in J.
  destruct both; simpl in J; intuition congruence. Qed.

Lemma eval_constant e x : In e entries -> eval (vector C alpha e) (fun _ => x) = (1 - a) * x :> F.
Proof. intro I. destruct rules as [R _]; destruct (R e I) as (A & B & _).
  rewrite eval_vector, eval_difference, (eval_row_const C_ok x A), (eval_row_const C_ok x B); unfold a; ring. Qed.

Lemma eval_shift e : In e entries ->
  (1 < alpha)%Q /\ eval (vector C alpha e) (the_shift e) = - (1) \/
  (alpha == 1)%Q /\ eval (vector C alpha e) (the_shift e) = ofQ (negative_part (vector C alpha e)).
Proof.
  intro I; unfold the_shift. destruct (Qlt_le_dec 1 alpha) as [H | H].
  - left; split; [assumption |]. rewrite eval_constant by assumption. field. now apply lt_neq, a_gt1.
  - right; split; [now apply Qle_antisym |].
    destruct rules as [R _]; destruct (R e I) as (_ & _ & _ & _ & _ & Dir & _).
    destruct (Dir (Qle_antisym _ _ H alpha_ge1)) as [Dis _].
    assert (K : forall l, (forall i q, In (i, q) l -> In (i, q) (vector C alpha e)) ->
      eval l (fun i => if is_sink e i then 1 else 0) = (ofQ (negative_part l) : F)).
    { induction l as [| [i q] l IH]; intro S; simpl; [now rewrite ofQ_0 |].
      rewrite IH, (ofQ_eq F (Qred_correct _)) by (intros; apply S; now right).
      destruct (Qle_bool 0 q) eqn:E.
      - apply Qle_bool_iff in E. destruct (is_sink e i) eqn:X; [| ring].
        destruct (Q_dec q 0) as [[N | P] | Z]; [exfalso; now apply (Qlt_not_le _ _ N) | | rewrite (ofQ_eq F Z), ofQ_0; ring].
        exfalso; apply is_sink_spec in X. apply (Dis i); [| assumption]. exists q; split; [apply S; now left | assumption].
      - assert (X : is_sink e i = true).
        { unfold is_sink; apply existsb_exists; exists (i, q); split; [apply S; now left |].
          simpl; now rewrite Pos.eqb_refl, E. }
        rewrite X, ofQ_add; ring. }
    now apply K.
Qed.

Lemma abs_le_lift_up y i : In i (states C) -> (- y i <= lift_up y)%Q.
Proof. unfold lift_up; induction (states C) as [| j l IH]; simpl; [easy |].
  assert (N : forall m, (0 <= fold_right (fun i x => Qabs (y i) + x) 0 m)%Q).
  { induction m; simpl; [apply Qle_refl |]. apply (Qplus_le_compat 0 _ 0); [apply Qabs_nonneg | assumption]. }
  intros [-> | I].
  - apply Qle_trans with (Qabs (y i) + 0)%Q; [| now apply Qplus_le_compat; [apply Qle_refl |]].
    rewrite Qplus_0_r, <- Qabs_opp. apply Qle_Qabs.
  - apply Qle_trans with (0 + fold_right (fun i x => Qabs (y i) + x) 0 l)%Q.
    + rewrite Qplus_0_l; auto.
    + apply Qplus_le_compat; [apply Qabs_nonneg | apply Qle_refl]. Qed.

Lemma lifting_bounded (v : positive -> positive -> F) e i j : prefixed C alpha both v -> In e entries -> In (i, j) (orders both e) ->
  lift_le C alpha v (vector C alpha e) (v i j).
Proof. intros P I J f Hf. rewrite eval_vector. destruct rules as [R _]; destruct (R e I) as (A & B & _).
  unfold orders in J; destruct J as [J | J].
  - injection J as <- <-. now apply (lift_any C_ok alpha_ge1 P A B).
  - destruct both eqn:E; [| easy]. destruct J as [J | []]; injection J as <- <-.
    now apply (lift_any C_ok alpha_ge1 P B A). Qed.

Lemma refined_ok (v : positive -> positive -> F) : prefixed C alpha both v ->
  ((alpha == 1)%Q -> (forall i, In i (states C) -> v i i = 0) /\ (forall l, In l (states C) -> quasi_metric_at C v l)) ->
  forall x, In x refined ->
    In (from x) (states C) /\ In (to x) (states C) /\ ofQ (L (from x) (to x)) = value x /\ 0 < value x /\
    bounds_lifting (states C) a v x /\ witnessed (states C) a (fun i j => ofQ (L i j)) x /\
    shiftable (states C) a x /\ progresses (states C) a refined x.
Proof.
  intros Pv Metric x Ix. apply in_refined in Ix; destruct Ix as (e & [i0 j0] & I & J & ->).
  destruct (orders_in I J) as [Hi0 Hj0].
  pose proof rules as [R _]; destruct (R e I) as (A & B & B0 & BL & (W1 & W2 & W3) & Dir & Pr).
  assert (Sh := eval_shift I).
  unfold refine; cbn [from to value vec on witness shift rank turn fst snd].
  split; [assumption | split; [assumption | split; [now apply ofQ_eq, BL | split; [now apply ofQ_gt0 | split]]]].
  { intros g G0 G1; cbn in *. destruct alpha_cases as [H | H].
    - apply (lifting_bounded Pv I J). split; [assumption |]. intros i j Hi Hj. apply G1; auto. now left.
    - destruct (Metric H) as [D T].
      apply (reduced H (v := v i0 j0) T D); auto.
      + intros i j Hi Hj; now apply (Pv i j).
      + intros i q; now apply vector_in.
      + now apply lifting_bounded.
      + intros i p j q Ii Pp Jj Nq.
        apply le_by with (v i j - (g i - a * g j)); [rewrite (a_1 H); ring |].
        apply sub_ge0, G1; [now apply (vector_in I (q := p)) | now apply (vector_in I (q := q)) |].
        right; split; [now exists p | now exists q]. }
  split.
  { split; [| split]; cbn.
    - intros i Hi; destruct (W1 i Hi); split; [now apply ofQ_ge0 | rewrite <- ofQ_1; now apply ofQ_le].
    - intros i j Hi Hj O. unfold a; rewrite <- ofQ_mul, <- ofQ_sub. apply ofQ_le; auto.
    - rewrite eval_evalQ; now apply ofQ_le. }
  split.
  { split; [| split]; cbn.
    - intros i Hi; unfold the_shift. destruct (Qlt_le_dec 1 alpha) as [H | H]; [now apply lt_le, inv_gt0, a_gt1 |].
      destruct (is_sink e i); [apply one_ge0 | apply le_refl].
    - intros i j Hi Hj O; unfold the_shift. destruct (Qlt_le_dec 1 alpha) as [H | H].
      + apply le_by with (0 : F); [field; now apply lt_neq, a_gt1 | apply le_refl].
      + destruct O as [O | [Si Sj]]; [exfalso; now apply (Qlt_not_le _ _ O) |].
        destruct (Dir (Qle_antisym _ _ H alpha_ge1)) as [Dis _].
        apply is_sink_spec in Sj; rewrite Sj.
        destruct (is_sink e i) eqn:X; [exfalso; apply is_sink_spec in X; now apply (Dis i) |].
        rewrite (a_1 (Qle_antisym _ _ H alpha_ge1)). apply le_by with (0 : F); [ring | apply le_refl].
    - destruct Sh as [[H E] | [H E]]; rewrite E; [apply le_refl |].
      destruct (Dir H) as [_ M]. rewrite <- ofQ_1, <- ofQ_opp. now apply ofQ_le. }
  unfold progresses, entry_progresses in *; cbn.
  destruct (standing e) as [[r [| y]] |] eqn:St.
  - destruct Pr as [H N]. unfold the_turn; rewrite St.
    assert (Z : eval (vector C alpha e) (fun _ => 0) = (0 : F)) by (rewrite eval_const; ring).
    split; [rewrite Z; apply le_refl | split; [right | split]].
    + destruct Sh as [[H' _] | [_ E]]; [exfalso; rewrite H in H'; now apply (Qlt_irrefl 1) |].
      rewrite E, <- ofQ_1, <- ofQ_opp. now apply ofQ_lt.
    + intros; apply le_refl.
    + intros; apply le_by with (0 : F); [ring | apply le_refl].
  - destruct Pr as [Py Pc].
    assert (E : eval (vector C alpha e) (the_turn e) = ofQ (evalQ (vector C alpha e) y)).
    { unfold the_turn; rewrite St. destruct (Qlt_le_dec 1 alpha) as [H | H]; [apply eval_evalQ |].
      rewrite eval_add, eval_evalQ, (eval_constant _ I), (a_1 (Qle_antisym _ _ H alpha_ge1)); ring. }
    rewrite E. split; [now apply ofQ_ge0, Qlt_le_weak | split; [left; now apply ofQ_gt0 | split]].
    + intros i Hi Z; unfold the_turn; rewrite St. unfold the_shift in Z.
      destruct (Qlt_le_dec 1 alpha) as [H | H]; [exfalso; now apply (lt_neq (inv_gt0 (a_gt1 H))) |].
      rewrite <- ofQ_add. apply ofQ_ge0. rewrite <- (Qplus_opp_r (y i)).
      apply Qplus_le_compat; [apply Qle_refl | now apply abs_le_lift_up].
    + intros x' r' Ix' Rx Le Ev O. apply in_refined in Ix'; destruct Ix' as (e' & [i j] & I' & J' & ->).
      cbn in *. unfold the_turn; rewrite St.
      destruct (standing e') as [[r'' p] |] eqn:St'; [| easy]. injection Rx as ->.
      assert (K : (y i <= alpha * y j)%Q).
      { apply (Pc e' r' p I' St' Le); auto. now apply (ofQ_inj (F := F)). }
      apply (@ofQ_le F) in K; rewrite ofQ_mul in K. fold a in K.
      destruct (Qlt_le_dec 1 alpha) as [H | H].
      * apply le_by with (a * ofQ (y j) - ofQ (y i)); [ring | now apply sub_ge0].
      * pose proof (a_1 (Qle_antisym _ _ H alpha_ge1)) as A1.
        apply le_by with (a * ofQ (y j) - ofQ (y i)); [rewrite A1; ring | now apply sub_ge0].
  - rewrite eval_evalQ. now apply ofQ_lt.
Qed.

Hypothesis classes_ok : forall u : positive -> positive -> F, prefixed C alpha both u -> apart C k u.

(** Theorem. The table is at most every pre-fixed point. *)
Theorem lower_table_sound (u : positive -> positive -> F) : prefixed C alpha both u ->
  forall i j, In i (states C) -> In j (states C) -> ofQ (L i j) <= u i j.
Proof.
  intro Pu.
  (* for alpha = 1 a quasi-metric below u is compared instead *)
  assert (V : exists v, prefixed C alpha both v /\ (forall i j, In i (states C) -> In j (states C) -> v i j <= u i j) /\
     ((alpha == 1)%Q -> (forall i, In i (states C) -> v i i = 0) /\
        (forall l, In l (states C) -> quasi_metric_at C v l))).
  { destruct alpha_cases as [H | H].
    - exists u; split; [assumption | split; [intros; apply le_refl |]].
      intro E; exfalso; rewrite E in H; now apply (Qlt_irrefl 1).
    - destruct (metric_below C_ok H Pu) as (v & Pv & Le & D & T); exists v; auto. }
  destruct V as (v & Pv & Le & Metric). intros i j Hi Hj; apply le_trans with (v i j); [| auto].
  refine (@leastness F (states C) a (fun i j => ofQ (L i j)) v refined (refined_ok Pv Metric) _ _ i j Hi Hj).
  - intros s t Hs Ht; now apply (Pv s t).
  - intros s t Hs Ht. destruct rules as [_ Rest]; destruct (Rest s t Hs Ht) as [Z | [[N B] | (e & I & J)]].
    + left. now rewrite (ofQ_eq F Z), ofQ_0.
    + right; left. apply le_trans with 1; [rewrite <- ofQ_1; now apply ofQ_le | now apply (classes_ok Pv)].
    + right; right. exists (refine e (s, t)); split; [apply in_refined; eauto | split; reflexivity].
Qed.

(** In particular it is at most the distance. *)
Corollary lower_table_below_distance (b : positive -> positive -> F) : is_distance C alpha both b ->
  forall i j, In i (states C) -> In j (states C) -> ofQ (L i j) <= b i j.
Proof. intros [P _]; now apply lower_table_sound. Qed.
End Soundness.
