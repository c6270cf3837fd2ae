(** * Why a table is below every pre-fixed point

    The heart of docs/theory/leastness.md and of Theorems 2 and 3 of docs/theory/certificates.md, for alpha > 1
    and alpha = 1, for bd and lbd at once. The notes compare the table with an optimal coupling of the distance. Here no
    coupling, hence no duality of linear programming is needed: if the least ratio theta of the distance u and the
    table L were below 1, the potential theta f of the table could be improved (scaled up, shifted, and turned
    along y), would still be admitted for u, and would gain more than u. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section FiniteSets.
Variable A : Type.

Lemma list_min (r : A -> A -> Prop) (l : list A) :
  (forall x y, r x y \/ r y x) -> (forall x y z, r x y -> r y z -> r x z) ->
  l <> [] -> exists x, In x l /\ forall y, In y l -> r x y.
Proof. intros T Tr; induction l as [| x l IH]; intro N; [easy |].
  destruct l as [| z l].
  - exists x; split; [now left |]. intros y [<- | []]. destruct (T x x); assumption.
  - destruct IH as (m & Im & Hm); [easy |]. destruct (T x m) as [H | H].
    + exists x; split; [now left |]. intros y [<- | I]; [destruct (T x x); assumption |]. now apply Tr with m, Hm.
    + exists m; split; [now right |]. intros y [<- | I]; [assumption | now apply Hm]. Qed.
End FiniteSets.

Section Small.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

(** What holds of all numbers that are positive and small enough. *)
Definition small (P : F -> Prop) := exists k, 0 < k /\ forall e, 0 < e -> e <= k -> P e.

Lemma small_bound x y : 0 < y -> small (fun e => e * x <= y).
Proof. intro Hy. destruct (le_lt x (0 : F)) as [H | H].
  - exists 1; split; [apply one_gt0 |]. intros e He _. apply le_by with (e * (0 - x) + y); [ring |].
    apply add_ge0; [apply le_mul; [now apply lt_le | now apply sub_ge0] | now apply lt_le].
  - exists (y * inv x); split; [apply mul_gt0; [assumption | now apply inv_gt0] |].
    intros e He K. apply le_by with (x * (y * inv x - e)); [field; now apply lt_neq |].
    apply le_mul; [now apply lt_le | now apply sub_ge0]. Qed.

Lemma small_true (P : F -> Prop) : (forall e, 0 < e -> P e) -> small P.
Proof. intro H; exists 1; split; [apply one_gt0 | auto]. Qed.

Lemma small_and P Q : small P -> small Q -> small (fun e => P e /\ Q e).
Proof. intros (k & Hk & K) (m & Hm & M). exists (min k m); split; [now apply min_gt0 |].
  intros e He L; split; [apply K | apply M]; try assumption; apply le_trans with (min k m);
    auto using min_l, min_r. Qed.

Lemma small_all A (l : list A) (P : A -> F -> Prop) :
  (forall x, In x l -> small (P x)) -> small (fun e => forall x, In x l -> P x e).
Proof. induction l as [| x l IH]; intro H.
  - apply small_true; intros e _ x [].
  - destruct (small_and (H x (or_introl eq_refl)) (IH (fun y I => H y (or_intror I)))) as (k & Hk & K).
    exists k; split; [assumption |]. intros e He L y [<- | I]; destruct (K e He L) as [K0 K1]; auto. Qed.
End Small.

Section Leastness.
Variable F : OrderedField.
Add Field F_field2 : (field_ok F).
Local Open Scope field_scope.

(** One ordered pair of the lower table with all that is said of it: the vector c of its direction, the pairs on
    which the lifting constrains potentials ([on]; for alpha = 1 only those from c_i > 0 to c_j < 0), the witness f, how
    potentials can be shifted, the rank (none for a strict entry), and the function y of its progress. *)
Record entry := {
  from : positive;
  to : positive;
  value : F;
  vec : list (positive * Q);
  on : positive -> positive -> Prop;
  witness : positive -> F;
  shift : positive -> F;
  rank : option nat;
  turn : positive -> F
}.

Variable states : list positive.
Variable a : F.  (* alpha *)
Variables L u : positive -> positive -> F.
Variable entries : list entry.

(** u bounds its own lifting at the entry. *)
Definition bounds_lifting (e : entry) :=
  forall g, (forall i, In i states -> 0 <= g i <= 1) ->
    (forall i j, In i states -> In j states -> on e i j -> g i - a * g j <= u i j) ->
    eval (vec e) g <= u (from e) (to e).

(** The witness proves the lifting of L to be at least the value (rules L2 to L6). *)
Definition witnessed (e : entry) :=
  (forall i, In i states -> 0 <= witness e i <= 1) /\
  (forall i j, In i states -> In j states -> on e i j -> witness e i - a * witness e j <= L i j) /\
  value e <= eval (vec e) (witness e).

(** How the potential can be shifted: a constant for alpha > 1, and 1 where c < 0 for alpha = 1. *)
Definition shiftable (e : entry) :=
  (forall i, In i states -> 0 <= shift e i) /\
  (forall i j, In i states -> In j states -> on e i j -> shift e i - a * shift e j <= - (1)) /\
  - (1) <= eval (vec e) (shift e).

(** Rule L7: a strict entry, or progress. *)
Definition progresses (e : entry) :=
  match rank e with
  | None => value e < eval (vec e) (witness e)
  | Some k =>
      0 <= eval (vec e) (turn e) /\
      (0 < eval (vec e) (turn e) \/ - (1) < eval (vec e) (shift e)) /\
      (forall i, In i states -> shift e i = 0 -> 0 <= turn e i) /\
      (forall e' k', In e' entries -> rank e' = Some k' -> (k <= k')%nat -> value e' = value e ->
         on e (from e') (to e') -> turn e (from e') - a * turn e (to e') <= 0)
  end.

