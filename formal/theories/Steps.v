(** * Steps: claims about delta that come back from a simpler chain (docs/certificates/reduced.md)

    What a claim of delta says of a chain, and how it changes on the way back through a chain that is nearly the same
    ([near_brings_back]) or through runs that are cut off ([cut_brings_back]). *)

From Coq Require Import ZArith QArith List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Chain Merging.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** For every alpha between the two, in every ordered field (e to an epsilon among them), no event gains more than [upper]
    in either direction, and events gain [lower], or come as close to it as one likes, in one. *)
Definition delta_between (C : chain) (alpha_upper alpha_lower : Q) (s t : positive) (lower upper : Q) : Prop :=
  In s (states C) /\ In t (states C) /\
  forall (F : OrderedField) (a : F), le (ofQ alpha_upper) a -> le a (ofQ alpha_lower) ->
    (forall n E, le (sub (pr C n s E) (mul a (pr C n t E))) (ofQ upper) /\
                 le (sub (pr C n t E) (mul a (pr C n s E))) (ofQ upper)) /\
    (forall r, (0 < r)%Q -> exists n E,
       le (ofQ (lower - r)) (sub (pr C n s E) (mul a (pr C n t E))) \/
       le (ofQ (lower - r)) (sub (pr C n t E) (mul a (pr C n s E)))).

Definition larger_of (x y : Q) : Q := if Qle_bool x y then y else x.
Definition smaller_of (x y : Q) : Q := if Qle_bool x y then x else y.

Lemma larger_of_l x y : (x <= larger_of x y)%Q.
Proof. unfold larger_of; destruct (Qle_bool x y) eqn:E; [now apply Qle_bool_iff | apply Qle_refl]. Qed.

Lemma larger_of_r x y : (y <= larger_of x y)%Q.
Proof. unfold larger_of; destruct (Qle_bool x y) eqn:E; [apply Qle_refl |].
  apply Qlt_le_weak, Qnot_le_lt; intro H; apply Qle_bool_iff in H; congruence. Qed.

(** ** Steps of inequalities *)
Section Field.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

Lemma le_0r (x : F) : x <= x + 0.
Proof. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma no_more (p q x z : F) : p <= 1 * q + x -> x <= z -> p <= q + z.
Proof. intros H K. apply le_by with ((1 * q + x - p) + (z - x)); [ring |]. apply add_ge0; now apply sub_ge0. Qed.

Lemma gain_at_most_1 C (C_ok : chain_ok C) (a : F) n u v E : 1 <= a -> In u (states C) -> In v (states C) ->
  pr C n u E - a * pr C n v E <= 1.
Proof. intros A Hu Hv. destruct (pr_bounds F C_ok n E Hu) as [_ B]. destruct (pr_bounds F C_ok n E Hv) as [B' _].
  apply le_by with ((1 - pr C n u E) + a * pr C n v E); [ring |]. apply add_ge0; [now apply sub_ge0 |].
  apply le_mul; [apply le_trans with 1; [apply one_ge0 | assumption] | assumption]. Qed.

Lemma lost_on_the_way (l r d x y : F) : l - r <= x -> x <= y + d -> l - d - r <= y.
Proof. intros H K. apply le_by with ((y + d - x) + (x - (l - r))); [ring |]. apply add_ge0; now apply sub_ge0. Qed.

Lemma nothing_gained_at_0 (a : F) r : (0 < r)%Q -> ofQ (0 - r) <= 0 - a * 0.
Proof. intro Hr. rewrite ofQ_sub, ofQ_0. apply le_by with (ofQ r : F); [ring | apply ofQ_ge0; now apply Qlt_le_weak]. Qed.

Lemma nearly (a : F) al z p q p' q' x y : 1 <= a -> a <= ofQ al -> x <= ofQ z -> y <= ofQ z -> (0 <= z)%Q ->
  p <= p' + x -> q' <= q + y -> p - a * q <= p' - a * q' + ofQ ((1 + al) * z).
Proof. intros A A2 X Y Z P Q. rewrite ofQ_mul, ofQ_add, ofQ_1. apply (@ofQ_ge0 F) in Z.
  assert (A0 : 0 <= a) by (apply le_trans with 1; [apply one_ge0 | assumption]).
  apply le_by with ((p' + x - p) + (ofQ z - x) + a * ((q + y - q') + (ofQ z - y)) + (ofQ al - a) * ofQ z); [ring |].
  repeat apply add_ge0; try apply le_mul; try apply add_ge0; auto; now apply sub_ge0. Qed.