Hypothesis entries_ok : forall e, In e entries ->
  In (from e) states /\ In (to e) states /\ L (from e) (to e) = value e /\ 0 < value e /\
  bounds_lifting e /\ witnessed e /\ shiftable e /\ progresses e.
Hypothesis u_ge0 : forall i j, In i states -> In j states -> 0 <= u i j.
(** Pairs that are not listed have 0, or are known to be below u (states of different classes). *)
Hypothesis rest_ok : forall i j, In i states -> In j states ->
  L i j = 0 \/ L i j <= u i j \/ exists e, In e entries /\ from e = i /\ to e = j.

Section Improvement.
Variables (e : entry) (theta : F).
Hypothesis e_in : In e entries.
Hypothesis theta_ge0 : 0 <= theta.
Hypothesis theta_lt1 : theta < 1.
Hypothesis below : forall i j, In i states -> In j states -> theta * L i j <= u i j.

Variable y : positive -> F.
Hypothesis y_gains : 0 <= eval (vec e) y.
Hypothesis something_gains : 0 < eval (vec e) y \/ - (1) < eval (vec e) (shift e) \/ value e < eval (vec e) (witness e).
Hypothesis y_ge0 : forall i, In i states -> shift e i = 0 -> 0 <= y i.
Hypothesis above : forall i j, In i states -> In j states -> value e < L i j -> theta * L i j < u i j.
Hypothesis tight : forall i j, In i states -> In j states -> on e i j -> L i j = value e ->
  u i j = theta * L i j -> y i - a * y j <= 0.

Let M := value e.
Let r (kappa : F) i := witness e i + (M * shift e i + kappa * y i).