Lemma cut_gain_above (a p p' q q' x d : F) : 1 <= a -> p <= p' + x -> q' <= q -> x <= d -> p - a * q <= p' - a * q' + d.
Proof. intros A P Q X. assert (A0 : 0 <= a) by (apply le_trans with 1; [apply one_ge0 | assumption]).
  apply le_by with ((p' + x - p) + a * (q - q') + (d - x)); [ring |].
  repeat apply add_ge0; try apply le_mul; auto; now apply sub_ge0. Qed.

(** c, d: an event in the chain; c', d': the part of it that is not cut; p, q: the event in the program. *)
Lemma cut_gain_below (a b c c' d d' p q x y lost : F) : 1 <= a -> a <= b -> 0 <= y ->
  c <= c' + x -> c' <= p -> q <= d' + y -> d' <= d -> x + b * y <= lost -> c - a * d <= p - a * q + lost.
Proof. intros A B Y H1 H2 H3 H4 H5. assert (A0 : 0 <= a) by (apply le_trans with 1; [apply one_ge0 | assumption]).
  apply le_by with ((c' + x - c) + (p - c') + a * ((d' + y - q) + (d - d')) + (b - a) * y + (lost - (x + b * y))); [ring |].
  repeat apply add_ge0; try apply le_mul; try apply add_ge0; auto; now apply sub_ge0. Qed.
End Field.

(** ** Bounds that become wider by what may get lost *)
Definition widened_lower (lower lost : Q) : Q := larger_of 0 (Qred (lower - lost)).
Definition widened_upper (upper lost : Q) : Q := smaller_of 1 (Qred (upper + lost)).

Section Widen.
Variables (C M : chain) (au al : Q) (s t s' t' : positive) (lower upper lost_above lost_below : Q).
Hypothesis C_ok : chain_ok C.
Hypothesis alpha_ge1 : (1 <= au)%Q.
Hypothesis Hs : In s (states C).
Hypothesis Ht : In t (states C).

(** What an event gains after the step, some event gains before it, but for what is lost; and the other way round. *)
Definition comes_back (u v u' v' : positive) : Prop := forall (F : OrderedField) (a : F), le (ofQ au) a -> le a (ofQ al) ->
  forall n E,
    (exists E', le (sub (pr C n u E) (mul a (pr C n v E))) (add (sub (pr M n u' E') (mul a (pr M n v' E'))) (ofQ lost_above))) /\
    le (sub (pr M n u' E) (mul a (pr M n v' E))) (add (sub (pr C n u E) (mul a (pr C n v E))) (ofQ lost_below)).

Lemma widen : comes_back s t s' t' -> comes_back t s t' s' -> delta_between M au al s' t' lower upper ->
  delta_between C au al s t (widened_lower lower lost_below) (widened_upper upper lost_above).
Proof.
  intros Hst Hts (_ & _ & H). split; [assumption | split; [assumption |]].
  intros F a A1 A2. destruct (H F a A1 A2) as [Up Lo]. clear H.
  assert (One : le (one : F) a) by (apply le_trans with (2 := A1); rewrite <- ofQ_1; now apply ofQ_le).
  split.
  - assert (Dir : forall u v u' v', In u (states C) -> In v (states C) -> comes_back u v u' v' ->
      (forall n E, le (sub (pr M n u' E) (mul a (pr M n v' E))) (ofQ upper)) ->
      forall n E, le (sub (pr C n u E) (mul a (pr C n v E))) (ofQ (widened_upper upper lost_above))).
    { intros u v u' v' Hu Hv B K n E. unfold widened_upper, smaller_of. destruct (Qle_bool _ _).
      - rewrite ofQ_1. now apply gain_at_most_1.
      - rewrite (ofQ_eq F (Qred_correct _)), ofQ_add. destruct (B F a A1 A2 n E) as [(E' & B1) _].
        apply le_trans with (1 := B1). apply le_add2; [apply K | apply le_refl]. }
    intros n E; split; apply Dir with (u' := s') (v' := t') + apply Dir with (u' := t') (v' := s'); auto; intros; apply Up.
  - intros r Hr. unfold widened_lower, larger_of. destruct (Qle_bool _ _).
    + destruct (Lo r Hr) as (n & E & K). exists n, E.
      assert (L : forall x y : F, le (ofQ (lower - r)) x -> le x (add y (ofQ lost_below)) -> le (ofQ (Qred (lower - lost_below) - r)) y).
      { intros x y X Y. rewrite ofQ_sub, (ofQ_eq F (Qred_correct _)), !ofQ_sub in *. now apply lost_on_the_way with x. }
      destruct K as [K | K]; [left | right]; apply L with (1 := K); [apply (Hst F a A1 A2 n E) | apply (Hts F a A1 A2 n E)].
    + exists O, (fun _ => false); left. simpl. now apply nothing_gained_at_0.
Qed.
End Widen.

(** ** A chain that is nearly the same (steps quotient and merge)

    Every state for which [loss] has a number has, for every event, nearly the probability of the state that stands for it. *)
Definition near (C M : chain) (place : positive -> positive) (loss : positive -> option Q) : Prop :=
  forall s x, In s (states C) -> loss s = Some x -> (0 <= x)%Q /\ In (place s) (states M) /\
    forall (F : OrderedField) n E, le (pr C n s E : F) (add (pr M n (place s) E) (ofQ x)) /\
                                   le (pr M n (place s) E : F) (add (pr C n s E) (ofQ x)).

Lemma merged_near C M rep : chain_ok C -> merged C M rep -> near C M rep (fun _ => Some 0%Q).
Proof. intros Ok H s x Hs E; injection E as <-. split; [apply Qle_refl | split; [now apply H |]].
  intros F n E. rewrite (merging_keeps_events F Ok H n E Hs), ofQ_0. split; apply le_0r. Qed.

Theorem near_brings_back C M place loss au al s t x y lower upper :
  chain_ok C -> (1 <= au)%Q -> near C M place loss -> In s (states C) -> In t (states C) ->
  loss s = Some x -> loss t = Some y -> delta_between M au al (place s) (place t) lower upper ->
  let lost := ((1 + al) * larger_of x y)%Q in
  delta_between C au al s t (widened_lower lower lost) (widened_upper upper lost).
Proof.
  intros Ok A N Hs Ht Ls Lt H lost. destruct (N s x Hs Ls) as (X0 & _ & X), (N t y Ht Lt) as (Y0 & _ & Y).
  pose proof (@larger_of_l x y) as Lx. pose proof (@larger_of_r x y) as Ly. unfold lost. set (z := larger_of x y) in *. clearbody z.
  assert (Z : (0 <= z)%Q) by lra.
  apply widen with (1 := Ok) (2 := A) (M := M) (s' := place s) (t' := place t); auto.
  - intros F a A1 A2 n E. destruct (X F n E) as [X1 X2], (Y F n E) as [Y1 Y2].
    assert (One : le (one : F) a) by (apply le_trans with (2 := A1); rewrite <- ofQ_1; now apply ofQ_le).
    apply (@ofQ_le F) in Lx, Ly. split; [exists E |]; apply nearly with (x := ofQ x) (y := ofQ y); auto.
  - intros F a A1 A2 n E. destruct (X F n E) as [X1 X2], (Y F n E) as [Y1 Y2].
    assert (One : le (one : F) a) by (apply le_trans with (2 := A1); rewrite <- ofQ_1; now apply ofQ_le).
    apply (@ofQ_le F) in Lx, Ly. split; [exists E |]; apply nearly with (x := ofQ y) (y := ofQ x); auto.
Qed.

(** ** Runs that are cut off (rule P3)

    [C] is the chain of a program, in which runs end in states labelled [cut]. The program itself is a chain [P] that does
    the same until there: [h] says where a state of P is in C. From a state labelled [cut] on, P may do anything. *)
Definition follows (cut : positive) (C P : chain) (h : positive -> positive) : Prop := forall s, In s (states P) ->
  In (h s) (states C) /\
  (label C (h s) <> cut -> label P s = label C (h s) /\
     forall (F : OrderedField) (f : positive -> F), eval (push h (row P s)) f = eval (row C (h s)) f).

Definition enough (cut : positive) (C : chain) (k : positive -> Q) : Prop := forall s, In s (states C) ->
  (0 <= k s)%Q /\ ((if Pos.eqb (label C s) cut then 1 else evalQ (row C s) k) <= k s)%Q.

Lemma follows_itself cut C : follows cut C C (fun s => s).
Proof. intros s Hs; split; [assumption |]. intros _; split; [reflexivity |]. intros F f; now rewrite eval_push. Qed.

Definition uncut (cut : positive) (w : list positive) : bool := forallb (fun l => negb (Pos.eqb l cut)) w.

Section Cut.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variables (cut : positive) (C P : chain) (h : positive -> positive) (k : positive -> Q).
Hypothesis C_ok : chain_ok C.
Hypothesis P_ok : chain_ok P.
Hypothesis P_follows : follows cut C P h.
Hypothesis k_enough : enough cut C k.

Let kept (E : list positive -> bool) (w : list positive) := E w && uncut cut w.

Lemma kept_cons E l : l <> cut -> forall w, kept E (l :: w) = kept (fun w => E (l :: w)) w.
Proof. intros N w; unfold kept; simpl. now apply Pos.eqb_neq in N; rewrite N. Qed.

Lemma kept_cut E w : kept E (cut :: w) = false.
Proof. unfold kept; simpl. rewrite Pos.eqb_refl; simpl. now rewrite andb_false_r. Qed.

Lemma pr_never n s : In s (states C) -> pr C n s (fun _ => false) = (0 : F).
Proof. revert s; induction n as [| n IH]; intros s Hs; simpl; [reflexivity |].
  rewrite (eval_row_ext C_ok Hs (g := fun _ => 0)); [now apply eval_row_const | auto]. Qed.

Lemma follows_row s f : In s (states P) -> label C (h s) <> cut -> eval (row P s) (fun t => f (h t)) = (eval (row C (h s)) f : F).
Proof. intros Hs N. destruct (P_follows Hs) as [_ K]. destruct (K N) as [_ R]. now rewrite <- R, eval_push. Qed.

Lemma cut_above n : forall s E, In s (states P) -> pr P n s E <= (pr C n (h s) (kept E) + ofQ (k (h s)) : F).
Proof.
  induction n as [| n IH]; intros s E Hs; destruct (P_follows Hs) as [Hc K]; destruct (k_enough Hc) as [K0 K1].
  - simpl. unfold kept; simpl. rewrite andb_true_r. apply le_by with (ofQ (k (h s)) : F); [ring | now apply ofQ_ge0].
  - destruct (Pos.eqb (label C (h s)) cut) eqn:L.
    + destruct (pr_bounds F P_ok (S n) E Hs) as [_ B]. destruct (pr_bounds F C_ok (S n) (kept E) Hc) as [B' _].
      apply (@ofQ_le F) in K1; rewrite ofQ_1 in K1. apply le_trans with (1 := B). apply le_trans with (1 := K1).
      apply le_by with (pr C (S n) (h s) (kept E)); [ring | assumption].
    + apply Pos.eqb_neq in L. destruct (K L) as [Lab _]. simpl. rewrite Lab.
      rewrite (eval_row_ext C_ok Hc (g := fun t => pr C n t (kept (fun w => E (label C (h s) :: w))))).
      2: { intros t Ht. apply pr_ext. now apply kept_cons. }
      apply le_trans with (eval (row C (h s)) (fun t => pr C n t (kept (fun w => E (label C (h s) :: w))) + ofQ (k t))).
      * rewrite <- (follows_row (fun t => pr C n t (kept (fun w => E (label C (h s) :: w))) + ofQ (k t)) Hs L).
        apply eval_row_le; auto.
      * rewrite eval_add, eval_evalQ. apply le_add2; [apply le_refl | now apply ofQ_le].
Qed.

Lemma cut_below n : forall s E, In s (states P) -> pr C n (h s) (kept E) <= (pr P n s E : F).
Proof.
  induction n as [| n IH]; intros s E Hs; destruct (P_follows Hs) as [Hc K].
  - simpl. unfold kept; simpl. rewrite andb_true_r. apply le_refl.
  - destruct (Pos.eq_dec (label C (h s)) cut) as [L | L].
    + destruct (pr_bounds F P_ok (S n) E Hs) as [B _]. apply le_trans with (2 := B).
      simpl. rewrite (eval_row_ext C_ok Hc (g := fun _ => 0)); [rewrite (eval_row_const C_ok 0 Hc); apply le_refl |].
      intros t Ht. rewrite <- (pr_never n Ht). apply pr_ext. intro w; rewrite L; apply kept_cut.
    + destruct (K L) as [Lab _]. simpl. rewrite Lab.
      rewrite (eval_row_ext C_ok Hc (g := fun t => pr C n t (kept (fun w => E (label C (h s) :: w))))).
      2: { intros t Ht. apply pr_ext. now apply kept_cons. }
      rewrite <- (follows_row (fun t => pr C n t (kept (fun w => E (label C (h s) :: w)))) Hs L).
      apply eval_row_le; auto.
Qed.

Lemma kept_smaller n : forall c E, In c (states C) -> pr C n c (kept E) <= (pr C n c E : F).
Proof.
  induction n as [| n IH]; intros c E Hc; simpl.
  - unfold kept; simpl. rewrite andb_true_r. apply le_refl.
  - apply eval_row_le; auto. intros t Ht. destruct (Pos.eq_dec (label C c) cut) as [L | L].
    + rewrite (@pr_ext _ _ n t _ (fun _ => false)); [rewrite (pr_never n Ht); now apply pr_bounds | intro w; rewrite L; apply kept_cut].
    + rewrite (@pr_ext _ _ n t _ (kept (fun w => E (label C c :: w)))); [now apply IH | now apply kept_cons].
Qed.
End Cut.

Theorem cut_brings_back cut C P h k au al s t lower upper :
  chain_ok C -> chain_ok P -> (1 <= au)%Q -> follows cut C P h -> enough cut C k ->
  In s (states P) -> In t (states P) -> delta_between C au al (h s) (h t) lower upper ->
  let p := k (h s) in let q := k (h t) in
  delta_between P au al s t (widened_lower lower (larger_of (p + al * q) (q + al * p))) (widened_upper upper (larger_of p q)).
Proof.
  intros C_ok P_ok A Fo En Hs Ht H p q. destruct (Fo s Hs) as [Cs _], (Fo t Ht) as [Ct _].
  assert (Back : forall u v, In u (states P) -> In v (states P) -> forall x y, (k (h u) <= x)%Q -> (k (h u) + al * k (h v) <= y)%Q ->
    comes_back P C au al x y u v (h u) (h v)).
  { intros u v Hu Hv x y Hx Hy F a A1 A2 n E. destruct (Fo u Hu) as [Cu _], (Fo v Hv) as [Cv _].
    assert (One : le (one : F) a) by (apply le_trans with (2 := A1); rewrite <- ofQ_1; now apply ofQ_le).
    pose proof (cut_above F C_ok P_ok Fo En n E Hu) as U1. pose proof (cut_below F C_ok P_ok Fo n E Hv) as V1.
    pose proof (cut_below F C_ok P_ok Fo n E Hu) as U2. pose proof (cut_above F C_ok P_ok Fo En n E Hv) as V2.
    pose proof (cut_above F C_ok C_ok (@follows_itself cut C) En n E Cu) as U3.
    pose proof (kept_smaller F cut C_ok n E Cv) as V3. cbv beta in U3.
    destruct (En _ Cv) as [Kv _]. apply (@ofQ_ge0 F) in Kv.
    apply (@ofQ_le F) in Hx, Hy. rewrite ofQ_add, ofQ_mul in Hy. split.
    - exists (fun w => E w && uncut cut w). now apply cut_gain_above with (ofQ (k (h u))).
    - now apply cut_gain_below with (1 := One) (2 := A2) (3 := Kv) (4 := U3) (5 := U2) (6 := V2) (7 := V3). }
  pose proof (@larger_of_l p q). pose proof (@larger_of_r p q).
  pose proof (@larger_of_l (p + al * q) (q + al * p)). pose proof (@larger_of_r (p + al * q) (q + al * p)).
  apply widen with (1 := P_ok) (2 := A) (M := C) (s' := h s) (t' := h t); auto.
Qed.

(** ** Claims put together *)
Lemma between_same_alpha C au al au' al' s t lower upper : (au == au')%Q -> (al == al')%Q ->
  delta_between C au' al' s t lower upper -> delta_between C au al s t lower upper.
Proof. intros A1 A2 (Hs & Ht & H). split; [assumption | split; [assumption |]]. intros F a L U.
  apply H; [rewrite <- (ofQ_eq F A1) | rewrite <- (ofQ_eq F A2)]; assumption. Qed.

(** The bounds may come from two places, or be trivial. *)
Lemma between_of_sides C au al s t lower upper : chain_ok C -> (1 <= au)%Q -> In s (states C) -> In t (states C) ->
  (lower <= 0)%Q \/ (exists l u, (lower <= l)%Q /\ delta_between C au al s t l u) ->
  (1 <= upper)%Q \/ (exists l u, (u <= upper)%Q /\ delta_between C au al s t l u) ->
  delta_between C au al s t lower upper.
Proof.
  intros Ok A Hs Ht Lo Up. split; [assumption | split; [assumption |]]. intros F a A1 A2.
  assert (One : le (one : F) a) by (apply le_trans with (2 := A1); rewrite <- ofQ_1; now apply ofQ_le). split.
  - destruct Up as [Up | (l & u & Up & _ & _ & H)]; apply (@ofQ_le F) in Up; intros n E.
    + rewrite ofQ_1 in Up. split; apply le_trans with (2 := Up); now apply gain_at_most_1.
    + destruct (H F a A1 A2) as [K _]. destruct (K n E). split; eauto using le_trans.
  - intros r Hr. destruct Lo as [Lo | (l & u & Lo & _ & _ & H)].
    + exists O, (fun _ => false); left. simpl. apply le_trans with (ofQ (0 - r)); [apply ofQ_le; lra | now apply nothing_gained_at_0].
    + destruct (H F a A1 A2) as [_ K]. destruct (K r Hr) as (n & E & G). exists n, E.
      assert (L : le (ofQ (lower - r) : F) (ofQ (l - r))) by (apply ofQ_le; lra).
      destruct G; [left | right]; eauto using le_trans.
Qed.