Lemma improvement : theta * value e < u (from e) (to e).
Proof.
  destruct (entries_ok e_in) as (_ & _ & _ & M0 & B & (W1 & W2 & W3) & (S0 & S1 & S2) & _).
  fold M in M0, W3.
  (* kappa: how far to turn *)
  assert (K : small (fun kappa =>
     (forall i, In i states -> 0 <= r kappa i) /\
     (forall i, In i states -> forall j, In j states -> L i j < M -> kappa * (y i - a * y j) <= M - L i j))).
  { apply small_and; apply small_all; intros i Hi.
    - destruct (W1 i Hi) as [A0 _]. destruct (eq_dec (shift e i) (0 : F)) as [Z | Z].
      + apply small_true; intros kappa Hk; unfold r; rewrite Z. apply add_ge0; [assumption |].
        apply add_ge0; [| apply le_mul; [now apply lt_le | auto]].
        apply le_by with (0 : F); [ring | apply le_refl].
      + assert (Sp : 0 < shift e i) by (intro H; apply Z, le_antisym; auto).
        destruct (small_bound (- y i) (mul_gt0 M0 Sp)) as (k0 & Hk0 & K).
        exists k0; split; [assumption |]. intros kappa Hk Le; unfold r. apply add_ge0; [assumption |].
        apply le_by with (M * shift e i - kappa * (- y i)); [ring |]. now apply sub_ge0, K.
    - apply small_all; intros j Hj. destruct (le_lt M (L i j)) as [H | H].
      + apply small_true; intros kappa _ N; contradiction.
      + destruct (small_bound (y i - a * y j) (sub_gt0 H)) as (k0 & Hk0 & K).
        exists k0; split; [assumption |]. intros kappa Hk Le _; now apply K. }
  destruct K as (kappa & Hk & K); destruct (K kappa Hk (le_refl kappa)) as [K1 K2]; clear K.
  assert (R : forall i j, In i states -> In j states -> on e i j ->
     r kappa i - a * r kappa j <= L i j - M + kappa * (y i - a * y j)).
  { intros i j Hi Hj O.
    apply le_by with ((L i j - (witness e i - a * witness e j)) + M * (- (1) - (shift e i - a * shift e j))); [unfold r; ring |].
    apply add_ge0; [apply sub_ge0; auto |]. apply le_mul; [now apply lt_le | apply sub_ge0; auto]. }
  (* eps: how far to go in that direction *)
  assert (Ee : small (fun eps =>
     (forall i, In i states -> eps * r kappa i <= 1 - theta) /\
     (forall i, In i states -> forall j, In j states -> on e i j ->
        eps * (r kappa i - a * r kappa j) <= u i j - theta * L i j))).
  { apply small_and; apply small_all; intros i Hi.
    - apply small_bound; now apply sub_gt0.
    - apply small_all; intros j Hj.
      assert (Down : (on e i j -> r kappa i - a * r kappa j <= 0) ->
        small (fun eps => on e i j -> eps * (r kappa i - a * r kappa j) <= u i j - theta * L i j)).
      { intro D; apply small_true; intros eps He O. apply le_trans with (0 : F); [| apply sub_ge0; auto].
        apply le_by with (eps * (0 - (r kappa i - a * r kappa j))); [ring |].
        apply le_mul; [now apply lt_le | apply sub_ge0; auto]. }
      destruct (le_lt M (L i j)) as [H | H].
      + destruct (le_lt (u i j) (theta * L i j)) as [H' | H'].
        * apply Down; intro O.
          assert (U : u i j = theta * L i j) by (apply le_antisym; auto).
          assert (LM : L i j = M).
          { apply le_antisym; [| assumption]. destruct (le_lt (L i j) M) as [Q | Q]; [assumption |].
            exfalso; apply (above Hi Hj Q); assumption. }
          apply le_trans with (1 := R i j Hi Hj O).
          apply le_by with (kappa * (0 - (y i - a * y j))); [rewrite LM; ring |].
          apply le_mul; [now apply lt_le | apply sub_ge0; now apply tight].
        * destruct (small_bound (r kappa i - a * r kappa j) (sub_gt0 H')) as (k0 & Hk0 & K).
          exists k0; split; [assumption |]; intros eps He Le _; now apply K.
      + apply Down; intro O. apply le_trans with (1 := R i j Hi Hj O).
        apply le_by with (M - L i j - kappa * (y i - a * y j)); [ring |]. apply sub_ge0; auto. }
  destruct Ee as (eps & He & K); destruct (K eps He (le_refl eps)) as [E1 E2]; clear K.
  set (g := fun i => theta * witness e i + eps * r kappa i).
  apply lt_le_trans with (eval (vec e) g).
  - assert (G : eval (vec e) g = theta * eval (vec e) (witness e)
       + eps * (eval (vec e) (witness e) + (M * eval (vec e) (shift e) + kappa * eval (vec e) y))).
    { unfold g; rewrite eval_add, !eval_mul; unfold r; rewrite !eval_add, !eval_mul; reflexivity. }
    rewrite G; fold M.
    apply lt_by with (eps * ((M * (eval (vec e) (shift e) - - (1)) + kappa * eval (vec e) y)
        + (eval (vec e) (witness e) - M)) + theta * (eval (vec e) (witness e) - M)); [ring |].
    apply add_gt0; [| apply le_mul; [assumption | now apply sub_ge0]].
    apply mul_gt0; [assumption |].
    assert (X1 : 0 <= M * (eval (vec e) (shift e) - - (1))) by (apply le_mul; [now apply lt_le | now apply sub_ge0]).
    assert (X2 : 0 <= kappa * eval (vec e) y) by (apply le_mul; [now apply lt_le | assumption]).
    assert (X3 : 0 <= eval (vec e) (witness e) - M) by now apply sub_ge0.
    destruct something_gains as [T | [T | T]].
    + apply lt_by with (kappa * eval (vec e) y + (M * (eval (vec e) (shift e) - - (1)) + (eval (vec e) (witness e) - M)));
        [ring |]. apply add_gt0; [now apply mul_gt0 | now apply add_ge0].
    + apply add_gt0; [| assumption]. apply add_gt0; [apply mul_gt0; [assumption | now apply sub_gt0] | assumption].
    + apply lt_by with ((eval (vec e) (witness e) - M) + (M * (eval (vec e) (shift e) - - (1)) + kappa * eval (vec e) y));
        [ring |]. apply add_gt0; [now apply sub_gt0 | now apply add_ge0].
  - apply B; unfold g.
    + intros i Hi; destruct (W1 i Hi) as [A0 A1]; split.
      * apply add_ge0; apply le_mul; auto; now apply lt_le.
      * apply le_by with (theta * (1 - witness e i) + (1 - theta - eps * r kappa i)); [ring |].
        apply add_ge0; [apply le_mul; [assumption | now apply sub_ge0] | apply sub_ge0; auto].
    + intros i j Hi Hj O.
      apply le_by with (theta * (L i j - (witness e i - a * witness e j))
         + (u i j - theta * L i j - eps * (r kappa i - a * r kappa j))); [ring |].
      apply add_ge0; [apply le_mul; [assumption | apply sub_ge0; auto] | apply sub_ge0; auto].
Qed.
End Improvement.

(** The table is below u. *)
Theorem leastness : forall i j, In i states -> In j states -> L i j <= u i j.
Proof.
  set (v e := u (from e) (to e)).
  assert (D : {exists e, In e entries /\ v e < value e} + {forall e, In e entries -> value e <= v e}).
  { clear. induction entries as [| e l [H | H]]; [right; easy | |].
    - left; destruct H as (e' & I & H); exists e'; split; [now right | assumption].
    - destruct (le_dec (value e) (v e)) as [K | K].
      + right; intros e' [<- | I]; auto.
      + left; exists e; split; [now left | assumption]. }
  destruct D as [[e0 [I0 H0]] | All].
  2:{ intros i j Hi Hj; destruct (rest_ok Hi Hj) as [Z | [Z | (e & I & <- & <-)]]; auto.
      - rewrite Z; auto.
      - destruct (entries_ok I) as (_ & _ & E & _). rewrite E; apply All; assumption. }
  exfalso.
  assert (V0 : forall e, In e entries -> 0 < value e) by (intros e I; destruct (entries_ok I) as (_ & _ & _ & V & _); exact V).
  assert (U0 : forall e, In e entries -> 0 <= v e)
    by (intros e I; destruct (entries_ok I) as (A & B & _); now apply u_ge0).
  set (ratio e := v e * inv (value e)).
  assert (Ratio : forall e, In e entries -> v e = ratio e * value e)
    by (intros e I; unfold ratio; field; now apply lt_neq, V0).
  (* theta, the least ratio *)
  destruct (@list_min _ (fun e e' => ratio e <= ratio e') entries) as (e1 & I1 & Min).
  { intros; apply le_total. } { intros; eapply le_trans; eauto. } { intro E; rewrite E in I0; easy. }
  set (theta := ratio e1) in *.
  assert (Th0 : 0 <= theta) by (apply le_mul; [now apply U0 | now apply lt_le, inv_gt0, V0]).
  assert (Th1 : theta < 1).
  { apply le_lt_trans with (ratio e0); [now apply Min |]. intro H; apply H0.
    rewrite (Ratio e0 I0). apply le_by with (value e0 * (ratio e0 - 1)); [ring |].
    apply le_mul; [now apply lt_le, V0 | now apply sub_ge0]. }
  assert (Below : forall i j, In i states -> In j states -> theta * L i j <= u i j).
  { intros i j Hi Hj; destruct (rest_ok Hi Hj) as [Z | [Z | (e & I & <- & <-)]].
    - rewrite Z. apply le_by with (u i j); [ring | now apply u_ge0].
    - destruct (le_lt (L i j) (0 : F)) as [N | N].
      + apply le_by with (u i j + theta * (0 - L i j)); [ring |]. apply add_ge0; [auto |].
        apply le_mul; [assumption | now apply sub_ge0].
      + apply le_by with ((u i j - L i j) + (1 - theta) * L i j); [ring |].
        apply add_ge0; [now apply sub_ge0 |]. apply le_mul; [now apply sub_ge0, lt_le | now apply lt_le].
    - destruct (entries_ok I) as (_ & _ & E & _). rewrite E. fold (v e). rewrite (Ratio e I).
      apply le_by with (value e * (ratio e - theta)); [ring |].
      apply le_mul; [now apply lt_le, V0 | apply sub_ge0; now apply Min]. }
  (* the entries of that ratio, among them those of the greatest value, among them one of the lowest rank *)
  set (onto e := if eq_dec (v e) (theta * value e) then true else false).
  assert (Onto : forall e, onto e = true <-> v e = theta * value e)
    by (intro e; unfold onto; destruct (eq_dec (v e) (theta * value e)); split; congruence).
  destruct (@list_min _ (fun e e' => value e' <= value e) (filter onto entries)) as (e2 & I2 & Max).
  { intros; apply le_total. } { intros; eapply le_trans; eauto. }
  { intro E. assert (I : In e1 (filter onto entries)) by (apply filter_In; split; [assumption | now apply Onto, Ratio]).
    rewrite E in I; easy. }
  set (M := value e2) in *.
  set (top e := if eq_dec (value e) M then onto e else false).
  assert (Top : forall e, top e = true <-> value e = M /\ v e = theta * value e).
  { intro e; unfold top; destruct (eq_dec (value e) M); rewrite ?Onto; intuition congruence. }
  set (order e := match rank e with Some k => k | None => O end).
  destruct (@list_min _ (fun e e' => (order e <= order e')%nat) (filter top entries)) as (e3 & I3 & Low).
  { intros; lia. } { intros; lia. }
  { intro E. apply filter_In in I2; destruct I2 as [I2 J2].
    assert (I : In e2 (filter top entries))
      by (apply filter_In; split; [assumption | apply Top; split; [reflexivity | now apply Onto]]).
    rewrite E in I; easy. }
  assert (Found : forall i j, In i states -> In j states -> 0 < L i j -> u i j = theta * L i j ->
     exists e, In e entries /\ from e = i /\ to e = j /\ value e = L i j /\ onto e = true).
  { intros i j Hi Hj P E. destruct (rest_ok Hi Hj) as [Z | [Z | (e & I & <- & <-)]].
    - exfalso; apply (lt_neq P Z).
    - exfalso; rewrite E in Z. apply P. 
      destruct (le_lt (L i j) (0 : F)) as [N | N]; [assumption | exfalso].
      apply (mul_gt0 (sub_gt0 Th1) N). apply le_by with (theta * L i j - L i j); [ring | now apply sub_ge0].
    - exists e; destruct (entries_ok I) as (_ & _ & V & _); repeat split; auto. apply Onto; unfold v; now rewrite E, V. }
  assert (Above : forall e, In e entries -> value e = M -> forall i j, In i states -> In j states ->
     value e < L i j -> theta * L i j < u i j).
  { intros e I V i j Hi Hj Gt. destruct (le_lt (u i j) (theta * L i j)) as [N | N]; [exfalso | assumption].
    assert (P : 0 < L i j) by (apply lt_le_trans with (value e); [now apply V0 | now apply lt_le]).
    destruct (Found i j Hi Hj P (le_antisym N (Below i j Hi Hj))) as (e' & I' & _ & _ & V' & O).
    apply Gt. rewrite <- V', V. apply Max, filter_In; auto. }
  (* no entry among them is strict *)
  assert (Ranked : forall e, In e entries -> top e = true -> rank e <> None).
  { intros e I T Rk. apply Top in T; destruct T as [V E].
    destruct (entries_ok I) as (_ & _ & _ & _ & _ & _ & _ & Pr); unfold progresses in Pr; rewrite Rk in Pr.
    assert (Z : eval (vec e) (fun _ => 0) = (0 : F)) by (rewrite eval_const; ring).
    apply (@improvement e theta I Th0 Th1 Below (fun _ => 0)).
    - rewrite Z; apply le_refl.
    - auto.
    - intros; apply le_refl.
    - now apply Above.
    - intros; apply le_by with (0 : F); [ring | apply le_refl].
    - rewrite <- E; apply le_refl. }
  apply filter_In in I3; destruct I3 as [I3 T3]; pose proof T3 as T3'; apply Top in T3; destruct T3 as [VM E3].
  destruct (rank e3) as [k |] eqn:Rk; [| now apply (Ranked e3)].
  destruct (entries_ok I3) as (_ & _ & _ & _ & _ & _ & _ & Pr); unfold progresses in Pr; rewrite Rk in Pr.
  destruct Pr as (P0 & P1 & P2 & P3).
  apply (@improvement e3 theta I3 Th0 Th1 Below (turn e3) P0).
  - destruct P1; auto.
  - assumption.
  - now apply Above.
  - intros i j Hi Hj O LV E.
    assert (P : 0 < L i j) by (rewrite LV; now apply V0).
    destruct (Found i j Hi Hj P E) as (e & I & <- & <- & V & O').
    assert (Te : top e = true) by (apply Top; split; [congruence | now apply Onto]).
    assert (Le : (order e3 <= order e)%nat) by (apply Low, filter_In; auto).
    destruct (rank e) as [k' |] eqn:Rk'; [| now destruct (Ranked e)].
    apply (P3 e k'); auto; [unfold order in Le; rewrite Rk, Rk' in Le; assumption | congruence].
  - rewrite <- E3; apply le_refl.
Qed.

End Leastness.
